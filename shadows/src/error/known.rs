//! Floats that are known again by their bits and their errors, with what is known of them.
//!
//! Two numbers may be one float with one error: where what sets them apart is below what an error tells, or where the error is
//! nearly the whole float. Then the later one's error is changed in its last bits, which nobody relies on. Knows nothing of where
//! floats and errors are kept.

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::ERROR_BOUND;
use shadowgrind_core::shadow::Observed;
use shadowgrind_core::words::{WIDENED, WIDENED_DOUBLE, WIDENED_DOUBLE_BITS};
use std::ops::Range;

use super::FRACTION;
use crate::diagnosis::number::Attributed;
use crate::reals::real::Real;

/// Floats that are known again, at most.
const KNOWN: usize = 1 << 14;
/// Places that a float may be in: of those that have the same, the last ones are known.
const WAYS: usize = 4;
/// Attempts to find an error that no other number has.
const ATTEMPTS: u64 = 8;

/// Bits of a float, as an `f64` if it is one, else as it is, and of its error, as an `f64`; both with the sign turned over if the
/// float is negative.
type Key = (u128, u64);

/// Hash of the way in which a number was computed, and of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Formula(u64);

/// A float that is known again.
#[derive(Clone, Debug)]
struct Known {
    key: Key,
    is_negative: bool,
    real: Real,
    formula: Formula,
}

/// The last floats that were made where that was seen, by a hash of them.
#[derive(Debug, Default)]
pub(super) struct KnownFloats {
    known: Vec<Option<Known>>,
}

impl Formula {
    /// A number that stands for itself.
    pub(super) fn of(number: u64) -> Formula {
        Formula(0).with(Formula(number))
    }

    /// One that depends on `other` as well. Its first bits depend on all bits of both.
    pub(super) fn with(self, other: Formula) -> Formula {
        Formula(mixed(self.0.rotate_left(23) ^ other.0))
    }
}

impl KnownFloats {
    /// The real of a float.
    pub(super) fn real(&self, x: &Observed<'_, f64>) -> Option<Real> {
        let (Known { real, .. }, is_turned) = self.at(x)?;
        Some(if is_turned { real.scaled(real.format(), true, 0) } else { real.clone() })
    }

    /// The formula by which a float was computed, as far as that is known; otherwise it stands for itself.
    pub(super) fn formula(&self, x: &Observed<'_, f64>) -> Formula {
        let error = x.shadow.map_or(0, |error| error.to_bits());
        match self.at(x) {
            Some((known, is_turned)) => known.formula.with(Formula(is_turned.into())),
            None => Formula::of(x.bits as u64).with(Formula((x.bits >> 64) as u64)).with(Formula(error)),
        }
    }

    /// Keeps what is known of a float, under an error that no other number has which is the same float: as a rule under that which it
    /// has. Returns the error.
    pub(super) fn keep_apart(
        &mut self,
        (format, bits, error): (Format, u128, f64),
        real: Real,
        formula: Formula,
    ) -> f64 {
        let is_told = (format.to_f64(bits) + error).abs() > ERROR_BOUND * error.abs();
        let is_told = is_told && real.is_surely_off(format, bits) || !error.is_finite();
        let mut apart = if is_told { error } else { marked(error, format, formula) };
        for attempt in 1..=ATTEMPTS {
            let x = Observed { format, bits, shadow: Some(&apart) };
            if !error.is_finite() || self.at(&x).is_none_or(|(other, _)| other.formula == formula) {
                break;
            }
            apart = marked(error, format, formula.with(Formula(attempt)));
        }
        self.keep(&Observed { format, bits, shadow: Some(&apart) }, real, formula);
        apart
    }

    /// Keeps what is known of a float.
    pub(super) fn keep(&mut self, x: &Observed<'_, f64>, real: Real, formula: Formula) {
        let Some((key, is_negative)) = key(x) else { return };
        if self.known.is_empty() {
            self.known.resize(KNOWN, None);
        }
        let ways = &mut self.known[places(key)];
        let of_key = ways.iter().position(|known| known.as_ref().is_some_and(|known| known.key == key));
        // The last one comes first.
        ways[..=of_key.unwrap_or(WAYS - 1)].rotate_right(1);
        ways[0] = Some(Known { key, is_negative, real, formula });
    }

    /// The entry of a float, or of it with the other sign, which is said.
    fn at(&self, x: &Observed<'_, f64>) -> Option<(&Known, bool)> {
        let (key, is_negative) = key(x)?;
        let ways = self.known.get(places(key))?.iter().flatten();
        // Beside a long double the error of a double may be marked, and some of its bits are not its own then.
        let is_wide = x.format == Format::F80 && key.1 & WIDENED_DOUBLE_BITS == WIDENED_DOUBLE;
        let is_alike = |known: &&Known| is_wide && unmarked(known.key) == unmarked(key);
        let known = ways.clone().find(|known| known.key == key).or_else(|| ways.clone().find(is_alike))?;
        Some((known, known.is_negative != is_negative))
    }
}

/// The error with other last bits, which say by which formula it was made.
fn marked(error: f64, format: Format, Formula(formula): Formula) -> f64 {
    // Of an f32's error these are the last six bits, and of others' the last twelve.
    let (bits, lowest) = if format == Format::F32 { (6, FRACTION.trailing_ones()) } else { (12, 0) };
    let mask = ((1 << bits) - 1) << lowest;
    f64::from_bits(error.to_bits() & !mask | (formula >> (64 - bits) << lowest))
}

/// Key of a float with an error, and whether its sign was turned over.
fn key(x: &Observed<'_, f64>) -> Option<(Key, bool)> {
    /// The first bit of a fraction.
    const QUIET: u64 = 1 << 51;
    let bits = x.shadow?.to_bits();
    // Of a float in wider clothes the error is one of a float's, and marked. Widening has it signal no more, as computing with it has:
    // what comes of a NaN so is that NaN.
    let is_nan = x.format.to_f64(x.bits).is_nan();
    let error = f64::from_bits(match bits & FRACTION == WIDENED {
        true if is_nan => bits & !FRACTION & !QUIET,
        true => bits & !FRACTION,
        false => bits,
    });
    let is_name = error.is_nan() && error.to_bits() & QUIET == 0;
    if !error.is_finite() && !is_name {
        return None;
    }
    let is_negative = x.format.is_negative(x.bits);
    let sign = u128::from(is_negative);
    let float = x.format.convert(x.bits, Format::F64);
    let is_double = x.format != Format::F80 || Format::F64.convert(float, Format::F80) == x.bits;
    let float = if is_double { float ^ sign << 63 } else { x.bits ^ sign << 79 };
    let error = if is_negative { -error } else { error };
    Some(((float, error.to_bits()), is_negative))
}

/// Hash of which the top bits depend on all bits of `key`: Fibonacci hashing (Knuth, TAOCP 3, 6.4).
#[inline(always)]
pub(super) fn mixed(key: u64) -> u64 {
    /// 2^64 divided by the golden ratio.
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    key.wrapping_mul(MULTIPLIER)
}

/// The key without the bits that a mark takes the place of.
fn unmarked((float, error): Key) -> Key {
    (float, error & !WIDENED_DOUBLE_BITS)
}

/// Places that a key may be in, with a mark or without.
fn places(key: Key) -> Range<usize> {
    let (float, error) = unmarked(key);
    let float = float as u64 ^ (float >> 64) as u64;
    let hash = mixed(float ^ error.rotate_left(32));
    let first = (hash >> (64 - (KNOWN / WAYS).trailing_zeros())) as usize * WAYS;
    first..first + WAYS
}
