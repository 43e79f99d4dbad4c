//! `shadowgrind check PROG`: are the derivatives those of the program? Runs it again and again, each time through this
//! command: with a shadow for the derivatives, without one and with its inputs moved for the differences.
//!
//! Says what is compared and in which order; how a program is run, how differences are extrapolated, and where a
//! derivative goes wrong each have a file of their own.

mod directions;
mod parting;
mod runs;
mod seen;

use clap::Parser;
use directions::Direction;
use runs::{Failure, Runs};
use seen::Seen;
use shadowgrind_core::differences::{FORGIVEN, Judged, Ladder, Verdict, is_noise};
use shadowgrind_core::findings::Number;
use shadowgrind_core::moves::Along;
use shadowgrind_core::spec::{InputSpec, OutputSpec};
use shadowgrind_dbi::ShadowKind;
use shadowgrind_reports::check::{Check, Compared, Lost, Parting, Product};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

/// Steps that are tried first, as fractions of the size of an input; then those that are added where they do not settle it, and
/// those for outputs that none of these moves.
const FINE: [i32; 3] = [-11, -14, -17];
const WIDE: [i32; 2] = [-8, -20];
const COARSE: [i32; 3] = [-3, -5, -7];
const SHORT: [i32; 4] = [-23, -27, -31, -35];

/// Draw of the signs of the direction that gradients are multiplied with.
const DRAW: u64 = 1;
/// Relative difference of a product of a gradient and the derivative in its direction that rounding does not explain.
const PRODUCT: f64 = 1e-9;

const AFTER_HELP: &str = "\
The program runs a dozen times and more: with --shadow=dot, with --shadow=adjoint, and unshadowed with each input
moved to both sides by steps that shrink. What it writes to its standard output is shown once; files that it
writes, it writes each time. Its standard input is read to the end first, and given to each run.

Exit status: 0 if all derivatives agree, 1 if one differs, 3 if that could not be settled; 2 for wrong options,
otherwise that of the program if it does not run.";

/// Check derivatives of a program against differences
#[derive(Parser)]
#[command(name = "shadowgrind check", after_help = AFTER_HELP)]
pub(crate) struct CheckOptions {
    /// Shadow whose derivatives are checked: dot or adjoint
    #[arg(long, value_name = "NAME", value_parser = shadow, default_value = ShadowKind::forward().name())]
    shadow: ShadowKind,

    /// Seed and move this input; repeatable
    #[arg(long = "input", value_name = "SPEC[=WEIGHT]", required = true, value_parser = input)]
    inputs: Vec<String>,

    /// Check this output instead of every float the program prints
    #[arg(long = "output", value_name = "SPEC", value_parser = output)]
    outputs: Vec<String>,

    /// Components that are moved one by one under adjoint; if there are more, all are moved together as well
    #[arg(long, value_name = "N", default_value_t = 8)]
    components: u64,

    /// Relative difference that counts
    #[arg(long, value_name = "X", default_value_t = 1e-6, value_parser = tolerance)]
    tolerance: f64,

    /// Write the report to a file as well: json:FILE
    #[arg(long = "report", value_name = "json:FILE", value_parser = json_file)]
    reports: Vec<PathBuf>,

    /// No report on the terminal
    #[arg(short, long)]
    quiet: bool,

    /// Keep shadows in memory, not in AVX-512 registers
    #[arg(long, overrides_with = "no_avx512")]
    no_avx512: bool,

    /// Program and arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROG [ARGS]")]
    command: Vec<OsString>,
}

fn shadow(text: &str) -> Result<ShadowKind, String> {
    let kinds = [ShadowKind::forward(), ShadowKind::backward()];
    let names = kinds.map(ShadowKind::name).join(" or ");
    kinds.into_iter().find(|kind| kind.name() == text).ok_or_else(|| format!("expected {names}"))
}

fn input(text: &str) -> Result<String, String> {
    text.parse::<InputSpec>().map(|_| text.to_owned()).map_err(|error| error.to_string())
}

fn output(text: &str) -> Result<String, String> {
    let spec: OutputSpec =
        text.parse().map_err(|error: shadowgrind_core::spec::SpecError| error.to_string())?;
    if spec.weight().is_some() { Err("outputs have no weights here".into()) } else { Ok(text.to_owned()) }
}

fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x| *x > 0.0 && *x < 1.0);
    number.ok_or_else(|| "expected a number between 0 and 1".into())
}

fn json_file(text: &str) -> Result<PathBuf, String> {
    let file = text.strip_prefix("json:").filter(|file| !file.is_empty());
    file.map(PathBuf::from).ok_or_else(|| "expected json:FILE".into())
}

/// Runs the check and writes its reports; the exit status.
pub(crate) fn check(options: &CheckOptions) -> Result<u8, Failure> {
    for file in &options.reports {
        // Before an hour of runs rather than after it.
        std::fs::File::create(file)
            .map_err(|error| Failure::usage(format!("--report: cannot write {}: {error}", file.display())))?;
    }
    let mut checking = Checking::new(options)?;
    let check = checking.run()?;
    let mut text = Vec::new();
    check.write_text(&mut text).map_err(Failure::internal)?;
    if !options.quiet {
        // Nobody may be there to read it.
        let _ = std::io::stderr().write_all(&text);
    }
    for file in &options.reports {
        let written = std::fs::File::create(file).and_then(|mut out| check.write_json(&mut out));
        written.map_err(|error| Failure::usage(format!("cannot write {}: {error}", file.display())))?;
    }
    Ok(match check.verdict() {
        Verdict::Agrees => 0,
        Verdict::Differs => 1,
        Verdict::Unsettled => 3,
    })
}

/// Check that is under way.
struct Checking<'a> {
    options: &'a CheckOptions,
    runs: Runs,
    /// The run with a shadow forwards, along `forward_along`.
    forward: Seen,
    forward_along: Along,
    backward: Seen,
    /// The program at its point, unshadowed, and once more.
    point: Seen,
    again: Seen,
    /// True if it prints another number of floats each time: which output is which is not known then.
    count_varies: bool,
    /// Sums of the magnitudes of all roundings as they reach an output, by its number, once they were asked for.
    roundings: Option<Vec<(u64, f64)>>,
    notes: Vec<String>,
}

