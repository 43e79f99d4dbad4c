//! Annotation: the code beside guest instructions that carries shadows along, in a mirror of the guest's state.
//!
//! Everything an instruction does to floats is done to their shadows in a few instructions of the same kind, or, where
//! that is too much code for what is rare, a *check* looks whether any of its operands carries a shadow at all and
//! leaves to the engine if so. Every annotated instruction has that reference path: it can always be left to the engine.
//!
//! Keeps the guest's flags and stack, and its sticky exceptions and rounding mode: with AVX-512 by instructions that
//! have nothing to do with them, without as `isolation` says. Knows instructions and places, not what a shadow means.

pub(crate) mod append;
mod append_wide;
mod arith;
mod by_row;
mod check;
mod clearing;
mod conversion;
mod copied;
mod counting;
#[cfg(test)]
mod coverage;
mod crossed;
pub(crate) mod descriptor;
mod digits;
mod double;
mod element;
pub(super) mod encode;
mod equality;
mod exchange;
mod fields;
mod function;
mod function_long;
mod general;
mod half;
mod isolation;
mod lanes;
#[cfg(test)]
mod listings;
mod liveness;
mod logic;
mod logic_vex;
mod logic_wide;
mod magnitude;
mod masked;
mod moved;
mod open_record;
mod operand;
mod operands;
mod places;
mod questions;
pub(crate) use check::address_registers;
pub(crate) use digits::may_count;
pub(crate) use fields::may_follow;
pub(crate) use scaled::may_scale;
mod record;
mod record_wide;
mod reencoded;
mod reencodings;
mod retarget;
mod rounding;
mod scaled;
mod selections;
mod settings;
mod signs;
mod speculation;
pub(crate) mod staging;
mod temporaries;
#[cfg(test)]
mod tests;
mod turns;
mod upper_halves;
mod vectors;
mod wide;
mod x87;
mod x87_append;
mod x87_compare;
mod x87_evaluated;
mod x87_known;
mod x87_parts;
mod x87_record;
mod x87_rounding;
mod x87_stack;
mod x87_values;
mod zero_test;

use super::asm::{Asm, Gpr};
use super::code::{ExitKind, Spilled, SpilledVector};
use super::emit::Emitter;
use super::insn::Insn;
use super::mode::Mode;
use super::rows;
use super::rules::InlineRule;
use super::superblock::Superblock;
use crate::context::{COPIERS, SPILL_SLOTS};
use descriptor::RecordDescriptor;
use hashbrown::{HashMap, HashSet};
use iced_x86::{EncodingKind, Register};
use liveness::Liveness;
use open_record::OpenRecord;
use reencodings::Reencodings;
pub(crate) use settings::{Settings, Watched};
use shadowgrind_core::format::Format;
use temporaries::ScratchAllocator;
use turns::Beginning;

/// Address of what is recorded, the format of its operands, and the bit of its first lane.
type RecordKey = (u64, Format, Option<u8>);

/// Annotator: its settings, what it knows of the block being emitted, and what it has learnt of the code so far.
pub(crate) struct Mirror {
    settings: Settings,
    reencodings: Reencodings,
    liveness: Liveness,
    /// The scratch register that holds FS's base, or the address of a far operand, for the present instruction; its own
    /// value is in [`Slot::Address`](crate::x86::code::Slot::Address).
    address: Option<Gpr>,
    temporaries: ScratchAllocator,
    /// Code that nobody runs: it is emitted to see which registers a rule writes.
    trial: Asm,
    /// Beginning of a turn, if the block is a loop.
    beginning: Option<Beginning>,
    /// The present instruction is an exchange that holds the lock.
    locked: bool,
    /// The superblock's code is complete: what follows cannot be reached.
    ended: bool,
    /// The recorded operations, by number, and the number of each at an address.
    recorded: Vec<RecordDescriptor>,
    recorded_at: HashMap<RecordKey, u32>,
    /// Most bytes of the records that the block's code so far has closed.
    appended_bytes: u64,
    open_record: OpenRecord,
    /// No other thread sees what is stored.
    is_alone: bool,
    /// Instructions of the block, by index, before which records are closed.
    loop_heads: Vec<usize>,
    /// Guest addresses of instructions that are worth the code of `scaled`, and the numbers under which those count the
    /// digits that they lose.
    hot_sites: HashMap<u64, u16>,
    /// Guest addresses of operations that are watched no longer, or less than from the first.
    watched: HashMap<u64, Watched>,
    /// Guest addresses of instructions that write a few bytes, which were no part of a float with a shadow.
    alone: HashSet<u64>,
    /// Guest addresses of instructions that copy doubles byte by byte, each with its number.
    copiers: HashMap<u64, usize>,
    /// The top of the x87 stack is the mode's, for sure.
    top_is_known: bool,
    /// The block has computed on the x87 stack, and its other instructions leave MXCSR alone: what is known at its end may be
    /// carried on.
    carries: bool,
    carries_mxcsr: bool,
    /// Physical registers of x87 that are not empty for sure, as a mask, where the top is known.
    x87_full: u8,
    /// Physical registers of x87 that were loaded as doubles and not written since, as a mask, where the top is known.
    x87_doubles: u8,
    /// Values of physical registers that are kept in memory, where the top is known.
    x87_known: [Option<x87_known::Known>; 8],
    /// MXCSR is that of rules, and the processor's in its slot.
    rules_mxcsr: bool,
}

