//! The rounding error of each float: beside it, what is to be added to it to have the real number.
//!
//! The cell holds **real − float**, a number of the float's own format, so that float + error has twice the float's
//! precision: double-double arithmetic whose high part is the program's own. Each operation adds what it rounded off itself
//! (TABLE 1's residual: error-free transformations) to what its operands' errors make of the result (`Op::moved`, or first
//! order where that is all there is). Exact results of exact operands have an error of +0, which is no shadow.
//!
//! The commonest functions are computed in double-double arithmetic at operands + errors (`functions`). What neither does, which are
//! other functions, roundings to integers and whatever is done in 80 bits, is computed as reals of MPFR, out of line.
//!
//! **NaN is an unknown error**: the result is NaN or infinite, or was made of such a number. What it stands beside is never
//! called right.
//!
//! How well an error is known is not kept: it is taken to have lost [`LOST`] of its bits, and to know nothing of the float
//! beyond [`REACH`] bits. Where the reals of executions that are seen know far less, a quotient, root or function has an unknown error
//! instead. Knows nothing of where errors are kept.

mod by_reals;
mod causes;
mod decisions;
mod functions;
mod inline;
mod known;
mod pair;

use rug::Float;
use shadowgrind_core::arith::{Arith, Host};
use shadowgrind_core::findings::{
    self, Coverage, Exhausted, Finding, Judgement, OutputShadow, Subject, Value,
};
use shadowgrind_core::format::Format;
use shadowgrind_core::inline::{Given, Inline};
use shadowgrind_core::ops::{ERROR_BOUND, InParts, MAX_OPERANDS, Op, Parts};
use shadowgrind_core::reals::Reals;
use shadowgrind_core::rounding::Rounding;
use shadowgrind_core::shadow::{
    Errors, Lane, Leaves, Observed, Policy, Rule, Seed, Sent, Settings, Shadow, reach,
};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, Sums, ToInteger};
use shadowgrind_core::words::{InPlace, WIDENED, WIDENED_DOUBLE, WIDENED_DOUBLE_BITS, is_trace};

use crate::diagnosis::operations::What;
use crate::diagnosis::special;
use crate::diagnosis::spots::{Left, verdict};
use crate::exact::rounds_to_integer;
use crate::reals::measure;
use crate::reals::mpfr::Mpfr;
use crate::reals::real::Real;
use by_reals::{PRECISION, difference_of, is_function, is_lost, real, traced};
use causes::{Causes, WATCH};
use decisions::Outcome;

/// Bits that an error may have lost to the roundings of errors.
const LOST: i32 = 20;
/// The bits of a double's fraction that a float's has not.
const FRACTION: u64 = (1 << 29) - 1;
/// Units in the last place of 1 from which a relative error is suspicious: those of some five bits.
const SUSPICIOUS: f64 = 16.0;
/// Relative error from which a long double's is suspicious: as many units, of 2^-63 each.
const SUSPICIOUS_LONG: f64 = SUSPICIOUS / (1_u64 << 63) as f64;
/// Bits below a float's first of which its error knows nothing.
const REACH: i32 = 100;

/// Shadow that carries the rounding error of each float: the real number less the float.
#[derive(Debug)]
pub struct ErrorShadow {
    settings: Settings,
    reals: Mpfr,
    /// Rounding modes of x87's instructions and of all others.
    rounding: [Rounding; 2],
    /// Purpose of sums.
    sums: Sums,
    /// True if what is decided now is about how numbers are written.
    ignores_decisions: bool,
    causes: Causes,
    /// True once any operation was seen: the first executions of each are.
    has_seen: bool,
    /// First place of an output before which the program had raised the underflow exception.
    underflowed: Option<Site>,
}

/// Tells whether what is kept beside a float is no error of it, but a trace, or what is left where the end of a double was overwritten: far
/// below all that an error [knows of](REACH).
fn is_changed(format: Format, bits: u128, error: f64) -> bool {
    const LEAST: f64 = f64::MIN_POSITIVE * (1_u128 << (REACH + 1)) as f64;
    let lacks_end = format == Format::F64 && error.is_subnormal() && format.to_f64(bits).abs() > LEAST;
    lacks_end || is_trace(error)
}

