//! Derivatives of all outputs by all inputs from one run: the chain rule over TABLE 1's partials, backwards.
//!
//! While the program runs, each operation with an active operand is recorded on a [`tape`]: which earlier results went
//! into it, and the partial derivatives; what repeats is [packed](packing) into [loops]. At its end the tape is
//! [swept](sweep) from its end to its start, for several outputs at once. What is carried beside a float is the number of
//! its statement, and a power of two (or its negative) that it has been scaled by since: that takes no statement where a
//! cell has room for it.
//!
//! The rules are those of `dot`. **An inactive operand contributes nothing**, also where its partial is infinite or NaN.
//! **Rounding by a magic number** is rounding, and has no derivative. In the sweep, an adjoint of zero and a partial of
//! zero contribute nothing, whatever they meet. Partials and adjoints are doubles, whatever the format of the floats.
//!
//! Knows neither instructions nor how reports look.

mod abreast;
mod abreast_plan;
mod appended;
mod backward;
mod budget;
mod cells;
mod columns;
mod distances;
mod elsewhere;
mod jacobian;
mod loops;
mod packing;
mod pages;
mod patterns;
mod places;
mod questions;
mod seam;
mod seen;
mod store;
mod sweep;
mod tape;
mod windowed;

#[cfg(test)]
mod tests;

use columns::{Rounding, Statement, Term};
use hashbrown::HashMap;
use packing::Packer;
use patterns::Finder;
use shadowgrind_core::arith::Host;
use shadowgrind_core::findings::Gap;
use shadowgrind_core::format::Format;
use shadowgrind_core::numbers::{Numbered, SINGLES};
use shadowgrind_core::ops::{Gradient, MAX_OPERANDS, Op, Partial};
use shadowgrind_core::shadow::{Lane, Rule};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::Sums;
use std::path::PathBuf;
use std::time::Instant;
use tape::Tape;

/// The arithmetic that partials are found in.
const EXACT: Host = Host::new(Format::F64);

/// Gap beside whose float is no room for a number.
const HALF: &str = "a float of two bytes";

/// The shadow of a float: the number of its statement.
type Active = Numbered;

/// A seeded float.
#[derive(Clone, Copy, Debug)]
struct Component {
    /// The input of the report that it belongs to.
    input: usize,
    weight: f64,
    statement: u64,
}

/// Shadow that records the run, for derivatives of all outputs by all inputs.
#[derive(Debug)]
pub struct Adjoint {
    tape: Tape,
    /// Finders of what repeats, by the numbers of threads.
    finders: Vec<Finder>,
    packer: Packer,
    /// In the order they were seeded, which is that of their statements.
    components: Vec<Component>,
    /// Outputs that depend on a component, by their numbers in the report.
    outputs: Vec<(u64, Active)>,
    /// True if roundings are recorded as well.
    budget: bool,
    /// Operations whose rounding is not known.
    unknown_roundings: u64,
    /// Purpose of sums.
    sums: Sums,
    /// Shadows that were lost, by place and reason.
    lost: HashMap<(Site, &'static str), u64>,
    /// Time at which the first float was seeded.
    began: Option<Instant>,
    /// The process that the outputs are of.
    process: u32,
}

impl Adjoint {
    /// Nothing recorded yet. Beyond `memory` bytes the tape goes to a file in `dir`.
    pub fn new(memory: u64, dir: PathBuf) -> Adjoint {
        Adjoint {
            tape: Tape::new(memory, dir),
            finders: Vec::new(),
            packer: Packer::default(),
            components: Vec::new(),
            outputs: Vec::new(),
            budget: false,
            unknown_roundings: 0,
            sums: Sums::Unknown,
            lost: HashMap::new(),
            began: None,
            process: std::process::id(),
        }
    }

    /// The shadow of the result of a statement, a float of format `to`; nothing if that depends on nothing.
    fn record(&mut self, to: Format, statement: &Statement) -> Option<Active> {
        let number = self.tape.push(statement)?;
        self.check_number(to, number);
        Some(Active::new(number))
    }

    /// A shadow was lost at `site`.
    fn lost(&mut self, site: Site, why: &'static str) {
        *self.lost.entry((site, why)).or_default() += 1;
    }

    /// Records nothing any more where a float of format `to` has no room for the number of a statement.
    #[inline(always)]
    fn check_number(&mut self, to: Format, number: u64) {
        if to == Format::F32 && number >= SINGLES {
            self.tape.fail(|| format!("floats of four bytes cannot name more than {SINGLES} operations"));
        }
    }
}

/// The derivative by operand `i`, where the result depends on it.
#[inline(always)]
fn partial(gradient: &Gradient<Host>, i: usize) -> Option<f64> {
    match gradient.partials[i] {
        Partial::Zero | Partial::When(false) | Partial::Unless(true) => None,
        _ => Some(gradient.value(&EXACT, i)),
    }
}

/// The statement of operation `op` on `x` with result `r`, of whose operands these are active.
#[inline(always)]
fn statement(op: Op, x: &[f64], r: f64, shadows: impl Iterator<Item = Option<Active>>) -> Statement {
    let gradient = match op.arithmetic_gradient(&EXACT, x, r) {
        Some(gradient) => gradient,
        None => op.gradient(&EXACT, x, r),
    };
    let mut statement = Statement::default();
    for (i, shadow) in shadows.enumerate() {
        if let (Some(shadow), Some(partial)) = (shadow, partial(&gradient, i)) {
            statement.add(Term { statement: shadow.number, partial: shadow.by_result(partial) });
        }
    }
    statement
}

impl Rule for Adjoint {
    type Value = Active;

    fn op(&mut self, lane: &Lane<'_, Active>) -> Option<Active> {
        if lane.shadows.iter().all(Option::is_none) || lane.rounds_by_magic(self.sums) {
            return None;
        }
        let mut x = [0.0; MAX_OPERANDS];
        for (x, &bits) in x.iter_mut().zip(lane.x) {
            *x = lane.from.to_f64(bits);
        }
        if lane.shadows.iter().flatten().any(|shadow| shadow.is_bits()) {
            self.lost(lane.site, Gap::MISMATCH);
        }
        if lane.to == Format::F16 {
            self.lost(lane.site, HALF);
            return None;
        }
        let shadows = lane.shadows.iter().map(|shadow| shadow.copied().filter(|shadow| !shadow.is_bits()));
        let x = &x[..lane.x.len()];
        let r = lane.result(x);
        let mut statement = statement(lane.op, x, r, shadows);
        if self.budget {
            statement.rounding = Some(self.rounding((lane.op, lane.from, lane.to), lane.site, x, r));
        }
        self.record(lane.to, &statement)
    }

    fn scale(&mut self, shadow: &Active, format: Format, negate: bool, power: i32) -> Option<Active> {
        let scaled = shadow.scaled(negate, power);
        if scaled.fits(format) {
            return Some(scaled);
        }
        if shadow.is_bits() {
            return None;
        }
        let mut statement = Statement::default();
        statement.add(Term { statement: shadow.number, partial: scaled.by_result(1.0) });
        statement.rounding = self.budget.then(Rounding::default);
        self.record(format, &statement)
    }

    fn expect_sums(&mut self, sums: Sums) {
        self.sums = sums;
    }

    fn mismatch(&mut self, site: Site) {
        self.lost(site, Gap::MISMATCH);
    }

    fn displace(&mut self, shadow: &Active, format: Format, negate: bool, power: i32) -> Option<Active> {
        self.scale(shadow, format, negate, power)
    }
}
