//! Format of floats that leave in binary form, told from their bytes.
//!
//! Where cells are numbers in place, nothing says whether eight bytes with a shadow are a double or two floats. Their digits do, if
//! there are enough of them: the lower half of a double that was computed, and that of its derivative, is as good as random, and as a
//! float it is of any size, most of them absurd. Of two floats side by side the sizes are alike, and the digits random. What is neither
//! for sure, or a mixture, stays untold. Knows bytes and cells only.

/// Different halves that are looked at.
const SAMPLES: usize = 128;
/// Numbers of the periods in which different things may come by turns, in words, and where the words of each begin.
const PERIODS: [(u64, usize); 2] = [(2, 0), (3, 2)];
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

/// Tells whether two floats are of about the same size.
fn are_near(a: u32, b: u32) -> bool {
    exponent(a).abs_diff(exponent(b)) <= NEAR
}

fn is_zero(bits: u32) -> bool {
    bits << 1 == 0
}

/// Tells whether a double with this upper half is of a size that people compute with.
fn is_sane(upper: u32) -> bool {
    const BIAS: u32 = 0x3ff;
    const MOST: u32 = 256;
    (upper >> 20 & 0x7ff).abs_diff(BIAS) <= MOST
}

/// Numbers of samples in each of four equal parts of a range.
#[derive(Clone, Copy, Debug, Default)]
struct Quarters([u32; 4]);

impl Quarters {
    fn sum(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Tells whether each part has at least the `share`th part of all, and one if there are any.
    fn each_has(&self, share: u32) -> bool {
        let sum = self.sum();
        self.0.iter().all(|&part| share * part >= sum && (part > 0 || sum == 0))
    }
}

/// Evidence of what the words of eight bytes are that were seen so far.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    /// Words with a shadow, those with one beside either half, and those of these that are sane as doubles.
    words: u64,
    full: u64,
    sane: u64,
    /// Different lower halves that were looked at.
    seen: Vec<Half>,
    /// Exponents that these have as floats, and their cells.
    exponents: [bool; 256],
    /// Sizes of these exponents: of all, and of those at each place of each period.
    sizes: Quarters,
    by_turns: [Quarters; 5],
    /// Sizes that the lower halves of these halves have as floats of two bytes.
    narrower: Quarters,
    /// Words looked at of which neither half is zero; those that are as two floats side by side are.
    pairs: u32,
    near: u32,
}

impl Default for Evidence {
    fn default() -> Evidence {
        let none = Quarters::default();
        Evidence {
            words: 0,
            full: 0,
            sane: 0,
            seen: Vec::new(),
            exponents: [false; 256],
            sizes: none,
            by_turns: [none; 5],
            narrower: none,
            pairs: 0,
            near: 0,
        }
    }
}

impl Evidence {
    /// Counts a float that is not zero: its exponent, also at its turn of each period, and the bits that a narrower one lacks.
    fn count(&mut self, bits: u32, turns: &[usize]) {
        let (exponent, narrow) = (exponent(bits), bits >> 13 & 3);
        self.exponents[exponent as usize] = true;
        self.sizes.0[exponent as usize >> 6] += 1;
        turns.iter().for_each(|&turn| self.by_turns[turn].0[exponent as usize >> 6] += 1);
        self.narrower.0[narrow as usize] += 1;
    }

    /// Notes a word, some of which has a cell, at an address.
    pub(super) fn note(&mut self, at: u64, lower: Half, upper: Half) {
        const WORD: u64 = 8;
        self.words += 1;
        if lower.cell == 0 || upper.cell == 0 {
            return;
        }
        self.full += 1;
        self.sane += u64::from(is_sane(upper.cell) && (is_zero(upper.bits) || is_sane(upper.bits)));
        if self.seen.len() == SAMPLES || self.seen.contains(&lower) {
            return;
        }
        self.seen.push(lower);
        let turns = PERIODS.map(|(period, first)| first + (at / WORD % period) as usize);
        for bits in [lower.bits, lower.cell].into_iter().filter(|bits| !is_zero(*bits)) {
            self.count(bits, &turns);
        }
        if !is_zero(lower.bits) && !is_zero(upper.bits) {
            self.pairs += 1;
            self.near += u32::from(are_near(lower.bits, upper.bits) && are_near(lower.cell, upper.cell));
        }
    }

    /// Tells whether the words are doubles. Of others some would be as sane, but not of all sizes in their lower halves.
    pub(super) fn is_of_doubles(&self) -> bool {
        let different = self.exponents.iter().filter(|&&is_there| is_there).count() as u32;
        let samples = self.sizes.sum();
        samples >= 16
            && 4 * different >= samples
            && self.sizes.each_has(8)
            && self.by_turns.iter().all(|sizes| sizes.each_has(16))
            && 8 * self.near <= self.pairs
            && 16 * self.full >= 15 * self.words
            && 16 * self.sane >= 15 * self.words
    }

