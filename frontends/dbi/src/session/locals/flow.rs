//! Instructions that give a local variable its value: from its places, by debug information, and the machine code.
//!
//! An instruction assigns if it writes the place that the variable is in from the next one on, and does not just move it
//! there from where it was. Where a variable comes to be in a place that was written before, it is assigned on the way
//! there. Reads code as it is in the file; nothing runs here.

use crate::x86::access;
use crate::x86::rows::{self, System};
use crate::x86::table::{General, Moved, Row, X87};
use hashbrown::{HashMap, HashSet};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, OpKind, Register,
};
use shadowgrind_symbols::{Holder, Local, Other, Storage, Stretch, general_register};
use std::ops::Range;

/// Way in which a variable is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// The instruction itself.
    Itself,
    /// Instruction that does if it stores to the floats that are named.
    Store,
    /// A function that it calls does, if the floats are others afterwards.
    Others,
    /// The thread comes to code where the variable is in another place: it does if the float there is another.
    Way,
}

/// Way of the program from an instruction to the next, on which a variable is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    /// Link-time address of the instruction.
    pub(super) at: u64,
    /// Address of the next one.
    pub(super) next: u64,
    /// Address of the one that may be next otherwise.
    pub(super) other: Option<u64>,
    pub(super) by: By,
    /// The place, by its number among the variable's, and the one before.
    pub(super) place: usize,
    pub(super) before: Option<usize>,
    /// True if the float may be that of another variable, too, or there may be a copy of it.
    pub(super) is_shared: bool,
}

impl Assignment {
    /// Tells whether it is one, whatever happens.
    pub(super) fn is_certain(&self) -> bool {
        self.by == By::Itself
    }
}

/// All assignments of a variable.
#[derive(Debug, Default)]
pub(super) struct Assignments {
    pub(super) all: Vec<Assignment>,
    /// The places that a parameter is in when its function is entered.
    pub(super) entry: Vec<usize>,
    /// Addresses of code from which on it has a value that cannot be reached.
    pub(super) unreached: Vec<u64>,
}

/// The assignments of `local`, by what the machine `code` at the start of each of its ranges is.
pub(super) fn assignments(local: &Local, code: &[(u64, Vec<u8>)]) -> Assignments {
    let mut code = Code::of(code);
    let mut found = Assignments::default();
    let mut entered: Vec<u64> = Vec::new();
    entered.extend(local.is_parameter.then_some(local.entry));
    for index in 0..code.instructions.len() {
        let instruction = code.instructions[index];
        for (next, other) in ways(&instruction) {
            entered.push(next);
            found.way(local, &instruction, (next, other), &mut code);
        }
    }
    if local.is_parameter {
        found.entry = at(local, local.entry).filter(|&place| is_given(&local.stretches[place])).collect();
    }
    let starts = local.stretches.iter().filter(|stretch| !stretch.is_whole_scope && begins(local, stretch));
    found
        .unreached
        .extend(starts.map(|stretch| stretch.range.start).filter(|start| !entered.contains(start)));
    found.unreached.extend(local.nowhere.iter().map(|range| range.start));
    found.unreached.sort_unstable();
    found.unreached.dedup();
    found
}

/// Machine code of a function.
struct Code {
    instructions: Vec<Instruction>,
    /// Numbers of instructions by address.
    index: HashMap<u64, usize>,
    /// Addresses that jumps lead to.
    targets: HashSet<u64>,
    facts: InstructionInfoFactory,
}

/// Instructions that are looked through for copies of a float.
const FAR: usize = 64;

impl Code {
    fn of(code: &[(u64, Vec<u8>)]) -> Code {
        let instructions: Vec<_> = code.iter().flat_map(|(start, bytes)| decode(*start, bytes)).collect();
        let index = instructions.iter().enumerate().map(|(index, insn)| (insn.ip(), index)).collect();
        let is_jump = |insn: &&Instruction| {
            matches!(insn.flow_control(), FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch)
        };
        let targets = instructions.iter().filter(is_jump).map(Instruction::near_branch_target).collect();
        Code { instructions, index, targets, facts: InstructionInfoFactory::new() }
    }

