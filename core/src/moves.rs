//! Moves of inputs: which of the seeded floats take part in a direction, and how far each is moved where a program is run
//! again beside its point.
//!
//! A float is known by the number of its input and by how many of that input were seeded before it: both are the same in
//! every run of a program that does the same. Knows nothing of how often a program is run, nor what is made of it.

use crate::format::Format;
use std::str::FromStr;

/// Direction in the space of all floats that are seeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Along {
    /// Every float, by its weight.
    #[default]
    All,
    /// Every float, by its weight or against it: signs that are drawn by this number.
    Signs(u64),
    /// One float alone, by its weight.
    One {
        /// Number of its input.
        input: usize,
        /// Number of floats of the input that were seeded before it.
        number: u64,
    },
}

impl Along {
    /// Factor of float `number` of input `input`: 1, -1 or 0.
    pub fn factor(self, input: usize, number: u64) -> f64 {
        match self {
            Along::All => 1.0,
            Along::Signs(draw) => {
                let odd = mixed(mixed(mixed(draw) ^ input as u64) ^ number) & 1 == 1;
                if odd { -1.0 } else { 1.0 }
            }
            Along::One { input: own, number: place } => f64::from((own, place) == (input, number)),
        }
    }
}

/// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014), which spreads each bit over all.
fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Text of the direction, as [`Along::from_str`] reads it.
impl std::fmt::Display for Along {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Along::All => write!(f, "all"),
            Along::Signs(draw) => write!(f, "signs:{draw}"),
            Along::One { input, number } => write!(f, "one:{input}:{number}"),
        }
    }
}

impl FromStr for Along {
    type Err = String;

    fn from_str(text: &str) -> Result<Along, String> {
        let mut words = text.split(':');
        let word = words.next().unwrap_or_default();
        let numbers: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
        match (word, numbers.as_deref()) {
            ("all", Some([])) => Ok(Along::All),
            ("signs", Some(&[draw])) => Ok(Along::Signs(draw)),
            ("one", Some(&[input, number])) => Ok(Along::One { input: input as usize, number }),
            _ => Err("expected all, signs:N or one:INPUT:NUMBER".to_owned()),
        }
    }
}

/// Direction of a run, and the steps by which its inputs are moved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moves {
    /// The direction: other floats have no seed.
    pub along: Along,
    /// Step of each input, the last one for all that follow; nothing where no input is moved.
    pub steps: Option<Vec<f64>>,
}

impl Moves {
    /// The float of `format` and `bits`, number `number` of `input`, as far from where it was as `weight` and the step of its
    /// input say; nothing where it stays.
    pub fn moved(&self, format: Format, bits: u128, weight: f64, input: usize, number: u64) -> Option<u128> {
        let steps = self.steps.as_deref()?;
        let step = steps.get(input).or(steps.last())?;
        let distance = step * weight * self.along.factor(input, number);
        (distance != 0.0).then(|| format.from_f64(format.to_f64(bits) + distance))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_read_as_they_are_written() {
        for along in [Along::All, Along::Signs(7), Along::One { input: 2, number: 30 }] {
            assert_eq!(along.to_string().parse(), Ok(along));
        }
        for text in ["", "some", "signs", "signs:x", "one:1", "all:1"] {
            assert!(text.parse::<Along>().is_err(), "{text}");
        }
    }

    #[test]
    fn signs_are_drawn_anew_for_each_float() {
        let along = Along::Signs(1);
        let ups = (0..1000).filter(|&number| along.factor(0, number) > 0.0).count();
        assert!((400..600).contains(&ups), "{ups}");
        let differ = |a: Along, b: Along| (0..64).any(|number| a.factor(0, number) != b.factor(0, number));
        assert!(differ(along, Along::Signs(2)));
    }

    #[test]
    fn a_step_is_each_inputs_own() {
        let moves = Moves { along: Along::One { input: 1, number: 0 }, steps: Some(vec![1.0, 0.5]) };
        let x = Format::F64.from_f64(3.0);
        let moved =
            |input, number| moves.moved(Format::F64, x, -2.0, input, number).map(|x| Format::F64.to_f64(x));
        assert_eq!((moved(0, 0), moved(1, 0), moved(1, 1)), (None, Some(2.0), None));
    }
}
