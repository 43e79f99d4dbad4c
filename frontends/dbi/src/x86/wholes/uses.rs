//! Uses of what an instruction makes, in a register, by those that follow it: as a float of which format, or as something else.

use super::super::insn::Insn;
use super::super::rounding::Place;
use super::super::rows;
use super::super::table::{General, Moved, Row, X87};
use super::HORIZON;
use iced_x86::{EncodingKind, Instruction, MemorySize, OpKind};
use shadowgrind_core::format::Format;

/// Format of the float as which the result of instruction `n` is used next; nothing where it is used otherwise, or not soon.
pub(super) fn used_as(insns: &[Insn], n: usize) -> Option<Format> {
    used_through(insns, n, follows)
}

/// Format of the float as which the result of instruction `n` is used next, without having been changed before.
pub(super) fn used_alone(insns: &[Insn], n: usize) -> Option<Format> {
    used_through(insns, n, moves)
}

/// Format of the float as which the result of instruction `n` is used next, with instructions between them that do `follow`.
fn used_through(insns: &[Insn], n: usize, follow: impl Fn(&Instruction, Row) -> bool) -> Option<Format> {
    let mut places: Vec<Place> = Place::of(&insns[n].decoded, 0).into_iter().collect();
    for insn in insns[n + 1..].iter().take(HORIZON).map(|insn| &insn.decoded) {
        let (row, to) = (rows::row(insn), Place::of(insn, 0));
        let follows = follow(insn, row);
        let first = first_read(insn, row);
        let reads = |n| Place::of(insn, n).is_some_and(|place| places.contains(&place));
        let is_used = !rows::clears(insn) && (first..insn.op_count()).any(reads);
        let writes = !matches!(row, Row::Flags(_));
        if is_used && !follows && writes {
            return format_of(insn, row);
        }
        // What is in registers goes along into a function that is called, where the stack is another.
        if writes {
            places.retain(|&place| Some(place) != to && !(place.is_memory() && place.may_change(insn)));
            places.extend(to.filter(|_| is_used));
        }
        if places.is_empty() {
            return None;
        }
    }
    None
}

/// Number of the first operand that is read, of those that may be a float.
pub(super) fn first_read(insn: &Instruction, row: Row) -> u32 {
    let is_immediate = |n| insn.op_kind(n) == OpKind::Immediate8;
    match row {
        // The second is for the upper half.
        Row::Move(Moved::Lane(_), _) if insn.op_count() > 2 => 2,
        Row::Fused(..) => 0,
        // The others say how, or are for the upper half.
        Row::Unary(..)
        | Row::Round(..)
        | Row::Narrow(_)
        | Row::Widen(_)
        | Row::FromInteger(..)
        | Row::ToInteger(..) => (1..insn.op_count()).rfind(|&n| !is_immediate(n)).unwrap_or(0),
        Row::Compare(..) if insn.encoding() == EncodingKind::Legacy => 0,
        _ if rows::inserted(insn).is_some() => insn.op_count() - 3,
        _ => u32::from(moves(insn, row) || insn.op_count() > 2),
    }
}

/// Tells whether the result is still what is read, moved or changed a little.
pub(super) fn follows(insn: &Instruction, row: Row) -> bool {
    let changes =
        matches!(row, Row::General(General::Bits(_)) | Row::Logic(..) | Row::Ternary(_) | Row::Trick(..));
    changes || moves(insn, row) || rows::inserted(insn).is_some()
}

/// Tells whether the instruction moves the last of its operands, or the lowest lane of that, to the first.
pub(super) fn moves(insn: &Instruction, row: Row) -> bool {
    match row {
        Row::Move(Moved::Lane(_), _) => true,
        Row::Move(..) | Row::General(General::Move) => insn.op_count() == 2,
        _ => false,
    }
}

/// Tells whether what the instruction reads is an integer, of which it makes a float.
pub(super) fn takes_integer(row: Row) -> bool {
    matches!(row, Row::X87(X87::LoadExact) | Row::FromInteger(..))
}

/// Format of the floats that the instruction computes with.
pub(super) fn format_of(insn: &Instruction, row: Row) -> Option<Format> {
    let format = match row {
        Row::Arith(_, format, _)
        | Row::Unary(_, format, _)
        | Row::Fused(_, _, format, _)
        | Row::AddSub(format)
        | Row::Horizontal(_, format)
        | Row::Round(format, _)
        | Row::Compare(format, _)
        | Row::CompareFlags(format)
        | Row::ToInteger(format, ..) => format,
        Row::Narrow(_) => Format::F64,
        Row::Widen(_) => Format::F32,
        Row::X87(X87::Load | X87::Arith(..) | X87::Compare | X87::CompareZero) => match insn.memory_size() {
            MemorySize::Float64 => Format::F64,
            MemorySize::Float32 => Format::F32,
            MemorySize::Float80 => Format::F80,
            _ => return None,
        },
        _ => return None,
    };
    matches!(format, Format::F32 | Format::F64 | Format::F80).then_some(format)
}