impl Mirror {
    pub(crate) fn new(settings: Settings) -> Self {
        Mirror {
            settings,
            reencodings: Reencodings::new(if settings.in_registers > 0 {
                EncodingKind::EVEX
            } else {
                EncodingKind::VEX
            }),
            liveness: Liveness::default(),
            address: None,
            temporaries: ScratchAllocator::default(),
            trial: Asm::new(0),
            beginning: None,
            locked: false,
            ended: false,
            recorded: Vec::new(),
            recorded_at: HashMap::new(),
            appended_bytes: 0,
            open_record: OpenRecord::default(),
            is_alone: false,
            loop_heads: Vec::new(),
            hot_sites: HashMap::new(),
            watched: HashMap::new(),
            alone: HashSet::new(),
            copiers: HashMap::new(),
            top_is_known: false,
            carries: false,
            carries_mxcsr: false,
            x87_full: 0,
            x87_doubles: 0,
            x87_known: [None; 8],
            rules_mxcsr: false,
        }
    }

    /// Tells whether annotations rely on the guest to use nothing of AVX-512.
    pub(crate) fn excludes_avx512(&self) -> bool {
        self.settings.in_registers != 0 || self.settings.has_avx512 && !self.settings.wide
    }

    /// Leaves all vector registers to the guest from now on: no shadow is in one.
    pub(crate) fn leave_upper_registers(&mut self) {
        self.settings.in_registers = 0;
        self.settings.wide = self.settings.has_avx512;
        self.reencodings = Reencodings::new(EncodingKind::VEX);
    }

    /// Assumes, until [`Mirror::end_alone`], that no other thread sees what is stored.
    pub(crate) fn begin_alone(&mut self) {
        self.is_alone = self.settings.appends;
    }

    /// Assumes from now on that other threads see what is stored. Tells whether that is new.
    pub(crate) fn end_alone(&mut self) -> bool {
        std::mem::take(&mut self.is_alone)
    }

    /// The register that holds the address of the memory operand of the instruction being annotated, if there is one.
    pub(in crate::x86) fn address(&self) -> Option<Gpr> {
        self.address
    }

    /// Notes that the instruction at guest address `pc`, one of [`may_scale`], meets shadows often: the digits that it loses
    /// are counted under `number`. Code made from there is to be made anew: a fault in it is looked up by making it once more.
    pub(crate) fn mark_hot(&mut self, pc: u64, number: Option<u16>) {
        // Without a number it is left to the engine, which counts.
        self.hot_sites.extend(number.map(|number| (pc, number)));
    }

    /// Watches the operation at guest address `pc` as `watched` says from now on. Code made from there is to be made anew.
    pub(crate) fn watch(&mut self, pc: u64, watched: Watched) {
        self.watched.insert(pc, watched);
    }

    /// Takes the instruction at guest address `pc` to write no part of a float from now on. Code made from there is to be made
    /// anew.
    pub(crate) fn writes_alone(&mut self, pc: u64) {
        self.alone.insert(pc);
    }

    /// Has the instruction at guest address `pc`, which stores bytes, copy doubles byte by byte from now on; false if there is no number
    /// left for it. Code made from there is to be made anew.
    pub(crate) fn copies_doubles(&mut self, pc: u64) -> bool {
        let number = self.copiers.len();
        let has_room = number < COPIERS;
        if has_room {
            self.copiers.entry(pc).or_insert(number);
        }
        has_room
    }

    /// Number of an instruction that does.
    pub(crate) fn copier(&self, pc: u64) -> Option<usize> {
        self.copiers.get(&pc).copied()
    }

    /// The recorded operations, by number.
    pub(crate) fn recorded(&self) -> &[RecordDescriptor] {
        &self.recorded
    }

    /// Forgets what the block emitted last has handed on: the next one is not annotated.
    pub(super) fn carry_nothing(&mut self) {
        (self.carries, self.carries_mxcsr) = (false, false);
        (self.top_is_known, self.rules_mxcsr) = (false, false);
    }

    /// Tells whether MXCSR is that of rules now.
    pub(super) fn has_rules_mxcsr(&self) -> bool {
        self.rules_mxcsr
    }

    /// Guest vector registers that are spilled, by place.
    pub(super) fn spilled(&self) -> [Option<SpilledVector>; SPILL_SLOTS] {
        self.temporaries.spilled()
    }