    /// Tells whether the float in the register `storage` has been computed just before the end of the instruction at `pc`, and
    /// not read since: nobody can have a copy.
    fn is_fresh(&mut self, pc: u64, storage: Storage) -> bool {
        let (Storage::Value(Holder::Register(register)), Some(&last)) = (storage, self.index.get(&pc)) else {
            return false;
        };
        for index in (last.saturating_sub(FAR)..=last).rev() {
            let instruction = self.instructions[index];
            if instruction.flow_control() != FlowControl::Next {
                return false;
            }
            if writes_register(&instruction, register, &mut self.facts) {
                return !is_move(&instruction);
            }
            let is_entered = self.targets.contains(&instruction.ip());
            if is_entered || reads_register(&instruction, register, &mut self.facts) {
                return false;
            }
        }
        false
    }

    /// Tells whether `instruction`, which assigns `local`, moves a float out of a register that is read again, and that is no
    /// other variable's.
    fn leaves_copy(&mut self, local: &Local, instruction: &Instruction) -> bool {
        let source = instruction.op_count().saturating_sub(1);
        if !is_move(instruction) || instruction.op_kind(source) != OpKind::Register {
            return false;
        }
        let register = instruction.op_register(source);
        let is_there = |other: &&Other| other.range.contains(&instruction.ip());
        let is_variable = local.others.iter().filter(is_there).any(|other| match other.storage {
            Storage::Value(Holder::Register(dwarf)) => is_register(register, dwarf),
            _ => false,
        });
        let Some(dwarf) = (0..=82).find(|&dwarf| is_register(register, dwarf)).filter(|_| !is_variable)
        else {
            return false;
        };
        self.is_read(instruction.next_ip(), dwarf)
    }

    /// Tells whether a register may be read from `pc` on before it is overwritten. Calls keep no vector register.
    fn is_read(&mut self, pc: u64, register: u16) -> bool {
        let (mut ahead, mut seen) = (vec![pc], HashSet::new());
        while let Some(pc) = ahead.pop() {
            if !seen.insert(pc) {
                continue;
            }
            let Some(&index) = self.index.get(&pc).filter(|_| seen.len() <= FAR) else { return true };
            let instruction = self.instructions[index];
            let is_call = matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
            let passes = is_call || instruction.flow_control() == FlowControl::Return;
            if reads_register(&instruction, register, &mut self.facts) {
                return true;
            }
            if !passes && !writes_register(&instruction, register, &mut self.facts) {
                ahead.extend(ways(&instruction).into_iter().map(|(next, _)| next));
            }
        }
        false
    }
}

/// Tells whether a stretch does not just go on with the same location.
fn begins(local: &Local, stretch: &Stretch) -> bool {
    let goes_on = |other: &Stretch| {
        let is_same = other.location == stretch.location || other.variable == stretch.variable;
        is_same && other.range.end == stretch.range.start
    };
    !local.stretches.iter().any(goes_on)
}

/// Tells whether a parameter is there when the function is entered: not where it is going to be kept.
fn is_given(stretch: &Stretch) -> bool {
    match stretch.variable.storage {
        Storage::Value(_) => true,
        // The return address is on top of the stack.
        Storage::Frame { register, offset } => general_register(register) == Some(4) && offset >= 8,
        _ => false,
    }
}

fn decode(start: u64, bytes: &[u8]) -> impl Iterator<Item = Instruction> + '_ {
    Decoder::with_ip(64, bytes, start, DecoderOptions::NONE).into_iter()
}

/// Addresses of the instructions of `code`.
pub(super) fn addresses(code: &[(u64, Vec<u8>)]) -> impl Iterator<Item = u64> + '_ {
    code.iter().flat_map(|(start, bytes)| decode(*start, bytes)).map(|instruction| instruction.ip())
}

/// Addresses at which the program may go on after `instruction`, each with the other one.
fn ways(instruction: &Instruction) -> Vec<(u64, Option<u64>)> {
    let next = instruction.next_ip();
    match instruction.flow_control() {
        FlowControl::UnconditionalBranch => vec![(instruction.near_branch_target(), None)],
        FlowControl::ConditionalBranch => {
            let target = instruction.near_branch_target();
            vec![(next, Some(target)), (target, Some(next))]
        }
        FlowControl::Return | FlowControl::IndirectBranch | FlowControl::Exception => Vec::new(),
        _ => vec![(next, None)],
    }
}

