//! Every form of a SPEC, and every way to get it wrong.

use super::*;

fn input(spec: &str) -> InputSpec {
    spec.parse().unwrap_or_else(|e| panic!("{e}"))
}

fn variable(spec: &str) -> Variable {
    match place(spec) {
        Target::Variable { variable, at: None } => variable,
        other => panic!("{spec}: {other:?}"),
    }
}

fn place(spec: &str) -> Target {
    match input(spec).target {
        InputTarget::Place(target) => target,
        other => panic!("{spec}: {other:?}"),
    }
}

fn named(name: &str) -> Callee {
    Callee::Named(name.into())
}

fn path(spec: &str) -> Vec<String> {
    variable(spec).path
}

fn subscripts(spec: &str) -> Vec<Subscript> {
    match variable(spec).selectors.as_slice() {
        [Selector::Index(subscripts)] => subscripts.clone(),
        other => panic!("{spec}: {other:?}"),
    }
}

fn range(start: Option<i64>, end: Option<(i64, bool)>) -> Subscript {
    Subscript::Range { start, end: end.map(|(end, included)| (End::Index(end), included)) }
}

#[test]
fn a_plain_name_has_weight_one() {
    let spec = input("nu");
    assert_eq!((spec.text.as_str(), spec.weight), ("nu", 1.0));
    assert_eq!(path("nu"), ["nu"]);
    assert!(variable("nu").selectors.is_empty());
}

#[test]
fn weights() {
    assert_eq!(input("nu=2.5").weight, 2.5);
    assert_eq!(input("a[0..=3]=-1e-3").weight, -1e-3);
    assert_eq!(input("a[0..=3]").weight, 1.0);
    assert_eq!(input("f#ret=3").text, "f#ret");
}

#[test]
fn qualified_names() {
    assert_eq!(path("ns::Class::x"), ["ns", "Class", "x"]);
    assert_eq!(path("::x"), ["x"]);
    assert_eq!(path("phys::nu"), ["phys", "nu"]);
    assert_eq!(path("__phys_MOD_nu"), ["__phys_MOD_nu"]);
    assert_eq!(path("burgers::grid::STATIC"), ["burgers", "grid", "STATIC"]);
    assert_eq!(path("(anonymous namespace)::x"), ["(anonymous namespace)", "x"]);
    assert_eq!(path("Grid<int, std::pair<a, b> >::h"), ["Grid<int, std::pair<a, b> >", "h"]);
    assert_eq!(path("'solve.c'::nu"), ["solve.c", "nu"]);
    assert_eq!(path("run::{closure#0}::X"), ["run", "{closure#0}", "X"]);
    assert_eq!(variable("ns::x[1]").name, "ns::x");
}

#[test]
fn elements() {
    use Subscript::One;
    assert_eq!(subscripts("a[3]"), [One(3)]);
    assert_eq!(subscripts("a[1][2]"), [One(1), One(2)]);
    assert_eq!(subscripts("a(1, -2)"), [One(1), One(-2)]);
    assert_eq!(subscripts("a[1..4]"), [range(Some(1), Some((4, false)))]);
    assert_eq!(subscripts("a[1..=4]"), [range(Some(1), Some((4, true)))]);
    assert_eq!(subscripts("a[2..]"), [range(Some(2), None)]);
    assert_eq!(subscripts("a[..][0]"), [range(None, None), One(0)]);
    assert_eq!(subscripts("a(0:3,:)"), [range(Some(0), Some((3, true))), range(None, None)]);
}

#[test]
fn members() {
    let member = |name: &str| Selector::Member(name.into());
    assert_eq!(variable("s.x").selectors, [member("x")]);
    assert_eq!(variable("p%x").selectors, [member("x")]);
    let index = Selector::Index(vec![Subscript::One(3)]);
    assert_eq!(variable("s.arr[3].re").selectors, [member("arr"), index, member("re")]);
}

#[test]
fn element_types() {
    assert_eq!(variable("x:float").format, Some(Format::F32));
    assert_eq!(variable("ns::x[2]:double").format, Some(Format::F64));
    assert_eq!(variable("x:longdouble").format, Some(Format::F80));
    assert_eq!(variable("x").format, None);
}

#[test]
fn at_functions() {
    let Target::Variable { variable, at } = place("a[0..3]:float@ns::solve(double)=2") else { panic!() };
    assert_eq!((variable.name.as_str(), at), ("a", Some(named("ns::solve(double)"))));
    let Target::Variable { at, .. } = place("x@libsolve.so+0x1a0") else { panic!() };
    assert_eq!(at, Some(Callee::At { module: "libsolve.so".into(), offset: 0x1a0 }));
}

