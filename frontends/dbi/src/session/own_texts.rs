//! Text that the program has made of floats with shadows, and reads again.
//!
//! Where a known function parses it, what it makes of it has the shadow of the float, if there is no doubt which one that was, and it is a
//! gap otherwise (see [`super::read_back`]). Such text is told by its characters, so that it does not matter how it went: as a
//! string, in a file or through a pipe; by its digits where nobody knows in which notation it was written. Where the program may read it by code of its own, nobody sees that: text which it
//! has not written anywhere was made for somebody, and is counted. Knows nothing of parsers.

use super::standing::standing;
use super::texts::number;
use hashbrown::{HashMap, HashSet};
use shadowgrind_core::findings::{Output, Outputs, Unwritten, Value, WrittenTexts};
use shadowgrind_core::spec::Stream;
use shadowgrind_core::text::{Float, Notation, Style};
use std::cell::LazyCell;
use std::collections::VecDeque;

/// Floats at most that are kept until somebody parses something: the last ones.
const MOST_KEPT: usize = 1 << 16;
/// Texts at most that are remembered.
const MOST_TEXTS: usize = 1 << 20;
/// Fewest digits, from the first that is not zero, of a text that is nobody else's.
const FEWEST_DIGITS: usize = 6;
/// Digits with which those that a number is cut off after may be told from those that it is rounded to.
const ALL_DIGITS: usize = 40;
/// Floats at most with the same first digits that are known by them: the last ones.
const MOST_ALIKE: usize = 64;
/// Floats, the first, of which it is found out whether their text was written.
const MOST_SOUGHT: usize = 1 << 12;
/// Bytes that the program writes among which their texts are sought.
const MOST_WRITTEN: usize = 1 << 20;

/// Floats with shadows that were written as text.
#[derive(Debug, Default)]
pub(super) struct OwnTexts {
    kept: VecDeque<(Value, Option<Notation>)>,
    texts: HashSet<String>,
    /// Floats written in notations that are not known, by the first [`FEWEST_DIGITS`] digits that their texts may have.
    by_digits: HashMap<Vec<u8>, Vec<Value>>,
    /// The outputs whose texts are sought in what is written, in ascending order.
    sought: Vec<u64>,
    /// Outputs without a shadow, the first, in ascending order: whether their texts were written is found out as well.
    shadowless: Vec<u64>,
    written: WrittenTexts,
    written_bytes: usize,
}

impl OwnTexts {
    /// Notes that a float with a shadow, `output` in the report, was made into text.
    pub(super) fn note(&mut self, output: u64, value: Value, notation: Notation) {
        if self.sought.len() < MOST_SOUGHT {
            self.sought.push(output);
        }
        self.keep(value, Some(notation));
    }

    /// Notes that a float with a shadow was made into text in a notation that is not known.
    pub(super) fn note_digits(&mut self, value: Value) {
        self.keep(value, None);
    }

    fn keep(&mut self, value: Value, notation: Option<Notation>) {
        if self.kept.len() == MOST_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((value, notation));
    }

    /// Notes that a float without a shadow, `output` in the report, was made into text in a notation that is known.
    pub(super) fn note_shadowless(&mut self, output: u64) {
        if self.shadowless.len() < MOST_SOUGHT {
            self.shadowless.push(output);
        }
    }

    /// Tells whether what the program writes is of use here.
    pub(super) fn seeks(&self) -> bool {
        let any = !(self.sought.is_empty() && self.shadowless.is_empty());
        any && self.written_bytes < MOST_WRITTEN
    }

    /// Notes that the program has written these bytes to `stream`.
    pub(super) fn wrote(&mut self, stream: &Stream, bytes: &[u8]) {
        if self.seeks() {
            self.written_bytes += bytes.len();
            self.written.append(stream.clone(), bytes);
        }
    }

    /// Notes that the program has read the text of this output back, and that its shadow was not lost.
    pub(super) fn was_read(&mut self, output: u64) {
        if let Ok(place) = self.sought.binary_search(&output) {
            self.sought.remove(place);
        }
    }

