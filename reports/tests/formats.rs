//! Every format against golden files. `BLESS=1 cargo test` rewrites them; the difference is reviewed like code.

#[path = "common/samples.rs"]
mod samples;

use std::fs;
use std::path::Path;

use samples::Sources;
use serde_json::Value as Json;
use shadowgrind_core::findings::{OutputShadow, Report};
use shadowgrind_reports::document::Document;
use shadowgrind_reports::terminal::{self, Style};
use shadowgrind_reports::{Destinations, html, json, wire};

type Write = dyn Fn(&Document<'_>, &mut dyn std::io::Write) -> std::io::Result<()>;

fn written(report: &Report, write: &Write) -> String {
    let document = Document::new(report, &mut Sources);
    let mut out = Vec::new();
    write(&document, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn golden(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    // The version of the tool is the one thing that changes and may.
    let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        fs::write(&file, &text).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    assert!(text == expected, "{} differs from what is written now:\n{text}", file.display());
}

fn on_terminal(report: &Report, style: Style) -> String {
    written(report, &move |document, out| terminal::write(document, style, out))
}

const PLAIN: Style = Style { width: 100, color: false, verbose: false };

#[test]
fn terminal() {
    let samples = [
        ("dot", samples::dot()),
        ("nothing-seeded", samples::nothing_seeded()),
        ("mpfr", samples::mpfr()),
        ("clean", samples::clean()),
        ("crashed", samples::crashed()),
    ];
    for (name, report) in &samples {
        golden(&format!("{name}.txt"), &on_terminal(report, PLAIN));
    }
    golden("dot-80.txt", &on_terminal(&samples::dot(), Style { width: 80, ..PLAIN }));
    golden(
        "mpfr-80-verbose.txt",
        &on_terminal(&samples::mpfr(), Style { width: 80, verbose: true, ..PLAIN }),
    );
    golden("mpfr-120-color.txt", &on_terminal(&samples::mpfr(), Style { width: 120, color: true, ..PLAIN }));
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    for width in [80, 100, 120] {
        for report in [samples::mpfr(), samples::clean(), samples::nothing_seeded()] {
            let text = on_terminal(&report, Style { width, ..PLAIN });
            for line in text.lines() {
                assert!(line.chars().count() <= width.into(), "{width}: {line}");
                assert_eq!(line.trim_end(), line);
            }
        }
    }
}

#[test]
fn json_files() {
    for (name, report) in
        [("dot", samples::nothing_seeded()), ("mpfr", samples::mpfr()), ("crashed", samples::crashed())]
    {
        let text = written(&report, &json::write);
        golden(&format!("{name}.json"), &text);
        let read = wire::Report::read(&text).unwrap();
        assert_eq!(
            serde_json::to_value(&read).unwrap(),
            serde_json::from_str::<Json>(&text).unwrap(),
            "{name}: what was read is what was written"
        );
    }
}

#[test]
fn a_report_of_another_kind_is_refused() {
    let text = written(&samples::clean(), &json::write);
    assert!(wire::Report::read(&text).is_ok());
    assert!(wire::Report::read(&text.replace("shadowgrind-report/1", "shadowgrind-report/2")).is_err());
    assert!(wire::Report::read("{}").is_err());
}

#[test]
fn json_keeps_every_output_and_every_bit() {
    let text = written(&samples::dot(), &json::write);
    let report: Json = serde_json::from_str(&text).unwrap();
    let outputs = report["outputs"].as_array().unwrap();
    assert_eq!(outputs.len(), 2004);
    assert_eq!(outputs[0]["value"], Json::from(f64::from(0.1f32)));
    assert_eq!(outputs[1]["value"], Json::from("1.00000000000000000011e+00"));
    assert_eq!(outputs[1]["dot"], Json::from("1.00000000000000000000e+00"));
    assert_eq!((&outputs[2]["value"], &outputs[2]["dot"]), (&Json::from("NaN"), &Json::from("-Infinity")));
    for i in 0..1000 {
        let x = f64::from(i as u32) / 1000.0;
        let output = &outputs[3 + 2 * i];
        assert_eq!(output["index"], Json::from(3 + 2 * i));
        assert_eq!((output["value"].as_f64(), output["dot"].as_f64()), (Some(x), Some(2.0 * x - 1.0)));
        assert_eq!(output["site"]["line"], Json::from(30));
    }
    let last = &outputs[2003];
    assert_eq!((&last["kind"], &last["label"]), (&Json::from("spec"), &Json::from("energy[1]")));
    assert_eq!(
        (&last["site"]["function"], &last["site"]["inlined_by"]),
        (&Json::Null, &Json::from(Vec::<Json>::new()))
    );
    assert!(last.get("error_bits").is_none() && last.get("real").is_none());
}

#[test]
fn html_files() {
    golden("mpfr.html", &written(&samples::mpfr(), &html::write));
    let dot = written(&samples::dot(), &html::write);
    golden("dot.html", &dot);
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!dot.contains(outside), "{outside}");
    }
}

#[test]
fn html_is_well_formed() {
    for report in
        [samples::dot(), samples::mpfr(), samples::clean(), samples::crashed(), samples::nothing_seeded()]
    {
        let text = written(&report, &html::write);
        let mut open: Vec<&str> = Vec::new();
        let (body, _) = text.split_once("<script>").unwrap();
        for tag in body.split('<').skip(2) {
            let (tag, _) = tag.split_once('>').unwrap();
            let name = tag.split([' ', '\n']).next().unwrap();
            match name.strip_prefix('/') {
                Some(closed) => assert_eq!(open.pop(), Some(closed)),
                None if !["meta", "br"].contains(&name) => open.push(name),
                None => {}
            }
        }
        assert_eq!(open, ["html", "body"]);
    }
}

#[test]
fn a_report_goes_everywhere_it_can() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = |text: &str| text.parse().unwrap();
    let (good, page) = (folder.join("run.json"), folder.join("run-%p.html"));
    let files = vec![
        target("json:/nowhere/run.json"),
        target(&format!("json:{}", good.display())),
        target(&format!("html:{}", page.display())),
    ];
    let to = Destinations { terminal: Some(PLAIN), files, forked: false, annotated: false };
    let mut terminal = Vec::new();
    let report = samples::mpfr();
    let document = Document::new(&report, &mut Sources);
    let errors = shadowgrind_reports::write(&document, &to, &mut terminal).unwrap_err();
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors, ["--report: cannot write /nowhere/run.json: No such file or directory (os error 2)"]);
    assert_eq!(String::from_utf8(terminal).unwrap(), on_terminal(&report, PLAIN));
    assert_eq!(fs::read_to_string(good).unwrap(), written(&report, &json::write));
    assert_eq!(fs::read_to_string(folder.join("run-4242.html")).unwrap(), written(&report, &html::write));
}

/// A program that prints for hours: records go straight into the report.
#[test]
fn many_outputs_are_streamed() {
    let mut report = samples::report("dot");
    let count = 300_000;
    for i in 0..count {
        samples::print(&mut report, 0x1010 + i % 7, 0, (i as f64).into(), OutputShadow::Dot(0.5.into()));
    }
    let text = written(&report, &json::write);
    assert_eq!(text.matches("\"index\": ").count() as u64, count);
    assert!(text.contains(
        "\"index\": 299999, \"kind\": \"printf\", \"label\": null, \"value\": 299999.0, \"dot\": 0.5,"
    ));
    let shown = on_terminal(&report, PLAIN);
    assert!(shown.contains("Derivatives of 300,000 outputs") && shown.lines().count() < 60, "{shown}");
}
