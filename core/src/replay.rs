//! Replay: running the steps of an instruction on a shadow and its cells, from a record of what the guest did.
//!
//! Needs no engine and no guest: it is how recorded code is shadowed, the reference path of code that shadows inline, and
//! the oracle of tests.

use crate::format::Format;
use crate::ops::{MAX_OPERANDS, Op};
use crate::shadow::{Cells, Lane, Location, Observed, Rule};
use crate::site::Site;
use crate::step::{Lowered, Map, Operand, Place, Predicate, Step, Sums};

mod bitwise;
mod by_bytes;
mod digits;
mod ends;
mod exclusive;
mod mixed;
mod parts;
mod upper;

/// Effects of an instruction on shadows that its results do not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Digits of a float with a shadow went where none is carried.
    pub lost: bool,
    /// The shadow that was lost is that of a zero.
    pub of_zero: bool,
    /// Digits of such a float may be used as an integer: they went so, be it that this counts or not, or were cut out on their own.
    pub taken: bool,
    /// Digits of a float were overwritten, and it keeps its shadow unless none is left.
    pub rounded: bool,
    /// Digits of such a float were joined with those of another one, for every shadow alike.
    pub mixed: bool,
    /// Floats were compared of which one has a shadow.
    pub decided: bool,
    /// True if it was asked whether they are equal, and they were.
    pub equal: bool,
    /// A float with a shadow was rounded to a whole number, or to digits that begin at a fixed place.
    pub made_whole: bool,
    /// The shadow [noted](crate::shadow::Shadow::noted) an error.
    pub noted: bool,
}

/// Runs the steps of one executed instruction. `record` is laid out as `lowered` says.
pub fn replay<S, C>(lowered: &Lowered, site: Site, record: &[u8], shadow: &mut S, cells: &mut C) -> Outcome
where
    S: Rule,
    C: Cells<S::Value>,
{
    shadow.expect_sums(lowered.sums);
    let (sums, whole, is_upper) = (lowered.sums, lowered.whole, lowered.is_upper);
    let (outcome, are_no_number) = (Outcome::default(), false);
    let mut run = Run { site, record, shadow, cells, sums, whole, is_upper, outcome, are_no_number };
    let mut skip = 0;
    for step in &lowered.steps {
        if skip > 0 {
            skip -= 1;
        } else if let Step::Unless { flag, skip: count } = step {
            skip = if record[usize::from(*flag)] == 0 { *count } else { 0 };
        } else if let Step::UnlessKept { at, bytes, skip: count } = step {
            let location = run.location(*at);
            skip = if run.cells.carries(location, usize::from(*bytes)) == 0 { 0 } else { *count };
        } else if let Step::UnlessRecognised { format, x, skip: count } = step {
            let (location, bits) = (run.location(x.place), run.bits(*format, *x));
            skip = if run.cells.recognised(location, *format, bits).is_none() { 0 } else { *count };
        } else {
            run.step(step);
        }
    }
    run.outcome.lost &= !lowered.passing;
    run.outcome.taken |= run.outcome.lost && !run.are_no_number;
    run.outcome
}

struct Run<'a, S, C> {
    site: Site,
    record: &'a [u8],
    shadow: &'a mut S,
    cells: &'a mut C,
    sums: Sums,
    whole: Option<Format>,
    is_upper: bool,
    outcome: Outcome,
    /// Digits were lost of which nobody makes a number: of integers that were made of a float before, or of two floats at once. A selection
    /// does that to the upper half of a register where a scalar comparison has left what was there for a mask.
    are_no_number: bool,
}