    /// Forgets the outputs: those that come are a child's own.
    pub(super) fn forked(&mut self) {
        self.sought.clear();
        self.shadowless.clear();
        (self.written, self.written_bytes) = (WrittenTexts::default(), 0);
    }

    /// The outputs whose text the program has not written, counted by place. If it has written more than is looked through, those are
    /// meant that come before the last one that was found.
    pub(super) fn unwritten(&self, outputs: &Outputs) -> Vec<Unwritten> {
        let Some(&last) = self.sought.last() else { return Vec::new() };
        let sought = || {
            let all = outputs.iter().take_while(|(index, _)| *index <= last);
            all.filter(|(index, _)| self.sought.binary_search(index).is_ok())
        };
        let placed: Vec<u64> = standing(self.written.all(), sought()).into_iter().map(|(n, _)| n).collect();
        let is_cut = self.written_bytes >= MOST_WRITTEN;
        let end = if is_cut { placed.last().copied().unwrap_or(0) } else { u64::MAX };
        let at_least = is_cut || self.sought.len() == MOST_SOUGHT;
        // A number right behind a letter is part of a word to whoever reads it.
        let within = LazyCell::new(|| -> HashSet<&[u8]> {
            let texts = self.written.all().iter().map(|text| &text.bytes);
            texts.flat_map(|bytes| numbers(bytes)).map(|(number, _)| number).collect()
        });
        let is_within = |output: &Output<'_>| {
            let is_within = |text: &str| within.contains(bare(text).trim_start_matches('-').as_bytes());
            output.printed().is_some_and(|printed| is_within(&printed))
        };
        let mut unwritten: Vec<Unwritten> = Vec::new();
        for (index, output) in sought().take_while(|(index, _)| *index < end) {
            if placed.binary_search(&index).is_ok() || is_within(&output) {
                continue;
            }
            match unwritten.iter_mut().find(|unwritten| unwritten.site == output.site) {
                Some(unwritten) => unwritten.count += 1,
                None => unwritten.push(Unwritten { count: 1, at_least, site: output.site }),
            }
        }
        unwritten
    }

    /// The outputs without a shadow whose text the program has made for itself: it has written no such number, in whatever notation.
    /// None if it has written more than is looked through.
    pub(super) fn never_written(&self, outputs: &Outputs) -> Vec<u64> {
        if self.shadowless.is_empty() || self.written_bytes >= MOST_WRITTEN || self.written.is_cut() {
            return Vec::new();
        }
        let texts = self.written.all().iter().map(|text| &text.bytes);
        let written: HashSet<u64> = texts.flat_map(|bytes| sizes(bytes)).collect();
        let is_unwritten = |output: &Output<'_>| size(output).is_some_and(|size| !written.contains(&size));
        let sought = outputs.iter().filter(|(index, _)| self.shadowless.binary_search(index).is_ok());
        sought.filter(|(_, output)| is_unwritten(output)).map(|(index, _)| index).collect()
    }

    /// Tells whether nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.texts.is_empty() && self.by_digits.is_empty()
    }

    /// Tells whether this is the text of a number that was written.
    pub(super) fn has(&mut self, text: &str) -> bool {
        if !is_own(text) {
            return false;
        }
        for (value, notation) in std::mem::take(&mut self.kept) {
            match notation {
                Some(notation) => self.know_text(&notation.write(&Float::from(value))),
                None => self.know_digits(value),
            }
        }
        self.texts.contains(bare(text)) || self.has_digits(&significant_digits(text))
    }

    fn know_text(&mut self, written: &str) {
        if self.texts.len() == MOST_TEXTS {
            self.texts.clear();
        }
        self.texts.insert(bare(written).to_owned());
    }

    fn know_digits(&mut self, value: Value) {
        // A longer text begins with these, or goes on from what they are if cut off.
        let firsts = [FEWEST_DIGITS, ALL_DIGITS].map(|count| written_digits(value, count));
        for mut first in firsts.into_iter().flatten() {
            first.truncate(FEWEST_DIGITS);
            if self.by_digits.len() == MOST_TEXTS {
                self.by_digits.clear();
            }
            let values = self.by_digits.entry(first).or_default();
            if !values.contains(&value) {
                values.truncate(MOST_ALIKE - 1);
                values.insert(0, value);
            }
        }
    }

    /// Tells whether these are the digits of a number that was written in a notation that is not known.
    fn has_digits(&self, digits: &[u8]) -> bool {
        let known = digits.get(..FEWEST_DIGITS).and_then(|first| self.by_digits.get(first));
        known
            .into_iter()
            .flatten()
            .any(|&value| written_digits(value, digits.len()).as_deref() == Some(digits))
    }
}

