//! Rules and MXCSR, without AVX-512: whose exceptions are whose.
//!
//! Instructions of VEX raise exceptions and round as MXCSR says, whether they are the guest's or a rule's. While such code
//! runs, the processor's MXCSR is not the guest's: an exception that the guest has not raised is unmasked there, so that
//! the engine hears of it and can tell whose it was (`runtime::exceptions`). So rules cost nothing as long as they raise
//! nothing new. Where they do, code is *isolated* for a while: in such modes the processor's MXCSR is the guest's, is
//! stored before each rule and loaded again after it, so that flags are lost that the rule has set. Processors do that
//! fast as long as masks and rounding stay the same. An isolated block begins by asking whether it is time to go on
//! without isolation.
//!
//! Rules round as the guest does. What stores the guest's MXCSR adds what the processor's lacks; what loads it is left to
//! the engine, unless flags and masks stay the same.

use super::At;
use super::encode;
use super::operand::guest_memory;
use crate::context::Context;
use crate::x86::asm::{Asm, Gpr, RAX, RCX};
use crate::x86::code::{ExitKind, RuleCode, Slot, Spilled};
use crate::x86::emit::Emitter;
use crate::x86::far;
use crate::x86::insn::Insn;
use crate::x86::mode::Mode;
use crate::x86::rows;
use crate::x86::superblock::Superblock;
use crate::x86::table::{Direction, Row};
use iced_x86::{Instruction, Register};

fn stores_mxcsr(insn: &Instruction) -> bool {
    rows::row(insn) == Row::Mxcsr(Direction::Save)
}

/// Tells whether annotating `block` takes rules; `doubts`: comparisons do.
fn has_rules(block: &Superblock, doubts: bool) -> bool {
    let computes = |insn: &Insn| match rows::row(&insn.decoded) {
        Row::Widen(_) | Row::FromHalf => true,
        // A guest that computes on the x87 stack raises nothing by which isolation would end.
        Row::X87(_) => false,
        Row::CompareFlags(_) | Row::Compare(..) => doubts,
        row => row.computes(),
    };
    block.function.is_some() || block.insns.iter().any(computes)
}

impl Emitter {
    /// Tells whether annotating `block` takes rules by which isolation would end.
    pub(super) fn has_rules(&mut self, block: &Superblock) -> bool {
        let doubts = self.mirror().settings.doubt.is_some();
        has_rules(block, doubts)
    }

    /// Mode at the start of `block`: `mode`, with what the block before has handed on as far as this one uses it.
    /// `may_exit`: the block may exit before its first instruction.
    pub(in crate::x86) fn carried(&mut self, block: &Superblock, mode: Mode, may_exit: bool) -> Mode {
        if mode.has_rules_mxcsr() && (may_exit || block.insns.is_empty() || self.has_rules(block)) {
            self.out.hot.load_mxcsr(self.frame.slot(Slot::Mxcsr));
            return mode.carrying(mode.knows_top(), false);
        }
        mode
    }

    /// Mode that a direct jump hands on.
    pub(in crate::x86) fn carrying(&self) -> Mode {
        let mirror = self.mirror.as_ref().filter(|mirror| mirror.carries);
        mirror.map_or(self.mode, |mirror| {
            self.mode.carrying(mirror.top_is_known, mirror.rules_mxcsr && mirror.carries_mxcsr)
        })
    }

    /// Tells whether the processor's MXCSR is not the guest's while annotated code runs, and functions taken as one
    /// operation.
    pub(crate) fn hides_mxcsr(&self) -> bool {
        let computes = |mirror: &super::Mirror| !mirror.settings.records && !mirror.settings.appends;
        self.mirror.as_ref().is_some_and(|mirror| mirror.settings.in_registers == 0 && computes(mirror))
    }

    /// At the start of `block`, which is isolated: goes on without isolation if it can. Keeps the flags.
    pub(in crate::x86) fn exit_if_settled(&mut self, block: &Superblock) {
        if !self.has_rules(block) {
            return;
        }
        let (rcx, mxcsr) = (self.frame.slot(Slot::Rcx), self.frame.slot(Slot::Mxcsr));
        let patience = self.frame.field(Context::OFFSET_MXCSR_PATIENCE);
        let exit = self.again(ExitKind::Settled(block.start));
        let settled = self.out.cold.here();
        self.out.cold.load(RCX, rcx);
        self.out.cold.jmp(exit);
        self.out.hot.store(rcx, RCX);
        self.note(0, Spilled { rcx: true, ..Spilled::default() });
        let hot = &mut self.out.hot;
        hot.store_mxcsr(mxcsr);
        hot.load32(RCX, mxcsr);
        hot.extract_ecx(self.frame.field(Context::OFFSET_MXCSR_SETTLES));
        hot.jmp_unless_rcx_is_zero(settled);
        hot.load32(RCX, patience);
        hot.add_ecx(-1);
        hot.store_ecx(patience);
        let jump = hot.jump_if_rcx_is_zero();
        hot.patch(jump, settled);
        hot.load(RCX, rcx);
    }

