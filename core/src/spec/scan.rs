//! Reads the variable part of a SPEC from left to right: name, selectors, element type.

use super::{Problem, Selector, SpecError, Subscript, Variable};
use crate::format::Format;

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

/// A position in a SPEC. Positions are byte offsets into the whole SPEC, so that errors point into what was typed.
pub(super) struct Scanner<'a> {
    spec: &'a str,
    /// The variable part ends here.
    end: usize,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// Reads the first `end` bytes of `spec`.
    pub(super) fn new(spec: &'a str, end: usize) -> Self {
        Scanner { spec, end, at: 0 }
    }

    /// The whole variable part.
    pub(super) fn variable(mut self) -> Result<Variable, SpecError> {
        let path = self.path()?;
        let name = self.spec[..self.at].to_owned();
        let selectors = self.selectors()?;
        let format = if self.accept(':') { Some(self.element_type()?) } else { None };
        if self.at < self.end {
            return Err(self.error(Problem::Trailing));
        }
        Ok(Variable { name, path, selectors, format })
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

    fn selectors(&mut self) -> Result<Vec<Selector>, SpecError> {
        let mut selectors = Vec::new();
        loop {
            let more = if self.accept('[') {
                let subscript = self.subscript(false)?;
                self.expect(']')?;
                vec![subscript]
            } else if self.accept('(') {
                self.arguments()?
            } else if self.accept('.') || self.accept('%') {
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
        let name = self.take_while(|c| c == '_' || c == '$' || c.is_alphanumeric());
        if name.is_empty() { Err(self.error(Problem::MemberName)) } else { Ok(name.to_owned()) }
    }

    fn subscript(&mut self, fortran: bool) -> Result<Subscript, SpecError> {
        self.blanks();
        let from = self.at;
        let start = self.index()?;
        let inclusive = if self.accept_str("..=") {
            true
        } else if self.accept_str("..") {
            false
        } else if self.peek() == Some(':') {
            if !fortran {
                return Err(self.error(Problem::ColonRange));
            }
            self.accept(':')
        } else {
            return start.map(Subscript::One).ok_or_else(|| self.error(Problem::Index));
        };
        let end = self.index()?.map(|end| (end, inclusive));
        match (start, end) {
            (Some(i), Some((j, inclusive))) if j < i || (j == i && !inclusive) => {
                Err(SpecError::new(self.spec, from, Problem::EmptyRange))
            }
            _ => Ok(Subscript::Range { start, end }),
        }
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

    fn accept(&mut self, wanted: char) -> bool {
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