/// Bits of the magnitude of a number as its text has it; nothing if that is no decimal number, nor infinite.
fn size(output: &Output<'_>) -> Option<u64> {
    let value: f64 = output.printed()?.trim().parse().ok()?;
    (!value.is_nan()).then(|| value.abs().to_bits())
}

/// Bits of all magnitudes that a text has, be it within words; the decimal point may be a comma.
fn sizes(text: &[u8]) -> Vec<u64> {
    let is_infinite = text.windows(3).any(|word| word.eq_ignore_ascii_case(b"inf"));
    let infinite = is_infinite.then_some(f64::INFINITY.to_bits());
    let of = |text: &[u8]| -> Vec<u64> { numbers(text).map(|(_, value)| value.to_bits()).collect() };
    let pointed: Vec<u8> = text.iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect();
    of(text).into_iter().chain(of(&pointed)).chain(infinite).collect()
}

/// Numbers without their signs, and their values, wherever they begin in a text, be it within words.
fn numbers(text: &[u8]) -> impl Iterator<Item = (&[u8], f64)> {
    let is_part = |at: usize| text[at].is_ascii_digit() || text[at] == b'.';
    let starts = (0..text.len()).filter(move |&at| is_part(at) && (at == 0 || !is_part(at - 1)));
    starts.filter_map(|at| {
        let (length, value) = number(&text[at..])?;
        Some((&text[at..at + length], value))
    })
}

/// The first `count` digits of a number from the first that is not zero, rounded; nothing if it is zero or has none.
fn written_digits(value: Value, count: usize) -> Option<Vec<u8>> {
    let precision = u32::try_from(count).ok()?.checked_sub(1);
    let written = Notation::new(Style::Scientific, precision).write(&Float::from(value));
    let digits = significant_digits(&written);
    (digits.len() == count).then_some(digits)
}

/// The digits of a number's text before its exponent, from the first that is not zero.
fn significant_digits(text: &str) -> Vec<u8> {
    let number = text.split(['e', 'E']).next().unwrap_or(text);
    number.bytes().filter(u8::is_ascii_digit).skip_while(|&digit| digit == b'0').collect()
}

/// A number's text without spaces and without the sign of a positive one.
pub(super) fn bare(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('+').unwrap_or(text)
}

