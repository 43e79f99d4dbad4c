//! Reports made up for tests, with places that need no files.

use shadowgrind_core::findings::{
    Decided, Finding, FindingKind, Gap, Input, Interval, Judgement, Label, Output, OutputKind, OutputShadow,
    RealText, Remedy, Report, Spread, Subject, TextNumbers, Value, VariableRange, Witness, Wrapped,
};
use shadowgrind_core::format::Format;
use shadowgrind_core::site::{Frame, Module, Place, Site};
use shadowgrind_core::text::{Notation, Style};
use shadowgrind_reports::document::Symbols;

/// Places by offset: 0x1000 + n is line n of `quad.c`, 0x2000 + n has a function only, all else nothing.
pub(crate) struct Sources;

impl Symbols for Sources {
    fn place(&mut self, module: &Module, offset: u64) -> Place {
        let place = Place { module: Some(module.path.clone()), offset: Some(offset), ..Place::default() };
        match offset {
            0x1000..0x2000 => {
                let line = Some((offset - 0x1000) as u32);
                let file = Some("/home/user/quad.c".to_owned());
                let caller = Frame { function: Some("main".into()), file: file.clone(), line: Some(40) };
                let inlined_by = if offset == 0x1012 { vec![caller] } else { Vec::new() };
                Place { function: Some("solve".into()), file, line, column: Some(7), inlined_by, ..place }
            }
            0x2000..0x3000 => Place { function: Some("ns::Grid<double, 3>::norm".into()), ..place },
            _ => place,
        }
    }

    fn source_line(&mut self, file: &str, line: u32) -> Option<String> {
        let text = "    double x = (-b + sqrt(b*b - 4*a*c)) / (2*a); // <the \"small\" root>";
        (file.ends_with("quad.c") && line == 18).then(|| text.to_owned())
    }
}

/// A report on `./quad 'two words'` with one module.
pub(crate) fn report(shadow: &'static str) -> Report {
    let subject = if shadow == "dot" { Subject::Derivatives } else { Subject::Errors };
    let argv = ["./quad", "two words", "-n=3"].map(str::to_owned).to_vec();
    let mut report = Report::new(shadow, subject, argv, 4242);
    report.program.exit_code = Some(0);
    report.sites.add_module(Module { path: "/home/user/quad".into(), build_id: None });
    report
}

/// The site at `offset` of the module.
pub(crate) fn site(report: &mut Report, offset: u64) -> Site {
    let module = report.sites.add_module(Module { path: "/home/user/quad".into(), build_id: None });
    report.sites.intern(module, offset)
}

/// Appends an output of `printf`.
pub(crate) fn print(report: &mut Report, offset: u64, position: u16, value: Value, said: OutputShadow<&str>) {
    let site = site(report, offset);
    report.outputs.push(&Output {
        kind: OutputKind::Printf,
        label: Label::NONE,
        value,
        site,
        position,
        said,
        notation: None,
    });
}

/// Appends an output of `printf` after this text.
pub(crate) fn print_as(
    report: &mut Report,
    label: &str,
    notation: Notation,
    value: Value,
    said: OutputShadow<&str>,
) {
    let (site, label) = (site(report, 0x1027), report.outputs.label(label));
    let (kind, position, notation) = (OutputKind::Printf, 0, Some(notation));
    report.outputs.push(&Output { kind, label, value, site, position, said, notation });
}

/// An 80-bit float: 1 + low·2⁻⁶³.
pub(crate) fn wide(low: u8) -> Value {
    Value::new(Format::F80, &[low, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f])
}

