//! The seam between front ends and shadows: what a shadow makes of an operation, and where shadows are kept.
//!
//! A shadow gives floats a meaning ([`Shadow`]); cells keep that meaning beside registers and memory ([`Cells`]). Moves
//! are the cells' alone: no shadow knows of them. Dispatch is static throughout.

use crate::format::Format;
use crate::ops::Op;
use crate::site::Site;
use crate::step::{Predicate, ToInteger};

/// A resolved place: where a shadow is kept at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Byte offset in the thread's state.
    State(u16),
    /// Guest address.
    Memory(u64),
}

impl Location {
    /// The location `bytes` further on.
    pub const fn plus(self, bytes: u64) -> Location {
        match self {
            Location::State(at) => Location::State(at + bytes as u16),
            Location::Memory(address) => Location::Memory(address.wrapping_add(bytes)),
        }
    }
}

/// An operation as the guest performed it.
#[derive(Clone, Copy, Debug)]
pub struct Lane<'a, V> {
    /// The instruction, or the call of a function taken as one operation.
    pub site: Site,
    /// The row of TABLE 1.
    pub op: Op,
    /// Format of the operands.
    pub from: Format,
    /// Format of the result.
    pub to: Format,
    /// Bits of the operands.
    pub x: &'a [u128],
    /// Bits of the result.
    pub r: u128,
    /// Shadows of the operands, where they have one.
    pub shadows: &'a [Option<&'a V>],
}

/// A lane that something looks at.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a, V> {
    /// Its format.
    pub format: Format,
    /// Its bits.
    pub bits: u128,
    /// Its shadow, where it has one.
    pub shadow: Option<&'a V>,
}

/// The meaning carried beside floats. No shadow at all means: the float is what it would be in the reals, or, for a
/// derivative, constant.
pub trait Shadow {
    /// The shadow of one float. Cheap to clone.
    type Value: Clone;

    /// The shadow of an operation's result; total.
    fn op(&mut self, lane: &Lane<'_, Self::Value>) -> Option<Self::Value>;

    /// The shadow of ±x·2ᵏ made from x by other than arithmetic.
    fn scale(
        &mut self,
        shadow: &Self::Value,
        format: Format,
        negate: bool,
        power: i32,
    ) -> Option<Self::Value>;

    /// The shadow of a float whose sign was set or cleared, whatever it was; `turned` says whether that turned it over.
    /// Where a shadow has no sign of its own, it follows the float's.
    fn with_sign(
        &mut self,
        shadow: &Self::Value,
        format: Format,
        _negative: bool,
        turned: bool,
    ) -> Option<Self::Value> {
        self.scale(shadow, format, turned, 0)
    }

    /// A comparison, before the guest acts on it.
    fn compare(&mut self, _site: Site, _predicate: Predicate, _x: [Seen<'_, Self::Value>; 2]) {}

    /// A conversion to an integer.
    fn to_integer(&mut self, _site: Site, _how: ToInteger, _x: Seen<'_, Self::Value>) {}
}

/// Where the shadows of one thread's state and of memory are kept.
pub trait Cells<V> {
    /// The shadow of the float of `format` and `bits` at `location`.
    fn get(&mut self, location: Location, format: Format, bits: u128) -> Option<V>;

    /// Whether what is kept at `location` is for the eight bytes `bits` as one float, for sure. Where that cannot be told,
    /// it is not.
    fn is_double(&mut self, location: Location, bits: u128) -> bool;

    /// Sets, or with `None` clears, the shadow of the float of `format` and `bits` at `location`.
    fn set(&mut self, location: Location, format: Format, bits: u128, shadow: Option<V>);

    /// Bytes are rearranged: byte `i` of the result comes from byte `map[i]` of the first source, or of the second
    /// counted from [`crate::step::SECOND_SOURCE`], or from nowhere. Sources may overlap the result.
    fn permute(&mut self, from: [Location; 2], to: Location, map: &[u8]);

    /// What is kept beside `bytes` bytes at the two places, taken as bits, is combined by exclusive disjunction, as the
    /// bytes themselves are: doing it again undoes both.
    fn combine(&mut self, from: [Location; 2], to: Location, bytes: usize);

    /// A bit for each of up to eight bytes at `location` that something is kept beside.
    fn carries(&mut self, location: Location, bytes: usize) -> u8;

    /// `bytes` bytes move, and the highest bit, the sign of a float that ends there, is turned over.
    fn turn(&mut self, from: Location, to: Location, bytes: usize);

    /// `bytes` bytes move as they are; the ranges may overlap.
    fn copy(&mut self, from: Location, to: Location, bytes: usize);

    /// `bytes` bytes at `location` are no float any more.
    fn clear(&mut self, location: Location, bytes: usize);
}
