//! From what was counted to findings: operations that a spot blamed, each once for each kind of guilt; decisions; where NaN
//! and infinities were born. Apart from these, erroneous operations that nothing came of.

use shadowgrind_core::findings::{Exhausted, Finding, FindingKind};
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::ToInteger;

use super::Diagnosis;
use super::expression::{Expression, function, symbol};
use super::number::{Attributed, is_sum};
use super::operations::{Operation, Reach, What};
use super::remedied;

/// Reals with fewer significant bits than this are not much better than floats.
const SIGNIFICANT_BITS: i32 = 64;

impl Operation {
    /// Tells whether it is a sum in which, more often than not, an addend leaves no trace.
    pub(crate) fn absorbs(&self) -> bool {
        2 * self.absorbed > self.error.count
    }
}

impl<N: Attributed> Diagnosis<N> {
    /// Findings: outcomes of errors and their causes, decisions, NaN and infinities, in the order in which operations
    /// first ran.
    pub(crate) fn findings(&mut self) -> Vec<Finding> {
        self.settle();
        let negations = self.history.negations();
        for operation in self.operations.iter_mut() {
            let both = [&mut operation.expression, &mut operation.usual].into_iter().flatten();
            both.for_each(|expression| expression.join_negatives(negations));
        }
        let each = |operation| {
            let (culprit, amplifier) = (self.culprit(operation), self.amplifier(operation));
            let (accumulation, decision) = (self.accumulation(operation), self.decision(operation));
            let explained = |finding: Option<Finding>| Some((finding?, operation.expression.as_deref()));
            let usual = |finding: Option<Finding>| Some((finding?, operation.usual.as_deref()));
            let [culprit, decision, birth] = [culprit, decision, self.birth(operation)].map(explained);
            [culprit, usual(amplifier), usual(accumulation), decision, birth]
        };
        let mut findings: Vec<_> = self.operations.iter().flat_map(each).flatten().collect();
        if self.settings.remedies {
            remedied::find(&mut findings);
        }
        let spread = self.conditioning.finding(&self.operations);
        findings.into_iter().map(|(finding, _)| finding).chain(spread).collect()
    }

    /// Erroneous operations that nothing has answered for, because nothing came of it, or nothing that is watched.
    pub(crate) fn unreached(&self) -> Vec<Finding> {
        let each = |operation: &Operation| {
            let What::Op(op) = operation.what else { return None };
            let is_blamed = !operation.culprit.is_empty() || !operation.amplified.is_empty();
            let is_only_special = operation.births.count > 0;
            let is_left = operation.local_error.count > 0 && !is_blamed && !is_only_special;
            is_left.then(|| self.at_fault(operation, op))
        };
        self.operations.iter().filter_map(each).collect()
    }

    /// Operations for whose results the reals were not precise enough, in the order in which they first ran.
    pub(crate) fn exhausted(&self) -> Vec<Exhausted> {
        let each = |operation: &Operation| {
            let What::Op(op) = operation.what else { return None };
            let Operation { exhausted: count, site, .. } = *operation;
            (count > 0).then_some(Exhausted { operation: op.name(), count, site })
        };
        self.operations.iter().filter_map(each).collect()
    }

    fn culprit(&self, operation: &Operation) -> Option<Finding> {
        let What::Op(op) = operation.what else { return None };
        (!operation.culprit.is_empty()).then(|| self.at_fault(operation, op))
    }

    fn at_fault(&self, operation: &Operation, op: Op) -> Finding {
        let mut finding = Finding::new(operation.local_errors.kind(), op.name(), operation.site);
        finding.count = match (operation.local_error.count, finding.kind) {
            // Bits were lost at the end of the range, and no float was another for it.
            (0, FindingKind::Underflow) => operation.local_errors.underflow,
            (count, _) => count,
        };
        finding.error_bits = operation.erroneous.spread();
        finding.local_error_bits = operation.local_error.spread();
        finding.causes = operation.causes.clone();
        reach(&mut finding, &operation.culprit);
        self.explain(&mut finding, operation.expression.as_deref(), operation, op.name());
        if operation.local_errors.bits_lost > 0.0 && finding.kind == FindingKind::Cancellation {
            finding.remark(&format!("up to {} leading bits cancel", operation.local_errors.bits_lost));
        }
        finding
    }

    /// An operation at which error grew, though never so much at once that it was erroneous.
    fn amplifier(&self, operation: &Operation) -> Option<Finding> {
        let What::Op(op) = operation.what else { return None };
        if operation.amplified.is_empty() {
            return None;
        }
        let kind = if is_sum(op) { FindingKind::Cancellation } else { FindingKind::Rounding };
        let mut finding = Finding::new(kind, op.name(), operation.site);
        finding.count = operation.error.count;
        finding.error_bits = operation.error.spread();
        reach(&mut finding, &operation.amplified);
        self.explain(&mut finding, operation.usual.as_deref(), operation, op.name());
        if operation.error.count > 1 {
            finding.remark("the error grows here little by little, execution by execution");
        }
        Some(finding)
    }