/// Tells whether the rule is straight-line arithmetic: not where the result steps from integer to integer, so that no derivative
/// tells what an error does to it.
fn is_straight(op: Op) -> bool {
    use Op::{Ceil, Floor, Rint, Round, RoundEven, Trunc};
    op.is_arithmetic() && !matches!(op, RoundEven | Round | Rint | Floor | Ceil | Trunc)
}

/// The format in which what an operation rounds off is a number.
fn format_of(op: Op, from: Format, to: Format) -> Format {
    if op == Op::Narrow { from } else { to }
}

impl ErrorShadow {
    /// The error of a result in one of the two usual formats, of straight-line arithmetic or of a function, for which it may be NaN.
    fn straight(lane: &Lane<'_, f64>) -> f64 {
        let (mut x, mut errors) = ([0.0; MAX_OPERANDS], [0.0; MAX_OPERANDS]);
        for (i, (&bits, shadow)) in lane.x.iter().zip(lane.shadows).enumerate() {
            x[i] = lane.from.to_f64(bits);
            errors[i] = shadow.copied().unwrap_or(0.0);
        }
        let (count, r) = (lane.x.len(), lane.to.to_f64(lane.r));
        let given = Given { x: &x[..count], r, shadows: &errors[..count] };
        let error = Self::eval(format_of(lane.op, lane.from, lane.to), lane.op, given);
        Host::new(lane.to).round(error)
    }

    /// The error of a result where long doubles are concerned, if arithmetic tells.
    fn long(lane: &Lane<'_, f64>) -> Option<f64> {
        let mut x = [Parts { high: 0.0, low: 0.0 }; MAX_OPERANDS];
        let mut errors = [0.0; MAX_OPERANDS];
        for (i, (&bits, shadow)) in lane.x.iter().zip(lane.shadows).enumerate() {
            x[i] = Parts::of_format(lane.from, bits)?;
            errors[i] = shadow.copied().unwrap_or(0.0);
        }
        let count = lane.x.len();
        let given =
            InParts { x: &x[..count], r: Parts::of_format(lane.to, lane.r)?, errors: &errors[..count] };
        let error = lane.op.error_in_parts(&Host::new(Format::F64), given)?;
        Some(Host::new(lane.to).round(error))
    }

    /// The error of any result, by MPFR.
    fn by_reals(&mut self, lane: &Lane<'_, f64>) -> f64 {
        if lane.op == Op::Nextafter && lane.shadows.iter().all(Option::is_none) {
            // A number chosen for what it is in its format: no other is meant.
            return 0.0;
        }
        let errors: [f64; MAX_OPERANDS] =
            std::array::from_fn(|i| lane.shadows.get(i).copied().flatten().copied().unwrap_or(0.0));
        let floats: [f64; MAX_OPERANDS] =
            std::array::from_fn(|i| lane.x.get(i).map_or(0.0, |&bits| lane.from.to_f64(bits)));
        if is_lost(lane.op, &floats[..lane.x.len()], &errors[..lane.x.len()]) {
            return f64::NAN;
        }
        functions::prepare_rare(lane.op);
        self.reals.current = self.rounding[usize::from(lane.from != Format::F80)];
        let operand = |i: usize| real(lane.from, lane.x[i], lane.shadows[i].copied());
        let operands: Vec<Float> = (0..lane.x.len()).map(operand).collect();
        let error = difference_of(&self.reals, lane.op, &operands, (lane.to, lane.r));
        if !is_function(lane.op) || !error.is_finite() {
            return error;
        }
        traced(lane.op, lane.to, error, &errors[..lane.x.len()])
    }

