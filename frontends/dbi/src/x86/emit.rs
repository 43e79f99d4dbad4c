//! Emission: a superblock becomes code. Guest instructions are copied as they are; what moves control, and what
//! addresses memory relative to rip, is rewritten. What stands before the first instruction is in `head`, the ways out are
//! in `exits`, annotations in `mirror`.
//!
//! The code touches neither the guest's flags nor its stack nor any register it does not put back. Hot code holds
//! the likely path, cold code the stubs and misses. Knows nothing of caches, links or signals: it says where exits
//! are and what they mean.

use super::asm::{Asm, Gpr, RCX};
use super::branch_table::ib_entry;
use super::code::{Emitted, ExitKind, Frame, MapEntry, Misses, Placement, Slot, Spilled};
use super::far;
use super::insn::{Flow, Insn};
use super::mirror::Mirror;
use super::mode::Mode;
use super::rcx::{Effect, on_rcx};
use super::returns::return_pops;
use super::rows;
use super::superblock::{End, Superblock};
use iced_x86::{Encoder, InstructionInfoFactory, Register};

/// Emitter of superblocks as code; keeps its buffers from one to the next.
pub(crate) struct Emitter {
    pub(crate) out: Emitted,
    pub(crate) frame: Frame,
    pub(super) first_exit: u32,
    pub(super) encoder: Encoder,
    pub(super) facts: InstructionInfoFactory,
    /// True if rcx is in its slot only, until an instruction asks for it.
    pub(super) rcx_spilled: bool,
    /// The mode at the instruction that is being emitted.
    pub(super) mode: Mode,
    /// The hook at the block's first instruction has been seen to.
    pub(super) past_hook: bool,
    /// Nothing that stands before the first instruction is to be run again each time a loop comes back to it.
    pub(super) loops: bool,
    /// The mode that the block is made for, with what is carried.
    pub(super) entered: Mode,
    pub(crate) mirror: Option<Mirror>,
}

impl Emitter {
    /// `mirror` is how annotated modes are annotated.
    pub(crate) fn new(frame: Frame, mirror: Option<Mirror>) -> Self {
        let out = Emitted {
            hot: Asm::new(0),
            cold: Asm::new(0),
            exits: Vec::new(),
            misses: Misses::default(),
            entry: 0,
            map: Vec::new(),
            rules: Vec::new(),
        };
        Emitter {
            out,
            frame,
            first_exit: 0,
            encoder: Encoder::new(64),
            facts: InstructionInfoFactory::new(),
            rcx_spilled: false,
            mode: Mode::BARE,
            past_hook: false,
            loops: false,
            entered: Mode::BARE,
            mirror,
        }
    }

    /// Emits `block` at `place` into `self.out`; with `compare`, the block first checks that its guest bytes are
    /// still the same.
    pub(crate) fn emit(&mut self, block: &Superblock, place: Placement, mode: Mode, compare: bool) {
        self.out.hot.restart(place.hot);
        self.out.cold.restart(place.cold);
        self.out.exits.clear();
        self.out.map.clear();
        self.out.rules.clear();
        self.first_exit = place.first_exit;
        self.mode = mode.onwards().alone();
        self.past_hook = mode.is_past_hook();
        self.entered = mode;
        self.out.misses = ib_entry(&mut self.out.hot, &self.frame, block.start, mode);
        self.out.entry = self.out.hot.here();
        let carried = self.carried(block, mode, compare || place.runs.is_some());
        if compare {
            self.compare(block);
        }
        if self.mode.may_settle() && !carried.has_rules_mxcsr() {
            self.exit_if_settled(block);
        }
        self.loops = !compare && !self.past_hook && !self.mode.may_settle() && place.runs.is_none();
        if let Some(runs) = place.runs {
            self.count_run(block.start, runs);
        }
        if self.mode.is_annotated() {
            self.begin_annotated(block, carried);
        } else if let Some(mirror) = &mut self.mirror {
            mirror.carry_nothing();
        }
        self.rcx_spilled = false;
        for (index, insn) in block.insns.iter().enumerate() {
            self.note(index, Spilled { rcx: self.rcx_spilled, ..Spilled::default() });
            self.begins();
            if self.mode.is_annotated() {
                self.annotated(block, index);
            } else if self.mode.is_wrapped()
                && self.hides_mxcsr()
                && rows::row(&insn.decoded).concerns_mxcsr()
            {
                self.wrapped_mxcsr(index, insn);
            } else {
                self.with_rcx(index, insn);
            }
        }
        if self.mode.is_annotated() && !matches!(block.end, End::Left) {
            self.close_record(block.insns.len());
        }
        self.put_back_rcx();
        self.put_back_all();
        if matches!(block.end, End::Hooked(_) | End::Request(_)) {
            self.put_back_mxcsr(block.insns.len());
        }
        match block.end {
            End::Left => {}
            End::Hooked(_) if block.insns.is_empty() => self.hooked(block),
            End::Hooked(pc) => self.jump_to(pc),
            End::Request(pc) => self.exit(ExitKind::Request(pc)),
            // What cannot be decoded now is looked at again, on its own, when execution really gets there.
            End::Continues(pc) if self.mode.is_out_of_line() => self.exit(ExitKind::Stepped(pc)),
            End::Continues(pc) | End::Invalid(pc) | End::Unmapped { pc, .. } => self.jump_to(pc),
        }
    }

