//! Facts about a superblock before it is annotated: the places where the guest's flags are dead, and the loads of
//! addresses.
//!
//! Conservative: at every way out, everything is alive.

use crate::x86::access::{is_read, is_write};
use crate::x86::insn::Insn;
use crate::x86::rows;
use crate::x86::superblock::Superblock;
use crate::x86::table::{General, Integral, Row};
use crate::x86::wholes::Whole;
use iced_x86::{Instruction, OpAccess, OpKind, Register, RflagsBits};

/// Flags that arithmetic sets.
const STATUS: u32 =
    RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::CF | RflagsBits::PF;

/// Distance ahead, in instructions, to which a use is looked for.
const HORIZON: usize = 12;

/// Facts about the instructions of a superblock that annotations make use of.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    /// True of each instruction before which nobody looks any more at the flags as they are.
    dead: Vec<bool>,
}

impl Liveness {
    pub(super) fn analyse(&mut self, block: &Superblock) {
        self.dead.clear();
        self.dead.resize(block.insns.len(), false);
        let mut alive = true;
        for (index, insn) in block.insns.iter().enumerate().rev() {
            let exits = !insn.flow.goes_straight_on();
            let overwrites = overwritten(&insn.decoded) == STATUS && !may_keep(&insn.decoded);
            alive = exits || insn.decoded.rflags_read() & STATUS != 0 || (alive && !overwrites);
            self.dead[index] = !alive;
        }
    }

    /// Tells whether the flags may be overwritten before instruction `index`.
    pub(super) fn flags_are_dead(&self, index: usize) -> bool {
        self.dead[index]
    }
}

/// Status flags that `insn` certainly sets: processors leave some of the undefined ones alone.
fn overwritten(insn: &Instruction) -> u32 {
    // AF is undefined after these, and 0 on every processor.
    let logical = match rows::row(insn) {
        Row::General(General::Bits(by)) | Row::Flags(by) => {
            matches!(by, Integral::And | Integral::Or | Integral::Xor)
        }
        _ => false,
    };
    let undefined = if logical { 0 } else { insn.rflags_undefined() };
    insn.rflags_modified() & !undefined & STATUS
}

/// Shifts and rotations by a count of zero leave the flags alone; so do repeated comparisons of nothing.
fn may_keep(insn: &Instruction) -> bool {
    let by_cl = insn.op_count() >= 2 && {
        let last = insn.op_count() - 1;
        insn.op_kind(last) == OpKind::Register && insn.op_register(last) == Register::CL
    };
    by_cl || insn.is_string_instruction() || insn.is_stack_instruction()
}

/// Tells whether what instruction `index` loads into `register` (a full register) is certainly no float: it is used as
/// an address, or overwritten, before anything else can see it.
pub(super) fn is_no_float(
    block: &Superblock,
    index: usize,
    register: Register,
    facts: &mut iced_x86::InstructionInfoFactory,
) -> bool {
    for insn in block.insns.iter().skip(index + 1).take(HORIZON) {
        let decoded = &insn.decoded;
        let addresses = |r: Register| r.full_register() == register;
        let in_address = addresses(decoded.memory_base()) || addresses(decoded.memory_index());
        if in_address && !rows::only_names_memory(decoded) {
            return true;
        }
        if !insn.flow.goes_straight_on() {
            return false;
        }
        let ignores = || ignores_shadows(decoded) || block.whole(insn.pc()) == Some(Whole::Asked);
        match access(insn, register, facts) {
            Access { reads: false, whole: false, part: false } => {}
            Access { reads, whole: true, part: false } if !reads || ignores() => return true,
            Access { whole: false, part: false, .. } if ignores() => {}
            _ => return false,
        }
    }
    false
}

/// Use of a register by an instruction.
#[derive(Default)]
struct Access {
    reads: bool,
    /// Writes all of it, certainly.
    whole: bool,
    /// Writes a part of it, or perhaps.
    part: bool,
}

fn access(insn: &Insn, register: Register, facts: &mut iced_x86::InstructionInfoFactory) -> Access {
    use OpAccess::{ReadWrite, Write};
    let mut found = Access::default();
    let used = facts.info(&insn.decoded).used_registers().iter();
    for used in used.filter(|used| used.register().full_register() == register) {
        let access = used.access();
        found.reads |= is_read(access);
        let all = used.register().size() >= 4 && matches!(access, Write | ReadWrite);
        found.whole |= all;
        found.part |= !all && is_write(access);
    }
    found
}

/// Tells whether the instruction makes no float of what it reads from general registers: its annotation does not look
/// at their cells.
fn ignores_shadows(insn: &Instruction) -> bool {
    !insn.is_string_instruction()
        && matches!(rows::row(insn), Row::Integer | Row::Hint | Row::Nothing | Row::Flags(_) | Row::Mxcsr(_))
}