/// Three single prints, a loop of a thousand, a named output; gaps and functions taken as one operation.
pub(crate) fn dot() -> Report {
    let mut report = report("dot");
    let input = |spec: &str, value, seed, count| Input {
        spec: spec.into(),
        value,
        seed,
        count,
        at_once: count,
        largest: None,
        text: TextNumbers::default(),
    };
    report.inputs = vec![
        input("nu@solve", Some(0.01.into()), 1.0, 1),
        input("u[0..100]", Some(1.0f32.into()), -0.5, 100),
        input("late#2", None, 1.0, 0),
    ];
    print(&mut report, 0x1010, 0, 0.1f32.into(), OutputShadow::Dot(0.0f32.into()));
    print(&mut report, 0x2004, 0, wide(1), OutputShadow::Dot(wide(0)));
    print(&mut report, 0x0999, 0, f64::NAN.into(), OutputShadow::Dot(f64::NEG_INFINITY.into()));
    for i in 0..1000 {
        let x = f64::from(i) / 1000.0;
        print(&mut report, 0x101e, 0, x.into(), OutputShadow::Dot((2.0 * x - 1.0).into()));
        print(&mut report, 0x101e, 1, (1e-300 * x).into(), OutputShadow::Dot(0.0.into()));
    }
    let label = report.outputs.label("energy[1]");
    let value = 6.02214076e23.into();
    let said = OutputShadow::Dot((-1.0 / 3.0).into());
    report.outputs.push(&Output {
        kind: OutputKind::Spec,
        label,
        value,
        site: Site::NONE,
        position: 0,
        said,
        notation: None,
    });
    report.coverage.operations = Some(1_234_567);
    report.coverage.wrapped = [("exp", 200), ("sin", 1000), ("pow", 0)]
        .map(|(function, calls)| Wrapped { function: function.into(), calls })
        .to_vec();
    for (instruction, count, offset) in
        [("vpermt2pd", 3, 0x2010), ("vpermt2pd", 4, 0x1015), ("vgetexppd", 1, 0x10)]
    {
        let site = site(&mut report, offset);
        report.coverage.gaps.push(Gap { instruction: instruction.into(), count, site });
    }
    for (count, equal, offset) in [(20_000, 0, 0x1010), (12, 2, 0x1015)] {
        let site = site(&mut report, offset);
        report.coverage.decisions.push(Decided { count, equal, at_least: false, site });
    }
    report
}

/// A report of derivatives when nobody said what to seed.
pub(crate) fn nothing_seeded() -> Report {
    let mut report = report("dot");
    print(&mut report, 0x1010, 0, 0.1.into(), OutputShadow::Dot(0.0.into()));
    report.coverage.operations = Some(17);
    report
}