/// Tells whether a text is hardly that of another number: it has a point or an exponent, enough digits, and not zeros alone behind the
/// first of them.
fn is_own(text: &str) -> bool {
    let digits = significant_digits(text);
    let is_round = digits.iter().skip(1).all(|&digit| digit == b'0');
    text.contains(['.', 'e', 'E']) && digits.len() >= FEWEST_DIGITS && !is_round
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::findings::{Label, OutputKind, OutputShadow};
    use shadowgrind_core::site::Site;
    use shadowgrind_core::text::Style;

    #[test]
    fn a_text_is_known_by_its_characters() {
        let mut own = OwnTexts::default();
        assert!(own.is_empty() && !own.has("1.96000000"));
        own.note(0, Value::from(1.96), Notation::new(Style::Fixed, Some(8)));
        own.note(1, Value::from(-2.5e-7), Notation::new(Style::Scientific, Some(6)));
        assert!(own.has("1.96000000") && own.has("+1.96000000") && own.has("-2.500000e-07"));
        assert!(!own.has("1.96") && !own.has("1.96000001") && !own.has("2.500000e-07"));
    }

    /// In a notation that is not known, the point may be anywhere.
    #[test]
    fn a_text_is_known_by_its_digits() {
        let mut own = OwnTexts::default();
        own.note_digits(Value::from(-1.2345649999e-7));
        own.note_digits(Value::from(9.999_999_2));
        own.note_digits(Value::from(0.0));
        for text in ["0.12345650e-6", "-1.2345649999e-7", "1.23456e-7", "9.9999992", "9.999999"] {
            assert!(own.has(text), "{text}");
        }
        for text in ["1.23457e-7", "1.2345648999e-7", "10.00000e0", "0.000000"] {
            assert!(!own.has(text), "{text}");
        }
    }

    #[test]
    fn round_and_short_numbers_may_be_anybodys() {
        for text in ["0.000000", "1.000000", "1234567", "12.5", "0.00012", "nan"] {
            assert!(!is_own(text), "{text}");
        }
        assert!(["0.000123456", "-1.50000", "1.23456e10"].into_iter().all(is_own));
    }

    /// Of three numbers two are written, one behind a text of its own; of more than are sought only the first are known.
    #[test]
    fn what_is_written_nowhere_is_counted() {
        let mut own = OwnTexts::default();
        let mut outputs = Outputs::new();
        let notation = Notation::new(Style::Fixed, Some(3));
        let mut print = |own: &mut OwnTexts, value: f64| {
            let (value, kind, label) = (Value::from(value), OutputKind::Printf, Label::NONE);
            let (site, said, notation) = (Site::NONE, OutputShadow::Nothing, Some(notation));
            own.note(outputs.len(), value, notation.unwrap());
            outputs.push(&Output { kind, label, value, site, position: 0, said, notation });
            outputs.len()
        };
        for value in [0.5, 2.25, -7.125] {
            print(&mut own, value);
        }
        own.wrote(&Stream::Stdout, b"x=0.500 and -7.1");
        own.wrote(&Stream::Stdout, b"25\n");
        let unwritten = |count, at_least| [Unwritten { count, at_least, site: Site::NONE }];
        while print(&mut own, 1.0) < MOST_SOUGHT as u64 + 10 {}
        assert_eq!(own.unwritten(&outputs), unwritten(MOST_SOUGHT as u64 - 2, true));
        own.sought.truncate(3);
        assert_eq!(own.unwritten(&outputs), unwritten(1, false));
        own.wrote(&Stream::Stdout, b"v2.250\n");
        assert_eq!(own.unwritten(&outputs), []);
        own.forked();
        assert_eq!(own.unwritten(&outputs), []);
    }

    /// A number is written however it looks there; one that is none may have any look.
    #[test]
    fn what_has_no_shadow_and_is_written_nowhere_is_known() {
        let mut own = OwnTexts::default();
        let mut outputs = Outputs::new();
        for value in [0.5, 1e-3, 2.25, -7.125, f64::INFINITY, 40.0, f64::NAN] {
            let (value, kind, label) = (Value::from(value), OutputKind::Printf, Label::NONE);
            let (site, said, notation) =
                (Site::NONE, OutputShadow::Nothing, Some(Notation::new(Style::General, None)));
            own.note_shadowless(outputs.len());
            outputs.push(&Output { kind, label, value, site, position: 0, said, notation });
        }
        assert!(own.seeks());
        assert_eq!(own.never_written(&outputs), [0, 1, 2, 3, 4, 5]);
        own.wrote(&Stream::Stdout, b"x0.50, 0.001");
        own.wrote(&Stream::Stderr, b"f(7,125) = -Infinity");
        assert_eq!(own.never_written(&outputs), [2, 5]);
        own.wrote(&Stream::Stdout, &[b' '; MOST_WRITTEN]);
        assert!(own.never_written(&outputs).is_empty());
        own.forked();
        assert!(!own.seeks());
    }

    #[test]
    fn the_last_numbers_are_kept() {
        let mut own = OwnTexts::default();
        let fixed = Notation::new(Style::Fixed, Some(6));
        (0..=MOST_KEPT).for_each(|n| own.note(n as u64, Value::from(n as f64 + 0.5), fixed));
        assert!(!own.has("0.500000") && own.has("1.500000") && own.has("65536.500000"));
    }
}
