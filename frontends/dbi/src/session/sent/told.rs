//! Format of floats that leave in binary form, told from their bytes.
//!
//! Where cells are numbers in place, nothing says whether eight bytes with a shadow are a double or two floats. Their digits do, if
//! there are enough of them: the lower half of a double that was computed, and that of its derivative, is as good as random, and is
//! a float of absurd size as often as not; of two floats side by side the sizes are alike. What is neither for sure stays untold.
//! Knows bytes and cells only.

/// Different halves that are looked at.
const SAMPLES: usize = 64;
/// Binary orders by which two floats side by side differ at most.
const NEAR: u32 = 24;

/// Four bytes: the float's, and those of the cell beside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Half {
    pub(super) bits: u32,
    pub(super) cell: u32,
}

/// Exponent field of four bytes that are a float.
fn exponent(bits: u32) -> u32 {
    bits >> 23 & 0xff
}

/// Tells whether two floats are of about the same size, or one of them is zero.
fn are_near(a: u32, b: u32) -> bool {
    let is_zero = |bits: u32| bits << 1 == 0;
    is_zero(a) || is_zero(b) || exponent(a).abs_diff(exponent(b)) <= NEAR
}

/// Tells whether four bytes may well be two floats of two bytes each: not zero, and of about the same size.
fn may_be_narrower(bits: u32) -> bool {
    let exponents = [bits, bits >> 16].map(|bits| bits >> 10 & 0x1f);
    bits & 0x7fff != 0 && exponents[0].abs_diff(exponents[1]) <= 3
}

/// Tells whether a double with this upper half is zero or of a size that people compute with.
fn is_sane(upper: u32) -> bool {
    const BIAS: u32 = 0x3ff;
    const MOST: u32 = 256;
    upper << 1 == 0 || (upper >> 20 & 0x7ff).abs_diff(BIAS) <= MOST
}

/// Evidence of what the words of eight bytes are that were seen so far.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    /// Words with a shadow, and those that are sane as doubles.
    words: u64,
    sane: u64,
    /// Different lower halves that were looked at.
    seen: Vec<Half>,
    /// Exponents that these have as floats, and their cells; numbers of all of these, and of those far below and far above one.
    exponents: [bool; 256],
    samples: u32,
    tiny: u32,
    huge: u32,
    /// Words of which both halves have a cell; those that are as two floats side by side are, and as four.
    pairs: u32,
    near: u32,
    narrower: u32,
}

impl Default for Evidence {
    fn default() -> Evidence {
        Evidence {
            words: 0,
            sane: 0,
            seen: Vec::new(),
            exponents: [false; 256],
            samples: 0,
            tiny: 0,
            huge: 0,
            pairs: 0,
            near: 0,
            narrower: 0,
        }
    }
}

impl Evidence {
    /// Notes a word, some of which has a cell.
    pub(super) fn note(&mut self, lower: Half, upper: Half) {
        self.words += 1;
        self.sane += u64::from(is_sane(upper.bits) && is_sane(upper.cell));
        if self.seen.len() == SAMPLES || self.seen.contains(&lower) {
            return;
        }
        self.seen.push(lower);
        for bits in [lower.bits, lower.cell].into_iter().filter(|bits| bits << 1 != 0) {
            self.exponents[exponent(bits) as usize] = true;
            self.samples += 1;
            self.tiny += u32::from(exponent(bits) < 64);
            self.huge += u32::from(exponent(bits) >= 192);
        }
        if lower.cell != 0 && upper.cell != 0 {
            self.pairs += 1;
            self.near += u32::from(are_near(lower.bits, upper.bits) && are_near(lower.cell, upper.cell));
            self.narrower += u32::from(may_be_narrower(lower.bits) && may_be_narrower(lower.cell));
        }
    }

    /// Tells whether the words are doubles. Of others some would be as sane, but not of all sizes in their lower halves.
    pub(super) fn is_of_doubles(&self) -> bool {
        let different = self.exponents.iter().filter(|&&is_there| is_there).count() as u32;
        self.samples >= 16
            && 2 * different >= self.samples
            && self.tiny >= 2
            && self.huge >= 2
            && 8 * self.near <= self.pairs
            && 16 * self.sane >= 15 * self.words
    }