/// The places of `local` while the instruction at `pc` is next, by their numbers.
fn at(local: &Local, pc: u64) -> impl Iterator<Item = usize> + '_ {
    let places = local.stretches.iter().enumerate();
    places.filter(move |(_, stretch)| stretch.range.contains(&pc)).map(|(number, _)| number)
}

impl Assignments {
    /// Notes what `instruction` does for each place that the variable is in where the program goes on.
    fn way(
        &mut self,
        local: &Local,
        instruction: &Instruction,
        (next, other): (u64, Option<u64>),
        code: &mut Code,
    ) {
        for place in at(local, next) {
            let here: Vec<usize> = at(local, instruction.ip()).collect();
            let Some((by, before)) = effect(local, instruction, place, &here, &mut code.facts) else {
                continue;
            };
            let storage = local.stretches[place].variable.storage;
            let comes = matches!(by, Effect::Comes);
            let shares = |other: &Other| {
                let is_older = comes && other.range.contains(&instruction.ip());
                let is_there = other.range.contains(&next) && other.storage == storage;
                is_there && (is_older || other.range.start == next && other.comes_first)
            };
            let is_settled = local.stretches[place].is_whole_scope;
            let mut is_copied = || match by {
                Effect::Comes => !code.is_fresh(instruction.ip(), storage),
                Effect::Writes(_) => code.leaves_copy(local, instruction),
            };
            let is_shared = !is_settled && (local.others.iter().any(shares) || is_copied());
            let by = match by {
                Effect::Writes(by) => by,
                Effect::Comes if before.is_some() => By::Way,
                Effect::Comes => By::Itself,
            };
            self.all.push(Assignment { at: instruction.ip(), next, other, by, place, before, is_shared });
        }
    }
}

/// Effect of an instruction on a variable.
#[derive(Clone, Copy)]
enum Effect {
    /// Instruction that writes the place that the variable is in.
    Writes(By),
    /// Instruction that comes to code where the variable is in a place that was written before.
    Comes,
}

/// Effect of `instruction` on the variable, which is at `here` before and at `place` after it: how it assigns it, and the
/// place to compare with.
fn effect(
    local: &Local,
    instruction: &Instruction,
    place: usize,
    here: &[usize],
    facts: &mut InstructionInfoFactory,
) -> Option<(Effect, Option<usize>)> {
    let stretch = &local.stretches[place];
    let is_same = |number: &usize| {
        let other = &local.stretches[*number];
        other.location == stretch.location || other.variable == stretch.variable
    };
    let stays = here.iter().any(is_same);
    let arrives = match here.iter().copied().find(|number| !is_same(number)) {
        _ if stays || stretch.is_whole_scope => None,
        before => Some((Effect::Comes, before)),
    };
    let writes_by = |by| Some((Effect::Writes(by), None));
    let calls = matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
        || rows::system(instruction) == Some(System::Call);
    let is_moved = || here.iter().any(|&other| moves(instruction, local.stretches[other].variable.storage));
    match stretch.variable.storage {
        Storage::Value(Holder::Register(register)) => {
            let writes = !calls && writes_register(instruction, register, facts);
            match writes && (stays || !is_moved()) {
                true => writes_by(By::Itself),
                false if writes => None,
                false => arrives,
            }
        }
        _ if calls && (stays || stretch.is_whole_scope) => writes_by(By::Others),
        _ if !calls && stores(instruction, facts) => match store_to(instruction, stretch) {
            Hit::Never => arrives,
            Hit::Sure | Hit::Perhaps if is_moved() && !stays => None,
            Hit::Sure => writes_by(By::Itself).filter(|_| stretch.variable.is_one()).or(writes_by(By::Store)),
            Hit::Perhaps => writes_by(By::Store).filter(|_| stays || stretch.is_whole_scope).or(arrives),
        },
        _ => arrives,
    }
}

/// Chance that a store hits the floats of a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hit {
    Never,
    Sure,
    Perhaps,
}

