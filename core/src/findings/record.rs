//! The forty bytes an output takes while a program runs.
//!
//! Spelt out byte by byte, so that records can go to a file and come back without a cast.

use super::output::{Judgement, Label, Output, OutputKind, Said};
use super::value::Value;
use crate::format::Format;
use crate::site::Site;

/// Size of a record.
pub(super) const RECORD: usize = 40;

/// Formats by their two bits in byte 10.
const FORMATS: [Format; 4] = [Format::F32, Format::F64, Format::F80, Format::F16];

const NOTHING: u8 = 0;
const DOT: u8 = 1;
const ERROR: u8 = 2;

/// Appends `output` to `records`, and its real's digits to `reals`.
///
/// Bytes 0–9 value; 10 format, tag, dot format or judgement, two bits each; 11 kind; 12–15 site; 16–19 label; 20–21 position;
/// 22–37 dot, or error bits, correct digits and the place of the real among the strings; 38–39 its length.
pub(super) fn encode(output: &Output<'_>, records: &mut Vec<u8>, reals: &mut Vec<u8>) {
    let mut record = [0; RECORD];
    let mut put = |at: usize, bytes: &[u8]| record[at..at + bytes.len()].copy_from_slice(bytes);
    let (tag, detail) = match output.said {
        Said::Nothing => (NOTHING, 0),
        Said::Dot(dot) => {
            put(22, &dot.bits());
            (DOT, dot.format() as u8)
        }
        Said::Error { real, error_bits, correct_digits, judgement } => {
            put(22, &error_bits.to_le_bytes());
            put(30, &correct_digits.to_le_bytes());
            // A chunk's strings stay below 16384 · 65535 bytes, which fits.
            put(34, &(reals.len() as u32).to_le_bytes());
            // More than 65535 digits would take 200 000 bits of precision; the first ones are the telling ones.
            let text = real.unwrap_or_default().as_bytes();
            let text = &text[..text.len().min(usize::from(u16::MAX))];
            put(38, &(text.len() as u16).to_le_bytes());
            reals.extend_from_slice(text);
            (ERROR, judgement as u8)
        }
    };
    put(0, &output.value.bits());
    put(10, &[output.value.format() as u8 | tag << 2 | detail << 4, output.kind as u8]);
    put(12, &output.site.bits().to_le_bytes());
    put(16, &output.label.0.to_le_bytes());
    put(20, &output.position.to_le_bytes());
    records.extend_from_slice(&record);
}

/// The output that `record` was made from; `reals` are the strings of its chunk.
pub(super) fn decode<'a>(record: &[u8; RECORD], reals: &'a [u8]) -> Output<'a> {
    let format = |bits: u8| FORMATS[usize::from(bits & 3)];
    let said = match record[10] >> 2 & 3 {
        NOTHING => Said::Nothing,
        DOT => Said::Dot(Value::new(format(record[10] >> 4), &record[22..32])),
        _ => {
            let start = u32::from_le_bytes(at(record, 34)) as usize;
            let text = &reals[start..start + usize::from(u16::from_le_bytes(at(record, 38)))];
            Said::Error {
                real: std::str::from_utf8(text).ok().filter(|t| !t.is_empty()),
                error_bits: f64::from_le_bytes(at(record, 22)),
                correct_digits: f32::from_le_bytes(at(record, 30)),
                judgement: Judgement::ALL[usize::from(record[10] >> 4 & 3)],
            }
        }
    };
    Output {
        kind: OutputKind::ALL[usize::from(record[11])],
        label: Label(u32::from_le_bytes(at(record, 16))),
        value: Value::new(format(record[10]), &record[..10]),
        site: Site::from_bits(u32::from_le_bytes(at(record, 12))),
        position: u16::from_le_bytes(at(record, 20)),
        said,
    }
}

fn at<const N: usize>(record: &[u8; RECORD], start: usize) -> [u8; N] {
    std::array::from_fn(|i| record[start + i])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_comes_back() {
        let f80 = |low: u8| Value::new(Format::F80, &[low, 2, 3, 4, 5, 6, 7, 0x88, 0xff, 0x3f]);
        let error = |real, judgement| Said::Error { real, error_bits: 52.25, correct_digits: 0.3, judgement };
        let said = [
            Said::Nothing,
            Said::Dot(1.5f32.into()),
            Said::Dot(f80(9)),
            error(None, Judgement::Right),
            error(Some("0.30000000000000000000001"), Judgement::Wrong),
            error(Some("-1e-400"), Judgement::Unsettled),
        ];
        let (mut records, mut reals) = (Vec::new(), Vec::new());
        let mut expected = Vec::new();
        for (i, said) in said.into_iter().enumerate() {
            for (kind, value) in
                OutputKind::ALL.into_iter().zip([0.1f32.into(), (-0.1f64).into(), f80(1)].repeat(3))
            {
                let site = Site::from_bits(0xdead_0000 + i as u32);
                let o = Output { kind, label: Label(7 << 24), value, site, position: 0xfffe, said };
                encode(&o, &mut records, &mut reals);
                expected.push(o);
            }
        }
        assert_eq!(records.len(), expected.len() * RECORD);
        let decoded: Vec<_> = records.as_chunks().0.iter().map(|record| decode(record, &reals)).collect();
        assert_eq!(decoded, expected);
        assert_eq!(FORMATS.map(|f| f as u8), [0, 1, 2, 3]);
        assert_eq!(Judgement::ALL.map(|j| j as u8), [0, 1, 2]);
    }
}
