//! The numbers of a text: where each stands, by line and by its number in the line.
//!
//! A number begins with a digit, a point or a sign where a word might begin; words are no numbers, though digits may
//! stand in them. What follows a number without a space (`10k`, `3.5mm`) is not a part of it.

use shadowgrind_core::text::Decimal;

/// Number in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Token {
    /// Offset of its first byte.
    pub(crate) start: usize,
    /// Offset past its last byte.
    pub(crate) end: usize,
    /// The line, from 1.
    pub(crate) line: u32,
    /// The number among those of the line, from 1.
    pub(crate) number: u32,
    /// The value.
    pub(crate) value: f64,
    /// True if it has neither point nor exponent.
    pub(crate) is_integer: bool,
}

/// Length of the number that `text` begins with, and its value; nothing if it begins with none.
pub(crate) fn number(text: &[u8]) -> Option<(usize, f64)> {
    Decimal::at_start(text).map(|decimal| (decimal.length(), decimal.value()))
}

/// Tells whether a number may begin after this byte.
fn separates(byte: u8) -> bool {
    !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || byte >= 0x80)
}

/// Scans a text as it grows.
#[derive(Debug)]
pub(crate) struct Scan {
    /// The numbers of the lines that are complete, and of the last as it is so far.
    pub(crate) tokens: Vec<Token>,
    /// Offset of the first line that was not complete, its number, and the tokens before it.
    line_start: usize,
    line: u32,
    complete: usize,
    /// Bytes of the text that have been scanned.
    scanned: usize,
}

impl Default for Scan {
    fn default() -> Self {
        Scan { tokens: Vec::new(), line_start: 0, line: 1, complete: 0, scanned: 0 }
    }
}

impl Scan {
    /// The numbers of `text`.
    pub(crate) fn of(text: &[u8]) -> Scan {
        let mut scan = Scan::default();
        scan.extend(text);
        scan
    }

    /// Bytes of the text that have been scanned.
    pub(crate) fn scanned(&self) -> usize {
        self.scanned
    }

    /// Number of tokens in complete lines.
    pub(crate) fn complete(&self) -> usize {
        self.complete
    }

    /// Scans `text`, of which all complete lines that have been scanned before are the same.
    pub(crate) fn extend(&mut self, text: &[u8]) {
        self.tokens.truncate(self.complete);
        self.scanned = text.len();
        let mut at = self.line_start;
        let mut number_of_line = 0;
        while at < text.len() {
            if text[at] == b'\n' {
                at += 1;
                (self.line_start, self.line, self.complete) = (at, self.line + 1, self.tokens.len());
                number_of_line = 0;
                continue;
            }
            let begins = at == 0 || separates(text[at - 1]);
            let found = if begins { Decimal::at_start(&text[at..]) } else { None };
            let Some(decimal) = found else {
                at += 1;
                continue;
            };
            number_of_line += 1;
            let (value, is_integer) = (decimal.value(), decimal.is_integer());
            let (start, end, line, number) = (at, at + decimal.length(), self.line, number_of_line);
            self.tokens.push(Token { start, end, line, number, value, is_integer });
            at = end;
        }
    }
}

/// The numbers of `text`, among them the words that a program writes for infinities and NaN (`inf`, `-nan`, `Infinity`).
pub(crate) fn written_numbers(text: &[u8]) -> Vec<Token> {
    let mut tokens = Scan::of(text).tokens;
    let lines = text.split_inclusive(|&byte| byte == b'\n').scan(0, |end, line| {
        let start = *end;
        *end += line.len();
        Some((start, line))
    });
    let words = (1..).zip(lines).flat_map(|(number, (start, line))| not_finite(line, start, number));
    let finite = tokens.len();
    tokens.extend(words);
    if tokens.len() == finite {
        return tokens;
    }
    tokens.sort_by_key(|token| token.start);
    let mut before = (0, 0);
    for token in &mut tokens {
        token.number = if token.line == before.0 { before.1 + 1 } else { 1 };
        before = (token.line, token.number);
    }
    tokens
}

/// Words for infinities and NaN in `line`, which is that `number` of its text and begins there at offset `start`. Their place among
/// the line's numbers is left open.
fn not_finite(line: &[u8], start: usize, number: u32) -> impl Iterator<Item = Token> + '_ {
    let is_part = |byte: u8| !separates(byte);
    let begins = move |&at: &usize| is_part(line[at]) && (at == 0 || !is_part(line[at - 1]));
    (0..line.len()).filter(begins).filter_map(move |at| {
        let word = &line[at..];
        let word = &word[..word.iter().position(|&byte| !is_part(byte)).unwrap_or(word.len())];
        let signed = usize::from(at > 0 && b"+-".contains(&line[at - 1]));
        let text = std::str::from_utf8(&line[at - signed..at + word.len()]).ok()?;
        let value = text.parse().ok().filter(|value: &f64| !value.is_finite())?;
        let is_word = word[0].is_ascii_alphabetic();
        let (from, end) = (start + at - signed, start + at + word.len());
        is_word.then_some(Token { start: from, end, line: number, number: 0, value, is_integer: false })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_what_is_not_finite_count_among_the_numbers() {
        let tokens = written_numbers(b"a=1 -inf nano 2\ninfo\nNaN +Infinity;3 x_inf inf\n");
        let found: Vec<_> = tokens.iter().map(|token| (token.line, token.number, token.start)).collect();
        assert_eq!(found, [(1, 1, 2), (1, 2, 4), (1, 3, 14), (3, 1, 21), (3, 2, 25), (3, 3, 35), (3, 4, 43)]);
        assert!(tokens[1].value == f64::NEG_INFINITY && tokens[3].value.is_nan());
        assert_eq!(tokens[4].value, f64::INFINITY);
    }

    fn found(text: &str) -> Vec<(u32, u32, f64)> {
        Scan::of(text.as_bytes()).tokens.iter().map(|token| (token.line, token.number, token.value)).collect()
    }

    #[test]
    fn numbers_by_line() {
        assert_eq!(
            found("# 2 columns\nx1 = 1.5, -2e3\n\n.5 10k 3D0"),
            [(1, 1, 2.0), (2, 1, 1.5), (2, 2, -2000.0), (4, 1, 0.5), (4, 2, 10.0), (4, 3, 3.0)]
        );
        let values: Vec<f64> =
            found("-1 1-2 e5 v2.0 (3,4) +7. - .").into_iter().map(|token| token.2).collect();
        assert_eq!(values, [-1.0, 1.0, 2.0, 3.0, 4.0, 7.0]);
    }

    #[test]
    fn a_text_that_grows_is_scanned_as_if_at_once() {
        let text = "1 2\n34.5 6e2 7\n89";
        for cut in 0..text.len() {
            let mut scan = Scan::default();
            scan.extend(&text.as_bytes()[..cut]);
            scan.extend(text.as_bytes());
            let seen: Vec<_> = scan.tokens.iter().map(|t| (t.line, t.number, t.value)).collect();
            assert_eq!(seen, found(text), "cut at {cut}");
        }
    }
}
