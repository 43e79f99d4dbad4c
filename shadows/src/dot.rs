//! Derivatives as a shadow: beside each float, the derivative in the direction that the inputs move, which is its dot.
//!
//! Its rule is the [chain rule](crate::chain_rule) alone. Knows nothing of where dots are kept.
//!
//! **Rounding by a magic number** is rounding: what is added to 1.5·2^52, so that the sum is an integer in its last digits,
//! has no part in the derivative. What has a dot itself is no such number. The shadow sees to that where it is told of an
//! operation; the chain rule does not ask, since
//! hardly any sum has such a term: a front end that emits it looks for them ([`Op::addends`]) and leaves those sums alone.
//!
//! Conversions: the dot of a narrowed or widened value is the operand's dot, converted alike by the front end.

use shadowgrind_core::arith::{Arith, Host};
use shadowgrind_core::findings::{OutputShadow, Subject, Value};
use shadowgrind_core::format::Format;
use shadowgrind_core::inline::{Given, Inline};
use shadowgrind_core::ops::{Gradient, MAX_OPERANDS, Op};
use shadowgrind_core::shadow::{
    Derivatives, Exchange, Lane, Leaves, Observed, Policy, Rule, Seed, Sent, Settings, Shadow, Traced, reach,
};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, Sums, ToInteger};
use shadowgrind_core::words::InPlace;

use crate::chain_rule;

/// The dot of the result of any `op`, as a number of `format`: operands `x` gave `r`. See [`Inline::eval`].
pub fn eval(format: Format, op: Op, x: &[f64], r: f64, dots: &[f64]) -> f64 {
    Dot::eval(format, op, Given { x, r, shadows: dots })
}

/// Derivatives as a shadow: a number beside each float.
#[derive(Clone, Debug, Default)]
pub struct Dot {
    /// Purpose of sums.
    sums: Sums,
    /// Results of operations with derivatives, as far as that is kept.
    trace: Option<Vec<Traced>>,
    /// Comparisons are about how a number is written.
    writes: bool,
}

/// Operations and comparisons that are kept: 100 MB of them.
const LONGEST_TRACE: usize = 1 << 22;

impl Rule for Dot {
    type Value = f64;

    fn op(&mut self, lane: &Lane<'_, f64>) -> Option<f64> {
        if lane.shadows.iter().all(Option::is_none) {
            return None;
        }
        let (mut x, mut dots) = ([0.0; MAX_OPERANDS], [0.0; MAX_OPERANDS]);
        for (i, (&bits, shadow)) in lane.x.iter().zip(lane.shadows).enumerate() {
            x[i] = lane.from.to_f64(bits);
            dots[i] = shadow.copied().unwrap_or(0.0);
        }
        let count = lane.x.len();
        let in_doubles = if lane.to == Format::F80 { lane.op.in_doubles(&x[..count]) } else { None };
        let r = in_doubles.unwrap_or_else(|| lane.to.to_f64(lane.r));
        let rounds = lane.rounds_by_magic(self.sums);
        let dot = (!rounds).then(|| eval(lane.to, lane.op, &x[..count], r, &dots[..count]));
        self.note(lane.site, Some(r), dot.unwrap_or(0.0));
        dot
    }

    fn scale(&mut self, shadow: &f64, format: Format, negate: bool, power: i32) -> Option<f64> {
        let scaled = libm::ldexp(*shadow, power);
        Some(Host::new(format).round(if negate { -scaled } else { scaled }))
    }

    fn compare(&mut self, site: Site, _predicate: Predicate, x: [Observed<'_, f64>; 2]) {
        if !self.writes && x.iter().any(|x| x.shadow.is_some()) {
            self.note(site, None, 0.0);
        }
    }

    fn to_integer(&mut self, site: Site, how: ToInteger, x: Observed<'_, f64>) {
        if !self.writes && x.shadow.is_some() {
            let x = x.format.to_f64(x.bits);
            let integer = match how {
                ToInteger::Truncate => libm::trunc(x),
                ToInteger::Round => libm::rint(x),
                ToInteger::Away => libm::round(x),
            };
            self.note(site, Some(integer), 0.0);
        }
    }

    fn ignore_decisions(&mut self, ignore: bool) {
        self.writes = ignore;
    }

    fn expect_sums(&mut self, sums: Sums) {
        self.sums = sums;
    }

    fn displace(&mut self, shadow: &f64, format: Format, negate: bool, power: i32) -> Option<f64> {
        self.scale(shadow, format, negate, power)
    }
}

impl Dot {
    fn note(&mut self, site: Site, value: Option<f64>, derivative: f64) {
        if let Some(trace) = self.trace.as_mut().filter(|trace| trace.len() < LONGEST_TRACE) {
            trace.push(Traced { site, value, derivative });
        }
    }
}

impl Inline for Dot {
    const ADDS_PRODUCTS: bool = true;

    fn rule<K: Arith>(k: &K, _op: Op, gradient: &Gradient<K>, given: Given<'_, K::V>) -> K::V {
        chain_rule::derivative(k, gradient, given.shadows)
    }
}

impl Shadow for Dot {
    const NAME: &'static str = "dot";
    const SUMMARY: &'static str = "Derivatives with respect to the inputs";
    const NUMBER: u64 = 1;
    const SUBJECT: Subject = Subject::Derivatives;
    const POLICY: Policy = Policy {
        decisions: true,
        sent: Sent::Lost,
        magic_rounds: true,
        exchange: Exchange::Add,
        derivatives: Some(Derivatives::InPlace),
        ..Policy::SEEDED
    };

    type Reach = reach::Inline;
    type Words = InPlace;

    fn new(settings: &Settings) -> Self {
        Dot { trace: settings.trace.then(Vec::new), ..Dot::default() }
    }

    fn seed(&mut self, _x: Observed<'_, f64>, seed: Seed) -> Option<f64> {
        Some(seed.weight)
    }

    fn output(&mut self, _leaves: &Leaves, x: Observed<'_, f64>) -> (Value, OutputShadow<String>) {
        let dot = x.shadow.copied().unwrap_or(0.0);
        (x.value(), OutputShadow::Dot(Value::new(x.format, &x.format.from_f64(dot).to_le_bytes())))
    }

    fn trace(&mut self) -> Vec<Traced> {
        self.trace.take().unwrap_or_default()
    }

    fn derivative(&self, dot: Option<&f64>) -> Option<f64> {
        Some(dot.copied().unwrap_or(0.0))
    }

    fn of_derivative(&self, derivative: f64) -> Option<f64> {
        Some(derivative)
    }
}
