//! Errors that nobody in particular has made: sums of many roundings, none of which is worth naming.
//!
//! What is large about such an error is the way to the output, which amplifies them. Knows only the largest rounding
//! of each output.

use hashbrown::HashMap;
use shadowgrind_core::findings::{Finding, FindingKind};

use super::operations::{Id, Operations, Reach, What};

/// Outputs whose errors are spread over many operations.
#[derive(Debug, Default)]
pub(crate) struct Conditioning {
    reach: Reach,
    /// Bits that the largest rounding of an output makes it wrong by, at most, by its operation.
    largest: HashMap<Id, f64>,
}

impl Conditioning {
    /// Counts a spot that is off by `bits` bits. The largest of its roundings is that of `operation`, and would alone make
    /// it wrong by `alone` bits.
    pub(crate) fn add(&mut self, operation: Id, alone: f64, bits: f64, output: Option<u64>) {
        self.reach.add(bits, 1.0, output);
        let most = self.largest.entry(operation).or_default();
        *most = most.max(alone);
    }

    /// The one finding about all of them, at the operation with the largest rounding.
    pub(crate) fn finding(&self, operations: &Operations) -> Option<Finding> {
        let order = |a: &(&Id, &f64), b: &(&Id, &f64)| a.1.total_cmp(b.1).then(b.0.cmp(a.0));
        let (&id, &alone) = self.largest.iter().max_by(order)?;
        let operation = &operations[id];
        let What::Op(op) = operation.what else { return None };
        let mut finding = Finding::new(FindingKind::Conditioning, op.name(), operation.site);
        finding.count = operation.error.count;
        finding.contribution = self.reach.contribution();
        finding.outputs = self.reach.outputs.clone();
        finding.shares = self.reach.shares.clone();
        let amplified = match alone.floor() as u64 {
            0 => String::new(),
            bits => {
                format!("ill-conditioned: roundings are amplified by 2^{bits} on their way to an output; ")
            }
        };
        let spread =
            "the error is made of many operations' roundings, of which none has 2 %; the largest is here";
        finding.remark(&format!("{amplified}{spread}"));
        Some(finding)
    }
}