    /// The error of a sum with a magic number, which is that of the integer in its last digits: another one where float and real are
    /// rounded apart. There is none in a fraction, which the program has chosen.
    fn rounded(&mut self, lane: &Lane<'_, f64>) -> f64 {
        let Some(index) = rounds_to_integer(lane, self.sums) else { return 0.0 };
        self.reals.current = self.rounding[usize::from(lane.from != Format::F80)];
        let x = Observed { format: lane.from, bits: lane.x[index], shadow: lane.shadows[index] };
        match decisions::converted(ToInteger::Round, x, &self.reals) {
            Outcome::Alike => 0.0,
            Outcome::Unsettled => f64::NAN,
            Outcome::Flips => {
                let integer = |error| self.reals.round(&real(x.format, x.bits, error), Rounding::Current);
                let error = (integer(x.shadow.copied()) - integer(None)).to_f64();
                if lane.op == Op::Sub && index == 1 { -error } else { error }
            }
        }
    }

    /// The float with its error as a real with the bound of its error, as reports have it.
    fn measurable(x: &Observed<'_, f64>) -> Option<Real> {
        let (error, own) = (*x.shadow?, own_format(x));
        let value = real(x.format, x.bits, Some(error));
        let bound = Self::bound(x.format.to_f64(x.bits), error, own);
        Some(Real::about(value, own, bound.map_or(f32::INFINITY, |bound| bound as f32)))
    }

    /// log₂ of what the real of `float`, a number of this format, may be off by where nothing but its error is known; none if it may be
    /// anything.
    fn bound(float: f64, error: f64, format: Format) -> Option<i32> {
        let size = |x: f64| if x == 0.0 { i32::MIN / 2 } else { libm::ilogb(x) + 1 };
        let precision = format.precision().min(Format::F64.precision()) as i32;
        // Of a zero, what it is a difference of is not known, nor how much of its error was lost with that.
        let is_known = error.is_finite() && float.is_finite() && float != 0.0;
        is_known.then(|| (size(error) - precision + LOST).max(size(float) - REACH))
    }

    /// The real as far as it is known: `all` of it where the error is certain, and NaN where nothing of it is.
    fn real_text(&self, x: &Observed<'_, f64>, all: String) -> String {
        let Some(real) = self.causes.known(x).or_else(|| Self::measurable(x)) else { return all };
        if real.significant_bits() < 1 {
            return measure::decimal(&Float::with_val(PRECISION, f64::NAN), 1);
        }
        let digits = f64::from(real.significant_bits()) * std::f64::consts::LOG10_2;
        if digits >= measure::DIGITS as f64 {
            return all;
        }
        measure::decimal(&real.value().float(), digits.max(1.0) as usize)
    }

    fn verdict(&self, x: &Observed<'_, f64>, leaves: Option<&Leaves>) -> Left {
        let known = self.causes.known(x);
        let about = if known.is_none() { Self::measurable(x) } else { None };
        let real = known.as_ref().or(about.as_ref());
        let seen = Observed { format: x.format, bits: x.bits, shadow: real };
        let notation = leaves.and_then(|leaves| leaves.notation.as_ref());
        verdict(&seen, notation, self.settings.error_threshold)
    }
}

/// Not +0 if a difference has an error of at least half its size.
fn doubt_of<K: Arith>(k: &K, difference: K::V, error: K::V) -> K::V {
    let twice = k.abs(k.add(error, error));
    k.select(k.lt(twice, k.abs(difference)), k.lit(0.0), twice)
}

/// a − b, to the precision of `k` where the two are close.
fn difference_in_parts<K: Arith>(k: &K, a: Parts<K::V>, b: Parts<K::V>) -> K::V {
    k.add(k.sub(a.high, b.high), k.sub(a.low, b.low))
}

/// The format in which a float was computed: it may be a narrower one in wider clothes.
fn own_format(x: &Observed<'_, f64>) -> Format {
    let has = |bits, mark| x.shadow.is_some_and(|error| error.to_bits() & bits == mark);
    let is_a = |own: Format| own.convert(x.format.convert(x.bits, own), x.format) == x.bits;
    match x.format {
        Format::F64 | Format::F80 if has(FRACTION, WIDENED) && is_a(Format::F32) => Format::F32,
        Format::F80 if has(WIDENED_DOUBLE_BITS, WIDENED_DOUBLE) && is_a(Format::F64) => Format::F64,
        own => own,
    }
}

