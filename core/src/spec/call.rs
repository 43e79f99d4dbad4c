//! The part of a SPEC that names a value at a function's boundary: `f#2`, `f#*3[0..100]`, `f#ret[14]`, `f#ret~2.1e5`.

use super::scan::{Scanner, rfind_outside};
use super::{Problem, SpecError, Target};
use crate::format::Format;
use std::ops::RangeInclusive;

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// Qualified or not, or its raw symbol.
    Named(String),
    /// `module+0x1234`: by its place in a file, as reports print it.
    At {
        /// The file's name, or the end of its path.
        module: String,
        /// Bytes from the start of the file's addresses: what `nm` would show.
        offset: u64,
    },
}

/// A value at a function's boundary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// `#2`: the second floating-point argument, from 1.
    Argument(u32),
    /// `#*2`: what the second argument, from 1, points to.
    Pointee(u32),
    /// `#ret`: the result.
    Result,
}

/// Some of the calls of a function, or of the numbers that are parsed.
#[derive(Clone, Debug, PartialEq)]
pub enum Calls {
    /// Each.
    All,
    /// `[14]`, `[3..7]`: by their order, from 0.
    Numbers(RangeInclusive<u64>),
    /// `~2.1e5`: those of this value.
    Alike {
        /// As it was written.
        text: String,
        /// The value.
        value: f64,
    },
}

impl Calls {
    /// Tells whether it is one call that is meant.
    pub fn is_one(&self) -> bool {
        matches!(self, Calls::Numbers(numbers) if numbers.start() == numbers.end())
    }
}

/// The function that `spec[from..to]` names.
pub(super) fn callee(spec: &str, from: usize, to: usize) -> Result<Callee, SpecError> {
    let name = spec[from..to].trim();
    if name.is_empty() {
        return Err(SpecError::new(spec, from, Problem::FunctionName));
    }
    let Some((module, digits)) = name.rsplit_once("+0x") else { return Ok(Callee::Named(name.to_owned())) };
    match u64::from_str_radix(digits, 16) {
        Ok(offset) if !module.is_empty() => Ok(Callee::At { module: module.to_owned(), offset }),
        _ => Err(SpecError::new(spec, to - digits.len(), Problem::Offset)),
    }
}

/// Parses the text after the `#` at `sign`: the value and the calls.
pub(super) fn target(spec: &str, sign: usize) -> Result<Target, SpecError> {
    let function = callee(spec, 0, sign)?;
    let start = sign + 1;
    let end = rfind_outside(&spec[start..], '~').map_or(spec.len(), |at| start + at);
    let mut scanner = Scanner::new(spec, start, end);
    let slot = slot(&mut scanner)?;
    let (mut selectors, mut calls) = (Vec::new(), Calls::All);
    if matches!(slot, Slot::Pointee(_)) {
        selectors = scanner.selectors()?;
    } else if let Some(numbers) = scanner.call_numbers()? {
        calls = Calls::Numbers(numbers);
    }
    let format: Option<Format> = scanner.format()?;
    scanner.finish()?;
    if end < spec.len() {
        if calls != Calls::All {
            return Err(SpecError::new(spec, end, Problem::Trailing));
        }
        calls = alike(spec, end + 1)?;
    }
    Ok(Target::Call { function, slot, selectors, format, calls })
}

/// The value from `start` on.
pub(super) fn alike(spec: &str, start: usize) -> Result<Calls, SpecError> {
    let text = spec[start..].trim();
    let value = text.parse().map_err(|_| SpecError::new(spec, start, Problem::Value))?;
    Ok(Calls::Alike { text: text.to_owned(), value })
}

fn slot(scanner: &mut Scanner<'_>) -> Result<Slot, SpecError> {
    if scanner.accept_word("ret") {
        return Ok(Slot::Result);
    }
    let start = scanner.position();
    let kind: fn(u32) -> Slot = if scanner.accept('*') { Slot::Pointee } else { Slot::Argument };
    match scanner.number() {
        Some(number) if number > 0 => Ok(kind(number)),
        _ => Err(scanner.error_at(start, Problem::Slot)),
    }
}
