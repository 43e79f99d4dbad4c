//! Rounding by magic numbers: which sums may be such, and for which formats code may have them at all.
//!
//! Adding 1.5·2^52 to a small `f64` rounds it to an integer. Nearly no code does that, so sums are not looked at unless
//! their code may have such a number at hand. Whether it may is for others to find out.
//!
//! A number like that may also be computed: complex division scales by 2^52. So a sum of what has just been computed is meant as
//! such ([`is_plain`]).

use super::rows;
use super::superblock::Insn;
use super::table::{General, Row, X87};
use iced_x86::{FlowControl, Instruction, OpKind, Register};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

/// The formats for which code may round by adding a magic number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rounding {
    pub(crate) single: bool,
    pub(crate) double: bool,
}

impl Rounding {
    /// Nothing is known of the code.
    pub(crate) const ANY: Rounding = Rounding { single: true, double: true };

    pub(crate) fn concerns(self, format: Format) -> bool {
        if format == Format::F32 { self.single } else { self.double }
    }

    pub(crate) fn or(self, other: Rounding) -> Rounding {
        Rounding { single: self.single || other.single, double: self.double || other.double }
    }
}

/// Whether `insn` is a sum whose shadow emitted code computes.
pub(crate) fn adds_floats(insn: &Instruction) -> bool {
    match rows::row(insn) {
        Row::Arith(op, ..) | Row::Fused(op, ..) => !op.addends().is_empty(),
        _ => false,
    }
}

/// Whether `insn` is a sum on the x87 stack.
pub(crate) fn adds_on_stack(insn: &Instruction) -> bool {
    matches!(rows::row(insn), Row::X87(X87::Arith(Op::Add | Op::Sub, _)))
}

/// Whether the last of `insns`, a sum, is none that rounds: none of its terms can be a constant, since all are computed in
/// `insns`. On the x87 stack that is not followed: there the sum is asked what becomes of it. `read` decodes the
/// instruction at an address.
pub(crate) fn is_plain(insns: &[Insn], read: impl FnMut(u64) -> Instruction) -> bool {
    let Some((sum, before)) = insns.split_last() else { return false };
    let sum = &sum.decoded;
    if let Row::X87(_) = rows::row(sum) {
        return is_number(sum, read);
    }
    let terms = match rows::row(sum) {
        Row::Fused(_, terms, ..) => vec![u32::from(terms[2])],
        _ if sum.op_count() > 2 => vec![1, 2],
        _ => (0..sum.op_count()).collect(),
    };
    terms.into_iter().all(|term| Place::of(sum, term).is_some_and(|place| is_computed(place, before)))
}

/// Whether what is at `place` after `insns` is the result of arithmetic there.
fn is_computed(place: Place, insns: &[Insn]) -> bool {
    for (n, insn) in insns.iter().enumerate().rev() {
        let insn = &insn.decoded;
        if Place::of(insn, 0) != Some(place) || rows::row(insn) == Row::Nothing {
            if place.may_change(insn) {
                return false;
            }
            continue;
        }
        return match rows::row(insn) {
            Row::Move { .. } | Row::General(General::Move) if insn.op_count() == 2 => {
                Place::of(insn, 1).is_some_and(|from| is_computed(from, &insns[..n]))
            }
            row => row.computes(),
        };
    }
    false
}

/// A register or a place in memory, by the registers of its address.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Register(Register),
    /// Base and displacement.
    Memory(Register, u64),
}

impl Place {
    fn of(insn: &Instruction, operand: u32) -> Option<Place> {
        match insn.op_kind(operand) {
            _ if operand >= insn.op_count() => None,
            OpKind::Register => Some(Place::Register(insn.op_register(operand).full_register())),
            OpKind::Memory if insn.memory_index() == Register::None && insn.memory_base().is_gpr() => {
                Some(Place::Memory(insn.memory_base(), insn.memory_displacement64()))
            }
            _ => None,
        }
    }

    /// Whether `insn`, whose first operand is something else, may change it: its address, or anything by a call.
    fn may_change(self, insn: &Instruction) -> bool {
        let result = Place::of(insn, 0);
        match self {
            Place::Memory(base, _) => {
                result == Some(Place::Register(base.full_register())) || insn.stack_pointer_increment() != 0
            }
            Place::Register(_) => insn.flow_control() == FlowControl::Call,
        }
    }
}

/// Whether the result of the sum `insn` on the x87 stack is used as a number, by what is computed next. What rounds has the
/// number taken off again. Looks along the way on which no branch is taken.
fn is_number(insn: &Instruction, mut read: impl FnMut(u64) -> Instruction) -> bool {
    /// Instructions that are looked at.
    const MOST: usize = 32;
    let mut next = insn.next_ip();
    for _ in 0..MOST {
        let insn = read(next);
        match rows::row(&insn) {
            _ if insn.is_invalid() => break,
            Row::X87(X87::Arith(Op::Add | Op::Sub, _) | X87::Store | X87::StoreInteger(_)) => return false,
            Row::X87(X87::Arith(..) | X87::Unary(_) | X87::Binary(_) | X87::Scale(_) | X87::Compare) => {
                return true;
            }
            _ => {}
        }
        next = match insn.flow_control() {
            FlowControl::Next | FlowControl::ConditionalBranch => insn.next_ip(),
            FlowControl::UnconditionalBranch => insn.near_branch_target(),
            _ => break,
        };
    }
    false
}
