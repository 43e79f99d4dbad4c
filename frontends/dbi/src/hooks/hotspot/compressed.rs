//! Numbers as HotSpot compresses them, and the tables of lines that are made of such. Knows bytes only.

/// Form of compressed numbers: a byte below a limit is the last, and others have six bits more to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Bytes that mean no number: the zero of newer versions.
    excluded: u32,
}

/// Bytes of a number, at most.
const LONGEST: u32 = 5;
/// Bits that each byte but the last has.
const BITS: u32 = 6;
/// First byte that is not the last of its number.
const MORE: u32 = 192;
/// First version in whose numbers there are no zeros.
const WITHOUT_ZEROS: u32 = 20;

/// Escape in a table of lines: two numbers with signs follow.
const ESCAPE: u8 = 0xff;

impl Form {
    /// The form of this version.
    pub(super) fn of(version: u32) -> Form {
        Form { excluded: u32::from(version >= WITHOUT_ZEROS) }
    }

    /// Reads a number.
    pub(super) fn number(self, bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
        let mut number = 0_u32;
        for digit in 0..LONGEST {
            let byte = u32::from(bytes.next()?);
            number = number.wrapping_add(byte.checked_sub(self.excluded)? << (BITS * digit));
            if byte < MORE {
                break;
            }
        }
        Some(number)
    }

    /// Reads a number whose lowest bit is its sign.
    fn signed(self, bytes: &mut impl Iterator<Item = u8>) -> Option<i64> {
        let number = self.number(bytes)?;
        let size = i64::from(number >> 1);
        Some(if number & 1 == 0 { size } else { -size - 1 })
    }

    /// The line of byte `place` of a method's code of so many bytes, by its table: that of the last place up to there. Nothing
    /// if the table is none.
    pub(super) fn line(self, table: &[u8], place: u32, code_size: u32) -> Option<u32> {
        let mut bytes = table.iter().copied();
        let (mut at, mut line) = (0, 0);
        let mut best = None;
        loop {
            let (on, lines) = match bytes.next()? {
                0 => return best.and_then(|(_, line)| u32::try_from(line).ok()),
                ESCAPE => (self.signed(&mut bytes)?, self.signed(&mut bytes)?),
                both => (i64::from(both >> 3), i64::from(both & 7)),
            };
            at += on;
            line += lines;
            if !(0..i64::from(code_size)).contains(&at) || !(0..=0xffff).contains(&line) {
                return None;
            }
            if at <= i64::from(place) && best.is_none_or(|(before, _)| before <= at) {
                best = Some((at, line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Form = Form { excluded: 0 };
    const NEW: Form = Form { excluded: 1 };

    #[test]
    fn numbers_have_one_to_five_bytes() {
        // 190 and 191, 192 + 64, and the largest.
        let number = |form: Form, bytes: &[u8]| form.number(&mut bytes.iter().copied());
        assert_eq!(number(OLD, &[191]), Some(191));
        assert_eq!(number(OLD, &[192, 0]), Some(192));
        assert_eq!(number(OLD, &[192, 1]), Some(256));
        assert_eq!(number(NEW, &[191]), Some(190));
        assert_eq!(number(NEW, &[192, 1]), Some(191));
        assert_eq!(number(NEW, &[0]), None);
        assert_eq!(number(OLD, &[192]), None);
        assert_eq!(number(OLD, &[255, 252, 252, 252, 252]), Some(u32::MAX));
    }

    #[test]
    fn lines_are_those_of_the_last_place_before() {
        // Line 10 at 0, 12 at 5, 3 at 9: the first and the last take an escape, whose -9 is 17.
        let table = |form: Form| {
            let number = |n: u32| (n + form.excluded) as u8;
            [&[ESCAPE, number(0), number(20), 5 << 3 | 2, ESCAPE, number(8), number(17), 0][..]].concat()
        };
        for form in [OLD, NEW] {
            let line = |place| form.line(&table(form), place, 12);
            assert_eq!([line(0), line(4), line(5), line(8), line(9)], [10, 10, 12, 12, 3].map(Some));
            assert_eq!(form.line(&table(form), 0, 9), None, "a place behind the code");
            assert_eq!(form.line(&table(form)[..7], 0, 12), None, "no end");
        }
        assert_eq!(NEW.line(&table(OLD), 0, 12), None);
    }
}