impl Rule for ErrorShadow {
    type Value = f64;
    const TRACES: bool = true;

    /// The upper half of a double's error is far too large to be the error of a narrow float.
    fn is_possible(&self, float: &Observed<'_, f64>) -> bool {
        /// Bits that are left of the least exact `f32` of which anything is made.
        const LEFT: i32 = 10;
        let size = float.format.to_f64(float.bits).abs();
        let is_half = |error: f64| error.abs() > libm::ldexp(size, -LEFT);
        float.format != Format::F32 || !float.shadow.is_some_and(|&error| is_half(error))
    }

    fn op(&mut self, lane: &Lane<'_, f64>) -> Option<f64> {
        self.has_seen = true;
        let changed = |(&bits, shadow): (&u128, &Option<&f64>)| {
            shadow.is_some_and(|&error| is_changed(lane.from, bits, error))
        };
        let traces = lane.x.iter().zip(lane.shadows).filter(|&operand| changed(operand)).count();
        if traces != 0 {
            (0..traces).for_each(|_| self.causes.mismatch(lane.site));
            return Some(f64::NAN);
        }
        let usual = |format| matches!(format, Format::F32 | Format::F64);
        let error = match () {
            () if lane.rounds_by_magic(self.sums) => {
                Some(self.rounded(lane)).filter(|&error| error != 0.0)?
            }
            () if !usual(lane.from) || !usual(lane.to) => {
                let known = Self::long(lane).filter(|error| !error.is_nan());
                known.unwrap_or_else(|| self.by_reals(lane))
            }
            () if is_straight(lane.op) => Self::straight(lane),
            () if functions::is_known(lane.op) => {
                let known = Some(Self::straight(lane)).filter(|error| !error.is_nan());
                known.unwrap_or_else(|| self.by_reals(lane))
            }
            () => self.by_reals(lane),
        };
        let error = self.causes.saw(lane, error, (self.rounding, self.sums));
        (error.to_bits() != 0).then_some(error)
    }

    fn scale(&mut self, shadow: &f64, format: Format, negate: bool, power: i32) -> Option<f64> {
        let scaled = libm::ldexp(*shadow, power);
        Some(Host::new(format).round(if negate { -scaled } else { scaled }))
    }

    /// The real may be on the other side of zero than the float is.
    fn with_sign(&mut self, shadow: &f64, format: Format, result: u128, turned: bool) -> Option<f64> {
        let error = if turned { -shadow } else { *shadow };
        let x = format.to_f64(result);
        let real = x + error;
        let crosses =
            real.abs() > ERROR_BOUND * error.abs() && real.is_sign_negative() != format.is_negative(result);
        if !crosses {
            return Some(error);
        }
        let other = Host::new(format).round(-(x + real));
        self.causes.turned(format, result, [error, other]);
        Some(other)
    }

    fn widen(&mut self, error: f64, from: Format, _to: Format) -> f64 {
        let is_there = from == Format::F32 && error.to_bits() != 0;
        f64::from_bits(error.to_bits() | if is_there { WIDENED } else { 0 })
    }

