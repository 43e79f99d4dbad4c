//! Uses of a part of a float beyond its block: what code will do next with memory that an instruction is about to write.
//!
//! A function for the purpose of setting a part ends before the float is used. Goes on from the state of a stopped thread along the
//! code that will run: returns to where they lead, both ways of a branch. Runs nothing, writes nothing; knows no shadows.

use super::upper;
use super::uses::{first_read, follows, moves};
use crate::x86::access::is_write;
use crate::x86::rows;
use crate::x86::table::{General, Row};
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, MemorySize, OpKind, Register,
};
use shadowgrind_core::format::Format;
use values::Values;
use way::{Held, Way, Where};

pub(crate) mod asked;
mod holders;
#[cfg(test)]
mod tests;
mod values;
mod way;

/// Number of instructions that are looked at, on all ways.
const MOST: usize = 384;
/// Number of those from the start of a called function on, before that is passed over.
const CALLED: usize = 64;
/// Number of branches and calls after each other of which both ways are gone.
const BRANCHES: u32 = 6;
/// Bytes of the words in which halves of doubles are.
const WORD: u64 = 4;
/// Bytes on either side of the part that are noted when they are written.
const AROUND: u64 = 16;

/// Bytes of memory, into a buffer; the number of those that could be read.
pub(crate) type Read<'a> = &'a dyn Fn(u64, &mut [u8]) -> usize;

/// Next use of what an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// As a part of a float of this format, from its byte number `at` on.
    Part {
        /// Format of the float.
        format: Format,
        /// Number of the first byte.
        at: u8,
        /// Bytes of the float that are written before, as a mask.
        written: u16,
    },
    /// As a part of a float all of which is written before.
    New {
        /// Format of the float.
        format: Format,
        /// Number of the first byte.
        at: u8,
    },
    /// As something of its own.
    Alone,
    /// Eight bytes of which it is number `at` and following are moved as one double is, and what becomes of them is not seen.
    Moved {
        /// Number of the first byte.
        at: u8,
    },
    /// None is seen.
    Unseen,
}

struct Walk<'a> {
    read: Read<'a>,
    info: InstructionInfoFactory,
    left: usize,
    /// Address of the instruction that writes the part.
    writer: u64,
    /// Address of the part, if it is in memory.
    address: Option<u64>,
    bytes: u64,
    moved: Option<Use>,
    /// Something has been put to it that is no constant.
    is_joined: bool,
    /// Argument, perhaps, of a function that takes any.
    may_be_passed: bool,
    /// True if it may be a variable of four bytes, whose shadow goes along with it.
    is_word: bool,
    /// True if it may be the upper half of a double, in a register.
    may_be_upper: bool,
    /// True if it may be an integer, which is widened, and that it has turned out to be an address at which nothing is looked up.
    may_be_integer: bool,
    says_where: bool,
}

/// Bytes that an instruction writes.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// Less than eight bytes of memory, at this address.
    Memory {
        /// The address.
        address: u64,
        /// Number of bytes.
        bytes: u64,
        /// True if what is put there has a shadow, which goes along to where it is moved next.
        is_shadowed: bool,
    },
    /// The first byte of a vector register, which is a part of whatever that has.
    Lane {
        /// The register.
        register: Register,
    },
    /// Bytes of a register, the others of which stay.
    Inserted {
        /// The register.
        register: Register,
        /// Number of the first byte.
        at: u64,
        /// Number of bytes.
        bytes: u64,
    },
}

/// The next use of `target`, which `insn` is about to write. The general registers before it are `general`.
pub(crate) fn next_use(insn: &Instruction, target: Target, general: &[u64; 16], read: Read<'_>) -> Use {
    walked(insn, target, false, general, read).0
}

/// Tells whether `register`, which `insn` is about to write, says next where something is stored, and nothing is looked up there.
pub(crate) fn says_where(
    insn: &Instruction,
    register: Register,
    general: &[u64; 16],
    read: Read<'_>,
) -> bool {
    let target = Target::Inserted { register, at: 0, bytes: register.size() as u64 };
    walked(insn, target, true, general, read).1.says_where
}

/// Tells whether `target`, which `insn` is about to write, is used as a part of a double next, and nothing is put to it before but
/// constants.
pub(crate) fn is_double_alone(
    insn: &Instruction,
    target: Target,
    general: &[u64; 16],
    read: Read<'_>,
) -> bool {
    let (found, walk) = walked(insn, target, false, general, read);
    matches!(found, Use::Part { format: Format::F64, .. }) && !walk.is_joined
}

