//! Derivatives by differences: central quotients of steps that shrink, extrapolated to none, and what they say of a
//! derivative that is claimed.
//!
//! A central difference quotient has an error in even powers of its step (Richardson, 1911). Of all extrapolations over a
//! run of neighbouring steps that one is taken which differs least from those it was made of (Ridders, 1982): long steps
//! are off by curvature, short ones by the program's rounding, so that the noise seen chooses the step.

use serde::Serialize;

/// Result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Derivatives that are not the same number.
    Differs,
    /// The program is too rough to tell.
    Unsettled,
    /// As close as rounding allows.
    Agrees,
}

impl Verdict {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Differs => "differs",
            Verdict::Unsettled => "unsettled",
            Verdict::Agrees => "agrees",
        }
    }
}

/// Outputs of a run by their numbers, and their values.
pub type Values = Vec<(u64, f64)>;

/// The value of output `index`, if it was printed.
fn value_of(values: &Values, index: u64) -> Option<f64> {
    values.iter().find(|(own, _)| *own == index).map(|(_, value)| *value)
}

/// Step, and the values on either side.
type Rung = (f64, [Values; 2]);

/// Values of all outputs beside the point.
#[derive(Clone, Debug, Default)]
pub struct Ladder {
    /// The longest step first.
    rungs: Vec<Rung>,
}

/// Result for one output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The derivative by differences.
    pub value: f64,
    /// The error that it may have.
    pub error: f64,
    /// Judgement on the derivative that is claimed.
    pub verdict: Verdict,
    /// The reason, where the numbers do not tell it.
    pub why: Option<&'static str>,
    /// No short step has changed the output at all.
    pub is_still: bool,
    /// The step at which what differs is best seen.
    pub step: f64,
}

impl Judged {
    /// The judgement where it is not known which output is which.
    pub fn untold(self) -> Judged {
        let why = Some("another number of floats is printed each time");
        Judged { verdict: Verdict::Unsettled, why, is_still: false, ..self }
    }

    /// Tells whether values beside the point contradict the derivative. That another number of floats is printed there does not.
    pub fn differs_beside(&self) -> bool {
        self.verdict == Verdict::Differs && !self.is_still && !self.value.is_nan()
    }

    /// The judgement where what the derivative leaves unexplained is no more than roundings.
    pub fn forgiven(self) -> Judged {
        Judged { verdict: Verdict::Agrees, why: Some(FORGIVEN), ..self }
    }

    /// The judgement once `short` is known, that of much shorter steps. A function that swings within longer steps has its slope at
    /// the short ones alone; the reverse is not so, since a derivative that is wrong is wrong at any step.
    pub fn reconsidered(self, short: Judged) -> Judged {
        let is_seen = short.verdict == Verdict::Agrees && !short.is_still;
        let swings = self.verdict == Verdict::Differs && is_seen;
        if swings {
            Judged { why: Some("by the shortest steps: it swings within longer ones"), ..short }
        } else {
            self
        }
    }
}

/// Errors of a difference that are still taken for rounding, as a multiple of what was seen.
const SEEN: f64 = 8.0;
/// Reason to take a derivative for right that the differences themselves do not settle.
pub const FORGIVEN: &str = "to within the roundings of the output";
/// Number of shortest steps that must have left an output as it is for it to count as still.
const STILL: usize = 2;
/// Relative difference of two runs at the same point beyond which an output's differences say nothing: sums of threads differ by
/// roundings.
const NOISE: f64 = 1e-12;
/// Relative error of a difference that settles something.
const SETTLED: f64 = 1e-2;

impl Ladder {
    /// Adds the values at a step, forwards and backwards.
    pub fn add(&mut self, step: f64, sides: [Values; 2]) {
        self.rungs.push((step, sides));
        self.rungs.sort_by(|a, b| b.0.total_cmp(&a.0));
    }

    /// Tells whether the `derivative` of output `index` explains its differences at every step but for what the roundings of both
    /// values may make, whose magnitudes add up to `roundings` at the point.
    pub fn leaves_roundings(&self, index: u64, derivative: f64, roundings: f64) -> bool {
        let of = |values: &Values| value_of(values, index);
        let is_explained = |(step, [up, down]): &Rung| {
            let difference = of(up).zip(of(down)).map(|(up, down)| up - down);
            difference
                .is_some_and(|difference| (difference - 2.0 * step * derivative).abs() <= SEEN * roundings)
        };
        roundings > 0.0 && !self.rungs.is_empty() && self.rungs.iter().all(is_explained)
    }