    /// Before the code of the present instruction's rule.
    pub(super) fn begin_rule(&mut self, at: At<'_>) {
        if !self.hides_mxcsr() {
            return;
        }
        if self.mode.is_isolated() && !self.mirror().has_rules_mxcsr() {
            self.out.hot.store_mxcsr(self.frame.slot(Slot::Mxcsr));
            self.out.hot.load_mxcsr(self.frame.field(Context::OFFSET_MXCSR_RULES));
            let spilled = Spilled { mxcsr: true, ..self.spilled(None) };
            self.note(at.index, spilled);
        }
        let start = self.out.hot.here();
        self.out.rules.push(RuleCode { start, end: start });
    }

    /// After the instruction's rule.
    pub(super) fn end_rule(&mut self, at: At<'_>) {
        if !self.hides_mxcsr() {
            return;
        }
        let end = self.out.hot.here();
        self.out.rules.last_mut().expect("a rule has begun").end = end;
        if self.mode.is_isolated() {
            // Instructions of x87 do not ask for it: the next rule may go on with that.
            self.mirror().rules_mxcsr = matches!(rows::row(&at.insn().decoded), Row::X87(_));
            if !self.mirror().rules_mxcsr {
                self.out.hot.load_mxcsr(self.frame.slot(Slot::Mxcsr));
            }
            self.note_spilled(at.index);
        }
    }

    /// Before a rule of x87 that may be passed over: MXCSR is that of rules from here on.
    pub(super) fn ready_mxcsr(&mut self, at: At<'_>) {
        self.begin_rule(at);
        self.end_rule(at);
    }

    /// Puts back the guest's MXCSR, if it is that of rules, at instruction `index`.
    pub(in crate::x86) fn put_back_mxcsr(&mut self, index: usize) {
        if self.mirror.as_mut().is_some_and(|mirror| std::mem::take(&mut mirror.rules_mxcsr)) {
            self.out.hot.load_mxcsr(self.frame.slot(Slot::Mxcsr));
            self.note_spilled(index);
        }
    }

    /// Begins the code of a rule that is in cold code, as a function's is; with `enters`, no rule has begun before. Returns the rule's
    /// number.
    pub(super) fn begin_cold_rule(&mut self, enters: bool) -> usize {
        if enters && self.hides_mxcsr() && self.mode.is_isolated() {
            self.out.cold.store_mxcsr(self.frame.slot(Slot::Mxcsr));
            self.out.cold.load_mxcsr(self.frame.field(Context::OFFSET_MXCSR_RULES));
        }
        let start = self.out.cold.here();
        self.out.rules.push(RuleCode { start, end: start });
        self.out.rules.len() - 1
    }

    /// After rule `number`; with `exits`, it is not followed by the rest of another.
    pub(super) fn end_cold_rule(&mut self, number: usize, exits: bool) {
        self.out.rules[number].end = self.out.cold.here();
        if exits && self.hides_mxcsr() && self.mode.is_isolated() {
            self.out.cold.load_mxcsr(self.frame.slot(Slot::Mxcsr));
        }
    }

    /// An instruction that [concerns MXCSR](Row::concerns_mxcsr), annotated.
    pub(super) fn annotated_mxcsr(&mut self, at: At<'_>) {
        let insn = at.insn();
        if !self.has_plain_operand(insn) || !self.open_operand(at) {
            return self.out_of_line(at);
        }
        if stores_mxcsr(&insn.decoded) {
            self.store_guest_mxcsr(at.index, insn);
            self.kill_operand(&insn.decoded);
        } else if self.may_load_mxcsr(insn) {
            self.put_back_all();
            self.load_guest_mxcsr(at.index, insn);
        } else {
            self.out_of_line(at);
        }
        self.close_operand();
    }

