//! Attribution of errors: which operations made a float wrong, how, and what is to be said of them.
//!
//! Each value carries the largest roundings in its error ([`blame`]), where these grew, and the erroneous operations it depends on
//! ([`influences`]), on a [scale](scale), all [passed on](following) to first order. What was computed is remembered for a while
//! ([`history`]) and generalised to [expressions](expression). Where floats leave ([`spots`]) or decide something
//! ([`decisions`]), those who made them wrong answer for it, which is what [findings] tell.
//!
//! Generic over the shadow whose errors these are: see [`number`]. Knows no number type, no instructions and no report formats.

pub(crate) mod blame;
mod conditioning;
pub(crate) mod decisions;
mod deferred;
pub(crate) mod expression;
pub(crate) mod findings;
pub(crate) mod following;
pub(crate) mod history;
pub(crate) mod influences;
pub(crate) mod linear;
pub(crate) mod local_error;
mod lost;
pub(crate) mod number;
pub(crate) mod operations;
mod ranges;
mod remedied;
pub(crate) mod scale;
pub(crate) mod special;
pub(crate) mod spots;
#[cfg(test)]
mod tests;

use shadowgrind_core::findings::{Gap, Unjudged};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Lane, Observed, Settings};
use shadowgrind_core::site::Site;

use blame::ErrorTerm;
use conditioning::Conditioning;
use deferred::Deferred;
use expression::{Expression, Trace};
use history::{History, Source};
use local_error::{Kind, LocalError, Threshold};
use lost::Lost;
use number::Attributed;
use operations::{Id, Operations, What};

/// Depth of the expression of an operation that is not erroneous itself.
const USUAL_DEPTH: u32 = 3;

/// Operations of a run, and what was learnt of the errors they made.
#[derive(Debug)]
pub(crate) struct Diagnosis<N> {
    settings: Settings,
    pub(crate) threshold: Threshold,
    /// Terms being merged.
    pub(crate) terms: Vec<ErrorTerm>,
    pub(crate) operations: Operations,
    pub(crate) history: History,
    conditioning: Conditioning,
    deferred: Vec<Deferred<N>>,
    /// Decisions that nobody judges, by place.
    unjudged: Vec<Unjudged>,
    lost: Lost,
    /// Place where an error was noted last.
    noted: Option<Site>,
    /// Places where one was noted for the first time, since they were taken.
    noted_first: Vec<Site>,
}

impl<N: Attributed> Diagnosis<N> {
    /// Nothing met yet.
    pub(crate) fn new(settings: &Settings) -> Self {
        let mut operations = Operations::default();
        let negation = |format| operations.at(Site::NONE, What::Op(Op::Neg), (format, format));
        let history = History::new(Format::ALL.map(negation));
        Diagnosis {
            settings: settings.clone(),
            threshold: Threshold::new(settings.error_threshold),
            terms: Vec::new(),
            operations,
            history,
            conditioning: Conditioning::default(),
            deferred: Vec::new(),
            unjudged: Vec::new(),
            lost: Lost::default(),
            noted: None,
            noted_first: Vec::new(),
        }
    }

    /// A float without a shadow leaves at `site`: noted if it has lost the error that it was computed with.
    pub(crate) fn leaves_without(&mut self, site: Site, format: Format, bits: u128) {
        let known = (&self.operations, &self.history);
        self.lost.leaves((site, format, bits), self.settings.error_threshold, known);
    }

    /// An operand at `site` has only a trace of another float's real.
    pub(crate) fn mismatch(&mut self, site: Site) {
        self.lost.operand(site);
    }

    /// The places where such floats have left, or were operands.
    pub(crate) fn lost(&self) -> impl Iterator<Item = Gap> {
        self.lost.gaps()
    }

    /// The decisions that nobody judges, as far as it is [settled](Self::settle) that they are no findings.
    pub(crate) fn unjudged(&self) -> &[Unjudged] {
        &self.unjudged
    }

    /// Takes the place where an error was noted last.
    pub(crate) fn take_noted(&mut self) -> Option<Site> {
        self.noted.take()
    }

    /// Takes the places where one was noted for the first time.
    pub(crate) fn take_noted_first(&mut self) -> Vec<Site> {
        std::mem::take(&mut self.noted_first)
    }

    /// Keeps count of an execution that introduced error, and what it computed. Its result has error of so many bits, as a
    /// power of two.
    fn note_local_error(&mut self, id: Id, operands: &[Source], local_error: &LocalError, power: f64) {
        let operation = &mut self.operations[id];
        self.noted = Some(operation.site);
        if operation.expression.is_none() {
            self.noted_first.push(operation.site);
        }
        operation.local_errors.count(local_error);
        if local_error.is_error() {
            operation.erroneous.add(power);
            operation.local_error.add(local_error.power);
        }
        let known = operation.expression.take();
        let trace = self.trace(id, self.settings.expr_depth, true);
        self.operations[id].expression = fitted(known, trace, operands, local_error.power);
    }

    /// Looks now and then at what an operation that was erroneous before computes when it is not.
    fn note_right(&mut self, id: Id, operands: &[Source]) {
        let Some(mut expression) = self.operations[id].expression.take() else { return };
        expression.fit(self.trace(id, self.settings.expr_depth, true), operands);
        self.operations[id].expression = Some(expression);
    }

    /// Now and then looks at what an operation computes, should its roundings turn out to matter.
    fn note_usual(&mut self, id: Id, operands: &[Source]) {
        let known = self.operations[id].usual.take();
        let trace = self.trace(id, USUAL_DEPTH, false);
        self.operations[id].usual = fitted(known, trace, operands, 0.0);
    }

    fn trace(&self, root: Id, depth: u32, loops: bool) -> Trace<'_> {
        Trace { history: &self.history, operations: &self.operations, depth, loops, root }
    }

    /// An operand out of its domain is a consequence of what made it wrong.
    fn note_causes(&mut self, id: Id, lane: &Lane<'_, N>, local_error: &LocalError) {
        if local_error.kind != Kind::Invalid {
            return;
        }
        let operands = lane.shadows.iter().zip(lane.x);
        // What the reals have as well comes of nothing but what they have as well.
        let counts = |bits| local_error.is_error() || special::is_special(lane.from, bits);
        let seen = operands.filter(|&(_, &bits)| counts(bits)).map(|(&shadow, &bits)| Observed {
            format: lane.from,
            bits,
            shadow,
        });
        self.answered_for(id, &seen.collect::<Vec<_>>());
    }
}

/// An expression made to fit another execution, or made from the first.
fn fitted(
    known: Option<Box<Expression>>,
    trace: Trace<'_>,
    operands: &[Source],
    power: f64,
) -> Option<Box<Expression>> {
    match known {
        Some(mut expression) => {
            expression.generalise(trace, operands, power);
            Some(expression)
        }
        None => Some(Box::new(Expression::new(trace, operands, power))),
    }
}