/// Chance that `instruction`, which stores, does so to the floats of `stretch`.
fn store_to(instruction: &Instruction, stretch: &Stretch) -> Hit {
    let (Storage::Frame { register, offset }, Some(span)) =
        (stretch.variable.storage, stretch.variable.span())
    else {
        return Hit::Perhaps;
    };
    let base = instruction.memory_base();
    let is_there = base.is_gpr() && general_register(register) == Some(base.number());
    if !is_there || instruction.memory_index() != Register::None || instruction.is_string_instruction() {
        return Hit::Perhaps;
    }
    let start = instruction.memory_displacement64() as i64;
    let end = start + instruction.memory_size().size() as i64;
    let (first, last) = (offset + span.start as i64, offset + span.end as i64);
    if start < last && first < end { Hit::Sure } else { Hit::Never }
}

/// DWARF's number of `register`, if it has floats (AMD64 supplement, figure 3.36).
fn is_register(register: Register, dwarf: u16) -> bool {
    let number = register.full_register().number() as u16;
    match dwarf {
        0..=15 => register.is_gpr() && general_register(dwarf) == Some(number.into()),
        17..=32 => register.is_vector_register() && number == dwarf - 17,
        33..=40 => register.is_st() && number == dwarf - 33,
        67..=82 => register.is_vector_register() && number == dwarf - 67 + 16,
        _ => false,
    }
}

fn is_write(access: OpAccess) -> bool {
    matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
}

fn writes_register(instruction: &Instruction, dwarf: u16, facts: &mut InstructionInfoFactory) -> bool {
    let info = facts.info(instruction);
    info.used_registers().iter().any(|used| is_write(used.access()) && is_register(used.register(), dwarf))
}

fn reads_register(instruction: &Instruction, dwarf: u16, facts: &mut InstructionInfoFactory) -> bool {
    let reads = |access| {
        use OpAccess::{CondRead, Read, ReadCondWrite, ReadWrite};
        matches!(access, Read | CondRead | ReadWrite | ReadCondWrite)
    };
    let info = facts.info(instruction);
    info.used_registers().iter().any(|used| reads(used.access()) && is_register(used.register(), dwarf))
}

/// Tells whether `instruction` writes to memory that a variable may be in: what is pushed is in none.
fn stores(instruction: &Instruction, facts: &mut InstructionInfoFactory) -> bool {
    let pushes = instruction.is_stack_instruction();
    !pushes && facts.info(instruction).used_memory().iter().any(|used| is_write(used.access()))
}

/// Tells whether `instruction` does nothing but move a float.
fn is_move(instruction: &Instruction) -> bool {
    use Moved::{Lane, Lowest, Whole};
    matches!(
        rows::row(instruction),
        Row::Move(Whole | Lowest(_) | Lane(_), _)
            | Row::General(General::Move)
            | Row::X87(X87::Load | X87::Store)
    )
}

/// Tells whether `instruction` does nothing but move what is in `from`.
fn moves(instruction: &Instruction, from: Storage) -> bool {
    let source = instruction.op_count().saturating_sub(1);
    let is_source = match (from, instruction.op_kind(source)) {
        (Storage::Value(Holder::Register(dwarf)), OpKind::Register) => {
            is_register(instruction.op_register(source), dwarf)
        }
        (Storage::Frame { register, offset }, OpKind::Memory) => {
            let base = instruction.memory_base();
            instruction.memory_index() == Register::None
                && base.is_gpr()
                && general_register(register) == Some(base.number())
                && instruction.memory_displacement64() as i64 == offset
        }
        _ => false,
    };
    is_move(instruction) && is_source
}

/// Addresses that the instruction whose registers have these values writes, as ranges; nothing if that cannot be told.
pub(super) fn written(
    instruction: &Instruction,
    mut register: impl FnMut(Register) -> Option<u64>,
) -> Option<Vec<Range<u64>>> {
    if access::repeats(instruction) {
        return None;
    }
    let mut facts = InstructionInfoFactory::new();
    let info = facts.info(instruction);
    let written = info.used_memory().iter().filter(|used| is_write(used.access()));
    let range = |used: &iced_x86::UsedMemory| {
        let start = used.virtual_address(0, |name, _, _| register(name))?;
        Some(start..start.saturating_add(used.memory_size().size() as u64))
    };
    written.map(range).collect()
}
