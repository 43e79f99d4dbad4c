//! Causes of errors: what the reals' diagnosis makes of the executions that come to the engine.
//!
//! Those are the first few of each instruction, and after that those whose result is suspicious ([`WATCH`]); all others run beside
//! the program and are not seen. Between two executions that are seen, a float is known again by its bits and its error,
//! so that what is known of its error goes with it. Where it is not known again, nobody can be named for what comes of
//! it: that is counted.

use hashbrown::{HashMap, HashSet};
use shadowgrind_core::arith::Host;
use shadowgrind_core::findings::{Finding, FindingKind, Gap, Spread, Unjudged};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{ERROR_BOUND, MAX_OPERANDS, Op};
use shadowgrind_core::rounding::Rounding;
use shadowgrind_core::shadow::{Lane, Observed, Settings, Watch};
use shadowgrind_core::site::Site;

use super::by_reals::{difference, least};
use super::decisions::Outcome;
use super::known::{Formula, KnownFloats};
use super::{ErrorShadow, FRACTION};
use crate::diagnosis::number::Attributed;
use crate::diagnosis::operations::What;
use crate::diagnosis::special;
use crate::reals::consulted::Context;
use crate::reals::execution::RealExecution;
use crate::reals::measure;
use crate::reals::real::Real;

/// Executions that are seen.
pub(super) const WATCH: Watch = Watch { first: 64, suspicious: 448 };
/// Executions that may be missing: code is made anew for several operations together, when the first has had all.
const LEFT_OUT: u32 = 2;
/// Lanes at one site that are looked at, at most: some instructions always come to the engine.
const MOST: u32 = 1024;
/// Lanes that are looked at in all before each site has only [`FEW`]: some ten microseconds each.
const PLENTY: u32 = 1 << 17;
/// Lanes at one site that are looked at after that, at most.
const FEW: u32 = 16;
/// Fraction of the threshold from which on an error that grows is noted: it is suspicious below the threshold already.
const NOTICED: f64 = 0.75;

/// Causes of errors, found by the reals' diagnosis among the executions that come to the engine.
#[derive(Debug)]
pub(super) struct Causes {
    execution: RealExecution,
    threshold: f64,
    /// Number of lanes looked at, by site, and of all.
    looked_at: HashMap<Site, u32>,
    looks: u32,
    /// Sites at which no more were looked at for those of all.
    capped: HashSet<Site>,
    known: KnownFloats,
    /// Sums at which an error of unknown origin grew beyond the threshold.
    grown: HashMap<(Site, Op), Grown>,
    /// Number of the last unknown error that was given one.
    names: u64,
    /// Number of outputs that are wrong and nobody is known to answer for.
    pub(super) unexplained: u64,
}

/// Errors that grew beyond the threshold at one place: their number, the sum of their bits, and the most.
#[derive(Debug, Default)]
struct Grown {
    count: u64,
    bits: f64,
    most: f64,
}

impl Causes {
    pub(super) fn new(settings: &Settings) -> Causes {
        Causes {
            execution: RealExecution::new(settings.clone()),
            threshold: settings.error_threshold,
            looked_at: HashMap::new(),
            looks: 0,
            capped: HashSet::new(),
            known: KnownFloats::default(),
            grown: HashMap::new(),
            names: 0,
            unexplained: 0,
        }
    }

    /// An execution in this context that is seen, whose result has this error; the error under which that is known again.
    pub(super) fn saw(&mut self, lane: &Lane<'_, f64>, error: f64, context: Context) -> f64 {
        let looked_at = self.looked_at.entry(lane.site).or_default();
        let most = if self.looks < PLENTY { MOST } else { FEW };
        if *looked_at >= most {
            if *looked_at < MOST {
                self.capped.insert(lane.site);
            }
            return error;
        }
        *looked_at += 1;
        self.looks += 1;
        let (mut has_grown, mut is_traced) = (false, true);
        let mut reals: [Option<Real>; MAX_OPERANDS] = [const { None }; MAX_OPERANDS];
        let mut formula = Formula::of(lane.op as u64);
        for (i, &shadow) in lane.shadows.iter().enumerate() {
            let x = Observed { format: lane.from, bits: lane.x[i], shadow };
            formula = formula.with(self.known.formula(&x));
            reals[i] = self.known(&x);
            if let (None, Some(error)) = (&reals[i], shadow) {
                if !error.is_finite() {
                    // Of what is infinite nothing is known.
                    return *error;
                }
                is_traced = false;
                let is_grown;
                (reals[i], is_grown) = self.unknown(lane, &x);
                has_grown |= is_grown;
            }
        }
        let shadows: [Option<&Real>; MAX_OPERANDS] = std::array::from_fn(|i| reals[i].as_ref());
        let Lane { site, op, from, to, x, r, .. } = *lane;
        let lane = Lane { site, op, from, to, x, r, shadows: &shadows[..x.len()] };
        let Some(real) = self.execution.consult(&lane, context, is_traced) else {
            // The float is its own real, if it is known what it was made of.
            return if is_traced { 0.0 } else { error };
        };
        let bits = measure::measure(to, r, Some(&real)).error_bits;
        if has_grown && bits > NOTICED * self.threshold && !real.is_influenced() {
            let grown = self.grown.entry((site, op)).or_default();
            *grown = Grown { count: grown.count + 1, bits: grown.bits + bits, most: grown.most.max(bits) };
        }
        // What the reals have as well has no error, but somebody has made it.
        let computed = error;
        let told = mended(computed, &real, to, r);
        let is_known = computed == 0.0 || is_as_good(told, &real, &lane);
        let is_unknown = !told.is_finite() || !is_known || special::is_special(to, r);
        let error = if is_unknown { self.name() } else { told };
        if error.to_bits() == 0 {
            return error;
        }
        if error != computed && computed != 0.0 && computed.is_finite() {
            // Where the same is computed again, and not seen, that is the error beside it.
            let again = Observed { format: to, bits: r, shadow: Some(&computed) };
            self.known.keep(&again, real.clone(), formula);
        }
        self.known.keep_apart((to, r, error), real, formula)
    }

