//! Rounding by magic numbers: which sums may be such, and for which formats code may have them at all.
//!
//! Adding 1.5·2^52 to a small `f64` rounds it to an integer. Nearly no code does that, so sums are not looked at unless
//! their code may have such a number at hand. Whether it may is for others to find out.
//!
//! A number like that may also be computed: complex division scales by 2^52. So a sum of what has just been computed is meant as
//! such ([`is_plain`]).

use super::insn::Insn;
use super::rows;
use super::table::{General, Row, X87};
use iced_x86::{FlowControl, Instruction, OpKind, Register};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

/// The formats for which code may round by adding a magic number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rounding {
    pub(crate) single: bool,
    pub(crate) double: bool,
    pub(crate) extended: bool,
}

impl Rounding {
    /// Nothing is known of the code.
    pub(crate) const ANY: Rounding = Rounding { single: true, double: true, extended: true };

    pub(crate) fn concerns(self, format: Format) -> bool {
        match format {
            Format::F32 => self.single,
            Format::F80 => self.extended,
            _ => self.double,
        }
    }

    pub(crate) fn or(self, other: Rounding) -> Rounding {
        Rounding {
            single: self.single || other.single,
            double: self.double || other.double,
            extended: self.extended || other.extended,
        }
    }
}

/// Format of the terms of `insn`, where it is a sum: that of its lanes, or the x87 stack's.
pub(crate) fn format_of_sum(insn: &Instruction) -> Option<Format> {
    match rows::row(insn) {
        Row::Arith(op, format, _) | Row::Fused(op, _, format, _) | Row::Horizontal(op, format) => {
            (!op.addends().is_empty()).then_some(format)
        }
        Row::AddSub(format) | Row::FusedAlternating { format, .. } | Row::DotProduct(format) => Some(format),
        Row::X87(X87::Arith(op, _)) => (!op.addends().is_empty()).then_some(Format::F80),
        _ => None,
    }
}

/// Tells whether each lane of vector instruction `insn` is one operation on lanes in the same place.
pub(super) fn has_separate_lanes(insn: &Instruction) -> bool {
    matches!(rows::row(insn), Row::Arith(..) | Row::Fused(..))
}

/// Tells whether instruction `n` of `insns`, a sum in the superblock at `start`, is none that rounds: none of its terms can be a
/// constant, since all are computed in `insns`, or it is used as a number. On the x87 stack terms are not followed. `read`
/// decodes the instruction at an address.
pub(crate) fn is_plain(
    insns: &[Insn],
    n: usize,
    start: u64,
    mut read: impl FnMut(u64) -> Instruction,
) -> bool {
    let (sum, before) = (&insns[n].decoded, &insns[..n]);
    if let Row::X87(_) = rows::row(sum) {
        return is_number(sum, read);
    }
    let terms = match rows::row(sum) {
        Row::Fused(_, terms, ..) => vec![u32::from(terms[2])],
        _ if sum.op_count() > 2 => vec![1, 2],
        _ => (0..sum.op_count()).collect(),
    };
    // What a loop leaves for its next turn.
    let turns = insns[n..].iter().position(|insn| insn.decoded.near_branch_target() == start);
    let turn = turns.map_or(&[][..], |turns| &insns[..n + turns]);
    let is_made = |place| match origin(place, before) {
        Origin::Computed => true,
        Origin::Before(place) => matches!(origin(place, turn), Origin::Computed),
        Origin::Other => false,
    };
    terms.into_iter().all(|term| Place::of(sum, term).is_some_and(is_made)) || is_factor(sum, &mut read)
}

/// The source of a value.
#[derive(Clone, Copy, PartialEq)]
enum Origin {
    /// Result of arithmetic.
    Computed,
    /// Value that was in this place before.
    Before(Place),
    /// Anything else.
    Other,
}

/// The source of what is at `place` after `insns`.
fn origin(place: Place, insns: &[Insn]) -> Origin {
    for (n, insn) in insns.iter().enumerate().rev() {
        let insn = &insn.decoded;
        if Place::of(insn, 0) != Some(place) || matches!(rows::row(insn), Row::Nothing | Row::Flags(_)) {
            if place.may_change(insn) {
                return Origin::Other;
            }
            continue;
        }
        return match rows::row(insn) {
            Row::Move(..) | Row::General(General::Move) if insn.op_count() == 2 => {
                Place::of(insn, 1).map_or(Origin::Other, |from| origin(from, &insns[..n]))
            }
            row if row.computes() => Origin::Computed,
            _ => Origin::Other,
        };
    }
    Origin::Before(place)
}

