//! Tests of rules on places made up.

use shadowgrind_core::findings::Subject;
use shadowgrind_core::site::{Frame, Module};

use super::*;

/// Offsets are lines of `solve`, in `/src/lu.c` of `/usr/lib/liblu.so.3`.
struct Lines;

impl Symbols for Lines {
    fn place(&mut self, module: &Module, offset: u64) -> Place {
        let caller = Frame { function: Some("main".into()), ..Frame::default() };
        Place {
            module: Some(module.path.clone()),
            offset: Some(offset),
            function: Some("ns::solve(int, double*)".into()),
            file: Some("/src/lu.c".into()),
            line: Some(offset as u32),
            column: None,
            inlined_by: vec![caller],
        }
    }

    fn source_line(&mut self, _file: &str, _line: u32) -> Option<String> {
        None
    }
}

/// A report with a cancellation at line 7 and an overflow at line 9, and a finding nowhere.
fn report() -> Report {
    let mut report = Report::new("mpfr", Subject::Errors, vec!["prog".into()], 1);
    let module = report.sites.add_module(Module { path: "/usr/lib/liblu.so.3".into(), build_id: None });
    for (kind, line) in [(FindingKind::Cancellation, 7), (FindingKind::Overflow, 9)] {
        let site = report.sites.intern(module, line);
        report.findings.push(Finding::new(kind, "sub", site));
    }
    report.findings.push(Finding::new(FindingKind::Branch, "<", Default::default()));
    report
}

/// Number of findings of the report that remain under `rules`.
fn left(rules: &str) -> usize {
    let rules: Suppressions = rules.parse().expect("rules");
    let mut report = report();
    rules.apply(&mut report, &mut Lines);
    assert_eq!(report.suppressed.len() + report.findings.len(), 3);
    report.findings.len()
}

#[test]
fn each_field_is_matched() {
    assert_eq!(left(""), 3);
    assert_eq!(left("kind:overflow"), 2);
    assert_eq!(left("function:ns::solve*"), 1);
    assert_eq!(left("function:\"ns::solve(int, double?)\""), 1);
    assert_eq!(left("function:main"), 1, "what it was inlined into");
    assert_eq!(left("function:solve"), 3);
    assert_eq!(left("file:lu.c"), 1);
    assert_eq!(left("file:src/lu.c line:7"), 2);
    assert_eq!(left("file:u.c"), 3, "whole parts of a path");
    assert_eq!(left("module:liblu.so.*"), 1);
    assert_eq!(left("module:/usr/lib/liblu.so.3 kind:branch"), 3);
}

#[test]
fn any_rule_will_do_but_all_of_its_conditions() {
    assert_eq!(left("# known\nline:7\n\n  kind:branch # of no importance\n"), 1);
    assert_eq!(left("line:7 kind:overflow"), 3);
}

#[test]
fn mistakes_are_told_with_their_line() {
    let error = |text: &str| text.parse::<Suppressions>().expect_err("a mistake").to_string();
    assert_eq!(error("kind:branch\nsolve"), "line 2: `solve` is not FIELD:VALUE");
    assert_eq!(error("fn:solve"), "line 1: `fn` is none of kind, function, file, line, module");
    assert_eq!(error("function:\"a b"), "line 1: a quotation mark is missing");
    assert!(error("file:").contains("everything"));
}

#[test]
fn generated_rules_suppress_what_they_were_made_from() {
    let report = report();
    let text = generate(&report, &mut Lines);
    assert_eq!(
        text.lines().next(),
        Some("kind:cancellation function:\"ns::solve(int, double?)\" file:lu.c line:7 module:liblu.so.3")
    );
    assert_eq!(text.lines().count(), 3);
    assert_eq!(left(&text), 0);
    assert_eq!(left(text.lines().next().expect("a line")), 2);
}

#[test]
fn patterns() {
    for (pattern, text, expected) in [
        ("*", "", true),
        ("a*c*e", "abcde", true),
        ("a*c*e", "abcdef", false),
        ("*ab", "aab", true),
        ("?", "", false),
        ("a?c", "abc", true),
        ("", "", true),
        ("a", "b", false),
    ] {
        assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
    }
}