    /// For each guest vector register, the register that holds its shadow, if that is not in its place.
    pub(super) fn unsaved(&self) -> [Option<u8>; 16] {
        self.temporaries.unsaved()
    }
}

/// The instruction being annotated.
#[derive(Clone, Copy)]
struct At<'a> {
    block: &'a Superblock,
    index: usize,
}

impl<'a> At<'a> {
    fn insn(self) -> &'a Insn {
        &self.block.insns[self.index]
    }
}

impl Emitter {
    fn mirror(&mut self) -> &mut Mirror {
        self.mirror.as_mut().expect("annotated modes have a mirror")
    }

    /// Tells whether operations are recorded.
    fn records(&mut self) -> bool {
        self.mirror().settings.records
    }

    /// Rule by which shadows are computed, where operations are not recorded.
    fn inline_rule(&mut self) -> InlineRule {
        self.mirror().settings.rule.expect("shadows that are not recorded have a rule")
    }

    /// Prepares for the annotated instructions of `block`.
    ///
    /// `carried` is the mode with what the block before has handed on.
    pub(super) fn begin_annotated(&mut self, block: &Superblock, carried: Mode) {
        let carries_mxcsr = !self.has_rules(block);
        let mirror = self.mirror.as_mut().expect("annotated modes have a mirror");
        mirror.liveness.analyse(block);
        mirror.temporaries.analyse(block, &mut self.facts);
        mirror.address = None;
        mirror.locked = false;
        mirror.ended = false;
        mirror.carries = false;
        mirror.carries_mxcsr = carries_mxcsr;
        mirror.x87_full = 0;
        mirror.x87_doubles = 0;
        mirror.x87_known = [None; 8];
        mirror.top_is_known = carried.knows_top();
        mirror.rules_mxcsr = carried.has_rules_mxcsr();
        if mirror.settings.appends {
            self.make_room(block);
        }
        self.begin_turns(block);
    }

    /// The way in which the operation of an instruction is watched.
    fn watched(&mut self, at: At<'_>) -> Watched {
        self.watches(at.insn().pc())
    }

    /// Stage of watching that the operation at guest address `pc`, which may be a function, is in.
    fn watches(&mut self, pc: u64) -> Watched {
        let is_off = self.mode.is_off();
        let mirror = self.mirror();
        match mirror.settings.policy.watch {
            Some(_) if !is_off => mirror.watched.get(&pc).copied().unwrap_or(Watched::Always),
            _ => Watched::Never,
        }
    }

    /// The guest instruction itself.
    fn guest(&mut self, at: At<'_>) {
        self.note_spilled(at.index);
        self.instruction(at.index, at.insn());
    }

    /// Notes that the code from here on belongs to the instruction, with the registers that are spilled.
    fn note_spilled(&mut self, index: usize) {
        let spilled = self.spilled(None);
        self.note(index, spilled);
    }

    /// Registers that are spilled while the instruction is annotated, and `scratch` with them.
    fn spilled(&mut self, scratch: Option<Gpr>) -> Spilled {
        let rcx = self.rcx_spilled;
        let &mut Mirror { address, locked, .. } = self.mirror();
        Spilled { rcx, scratch, address, locked, ..Spilled::default() }
    }

    /// Leaves the instruction to the engine, always.
    fn out_of_line(&mut self, at: At<'_>) {
        self.put_back_all();
        self.put_back_mxcsr(at.index);
        self.close_operand();
        self.exit(ExitKind::OutOfLine(at.insn().pc()));
        self.mirror().ended = true;
    }

    /// Leaves the instruction to the engine if an operand carries a shadow, or if a shadow may be born of it; what it writes
    /// carries none otherwise.
    fn checked(&mut self, at: At<'_>) {
        let insn = &at.insn().decoded;
        let may_bear = self.mirror().settings.policy.is_born && rows::row(insn).rounds();
        if may_bear || insn.is_vsib() || self.writes_unnamed_memory(insn) || !self.open_operand(at) {
            return self.out_of_line(at);
        }
        let sources = self.sources(at);
        self.check(at, &sources);
        self.guest(at);
        self.clear_results(at);
        self.close_operand();
    }

    /// Tells whether general register `n` may carry a shadow.
    fn may_carry(&self, n: Gpr) -> bool {
        self.mode.mask() >> n & 1 != 0
    }

    fn set_carries(&mut self, n: Gpr, carries: bool) {
        let mask = self.mode.mask();
        let mask = if carries { mask | 1 << n } else { mask & !(1 << n) };
        self.mode = self.mode.with_cells(mask);
    }
}

fn mask_of(registers: &[Gpr]) -> u16 {
    registers.iter().fold(0, |mask, &n| mask | 1 << n)
}

/// Hardware number of the general register that `register` is or is part of.
fn general_number(register: Register) -> Option<Gpr> {
    register.is_gpr().then(|| register.full_register().number() as Gpr)
}
