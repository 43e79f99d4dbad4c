//! Hexadecimal numbers as C's `%a` writes them: their length and value.
//!
//! Knows no other notation, and what follows the number no better than C does, which reads as much as it can.

/// Bits of a digit.
const DIGIT: i32 = 4;

/// Length of the hexadecimal number that `text` begins with, and its value, to within two roundings if it has more than 53 bits; nothing
/// if it begins with none.
pub fn at_start(text: &[u8]) -> Option<(usize, f64)> {
    let is_negative = text.first() == Some(&b'-');
    let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let prefix = text.get(sign..sign + 2)?;
    if !prefix.eq_ignore_ascii_case(b"0x") {
        return None;
    }
    let (mut at, mut digits, mut has_point) = (sign + 2, 0, false);
    let (mut mantissa, mut power) = (0_u64, 0);
    while let Some(&character) = text.get(at) {
        match char::from(character).to_digit(16) {
            Some(digit) => {
                digits += 1;
                let has_room = mantissa >> (u64::BITS as i32 - DIGIT) == 0;
                mantissa = if has_room { mantissa << DIGIT | u64::from(digit) } else { mantissa };
                power += DIGIT * (i32::from(!has_room) - i32::from(has_point));
            }
            None if character == b'.' && !has_point => has_point = true,
            None => break,
        }
        at += 1;
    }
    if digits == 0 {
        return None;
    }
    let (exponent, length) = exponent(&text[at..]).unwrap_or((0, 0));
    let value = libm::ldexp(mantissa as f64, power.saturating_add(exponent));
    Some((at + length, if is_negative { -value } else { value }))
}

/// The binary exponent that `text` begins with, and its length.
fn exponent(text: &[u8]) -> Option<(i32, usize)> {
    let rest = text.strip_prefix(b"p").or_else(|| text.strip_prefix(b"P"))?;
    let sign = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
    let digits = rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let size: String = rest[sign..sign + digits].iter().copied().map(char::from).collect();
    // More digits than an integer has are beyond all floats.
    let size = if digits == 0 { return None } else { size.parse().unwrap_or(i32::MAX / 2) };
    Some((if rest[0] == b'-' { -size } else { size }, 1 + sign + digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values as glibc's strtod reads them.
    #[test]
    fn numbers_are_read_as_far_as_they_go() {
        for (text, length, value) in [
            ("0x1.8p+1", 8, 3.0),
            ("-0x1.8b0fcd38ee093p+0", 21, -1.5432098640431249),
            ("+0XA.8P-3 ", 9, 1.3125),
            ("0x.8", 4, 0.5),
            ("0x1p", 3, 1.0),
            ("0x1p+x", 3, 1.0),
            ("0x10g", 4, 16.0),
            ("0x1.fffffffffffffp+1023", 23, f64::MAX),
            ("0x0.0000000000001p-1022", 23, f64::from_bits(1)),
            ("0x1p-1074", 9, f64::from_bits(1)),
            ("0x1p99999999999", 15, f64::INFINITY),
            ("0x0p99999999999", 15, 0.0),
            ("0x123456789abcdef01", 19, 20_988_295_479_420_645_120.0),
        ] {
            assert_eq!(at_start(text.as_bytes()), Some((length, value)), "{text}");
        }
        for text in ["", "-", "0", "0x", "0x.", "0xg", "1x8", "x8"] {
            assert_eq!(at_start(text.as_bytes()), None, "{text}");
        }
    }
}
