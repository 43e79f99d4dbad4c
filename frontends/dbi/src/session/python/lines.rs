//! Tables of lines of Python's code objects, in their three forms. Knows bytes only.

/// Form of a table of lines.
#[derive(Clone, Copy, Debug)]
pub(super) enum Table {
    /// `co_lnotab`: pairs of bytes, how far on in the code and, signed, how many lines on (3.9).
    Deltas,
    /// `co_linetable` of 3.10 (PEP 626): pairs of bytes, the length of a piece of code and, signed, how many lines on it is;
    /// −128 for a piece without a line.
    Ranges,
    /// `co_linetable` since 3.11 (PEP 657): pieces of code with columns. The code itself is so many bytes on in its object.
    Locations { code: u64 },
}

/// Size of an instruction since 3.10, in bytes.
const UNIT: u64 = 2;

impl Table {
    /// Place in the code, in bytes, that a frame of the code object at `code` has noted; nothing before its first.
    pub(super) fn place(self, noted: [u8; 8], code: u64) -> Option<u64> {
        let [a, b, c, d, ..] = noted;
        let number = u64::try_from(i32::from_le_bytes([a, b, c, d]));
        match self {
            Table::Deltas => number.ok(),
            Table::Ranges => number.ok().map(|number| UNIT * number),
            Table::Locations { code: offset } => {
                // An instruction before the first where a function has just been entered.
                const MOST: u64 = 1 << 28;
                let place = u64::from_le_bytes(noted).checked_sub(code + offset - UNIT)?;
                Some(place.saturating_sub(UNIT)).filter(|&place| place < MOST)
            }
        }
    }

    /// Line of byte `place` of the code, of which `first` is the first line.
    pub(super) fn line(self, table: &[u8], first: i64, place: u64) -> Option<i64> {
        match self {
            Table::Deltas => Some(deltas(table, first, place)),
            Table::Ranges => ranges(table, first, place),
            Table::Locations { .. } => locations(table, first, place),
        }
    }
}

fn deltas(table: &[u8], first: i64, place: u64) -> i64 {
    let (mut at, mut line) = (0, first);
    for &[code, lines] in table.as_chunks().0 {
        at += u64::from(code);
        if at > place {
            break;
        }
        line += i64::from(lines.cast_signed());
    }
    line
}

fn ranges(table: &[u8], first: i64, place: u64) -> Option<i64> {
    const NO_LINE: i8 = -128;
    let (mut end, mut line) = (0, first);
    for &[code, lines] in table.as_chunks().0 {
        let lines = lines.cast_signed();
        line += if lines == NO_LINE { 0 } else { i64::from(lines) };
        end += u64::from(code);
        if place < end {
            return (lines != NO_LINE).then_some(line);
        }
    }
    None
}

/// Reads pieces: a byte with bit 7 set that has the form in bits 3–6 and the length less one, in instructions, in bits 0–2;
/// then what the form asks for.
fn locations(table: &[u8], first: i64, place: u64) -> Option<i64> {
    /// Forms: lines and columns on without limits; lines on, without columns; none.
    const LONG: u8 = 14;
    const NO_COLUMNS: u8 = 13;
    const NONE: u8 = 15;
    let (mut end, mut line) = (0, first);
    let mut rest = table.iter().copied().peekable();
    while let Some(head) = rest.next() {
        let form = head >> 3 & 15;
        end += UNIT * (u64::from(head & 7) + 1);
        line += match form {
            LONG | NO_COLUMNS => signed(&mut rest),
            10..=12 => i64::from(form) - 10,
            _ => 0,
        };
        if place < end {
            return (form != NONE).then_some(line);
        }
        // Columns are none of ours.
        while rest.next_if(|byte| byte & 0x80 == 0).is_some() {}
    }
    None
}

/// Reads a number of six bits a byte, the lowest first, bit 6 set if there are more; the lowest bit of all is the sign.
fn signed(bytes: &mut impl Iterator<Item = u8>) -> i64 {
    let (mut number, mut shift) = (0_u64, 0);
    for byte in bytes {
        number |= u64::from(byte & 63) << shift;
        shift += 6;
        if byte & 64 == 0 || shift > 57 {
            break;
        }
    }
    let size = (number >> 1) as i64;
    if number & 1 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of `def f(x):\n    y = x + 1\n\n    return y`, the function at line 10, by the table that each version's
    /// compiler made, as its `dis` shows them.
    #[test]
    fn lines_are_those_of_the_compilers() {
        const SINCE_3_11: &[u8] = &[128, 0, 216, 8, 9, 136, 65, 137, 5, 128, 65, 224, 11, 12, 128, 72];
        const OLD: &[(u64, i64)] = &[(0, 11), (2, 11), (4, 11), (6, 11), (8, 13), (10, 13)];
        const NEW: &[(u64, i64)] = &[(0, 10), (2, 11), (4, 11), (6, 11), (10, 11), (12, 13), (14, 13)];
        let cases: [(Table, &[u8], _); 3] = [
            (Table::Deltas, &[0, 1, 8, 2], OLD),
            (Table::Ranges, &[8, 1, 4, 2], OLD),
            (Table::Locations { code: 184 }, SINCE_3_11, NEW),
        ];
        for (form, table, lines) in cases {
            for &(place, line) in lines {
                assert_eq!(form.line(table, 10, place), Some(line), "{form:?} {place}");
            }
        }
    }

    #[test]
    fn a_piece_without_a_line_has_none() {
        assert_eq!(Table::Ranges.line(&[4, 1, 2, 128, 2, 3], 10, 4), None);
        assert_eq!(Table::Ranges.line(&[4, 1, 2, 128, 2, 3], 10, 6), Some(14));
        assert_eq!(Table::Locations { code: 0 }.line(&[0x80 | 15 << 3], 10, 0), None);
    }

    #[test]
    fn lines_go_back_and_far() {
        // −3 and +100 lines on: 7 is -3 with its sign; 200 is 8 + 3 × 64.
        let table = [0x80 | 13 << 3, 7, 0x80 | 13 << 3, 64 | 8, 3];
        let line = |place| Table::Locations { code: 0 }.line(&table, 10, place);
        assert_eq!((line(0), line(2), line(4)), (Some(7), Some(107), None));
    }

    #[test]
    fn a_frame_notes_bytes_or_instructions_or_an_address() {
        assert_eq!(Table::Deltas.place(6_u64.to_le_bytes(), 0), Some(6));
        assert_eq!(Table::Deltas.place(0xffff_ffff_u64.to_le_bytes(), 0), None);
        assert_eq!(Table::Ranges.place(3_u64.to_le_bytes(), 0), Some(6));
        let noted = |place: i64| 0x1184_u64.wrapping_add_signed(place).to_le_bytes();
        let locations = Table::Locations { code: 0x184 };
        assert_eq!(locations.place(noted(10), 0x1000), Some(10));
        assert_eq!(locations.place(noted(-2), 0x1000), Some(0));
        assert_eq!(locations.place(noted(-4), 0x1000), None);
    }
}
