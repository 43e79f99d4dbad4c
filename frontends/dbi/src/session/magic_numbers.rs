//! The search for numbers in a file whose addition rounds: 2^(p−1) and 1.5·2^(p−1), of either sign.
//!
//! What is found too much costs a little time, what is missed would cost a derivative: in data, numbers are where they
//! are aligned; in code they are anywhere, as immediate operands.

use crate::x86::rounding::Rounding;

/// The upper word of a magic `f64`, and of a magic `f32` that is one, but for sign and the first bit of the fraction.
const DOUBLE: u32 = 0x4330_0000;
const SINGLE: u32 = 0x4b00_0000;
const DOUBLE_BITS: u32 = 0x7ff7_ffff;
const SINGLE_BITS: u32 = 0x7fbf_ffff;

/// For which formats there is one in `bytes`, a file's data or code.
pub(super) fn search(bytes: &[u8], executable: bool) -> Rounding {
    let step = if executable { 1 } else { 4 };
    let mut found = Rounding::default();
    for at in (0..bytes.len().saturating_sub(3)).step_by(step) {
        // Decides nearly always.
        if !matches!(bytes[at + 3] & 0x7f, 0x43 | 0x4b) {
            continue;
        }
        let word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if word & DOUBLE_BITS == DOUBLE {
            found.double |= at >= 4 && bytes[at - 4..at] == [0; 4];
        } else if word & SINGLE_BITS == SINGLE {
            found.single |= !executable || word & !SINGLE_BITS & 0x7fff_ffff != 0 || is_moved(&bytes[..at]);
        }
        if found == Rounding::ANY {
            break;
        }
    }
    found
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

    const NONE: Rounding = Rounding { single: false, double: false };

    #[test]
    fn numbers_are_found_in_data() {
        let data = |number: &[u8]| search(&[&[1; 8], number, &[2; 8]].concat(), false);
        for magic in [4503599627370496.0_f64, 6755399441055744.0, -6755399441055744.0] {
            assert_eq!(data(&magic.to_le_bytes()), Rounding { single: false, double: true }, "{magic}");
        }
        for magic in [8388608.0_f32, 12582912.0, -12582912.0] {
            assert_eq!(data(&magic.to_le_bytes()), Rounding { single: true, double: false }, "{magic}");
        }
        assert_eq!(data(&1e16_f64.to_le_bytes()), NONE);
        assert_eq!(data(&4503599627370497.0_f64.to_le_bytes()), NONE);
        assert_eq!(data(&16777216.0_f32.to_le_bytes()), NONE);
    }

    #[test]
    fn numbers_are_found_in_code() {
        let single = Rounding { single: true, double: false };
        // movabs rax, 1.5·2^52; mov dword ptr [rsp+8], 2^23; mov eax, 2^23
        assert!(search(b"\x48\xb8\0\0\0\0\0\0\x38\x43\xc3", true).double);
        assert_eq!(search(b"\xc7\x44\x24\x08\0\0\0\x4b", true), single);
        assert_eq!(search(b"\xb8\0\0\0\x4b", true), single);
        // mov rax, [rbp-0x100]; mov r9, [r9]
        assert_eq!(search(b"\x48\x8b\x85\0\xff\xff\xff\xe8\0\0\0\0\x4b\x8b\x09", true), NONE);
    }
}
