//! Reads the variable part of a SPEC from left to right: name, selectors, element type.

use super::{End, Problem, Selector, SpecError, Subscript, Variable};
use crate::format::Format;
use std::ops::RangeInclusive;

/// Element types by every name a user of the supported languages would try.
const ELEMENT_TYPES: [(&str, Format); 8] = [
    ("float", Format::F32),
    ("f32", Format::F32),
    ("double", Format::F64),
    ("f64", Format::F64),
    ("longdouble", Format::F80),
    ("long double", Format::F80),
    ("long_double", Format::F80),
    ("f80", Format::F80),
];

/// The last `wanted` of `text` that stands in no brackets: Rust's `{closure#0}` is part of a name, `[0..#2]` of a subscript.
pub(super) fn rfind_outside(text: &str, wanted: char) -> Option<usize> {
    let mut depth = 0;
    let outside = text.char_indices().filter(|&(_, c)| {
        depth += i32::from(matches!(c, '{' | '[')) - i32::from(matches!(c, '}' | ']'));
        depth == 0 && c == wanted
    });
    outside.map(|(at, _)| at).last()
}

/// The first `:` of `text` from `start` on that is not one of `::` and stands in no brackets or quotes.
pub(super) fn find_colon(text: &str, start: usize) -> Option<usize> {
    let mut depth = 0;
    let mut quoted = false;
    let mut skip = 0;
    for (at, c) in text.char_indices().filter(|(at, _)| *at >= start) {
        match c {
            _ if at < skip => {}
            '\'' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ':' if text[at..].starts_with("::") => skip = at + 2,
            ':' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

/// Types that nobody's variable is called.
const OTHER_TYPES: [&str; 8] = ["bool", "char", "short", "int", "long", "signed", "unsigned", "void"];

/// Tells whether `text` is the name of a type, of floats or not.
pub(super) fn is_type(text: &str) -> bool {
    let text = text.trim();
    ELEMENT_TYPES.iter().any(|(name, _)| *name == text) || OTHER_TYPES.contains(&text)
}

/// A position in a SPEC. Positions are byte offsets into the whole SPEC, so that errors point into what was typed.
pub(super) struct Scanner<'a> {
    spec: &'a str,
    /// The variable part ends here.
    end: usize,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Reads `spec[start..end]`.
    pub(super) fn new(spec: &'a str, start: usize, end: usize) -> Self {
        Scanner { spec, end, at: start }
    }

    /// The whole variable part.
    pub(super) fn variable(mut self) -> Result<Variable, SpecError> {
        let pointers = self.take_while(|c| c == '*').len();
        let start = self.at;
        let path = self.path()?;
        let name = self.spec[start..self.at].to_owned();
        let mut selectors = self.selectors()?;
        // As in C, where what follows a name binds tighter than what stands before it.
        selectors.extend(std::iter::repeat_n(Selector::Pointee, pointers));
        let format = self.format()?;
        self.finish()?;
        Ok(Variable { name, path, selectors, format })
    }

    /// Nothing must follow.
    pub(super) fn finish(&self) -> Result<(), SpecError> {
        if self.at < self.end { Err(self.error(Problem::Trailing)) } else { Ok(()) }
    }

    /// `:float` and its like, if there is one.
    pub(super) fn format(&mut self) -> Result<Option<Format>, SpecError> {
        if self.accept(':') { self.element_type().map(Some) } else { Ok(None) }
    }

    /// `[14]` or `[3..7]`, if there is one.
    pub(super) fn call_numbers(&mut self) -> Result<Option<RangeInclusive<u64>>, SpecError> {
        if !self.accept('[') {
            return Ok(None);
        }
        let numbers = self.numbers_from_zero()?;
        self.expect(']')?;
        Ok(Some(numbers))
    }

    /// `14` or `3..7`, the last of which is excluded.
    pub(super) fn numbers_from_zero(&mut self) -> Result<RangeInclusive<u64>, SpecError> {
        let from = self.at;
        let first: u64 = self.number().ok_or_else(|| self.error(Problem::CallNumber))?;
        let last = if self.accept_str("..=") {
            self.number().ok_or_else(|| self.error(Problem::CallNumber))?
        } else if self.accept_str("..") {
            let end: u64 = self.number().ok_or_else(|| self.error(Problem::CallNumber))?;
            end.checked_sub(1).ok_or_else(|| self.error_at(from, Problem::EmptyRange))?
        } else {
            first
        };
        if last < first { Err(self.error_at(from, Problem::EmptyRange)) } else { Ok(first..=last) }
    }

    /// Decimal digits.
    pub(super) fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.take_while(|c| c.is_ascii_digit()).parse().ok()
    }

    /// Position of the scan, in bytes from the start of the SPEC.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// `wanted`, if no further letters follow.
    pub(super) fn accept_word(&mut self, wanted: &str) -> bool {
        let rest = self.spec[self.at..self.end].strip_prefix(wanted);
        rest.is_some_and(|rest| !rest.starts_with(is_of_name)) && self.accept_str(wanted)
    }

    /// An error at a place of the SPEC.
    pub(super) fn error_at(&self, at: usize, problem: Problem) -> SpecError {
        SpecError::new(self.spec, at, problem)
    }

    fn path(&mut self) -> Result<Vec<String>, SpecError> {
        // A leading `::` is C++ for the global scope, which is where a search starts anyway.
        self.accept_str("::");
        let mut path = vec![self.component()?];
        while self.accept_str("::") {
            path.push(self.component()?);
        }
        Ok(path)
    }

    /// A name; anything between `<>` or in quotes (a source file, as debuggers write it) belongs to it.
    fn component(&mut self) -> Result<String, SpecError> {
        const ANONYMOUS: &str = "(anonymous namespace)";
        if self.accept_str(ANONYMOUS) {
            return Ok(ANONYMOUS.to_owned());
        }
        if self.accept('\'') {
            let quoted = self.take_while(|c| c != '\'').to_owned();
            return self.expect('\'').map(|()| quoted);
        }
        let start = self.at;
        let mut depth = 0;
        self.take_while(|c| {
            depth += i32::from(matches!(c, '<' | '{')) - i32::from(matches!(c, '>' | '}'));
            depth > 0 || matches!(c, '_' | '$' | '>' | '}') || c.is_alphanumeric()
        });
        if self.at == start {
            return Err(self.error(Problem::VariableName));
        }
        Ok(self.spec[start..self.at].to_owned())
    }

    /// `[i]`, `(i,j)`, `.x`, `->x`, `%x`, as many as there are.
    pub(super) fn selectors(&mut self) -> Result<Vec<Selector>, SpecError> {
        let mut selectors = Vec::new();
        loop {
            let more = if self.accept('[') {
                let subscript = self.subscript(false)?;
                self.expect(']')?;
                vec![subscript]
            } else if self.accept('(') {
                self.arguments()?
            } else if self.accept('.') || self.accept('%') || self.accept_str("->") {
                selectors.push(Selector::Member(self.member()?));
                continue;
            } else {
                return Ok(selectors);
            };
            // a[i][j] and a(i,j) are the same request; only the array knows which dimension is which.
            match selectors.last_mut() {
                Some(Selector::Index(subscripts)) => subscripts.extend(more),
                _ => selectors.push(Selector::Index(more)),
            }
        }
    }

    fn arguments(&mut self) -> Result<Vec<Subscript>, SpecError> {
        let mut subscripts = vec![self.subscript(true)?];
        while self.accept(',') {
            subscripts.push(self.subscript(true)?);
        }
        self.expect(')')?;
        Ok(subscripts)
    }

    fn member(&mut self) -> Result<String, SpecError> {
        let name = self.take_while(is_of_name);
        if name.is_empty() { Err(self.error(Problem::MemberName)) } else { Ok(name.to_owned()) }
    }

    /// `..`, `..=` or Fortran's `:`, and whether a range that has it includes its end.
    fn range_sign(&mut self, fortran: bool) -> Result<Option<bool>, SpecError> {
        if self.accept_str("..=") {
            return Ok(Some(true));
        }
        if self.accept_str("..") {
            return Ok(Some(false));
        }
        if self.peek() == Some(':') && !fortran {
            return Err(self.error(Problem::ColonRange));
        }
        Ok(self.accept(':').then_some(true))
    }

    fn subscript(&mut self, fortran: bool) -> Result<Subscript, SpecError> {
        self.blanks();
        let from = self.at;
        let start = self.index()?;
        let Some(inclusive) = self.range_sign(fortran)? else {
            return start.map(Subscript::One).ok_or_else(|| self.error(Problem::Index));
        };
        let end = self.end()?.map(|end| (end, inclusive));
        match (start, &end) {
            (Some(i), Some((End::Index(j), inclusive))) if *j < i || (*j == i && !inclusive) => {
                Err(SpecError::new(self.spec, from, Problem::EmptyRange))
            }
            _ => Ok(Subscript::Range { start, end }),
        }
    }

    /// Reads the end of a range, or nothing where it is open.
    fn end(&mut self) -> Result<Option<End>, SpecError> {
        self.blanks();
        let end = if self.accept('#') {
            let number = self.number().filter(|&number| number > 0);
            End::Argument(number.ok_or_else(|| self.error(Problem::Argument))?)
        } else if self.peek().is_some_and(|c| is_of_name(c) && !c.is_ascii_digit()) {
            End::Variable(self.take_while(is_of_name).to_owned())
        } else {
            return Ok(self.index()?.map(End::Index));
        };
        self.blanks();
        Ok(Some(end))
    }

    /// A whole number, or nothing where a range is open.
    fn index(&mut self) -> Result<Option<i64>, SpecError> {
        self.blanks();
        let start = self.at;
        self.accept('-');
        self.take_while(|c| c.is_ascii_digit());
        let digits = &self.spec[start..self.at];
        let number = digits.parse().ok();
        if number.is_none() && !digits.is_empty() {
            return Err(SpecError::new(self.spec, start, Problem::Index));
        }
        self.blanks();
        Ok(number)
    }

    fn element_type(&mut self) -> Result<Format, SpecError> {
        let written = &self.spec[self.at..self.end];
        let known = ELEMENT_TYPES.iter().find(|(name, _)| *name == written.trim());
        let (_, format) = known.ok_or_else(|| self.error(Problem::ElementType))?;
        self.at = self.end;
        Ok(*format)
    }

    fn peek(&self) -> Option<char> {
        self.spec[self.at..self.end].chars().next()
    }

    /// Steps over `wanted`, if it is next.
    pub(super) fn accept(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn accept_str(&mut self, wanted: &str) -> bool {
        let found = self.spec[self.at..self.end].starts_with(wanted);
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), SpecError> {
        if self.accept(wanted) { Ok(()) } else { Err(self.error(Problem::Unclosed(wanted))) }
    }

    fn blanks(&mut self) {
        self.take_while(|c| c == ' ');
    }

    fn take_while(&mut self, mut wanted: impl FnMut(char) -> bool) -> &'a str {
        let rest = &self.spec[self.at..self.end];
        let taken = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += taken;
        &rest[..taken]
    }

    fn error(&self, problem: Problem) -> SpecError {
        SpecError::new(self.spec, self.at, problem)
    }
}

fn is_of_name(c: char) -> bool {
    c == '_' || c == '$' || c.is_alphanumeric()
}