    fn accumulation(&self, operation: &Operation) -> Option<Finding> {
        let What::Op(op) = operation.what else { return None };
        if operation.accumulated.is_empty() {
            return None;
        }
        let kind = if operation.absorbs() { FindingKind::Absorption } else { FindingKind::Accumulation };
        let mut finding = Finding::new(kind, op.name(), operation.site);
        finding.count = operation.error.count;
        finding.error_bits = operation.error.spread();
        finding.share = operation.accumulated.share.spread().map(|share| share.mean);
        reach(&mut finding, &operation.accumulated);
        self.explain(&mut finding, operation.usual.as_deref(), operation, op.name());
        if kind == FindingKind::Absorption {
            let (absorbed, sums) = (operation.absorbed, operation.error.count);
            finding.remark(&format!("in {absorbed} of {sums} sums an addend left no trace"));
        }
        Some(finding)
    }

    fn explain(
        &self,
        finding: &mut Finding,
        expression: Option<&Expression>,
        operation: &Operation,
        name: &str,
    ) {
        if let Some(expression) = expression {
            let decides = matches!(finding.kind, FindingKind::Branch | FindingKind::Conversion);
            let at_fault = decides || finding.local_error_bits.is_some();
            let ranges = expression.ranges(&self.operations, at_fault);
            finding.expression = Some(expression.infix());
            finding.fpcore = expression.fpcore(name, &ranges);
            finding.ranges = ranges;
        }
        let significant = operation.least_significant;
        if significant < SIGNIFICANT_BITS {
            let significant = significant.max(0);
            finding.remark(&format!(
                "only {significant} bits of the real itself are significant: try a higher --precision"
            ));
        }
    }

    fn decision(&self, operation: &Operation) -> Option<Finding> {
        if operation.flips + operation.unsettled == 0 {
            return None;
        }
        let (kind, name) = match operation.what {
            What::Compare(predicate) => (FindingKind::Branch, symbol(predicate)),
            What::Integer(how) => (FindingKind::Conversion, function(how)),
            What::Op(_) => return None,
        };
        let mut finding = Finding::new(kind, name, operation.site);
        finding.count = operation.flips;
        finding.unsettled = operation.unsettled;
        finding.executions = Some(operation.count);
        finding.error_bits = operation.erroneous.spread();
        finding.contribution = operation.erroneous.spread().map_or(0.0, |spread| spread.mean);
        finding.causes = operation.causes.clone();
        self.explain(&mut finding, operation.expression.as_deref(), operation, name);
        if operation.unsettled > 0 {
            finding.remark(undecided(operation.what));
        }
        Some(finding)
    }

    /// Birth of NaN or infinities at an operation.
    fn birth(&self, operation: &Operation) -> Option<Finding> {
        let What::Op(op) = operation.what else { return None };
        let births = &operation.births;
        let witness = births.witness.as_deref()?;
        let overflows = operation.local_errors.overflow > 0 && witness.result.is_infinite();
        let kind = if overflows { FindingKind::Overflow } else { FindingKind::Invalid };
        let mut finding = Finding::new(kind, op.name(), operation.site);
        finding.count = births.count;
        finding.executions = Some(operation.count);
        finding.witness = Some(witness.clone());
        finding.error_bits = operation.erroneous.spread();
        finding.local_error_bits = operation.local_error.spread();
        finding.causes = operation.causes.clone();
        reach(&mut finding, &operation.special);
        self.explain(&mut finding, operation.expression.as_deref(), operation, op.name());
        Some(finding)
    }
}

/// Meaning of a decision that exact arithmetic is not known to make, and what can be done about it.
fn undecided(what: What) -> &'static str {
    match what {
        What::Integer(ToInteger::Truncate) => {
            "it is an integer, or nearer to one than can be told: roundings decide; where that integer is meant, round to the \
             nearest"
        }
        What::Integer(ToInteger::Round | ToInteger::Away) => {
            "it is half-way between integers, or nearer to that than can be told: roundings decide"
        }
        What::Compare(_) | What::Op(_) => {
            "both are equal, or nearer than can be told: roundings decide; where equality is meant, compare within a tolerance"
        }
    }
}

fn reach(finding: &mut Finding, reach: &Reach) {
    finding.contribution = reach.contribution();
    finding.outputs = reach.outputs.clone();
    finding.shares = reach.shares.clone();
}
