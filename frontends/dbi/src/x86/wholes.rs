//! Parts of floats: which integer instructions change a part of one, by what becomes of the whole.
//!
//! A word that is masked, joined, or written over by a narrower one may be a float, two of them, or none. Where it is soon used
//! as one float, it is that. Follows registers and memory through moves and such instructions, as far as a superblock goes;
//! knows nothing of shadows, and takes memory with different bases for different memory.

use super::insn::Insn;
use super::rounding::Place;
use super::rows;
use super::table::{General, Row};

mod addresses;
pub(crate) mod ahead;
mod asked;
mod ends;
mod forms;
pub(crate) mod mixed;
mod upper;
mod uses;

use addresses::{Address, addresses_of};
use forms::{Part, flips};
pub(crate) use forms::{
    cuts, cuts_by_moving, fills_lower_half, is_of_frame, joins, joins_bytes, may_be_alone, may_be_beside,
    may_be_part, part_in_memory, part_of_register, raises_half, sums_narrow_lanes,
};
use iced_x86::{Instruction, OpKind};
use shadowgrind_core::format::Format;
use std::cell::OnceCell;
pub(crate) use upper::changes_word;
use uses::{format_of, takes_integer, used_alone, used_as};

/// Number of instructions to which a use is looked for.
const HORIZON: usize = 32;
/// Bytes of a narrow float.
const NARROW: u8 = Format::F32.bytes() as u8;

/// Effect of an integer instruction on a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Whole {
    /// The result is one float of this format.
    Result(Format),
    /// Bytes of a float are written, the first of which is the float's byte number `at`; the others stay.
    Part {
        /// Format of the float.
        format: Format,
        /// Number of the first byte.
        at: u8,
    },
    /// Bytes in memory are written that may be the end of a float: their address tells.
    End {
        /// True if they were read there, and have been changed.
        restored: bool,
    },
    /// The result is on its way back to where it was read, as such an end.
    Passing,
    /// The result is on its way to memory as the end of a long double, behind digits from elsewhere.
    Ending,
    /// The end of a long double is written in memory behind digits that have been put there before.
    Assembled,
    /// As `Assembled`, and it has become what it is by instructions on its way.
    Ended,
    /// Bytes are written in memory that are no part of a float, or of one that is new; or those of narrow floats in a register.
    Alone,
    /// The result is digits that are asked about, and no float is made of them.
    Asked,
    /// The result is digits that are compared, and that nobody has afterwards.
    Compared,
    /// The result is the upper half of a double.
    Upper,
    /// Doubles of the result may have parts of two lanes.
    Mixed,
    /// Bytes of a float are written, as by `Part`, and others have been before, such that it is another float.
    Replaced {
        /// Format of the float.
        format: Format,
        /// Number of the first byte.
        at: u8,
    },
}

impl Whole {
    /// Tells whether this is so of `insn`, whatever else is in its block. `onward`: code before that has run as well.
    pub(crate) fn holds_for(self, insn: &Instruction, onward: bool) -> bool {
        match self {
            Whole::Alone => onward,
            // What tells may be behind a branch.
            Whole::Upper => upper::may_change(insn),
            Whole::Passing | Whole::Ending => insn.op0_kind() == OpKind::Register,
            Whole::Assembled | Whole::Ended | Whole::End { restored: true } => {
                Part::of(insn).is_some_and(|part| part.is_in_memory)
            }
            _ => false,
        }
    }
}

/// The instructions of `insns`, by address, that are known to change a part of a float.
pub(crate) fn find(insns: &[Insn]) -> Vec<(u64, Whole)> {
    let mut search = Search::new(insns);
    let found = (0..insns.len()).filter_map(|n| Some((insns[n].pc(), search.whole(n)?)));
    let found: Vec<(u64, Whole)> = found.collect();
    // What is on its way is nothing else.
    search.passing.into_iter().chain(found).collect()
}

/// Search for instructions that change parts of floats.
struct Search<'a> {
    insns: &'a [Insn],
    /// Addresses of memory operands, once they are asked for.
    addresses: OnceCell<Vec<Option<Address>>>,
    /// True if some instruction may tell that a word is the upper half of a double.
    tells_upper: bool,
    /// True if some instruction leaves nothing but an exponent.
    cuts_power: bool,
    /// Instructions that lie on the way of an end of a float, back to where it was read or to where it is written.
    passing: Vec<(u64, Whole)>,
}

impl<'a> Search<'a> {
    fn new(insns: &'a [Insn]) -> Self {
        let any = |is: fn(&Instruction) -> bool| insns.iter().any(|insn| is(&insn.decoded));
        let (tells_upper, cuts_power) = (any(upper::may_tell), any(upper::cuts_power));
        Search { insns, addresses: OnceCell::new(), tells_upper, cuts_power, passing: Vec::new() }
    }