    /// An instruction that [concerns MXCSR](Row::concerns_mxcsr), in a function that is taken as one operation.
    pub(in crate::x86) fn wrapped_mxcsr(&mut self, index: usize, insn: &Insn) {
        self.put_back_rcx();
        self.note(index, Spilled::default());
        let plain = self.has_plain_operand(insn);
        if plain && stores_mxcsr(&insn.decoded) {
            self.store_guest_mxcsr(index, insn);
        } else if plain && self.may_load_mxcsr(insn) {
            self.load_guest_mxcsr(index, insn);
        } else {
            self.exit(ExitKind::OutOfLine(insn.pc()));
        }
    }

    /// Tells whether the instruction's operand can be named in other instructions beside it.
    fn has_plain_operand(&self, insn: &Insn) -> bool {
        let decoded = &insn.decoded;
        decoded.segment_prefix() != Register::FS
            && (!decoded.is_ip_rel_memory_operand() || self.reaches(insn, decoded.ip_rel_memory_address()))
    }

    /// Tells whether the instruction loads MXCSR and no more, and names no register that is needed for it.
    fn may_load_mxcsr(&mut self, insn: &Insn) -> bool {
        if rows::row(&insn.decoded) != Row::Mxcsr(Direction::Restore) {
            return false;
        }
        let used = self.facts.info(&insn.decoded).used_registers();
        let needed = [Register::RAX, Register::RCX];
        !used.iter().any(|used| needed.contains(&used.register().full_register()))
    }

    /// Loads the guest's MXCSR as `insn` does, if rounding, denormals as zeros and flush to zero are all that changes, as in
    /// programs that switch rounding all the time; else leaves that to the engine. Keeps the flags.
    fn load_guest_mxcsr(&mut self, index: usize, insn: &Insn) {
        /// All bits but those that may change.
        const REST: u32 = !0xe040;
        let [rax, rcx, mxcsr] = [Slot::Scratch, Slot::SecondScratch, Slot::Mxcsr].map(|s| self.frame.slot(s));
        let restore = |code: &mut Asm| {
            code.restore_flags();
            code.load(RAX, rax);
            code.load(RCX, rcx);
        };
        let others = self.out.cold.here();
        restore(&mut self.out.cold);
        self.stub(ExitKind::OutOfLine(insn.pc()), 0);
        self.out.hot.store(rax, RAX);
        self.out.hot.store(rcx, RCX);
        self.note(index, Spilled { scratch: Some(RAX), second_scratch: Some(RCX), ..Spilled::default() });
        let field = |offset| self.frame.field(offset);
        let [hidden, rules] = [Context::OFFSET_MXCSR_HIDDEN, Context::OFFSET_MXCSR_RULES].map(field);
        let hot = &mut self.out.hot;
        hot.save_flags();
        encode::load(hot, RCX, guest_memory(&insn.decoded), 4);
        // What changes: in the guest's, in that of rules, and in the processor's.
        hot.store_mxcsr(mxcsr);
        hot.xor_ecx(mxcsr);
        hot.xor_ecx(hidden);
        hot.test_ecx(REST);
        let elsewhere = hot.jcc_open(encode::NOT_EQUAL);
        hot.patch(elsewhere, others);
        hot.xor_with_ecx(rules);
        hot.xor_with_ecx(mxcsr);
        hot.load_mxcsr(mxcsr);
        restore(hot);
        self.note(index, Spilled::default());
    }

    /// Stores the guest's MXCSR where `insn` does. Keeps the flags.
    fn store_guest_mxcsr(&mut self, index: usize, insn: &Insn) {
        let value = far::scratch_but(&insn.decoded, &[], &mut self.facts);
        let hidden = far::scratch_but(&insn.decoded, &[Some(value)], &mut self.facts);
        let [first, second, mxcsr] =
            [Slot::Scratch, Slot::SecondScratch, Slot::Mxcsr].map(|s| self.frame.slot(s));
        self.out.hot.store(first, value);
        self.out.hot.store(second, hidden);
        self.note(
            index,
            Spilled { scratch: Some(value), second_scratch: Some(hidden), ..Spilled::default() },
        );
        let hot = &mut self.out.hot;
        hot.store_mxcsr(mxcsr);
        hot.load32(value, mxcsr);
        hot.load32(hidden, self.frame.field(Context::OFFSET_MXCSR_HIDDEN));
        add(hot, value, hidden);
        encode::store(hot, guest_memory(&insn.decoded), value, 4);
        hot.load(value, first);
        hot.load(hidden, second);
        self.note(index, Spilled::default());
    }
}

/// `lea to, [to + other]`, of registers without extension: an addition that keeps the flags.
fn add(code: &mut Asm, to: Gpr, other: Gpr) {
    const SIB: u8 = 4;
    code.raw(&[0x8d, to << 3 | SIB, other << 3 | to]);
}