    /// Judgement on the `derivative` of output `index` by its differences, both in units of a step of 1. `point`: values without a
    /// step, of two runs.
    pub fn judge(&self, point: [&Values; 2], index: u64, derivative: f64, tolerance: f64) -> Judged {
        let of = |values: &Values| value_of(values, index);
        let same = |side: &Values| side.len() == point[0].len();
        let here = of(point[0]).zip(of(point[1]));
        let sides = |(step, [up, down]): &Rung| {
            let comparable = same(up) && same(down);
            comparable.then(|| Some((*step, of(up)?, of(down)?))).flatten()
        };
        let points: Option<Vec<(f64, f64, f64)>> = self.rungs.iter().map(sides).collect();
        match (points, here) {
            (Some(points), Some((here, again))) => {
                judge(&points, (here, (here - again).abs()), derivative, tolerance)
            }
            _ => Judged {
                value: f64::NAN,
                error: f64::NAN,
                verdict: Verdict::Differs,
                why: Some("another number of floats is printed beside this point"),
                is_still: false,
                step: self.rungs.last().map_or(1.0, |(step, _)| *step),
            },
        }
    }
}

/// `points`: step and values on either side, the longest step first; `here`: the value without a step, and how far it was off in
/// another such run.
fn judge(points: &[(f64, f64, f64)], (here, noise): (f64, f64), derivative: f64, tolerance: f64) -> Judged {
    let (value, error, step) = extrapolated(points, here, noise);
    let last = points.len().saturating_sub(STILL);
    let is_still = points[last..].iter().all(|&(_, up, down)| up == here && down == here);
    let (value, error) = if is_still { (0.0, 0.0) } else { (value, error) };
    // Of what moves the output by less than a billionth of itself nothing can be said.
    let size = value.abs().max(derivative.abs()).max(1e-9 * here.abs());
    let judged = |verdict, why| Judged { value, error, verdict, why, is_still, step };
    // One run tells how large noise may be, but not how small.
    if is_noise(here, noise) {
        return judged(Verdict::Unsettled, Some("another value is printed each time"));
    }
    let off = (value - derivative).abs();
    if let Some(step) = jump(points, here, derivative) {
        return Judged { step, ..judged(Verdict::Differs, Some("the value jumps at this point")) };
    }
    if !(off.is_finite() && error.is_finite()) {
        let both = value.is_nan() && derivative.is_nan();
        let verdict = if both { Verdict::Agrees } else { Verdict::Unsettled };
        return judged(verdict, Some("values that are no numbers"));
    }
    match off > tolerance * size + SEEN * error {
        true => judged(Verdict::Differs, None),
        false if error > SETTLED * size && size > 0.0 => judged(Verdict::Unsettled, Some("too rough")),
        false => judged(Verdict::Agrees, None),
    }
}

/// Tells whether a value was off by more than roundings in another run at the same point.
pub fn is_noise(here: f64, off: f64) -> bool {
    off > NOISE * here.abs()
}

/// The best extrapolation, its error, and the shortest step that it was made of.
fn extrapolated(points: &[(f64, f64, f64)], here: f64, noise: f64) -> (f64, f64, f64) {
    let mut best = (f64::NAN, f64::INFINITY, points.last().map_or(1.0, |point| point.0));
    let mut before: Vec<f64> = Vec::new();
    for (k, &(step, up, down)) in points.iter().enumerate() {
        let rounding = noise.max(f64::EPSILON * here.abs()) / step;
        let mut row = vec![(up - down) / (2.0 * step)];
        for j in 0..before.len() {
            // Error terms of the power 2(j + 1) go where the quotient of the steps is what it is.
            let ratio = (points[k - j - 1].0 / step).powi(2);
            let better = row[j] + (row[j] - before[j]) / (ratio - 1.0);
            let error =
                (better - row[j]).abs().max((better - before[j]).abs()).min((row[j] - before[j]).abs());
            let error = error.max(rounding);
            if error <= best.1 {
                best = (better, error, step);
            }
            row.push(better);
        }
        before = row;
    }
    best
}