    /// Effect of instruction `n` on a float of which it changes a part; nothing for most, as their rows tell.
    fn whole(&mut self, n: usize) -> Option<Whole> {
        let (insns, insn) = (self.insns, &self.insns[n].decoded);
        match rows::row(insn) {
            Row::General(General::Move | General::Extend(_)) => self.moved(n),
            Row::General(General::Bits(_) | General::Address) => self.calculated(n),
            Row::Logic(..) | Row::Ternary(_) if joins(insn) => used_as(insns, n).map(Whole::Result),
            Row::Trick(..) | Row::Move(..) if asked::is_only_asked(insns, n) => Some(Whole::Asked),
            Row::Trick(..) if sums_narrow_lanes(insn) => {
                used_as(insns, n).filter(|&format| format == Format::F64).map(Whole::Result)
            }
            Row::Move(..) if mixed::may_mix(insn) => self.mixed(n),
            _ => None,
        }
    }

    /// Effect of a move between general registers and memory.
    fn moved(&mut self, n: usize) -> Option<Whole> {
        let insn = &self.insns[n].decoded;
        if cuts_by_moving(insn) {
            let half = insn.op1_register().size();
            return used_as(self.insns, n).filter(|format| format.bytes() == 2 * half).map(Whole::Result);
        }
        self.part(n)
    }

    /// Effect of an integer operation on general registers or memory.
    fn calculated(&mut self, n: usize) -> Option<Whole> {
        let (insns, insn) = (self.insns, &self.insns[n].decoded);
        if self.cuts_power && upper::is_for_power(insns, n) || asked::is_for_tag(insns, n) {
            Some(Whole::Asked)
        } else if self.tells_upper && upper::is_changed(insns, n) {
            Some(Whole::Upper)
        } else if joins(insn) {
            used_as(insns, n).map(Whole::Result)
        } else if flips(insn) {
            used_alone(insns, n).map(Whole::Result)
        } else if mixed::joins_registers(insn) {
            self.mixed(n)
        } else {
            self.part(n)
        }
    }

    /// Effect of an instruction that may put doubles together from parts of several.
    fn mixed(&self, n: usize) -> Option<Whole> {
        match used_alone(self.insns, n)? {
            Format::F64 => Some(Whole::Mixed),
            Format::F32 => Some(Whole::Alone),
            _ => None,
        }
    }

    /// Effect of a part that is written into a register or to memory.
    fn part(&mut self, n: usize) -> Option<Whole> {
        let part = Part::of(&self.insns[n].decoded)?;
        if part.is_in_memory {
            let addresses = self.addresses.get_or_init(|| addresses_of(self.insns));
            return written(self.insns, n, part, addresses, &mut self.passing);
        }
        let format = used_as(self.insns, n).filter(|format| part.bytes < format.bytes() as u8)?;
        Some(Whole::Part { format, at: part.at })
    }
}

/// Effect of a store of a part; instructions by which it has become what it is are added to `passing`.
fn written(
    insns: &[Insn],
    n: usize,
    part: Part,
    addresses: &[Option<Address>],
    passing: &mut Vec<(u64, Whole)>,
) -> Option<Whole> {
    let with = |way: Vec<usize>, whole: Whole| way.into_iter().map(move |n| (insns[n].pc(), whole));
    if let Some(way) = ends::way_back(insns, n, part, addresses) {
        passing.extend(with(way, Whole::Passing));
        return Some(Whole::End { restored: true });
    }
    let found = in_memory(insns, n, part, addresses);
    let is_assembled = found == Some(Whole::Assembled);
    let is_behind = is_assembled || found.is_none() && is_behind_digits(&insns[..=n], part, addresses);
    if is_behind && let Some(way) = ends::way(insns, n, part) {
        let way = with(way, Whole::Ending);
        // Elsewhere it may be anything.
        if is_assembled || way.clone().all(|change| passing.contains(&change)) {
            passing.extend(way);
            return Some(Whole::Ended);
        }
    }
    let is_end = || ends::may_be_written(insns, n, part, addresses);
    found
        .or_else(|| is_behind.then_some(Whole::Assembled))
        .or_else(|| is_end().then_some(Whole::End { restored: false }))
}

