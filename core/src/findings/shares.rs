//! Shares of a cause in the errors of the outputs that it reached.
//!
//! A share is a term of an error, to first order, over the whole error. It is signed: the shares of all causes of an error add up
//! to 1, as far as these are known, and a share is above 1 where other causes compensate some of it. Knows nothing of how shares
//! were found.

use super::IndexSet;

/// Number of outputs of one cause whose shares are kept one by one; a cause of more has those of the first.
const MOST: usize = 1 << 16;

/// Share of a cause in the error of one output.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Share {
    output: u64,
    share: f32,
    /// Error of the output, in bits.
    bits: f32,
}

impl Share {
    /// Bits of the error that it accounts for: all of them, if it is the whole of it; less than twice as many, where
    /// others put back what is beyond that.
    fn weight(&self) -> f64 {
        let size = f64::from(self.share.abs());
        let fraction = if size > 1.0 { 2.0 - 1.0 / size } else { size };
        fraction * f64::from(self.bits)
    }
}

/// Shares of a cause in the errors of outputs, by output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shares {
    /// In the order of outputs.
    each: Vec<Share>,
}

impl Shares {
    /// Adds a `share` of the error of `output`, which is `bits`. Cheap in the order of outputs. Tells whether
    /// there was room.
    pub fn add(&mut self, output: u64, share: f64, bits: f64) -> bool {
        let new = Share { output, share: share as f32, bits: bits as f32 };
        self.put(new)
    }

    fn put(&mut self, new: Share) -> bool {
        let at = match self.each.last() {
            Some(last) if last.output < new.output => Err(self.each.len()),
            _ => self.each.binary_search_by_key(&new.output, |share| share.output),
        };
        match at {
            Ok(at) => {
                self.each[at].share += new.share;
                self.each[at].bits = self.each[at].bits.max(new.bits);
            }
            Err(_) if self.each.len() >= MOST => return false,
            Err(at) => self.each.insert(at, new),
        }
        true
    }

    /// Shares with others, added up by output.
    pub fn united(&self, other: &Shares) -> Shares {
        let mut all = self.clone();
        other.each.iter().for_each(|&share| {
            all.put(share);
        });
        all
    }

    /// Makes the share in `output`, which is the sum of shares in `count` floats, their mean.
    pub fn average(&mut self, output: u64, count: u64) {
        if let Ok(at) = self.each.binary_search_by_key(&output, |share| share.output) {
            self.each[at].share /= count.max(1) as f32;
        }
    }

    /// Bits of error accounted for, over all outputs: of each, the share's size times the bits of its error.
    pub fn weight(&self) -> f64 {
        self.each.iter().map(Share::weight).sum()
    }

    /// The share in the error of `output`, if that is known.
    pub fn of(&self, output: u64) -> Option<f64> {
        let at = self.each.binary_search_by_key(&output, |share| share.output).ok()?;
        Some(self.each[at].share.into())
    }

    /// The shares beside `outputs`, in their order, up to the last that is known.
    pub fn beside<'a>(&'a self, outputs: &'a IndexSet) -> impl Iterator<Item = Option<f64>> + 'a {
        let last = self.each.last().map(|share| share.output);
        outputs.iter().take_while(move |&output| Some(output) <= last).map(|output| self.of(output))
    }

    /// Mean size of the shares.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.each.iter().map(|share| f64::from(share.share.abs())).sum();
        (!self.each.is_empty()).then(|| sum / self.each.len() as f64)
    }

    /// Shares in the outputs of `kept`, which are ascending, by their new numbers from 0.
    pub fn among(&self, kept: &[u64]) -> Shares {
        let renumbered = |share: &Share| {
            let output = kept.binary_search(&share.output).ok()? as u64;
            Some(Share { output, ..*share })
        };
        Shares { each: self.each.iter().filter_map(renumbered).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(all: &[(u64, f64, f64)]) -> Shares {
        let mut shares = Shares::default();
        all.iter().for_each(|&(output, share, bits)| assert!(shares.add(output, share, bits)));
        shares
    }

    #[test]
    fn the_share_in_an_output_of_many_floats_is_a_mean() {
        let mut shares = shares(&[(3, 1.0, 8.0), (3, 0.5, 8.0), (7, 1.0, 8.0)]);
        shares.average(3, 2);
        shares.average(4, 2);
        assert_eq!((shares.of(3), shares.of(7)), (Some(0.75), Some(1.0)));
    }

    #[test]
    fn shares_of_one_output_add_as_numbers() {
        let (a, b) = (
            shares(&[(3, 0.5, 30.0), (7, -0.25, 8.0)]),
            shares(&[(7, 0.5, 8.0), (1, 1.0, 2.0), (1, -1.0, 2.0)]),
        );
        let both = a.united(&b);
        assert_eq!([1, 3, 7, 8].map(|output| both.of(output)), [Some(0.0), Some(0.5), Some(0.25), None]);
        assert_eq!(both.weight(), 15.0 + 2.0);
        assert_eq!(b.united(&a), both);
        assert_eq!(both.mean(), Some(0.25));
        assert_eq!(shares(&[(1, -4.0, 8.0)]).weight(), 14.0, "others put back the most of it");
    }

    #[test]
    fn outputs_that_are_left_have_new_numbers() {
        let left = shares(&[(3, 0.5, 30.0), (7, -0.25, 8.0)]).among(&[1, 7]);
        assert_eq!((left.of(1), left.of(0)), (Some(-0.25), None));
    }

    #[test]
    fn there_is_room_for_the_first_outputs_only() {
        let mut shares = Shares::default();
        let kept = (0..2 * MOST as u64).filter(|&output| shares.add(output, 1.0, 1.0)).count();
        assert_eq!(kept, MOST);
        assert!(shares.add(0, -0.5, 1.0), "of a known output");
    }
}