/// Function, value and calls of a SPEC that has no more than these.
fn call(spec: &str) -> (Callee, Slot, Calls) {
    match place(spec) {
        Target::Call { function, slot, selectors, format: None, calls } if selectors.is_empty() => {
            (function, slot, calls)
        }
        other => panic!("{spec}: {other:?}"),
    }
}

#[test]
fn arguments_and_results() {
    let all = |name: &str, slot| (named(name), slot, Calls::All);
    assert_eq!(call("f#2"), all("f", Slot::Argument(2)));
    assert_eq!(call("step_#*1"), all("step_", Slot::Pointee(1)));
    assert_eq!(call("ns::f(double, int)#ret"), all("ns::f(double, int)", Slot::Result));
    assert_eq!(call("operator==#1"), all("operator==", Slot::Argument(1)));
    assert_eq!(call("operator[]#1"), all("operator[]", Slot::Argument(1)));
    assert_eq!(call("run::{closure#0}#1"), all("run::{closure#0}", Slot::Argument(1)));
}

#[test]
fn some_of_the_calls() {
    let alike = |text: &str, value| Calls::Alike { text: text.into(), value };
    assert_eq!(call("f#ret[14]"), (named("f"), Slot::Result, Calls::Numbers(14..=14)));
    assert_eq!(call("f#2[3..7]"), (named("f"), Slot::Argument(2), Calls::Numbers(3..=6)));
    assert_eq!(call("f#ret~2.1e5=3"), (named("f"), Slot::Result, alike("2.1e5", 2.1e5)));
    assert_eq!(call("A::~A#1~-2"), (named("A::~A"), Slot::Argument(1), alike("-2", -2.0)));
    let at = Callee::At { module: "ngspice".into(), offset: 0x1234 };
    assert_eq!(call("ngspice+0x1234#ret"), (at, Slot::Result, Calls::All));
    assert!(call("f#ret[14]").2.is_one());
    assert!(!call("f#ret[1..3]").2.is_one());
}

#[test]
fn what_arguments_point_to() {
    let pointee = |spec| match place(spec) {
        Target::Call { slot: Slot::Pointee(number), selectors, format, .. } => (number, selectors, format),
        other => panic!("{spec}: {other:?}"),
    };
    let range = |end| Selector::Index(vec![Subscript::Range { start: Some(0), end: Some((end, false)) }]);
    assert_eq!(pointee("f#*3[0..100]"), (3, vec![range(End::Index(100))], None));
    assert_eq!(pointee("f#*3[0..n]"), (3, vec![range(End::Variable("n".into()))], None));
    assert_eq!(pointee("fwrite#*1[0..#3]:float"), (1, vec![range(End::Argument(3))], Some(Format::F32)));
    assert_eq!(pointee("f#*1->x"), (1, vec![Selector::Member("x".into())], None));
}

#[test]
fn pointers() {
    let member = |name: &str| Selector::Member(name.into());
    assert_eq!(variable("*p").selectors, [Selector::Pointee]);
    assert_eq!(variable("**p.x").selectors, [member("x"), Selector::Pointee, Selector::Pointee]);
    assert_eq!(variable("p->x").selectors, [member("x")]);
    let until = Subscript::Range { start: None, end: Some((End::Variable("n".into()), true)) };
    assert_eq!(subscripts("p[..=n]"), [until]);
}

#[test]
fn local_variables() {
    let local = |spec| match place(spec) {
        Target::Local { scope, variable } => (scope, variable.name, variable.format),
        other => panic!("{spec}: {other:?}"),
    };
    let function = |name: &str| Scope::Function(name.into());
    assert_eq!(local("f:x"), (function("f"), "x".into(), None));
    assert_eq!(local("ns::f(double):x:float"), (function("ns::f(double)"), "x".into(), Some(Format::F32)));
    let line = Scope::Line { file: "dir/file.c".into(), line: 12 };
    assert_eq!(local("dir/file.c:12:x[3]"), (line, "x".into(), None));
    let Target::Local { variable: pointer, .. } = place("f:*p") else { panic!() };
    assert_eq!(pointer.selectors, [Selector::Pointee]);
    assert_eq!(variable("a(1:3)").name, "a", "the colon of a subscript");
}

