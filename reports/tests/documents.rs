//! Reports whose places come from the files of real programs.

#[path = "../../symbols/tests/common/mod.rs"]
mod common;

use std::process::Command;

use common::{compile, guests, run};
use shadowgrind_core::findings::{Finding, FindingKind, Report, Subject};
use shadowgrind_core::site::{Module, Place, Site};
use shadowgrind_reports::document::{Document, Symbols};
use shadowgrind_reports::files::Files;
use shadowgrind_reports::terminal::{self, Style};
use shadowgrind_symbols::SymbolFile;

/// A report with one finding in line 5 of `lines.c`, inlined twice.
fn report(build_id: impl Fn(Option<Vec<u8>>) -> Option<Vec<u8>>) -> Report {
    let binary = compile("document", "gcc", "lines.c", &["-g", "-O2"]);
    let listing = run(Command::new("objdump").arg("--disassemble=length").arg(&binary));
    let line = listing.lines().find(|line| line.contains("mul")).unwrap();
    let offset = u64::from_str_radix(line.split(':').next().unwrap().trim(), 16).unwrap();
    let build_id = build_id(SymbolFile::open(&binary).unwrap().build_id());
    let path = binary.to_string_lossy().into_owned();
    let mut report = Report::new("mpfr", Subject::Errors, vec![path.clone()], 1);
    let module = report.sites.add_module(Module { path, build_id });
    // Loaded 0x5000 above its link-time addresses.
    report.sites.map(0x5000..0x9000, module, 0x5000);
    let site = report.sites.at(0x5000 + offset);
    let mut finding = Finding::new(FindingKind::Rounding, "Mul", site);
    finding.outputs.insert(0);
    report.findings.push(finding);
    report
}

fn place(report: &Report) -> Place {
    Document::new(report, &mut Files::new()).causes[0].place.clone()
}

#[test]
fn sites_get_their_names_and_source_lines() {
    let report = report(|id| id);
    let named = place(&report);
    assert_eq!((named.function.as_deref(), named.line), (Some("square"), Some(5)));
    assert_eq!(named.file, Some(guests().join("lines.c").to_string_lossy().into_owned()));
    assert_eq!(named.module.as_ref(), report.program.argv.first());
    let document = Document::new(&report, &mut Files::new());
    let mut out = Vec::new();
    terminal::write(&document, Style { width: 100, color: false, verbose: false }, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("  1. rounding (Mul) in square (lines.c:5)\n"), "{text}");
    assert!(text.contains("         5 │ return x * x; /* line 5 */\n"), "{text}");
    assert!(text.contains("inlined    into norm (lines.c:9), in length (lines.c:13)\n"), "{text}");
}

#[test]
fn a_file_that_is_not_the_one_that_ran_names_nothing() {
    let named = place(&report(|_| Some(vec![1, 2, 3])));
    assert_eq!((named.function, named.line), (None, None));
    assert!(named.module.is_some() && named.offset.is_some());
}

#[test]
fn code_without_a_file_keeps_its_address() {
    let mut files = Files::new();
    let vdso = Module { path: "[vdso]".into(), build_id: None };
    let expected = Place { module: Some("[vdso]".into()), offset: Some(0x7b0), ..Place::default() };
    assert_eq!(files.place(&vdso, 0x7b0), expected);
    let report = Report::new("dot", Subject::Derivatives, Vec::new(), 1);
    assert_eq!(Document::new(&report, &mut files).place(Site::NONE), &Place::default());
    assert_eq!(files.source_line("/nowhere.c", 1), None);
    let source = guests().join("lines.c").to_string_lossy().into_owned();
    assert_eq!(files.source_line(&source, 0), None);
    assert_eq!(files.source_line(&source, 100_000), None);
}
