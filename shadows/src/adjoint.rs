//! Derivatives of all outputs by all inputs from one run: the chain rule over TABLE 1's partials, backwards.
//!
//! While the program runs, each operation with an active operand is recorded on a [`tape`]: which earlier results went
//! into it, and the partial derivatives. At its end the tape is [swept](sweep) from its end to its start, for several
//! outputs at once. What is carried beside a float is the number of its statement on the tape, and a power of two (or
//! its negative) that it has been scaled by since: that takes no statement.
//!
//! The rules are those of `dot`. **An inactive operand contributes nothing**, also where its partial is infinite or NaN.
//! **Rounding by a magic number** is rounding, and has no derivative. In the sweep, an adjoint of zero and a partial of
//! zero contribute nothing, whatever they meet. Partials and adjoints are doubles, whatever the format of the floats.
//!
//! Knows neither instructions nor how reports look.

mod budget;
mod jacobian;
mod pages;
mod questions;
mod recorded;
mod seam;
mod store;
mod sweep;
mod tape;

#[cfg(test)]
mod tests;

use hashbrown::HashMap;
use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{Gradient, MAX_OPERANDS, Op, Partial};
use shadowgrind_core::shadow::{Lane, Rule};
use shadowgrind_core::site::Site;
use shadowgrind_core::slots::Negated;
use std::path::PathBuf;
use std::time::Instant;
use tape::{Statement, Tape, Term};

/// The arithmetic that partials are found in.
const EXACT: Host = Host::new(Format::F64);

/// The shadow of a float, which is ±2ᵏ times the result of this statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Active {
    statement: u64,
    negated: bool,
    power: i32,
}

impl Active {
    /// The result of a statement as it is.
    fn new(statement: u64) -> Active {
        Active { statement, negated: false, power: 0 }
    }

    /// The shadow of ±2ᵏ times the float of this one.
    fn scaled(self, negate: bool, power: i32) -> Active {
        Active { negated: self.negated != negate, power: self.power.saturating_add(power), ..self }
    }

    /// The derivative by the statement's result of what has this one by the float.
    #[inline(always)]
    fn by_statement(self, partial: f64) -> f64 {
        let partial = if self.negated { -partial } else { partial };
        if self.power == 0 { partial } else { libm::ldexp(partial, self.power) }
    }
}

impl Negated for Active {
    fn negated(&self, _format: Format) -> Active {
        self.scaled(true, 0)
    }

    fn scaled_unseen(&self, negate: bool, power: i32) -> Option<Active> {
        Some(self.scaled(negate, power))
    }
}

/// A seeded float.
#[derive(Clone, Copy, Debug)]
struct Component {
    /// The input of the report that it belongs to.
    input: usize,
    weight: f64,
    statement: u64,
}

/// See the module's description.
#[derive(Debug)]
pub struct Adjoint {
    tape: Tape,
    /// In the order they were seeded, which is that of their statements.
    components: Vec<Component>,
    /// Outputs that depend on a component, by their numbers in the report.
    outputs: Vec<(u64, Active)>,
    /// True if roundings are recorded as well.
    budget: bool,
    /// Operations whose rounding is not known.
    unknown_roundings: u64,
    /// Sums are meant as such: no term is one that rounds the others.
    plain_sums: bool,
    /// Operands that had lost their shadow in a way that was not followed.
    mismatches: HashMap<Site, u64>,
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
            components: Vec::new(),
            outputs: Vec::new(),
            budget: false,
            unknown_roundings: 0,
            plain_sums: false,
            mismatches: HashMap::new(),
            began: None,
            process: std::process::id(),
        }
    }

    /// The shadow of the result of a statement; nothing if that depends on nothing.
    fn record(&mut self, statement: &Statement) -> Option<Active> {
        let statement = self.tape.push(statement)?;
        Some(Active::new(statement))
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
            statement.add(Term { statement: shadow.statement, partial: shadow.by_statement(partial) });
        }
    }
    statement
}

impl Rule for Adjoint {
    type Value = Active;

    fn op(&mut self, lane: &Lane<'_, Active>) -> Option<Active> {
        if lane.shadows.iter().all(Option::is_none) || !self.plain_sums && lane.rounds_by_magic() {
            return None;
        }
        let mut x = [0.0; MAX_OPERANDS];
        for (x, &bits) in x.iter_mut().zip(lane.x) {
            *x = lane.from.to_f64(bits);
        }
        let shadows = lane.shadows.iter().map(|shadow| shadow.copied());
        let (x, r) = (&x[..lane.x.len()], lane.to.to_f64(lane.r));
        let mut statement = statement(lane.op, x, r, shadows);
        if self.budget {
            statement.rounding = Some(self.rounding((lane.op, lane.from, lane.to), lane.site, x, r));
        }
        self.record(&statement)
    }

    fn scale(&mut self, shadow: &Active, _format: Format, negate: bool, power: i32) -> Option<Active> {
        Some(shadow.scaled(negate, power))
    }

    fn sums_plainly(&mut self, plain: bool) {
        self.plain_sums = plain;
    }

    fn mismatch(&mut self, site: Site) {
        *self.mismatches.entry(site).or_default() += 1;
    }

    fn displace(&mut self, shadow: &Active, format: Format, negate: bool, power: i32) -> Option<Active> {
        self.scale(shadow, format, negate, power)
    }
}