#[test]
fn numbers_of_texts() {
    let text = |spec| match input(spec).target {
        InputTarget::Text(TextPlace { source, lines, numbers }) => {
            (source, lines.map(|s| (s.first, s.last)), numbers.map(|s| (s.first, s.last)))
        }
        other => panic!("{spec}: {other:?}"),
    };
    let file = |name: &str| TextSource::File(name.into());
    assert_eq!(text("arg:2"), (TextSource::Argument(2), None, None));
    assert_eq!(text("arg:2:1=0.5"), (TextSource::Argument(2), None, Some((1, 1))));
    assert_eq!(text("env:NU"), (TextSource::Environment("NU".into()), None, None));
    assert_eq!(text("stdin"), (TextSource::Stdin, None, None));
    assert_eq!(text("stdin:12:3"), (TextSource::Stdin, Some((12, 12)), Some((3, 3))));
    assert_eq!(text("file:in.dat"), (file("in.dat"), None, None));
    assert_eq!(text("file:in.dat:12:3"), (file("in.dat"), Some((12, 12)), Some((3, 3))));
    assert_eq!(text("file:in.dat:12-40:2"), (file("in.dat"), Some((12, 40)), Some((2, 2))));
    assert_eq!(text("file:in.dat:7"), (file("in.dat"), Some((7, 7)), None));
    assert_eq!(text("file:C:a=b:7:1-3"), (file("C:a=b"), Some((7, 7)), Some((1, 3))));
    assert_eq!(input("file:a=b:1:2=2").weight, 2.0);
    let one = |spec| matches!(input(spec).target, InputTarget::Text(place) if place.is_one());
    assert!(one("arg:1") && one("file:x:1:1") && one("stdin:3:1"));
    assert!(!one("file:x") && !one("file:x:1") && !one("file:x:1-2:1") && !one("stdin"));
}

#[test]
fn numbers_that_are_parsed() {
    let parsed = |spec| match input(spec).target {
        InputTarget::Parsed(calls) => calls,
        other => panic!("{spec}: {other:?}"),
    };
    assert_eq!(parsed("parsed:7"), Calls::Numbers(7..=7));
    assert_eq!(parsed("parsed:0..3"), Calls::Numbers(0..=2));
    assert_eq!(parsed("parsed~2.1e5"), Calls::Alike { text: "2.1e5".into(), value: 2.1e5 });
}

#[test]
fn printed_numbers() {
    let output = |spec: &str| spec.parse::<OutputSpec>().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(output("last"), OutputSpec::Last);
    assert_eq!(output("label:total energy="), OutputSpec::Label("total energy=".into()));
    assert_eq!(output("site:src/main.c:57"), OutputSpec::Site { file: "src/main.c".into(), line: 57 });
    let at = |stream, lines, numbers| {
        let span = |number| Span { first: number, last: number };
        OutputSpec::Written(StreamPlace { stream, lines: Some(span(lines)), numbers: Some(span(numbers)) })
    };
    assert_eq!(output("stdout:12:1"), at(Stream::Stdout, 12, 1));
    assert_eq!(output("file:beam.dat:40:2"), at(Stream::File("beam.dat".into()), 40, 2));
    let whole = StreamPlace { stream: Stream::Stderr, lines: None, numbers: None };
    assert_eq!(output("stderr"), OutputSpec::Written(whole));
}

#[test]
fn outputs() {
    assert_eq!("printed".parse(), Ok(OutputSpec::Printed));
    let spec: OutputSpec = "u[1]@f".parse().unwrap();
    assert!(
        matches!(spec, OutputSpec::Named { text, target: Target::Variable { .. }, weight: None } if text == "u[1]@f")
    );
    let scripts = |spec: &str| match spec.parse().unwrap() {
        OutputSpec::Named { target: Target::Script { name, subscripts }, .. } => (name, subscripts.len()),
        other => panic!("{other:?}"),
    };
    assert_eq!(scripts("python:x"), ("x".to_owned(), 0));
    assert_eq!(scripts("python:rows[-1][0..2]=2"), ("rows".to_owned(), 2));
    for spec in ["python:x.y", "python:*x", "python:a::b", "python:x:float", "python:x[0..n]"] {
        assert_eq!(spec.parse::<OutputSpec>().unwrap_err().problem(), Problem::ScriptVariable, "{spec}");
    }
    assert!(
        matches!("printed[0]".parse(), Ok(OutputSpec::Named { .. })),
        "a variable may have this name too"
    );
}

