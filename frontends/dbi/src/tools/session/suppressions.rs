//! Findings the user does not want to hear of: `--suppressions=FILE`.
//!
//! A file has one suppression per line, made of conditions that must all hold: `kind=cancellation function=f file=*.c
//! module=libm*`. `*` stands for any characters; `#` begins a comment. A pattern for a file or module without a slash
//! is matched against the last part of the path.

use shadowgrind_core::findings::{Finding, FindingKind};
use shadowgrind_core::site::Place;
use std::fmt::Write;
use std::path::PathBuf;

/// All suppressions of a run.
#[derive(Debug, Default)]
pub(super) struct Suppressions(Vec<Vec<Condition>>);

#[derive(Debug)]
struct Condition {
    what: What,
    pattern: String,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Kind,
    Function,
    File,
    Module,
}

impl Suppressions {
    /// Reads the files; what is wrong is said in one line.
    pub(super) fn read(files: &[PathBuf]) -> Result<Suppressions, String> {
        let mut all = Vec::new();
        for path in files {
            let text =
                std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
            for (number, line) in text.lines().enumerate() {
                let line = line.split('#').next().unwrap_or_default().trim();
                if line.is_empty() {
                    continue;
                }
                let conditions: Option<Vec<_>> = line.split_whitespace().map(condition).collect();
                all.push(conditions.ok_or_else(|| {
                    let (path, number) = (path.display(), number + 1);
                    format!("{path}:{number}: expected conditions kind=, function=, file= or module=")
                })?);
            }
        }
        Ok(Suppressions(all))
    }

    /// Whether no files were given, or empty ones.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a finding at `place` is suppressed.
    pub(super) fn suppress(&self, finding: &Finding, place: &Place) -> bool {
        self.0.iter().any(|all| all.iter().all(|condition| condition.holds(finding.kind, place)))
    }
}

fn condition(text: &str) -> Option<Condition> {
    let (what, pattern) = text.split_once('=')?;
    let what = match what {
        "kind" => What::Kind,
        "function" => What::Function,
        "file" => What::File,
        "module" => What::Module,
        _ => return None,
    };
    Some(Condition { what, pattern: pattern.to_owned() })
}

impl Condition {
    fn holds(&self, kind: FindingKind, place: &Place) -> bool {
        let path =
            |path: &Option<String>| path.as_deref().is_some_and(|path| matches_path(&self.pattern, path));
        match self.what {
            What::Kind => matches(&self.pattern, kind_name(kind)),
            What::Function => place.function.as_deref().is_some_and(|name| matches(&self.pattern, name)),
            What::File => path(&place.file),
            What::Module => path(&place.module),
        }
    }
}

fn kind_name(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Cancellation => "cancellation",
        FindingKind::Absorption => "absorption",
        FindingKind::Accumulation => "accumulation",
        FindingKind::Rounding => "rounding",
        FindingKind::Overflow => "overflow",
        FindingKind::Invalid => "invalid",
        FindingKind::Branch => "branch",
        FindingKind::Conversion => "conversion",
    }
}

fn matches_path(pattern: &str, path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or(path);
    matches(pattern, if pattern.contains('/') { path } else { last })
}

/// Whether `text` is `pattern` with something for each `*`.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(start) else { return false };
    (0..=text.len()).any(|at| text.is_char_boundary(at) && matches(rest, &text[at..]))
}

/// The suppression of exactly this finding, as a line of a file. Spaces, which separate conditions, become `*`.
pub(super) fn generate(finding: &Finding, place: &Place) -> String {
    let mut line = format!("kind={}", kind_name(finding.kind));
    let last =
        |path: &Option<String>| path.as_deref().and_then(|path| path.rsplit('/').next().map(str::to_owned));
    let conditions =
        [("function", place.function.clone()), ("file", last(&place.file)), ("module", last(&place.module))];
    for (what, value) in conditions {
        if let Some(value) = value {
            let value = value.replace(|c: char| c.is_whitespace() || c == '#', "*");
            let _ = write!(line, " {what}={value}");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::site::Site;

    fn place(function: &str, file: &str, module: &str) -> Place {
        let some = |text: &str| Some(text.to_owned());
        Place { function: some(function), file: some(file), module: some(module), ..Place::default() }
    }

    fn read(text: &str) -> Result<Suppressions, String> {
        let path =
            std::env::temp_dir().join(format!("shadowgrind-supp-{}-{}", std::process::id(), text.len()));
        std::fs::write(&path, text).unwrap();
        let read = Suppressions::read(std::slice::from_ref(&path));
        std::fs::remove_file(path).unwrap();
        read
    }

    #[test]
    fn conditions_must_all_hold() {
        let suppressions =
            read("# known\nkind=cancellation function=quad* file=solve.c\nmodule=libm.so.*\n").unwrap();
        let finding = Finding::new(FindingKind::Cancellation, "sub", Site::NONE);
        assert!(suppressions.suppress(&finding, &place("quadratic", "/src/solve.c", "/bin/a")));
        assert!(!suppressions.suppress(&finding, &place("quadratic", "/src/other.c", "/bin/a")));
        assert!(suppressions.suppress(&finding, &place("f", "/src/other.c", "/lib/libm.so.6")));
        let finding = Finding::new(FindingKind::Rounding, "sub", Site::NONE);
        assert!(!suppressions.suppress(&finding, &place("quadratic", "/src/solve.c", "/bin/a")));
    }

    #[test]
    fn what_is_generated_suppresses() {
        let finding = Finding::new(FindingKind::Absorption, "add", Site::NONE);
        let place = place("operator new(unsigned long)", "/src/a b.cc", "/bin/a");
        let suppressions = read(&generate(&finding, &place)).unwrap();
        assert!(suppressions.suppress(&finding, &place));
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let error = read("function=f\nfun=g\n").unwrap_err();
        assert!(error.ends_with(":2: expected conditions kind=, function=, file= or module="), "{error}");
    }
}
