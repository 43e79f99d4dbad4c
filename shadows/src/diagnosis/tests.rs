//! Attribution for a number type that no shadow has: a real that is a double, beside floats of four bytes.

use shadowgrind_core::findings::{FindingKind, Judgement};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Lane, Observed, Settings};
use shadowgrind_core::site::Site;
use shadowgrind_core::text::Notation;

use super::Diagnosis;
use super::blame::{Amplifications, Roundings};
use super::history::Serial;
use super::influences::Influences;
use super::linear::Linear;
use super::local_error::Outcome;
use super::number::{Attributed, Compared, Measured, Number};
use super::operations::What;
use crate::distance::floats_between;

impl Number for f64 {
    fn exponent(&self) -> Option<i32> {
        (self.is_normal()).then(|| libm::ilogb(*self) + 1)
    }

    fn is_nan(&self) -> bool {
        f64::is_nan(*self)
    }

    fn is_infinite(&self) -> bool {
        f64::is_infinite(*self)
    }

    fn is_zero(&self) -> bool {
        *self == 0.0
    }

    fn is_negative(&self) -> bool {
        self.is_sign_negative()
    }

    fn nearest(&self, format: Format) -> u128 {
        format.from_f64(*self)
    }

    fn nearest_off(&self, format: Format, coefficient: f64) -> u128 {
        format.from_f64(self + coefficient)
    }

    fn error_of(&self, format: Format, bits: u128) -> f64 {
        format.to_f64(bits) - self
    }
}

#[derive(Clone, Debug)]
struct Double {
    real: f64,
    serial: Serial,
    roundings: Roundings,
    amplifications: Amplifications,
    influences: Influences,
}

impl Attributed for Double {
    type Number = f64;

    fn number(&self) -> &f64 {
        &self.real
    }

    fn own_format(&self) -> Format {
        Format::F32
    }

    fn serial(&self) -> Serial {
        self.serial
    }

    fn roundings(&self) -> &Roundings {
        &self.roundings
    }

    fn amplifications(&self) -> &Amplifications {
        &self.amplifications
    }

    fn influences(&self) -> &Influences {
        &self.influences
    }

    fn is_settled(&self, _format: Format) -> bool {
        true
    }

    fn is_surely_off(&self, _format: Format, _bits: u128) -> bool {
        true
    }

    fn is_followed(&self, _error: f64) -> bool {
        true
    }

    fn measured(seen: &Observed<'_, Double>) -> Measured {
        let error_bits = seen.shadow.map_or(0.0, |shadow| shadow.bits_off(seen.format, seen.bits));
        Measured { error_bits, correct_digits: 0.0, real: String::new() }
    }

    fn compared(_seen: &Observed<'_, Double>, _notation: &Notation) -> Compared {
        unreachable!("nothing is printed here")
    }
}

/// A float and its shadow.
type Tracked = (f32, Option<Double>);

/// One operation of the program on single floats.
fn execute(diagnosis: &mut Diagnosis<Double>, line: u32, op: Op, x: [&Tracked; 2]) -> Tracked {
    let real = |n: usize| x[n].1.as_ref().map_or(f64::from(x[n].0), |shadow| shadow.real);
    let in_floats = |x: &[f32]| if op == Op::Add { x[0] + x[1] } else { x[0] - x[1] };
    let (r, real) =
        (in_floats(&[x[0].0, x[1].0]), if op == Op::Add { real(0) + real(1) } else { real(0) - real(1) });
    let bits = x.map(|x| u128::from(x.0.to_bits()));
    let shadows = x.map(|x| x.1.as_ref());
    let lane = Lane {
        site: Site::from_bits(line),
        op,
        from: Format::F32,
        to: Format::F32,
        x: &bits,
        r: r.to_bits().into(),
        shadows: &shadows,
    };
    let id = diagnosis.operations.at(lane.site, What::Op(op), (Format::F32, Format::F32));
    let mut linear = Linear::new(&lane);
    let _ = linear.is_exact(&lane);
    linear.differentiate(op, 2);
    let rounded = real.nearest(Format::F32);
    let floats = floats_between(Format::F32, lane.r, rounded);
    let outcome = Outcome { lane: &lane, linear: &linear, value: &real, rounded, floats };
    let local_error = outcome.local_error(|_| unreachable!("sums need no help"), diagnosis.threshold);
    let (roundings, amplifications, scale) = diagnosis.follow_roundings(id, &linear, &lane, &real);
    let influences = diagnosis.influences((id, local_error), &linear, &lane, &real, scale);
    let serial = diagnosis.history.push(id, &lane);
    diagnosis.note(id, &lane, &linear, floats, 53);
    diagnosis.explain_now(id, &lane, local_error, floats);
    (r, Some(Double { real, serial, roundings, amplifications, influences }))
}

/// A sum that takes no notice of an addend and the difference that shows it both answer, with the formulae of what they computed.
#[test]
fn any_number_type_is_served() {
    let mut diagnosis = Diagnosis::new(&Settings::default());
    let (large, small) = ((1.0e8_f32, None), (1.25_f32, None));
    let sum = execute(&mut diagnosis, 1, Op::Add, [&large, &small]);
    let rest = execute(&mut diagnosis, 2, Op::Sub, [&sum, &large]);
    assert_eq!((rest.0, rest.1.as_ref().map(|shadow| shadow.real)), (0.0, Some(1.25)));
    let seen = Observed { format: Format::F32, bits: rest.0.to_bits().into(), shadow: rest.1.as_ref() };
    assert_eq!(diagnosis.leaves(Some(0), &seen, None).judgement, Judgement::Wrong);
    let findings = diagnosis.findings();
    let found =
        findings.iter().map(|finding| (finding.kind, finding.site.bits(), finding.expression.as_deref()));
    let expected = [
        (FindingKind::Absorption, 1, Some("100000000.0 + 1.25")),
        (FindingKind::Cancellation, 2, Some("100000000.0 + 1.25 - 100000000.0")),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}