/// SPECs that are none, and what is said of them.
const MALFORMED: &[(&str, &str)] = &[
    ("", "``: a variable's name is missing at its end"),
    ("a[", "`a[`: expected an index, a whole number at its end"),
    ("a[1.5]", "`a[1.5]`: expected `]` at `.5]` (column 4)"),
    ("a[1..x.y]", "`a[1..x.y]`: expected `]` at `.y]` (column 7)"),
    ("a[0..#]", "`a[0..#]`: expected an argument's number from 1 at `]` (column 7)"),
    ("a[x]", "`a[x]`: expected an index, a whole number at `x]` (column 3)"),
    ("a[-]", "`a[-]`: expected an index, a whole number at `-]` (column 3)"),
    ("a[1:3]", "`a[1:3]`: write i..j (j excluded) between brackets at `:3]` (column 4)"),
    ("a[3..3]", "`a[3..3]`: this range is empty at `3..3]` (column 3)"),
    ("a(1,2", "`a(1,2`: expected `)` at its end"),
    (
        "a[99999999999999999999]",
        "`a[99999999999999999999]`: expected an index, a whole number at `99999999999999999999]` (column 3)",
    ),
    ("s.", "`s.`: a member's name is missing at its end"),
    ("x:int", "`x:int`: expected float, double or longdouble at `int` (column 3)"),
    ("ns::", "`ns::`: a variable's name is missing at its end"),
    ("x@", "`x@`: a function's name is missing at its end"),
    ("#1", "`#1`: a function's name is missing at `#1` (column 1)"),
    ("f#0", "`f#0`: expected an argument's number from 1, `*` and a number, or `ret` at `0` (column 3)"),
    ("f#", "`f#`: expected an argument's number from 1, `*` and a number, or `ret` at its end"),
    ("f#*x", "`f#*x`: expected an argument's number from 1, `*` and a number, or `ret` at `*x` (column 3)"),
    ("x=abc", "`x=abc`: expected a finite number as weight at `abc` (column 3)"),
    ("x=", "`x=`: expected a finite number as weight at its end"),
    ("x=inf", "`x=inf`: expected a finite number as weight at `inf` (column 3)"),
    ("f#ret[x]", "`f#ret[x]`: expected a number from 0 at `x]` (column 7)"),
    ("f#ret[3..3]", "`f#ret[3..3]`: this range is empty at `3..3]` (column 7)"),
    ("f#ret~x", "`f#ret~x`: expected a number at `x` (column 7)"),
    ("f#ret[1]~2", "`f#ret[1]~2`: expected the end at `~2` (column 9)"),
    ("a+0xg#1", "`a+0xg#1`: expected a module and a hexadecimal offset at `g#1` (column 5)"),
    ("parsed:x", "`parsed:x`: expected a number from 0 at `x` (column 8)"),
    ("arg:0", "`arg:0`: expected the number of a word after the program, from 1 at `0` (column 5)"),
    ("env:", "`env:`: the name of an environment variable is missing at its end"),
    ("file:", "`file:`: a file's name is missing at its end"),
    (
        "stdin:a:1",
        "`stdin:a:1`: expected lines and numbers from 1, as in 12, 12:3 or 12-40:3 at `a:1` (column 7)",
    ),
    (
        "file:x:0:1",
        "`file:x:0:1`: expected lines and numbers from 1, as in 12, 12:3 or 12-40:3 at `0:1` (column 8)",
    ),
    ("python:x", "`python:x`: only an output can be named so at `python:x` (column 1)"),
    ("stdout:1:1", "`stdout:1:1`: only an output can be named so at `stdout:1:1` (column 1)"),
    ("µ€[", "`µ€[`: expected the end at `€[` (column 2)"),
    ("a b", "`a b`: expected the end at ` b` (column 2)"),
];

#[test]
fn malformed() {
    for &(spec, expected) in MALFORMED {
        let error = spec.parse::<InputSpec>().expect_err(spec);
        assert_eq!(error.to_string(), expected);
    }
    let error = "arg:1".parse::<OutputSpec>().unwrap_err();
    assert_eq!(error.to_string(), "`arg:1`: only an input can be named so at `arg:1` (column 1)");
    let weighted: OutputSpec = "x=2".parse().unwrap();
    assert!(matches!(weighted, OutputSpec::Named { text, weight: Some(2.0), .. } if text == "x"));
    assert_eq!("x=a".parse::<OutputSpec>().unwrap_err().problem(), Problem::Weight);
}