/// The float that is read from memory soon after instruction `n` has written `part` of it. What has been written by parts
/// throughout is another one.
fn in_memory(insns: &[Insn], n: usize, part: Part, addresses: &[Option<Address>]) -> Option<Whole> {
    let written = addresses[n]?;
    for (m, insn) in insns.iter().enumerate().skip(n + 1).take(HORIZON) {
        let insn = &insn.decoded;
        let Some(at) = addresses[m].and_then(|address| written.distance_from(address)) else { continue };
        let bytes = insn.memory_size().size() as i64;
        if !(0..bytes).contains(&at) {
            continue;
        }
        let is_read = Place::of(insn, 0).is_none_or(|place| !place.is_memory()) || insn.op_count() < 2;
        let format = if !is_read {
            None
        } else if matches!(rows::row(insn), Row::Move(..) | Row::General(General::Move)) {
            used_as(insns, m)
        } else {
            format_of(insn, rows::row(insn))
        };
        let is_integer = is_read && takes_integer(rows::row(insn));
        let number = format.map(|format| format.bytes() as i64).or(is_integer.then_some(bytes));
        if at == 0 && number == Some(part.bytes.into()) {
            return Some(Whole::Alone);
        }
        let Some(format) = format.filter(|format| at + i64::from(part.bytes) <= format.bytes() as i64) else {
            if at == 0 && bytes <= i64::from(part.bytes) && !is_read {
                return None;
            }
            continue;
        };
        // The others of as many floats as are read.
        let (at, start) = (at % format.bytes() as i64, addresses[m]?.plus(at - at % format.bytes() as i64));
        let is_part = usize::from(part.bytes) < format.bytes() && at + i64::from(part.bytes) <= bytes;
        let is_new = || is_written_throughout(&insns[..m], addresses, start, format.bytes());
        return match is_part {
            // Of a long double the end is looked at.
            true if is_new() => match (format, at) {
                (Format::F80, ends::EXTENDED_END) => Some(Whole::Assembled),
                (Format::F80, _) => None,
                _ => Some(Whole::Alone),
            },
            true => Some(Whole::Part { format, at: at as u8 }),
            false => None,
        };
    }
    None
}

/// Tells whether the last of `insns` writes what may be the end of a long double, behind digits that they have put there.
fn is_behind_digits(insns: &[Insn], part: Part, addresses: &[Option<Address>]) -> bool {
    let end = insns.len().checked_sub(1).and_then(|n| addresses[n]);
    let is_end = usize::from(part.bytes) + ends::EXTENDED_END as usize == Format::F80.bytes();
    is_end
        && end.is_some_and(|end| {
            let start = end.plus(-ends::EXTENDED_END);
            is_written_throughout(insns, addresses, start, Format::F80.bytes())
        })
}