/// The next use, and what was seen on all ways that were gone.
fn walked<'a>(
    insn: &Instruction,
    target: Target,
    may_be_integer: bool,
    general: &[u64; 16],
    read: Read<'a>,
) -> (Use, Walk<'a>) {
    let mut values = Values::new(general);
    values.forget_al_unless_set_before(insn.ip(), read);
    let (place, offset, bytes, size, address) = match target {
        Target::Memory { address, bytes, .. } => {
            let value = values.operand(insn, 1, read);
            values.store(address, bytes, value);
            (Where::Memory(address), 0, bytes, bytes, Some(address))
        }
        Target::Lane { register } => {
            (Where::Register(register.full_register()), 0, 1, register.size() as u64, None)
        }
        Target::Inserted { register, at, bytes } => {
            (Where::Register(register.full_register()), at, bytes, register.size() as u64, None)
        }
    };
    let info = InstructionInfoFactory::new();
    let (writer, moved, is_joined) = (insn.ip(), None, false);
    // What is left of narrow floats in registers is no argument.
    let may_be_passed = !matches!(target, Target::Lane { .. });
    let is_word = matches!(target, Target::Memory { bytes: WORD, is_shadowed: true, .. });
    let may_be_upper = matches!(target, Target::Inserted { register, at: 0, .. } if register.is_gpr32());
    let mut walk = Walk {
        read,
        info,
        left: MOST,
        writer,
        address,
        bytes,
        moved,
        is_joined,
        may_be_passed,
        is_word,
        may_be_upper,
        may_be_integer,
        says_where: false,
    };
    let written = ((1 << bytes) - 1) << AROUND;
    let is_origin = address.is_some();
    let held = vec![Held { place, offset, bytes: size, is_origin, written }];
    let way = Way { pc: insn.next_ip(), values, held, own: Vec::new(), written, branches: 0 };
    let found = walk.go(way).unwrap_or(match walk.moved {
        Some(Use::Part { at, .. }) => Use::Moved { at },
        _ => Use::Unseen,
    });
    (found, walk)
}

