//! Cells: where shadows are kept, and how they move.
//!
//! No shadow knows of these; whoever keeps them knows no rule.

use crate::format::Format;

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

    /// The location `bytes` before.
    pub const fn before(self, bytes: u64) -> Location {
        match self {
            Location::State(at) => Location::State(at - bytes as u16),
            Location::Memory(address) => Location::Memory(address.wrapping_sub(bytes)),
        }
    }

    /// In memory, the first and the number of all bytes of those aligned pieces of `alignment` bytes that the `bytes` bytes from here
    /// on are in; elsewhere these bytes.
    pub const fn around(self, bytes: usize, alignment: usize) -> (Location, usize) {
        match self {
            Location::State(_) => (self, bytes),
            Location::Memory(address) => {
                let before = address % alignment as u64;
                let bytes = (bytes + before as usize).next_multiple_of(alignment);
                (Location::Memory(address - before), bytes)
            }
        }
    }
}

/// Store of the shadows of one thread's state and of memory.
pub trait Cells<V> {
    /// The shadow of the float of `format` and `bits` at `location`.
    fn get(&mut self, location: Location, format: Format, bits: u128) -> Option<V>;

    /// Tells whether what is kept at `location` is for the eight bytes `bits` as one float, for sure. Where that cannot
    /// be told, it is not.
    fn is_double(&mut self, location: Location, bits: u128) -> bool;

    /// Tells whether what is kept at `location` may be beside a float of which each byte is where it belongs.
    fn may_be_in_place(&mut self, _location: Location, _format: Format, _bits: u128) -> bool {
        true
    }

    /// Tells whether what is kept beside four bytes at `location` is half of what is kept beside a double, the upper one; nothing if that
    /// cannot be told.
    fn is_upper_half(&mut self, _location: Location) -> Option<bool> {
        None
    }

    /// Tells whether what is kept at `location` is that of a long double, as far as that can be told.
    fn is_extended(&mut self, _location: Location) -> bool {
        false
    }

    /// The shadow kept at `location` of a float that is known by its bits, if that is `bits`; nothing where shadows do not
    /// know their floats.
    fn recognised(&mut self, _location: Location, _format: Format, _bits: u128) -> Option<V> {
        None
    }

    /// The shadow kept at `location` of a float that is known by its bits, if `bits` are ±2ᵏ times that: whether it is turned over, and k.
    /// Nothing where shadows do not know their floats.
    fn recognised_scaled(
        &mut self,
        _location: Location,
        _format: Format,
        _bits: u128,
    ) -> Option<(V, (bool, i32))> {
        None
    }

    /// Tells whether `word` at `location`, of eight bytes or four, is a [turned](crate::turned) double or the lower half of one, by what
    /// is kept there.
    fn is_turned(&mut self, _location: Location, _bytes: usize, _word: u64) -> bool {
        false
    }

    /// Notes that the double `bits` at `from` is turned, to `to`. False if it has no shadow, or what is kept there cannot say
    /// so.
    fn turn(&mut self, _from: Location, _to: Location, _bits: u64) -> bool {
        false
    }

    /// Notes that the word at `from`, a turned double, is the double `bits` again, at `to`. False if it was another.
    fn turn_back(&mut self, _from: Location, _to: Location, _bits: u64) -> bool {
        false
    }

    /// Sets, or with `None` clears, the shadow of the float of `format` and `bits` at `location`.
    fn set(&mut self, location: Location, format: Format, bits: u128, shadow: Option<V>);

    /// Rearranges bytes: byte `i` of the result comes from byte `map[i]` of the first source, or of the second counted from
    /// [`crate::step::SECOND_SOURCE`], or from nowhere. Sources may overlap the result.
    fn permute(&mut self, from: [Location; 2], to: Location, map: &[u8]);

    /// Combines the content beside `bytes` bytes at the two places, taken as bits, by exclusive disjunction, as the
    /// bytes themselves are: doing it again undoes both.
    fn combine(&mut self, from: [Location; 2], to: Location, bytes: usize);

    /// A bit for each of up to eight bytes at `location` that something is kept beside.
    fn carries(&mut self, location: Location, bytes: usize) -> u8;

    /// A bit for each of up to eight bytes at `location` beside which something other than zeros stands, of whatever is kept there as a
    /// whole.
    fn content(&mut self, location: Location, bytes: usize) -> u8 {
        self.carries(location, bytes)
    }

    /// Tells whether any of what is kept beside these up to eight bytes means a shadow, be it that of another float.
    fn is_any(&mut self, location: Location, bytes: usize) -> bool {
        self.carries(location, bytes) != 0
    }

    /// `bytes` bytes, the upper end of a float or a part within it, were changed on the way; exponent and sign as
    /// [`crate::tricks::exponent_change`] says, the rest such that what is kept beside it stays as it is.
    fn change_end(&mut self, from: Location, to: Location, bytes: usize, change: (bool, i32));

    /// Turns over the sign of what is kept at `location` beside a float of `format`, whose sign has been turned over along with bits of its
    /// exponent, which will be put right again. Nothing is to be done where shadows know their floats.
    fn turn_sign(&mut self, _location: Location, _format: Format) {}

    /// Moves `bytes` bytes as they are; the ranges may overlap.
    fn copy(&mut self, from: Location, to: Location, bytes: usize);

    /// Leaves a trace beside what is at the places `to`, each with its bytes, eight or few more, for those who compute with it: it is
    /// made of what is at `from`, whose shadows are lost. See [`Words::trace`](crate::words::Words::trace); of several that of
    /// the one that is lost for the shortest time.
    fn leave_trace(&mut self, _from: &[(Location, usize)], to: &[(Location, usize)]) {
        to.iter().for_each(|&(to, bytes)| self.clear(to, bytes));
    }

    /// Tells whether what is kept beside `bytes` bytes, eight at most, is a trace, and nothing else.
    fn is_trace(&mut self, _location: Location, _bytes: usize) -> bool {
        false
    }

    /// Notes at `location`, where nothing is kept, that there is the lower part of a float beside which something was.
    fn mark_rest(&mut self, _location: Location) {}

    /// Has a long double's shadow follow what integers have made of sign and exponent. False, and none is left, if these have been
    /// replaced.
    fn mend(&mut self, _location: Location) -> bool {
        true
    }

    /// Takes back what [`Cells::mark_rest`] has noted, where the upper part of the float, from byte number `bytes` on, has come
    /// to it.
    fn unmark_rest(&mut self, _location: Location, _bytes: usize) {}

    /// Clears what is kept beside `bytes` bytes at `location`, which are no float any more.
    fn clear(&mut self, location: Location, bytes: usize);
}