/// Tells whether the result of the sum is used as a number, by what it goes into next: a product, quotient, root or comparison.
/// A sum that rounds has the number taken off again, or is taken for bits. Follows moves.
fn is_factor(sum: &Instruction, read: &mut impl FnMut(u64) -> Instruction) -> bool {
    let mut places: Vec<Place> = Place::of(sum, 0).into_iter().collect();
    for insn in onwards(sum, read) {
        let row = rows::row(&insn);
        let reads = |n: u32| Place::of(&insn, n).is_some_and(|place| places.contains(&place));
        let moves = matches!(row, Row::Move(..) | Row::General(General::Move)) && insn.op_count() == 2;
        let first = if moves || insn.op_count() > 2 { 1 } else { 0 };
        let used: Vec<u32> = (first..insn.op_count()).filter(|&n| reads(n) && !rows::clears(&insn)).collect();
        if moves {
            let to = Place::of(&insn, 0);
            places.retain(|&place| Some(place) != to && !place.may_change(&insn));
            places.extend(to.filter(|_| !used.is_empty()));
        } else if let Some(&n) = used.first() {
            return match row {
                Row::Arith(op, ..) => matches!(op, Op::Mul | Op::Div),
                Row::Fused(_, terms, ..) => n != u32::from(terms[2]),
                Row::Unary(..) | Row::CompareFlags(_) | Row::Compare(..) => true,
                _ => false,
            };
        } else {
            let to = Place::of(&insn, 0);
            places.retain(|&place| Some(place) != to && !place.may_change(&insn));
        }
        if places.is_empty() {
            return false;
        }
    }
    false
}

/// The instructions after `insn`, along the way on which no branch is taken, as far as that is looked at. Each is decoded
/// when it is asked for: blocks are made again and again in a storm of signals.
pub(super) fn onwards(
    insn: &Instruction,
    read: &mut impl FnMut(u64) -> Instruction,
) -> impl Iterator<Item = Instruction> {
    const MOST: usize = 32;
    let mut next = Some(insn.next_ip());
    let each = std::iter::from_fn(move || {
        let insn = read(next?);
        next = match insn.flow_control() {
            FlowControl::Next | FlowControl::ConditionalBranch => Some(insn.next_ip()),
            FlowControl::UnconditionalBranch => Some(insn.near_branch_target()),
            _ => None,
        };
        (!insn.is_invalid() && next.is_some()).then_some(insn)
    });
    each.take(MOST)
}

/// A register or a place in memory, by the registers of its address.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    Register(Register),
    /// Base and displacement.
    Memory(Register, u64),
}

impl Place {
    /// The place of operand number `operand`; nothing where it is a constant, or memory with an index.
    pub(super) fn of(insn: &Instruction, operand: u32) -> Option<Place> {
        match insn.op_kind(operand) {
            _ if operand >= insn.op_count() => None,
            OpKind::Register => Some(Place::Register(insn.op_register(operand).full_register())),
            OpKind::Memory if insn.memory_index() == Register::None && insn.memory_base().is_gpr() => {
                Some(Place::Memory(insn.memory_base(), insn.memory_displacement64()))
            }
            _ => None,
        }
    }

    pub(super) fn is_memory(self) -> bool {
        matches!(self, Place::Memory(..))
    }

    /// Tells whether `insn`, whose first operand is something else, may change it: its address, or anything by a call.
    pub(super) fn may_change(self, insn: &Instruction) -> bool {
        let result = Place::of(insn, 0);
        match self {
            Place::Memory(base, _) => {
                result == Some(Place::Register(base.full_register())) || insn.stack_pointer_increment() != 0
            }
            Place::Register(_) => insn.flow_control() == FlowControl::Call,
        }
    }
}

/// Tells whether the result of the sum `insn` on the x87 stack is used as a number, by what is computed next. What rounds has the
/// number taken off again.
fn is_number(insn: &Instruction, mut read: impl FnMut(u64) -> Instruction) -> bool {
    let uses = |insn: &Instruction| match rows::row(insn) {
        Row::X87(X87::Arith(Op::Add | Op::Sub, _) | X87::Store | X87::StoreInteger(_)) => Some(false),
        Row::X87(X87::Arith(..) | X87::Unary(_) | X87::Binary(_) | X87::Scale(_)) => Some(true),
        Row::X87(X87::Compare | X87::CompareZero) => Some(true),
        _ => None,
    };
    onwards(insn, &mut read).find_map(|insn| uses(&insn)).unwrap_or(false)
}