impl Walk<'_> {
    fn go(&mut self, mut way: Way) -> Option<Use> {
        while self.left > 0 && !way.held.is_empty() {
            self.left -= 1;
            let insn = decode(way.pc, self.read)?;
            way.pc = insn.next_ip();
            if let Some(found) = self.step(&mut way, &insn) {
                return Some(found);
            }
            let other = self.turn(&mut way, &insn)?;
            if let Some(other) = other {
                if way.branches == BRANCHES {
                    return None;
                }
                way.branches += 1;
                // Something is left for the other way.
                let kept = if is_call(&insn) { self.left.saturating_sub(CALLED) } else { self.left / 2 };
                self.left -= kept;
                let found = self.go(way);
                self.left += kept;
                way = Way { branches: other.branches + 1, ..other };
                match found {
                    None => {}
                    // A loop of which the end is not known: the other way may write the others.
                    Some(Use::Part { .. }) => {
                        let other = self.go(way).filter(|other| matches!(other, Use::New { .. }));
                        return other.or(found);
                    }
                    Some(_) => return found,
                }
            }
        }
        None
    }

    /// Has `way` go on where the instruction leads. Returns the other way where either may be taken, as at a branch or behind a call.
    fn turn(&self, way: &mut Way, insn: &Instruction) -> Option<Option<Way>> {
        match insn.flow_control() {
            FlowControl::Next => {}
            FlowControl::UnconditionalBranch => way.pc = insn.near_branch_target(),
            FlowControl::ConditionalBranch => match way.values.is_taken(insn) {
                Some(true) => way.pc = insn.near_branch_target(),
                Some(false) => {}
                None => {
                    let mut taken = way.clone();
                    taken.pc = insn.near_branch_target();
                    return Some(Some(taken));
                }
            },
            FlowControl::IndirectBranch => way.pc = way.values.operand(insn, 0, self.read)?,
            FlowControl::Call | FlowControl::IndirectCall => {
                let after = way.after_call();
                way.pc = match insn.flow_control() {
                    FlowControl::Call => insn.near_branch_target(),
                    _ => way.values.operand(insn, 0, self.read)?,
                };
                way.values.push(Some(insn.next_ip()));
                return Some(Some(after));
            }
            FlowControl::Return => {
                way.pc = way.values.pop(self.read)?;
                way.values.move_stack(insn.stack_pointer_increment() - 8);
                way.forget_frame();
            }
            _ => return None,
        }
        Some(None)
    }

    /// Follows what holds the part through one instruction; its use, if that tells.
    fn step(&mut self, way: &mut Way, insn: &Instruction) -> Option<Use> {
        let row = rows::row(insn);
        let moves = moves(insn, row);
        let widens = self.may_be_integer && matches!(row, Row::General(General::Extend(_)));
        let sums = rows::computes_address(insn);
        let follows = widens || sums || follows(insn, row);
        let in_address = [insn.memory_base(), insn.memory_index()];
        let is_address = |held: &Held| in_address.iter().any(|&r| held.place == Where::Register(r));
        if !rows::only_names_memory(insn) && way.held.iter().any(is_address) {
            self.says_where = !rows::may_look_up(insn);
            return Some(Use::Alone);
        }
        // Functions of other files are gone to by a jump through a table.
        if (is_call(insn) || insn.flow_control() == FlowControl::IndirectBranch)
            && self.may_be_passed
            && way.values.passes_floats()
            && let Some(held) = way.argument()
        {
            // Through an ellipsis there go doubles.
            return self.part_of(held, Format::F64);
        }
        if self.is_word && self.is_read_alone(way, insn, row) {
            return Some(Use::Alone);
        }
        let first = first_read(insn, row);
        let used = match sums {
            true => way.held.iter().copied().find(is_address),
            false => (first..insn.op_count()).find_map(|n| self.held_by(way, insn, n)),
        };
        if self.may_be_upper
            && used.is_some()
            && let Some(is_upper) = upper::told(insn)
        {
            let part = Use::Part { format: Format::F64, at: WORD as u8, written: 0 };
            return Some(if is_upper { part } else { Use::Alone });
        }
        if let Some(held) = used {
            if !follows && !matches!(row, Row::Flags(_)) {
                if let Some(found) = self.used(held, insn, row) {
                    return Some(found);
                }
            } else if moves && is_of_double(insn) {
                self.moved = self.moved.or_else(|| self.part_of(held, Format::F64));
            }
            let constant = |n| !matches!(insn.op_kind(n), OpKind::Register | OpKind::Memory);
            self.is_joined |= follows && !moves && (1..insn.op_count()).any(|n| !constant(n));
        }
        let goes_on = used.filter(|held| follows && !self.is_inserted_over(held, insn));
        self.write(way, insn, goes_on.map(|held| self.made_wide(held, insn, row)));
        None
    }

    /// Applies an instruction to registers, and to what holds the part; `moved` is what it moves, or changes a little.
    fn write(&mut self, way: &mut Way, insn: &Instruction, moved: Option<Held>) {
        let stores = insn.op_count() > 0 && insn.op0_kind() == OpKind::Memory;
        let target = if stores && writes_first(insn) { way.values.address(insn) } else { None };
        let used = self.info.info(insn);
        let written: Vec<Register> = used
            .used_registers()
            .iter()
            .filter(|used| is_write(used.access()))
            .map(|used| used.register().full_register())
            .collect();
        if let Some((to, size)) = way.values.string(insn) {
            way.overwrite(to, size, self.bytes);
            self.address.into_iter().for_each(|part| way.note_written(to, size, part));
        }
        let is_own = self.is_of_own(way, insn);
        // What one or two bytes of a general register are written to stays in the rest of it.
        let is_narrow = insn.op0_kind() == OpKind::Register && matches!(insn.op0_register().size(), 1 | 2);
        let is_changed =
            |r: Register| written.contains(&r) && !(is_narrow && r == insn.op0_register().full_register());
        way.held.retain(|held| !matches!(held.place, Where::Register(r) if is_changed(r)));
        way.own.retain(|place| !matches!(place, Where::Register(r) if written.contains(r)));
        if let Some(to) = target {
            let size = insn.memory_size().size() as u64;
            way.overwrite(to, size, self.bytes);
            way.own.retain(|&place| place != Where::Memory(to));
            if is_own {
                way.own.push(Where::Memory(to));
            } else if let Some(part) = self.address {
                way.note_written(to, size, part);
                if insn.ip() == self.writer {
                    way.note_turn(to, size, part);
                }
            }
            way.held.extend(moved.map(|held| Held { place: Where::Memory(to), ..held }));
        } else if insn.op0_kind() == OpKind::Register {
            let place = Where::Register(insn.op0_register().full_register());
            way.held.extend(moved.map(|held| Held { place, ..held }));
            if is_own {
                way.own.push(place);
            }
        }
        way.values.step(insn, target, &written, self.read);
    }
}

/// The instruction at `pc`, if one is there.
fn decode(pc: u64, read: Read<'_>) -> Option<Instruction> {
    let mut bytes = [0; 15];
    let len = read(pc, &mut bytes);
    let insn = Decoder::with_ip(64, &bytes[..len], pc, DecoderOptions::NONE).decode();
    (!insn.is_invalid()).then_some(insn)
}

fn is_call(insn: &Instruction) -> bool {
    matches!(insn.flow_control(), FlowControl::Call | FlowControl::IndirectCall)
}

/// Tells whether the instruction moves eight bytes as a float is moved.
fn is_of_double(insn: &Instruction) -> bool {
    let vector = |n| insn.op_kind(n) == OpKind::Register && insn.op_register(n).is_vector_register();
    let is_scalar =
        matches!(insn.memory_size(), MemorySize::Float64 | MemorySize::UInt64 | MemorySize::Unknown);
    is_scalar && (vector(0) || vector(1))
}

/// Tells whether the first operand, which is memory, is written.
fn writes_first(insn: &Instruction) -> bool {
    let reads = matches!(rows::row(insn), Row::Flags(_) | Row::General(General::Push));
    !reads && insn.flow_control() == FlowControl::Next
}
