//! Discovery: from a guest address to a superblock, the run of instructions that is translated as one piece.
//!
//! Follows the likely path — past conditional branches as if not taken, through direct jumps, into and out of direct
//! calls — and marks what control flow becomes. Purely a function of the bytes, the address and the limits, so that
//! the same block can be discovered again when a fault inside it has to be mapped back, as long as its bytes are what they were.
//! Emits nothing.

use super::access::is_write;
#[cfg(test)]
use super::code_source::Bytes;
use super::code_source::{CodeSource, Window};
use super::insn::{Flow, Insn};
use super::returns;
use super::rounding::{Rounding, format_of_sum};
use super::rows;
use super::sums::find_sums;
use super::superblock::{Decision, End, FloatFacts, Superblock};
use super::table::{General, Row, X87};
use super::wholes;
use iced_x86::{FlowControl, Instruction, InstructionInfoFactory, OpKind, Register};
use shadowgrind_core::ops::Op;

/// Hooks that end a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hooks {
    /// None.
    None,
    /// All but one at the first instruction, which was seen to.
    AfterFirst,
    /// All.
    All,
}

/// Limits of discovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Guest instructions per superblock.
    pub(crate) instructions: usize,
    /// Conditional branches passed.
    pub(crate) side_exits: usize,
    /// Direct jumps and calls followed.
    pub(crate) jumps: usize,
    /// Calls entered and not returned from.
    pub(crate) call_depth: usize,
    /// Address to which the function that the superblock begins in is expected to return, if that is known.
    pub(crate) back: Option<u64>,
    /// The hooks that end a superblock.
    pub(crate) hooks: Hooks,
    /// True if instructions that write memory, other than by pushing, end it: what they wrote may be code that follows.
    pub(crate) ends_at_stores: bool,
}

impl Superblock {
    /// Discovers the superblock at `start` into `self`, which is emptied first.
    pub(crate) fn discover(&mut self, start: u64, limits: Limits, source: &mut dyn CodeSource) {
        self.start = start;
        self.insns.clear();
        self.extents.clear();
        self.function = None;
        self.facts = None;
        Walk { block: self, limits, window: Window::new(), frames: Vec::new(), side_exits: 0, jumps: 0 }
            .run(start, source);
        if self.insns.iter().any(|insn| matches!(insn.flow, Flow::ExpectedReturn(_))) {
            returns::make_certain(&mut self.insns);
        }
    }

    /// Finds out what the instructions mean for floats, as far as annotations ask: which sums round, which instructions change
    /// parts of floats, and which comparisons and roundings are counted. Done once for what was discovered.
    pub(crate) fn find_facts(&mut self, source: &mut dyn CodeSource) {
        if self.facts.is_some() {
            return;
        }
        let mut facts = FloatFacts::default();
        if self.insns.iter().any(|insn| format_of_sum(&insn.decoded).is_some()) {
            let parts = self.extents.iter().map(|&(from, _)| source.rounds(from));
            facts.rounds = parts.fold(Rounding::default(), Rounding::or);
            facts.sums = find_sums(&self.insns, self.start, facts.rounds, source);
        }
        facts.wholes = wholes::find(&self.insns);
        facts.decisions.extend(self.insns.iter().filter_map(|insn| decides(insn, source)));
        self.facts = Some(facts);
    }
}

/// The decision by floats that the instruction takes, if it is one that is counted.
fn decides(insn: &Insn, source: &dyn CodeSource) -> Option<Decision> {
    match rows::row(&insn.decoded) {
        Row::CompareFlags(_) | Row::Compare(..) | Row::X87(X87::Compare | X87::CompareZero) => {
            source.comparison(insn.pc())
        }
        Row::Round(..) | Row::ToInteger(..) | Row::X87(X87::StoreInteger(_) | X87::Unary(Op::Rint)) => {
            source.whole_numbers(insn.pc())
        }
        _ => None,
    }
}

/// Tells whether `insn` ends Valgrind's client request: `rol rdi` by 3, 13, 61 and 51 bits, then `xchg rbx, rbx`;
/// nothing at all to a processor.
fn is_request(insn: &Instruction, source: &mut dyn CodeSource) -> bool {
    const ROTATIONS: [u8; 16] =
        [0x48, 0xc1, 0xc7, 3, 0x48, 0xc1, 0xc7, 13, 0x48, 0xc1, 0xc7, 61, 0x48, 0xc1, 0xc7, 51];
    // What few instructions have comes first: all are asked.
    let swaps_nothing = insn.op1_register() == Register::RBX
        && insn.op0_register() == Register::RBX
        && rows::row(insn) == Row::General(General::Exchange);
    let mut before = [0; ROTATIONS.len()];
    swaps_nothing
        && source.answers_requests()
        && source.fetch(insn.ip().wrapping_sub(16), &mut before) == before.len()
        && before == ROTATIONS
}

struct Walk<'a> {
    block: &'a mut Superblock,
    limits: Limits,
    window: Window,
    /// Calls that were followed and not returned from.
    frames: Vec<FollowedCall>,
    side_exits: usize,
    jumps: usize,
}

/// A call whose callee is being discovered.
struct FollowedCall {
    /// Address of the callee.
    callee: u64,
    /// Address to which the callee is expected to return.
    back: u64,
    /// Index of the callee's first instruction in the superblock.
    first: usize,
}

