//! Verdict of a second run on the findings of the first: by the same line, by its own doubts, or by nothing.

#[path = "common/samples.rs"]
#[expect(dead_code, reason = "other tests have other samples")]
mod samples;

use samples::Sources;
use serde_json::{Value, json as tree};
use shadowgrind_core::findings::{Confirmed, Report};
use shadowgrind_reports::document::Document;
use shadowgrind_reports::second::{Circumstances, SecondReport};
use shadowgrind_reports::terminal::{self, Style};
use shadowgrind_reports::{html, json};

/// Report of a second run that ended well, with these findings, at lines of `quad.c`: kind, line, count.
fn second(findings: &[(&str, u64, u64)], gaps: Value) -> SecondReport {
    let found = |&(kind, line, count): &(&str, u64, u64)| {
        let site = tree!({"module": "/home/user/quad", "offset": 1, "function": null, "file": "/home/user/quad.c",
            "line": line, "column": null, "inlined_by": []});
        tree!({"kind": kind, "operation": "sub", "site": site, "count": count, "outputs": [0]})
    };
    let report = tree!({
        "program": {"argv": [], "pid": 1, "exit_code": 0, "signal": null},
        "verdict": {"clean": false, "text": "1 of 1 output is wrong."},
        "findings": findings.iter().map(found).collect::<Vec<_>>(),
        "coverage": {"gaps": gaps},
    });
    SecondReport::read(report.to_string().as_bytes()).unwrap()
}

/// The sample's findings, in its order: a conversion at line 37, an error at 19, a decision at 34, a sum without a line, a NaN at
/// 38, a cancellation at 18.
fn words(second: &SecondReport, same_output: Option<bool>) -> (Vec<Confirmed>, Report) {
    let mut report = samples::mpfr();
    let circumstances = Circumstances { shadow: "mpfr", seconds: [1.0, 2.0], same_output };
    second.confirm(&mut report, &mut Sources, circumstances);
    (report.findings.iter().filter_map(|finding| finding.confirmed).collect(), report)
}

#[test]
fn findings_are_confirmed_by_kind_and_line() {
    use Confirmed::{Confirmed as Yes, Refuted, Unsettled};
    let findings = [("rounding", 18, 1), ("branch", 34, 0), ("branch", 19, 3), ("absorption", 50, 1)];
    let (all, report) = words(&second(&findings, tree!([])), Some(true));
    assert_eq!(all, [Refuted, Refuted, Unsettled, Refuted, Refuted, Yes]);
    let confirmation = report.confirmation.unwrap();
    let missed: Vec<_> = confirmation.missed.iter().map(|missed| missed.place.line).collect();
    assert_eq!(missed, [Some(19), Some(50)]);
    assert!(confirmation.is_of_the_same() && !confirmation.clean);
}

#[test]
fn nothing_is_refuted_by_a_run_that_did_not_see_all() {
    use Confirmed::{Confirmed as Yes, Unsettled};
    let findings = [("rounding", 18, 1)];
    let expected = [Unsettled, Unsettled, Unsettled, Unsettled, Unsettled, Yes];
    assert_eq!(words(&second(&findings, tree!([{"instruction": "vpermt2pd"}])), Some(true)).0, expected);
    assert_eq!(words(&second(&findings, tree!([])), Some(false)).0, expected);
    assert_eq!(words(&second(&findings, tree!([])), None).0, expected);
}

/// Every format tells of it, and what is refuted counts for nothing.
#[test]
fn all_formats_say_so() {
    let findings = [("rounding", 18, 1), ("branch", 34, 0), ("absorption", 50, 1)];
    let (_, report) = words(&second(&findings, tree!([])), Some(true));
    let document = Document::new(&report, &mut Sources);
    let (mut page, mut tree, mut text) = (Vec::new(), Vec::new(), Vec::new());
    html::write(&document, &mut page).unwrap();
    json::write(&document, &mut tree).unwrap();
    terminal::write(&document, Style { width: 160, color: false, verbose: true }, &mut text).unwrap();
    let [page, text] = [page, text].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(page.contains("<h2>Refuted by the second run</h2>") && page.contains("<dd>confirms it</dd>"));
    assert!(
        text.contains("\nRefuted by the second run\n") && text.contains("also finds absorption (sub)"),
        "{text}"
    );
    assert!(text.contains("under mpfr, 2.00 s of processor time, after 1.00 s of the first: of 6 findings 1 confirmed, 4 refuted, 1 unsettled"));
    let tree: Value = serde_json::from_slice(&tree).unwrap();
    let marks: Vec<&str> = tree["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|finding| finding["confirmed"].as_str())
        .collect();
    assert_eq!(marks.iter().filter(|&&mark| mark == "refuted").count(), 4);
    assert_eq!((&tree["confirmation"]["second_s"], &tree["verdict"]["nan_births"]), (&tree!(2.0), &tree!(0)));
    assert_eq!(tree["confirmation"]["missed"][0]["site"]["line"], 50);
}