    /// Tells whether the words are pairs of floats of four bytes. Of so many doubles one in 27 would be like such a pair.
    pub(super) fn is_of_floats(&self) -> bool {
        self.pairs >= 8 && 8 * self.near >= 7 * self.pairs && 2 * self.narrower <= self.pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_doubles(pairs: impl Iterator<Item = (f64, f64)>) -> Evidence {
        let mut evidence = Evidence::default();
        for (value, derivative) in pairs {
            let [(a, b), (c, d)] =
                [value, derivative].map(|x| (x.to_bits() as u32, (x.to_bits() >> 32) as u32));
            evidence.note(Half { bits: a, cell: c }, Half { bits: b, cell: d });
        }
        evidence
    }

    fn of_floats(pairs: &[(f32, f32)]) -> Evidence {
        let mut evidence = Evidence::default();
        let half =
            |(value, derivative): (f32, f32)| Half { bits: value.to_bits(), cell: derivative.to_bits() };
        pairs.as_chunks().0.iter().for_each(|&[a, b]| evidence.note(half(a), half(b)));
        evidence
    }

    fn verdict(evidence: &Evidence) -> (bool, bool) {
        (evidence.is_of_doubles(), evidence.is_of_floats())
    }

    #[test]
    fn computed_doubles_are_told() {
        let x = |n: i32| 0.7 + f64::from(n) / 3.0;
        let evidence = of_doubles((0..32).map(|n| (x(n).sin(), x(n).cos())));
        assert_eq!(verdict(&evidence), (true, false));
    }

    #[test]
    fn floats_side_by_side_are_told() {
        let x = |n: i32| 0.7 + n as f32 / 3.0;
        let all: Vec<_> = (0..32).map(|n| (x(n).sin(), x(n).cos())).collect();
        assert_eq!(verdict(&of_floats(&all)), (false, true));
    }

    /// Sizes far apart, in pairs, or all over the place: two constants of nature among others, and powers of ten.
    #[test]
    fn floats_of_absurd_sizes_are_no_doubles() {
        let x = |n: i32| 0.7 + n as f32 / 3.0;
        let constants = |n: i32| [1.38e-23 * x(n), x(n), 1.99e30 * x(n), x(n)][n as usize % 4];
        let all: Vec<_> = (0..64).map(|n| (constants(n), constants(n) / 0.7)).collect();
        assert!(!of_floats(&all).is_of_doubles());
        let powers: Vec<_> = (-36..36).map(|n| (10_f32.powi(n), 3.0 * 10_f32.powi(n))).collect();
        assert_eq!(verdict(&of_floats(&powers)), (false, true));
    }

    /// Few digits say nothing, and neither do few numbers.
    #[test]
    fn what_may_be_either_is_untold() {
        let few = of_doubles((0..1000).map(|n| (f64::from(n), 2.0)));
        assert_eq!(verdict(&few), (false, false));
        assert_eq!(verdict(&of_doubles([(0.1, 0.3)].into_iter())), (false, false));
        assert_eq!(verdict(&of_floats(&[(1.5, 1.0), (2.5, 2.0)])), (false, false));
    }

    /// Floats of two bytes are none of four, and doubles that begin at an odd address none where they do not.
    #[test]
    fn other_formats_are_untold() {
        let mut evidence = Evidence::default();
        for n in 0..64 {
            let narrow = 0x3c10_3c00 + 0x0111_0203 * (n % 7);
            evidence
                .note(Half { bits: narrow, cell: narrow + 9 }, Half { bits: narrow + n, cell: narrow - n });
        }
        assert_eq!(verdict(&evidence), (false, false));
        let x = |n: i32| 0.7 + f64::from(n) / 3.0;
        let bytes = |of: fn(f64) -> f64| -> Vec<u8> {
            [0].into_iter().chain((0..64).flat_map(|n| of(x(n)).to_le_bytes())).collect()
        };
        let (values, cells) = (bytes(f64::sin), bytes(f64::cos));
        let mut evidence = Evidence::default();
        let halves = |bytes: &[u8]| -> Vec<u32> {
            bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
        };
        let all: Vec<Half> =
            halves(&values).into_iter().zip(halves(&cells)).map(|(bits, cell)| Half { bits, cell }).collect();
        all.as_chunks().0.iter().for_each(|&[lower, upper]| evidence.note(lower, upper));
        assert_eq!(verdict(&evidence), (false, false));
    }
}
