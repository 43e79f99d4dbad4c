//! Suppressions: findings that a user knows of and does not want to hear about again.
//!
//! A file has one rule per line; `#` begins a comment. A rule is a list of conditions, all of which must hold:
//!
//! ```text
//! function:solve            # the function it is in, be it a script's, or one that was inlined around it
//! file:src/lu.c line:120    # a path, or its last parts
//! module:libopenblas*.so.0  # the program or library
//! kind:cancellation function:"ns::f(int, double)"
//! ```
//!
//! `*` stands for any text, `?` for any one character; what contains spaces is quoted. Knows nothing of how findings are
//! made or shown: suppressed ones are put apart before the report is ranked and written.

use std::fmt::{self, Display};
use std::str::FromStr;

use shadowgrind_core::findings::{Finding, FindingKind, Report};
use shadowgrind_core::site::Place;

use crate::document::{self, Symbols};

/// Field that a rule can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Kind,
    Function,
    File,
    Line,
    Module,
}

impl Field {
    const ALL: [(&'static str, Field); 5] = [
        ("kind", Field::Kind),
        ("function", Field::Function),
        ("file", Field::File),
        ("line", Field::Line),
        ("module", Field::Module),
    ];

    fn name(self) -> &'static str {
        Field::ALL.iter().find(|(_, field)| *field == self).map_or("", |(name, _)| name)
    }
}

/// One line of a file: conditions that must all hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    conditions: Vec<(Field, String)>,
}

/// Rules, any of which suppresses a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suppressions {
    rules: Vec<Rule>,
}

/// A line that is no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// The line, from 1.
    pub line: usize,
    /// The problem with the rule.
    pub problem: String,
}

impl Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for SyntaxError {}

impl FromStr for Suppressions {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut rules = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let rule = Rule::parse(line).map_err(|problem| SyntaxError { line: index + 1, problem })?;
            rules.extend(rule);
        }
        Ok(Suppressions { rules })
    }
}

impl Suppressions {
    /// True if there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Adds the rules of another file.
    pub fn extend(&mut self, other: Suppressions) {
        self.rules.extend(other.rules);
    }

    /// Puts the findings that a rule covers apart from the others of `report`.
    pub fn apply(&self, report: &mut Report, symbols: &mut dyn Symbols) {
        if self.is_empty() {
            return;
        }
        let findings = std::mem::take(&mut report.findings);
        let is_covered = |finding: &Finding| {
            let places = places(report, symbols, finding);
            let is_covered = |rule: &Rule| places.iter().any(|place| rule.covers(finding.kind, place));
            self.rules.iter().any(is_covered)
        };
        let (suppressed, findings) = findings.into_iter().partition(is_covered);
        (report.suppressed, report.findings) = (suppressed, findings);
    }
}

/// A rule for each finding of `report`, as a file that suppresses them all; the same rule once.
pub fn generate(report: &Report, symbols: &mut dyn Symbols) -> String {
    let mut lines: Vec<String> = Vec::new();
    for finding in &report.findings {
        let places = places(report, symbols, finding);
        let Some(known) = places.first() else { continue };
        let line = Rule::of(finding.kind, known).to_string();
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Places that a rule may name: the line of the script that ran there, if one did, and the machine code's.
fn places(report: &Report, symbols: &mut dyn Symbols, finding: &Finding) -> Vec<Place> {
    let code = document::place(&report.sites, symbols, finding.site);
    let script = report.script_line(finding.site).map(Place::from);
    script.into_iter().chain([code]).collect()
}

impl Rule {
    /// The rule of a line; none on an empty one.
    fn parse(line: &str) -> Result<Option<Rule>, String> {
        let mut conditions = Vec::new();
        for word in words(line)? {
            let (name, value) = word.split_once(':').ok_or_else(|| format!("`{word}` is not FIELD:VALUE"))?;
            let field = Field::ALL.iter().find(|(known, _)| *known == name).map(|(_, field)| *field);
            let field = field.ok_or_else(|| {
                format!("`{name}` is none of {}", Field::ALL.map(|(name, _)| name).join(", "))
            })?;
            if value.is_empty() {
                return Err(format!("`{name}:` without a value would suppress everything"));
            }
            conditions.push((field, value.to_owned()));
        }
        Ok((!conditions.is_empty()).then_some(Rule { conditions }))
    }

    /// The rule that covers just this: function, file and line as far as they are known.
    fn of(kind: FindingKind, place: &Place) -> Rule {
        let mut conditions = vec![(Field::Kind, name_of(kind).to_owned())];
        let mut add =
            |field, value: Option<String>| conditions.extend(value.map(|value| (field, literally(&value))));
        add(Field::Function, place.function.clone());
        add(Field::File, place.file.as_deref().map(last_part).map(str::to_owned));
        add(Field::Line, place.line.map(|line| line.to_string()));
        add(Field::Module, place.module.as_deref().map(last_part).map(str::to_owned));
        Rule { conditions }
    }

    fn covers(&self, kind: FindingKind, place: &Place) -> bool {
        self.conditions.iter().all(|(field, pattern)| match field {
            Field::Kind => matches(pattern, name_of(kind)),
            Field::Function => {
                let callers = place.inlined_by.iter().filter_map(|frame| frame.function.as_deref());
                place
                    .function
                    .as_deref()
                    .into_iter()
                    .chain(callers)
                    .any(|function| matches(pattern, function))
            }
            Field::File => place.file.as_deref().is_some_and(|file| matches_path(pattern, file)),
            Field::Line => place.line.is_some_and(|line| matches(pattern, &line.to_string())),
            Field::Module => place.module.as_deref().is_some_and(|module| matches_path(pattern, module)),
        })
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (field, value)) in self.conditions.iter().enumerate() {
            let gap = if index > 0 { " " } else { "" };
            let quoted = value.contains(|c: char| c.is_whitespace() || c == '#' || c == '"');
            if quoted {
                write!(f, "{gap}{}:\"{}\"", field.name(), value.replace('"', "?"))?;
            } else {
                write!(f, "{gap}{}:{value}", field.name())?;
            }
        }
        Ok(())
    }
}

/// The words of a line: quotes keep spaces and `#` together and are dropped.
fn words(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted && word.is_empty() => break,
            c if c.is_whitespace() && !quoted => words.extend(Some(std::mem::take(&mut word))),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    if quoted { Err("a quotation mark is missing".into()) } else { Ok(words) }
}

/// The kind as reports write it.
fn name_of(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Cancellation => "cancellation",
        FindingKind::Absorption => "absorption",
        FindingKind::Accumulation => "accumulation",
        FindingKind::Conditioning => "conditioning",
        FindingKind::Rounding => "rounding",
        FindingKind::Overflow => "overflow",
        FindingKind::Underflow => "underflow",
        FindingKind::Invalid => "invalid",
        FindingKind::Branch => "branch",
        FindingKind::Conversion => "conversion",
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A pattern for `text` alone: `*` becomes `?`, which it matches too.
fn literally(text: &str) -> String {
    text.replace('*', "?")
}

/// Tells whether a path, or its last parts, match a pattern.
fn matches_path(pattern: &str, path: &str) -> bool {
    matches(pattern, path) || path.match_indices('/').any(|(at, _)| matches(pattern, &path[at + 1..]))
}

/// Tells whether `text` matches a pattern with `*` and `?`. Backs up to the last star only, which is enough: what an
/// earlier star could take, the last one can take as well.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&c) if c == '?' || c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, t) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests;