    /// An unknown error by which one float is known again: NaN that says which it is as long as it signals, and does not any more
    /// once it was computed with.
    fn name(&mut self) -> f64 {
        /// NaN that signals, and the place of its number: those bits of a fraction that a key has, without the first.
        const SIGNALING: u64 = f64::INFINITY.to_bits();
        const NUMBERS: u64 = 1 << 22;
        const AT: u32 = FRACTION.trailing_ones();
        self.names = self.names % (NUMBERS - 1) + 1;
        f64::from_bits(SIGNALING | self.names << AT)
    }

    /// The real of operand `x`, whose error has an unknown origin, and whether a sum may have made that error in turns of a
    /// loop that were not seen.
    fn unknown(&mut self, lane: &Lane<'_, f64>, x: &Observed<'_, f64>) -> (Option<Real>, bool) {
        let Some(real) = ErrorShadow::measurable(x) else { return (None, false) };
        let is_small = measure::measure(x.format, x.bits, Some(&real)).error_bits <= self.threshold;
        if lane.op.addends().is_empty() || !is_small {
            return (Some(real), false);
        }
        (Some(self.execution.rounded_by(lane, real, (x.format, x.bits))), true)
    }

    /// Output `index`, which is `x`, is wrong by so many bits.
    pub(super) fn is_wrong(&mut self, x: &Observed<'_, f64>, bits: f64, index: u64) {
        let real = self.known(x);
        let seen = Observed { format: x.format, bits: x.bits, shadow: real.as_ref() };
        self.unexplained += u64::from(!self.execution.diagnosis.answers(&seen, bits, index));
    }

    /// Number of sites at which fewer executions were looked at, because there were too many in all.
    pub(super) fn capped(&self) -> u64 {
        self.capped.len() as u64
    }

    /// Output `index`, which is `x`, is NaN or infinite, perhaps in the reals as well.
    pub(super) fn is_special(&mut self, x: &Observed<'_, f64>, index: u64) {
        if let Some(real) = self.known(x) {
            let seen = Observed { format: x.format, bits: x.bits, shadow: Some(&real) };
            self.execution.diagnosis.answers(&seen, x.format.width().into(), index);
        }
    }

    /// Notes that output `x` at `site` has no error; an operation that was seen may have made it with one.
    pub(super) fn leaves_without(&mut self, site: Site, x: &Observed<'_, f64>) {
        self.execution.diagnosis.leaves_without(site, x.format, x.bits);
    }

    /// An operand at `site` was made by integers of a float with an error.
    pub(super) fn mismatch(&mut self, site: Site) {
        self.execution.diagnosis.mismatch(site);
    }

    /// The places of outputs of which the causes are lost.
    pub(super) fn lost_outputs(&self) -> impl Iterator<Item = Gap> {
        self.execution.diagnosis.lost()
    }

