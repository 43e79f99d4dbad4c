//! Floats that leave without their reals: what an operation in error has made, bit by bit, but for what goes with it.
//!
//! A float may have been taken apart and put together by integers, or written as text and read again, as interpreters that
//! turn its bits round for a box do. Nothing leads back then but the bits themselves, if they are so many that no other
//! float will have them. Knows no way by which a real is lost, and calls no output wrong for it.

use hashbrown::HashMap;
use shadowgrind_core::findings::Gap;
use shadowgrind_core::format::Format;
use shadowgrind_core::site::Site;

use super::Diagnosis;
use super::number::Attributed;

/// Outputs that are looked for, at most: each among all operations that are still known, in half a millisecond.
const MOST: u32 = 1 << 10;

/// Outputs that have lost their reals.
#[derive(Debug, Default)]
pub(super) struct Lost {
    looked_for: u32,
    by_site: HashMap<Site, u64>,
}

impl<N: Attributed> Diagnosis<N> {
    /// A float without a shadow leaves at `site`: counts it, if an operation that is still known made this very float, and has
    /// made results that are wrong.
    pub(crate) fn leaves_without(&mut self, site: Site, format: Format, bits: u128) {
        let most = self.settings.error_threshold;
        let is_wrong = |id| {
            let errors = self.operations[id].error.spread();
            errors.is_some_and(|errors| errors.max > most)
        };
        if self.lost.looked_for >= MOST || !self.operations.ids().any(is_wrong) {
            return;
        }
        self.lost.looked_for += 1;
        if self.history.made_inexactly(format, bits).any(is_wrong) {
            *self.lost.by_site.entry(site).or_default() += 1;
        }
    }

    /// The places where such floats have left.
    pub(crate) fn lost_outputs(&self) -> impl Iterator<Item = Gap> {
        let gap = |(&site, &count)| {
            let instruction = "output that came without the error it was computed with".to_owned();
            Gap { instruction, count, site }
        };
        self.lost.by_site.iter().map(gap)
    }
}
