//! Places of printed floats in the texts that a program has written.
//!
//! Both are gone through in order: the floats as they were formatted, and the numbers of each text. A number is taken by one
//! float; what was formatted early and written late is found among the numbers that were passed over. Of several that it may be,
//! a float is one that the next float follows: others are echoes of what the program has read. Knows nothing of SPECs.

use super::texts::{Token, written_numbers};
use shadowgrind_core::findings::{Output, PrintedAt, WrittenText};

/// Numbers of a text that are looked through for a float, in each direction: others are integers, or parts of words.
const REACH: usize = 4096;
/// Numbers behind a float among which the next one is expected.
const NEAR: usize = 4;

/// Tells whether a token is some float, given the text up to the token's end.
type Is<'a> = &'a dyn Fn(&Token, &[u8]) -> bool;

/// A text with the numbers that no float has taken yet.
struct Numbers<'a> {
    bytes: &'a [u8],
    tokens: Vec<Token>,
    taken: Vec<bool>,
    /// Number of the first token behind all that are taken.
    next: usize,
}

impl<'a> Numbers<'a> {
    /// All numbers of a text.
    fn of(text: &'a WrittenText) -> Numbers<'a> {
        let tokens = written_numbers(&text.bytes);
        Numbers { bytes: &text.bytes, taken: vec![false; tokens.len()], tokens, next: 0 }
    }
}

impl Numbers<'_> {
    /// Tells whether token `n` is free and the float.
    fn fits(&self, n: usize, is: Is<'_>) -> bool {
        let token = &self.tokens[n];
        !self.taken[n] && is(token, &self.bytes[..token.end])
    }

    /// The token that `is` the float, and its distance: on the line of the last one taken the first behind that, or else the last
    /// before it; then on other lines likewise, there rather one that the next float, if that `is_next`, follows with no other between.
    fn find(&self, is: Is<'_>, is_next: Option<Is<'_>>) -> Option<(usize, usize)> {
        let line = self.next.checked_sub(1).map(|last| self.tokens[last].line);
        let fits = |n: usize| self.fits(n, is);
        let leads = |n: usize| {
            let mut near = n + 1..self.tokens.len().min(n + 1 + NEAR);
            let next = is_next.and_then(|is_next| near.find(|&n| self.fits(n, is_next)));
            next.is_some_and(|next| !(n + 1..next).any(fits))
        };
        let on_line = |n: &usize| Some(self.tokens[*n].line) == line;
        let ahead = || self.next..self.tokens.len().min(self.next + REACH);
        let behind = || (self.next.saturating_sub(REACH)..self.next).rev();
        let found = ahead()
            .take_while(on_line)
            .find(|&n| fits(n))
            .or_else(|| behind().take_while(on_line).find(|&n| fits(n)))
            .or_else(|| ahead().find(|&n| fits(n) && leads(n)))
            .or_else(|| ahead().find(|&n| fits(n)))
            .or_else(|| behind().find(|&n| fits(n)))?;
        Some((found.abs_diff(self.next), found))
    }

    fn take(&mut self, token: usize) {
        self.taken[token] = true;
        self.next = self.next.max(token + 1);
    }
}

/// Places of printed floats in the texts, in ascending order of the floats.
pub(super) fn standing<'a>(
    texts: &[WrittenText],
    printed: impl Iterator<Item = (u64, Output<'a>)>,
) -> Vec<(u64, PrintedAt)> {
    if texts.is_empty() {
        // Nobody asked for them, and to write down each float again takes its time.
        return Vec::new();
    }
    let mut texts: Vec<Numbers<'_>> = texts.iter().map(Numbers::of).collect();
    let mut found = Vec::new();
    // Where the text of a float is not known but by its value, it may be any that is near: those that are known come first.
    let (known, near): (Vec<_>, Vec<_>) = printed.partition(|(_, output)| output.notation.is_some());
    for floats in [known, near] {
        texts.iter_mut().for_each(|text| text.next = 0);
        for (n, (index, output)) in floats.iter().enumerate() {
            let next = floats.get(n + 1).map(|(_, output)| output);
            found.extend(take(&mut texts, output, next).map(|at| (*index, at)));
        }
    }
    found.sort_by_key(|(index, _)| *index);
    found
}

