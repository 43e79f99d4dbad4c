//! Every form of a SPEC, and every way to get it wrong.

use super::*;

fn input(spec: &str) -> InputSpec {
    spec.parse().unwrap_or_else(|e| panic!("{e}"))
}

fn variable(spec: &str) -> Variable {
    match input(spec).target {
        Target::Variable { variable, at: None } => variable,
        other => panic!("{spec}: {other:?}"),
    }
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
    Subscript::Range { start, end }
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
    let Target::Variable { variable, at } = input("a[0..3]:float@ns::solve(double)=2").target else {
        panic!()
    };
    assert_eq!((variable.name.as_str(), at.as_deref()), ("a", Some("ns::solve(double)")));
}

#[test]
fn arguments_and_results() {
    let call = |spec| match input(spec).target {
        Target::Call { function, slot } => (function, slot),
        other => panic!("{other:?}"),
    };
    assert_eq!(call("f#2"), ("f".into(), Slot::Argument(2)));
    assert_eq!(call("step_#*1"), ("step_".into(), Slot::Pointee(1)));
    assert_eq!(call("ns::f(double, int)#ret"), ("ns::f(double, int)".into(), Slot::Result));
    assert_eq!(call("operator==#1"), ("operator==".into(), Slot::Argument(1)));
    assert_eq!(call("run::{closure#0}#1"), ("run::{closure#0}".into(), Slot::Argument(1)));
}

#[test]
fn outputs() {
    assert_eq!("printed".parse(), Ok(OutputSpec::Printed));
    let spec: OutputSpec = "u[1]@f".parse().unwrap();
    assert!(matches!(spec, OutputSpec::Named { text, target: Target::Variable { .. } } if text == "u[1]@f"));
    assert!(
        matches!("printed[0]".parse(), Ok(OutputSpec::Named { .. })),
        "a variable may have this name too"
    );
}

#[test]
fn malformed() {
    let cases = [
        ("", "``: a variable's name is missing at its end"),
        ("a[", "`a[`: expected an index, a whole number at its end"),
        ("a[1.5]", "`a[1.5]`: expected `]` at `.5]` (column 4)"),
        ("a[1..x]", "`a[1..x]`: expected `]` at `x]` (column 6)"),
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
        (
            "f#*x",
            "`f#*x`: expected an argument's number from 1, `*` and a number, or `ret` at `*x` (column 3)",
        ),
        ("x=abc", "`x=abc`: expected a finite number as weight at `abc` (column 3)"),
        ("x=", "`x=`: expected a finite number as weight at its end"),
        ("x=inf", "`x=inf`: expected a finite number as weight at `inf` (column 3)"),
        ("µ€[", "`µ€[`: expected the end at `€[` (column 2)"),
        ("a b", "`a b`: expected the end at ` b` (column 2)"),
    ];
    for (spec, expected) in cases {
        let error = spec.parse::<InputSpec>().expect_err(spec);
        assert_eq!(error.to_string(), expected);
    }
    let error = "x=2".parse::<OutputSpec>().unwrap_err();
    assert_eq!(error.to_string(), "`x=2`: an output has no weight at `=2` (column 2)");
    assert_eq!(error.problem(), Problem::WeightOfOutput);
}