    /// At the start of `block`, which is hooked.
    fn hooked(&mut self, block: &Superblock) {
        if self.mode.is_wrapped() {
            return self.inside_function(block.start);
        }
        match self.own_function(block) {
            Some(function) if self.mode.is_bare() => self.pass_function(block.start, function),
            Some(function) => self.enter_function(block.start, function),
            None => self.exit(ExitKind::Hook(block.start)),
        }
    }

    // Inline: where nothing is spilled, the entry is then written in place, not copied as soon as it is made.
    #[inline(always)]
    pub(super) fn note(&mut self, insn: usize, spilled: Spilled) {
        let spilled = match &self.mirror {
            None => spilled,
            Some(mirror) => Spilled {
                vectors: mirror.spilled(),
                shadows: mirror.unsaved(),
                mxcsr: spilled.mxcsr || mirror.has_rules_mxcsr(),
                ..spilled
            },
        };
        self.out.map.push(MapEntry {
            host: self.out.hot.here(),
            insn,
            spilled,
            mode: self.mode,
            begins: false,
        });
    }

    /// Tells whether MXCSR is that of rules now.
    pub(super) fn has_rules_mxcsr(&self) -> bool {
        self.mirror.as_ref().is_some_and(Mirror::has_rules_mxcsr)
    }

    /// Marks the last noted position as the beginning of its instruction.
    fn begins(&mut self) {
        if let Some(entry) = self.out.map.last_mut() {
            entry.begins = true;
        }
    }

    pub(super) fn instruction(&mut self, index: usize, insn: &Insn) {
        match insn.flow {
            Flow::Straight => self.copy(index, insn),
            Flow::SideExit => self.jcc(insn),
            // A nop, so that single steps find an instruction here.
            Flow::FollowedJump => self.out.hot.raw(&[0x90]),
            Flow::FollowedCall => self.push_address(insn.decoded.next_ip()),
            Flow::ExpectedReturn(address) => self.expected_return(index, insn, address),
            Flow::CertainReturn => self.out.hot.move_stack_pointer(return_pops(&insn.decoded)),
            Flow::Ends => self.end_block(index, insn),
            Flow::Engine => self.exit_for_engine(index, insn),
        }
    }

    /// The instruction, with rcx in its place if it asks for it.
    fn with_rcx(&mut self, index: usize, insn: &Insn) {
        let effect = if self.rcx_spilled { on_rcx(insn, &mut self.facts) } else { Effect::None };
        if effect == Effect::Reads {
            self.put_back_rcx();
            self.note(index, Spilled::default());
        }
        self.instruction(index, insn);
        if effect == Effect::Replaces {
            self.rcx_spilled = false;
        }
    }

    pub(super) fn spill_rcx(&mut self) {
        if !std::mem::replace(&mut self.rcx_spilled, true) {
            self.out.hot.store(self.frame.slot(Slot::Rcx), RCX);
        }
    }

    pub(super) fn put_back_rcx(&mut self) {
        if std::mem::replace(&mut self.rcx_spilled, false) {
            self.out.hot.load(RCX, self.frame.slot(Slot::Rcx));
        }
    }

    /// The guest instruction itself.
    pub(super) fn copy(&mut self, index: usize, insn: &Insn) {
        if !insn.decoded.is_ip_rel_memory_operand() {
            self.out.hot.raw(insn.bytes());
            return;
        }
        let target = insn.decoded.ip_rel_memory_address();
        if rows::computes_address(&insn.decoded) && insn.decoded.op0_register().is_gpr64() {
            let register = insn.decoded.op0_register();
            self.out.hot.mov_imm(register.number() as Gpr, target);
        } else if self.reaches(insn, target) {
            self.copy_relocated(insn, target);
        } else {
            self.copy_far(index, insn, target);
        }
    }

    pub(super) fn reaches(&self, insn: &Insn, target: u64) -> bool {
        if insn.decoded.memory_base() == Register::EIP {
            return true;
        }
        let next = self.out.hot.here() + insn.decoded.len() as u64;
        i32::try_from(target.wrapping_sub(next) as i64).is_ok()
    }

    fn copy_relocated(&mut self, insn: &Insn, target: u64) {
        let mut bytes = insn.bytes;
        let next = self.out.hot.here() + insn.decoded.len() as u64;
        // Truncation is the meaning of an eip-relative operand, and exact for a rip-relative one within reach.
        let field = (target.wrapping_sub(next) as u32).to_le_bytes();
        let at = insn.displacement_at as usize;
        bytes[at..at + 4].copy_from_slice(&field);
        self.out.hot.raw(&bytes[..insn.decoded.len()]);
    }

    fn copy_far(&mut self, index: usize, insn: &Insn, target: u64) {
        if let Some(base) = self.mirror.as_ref().and_then(Mirror::address) {
            let code = far::with_base(
                &insn.decoded,
                Register::RAX + u32::from(base),
                &mut self.encoder,
                self.out.hot.here(),
            );
            return self.out.hot.raw(&code);
        }
        let (base, gpr) = far::scratch(&insn.decoded, &mut self.facts);
        let slot = self.frame.slot(Slot::SecondScratch);
        self.out.hot.store(slot, gpr);
        self.out.hot.mov_imm(gpr, target);
        self.note(index, Spilled { second_scratch: Some(gpr), ..Spilled::default() });
        let code = far::with_base(&insn.decoded, base, &mut self.encoder, self.out.hot.here());
        self.out.hot.raw(&code);
        self.out.hot.load(gpr, slot);
    }
}