fn wrong(real: &'static str, error_bits: f64, correct_digits: f32) -> OutputShadow<&'static str> {
    let judgement = if error_bits > 5.0 { Judgement::Wrong } else { Judgement::Right };
    OutputShadow::Error { real: Some(real), error_bits, correct_digits, judgement, exact: RealText::Same }
}

/// A float printed wrongly, and the text that it should have had.
fn as_text(exact: &'static str, error_bits: f64) -> OutputShadow<&'static str> {
    let judgement = Judgement::Wrong;
    OutputShadow::Error {
        real: Some("1"),
        error_bits,
        correct_digits: 1.5,
        judgement,
        exact: RealText::Other(exact),
    }
}

/// One whose digits were right as far as they were printed.
fn wrong_but_not_seen(real: &'static str, error_bits: f64) -> OutputShadow<&'static str> {
    OutputShadow::Error {
        real: Some(real),
        error_bits,
        correct_digits: 0.0,
        judgement: Judgement::Right,
        exact: RealText::Same,
    }
}

/// A float that its shadow has nothing to say against.
fn right(error_bits: f64, correct_digits: f32) -> OutputShadow<&'static str> {
    OutputShadow::Error {
        real: None,
        error_bits,
        correct_digits,
        judgement: Judgement::Right,
        exact: RealText::Same,
    }
}

/// Two causes, one of them a cancellation with all there is to say, a decision that comes of it, one that is unsettled, a
/// NaN, and a cause that reached nothing.
pub(crate) fn mpfr() -> Report {
    let mut report = report("mpfr");
    report.settings.precision = Some(256);
    report.settings.error_threshold = Some(5.0);
    print_all(&mut report);
    let sites = [0x1012, 0x1022, 0x2008, 0x1013, 0x1025, 0x1026].map(|offset| site(&mut report, offset));
    let [cancels, branches, sums, loses, converts, takes_root] = sites;
    let mut branch = Finding::new(FindingKind::Branch, "<", branches);
    (branch.count, branch.unsettled, branch.executions) = (3, 1, Some(1100));
    (branch.causes, branch.expression) = (vec![cancels], Some("x < 1.0".into()));
    branch.error_bits = Some(Spread { mean: 12.0, max: 39.25 });
    let mut undecided = Finding::new(FindingKind::Conversion, "trunc", converts);
    (undecided.unsettled, undecided.executions) = (2, Some(2));
    undecided.expression = Some("(int) trunc(49.0 * (1.0 / 49.0))".into());
    let mut born = Finding::new(FindingKind::Invalid, "sqrt", takes_root);
    (born.count, born.executions, born.outputs) = (1, Some(7), [42].into_iter().collect());
    born.witness = Some(Witness { operands: vec![(-1.0).into()], result: f64::NAN.into() });
    born.expression = Some("sqrt(x - 2.0)".into());
    let mut sum = Finding::new(FindingKind::Accumulation, "Add", sums);
    (sum.count, sum.contribution, sum.share, sum.outputs) =
        (1_000_000, 12.0, Some(0.625), [5, 40].into_iter().collect());
    sum.shares.add(5, -0.25, 20.0);
    sum.shares.add(40, 1.0, 7.0);
    let mut lost = Finding::new(FindingKind::Absorption, "Sub", loses);
    (lost.count, lost.error_bits) = (1, Some(Spread { mean: 53.0, max: 53.0 }));
    report.findings = vec![undecided, lost, branch, sum, born, cancellation(cancels)];
    report.coverage.operations = Some(48_000);
    report
}

/// Outputs of every kind: wrong, right, unsettled, not a number, and as text that hides or shows an error.
fn print_all(report: &mut Report) {
    for i in 0..40 {
        let bits = f64::from(i) + 0.25;
        let real = "-9.99999999999999999999999999000000000000000000000000000000000001e-9";
        print(
            report,
            0x1020,
            0,
            (-1.0e-8 + 1e-10 * f64::from(i)).into(),
            wrong(real, bits, 15.0 - 0.3 * i as f32),
        );
    }
    print(report, 0x1021, 0, 0.30000000000000004.into(), wrong("0.3", 1.0, 15.7));
    print(report, 0x1021, 1, 2.0.into(), right(0.0, 15.95));
    print(report, 0x1023, 0, f64::NAN.into(), right(0.0, f32::NAN));
    let unsettled = OutputShadow::Error {
        real: Some("0.0"),
        error_bits: 0.0,
        correct_digits: 15.95,
        judgement: Judgement::Unsettled,
        exact: RealText::Unknown,
    };
    print(report, 0x1024, 0, 0.0.into(), unsettled);
    let fixed = Notation { width: 9, ..Notation::new(Style::Fixed, Some(4)) };
    print_as(report, "error =", fixed, 1e-7.into(), wrong_but_not_seen("-1.25e-8", 60.0));
    print_as(report, "energy =", fixed, 9.5.into(), as_text("   10.0001", 49.0));
    let general = Notation::new(Style::General, Some(6));
    print_as(report, "the heat flux =", general, 1.2346e-5.into(), as_text("1.23457e-05", 37.0));
    print_as(report, "unsure =", general, 0.0.into(), unsettled);
}

/// A cancellation with all there is to say of one.
fn cancellation(site: Site) -> Finding {
    let mut cancellation = Finding::new(FindingKind::Cancellation, "Add", site);
    cancellation.count = 34;
    cancellation.error_bits = Some(Spread { mean: 30.04, max: 39.25 });
    cancellation.local_error_bits = Some(Spread { mean: 22.5, max: 22.5 });
    cancellation.expression = Some("sqrt(b * b - 4 * c) - b".into());
    cancellation.fpcore =
        Some("(FPCore (b c) :precision binary64 :pre (<= 1 b 1e9) (- (sqrt (- (* b b) (* 4 c))) b))".into());
    let interval = |min, max| Interval { min, max };
    cancellation.ranges = vec![
        VariableRange {
            variable: "b".into(),
            all: vec![interval(-3.0, -1.0), interval(1.0, 1e9)],
            erroneous: vec![interval(1e8, 1e9)],
            worst: Some(7.3e8),
        },
        VariableRange {
            variable: "c".into(),
            all: vec![interval(0.5, 0.5)],
            erroneous: vec![interval(0.5, 0.5)],
            worst: None,
        },
    ];
    cancellation.outputs = (6..40).collect();
    cancellation.contribution = 900.0;
    cancellation.hint = Some("up to 39 leading bits cancel".into());
    cancellation.remedies = vec![Remedy {
        expression: "-4.0 * c / (sqrt(b * b - 4.0 * c) + b)".into(),
        fpcore: Some(
            "(FPCore (b c) :precision binary64 (/ (* -4 c) (+ (sqrt (- (* b b) (* 4 c))) b)))".into(),
        ),
        bits_before: 30.04,
        bits_after: 0.35,
        samples: 34,
    }];
    cancellation
}

/// A program that is all right.
pub(crate) fn clean() -> Report {
    let mut report = report("error");
    for i in 0..3 {
        print(&mut report, 0x1020, 0, f64::from(i).into(), right(0.5, 15.8));
    }
    report.coverage.operations = Some(12);
    report
}

/// A program that crashed before it printed anything.
pub(crate) fn crashed() -> Report {
    let mut report = report("mpfr");
    report.partial = true;
    report.program.exit_code = None;
    report.coverage.operations = Some(0);
    report.program.signal = Some("SIGSEGV".into());
    report
}