/// Place of a float among the numbers of all texts, which it takes. `next` is the float that was printed after it.
fn take(texts: &mut [Numbers<'_>], output: &Output<'_>, next: Option<&Output<'_>>) -> Option<PrintedAt> {
    let (is, is_next) = (text_of(output), next.map(text_of));
    let is_next = is_next.as_ref().map(|is_next| is_next as Is<'_>);
    let places = texts.iter().enumerate().filter_map(|(number, text)| {
        let (distance, token) = text.find(&is, is_next)?;
        Some((distance, number, token))
    });
    let (_, number, token) = places.min()?;
    texts[number].take(token);
    Some(printed_at(number, texts[number].bytes, &texts[number].tokens, token))
}

/// Tells whether a token, given the text up to its end, is this float.
fn text_of(output: &Output<'_>) -> impl Fn(&Token, &[u8]) -> bool {
    let value = output.value.to_f64();
    let exact = output.printed();
    move |token, text| {
        let (before, written) = text.split_at(token.start);
        match &exact {
            Some(exact) => is_written(exact.trim().as_bytes(), before, written),
            // A float that is written without a point is so by C's `%g`, whose notation is known.
            None => !token.is_integer && is_text_of(written, token.value, value),
        }
    }
}

/// Tells whether `exact` is `written`. A sign right behind another number, as in the parts of a complex one, is no part of the token
/// but stands `before` it.
fn is_written(exact: &[u8], before: &[u8], written: &[u8]) -> bool {
    let behind_sign = || {
        exact.split_first().is_some_and(|(sign, rest)| {
            b"+-".contains(sign) && before.last() == Some(sign) && rest == written
        })
    };
    exact == written || behind_sign()
}

/// Place of number `n` of the `tokens` of text `text`, which is `bytes`.
fn printed_at(text: usize, bytes: &[u8], tokens: &[Token], n: usize) -> PrintedAt {
    let token = &tokens[n];
    let line_start = bytes[..token.start].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let end_before = n.checked_sub(1).map_or(0, |before| tokens[before].end).max(line_start);
    // Of texts less than 4 GiB is kept.
    let [text, column, start, end, apart] =
        [text, token.start - line_start + 1, token.start, token.end, token.start - end_before]
            .map(|n| n as u32);
    PrintedAt { text, line: token.line, number: token.number, column, start, end, apart }
}

/// Tells whether `written`, which has the value `read`, may be the text of `value`: they differ by less than one unit of
/// the last digit written, or both are the same infinity, or NaN.
fn is_text_of(written: &[u8], read: f64, value: f64) -> bool {
    if !read.is_finite() || !value.is_finite() {
        return read == value || read.is_nan() && value.is_nan();
    }
    let (mantissa, exponent) = match written.iter().position(|byte| byte.is_ascii_alphabetic()) {
        Some(sign) => (&written[..sign], std::str::from_utf8(&written[sign + 1..]).unwrap_or_default()),
        None => (written, ""),
    };
    let decimals = mantissa.iter().rev().position(|&byte| byte == b'.').unwrap_or(0);
    let unit = 10f64.powi(exponent.parse::<i32>().unwrap_or(0) - decimals as i32);
    (read - value).abs() <= unit + 1e-15 * value.abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::findings::{Label, OutputKind, OutputShadow, WrittenTexts};
    use shadowgrind_core::site::Site;
    use shadowgrind_core::spec::Stream;

    #[test]
    fn signs_of_complex_parts_stand_before_them() {
        assert!(is_written(b"-1.5", b"0.75-", b"1.5") && is_written(b"1.5", b"", b"1.5"));
        assert!(!is_written(b"-1.5", b"0.75+", b"1.5") && !is_written(b"1.5", b"0.", b"25"));
    }

    #[test]
    fn texts_of_a_float() {
        for (written, value) in [("0.33", 1.0 / 3.0), ("1.5e+03", 1540.0), ("2", 2.25), ("-0.125", -0.125)] {
            assert!(is_text_of(written.as_bytes(), written.parse().unwrap(), value), "{written}");
        }
        assert!(!is_text_of(b"0.35", 0.35, 1.0 / 3.0));
        assert!(!is_text_of(b"0.7", 0.7, f64::INFINITY));
        assert!(!is_text_of(b"inf", f64::INFINITY, 0.7) && is_text_of(b"nan", f64::NAN, -f64::NAN));
    }

    /// Places of these floats of which nothing is known but their values: line and column.
    fn places(text: &[u8], values: &[f64]) -> Vec<(u64, u32, u32)> {
        let mut texts = WrittenTexts::default();
        texts.append(Stream::Stdout, text);
        let (kind, label, site) = (OutputKind::Python, Label::NONE, Site::NONE);
        let output = |&value: &f64| Output {
            kind,
            label,
            value: value.into(),
            site,
            position: 0,
            said: OutputShadow::Nothing,
            notation: None,
        };
        let found = standing(texts.all(), (0..).zip(values.iter().map(output)));
        found.iter().map(|(index, at)| (*index, at.line, at.column)).collect()
    }

    #[test]
    fn a_label_is_what_stands_between_two_numbers() {
        let mut texts = WrittenTexts::default();
        texts.append(Stream::Stdout, b"1 step\na =  3.0 =>  CL =  0.5 (0.25)\n");
        let tokens = written_numbers(&texts.all()[0].bytes);
        let label = |n| texts.label(printed_at(0, &texts.all()[0].bytes, &tokens, n));
        let labels: Vec<Option<String>> = (0..tokens.len()).map(label).collect();
        assert_eq!(labels, [None, Some("a =".to_owned()), Some("CL =".to_owned()), None]);
    }

    /// Formatted in another order than written, and once not written at all.
    #[test]
    fn floats_formatted_early_are_found() {
        let found = places(b"1.5 2.5\n3.5 1.5\n", &[2.5, 1.5, 7.5, 3.5, 1.5]);
        assert_eq!(found, [(0, 1, 5), (1, 1, 1), (3, 2, 1), (4, 2, 5)]);
    }

    /// The program says what it was told before it prints the number.
    #[test]
    fn echoes_are_no_outputs() {
        let found = places(b"create 1.44 87287\nstep temp energy\n0 1.44 0 -6.5\n", &[1.44, -6.5]);
        assert_eq!(found, [(0, 3, 3), (1, 3, 10)]);
        let found = places(b"asked for 4.5\nenergy 4.5 of 8.5\n", &[4.5, 8.5]);
        assert_eq!(found, [(0, 2, 8), (1, 2, 15)]);
    }
}