/// Tells whether `insns` write all of the `bytes` bytes at `start` by parts.
fn is_written_throughout(
    insns: &[Insn],
    addresses: &[Option<Address>],
    start: Address,
    bytes: usize,
) -> bool {
    let all = (1_u32 << bytes) - 1;
    let mut written = 0;
    for (insn, address) in insns.iter().zip(addresses).rev() {
        let insn = &insn.decoded;
        let at = address
            .and_then(|address| address.distance_from(start))
            .filter(|_| insn.op0_kind() == OpKind::Memory);
        let Some(at) = at.filter(|at| (0..bytes as i64).contains(at)) else { continue };
        match Part::of(insn) {
            Some(part) => written |= ((1 << part.bytes) - 1) << at,
            None if insn.op_count() > 1 && insn.memory_size().size() >= bytes => break,
            None if rows::row(insn) == Row::General(General::Move) => {
                written |= (((1_u64 << insn.memory_size().size()) - 1) << at) as u32;
            }
            None => {}
        }
    }
    written & all == all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x86::insn::Flow;
    use iced_x86::{Decoder, DecoderOptions};

    /// mov dword [rbp−8], 0; the same with rbp−4.
    const LOW: &[u8] = b"\xc7\x45\xf8\0\0\0\0";
    const HIGH: &[u8] = b"\xc7\x45\xfc\0\0\0\0";
    /// movsd xmm0, [rbp−8]
    const LOAD: &[u8] = b"\xf2\x0f\x10\x45\xf8";
    /// addsd xmm0, xmm0; mulss xmm0, xmm0
    const ADD: &[u8] = b"\xf2\x0f\x58\xc0";
    const MUL_SINGLE: &[u8] = b"\xf3\x0f\x59\xc0";

    pub(super) fn found(code: &[&[u8]]) -> Vec<Whole> {
        let bytes = code.concat();
        let insn = |decoded: Instruction| {
            let flow = if decoded.is_jcc_short() { Flow::SideExit } else { Flow::Straight };
            Insn { decoded, bytes: [0; 15], displacement_at: 0, flow }
        };
        let insns: Vec<Insn> =
            Decoder::with_ip(64, &bytes, 0x1000, DecoderOptions::NONE).into_iter().map(insn).collect();
        find(&insns).into_iter().map(|(_, whole)| whole).collect()
    }

    #[test]
    fn a_store_over_a_part_of_a_float_that_is_used() {
        assert_eq!(found(&[LOW, LOAD, ADD]), [Whole::Part { format: Format::F64, at: 0 }]);
        assert_eq!(found(&[HIGH, LOAD, ADD]), [Whole::Part { format: Format::F64, at: 4 }]);
        // lea rax, [rbp-8]; add rax, 4; mov dword [rax], 0
        let by_pointer = b"\x48\x8d\x45\xf8\x48\x83\xc0\x04\xc7\0\0\0\0\0";
        assert_eq!(found(&[by_pointer, LOAD, ADD]), [Whole::Part { format: Format::F64, at: 4 }]);
    }

    #[test]
    fn two_floats_and_a_new_one_have_no_parts() {
        assert_eq!(found(&[LOW, LOAD, MUL_SINGLE]), [Whole::Alone]);
        assert_eq!(found(&[LOW, HIGH, LOAD, ADD]), [Whole::Alone; 2]);
        assert_eq!(found(&[LOW, LOAD]), []);
    }

    #[test]
    fn integers_that_are_read_as_such_are_no_parts() {
        // mov [rbp-8], eax; fild dword [rbp-8]; cvtsi2sd xmm0, dword [rbp-8]
        let stored: &[u8] = b"\x89\x45\xf8";
        assert_eq!(found(&[stored, b"\xdb\x45\xf8", LOAD, ADD]), [Whole::Alone]);
        assert_eq!(found(&[stored, b"\xf2\x0f\x2a\x45\xf8"]), [Whole::Alone]);
    }

    #[test]
    fn masks_are_told_by_what_becomes_of_them() {
        let mask: &[u8] = b"\x48\x21\xd0"; // and rax, rdx
        let moved: &[u8] = b"\x66\x48\x0f\x6e\xc0"; // movq xmm0, rax
        let cut: &[u8] = b"\x89\xc0"; // mov eax, eax
        assert_eq!(found(&[mask, moved, ADD]), [Whole::Result(Format::F64)]);
        assert_eq!(found(&[mask, moved, MUL_SINGLE]), [Whole::Result(Format::F32)]);
        assert_eq!(found(&[cut, moved, ADD]), [Whole::Result(Format::F64)]);
        assert_eq!(found(&[cut, moved, MUL_SINGLE]), []);
        // xor rax, rcx is the float's last change, or one of several.
        let flip = b"\x48\x31\xc8";
        assert_eq!(found(&[flip, moved, ADD]), [Whole::Result(Format::F64)]);
        assert_eq!(found(&[flip, b"\x48\x83\xc8\x01", moved, ADD]).len(), 1);
        // paddd xmm0, xmm1; psubd xmm0, xmm1
        for sum in [b"\x66\x0f\xfe\xc1", b"\x66\x0f\xfa\xc1"] {
            assert_eq!(found(&[sum, ADD]), [Whole::Result(Format::F64)]);
            assert_eq!(found(&[sum, MUL_SINGLE]), []);
        }
        // What is converted to the register is not what was there: cvtpd2ps xmm0, xmm2; sqrtsd xmm0, xmm2; roundsd xmm0, xmm2, 0
        for over in [&b"\x66\x0f\x5a\xc2"[..], b"\xf2\x0f\x51\xc2", b"\x66\x0f\x3a\x0b\xc2\0"] {
            assert_eq!(found(&[b"\x66\x0f\xfe\xc1", over, ADD]), []);
        }
        // What is cleared is neither: xorps xmm0, xmm0; vxorps xmm0, xmm0, xmm0; pxor xmm0, xmm0
        for clear in [&b"\x0f\x57\xc0"[..], b"\xc5\xf8\x57\xc0", b"\x66\x0f\xef\xc0"] {
            assert_eq!(found(&[b"\x66\x0f\xfe\xc1", clear, ADD]), []);
        }
        // Nor what is elsewhere in memory, in a function: movaps [rsp+8], xmm0; call; addsd xmm1, [rsp+8]
        let stored: &[u8] = b"\x0f\x29\x44\x24\x08";
        let (call, used): (&[u8], &[u8]) = (b"\xe8\0\0\0\0", b"\xf2\x0f\x58\x4c\x24\x08");
        let clear: &[u8] = b"\x0f\x57\xc0";
        let sum: &[u8] = b"\x66\x0f\xfe\xc1";
        assert_eq!(found(&[sum, stored, clear, used]), [Whole::Result(Format::F64)]);
        assert_eq!(found(&[sum, stored, clear, call, used]), []);
        // cmpltsd xmm0, xmm2
        assert_eq!(found(&[b"\x66\x0f\xfe\xc1", b"\xf2\x0f\xc2\xc2\x01"]), [Whole::Result(Format::F64)]);
        // test rax, rax; add rax, rax; mov [rax], rax
        assert_eq!(found(&[mask, b"\x48\x85\xc0\x48\x01\xc0\x48\x89\0"]), []);
    }
}
