//! Floats that leave without their reals: what an operation in error has made, bit by bit, but for what goes with it.
//!
//! A float may have been taken apart and put together by integers, or written as text and read again, as interpreters that
//! turn its bits round for a box do. Nothing leads back then but the bits themselves, if they are so many that no other
//! float will have them, and none that a program would write down as a number. And floats that are computed with although
//! only a trace of another's real is beside them. Knows no way by which a real is lost, and calls no output wrong for it.

use hashbrown::HashMap;
use shadowgrind_core::findings::Gap;
use shadowgrind_core::format::Format;
use shadowgrind_core::site::Site;
use shadowgrind_core::text::Decimal;

use super::history::History;
use super::operations::Operations;

/// Outputs that are looked for, at most: each among all operations that are still known, in half a millisecond.
const MOST: u32 = 1 << 10;

/// Outputs and operands that have lost their reals.
#[derive(Debug, Default)]
pub(super) struct Lost {
    looked_for: u32,
    outputs: HashMap<Site, u64>,
    operands: HashMap<Site, u64>,
}

impl Lost {
    /// A float without a shadow leaves at `site`: counts it, if an operation that is still known made this very float, and has
    /// made results that are off by more than `threshold` bits.
    pub(super) fn leaves(
        &mut self,
        (site, format, bits): (Site, Format, u128),
        threshold: f64,
        (operations, history): (&Operations, &History),
    ) {
        let is_wrong = |id| {
            let errors = operations[id].error.spread();
            errors.is_some_and(|errors| errors.max > threshold)
        };
        if self.looked_for >= MOST || !operations.ids().any(is_wrong) || is_like_a_literal(format, bits) {
            return;
        }
        self.looked_for += 1;
        if history.made_inexactly(format, bits).any(is_wrong) {
            *self.outputs.entry(site).or_default() += 1;
        }
    }

    /// A float with a trace of another's real is an operand at `site`.
    pub(super) fn operand(&mut self, site: Site) {
        *self.operands.entry(site).or_default() += 1;
    }

    /// The places where such floats have left, or were operands.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Gap> {
        const OUTPUT: &str = "output that came without the error it was computed with";
        let gaps = |lost: &HashMap<Site, u64>, what: &'static str| {
            let gap = |(&site, &count)| Gap { instruction: what.to_owned(), count, site };
            lost.iter().map(gap).collect::<Vec<_>>()
        };
        gaps(&self.outputs, OUTPUT).into_iter().chain(gaps(&self.operands, Gap::MISMATCH))
    }
}

/// Tells whether a float has a decimal so short that a program may well have it from its source: few results of operations do.
fn is_like_a_literal(format: Format, bits: u128) -> bool {
    let (shortest, few) = match format {
        Format::F32 => (format!("{:e}", f32::from_bits(bits as u32)), 4),
        _ => (format!("{:e}", format.to_f64(bits)), 6),
    };
    Decimal::of(&shortest).is_none_or(|decimal| decimal.significant_digits() <= few)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_few_digits_are_literals() {
        let is = |x: f64| is_like_a_literal(Format::F64, x.to_bits().into());
        assert!([0.05, -0.1, 1e-300, 123_456.0, f64::NAN].into_iter().all(is));
        assert!(![0.1 + 0.2, 1.0 / 3.0, 1_234_567.0].into_iter().any(is));
        let is = |x: f32| is_like_a_literal(Format::F32, x.to_bits().into());
        assert!(is(0.05) && is(1234.0) && !is(1.0 / 3.0) && !is(123_456.0));
    }
}