    /// Tells whether the words are pairs of floats of four bytes. Of so many doubles one in 27 would be like such a pair.
    pub(super) fn is_of_floats(&self) -> bool {
        let seen = self.seen.len() as u32;
        self.pairs >= 8
            && 8 * self.near >= 7 * seen
            && 8 * self.full >= 7 * self.words
            && self.narrower.each_has(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_doubles(pairs: impl Iterator<Item = (f64, f64)>) -> Evidence {
        let mut evidence = Evidence::default();
        for (n, (value, derivative)) in (0..).zip(pairs) {
            let [(a, b), (c, d)] =
                [value, derivative].map(|x| (x.to_bits() as u32, (x.to_bits() >> 32) as u32));
            evidence.note(8 * n, Half { bits: a, cell: c }, Half { bits: b, cell: d });
        }
        evidence
    }

    fn of_floats(pairs: &[(f32, f32)]) -> Evidence {
        let mut evidence = Evidence::default();
        let half =
            |(value, derivative): (f32, f32)| Half { bits: value.to_bits(), cell: derivative.to_bits() };
        let words = (0..).zip(pairs.as_chunks().0);
        words.for_each(|(n, &[a, b])| evidence.note(8 * n, half(a), half(b)));
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
        // Fifteenths: their digits come again after four.
        let x = |n: i32| (f64::from(n) + 0.1) / 3.0;
        let evidence = of_doubles((0..300).map(|n| (0.7 * x(n), x(n))));
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
        let power = |n: i32| x(n + 36) * 10_f32.powi(n);
        let powers: Vec<_> = (-36..36).map(|n| (power(n), power(n) / 0.7)).collect();
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

    /// Evidence of what stands in memory from address `start` on, as a program that looks at words of eight bytes finds it.
    fn of_memory(start: u64, values: &[u8], cells: &[u8]) -> Evidence {
        let mut evidence = Evidence::default();
        let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let first = start.next_multiple_of(8);
        for at in (first..start + values.len() as u64 - 7).step_by(8) {
            let [value, cell] = [values, cells].map(|bytes| word(bytes, (at - start) as usize));
            let half = |shift: u32| Half { bits: (value >> shift) as u32, cell: (cell >> shift) as u32 };
            if cell != 0 {
                evidence.note(at, half(0), half(32));
            }
        }
        evidence
    }

    /// Floats of two bytes are none of four, and doubles that begin at an odd address none where they do not.
    #[test]
    fn other_formats_are_untold() {
        let x = |n: u32| 0.7 + f64::from(n) / 3.0;
        let half = |x: f64| ((x.abs() * 1000.0) as u16 | 0x3800).to_le_bytes();
        let all = |of: fn(f64) -> f64| (0..256).flat_map(|n| half(of(x(n)))).collect::<Vec<_>>();
        assert_eq!(verdict(&of_memory(0, &all(f64::sin), &all(f64::cos))), (false, false));
        let all = |of: fn(f64) -> f64| (0..256).flat_map(|n| of(x(n)).to_le_bytes()).collect::<Vec<_>>();
        assert_eq!(verdict(&of_memory(16, &all(f64::sin), &all(f64::cos))), (true, false));
        for start in [1, 2, 4, 7] {
            let evidence = of_memory(start, &all(f64::sin), &all(f64::cos));
            assert_eq!(verdict(&evidence), (false, false), "{start}");
        }
    }

    /// A mixture is neither: a double and two floats by turns, or a double, a float and an integer.
    #[test]
    fn mixtures_are_untold() {
        let x = |n: u32| 0.7 + f64::from(n) / 3.0;
        let rows = |of: fn(f64) -> f64, third: fn(f64) -> [u8; 4]| {
            let row = |n: u32| {
                let floats = [(of(x(n) / 2.0) as f32).to_le_bytes(), third(of(x(n) / 3.0))].concat();
                [of(x(n)).to_le_bytes().to_vec(), floats].concat()
            };
            (0..256).flat_map(row).collect::<Vec<u8>>()
        };
        let float = |x: f64| (x as f32).to_le_bytes();
        for start in [0, 4, 8] {
            let evidence = of_memory(start, &rows(f64::sin, float), &rows(f64::cos, float));
            assert_eq!(verdict(&evidence), (false, false), "{start}");
            let integer = |x: f64| ((1000.0 * x) as i32).to_le_bytes();
            let evidence = of_memory(start, &rows(f64::sin, integer), &rows(f64::cos, |_| [0; 4]));
            assert_eq!(verdict(&evidence), (false, false), "{start}");
        }
    }
}
