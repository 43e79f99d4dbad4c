//! The search for numbers in a file whose addition rounds: 2^(p−1) and 1.5·2^(p−1), of either sign.
//!
//! What is found too much costs a little time, what is missed would cost a derivative: in data, numbers are where they
//! are aligned; in code they are anywhere, as immediate operands.

use crate::x86::rounding::Rounding;

/// Numbers that round long doubles, 2^63 and 1.5·2^63, as they stand in a file but for sign and the first bit of the fraction: the
/// upper word of an `f64`, an `f32`, and the upper words of a long double.
const EXTENDED_DOUBLE: u32 = 0x43e0_0000;
const EXTENDED_SINGLE: u32 = 0x5f00_0000;
const EXTENDED: [u32; 2] = [0x8000_0000, 0x0000_403e];
const EXTENDED_BITS: [u32; 2] = [0xbfff_ffff, 0x0000_7fff];

/// The upper word of a magic `f64`, and of a magic `f32` that is one, but for sign and the first bit of the fraction.
const DOUBLE: u32 = 0x4330_0000;
const SINGLE: u32 = 0x4b00_0000;
const DOUBLE_BITS: u32 = 0x7ff7_ffff;
const SINGLE_BITS: u32 = 0x7fbf_ffff;

/// Bytes that are looked through together for the start of a word that may be magic.
const TOGETHER: usize = 64;

/// For which formats there is one in `bytes`, a file's data or code.
pub(super) fn search(bytes: &[u8], executable: bool) -> Rounding {
    let step = if executable { 1 } else { 4 };
    let last = bytes.len().saturating_sub(3);
    let mut found = Rounding::default();
    for start in (0..last).step_by(TOGETHER) {
        if bytes[start..].first_chunk().is_none_or(may_begin) {
            let words = (start..last.min(start + TOGETHER)).step_by(step);
            words.for_each(|at| look_at(bytes, at, executable, &mut found));
        }
        if found == Rounding::ANY {
            break;
        }
    }
    found
}

/// Tells whether one of the words that begin in all but the last three of these bytes may be magic: its lower half is zero, and its
/// last byte is one of a few. Nothing branches, so that many words are looked at by one instruction.
fn may_begin(bytes: &[u8; TOGETHER + 3]) -> bool {
    let may_be = |at: usize| {
        let (last, plain) = (bytes[at + 3], bytes[at + 3] & 0x7f);
        let is_last = (plain == 0x43) | (plain == 0x4b) | (plain == 0x5f) | (last & 0xbf == 0x80);
        (bytes[at] | bytes[at + 1] == 0) & is_last
    };
    (0..TOGETHER).fold(false, |any, at| any | may_be(at))
}

/// Looks at the word at `at`.
fn look_at(bytes: &[u8], at: usize, executable: bool, found: &mut Rounding) {
    let word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let after_zeros = at >= 4 && bytes[at - 4..at] == [0; 4];
    if word & DOUBLE_BITS == DOUBLE {
        found.double |= after_zeros;
    } else if word & DOUBLE_BITS == EXTENDED_DOUBLE {
        found.extended |= after_zeros;
    } else if word & SINGLE_BITS == EXTENDED_SINGLE {
        found.extended |= !executable || is_moved(&bytes[..at]);
    } else if word & EXTENDED_BITS[0] == EXTENDED[0] {
        let next = bytes.get(at + 4..at + 8).and_then(|next| next.try_into().ok()).map(u32::from_le_bytes);
        found.extended |= after_zeros && next.is_some_and(|next| next & EXTENDED_BITS[1] == EXTENDED[1]);
    } else if word & SINGLE_BITS == SINGLE {
        found.single |= !executable || word & !SINGLE_BITS & 0x7fff_ffff != 0 || is_moved(&bytes[..at]);
    }
}

/// Tells whether `before` ends as a move of an immediate operand begins. Three zeros and a prefix are common in code.
fn is_moved(before: &[u8]) -> bool {
    const TO_REGISTER: std::ops::RangeInclusive<u8> = 0xb8..=0xbf;
    const TO_MEMORY: u8 = 0xc7;
    /// Of what is between opcode and immediate: how memory is addressed.
    const LONGEST: usize = 6;
    let last = before.len().saturating_sub(LONGEST + 1);
    before.last().is_some_and(|byte| TO_REGISTER.contains(byte)) || before[last..].contains(&TO_MEMORY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::format::Format;

    const NONE: Rounding = Rounding { single: false, double: false, extended: false };

    #[test]
    fn numbers_are_found_in_data() {
        let data = |number: &[u8]| search(&[&[1; 8], number, &[2; 8]].concat(), false);
        for magic in [4503599627370496.0_f64, 6755399441055744.0, -6755399441055744.0] {
            assert_eq!(data(&magic.to_le_bytes()), Rounding { double: true, ..NONE }, "{magic}");
        }
        for magic in [8388608.0_f32, 12582912.0, -12582912.0] {
            assert_eq!(data(&magic.to_le_bytes()), Rounding { single: true, ..NONE }, "{magic}");
        }
        for magic in [2.0_f64.powi(63), -1.5 * 2.0_f64.powi(63)] {
            let extended = Rounding { extended: true, ..NONE };
            assert_eq!(data(&magic.to_le_bytes()), extended, "{magic}");
            assert_eq!(data(&(magic as f32).to_le_bytes()), extended, "{magic}");
            let long_double = Format::F80.from_f64(magic).to_le_bytes();
            assert_eq!(data(&long_double[..12]), extended, "{magic}");
        }
        assert_eq!(data(&1e16_f64.to_le_bytes()), NONE);
        assert_eq!(data(&4503599627370497.0_f64.to_le_bytes()), NONE);
        assert_eq!(data(&16777216.0_f32.to_le_bytes()), NONE);
    }

    #[test]
    fn numbers_are_found_in_code() {
        let single = Rounding { single: true, ..NONE };
        // movabs rax, 1.5·2^52; mov dword ptr [rsp+8], 2^23; mov eax, 2^23
        assert!(search(b"\x48\xb8\0\0\0\0\0\0\x38\x43\xc3", true).double);
        assert_eq!(search(b"\xc7\x44\x24\x08\0\0\0\x4b", true), single);
        assert_eq!(search(b"\xb8\0\0\0\x4b", true), single);
        // mov rax, [rbp-0x100]; mov r9, [r9]
        assert_eq!(search(b"\x48\x8b\x85\0\xff\xff\xff\xe8\0\0\0\0\x4b\x8b\x09", true), NONE);
    }
}