    fn compare(&mut self, site: Site, predicate: Predicate, x: [Observed<'_, f64>; 2]) {
        if !self.ignores_decisions {
            let outcome = decisions::compared(predicate, &x);
            self.causes.decided((site, What::Compare(predicate)), &x, outcome, self.rounding);
        }
    }

    fn to_integer(&mut self, site: Site, how: ToInteger, x: Observed<'_, f64>) {
        self.reals.current = self.rounding[usize::from(x.format != Format::F80)];
        if !self.ignores_decisions {
            let outcome = decisions::converted(how, x, &self.reals);
            self.causes.decided((site, What::Integer(how)), &[x], outcome, self.rounding);
        }
    }

    fn ignore_decisions(&mut self, ignore: bool) {
        self.ignores_decisions = ignore;
    }

    fn underflowed(&mut self, site: Site) {
        self.underflowed.get_or_insert(site);
    }

    fn expect_sums(&mut self, sums: Sums) {
        self.sums = sums;
    }

    fn set_rounding(&mut self, x87: Rounding, others: Rounding) {
        self.rounding = [x87, others];
    }
}

impl Shadow for ErrorShadow {
    const NAME: &'static str = "error";
    const SUMMARY: &'static str = "Rounding errors in twice the precision: which digits are wrong, cheaply";
    const NUMBER: u64 = 3;
    const SUBJECT: Subject = Subject::Errors;
    const POLICY: Policy = Policy {
        magic_rounds: true,
        marks_widened: true,
        watch: Some(WATCH),
        long_rules: true,
        evaluated: functions::KNOWN,
        sent: Sent::Lost,
        errors: Some(Errors::Rounded),
        ..Policy::BORN
    };

    type Reach = reach::Inline;
    type Words = InPlace;

    fn new(settings: &Settings) -> Self {
        let rounding = [Rounding::NearestEven; 2];
        functions::prepare();
        ErrorShadow {
            settings: settings.clone(),
            reals: Mpfr::new(PRECISION),
            rounding,
            sums: Sums::Unknown,
            ignores_decisions: false,
            causes: Causes::new(settings),
            has_seen: false,
            underflowed: None,
        }
    }

    fn seed(&mut self, x: Observed<'_, f64>, _seed: Seed) -> Option<f64> {
        self.track(x)
    }

    fn output(&mut self, leaves: &Leaves, x: Observed<'_, f64>) -> (Value, OutputShadow<String>) {
        if x.shadow.is_none() {
            self.causes.leaves_without(leaves.site, &x);
        }
        let is_changed = x.shadow.is_some_and(|&error| is_changed(x.format, x.bits, error));
        let x = if is_changed { Observed { shadow: Some(&f64::NAN), ..x } } else { x };
        if is_changed {
            self.causes.mismatch(leaves.site);
        }
        let Left { measured, judgement, exact } = self.verdict(&x, Some(leaves));
        if judgement == Judgement::Wrong {
            self.causes.is_wrong(&x, measured.error_bits, leaves.output);
        } else if special::is_special(x.format, x.bits) {
            self.causes.is_special(&x, leaves.output);
        }
        let said = OutputShadow::Error {
            real: Some(self.real_text(&x, measured.real)),
            error_bits: measured.error_bits,
            correct_digits: measured.correct_digits as f32,
            judgement,
            exact,
        };
        let own = own_format(&x);
        let bits = x.format.convert(x.bits, own);
        (Value::new(own, &bits.to_le_bytes()), said)
    }

    fn real(&self, x: Observed<'_, f64>, digits: usize) -> Option<String> {
        let digits = if digits == 0 { measure::DIGITS } else { digits };
        Some(measure::decimal(&real(x.format, x.bits, x.shadow.copied()), digits))
    }

    fn error_bits(&self, x: Observed<'_, f64>) -> Option<f64> {
        Some(self.verdict(&x, None).measured.error_bits)
    }

    fn noted(&mut self) -> Option<Site> {
        self.causes.noted()
    }

    fn findings(&mut self) -> Vec<Finding> {
        self.causes.findings()
    }

    fn coverage(&self, into: &mut Coverage) {
        let underflow = |site| Exhausted { operation: "underflow", count: 1, site };
        into.operations = if self.has_seen { None } else { Some(0) };
        into.exhausted.extend(self.underflowed.map(underflow));
        into.unexplained = self.causes.unexplained;
        into.capped = self.causes.capped();
        into.unjudged.extend_from_slice(self.causes.unjudged());
        into.gaps.extend(self.causes.lost_outputs());
    }

    fn settings(&self) -> findings::Settings {
        findings::Settings { precision: None, error_threshold: Some(self.settings.error_threshold) }
    }
}

#[cfg(test)]
mod tests;