/// The shortest step, if the value jumps at the point: what a derivative leaves unexplained between both sides does not
/// shrink with the step, and each side by itself is smooth.
fn jump(points: &[(f64, f64, f64)], here: f64, derivative: f64) -> Option<f64> {
    let unexplained = |&(step, up, down): &(f64, f64, f64)| up - down - 2.0 * step * derivative;
    let [.., longer, shortest] = points else { return None };
    let (gap, gap_before) = (unexplained(shortest), unexplained(longer));
    // A smooth side moves no more between these steps than its slope makes it; a rough one as much as the gap itself.
    let rough = [(longer.1 - shortest.1).abs(), (longer.2 - shortest.2).abs()];
    let is_steady = (gap - gap_before).abs() < 0.5 * gap.abs();
    let is_smooth = rough.iter().all(|&side| side < 0.25 * gap.abs());
    let is_large = gap.abs() > 1e3 * f64::EPSILON * here.abs();
    (is_steady && is_smooth && is_large && gap.is_finite()).then_some(shortest.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(f: impl Fn(f64) -> f64, powers: &[i32], derivative: f64) -> Judged {
        let points: Vec<_> =
            powers.iter().map(|&power| f64::from(power).exp2()).map(|h| (h, f(h), f(-h))).collect();
        judge(&points, (f(0.0), 0.0), derivative, 1e-6)
    }

    const FINE: [i32; 3] = [-11, -14, -17];

    #[test]
    fn smooth_functions_have_their_derivatives() {
        let exp = of(|h| (1.0 + h).exp(), &FINE, 1f64.exp());
        assert_eq!(exp.verdict, Verdict::Agrees);
        assert!((exp.value - 1f64.exp()).abs() < 1e-10, "{exp:?}");
        assert_eq!(of(|h| (1.0 + h).exp(), &FINE, 1f64.exp() + 2e-5).verdict, Verdict::Differs);
        assert_eq!(of(|h| 1.0 / (3.0 + h), &FINE, -1.0 / 9.0).verdict, Verdict::Agrees);
        assert_eq!(of(|_| 5.0, &FINE, 0.0).verdict, Verdict::Agrees);
        assert_eq!(of(|_| 5.0, &FINE, 1e-3).verdict, Verdict::Differs);
    }

    #[test]
    fn kinks_and_jumps_differ() {
        assert_eq!(of(f64::abs, &FINE, 1.0).verdict, Verdict::Differs);
        let floor = of(|h| (3.0 + h).floor(), &FINE, 0.0);
        assert_eq!((floor.verdict, floor.why), (Verdict::Differs, Some("the value jumps at this point")));
        assert_eq!(of(|h| (3.5 + h).floor(), &FINE, 0.0).verdict, Verdict::Agrees);
    }

    const SHORT: [i32; 4] = [-23, -27, -31, -35];

    /// Swings within the longer steps are judged by the shorter ones; what is wrong stays so.
    #[test]
    fn short_steps_see_what_swings() {
        let wave = |h: f64| (1e6 * h).sin() * 1e-3;
        let verdict = |derivative: f64| {
            let long = of(wave, &FINE, derivative);
            (long.verdict, long.reconsidered(of(wave, &SHORT, derivative)).verdict)
        };
        assert_eq!(verdict(1e3), (Verdict::Differs, Verdict::Agrees));
        assert_eq!(verdict(1.1e3), (Verdict::Differs, Verdict::Differs));
        let kink = of(f64::abs, &FINE, 1.0);
        assert_eq!(kink.reconsidered(of(f64::abs, &SHORT, 1.0)).verdict, Verdict::Differs);
    }

    /// Differences of roundings alone are explained by no derivative to speak of; a slope is not, however small the value.
    #[test]
    fn roundings_are_forgiven() {
        let ladder = |f: &dyn Fn(f64) -> f64| {
            let mut ladder = Ladder::default();
            for step in FINE.map(|power| f64::from(power).exp2()) {
                ladder.add(step, [vec![(7, f(step))], vec![(7, f(-step))]]);
            }
            ladder
        };
        let identity = |h: f64| (1.1 + h).sin().powi(2) + (1.1 + h).cos().powi(2) - 1.0;
        assert!(ladder(&identity).leaves_roundings(7, -3e-17, 1.5e-16));
        assert!(!ladder(&identity).leaves_roundings(7, 1e-10, 1.5e-16));
        assert!(!ladder(&identity).leaves_roundings(7, -3e-17, 0.0));
        assert!(!ladder(&identity).leaves_roundings(8, -3e-17, 1.5e-16));
        let root = |h: f64| (1.1 + h) - 1.1;
        assert!(
            !ladder(&root).leaves_roundings(7, 0.0, 1e-16) && ladder(&root).leaves_roundings(7, 1.0, 1e-16)
        );
    }

    /// An output that differs from run to run by more than roundings is not judged.
    #[test]
    fn another_value_each_time_is_unsettled() {
        let points = FINE.map(|power| f64::from(power).exp2()).map(|h| (h, 1.0 + h, 1.0 - h));
        let verdict = |noise: f64, derivative: f64| judge(&points, (1.0, noise), derivative, 1e-6).verdict;
        assert_eq!((verdict(0.0, 1.0), verdict(0.0, 2.0)), (Verdict::Agrees, Verdict::Differs));
        assert_eq!((verdict(1e-15, 1.0), verdict(1e-15, 2.0)), (Verdict::Agrees, Verdict::Differs));
        assert_eq!((verdict(1e-3, 1.0), verdict(1e-3, 2.0)), (Verdict::Unsettled, Verdict::Unsettled));
    }

    /// Rounding to 24 bits leaves four digits of a difference; noise of the size of the value leaves none.
    #[test]
    fn noise_is_no_difference() {
        let single = |h: f64| f64::from(((1.0 + h) as f32).sin());
        let seen = of(single, &[-8, -11, -14, -17], 1f64.cos());
        assert_eq!(seen.verdict, Verdict::Agrees, "{seen:?}");
        let noisy = |h: f64| (1e9 * h).sin();
        assert_ne!(of(noisy, &FINE, 1e9).verdict, Verdict::Agrees);
        assert_eq!(of(|h| if h < 0.0 { f64::NAN } else { h }, &FINE, 1.0).verdict, Verdict::Unsettled);
    }
}