impl Walk<'_> {
    fn run(mut self, start: u64, source: &mut dyn CodeSource) {
        let mut pc = start;
        let mut extent = (start, start);
        self.block.end = loop {
            if self.block.insns.len() == self.limits.instructions {
                break End::Continues(pc);
            }
            let hooks = self.limits.hooks;
            if hooks != Hooks::None && (pc != start || hooks == Hooks::All) && source.is_hooked(pc) {
                if pc == start {
                    self.block.function = source.function(pc);
                }
                break End::Hooked(pc);
            }
            let insn = match self.window.decode(pc, source) {
                Ok(insn) => insn,
                Err(end) => break end,
            };
            if is_request(&insn.decoded, source) {
                break End::Request(pc);
            }
            let after = insn.decoded.next_ip();
            extent.1 = after;
            let (flow, next) = if source.takes_gs() && uses_gs(&insn.decoded) {
                (Flow::Engine, None)
            } else {
                self.classify(&insn.decoded)
            };
            self.block.insns.push(Insn { flow, ..insn });
            let Some(next) = next else { break End::Left };
            if self.limits.ends_at_stores && stores(&insn.decoded) {
                break End::Continues(next);
            }
            if next != after {
                self.block.extents.push(extent);
                extent = (next, next);
            }
            pc = next;
        };
        if extent.1 > extent.0 {
            self.block.extents.push(extent);
        }
    }

    /// The flow of an instruction and the address discovery goes on at, if it does.
    fn classify(&mut self, insn: &Instruction) -> (Flow, Option<u64>) {
        if engine_emulates(insn) {
            return (Flow::Engine, None);
        }
        match insn.flow_control() {
            // `int3`, `ud2` and the like fault where they stand; so do xabort and xend outside a transaction.
            FlowControl::Next
            | FlowControl::Exception
            | FlowControl::Interrupt
            | FlowControl::XbeginXabortXend => (Flow::Straight, Some(insn.next_ip())),
            FlowControl::ConditionalBranch => self.conditional(insn),
            FlowControl::UnconditionalBranch => self.follow(insn, Flow::FollowedJump),
            FlowControl::Call => self.call(insn),
            FlowControl::Return => self.ret(),
            FlowControl::IndirectBranch | FlowControl::IndirectCall => (Flow::Ends, None),
        }
    }

    fn conditional(&mut self, insn: &Instruction) -> (Flow, Option<u64>) {
        let counted = insn.is_jcc_short_or_near();
        if !counted || self.side_exits == self.limits.side_exits {
            return (Flow::Ends, None);
        }
        self.side_exits += 1;
        (Flow::SideExit, Some(insn.next_ip()))
    }

    fn follow(&mut self, insn: &Instruction, followed: Flow) -> (Flow, Option<u64>) {
        let target = insn.near_branch_target();
        // A loop is a block that links to itself, not one unrolled; another call of the same function is no loop.
        let frame = self.frames.last().map_or(0, |call| call.first);
        let again = match followed {
            Flow::FollowedCall => {
                target == self.block.start || self.frames.iter().any(|call| call.callee == target)
            }
            _ => target == insn.ip() || self.block.insns[frame..].iter().any(|insn| insn.pc() == target),
        };
        if again || self.jumps == self.limits.jumps || self.block.insns.len() + 1 == self.limits.instructions
        {
            return (Flow::Ends, None);
        }
        self.jumps += 1;
        (followed, Some(target))
    }

    fn call(&mut self, insn: &Instruction) -> (Flow, Option<u64>) {
        if !is_comparable(insn.next_ip()) || self.frames.len() >= self.limits.call_depth {
            return (Flow::Ends, None);
        }
        let (flow, next) = self.follow(insn, Flow::FollowedCall);
        if flow == Flow::FollowedCall {
            self.frames.push(FollowedCall {
                callee: insn.near_branch_target(),
                back: insn.next_ip(),
                first: self.block.insns.len() + 1,
            });
        }
        (flow, next)
    }

    fn ret(&mut self) -> (Flow, Option<u64>) {
        let back = match self.frames.pop() {
            Some(call) => Some(call.back),
            None => self.limits.back.take(),
        };
        match back.filter(|_| self.block.insns.len() + 1 < self.limits.instructions) {
            Some(back) => (Flow::ExpectedReturn(back), Some(back)),
            None => (Flow::Ends, None),
        }
    }
}

/// Tells whether an expected return can go to `address`: it is compared with a sign-extended 32-bit constant.
pub(crate) fn is_comparable(address: u64) -> bool {
    i32::try_from(address).is_ok()
}

fn stores(insn: &Instruction) -> bool {
    !insn.is_stack_instruction()
        && InstructionInfoFactory::new()
            .info(insn)
            .used_memory()
            .iter()
            .any(|memory| is_write(memory.access()))
}

/// Instructions that the engine carries out, because their effect reaches beyond the guest's registers and memory or
/// because they would see the engine.
fn engine_emulates(insn: &Instruction) -> bool {
    runs_then_exits(insn) || rows::system(insn).is_some()
}

/// Tells whether an instruction addresses memory through GS, or reads or writes GS.
pub(crate) fn uses_gs(insn: &Instruction) -> bool {
    insn.segment_prefix() == Register::GS
        || rows::names_gs_base(insn)
        || insn.op0_kind() == OpKind::Register && insn.op0_register() == Register::GS
}

/// Instructions that run as they are but leave something the engine must put right afterwards: these store the
/// address of the last x87 instruction, which has to be the guest's.
pub(crate) fn runs_then_exits(insn: &Instruction) -> bool {
    insn.op0_kind() == OpKind::Memory && rows::row(insn).saves_x87_address()
}

/// The superblock of `code` at `start`, for tests: into so many calls.
#[cfg(test)]
pub(crate) fn discovered(start: u64, code: &[u8], call_depth: usize) -> Superblock {
    let (hooks, ends_at_stores) = (Hooks::None, false);
    let limits =
        Limits { instructions: 100, side_exits: 9, jumps: 9, call_depth, back: None, hooks, ends_at_stores };
    let mut block = Superblock::new();
    block.discover(start, limits, &mut Bytes { start, code: code.to_vec() });
    block
}