    /// A decision about `x`, compared with that of the reals, where the guest rounds as `rounding` says.
    pub(super) fn decided(
        &mut self,
        (site, what): (Site, What),
        x: &[Observed<'_, f64>],
        outcome: Outcome,
        rounding: [Rounding; 2],
    ) {
        let real = |x| self.known(x);
        let known: Vec<Option<Real>> = x.iter().map(real).collect();
        let is_known = x.iter().zip(&known).all(|(x, known)| x.shadow.is_none() || known.is_some());
        if !is_known && outcome == Outcome::Alike {
            return;
        }
        let about = |(x, known): (_, Option<Real>)| known.or_else(|| ErrorShadow::measurable(x));
        let reals: Vec<Option<Real>> = x.iter().zip(known).map(about).collect();
        let seen =
            |(x, real): (&Observed<'_, f64>, _)| Observed { format: x.format, bits: x.bits, shadow: real };
        let seen: Vec<Observed<'_, Real>> =
            x.iter().zip(reals.iter().map(Option::as_ref)).map(seen).collect();
        match is_known {
            true => self.execution.decides((site, what), &seen, rounding),
            false => self.execution.diagnosis.decided(site, what, &seen, outcome == Outcome::Flips),
        }
    }

    /// The decisions that nobody judges.
    pub(super) fn unjudged(&self) -> &[Unjudged] {
        self.execution.diagnosis.unjudged()
    }

    /// Takes the place where an error was noted last.
    pub(super) fn noted(&mut self) -> Option<Site> {
        self.execution.diagnosis.take_noted()
    }

    /// All causes. Counts are those of the executions that were seen.
    pub(super) fn findings(&mut self) -> Vec<Finding> {
        let mut findings = self.execution.diagnosis.findings();
        let unreached = self.execution.diagnosis.unreached();
        let is_there = |findings: &[Finding], site, op: Op| {
            findings.iter().any(|finding| finding.site == site && finding.operation == op.name())
        };
        findings.extend(unreached);
        for (&(site, op), grown) in &self.grown {
            if !is_there(&findings, site, op) {
                findings.push(grown.finding(site, op));
            }
        }
        for finding in &mut findings {
            finding.executions = None;
            let looked_at = self.looked_at.get(&finding.site).copied().unwrap_or(0);
            if looked_at + LEFT_OUT >= WATCH.first + WATCH.suspicious {
                finding.remark(&format!("{looked_at} executions were looked at, and no more"));
            }
        }
        findings
    }

    /// The real of a float that is known again.
    pub(super) fn known(&self, x: &Observed<'_, f64>) -> Option<Real> {
        self.known.real(x)
    }

    /// The float `bits` has the second of two errors now, as the real was on the other side of zero.
    pub(super) fn turned(&mut self, format: Format, bits: u128, [before, now]: [f64; 2]) {
        let before = Observed { format, bits, shadow: Some(&before) };
        let Some(real) = self.known(&before) else { return };
        let is_turned = real.value().is_negative() != format.is_negative(bits);
        let real = if is_turned { real.scaled(real.format(), true, 0) } else { real };
        let formula = self.known.formula(&before);
        self.known.keep(&Observed { format, bits, shadow: Some(&now) }, real, formula);
    }
}

/// The error of the float `bits`, or what its real says of it where twice the float's precision was not enough: that the error is
/// zero, or another than it is by more than is taken for granted.
fn mended(error: f64, real: &Real, format: Format, bits: u128) -> f64 {
    /// Relative size of the last bits of an f32's error, some of which say by which formula it was made.
    const ROUNDED_OF_SINGLE: f64 = 1.0 / (1 << 20) as f64;
    let off = real.error_of(format, bits);
    if !real.is_followed(off) {
        return if error == 0.0 { remainder(real, format) } else { error };
    }
    let known = difference(&real.value().float(), format, bits);
    let rounded = if format == Format::F32 { ROUNDED_OF_SINGLE } else { ERROR_BOUND };
    if (known - error).abs() > rounded * known.abs() { known } else { error }
}

/// Tells whether as many bits of the real result of `lane` are known as an f32 has, or nearly as many as are taken for granted of a float
/// with this error. Only quotients, roots and functions are asked: they may make much of what is not known.
fn is_as_good(error: f64, real: &Real, lane: &Lane<'_, Real>) -> bool {
    /// Bits by which error bounds may be too large: signs are lost in them.
    const SPARE: f32 = 36.0;
    let loses = !lane.op.is_arithmetic() || matches!(lane.op, Op::Div | Op::Sqrt);
    let is_float = real.significant_bits() >= Format::F32.precision() as i32;
    let bound = ErrorShadow::bound(lane.to.to_f64(lane.r), error, lane.to);
    !loses || is_float || bound.is_none_or(|bound| real.log2_bound() <= bound as f32 + SPARE)
}

/// The error of a float that is its real, as far as its error bound tells: not zero where it is not known that nothing was lost, since
/// what is left may be all that there is of a difference.
fn remainder(real: &Real, format: Format) -> f64 {
    let bound = real.log2_bound();
    match bound.is_finite() {
        true => Host::new(format).round(f64::from(bound).exp2()).max(least(format)),
        false => 0.0,
    }
}

impl Grown {
    fn finding(&self, site: Site, op: Op) -> Finding {
        let spread = Spread { mean: self.bits / self.count as f64, max: self.most };
        Finding {
            count: self.count,
            error_bits: Some(spread),
            contribution: 0.0,
            hint: Some("an error that had grown elsewhere or before was noticed here".to_owned()),
            ..Finding::new(FindingKind::Accumulation, op.name(), site)
        }
    }
}

#[cfg(test)]
mod tests;
