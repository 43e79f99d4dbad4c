//! The forty-six bytes an output takes while a program runs.
//!
//! Spelt out byte by byte, so that records can go to a file and come back without a cast.

use super::output::{Judgement, Label, Output, OutputKind, OutputShadow, RealText};
use super::value::Value;
use crate::format::Format;
use crate::site::Site;
use crate::text::Notation;

/// Size of a record.
pub(super) const RECORD: usize = 46;

/// Formats by their two bits in byte 10.
const FORMATS: [Format; 4] = [Format::F32, Format::F64, Format::F80, Format::F16];

const NOTHING: u8 = 0;
const DOT: u8 = 1;
const ERROR: u8 = 2;

/// Bit of what follows the tag, above the judgement: the real's text is not known.
const UNKNOWN: u8 = 4;

/// Appends `output`, whose notation has this number, from 1, to `records`, and its real's digits and text to `reals`.
///
/// Bytes 0–9 value; 10 format, tag, dot format or judgement, two bits each, and whether the real's text is unknown; 11 kind; 12–15 site; 16–19 label; 20–21 position;
/// 22–33 dot, or error bits and correct digits; 34–37 the place of the real among the strings; 38–39 its length; 40–43
/// notation; 44–45 length of the real's text, which follows its digits.
pub(super) fn encode(output: &Output<'_>, notation: u32, records: &mut Vec<u8>, reals: &mut Vec<u8>) {
    let mut record = [0; RECORD];
    let mut put = |at: usize, bytes: &[u8]| record[at..at + bytes.len()].copy_from_slice(bytes);
    // A chunk's strings stay below 16384 · 2 · 65535 bytes, which fits.
    put(34, &(reals.len() as u32).to_le_bytes());
    let (tag, detail) = match output.said {
        OutputShadow::Nothing => (NOTHING, 0),
        OutputShadow::Dot(dot) => {
            put(22, &dot.bits());
            (DOT, dot.format() as u8)
        }
        OutputShadow::Error { real, error_bits, correct_digits, judgement, exact } => {
            put(22, &error_bits.to_le_bytes());
            put(30, &correct_digits.to_le_bytes());
            put(38, &append(reals, real).to_le_bytes());
            put(44, &append(reals, exact.other()).to_le_bytes());
            let unknown = if exact == RealText::Unknown { UNKNOWN } else { 0 };
            (ERROR, judgement as u8 | unknown)
        }
    };
    put(0, &output.value.bits());
    put(10, &[output.value.format() as u8 | tag << 2 | detail << 4, output.kind as u8]);
    put(12, &output.site.bits().to_le_bytes());
    put(16, &output.label.0.to_le_bytes());
    put(20, &output.position.to_le_bytes());
    put(40, &notation.to_le_bytes());
    records.extend_from_slice(&record);
}

/// Appends a text; its length.
fn append(texts: &mut Vec<u8>, text: Option<&str>) -> u16 {
    // More than 65535 digits would take 200 000 bits of precision; the first ones are the telling ones.
    let text = text.unwrap_or_default().as_bytes();
    let text = &text[..text.len().min(usize::from(u16::MAX))];
    texts.extend_from_slice(text);
    text.len() as u16
}

/// The output that `record` was made from; `reals` are the strings of its chunk.
pub(super) fn decode<'a>(record: &[u8; RECORD], reals: &'a [u8], notations: &[Notation]) -> Output<'a> {
    let format = |bits: u8| FORMATS[usize::from(bits & 3)];
    let start = u32::from_le_bytes(at(record, 34)) as usize;
    let end = start + usize::from(u16::from_le_bytes(at(record, 38)));
    let text = |from: usize, to: usize| std::str::from_utf8(&reals[from..to]).ok().filter(|t| !t.is_empty());
    let notation = (u32::from_le_bytes(at(record, 40)) as usize).checked_sub(1);
    let detail = record[10] >> 4;
    let other = |text: Option<_>| text.map_or(RealText::Same, RealText::Other);
    let said = match record[10] >> 2 & 3 {
        NOTHING => OutputShadow::Nothing,
        DOT => OutputShadow::Dot(Value::new(format(detail), &record[22..32])),
        _ => OutputShadow::Error {
            real: text(start, end),
            error_bits: f64::from_le_bytes(at(record, 22)),
            correct_digits: f32::from_le_bytes(at(record, 30)),
            judgement: Judgement::ALL[usize::from(detail & 3)],
            exact: match detail & UNKNOWN {
                0 => other(text(end, end + usize::from(u16::from_le_bytes(at(record, 44))))),
                _ => RealText::Unknown,
            },
        },
    };
    Output {
        kind: OutputKind::ALL[usize::from(record[11])],
        label: Label(u32::from_le_bytes(at(record, 16))),
        value: Value::new(format(record[10]), &record[..10]),
        site: Site::from_bits(u32::from_le_bytes(at(record, 12))),
        position: u16::from_le_bytes(at(record, 20)),
        said,
        notation: notation.and_then(|notation| notations.get(notation).copied()),
    }
}

fn at<const N: usize>(record: &[u8; RECORD], start: usize) -> [u8; N] {
    std::array::from_fn(|i| record[start + i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Style;

    #[test]
    fn every_field_comes_back() {
        let f80 = |low: u8| Value::new(Format::F80, &[low, 2, 3, 4, 5, 6, 7, 0x88, 0xff, 0x3f]);
        let error = |real: Option<&'static str>, judgement| {
            let exact = match judgement {
                Judgement::Right => RealText::Same,
                Judgement::Wrong => RealText::Other("0.25"),
                Judgement::Unsettled => RealText::Unknown,
            };
            OutputShadow::Error { real, error_bits: 52.25, correct_digits: 0.3, judgement, exact }
        };
        let said = [
            OutputShadow::Nothing,
            OutputShadow::Dot(1.5f32.into()),
            OutputShadow::Dot(f80(9)),
            error(None, Judgement::Right),
            error(Some("0.30000000000000000000001"), Judgement::Wrong),
            error(Some("-1e-400"), Judgement::Unsettled),
        ];
        let fixed = Notation::new(Style::Fixed, Some(2));
        let (mut records, mut reals) = (Vec::new(), Vec::new());
        let mut expected = Vec::new();
        for (i, said) in said.into_iter().enumerate() {
            for (kind, value) in
                OutputKind::ALL.into_iter().zip([0.1f32.into(), (-0.1f64).into(), f80(1)].repeat(3))
            {
                let site = Site::from_bits(0xdead_0000 + i as u32);
                let (label, position) = (Label(7 << 24), 0xfffe);
                let notation = [None, Some(fixed)][i % 2];
                let o = Output { kind, label, value, site, position, said, notation };
                encode(&o, notation.map_or(0, |_| 1), &mut records, &mut reals);
                expected.push(o);
            }
        }
        assert_eq!(records.len(), expected.len() * RECORD);
        let decoded: Vec<_> =
            records.as_chunks().0.iter().map(|record| decode(record, &reals, &[fixed])).collect();
        assert_eq!(decoded, expected);
        assert_eq!(FORMATS.map(|f| f as u8), [0, 1, 2, 3]);
        assert_eq!(Judgement::ALL.map(|j| j as u8), [0, 1, 2]);
    }
}