impl<S: Rule, C: Cells<S::Value>> Run<'_, S, C> {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Op { op, from, to, x, r } => self.op(*op, *from, *to, &x[..op.arity()], *r),
            Step::Widen { from, to, x, r } => {
                let shadow = self.get(*from, *x).map(|shadow| self.shadow.widen(shadow, *from, *to));
                let bits = self.bits(*to, *r);
                self.cells.set(self.location(r.place), *to, bits, shadow);
            }
            Step::Copy { from, to, bytes } => {
                self.cells.copy(self.location(*from), self.location(*to), usize::from(*bytes));
            }
            Step::Permute { from, to, bytes, map } => self.permute(*from, *to, *bytes, map),
            Step::Clear { at, bytes } => self.cells.clear(self.location(*at), usize::from(*bytes)),
            Step::ClearAround { at, bytes } => {
                let (location, bytes) = self.location(*at).around(usize::from(*bytes), Format::F32.bytes());
                self.cells.clear(location, bytes);
            }
            Step::Bits { by, x, r, bytes, lane } => self.bitwise(*by, *x, *r, *bytes, *lane),
            Step::Digits { x, to } => self.digits(x, to),
            Step::Part { format, x, r, from, at, bytes } => {
                self.overwritten(*format, [*x, *r], *from, *at, *bytes);
            }
            Step::Mixed(mixed) => self.mixed(mixed),
            Step::End { x, r, from, bytes, restored } => self.end_written([*x, *r], *from, *bytes, *restored),
            Step::Mend { at } => self.outcome.lost |= !self.cells.mend(self.location(*at)),
            Step::Dropped { at, bytes } => {
                self.outcome.lost |= self.cells.carries(self.location(*at), usize::from(*bytes)) != 0;
            }
            Step::Compare { format, predicate, x } => self.compare(*format, *predicate, *x),
            Step::Equal { x, bytes, around } => self.compare_digits(*x, (*bytes).into(), (*around).into()),
            Step::Integer { format, how, x } => {
                let (bits, shadow) = (self.bits(*format, *x), self.get(*format, *x));
                self.outcome.made_whole |= shadow.is_some();
                let seen = Observed { format: *format, bits, shadow: shadow.as_ref() };
                self.shadow.to_integer(self.site, *how, seen);
            }
            Step::Unless { .. } | Step::UnlessKept { .. } | Step::UnlessRecognised { .. } => {}
        }
    }

    fn location(&self, place: Place) -> Location {
        match place {
            Place::State(at) => Location::State(at),
            Place::Memory { operand, offset } => {
                let at = 8 * usize::from(operand);
                let address = self.record[at..at + 8].iter().rev().fold(0, |a, &b| a << 8 | u64::from(b));
                Location::Memory(address + u64::from(offset))
            }
        }
    }

    fn bits(&self, format: Format, operand: Operand) -> u128 {
        let at = usize::from(operand.value);
        format.bits_of(&self.record[at..at + format.bytes()])
    }

    fn get(&mut self, format: Format, operand: Operand) -> Option<S::Value> {
        let bits = self.bits(format, operand);
        self.cells.get(self.location(operand.place), format, bits)
    }

    fn is_any(&mut self, operand: Operand, bytes: usize) -> bool {
        self.cells.is_any(self.location(operand.place), bytes)
    }

    /// `bytes` bytes at `to` are made of what is at `from`, with shadows that are lost.
    fn lose(&mut self, from: [Location; 2], to: Location, bytes: usize) {
        match S::TRACES {
            true => self.cells.leave_trace(&from.map(|from| (from, bytes)), &[(to, bytes)]),
            false => self.cells.clear(to, bytes),
        }
    }

    fn op(&mut self, op: Op, from: Format, to: Format, x: &[Operand], r: Operand) {
        let mut bits = [0; 3];
        let mut shadows: [Option<S::Value>; MAX_OPERANDS] = [None, None, None];
        for (index, &operand) in x.iter().enumerate() {
            bits[index] = self.bits(from, operand);
            shadows[index] = self.get(from, operand);
            if shadows[index].is_none() && self.is_any(operand, from.bytes().min(8)) {
                self.shadow.mismatch(self.site);
            }
        }
        let result = self.bits(to, r);
        let seen = shadows.each_ref().map(Option::as_ref);
        let lane =
            Lane { site: self.site, op, from, to, x: &bits[..x.len()], r: result, shadows: &seen[..x.len()] };
        self.outcome.made_whole |=
            seen.iter().any(Option::is_some) && (op.makes_whole() || lane.rounds_by_magic(self.sums));
        let value = self.shadow.op(&lane);
        self.cells.set(self.location(r.place), to, result, value);
    }

    fn permute(&mut self, from: [Place; 2], to: Place, bytes: u16, map: &Map) {
        let map = match map {
            Map::Fixed(map) => map,
            Map::Recorded(at) => &self.record[usize::from(*at)..usize::from(*at + bytes)],
        };
        let from = from.map(|place| self.location(place));
        let to = self.location(to);
        self.cells.permute(from, to, map);
    }

    fn compare_digits(&mut self, x: [Operand; 2], bytes: usize, around: usize) {
        let carries = |operand: Operand| self.cells.carries(self.location(operand.place), around) != 0;
        if x.map(carries).contains(&true) {
            self.outcome.decided = true;
            let [a, b] = x.map(|operand| &self.record[usize::from(operand.value)..][..bytes]);
            self.outcome.equal |= a == b;
        }
    }

    fn compare(&mut self, format: Format, predicate: Predicate, x: [Operand; 2]) {
        let bits = x.map(|operand| self.bits(format, operand));
        let shadows = x.map(|operand| self.get(format, operand));
        // A float that is compared with itself is asked whether it is NaN.
        if x[0].place != x[1].place && shadows.iter().any(Option::is_some) {
            self.outcome.decided = true;
            self.outcome.equal |= predicate.asks_for_equality() && format.are_equal(bits);
        }
        let seen = |i: usize| Observed { format, bits: bits[i], shadow: shadows[i].as_ref() };
        self.shadow.compare(self.site, predicate, [seen(0), seen(1)]);
    }
}
