//! Forms of a SPEC: the signs that tell them apart, and the words that begin one.

use super::scan::{self, Scanner, rfind_outside};
use super::{
    Calls, End, InputTarget, OutputSpec, Problem, Scope, Selector, SpecError, Subscript, Target, call, place,
};

/// Parses the target of an input.
pub(super) fn input(spec: &str) -> Result<InputTarget, SpecError> {
    if let Some(text) = place::text(spec)? {
        return Ok(InputTarget::Text(text));
    }
    if let Some(calls) = parsed(spec)? {
        return Ok(InputTarget::Parsed(calls));
    }
    for stream in ["stdout:", "stderr:", "label:", "site:"] {
        if spec.starts_with(stream) {
            return Err(SpecError::new(spec, 0, Problem::OutputOnly));
        }
    }
    if spec.starts_with(SCRIPT) {
        return Err(SpecError::new(spec, 0, Problem::OutputOnly));
    }
    place(spec).map(InputTarget::Place)
}

/// Beginning of a SPEC that names a variable of a script.
const SCRIPT: &str = "python:";

/// Tells whether nothing that the program computes is needed to tell which elements are meant.
fn is_number(subscript: &Subscript) -> bool {
    match subscript {
        Subscript::One(_) => true,
        Subscript::Range { end, .. } => !matches!(end, Some((End::Variable(_) | End::Argument(_), _))),
    }
}

/// The variable that `python:x[2..5]` names; nothing if `spec` names something else.
fn script(spec: &str) -> Result<Option<Target>, SpecError> {
    if !spec.starts_with(SCRIPT) {
        return Ok(None);
    }
    let variable = Scanner::new(spec, SCRIPT.len(), spec.len()).variable()?;
    let mut subscripts = Vec::new();
    for selector in variable.selectors {
        match selector {
            Selector::Index(more) => subscripts.extend(more),
            Selector::Member(_) | Selector::Pointee => {
                return Err(SpecError::new(spec, SCRIPT.len(), Problem::ScriptVariable));
            }
        }
    }
    if variable.path.len() != 1 || variable.format.is_some() || !subscripts.iter().all(is_number) {
        return Err(SpecError::new(spec, SCRIPT.len(), Problem::ScriptVariable));
    }
    Ok(Some(Target::Script { name: variable.name, subscripts }))
}

/// The printed floats of a source line, `FILE:LINE`, with which `spec` ends.
fn site(spec: &str, place: &str) -> Result<OutputSpec, SpecError> {
    let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
    match line.parse() {
        Ok(line) if line > 0 && !file.is_empty() => Ok(OutputSpec::Site { file: file.to_owned(), line }),
        _ => Err(SpecError::new(spec, spec.len() - line.len(), Problem::Line)),
    }
}

/// The printed floats that an output names; nothing if it is a place.
pub(super) fn written(spec: &str) -> Result<Option<OutputSpec>, SpecError> {
    match spec {
        "printed" => return Ok(Some(OutputSpec::Printed)),
        "last" => return Ok(Some(OutputSpec::Last)),
        _ => {}
    }
    if let Some(label) = spec.strip_prefix("label:") {
        if label.trim().is_empty() {
            return Err(SpecError::new(spec, spec.len(), Problem::Label));
        }
        return Ok(Some(OutputSpec::Label(label.to_owned())));
    }
    if let Some(rest) = spec.strip_prefix("site:") {
        return site(spec, rest).map(Some);
    }
    for start in ["arg:", "env:", "stdin:", "parsed:", "parsed~"] {
        if spec.starts_with(start) {
            return Err(SpecError::new(spec, 0, Problem::InputOnly));
        }
    }
    Ok(place::written(spec)?.map(OutputSpec::Written))
}

/// The numbers that `parsed:7` and its like name.
fn parsed(spec: &str) -> Result<Option<Calls>, SpecError> {
    const NAME: usize = "parsed".len();
    if spec.starts_with("parsed~") {
        return call::alike(spec, NAME + 1).map(Some);
    }
    if !spec.starts_with("parsed:") {
        return Ok(None);
    }
    let mut scanner = Scanner::new(spec, NAME + 1, spec.len());
    let numbers = scanner.numbers_from_zero()?;
    scanner.finish()?;
    Ok(Some(Calls::Numbers(numbers)))
}

/// Floats by where the program has them.
pub(super) fn place(spec: &str) -> Result<Target, SpecError> {
    if let Some(variable) = script(spec)? {
        return Ok(variable);
    }
    if let Some(sign) = rfind_outside(spec, '#') {
        return call::target(spec, sign);
    }
    if let Some(sign) = rfind_outside(spec, '@') {
        let at = call::callee(spec, sign + 1, spec.len())?;
        let variable = Scanner::new(spec, 0, sign).variable()?;
        return Ok(Target::Variable { variable, at: Some(at) });
    }
    if let Some((scope, start)) = scope(spec)? {
        let variable = Scanner::new(spec, start, spec.len()).variable()?;
        return Ok(Target::Local { scope, variable });
    }
    let variable = Scanner::new(spec, 0, spec.len()).variable()?;
    Ok(Target::Variable { variable, at: None })
}

/// `f:` or `file.c:12:` at the start of `spec`, and where the variable begins.
fn scope(spec: &str) -> Result<Option<(Scope, usize)>, SpecError> {
    let Some(colon) = scan::find_colon(spec, 0) else { return Ok(None) };
    let (name, rest) = (&spec[..colon], &spec[colon + 1..]);
    if scan::is_type(rest) || name.is_empty() {
        return Ok(None);
    }
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    if digits == 0 {
        return Ok(Some((Scope::Function(name.to_owned()), colon + 1)));
    }
    match (rest[..digits].parse(), rest[digits..].starts_with(':')) {
        (Ok(line), true) if line > 0 => {
            Ok(Some((Scope::Line { file: name.to_owned(), line }, colon + 1 + digits + 1)))
        }
        _ => Err(SpecError::new(spec, colon + 1, Problem::Line)),
    }
}
