//! Tests of causes of errors.

use super::*;
use shadowgrind_core::shadow::{Rule, Shadow};
use shadowgrind_core::step::Predicate;

const ADD: Site = Site::from_bits(1);
const COMPARE: Site = Site::from_bits(2);

/// Ten times a tenth, and the error that it has.
fn sum(shadow: &mut ErrorShadow) -> (f64, Option<f64>) {
    let (mut sum, mut error) = (0.0_f64, None);
    for _ in 0..10 {
        let r = sum + 0.1;
        let x = [sum, 0.1].map(|x: f64| u128::from(x.to_bits()));
        let lane = Lane {
            site: ADD,
            op: Op::Add,
            from: Format::F64,
            to: Format::F64,
            x: &x,
            r: r.to_bits().into(),
            shadows: &[error.as_ref(), None],
        };
        error = shadow.op(&lane);
        sum = r;
    }
    (sum, error)
}

/// A decision that is another than in the reals is put down to the sum that made it so.
#[test]
fn decisions_have_causes() {
    let mut shadow = <ErrorShadow as Shadow>::new(&Settings::default());
    let (sum, error) = sum(&mut shadow);
    let of = |x: f64, shadow| Observed { format: Format::F64, bits: x.to_bits().into(), shadow };
    let x = [of(sum, error.as_ref()), of(1.0, None)];
    shadow.compare(COMPARE, Predicate(Predicate::LESS), x);
    let findings = shadow.findings();
    let branch = findings.iter().find(|finding| finding.kind == FindingKind::Branch);
    assert_eq!(branch.map(|branch| &branch.causes[..]), Some(&[ADD][..]), "{findings:?}");
    let cause = findings.iter().find(|finding| finding.site == ADD);
    assert_eq!(cause.map(|cause| cause.kind), Some(FindingKind::Accumulation));
}

/// A difference of floats that nobody saw being made has the error that their errors say, not that of their floats.
#[test]
fn operands_that_were_not_seen_are_not_taken_for_exact() {
    let mut shadow = <ErrorShadow as Shadow>::new(&Settings::default());
    let (a, b) = (48.254_027_162_905_94_f64, 48.254_027_162_534_186_f64);
    let errors = [2.555_908_043_212_256e-15, 1.277_954_021_606_128e-15];
    let lane = Lane {
        site: ADD,
        op: Op::Sub,
        from: Format::F64,
        to: Format::F64,
        x: &[a, b].map(|x| x.to_bits().into()),
        r: (a - b).to_bits().into(),
        shadows: &[Some(&errors[0]), Some(&errors[1])],
    };
    let error = shadow.op(&lane);
    let seen = Observed { format: Format::F64, bits: (a - b).to_bits().into(), shadow: error.as_ref() };
    let bits = Shadow::error_bits(&shadow, seen).unwrap_or_default();
    assert!((30.0..40.0).contains(&bits), "{error:?}: {bits} bits");
}

/// Numbers that are one float with one error in twice the precision are told apart where both are seen.
#[test]
fn roots_of_neighbours_are_told_apart() {
    let mut shadow = <ErrorShadow as Shadow>::new(&Settings::default());
    let mut done = |op, x: &[f64], r: f64, shadows: &[Option<f64>]| {
        let shadows: Vec<_> = shadows.iter().map(Option::as_ref).collect();
        let bits: Vec<u128> = x.iter().map(|x| x.to_bits().into()).collect();
        let (from, to, r) = (Format::F64, Format::F64, r.to_bits().into());
        shadow.op(&Lane { site: ADD, op, from, to, x: &bits, r, shadows: &shadows })
    };
    let sum = done(Op::Add, &[1e200, 1.0], 1e200, &[None, None]);
    let (root, first) = (1e200_f64.sqrt(), done(Op::Sqrt, &[1e200], 1e200_f64.sqrt(), &[sum]));
    let second = done(Op::Sqrt, &[1e200], root, &[None]);
    let difference = done(Op::Sub, &[root, root], 0.0, &[first, second]);
    assert_eq!(difference.map(|error| (error * 2e100 * 1e10).round()), Some(1e10));
}

/// A sum of floats, its sign turned over and then widened, is measured as the float it is.
#[test]
fn a_turned_sign_keeps_the_format() {
    let mut shadow = <ErrorShadow as Shadow>::new(&Settings::default());
    let x = [0.1_f32, 0.7].map(|x| u128::from(x.to_bits()));
    let r = 0.1_f32 + 0.7;
    let lane = Lane {
        site: ADD,
        op: Op::Add,
        from: Format::F32,
        to: Format::F32,
        x: &x,
        r: r.to_bits().into(),
        shadows: &[None, None],
    };
    let error = shadow.op(&lane).expect("the sum is not exact");
    let turned = shadow.widen(-error, Format::F32, Format::F64);
    let seen =
        Observed { format: Format::F64, bits: (-f64::from(r)).to_bits().into(), shadow: Some(&turned) };
    assert!(Shadow::error_bits(&shadow, seen).is_some_and(|bits| bits <= 1.0));
}
