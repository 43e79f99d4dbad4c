//! Text that the program has made of floats with derivatives, and parses again: what it makes of it has none, and that is a gap.
//!
//! Such text is told by its characters, so that it does not matter how it went: as a string, in a file or through a pipe. Knows
//! nothing of parsers.

use hashbrown::HashSet;
use shadowgrind_core::findings::Value;
use shadowgrind_core::text::{Float, Notation};
use std::collections::VecDeque;

/// Floats at most that are kept until somebody parses something: the last ones.
const MOST_KEPT: usize = 1 << 16;
/// Texts at most that are remembered.
const MOST_TEXTS: usize = 1 << 20;
/// Fewest digits, from the first that is not zero, of a text that is nobody else's.
const FEWEST_DIGITS: usize = 6;

/// Floats with derivatives that were written as text.
#[derive(Debug, Default)]
pub(super) struct OwnTexts {
    kept: VecDeque<(Value, Notation)>,
    texts: HashSet<String>,
}

impl OwnTexts {
    /// Notes that a float with a derivative was written.
    pub(super) fn note(&mut self, value: Value, notation: Notation) {
        if self.kept.len() == MOST_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((value, notation));
    }

    /// Tells whether nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.kept.is_empty() && self.texts.is_empty()
    }

    /// Tells whether this is the text of a number that was written.
    pub(super) fn has(&mut self, text: &str) -> bool {
        if !is_own(text) {
            return false;
        }
        for (value, notation) in self.kept.drain(..) {
            if self.texts.len() == MOST_TEXTS {
                self.texts.clear();
            }
            let written = notation.write(&Float::from(value));
            self.texts.insert(bare(&written).to_owned());
        }
        self.texts.contains(bare(text))
    }
}

/// A number's text without spaces and without the sign of a positive one.
fn bare(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('+').unwrap_or(text)
}

/// Tells whether a text is hardly that of another number: it has a point or an exponent, enough digits, and not zeros alone behind the
/// first of them.
fn is_own(text: &str) -> bool {
    let (number, exponent) = text.split_once(['e', 'E']).map_or((text, false), |(number, _)| (number, true));
    let digits: Vec<u8> =
        number.bytes().filter(u8::is_ascii_digit).skip_while(|&digit| digit == b'0').collect();
    let is_round = digits.iter().skip(1).all(|&digit| digit == b'0');
    (exponent || number.contains('.')) && digits.len() >= FEWEST_DIGITS && !is_round
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::text::Style;

    #[test]
    fn a_text_is_known_by_its_characters() {
        let mut own = OwnTexts::default();
        assert!(own.is_empty() && !own.has("1.96000000"));
        own.note(Value::from(1.96), Notation::new(Style::Fixed, Some(8)));
        own.note(Value::from(-2.5e-7), Notation::new(Style::Scientific, Some(6)));
        assert!(own.has("1.96000000") && own.has("+1.96000000") && own.has("-2.500000e-07"));
        assert!(!own.has("1.96") && !own.has("1.96000001") && !own.has("2.500000e-07"));
    }

    #[test]
    fn round_and_short_numbers_may_be_anybodys() {
        for text in ["0.000000", "1.000000", "1234567", "12.5", "0.00012", "nan"] {
            assert!(!is_own(text), "{text}");
        }
        assert!(["0.000123456", "-1.50000", "1.23456e10"].into_iter().all(is_own));
    }

    #[test]
    fn the_last_numbers_are_kept() {
        let mut own = OwnTexts::default();
        let fixed = Notation::new(Style::Fixed, Some(6));
        (0..=MOST_KEPT).for_each(|n| own.note(Value::from(n as f64 + 0.5), fixed));
        assert!(!own.has("0.500000") && own.has("1.500000") && own.has("65536.500000"));
    }
}