impl<'a> Checking<'a> {
    /// Does the runs at the point itself.
    fn new(options: &'a CheckOptions) -> Result<Checking<'a>, Failure> {
        let mut runs = Runs::new(options)?;
        let is_forward = options.shadow == ShadowKind::forward();
        let forward_along = if is_forward { Along::All } else { Along::Signs(DRAW) };
        let forward = runs.shadowed(ShadowKind::forward(), forward_along, true)?;
        let backward = runs.shadowed(ShadowKind::backward(), Along::All, false)?;
        let point = runs.moved(Along::All, &[0.0])?;
        let again = runs.moved(Along::All, &[0.0])?;
        let mut notes = Vec::new();
        if !point.has_values_of(&again) || !point.has_values_of(&forward) {
            notes.push("the program does not print the same numbers each time it runs".to_owned());
        }
        if point.ending != forward.ending {
            notes.push(format!("the program {} with a shadow, and {} without", forward.ending, point.ending));
        }
        let count_varies =
            [&again, &forward, &backward].iter().any(|seen| seen.outputs.len() != point.outputs.len());
        let mut warnings: Vec<String> = [&forward, &backward].map(|seen| seen.warnings.clone()).concat();
        warnings.dedup();
        notes.extend(warnings);
        let roundings = None;
        Ok(Checking {
            options,
            runs,
            forward,
            forward_along,
            backward,
            point,
            again,
            count_varies,
            roundings,
            notes,
        })
    }

    /// Floats that lost their shadows under the shadow that is checked.
    fn lost(&self) -> &[Lost] {
        let is_backward = self.options.shadow == ShadowKind::backward();
        if is_backward { &self.backward.lost } else { &self.forward.lost }
    }

    /// The place where derivatives part from differences, if there is a `wrong` direction, at this step.
    fn parting(&mut self, wrong: Option<(Along, f64)>) -> Result<Option<Parting>, Failure> {
        let found = match wrong {
            Some((along, step)) => self.runs.parting(along, &self.scales(), step)?,
            None => None,
        };
        Ok(found.or_else(|| parting::at_lost(wrong.is_some(), self.lost())))
    }

    fn run(&mut self) -> Result<Check, Failure> {
        let mut compared = Vec::new();
        let mut wrong = None;
        for direction in self.directions() {
            let (rows, first) = self.compare(&direction)?;
            wrong = wrong.or(first.map(|step| (direction.along, step)));
            compared.extend(rows);
        }
        let parting = self.parting(wrong)?;
        let lost = self.lost().to_vec();
        let unreached = self.point.inputs.iter().filter(|input| input.count == 0);
        let unreached = unreached.map(|input| format!("--input={}", input.spec)).collect();
        let products = self.products(&compared);
        Ok(Check {
            shadow: self.options.shadow.name(),
            argv: self.runs.argv(),
            runs: self.runs.count(),
            purposes: self.runs.purposes(),
            components: self.backward.components(),
            compared,
            products,
            parting,
            unreached,
            lost,
            notes: std::mem::take(&mut self.notes),
        })
    }

    /// Size of each input, by which its steps are scaled: a power of two, so that moving it is exact in most cases. One for all
    /// where a direction is given for all.
    fn scales(&self) -> Vec<f64> {
        let scale = |largest: Option<f64>| {
            let size = largest.filter(|&size| size > 0.0 && size.is_finite());
            size.map_or(1.0, |size| size.log2().floor().exp2())
        };
        let own: Vec<f64> = self.point.inputs.iter().map(|input| scale(input.largest)).collect();
        if self.options.shadow == ShadowKind::backward() {
            return own;
        }
        vec![own.iter().copied().fold(f64::INFINITY, f64::min).min(1e300); own.len().max(1)]
    }

    /// Judges the outputs of one direction by runs at short steps, and by longer and shorter ones where these leave doubts.
    fn judge_by_steps(&mut self, direction: &Direction) -> Result<Vec<Judged>, Failure> {
        let mut ladder = Ladder::default();
        let mut judged = self.climb_and_judge(direction, &FINE, &mut ladder)?;
        if judged.iter().any(|judged| judged.verdict != Verdict::Agrees) {
            judged = self.climb_and_judge(direction, &WIDE, &mut ladder)?;
        }
        if judged.iter().any(|judged| judged.is_still) {
            let coarse = self.climb_and_judge(direction, &COARSE, &mut Ladder::default())?;
            for (old, new) in judged.iter_mut().zip(coarse) {
                if old.is_still && new.differs_beside() {
                    *old = Judged { why: Some("by steps of digits that it drops"), ..new };
                }
            }
        }
        if judged.iter().any(|judged| judged.verdict == Verdict::Differs) {
            let short = self.climb_and_judge(direction, &SHORT, &mut Ladder::default())?;
            judged.iter_mut().zip(short).for_each(|(old, new)| *old = old.reconsidered(new));
        }
        if judged.iter().any(|judged| judged.verdict != Verdict::Agrees) {
            self.forgive_roundings(direction, &ladder, &mut judged)?;
        }
        Ok(judged)
    }

    /// Lets derivatives agree that leave no more of the differences unexplained than the roundings that reach the output, which are
    /// asked for now.
    fn forgive_roundings(
        &mut self,
        direction: &Direction,
        ladder: &Ladder,
        judged: &mut [Judged],
    ) -> Result<(), Failure> {
        let roundings = match self.roundings.take() {
            Some(known) => known,
            None => self.runs.roundings()?,
        };
        for (&(index, derivative), judged) in direction.derivatives.iter().zip(judged) {
            let all = roundings.iter().find(|(own, _)| *own == index).map_or(0.0, |(_, all)| *all);
            if judged.verdict != Verdict::Agrees
                && !self.is_unsteady(index)
                && ladder.leaves_roundings(index, derivative, all)
            {
                *judged = judged.forgiven();
            }
        }
        self.roundings = Some(roundings);
        Ok(())
    }

    /// Adds runs at these steps to the ladder, and judges by all that are on it.
    fn climb_and_judge(
        &mut self,
        direction: &Direction,
        powers: &[i32],
        ladder: &mut Ladder,
    ) -> Result<Vec<Judged>, Failure> {
        self.climb(direction.along, powers, ladder)?;
        Ok(self.judge(direction, ladder))
    }

    /// Compares one direction; the step at which the first output differs, if one does.
    fn compare(&mut self, direction: &Direction) -> Result<(Vec<Compared>, Option<f64>), Failure> {
        let judged = self.judge_by_steps(direction)?;
        let first = judged.iter().find(|judged| judged.verdict == Verdict::Differs).map(|judged| judged.step);
        let rows = direction.derivatives.iter().zip(judged).map(|(&(index, derivative), judged)| {
            let output = self.point.outputs.iter().find(|output| output.index == index);
            Compared {
                moved: direction.moved.clone(),
                output: index,
                place: output.map_or(String::new(), |output| output.place.clone()),
                value: Number(output.map_or(f64::NAN, |output| output.value)),
                derivative: Number(derivative / direction.unit),
                difference: Number(judged.value / direction.unit),
                error: Number(judged.error / direction.unit),
                verdict: judged.verdict,
                why: judged.why,
            }
        });
        Ok((rows.collect(), first))
    }

    /// Runs the program beside its point, to both sides by each of these steps, powers of two.
    fn climb(&mut self, along: Along, powers: &[i32], ladder: &mut Ladder) -> Result<(), Failure> {
        for &power in powers {
            let step = f64::from(power).exp2();
            let steps =
                |sign: f64| -> Vec<f64> { self.scales().iter().map(|scale| sign * step * scale).collect() };
            let (up, down) = (steps(1.0), steps(-1.0));
            let sides = [self.runs.moved(along, &up)?, self.runs.moved(along, &down)?];
            ladder.add(step, sides.map(|seen| seen.values()));
        }
        Ok(())
    }

    fn judge(&self, direction: &Direction, ladder: &Ladder) -> Vec<Judged> {
        let values = [self.point.values(), self.again.values()];
        let judge = |&(index, derivative): &(u64, f64)| {
            let judged = ladder.judge([&values[0], &values[1]], index, derivative, self.options.tolerance);
            if self.count_varies { judged.untold() } else { judged }
        };
        direction.derivatives.iter().map(judge).collect()
    }

    /// Tells whether an output is another each time, or that is not known.
    fn is_unsteady(&self, index: u64) -> bool {
        let of = |seen: &Seen| seen.outputs.iter().find(|own| own.index == index).map(|own| own.value);
        let is_noisy = of(&self.point).zip(of(&self.again)).is_some_and(|(a, b)| is_noise(a, (a - b).abs()));
        self.count_varies || is_noisy
    }

    /// Gradients times the direction of the run forwards. The two add up the same terms in another order: where these cancel,
    /// they are as far from each other as either is from the truth, so what `compared` knows decides then.
    fn products(&self, compared: &[Compared]) -> Vec<Product> {
        let factor = |input, number| self.forward_along.factor(input, number);
        let product = |(output, row): &(u64, Vec<f64>)| {
            let backward = self.backward.along(row, factor);
            let size = self.backward.along(row, |_, _| 1.0).abs().max(row.iter().map(|x| x.abs()).sum());
            let forward = self.forward.outputs.iter().find(|own| own.index == *output)?.dot?;
            // A derivative beside a float of four bytes has no more digits than that.
            let tolerance = if self.forward.is_single(*output) { 1e-4 } else { PRODUCT };
            let apart = (backward - forward).abs();
            let rows = || compared.iter().filter(|row| row.output == *output);
            let all_agree = || rows().all(|row| row.verdict == Verdict::Agrees);
            let is_rounding = || all_agree() && rows().any(|row| row.why == Some(FORGIVEN));
            let verdict = match (backward.is_nan(), forward.is_nan()) {
                (true, true) => Verdict::Agrees,
                (false, false) if is_rounding() => Verdict::Agrees,
                _ if self.is_unsteady(*output) => Verdict::Unsettled,
                (false, false) if apart <= tolerance * size => Verdict::Agrees,
                (false, false) if apart <= self.options.tolerance * size && all_agree() => Verdict::Agrees,
                (false, false) if apart <= rows().map(|row| row.error.0).sum::<f64>() => Verdict::Unsettled,
                _ => Verdict::Differs,
            };
            Some(Product { output: *output, backward: Number(backward), forward: Number(forward), verdict })
        };
        self.gradients().iter().filter_map(product).collect()
    }
}
