//! Doubles that moves put together from parts of several: which of them are still numbers, by what was kept beside the parts.
//!
//! Follows each byte of the result back through the steps that move it. A double is rounded by digits that have no shadow, and no number
//! that is known by digits of another one. What was cut in two is whole again, and what was turned around by bytes stays that.

use super::Run;
use crate::format::Format;
use crate::shadow::{Cells, Rule};
use crate::step::{Map, Mixed, NO_SOURCE, Operand, Place, SECOND_SOURCE, Step};
use crate::tricks;

/// Bytes of a double.
const DOUBLE: usize = Format::F64.bytes();
/// Bytes with sign and exponent, as a mask.
const END: u8 = 0b1100_0000;

/// Eight bytes, or less, of what was read.
#[derive(Clone, Copy, PartialEq)]
struct Lane {
    x: Operand,
    bytes: u16,
}

/// A byte of a lane.
#[derive(Clone, Copy, PartialEq)]
struct Byte {
    lane: Lane,
    number: usize,
}

/// Origins of the bytes of a double; nothing where zeros were put.
type Origins = [Option<Byte>; DOUBLE];

impl<S: Rule, C: Cells<S::Value>> Run<'_, S, C> {
    /// Moves bytes, and sees to the doubles that are put together so.
    pub(super) fn mixed(&mut self, mixed: &Mixed) {
        let doubles = (0..mixed.bytes).step_by(DOUBLE);
        let made: Vec<(Operand, Option<S::Value>)> = doubles
            .filter_map(|at| Some((mixed.r.plus(at), self.made_of_parts(mixed, mixed.r.plus(at))?)))
            .collect();
        mixed.moves.iter().for_each(|step| self.step(step));
        for (r, shadow) in made {
            let bits = self.bits(Format::F64, r);
            self.cells.set(self.location(r.place), Format::F64, bits, shadow);
        }
    }

    /// Shadow of the double `r`, or that it has none; nothing if what was moved there is right.
    fn made_of_parts(&mut self, mixed: &Mixed, r: Operand) -> Option<Option<S::Value>> {
        let mut origins: Origins = std::array::from_fn(|n| self.origin(mixed, r.place.plus(n as u16)));
        let mut lanes: Vec<Lane> = Vec::new();
        for byte in origins.iter_mut().flatten() {
            match lanes.iter().find(|&&lane| self.is_copy(byte.lane, lane)) {
                Some(&lane) => byte.lane = lane,
                None => lanes.push(byte.lane),
            }
        }
        let is_any = lanes.iter().any(|&lane| self.kept(lane) != 0);
        if !is_any || is_one_number(&origins) {
            return None;
        }
        let shadow = match end_of(&origins) {
            Some(end) => {
                lanes.retain(|&lane| lane != end);
                self.joined(end, &lanes, &origins, r)?
            }
            // Parts that have been moved away before may be where they were.
            None if !is_in_place(&origins) => {
                self.outcome.mixed = true;
                return None;
            }
            None => None,
        };
        self.outcome.mixed |= shadow.is_none();
        Some(shadow)
    }

    /// Shadow, likewise, of a double that has sign and exponent of the lane `end`, and digits of `others`, or zeros, each at its place.
    fn joined(
        &mut self,
        end: Lane,
        others: &[Lane],
        origins: &Origins,
        r: Operand,
    ) -> Option<Option<S::Value>> {
        let [before, after] = [end.x, r].map(|operand| self.bits(Format::F64, operand));
        let kept = self.kept(end);
        let is_put = others.iter().any(|&lane| self.kept(lane) != 0);
        let put = |n: &usize| origins[*n].is_none_or(|byte| byte.lane != end);
        let is_bare = |n: usize| kept >> n & 1 == 0 && (before >> (8 * n)) as u8 == 0;
        if is_put && others.len() == 1 && kept & END != 0 && (0..DOUBLE).filter(put).all(is_bare) {
            return None;
        }
        let shadow = if is_put || kept & END == 0 { None } else { self.get(Format::F64, end.x) };
        Some(shadow.and_then(|shadow| match before == after {
            true => Some(shadow),
            false if !tricks::differ_in_digits(Format::F64, before, after) => None,
            // Another real, where that matters.
            false => self.shadow.displace(&shadow, Format::F64, false, 0),
        }))
    }

    /// Tells whether two lanes are one, or the same number twice.
    fn is_copy(&mut self, a: Lane, b: Lane) -> bool {
        let is_whole = [a, b].iter().all(|lane| usize::from(lane.bytes) == DOUBLE);
        let is_same = |run: &Self| run.bits(Format::F64, a.x) == run.bits(Format::F64, b.x);
        a == b || is_whole && is_same(self) && self.kept(a) == self.kept(b)
    }

    /// A bit for each byte of the lane that something is kept beside.
    fn kept(&mut self, lane: Lane) -> u8 {
        self.cells.carries(self.location(lane.x.place), lane.bytes.into())
    }

    /// The byte of what is read that is moved to `place`.
    fn origin(&self, mixed: &Mixed, place: Place) -> Option<Byte> {
        let place = mixed.moves.iter().rev().try_fold(place, |place, step| self.before(step, place))?;
        mixed.read.iter().find_map(|&(x, bytes)| {
            let at = place.distance_from(x.place).filter(|&at| at < bytes)?;
            let (start, number) = (at - at % DOUBLE as u16, usize::from(at % DOUBLE as u16));
            let lane = Lane { x: x.plus(start), bytes: (bytes - start).min(DOUBLE as u16) };
            Some(Byte { lane, number })
        })
    }

    /// Place from which the step moves what it leaves at `place`; nothing where it leaves zero.
    fn before(&self, step: &Step, place: Place) -> Option<Place> {
        let within = |to: Place, bytes: u16| place.distance_from(to).filter(|&at| at < bytes);
        match step {
            Step::Copy { from, to, bytes } => Some(within(*to, *bytes).map_or(place, |at| from.plus(at))),
            Step::Clear { at, bytes } => within(*at, *bytes).is_none().then_some(place),
            Step::Permute { from, to, bytes, map } => {
                let Some(at) = within(*to, *bytes) else { return Some(place) };
                let by = match map {
                    Map::Fixed(map) => map[usize::from(at)],
                    Map::Recorded(first) => self.record[usize::from(first + at)],
                };
                let source = from[usize::from(by / SECOND_SOURCE).min(1)];
                (by != NO_SOURCE).then(|| source.plus((by % SECOND_SOURCE).into()))
            }
            _ => Some(place),
        }
    }
}

/// Tells whether all bytes are those of one lane, each once: in their order, or turned around.
fn is_one_number(origins: &Origins) -> bool {
    let Some(first) = origins[0] else { return false };
    let numbers = origins.iter().flatten().filter(|byte| byte.lane == first.lane);
    usize::from(first.lane.bytes) == DOUBLE
        && numbers.fold(0, |seen, byte| seen | 1_u8 << byte.number) == u8::MAX
}

impl Byte {
    /// Tells whether it is number `n` of its lane, or may have been before it was on its own.
    fn may_be_number(self, n: usize) -> bool {
        self.number == n || usize::from(self.lane.bytes) < DOUBLE
    }
}

/// Tells whether all bytes are where they were in their lanes.
fn is_in_place(origins: &Origins) -> bool {
    origins.iter().enumerate().all(|(n, byte)| byte.is_none_or(|byte| byte.may_be_number(n)))
}

/// The lane whose sign and exponent the double has, if all bytes are where they were in their lanes.
fn end_of(origins: &Origins) -> Option<Lane> {
    let [before, last] = [origins[6]?.lane, origins[7]?.lane];
    let is_end = before == last && usize::from(last.bytes) == DOUBLE;
    (is_in_place(origins) && is_end).then_some(last)
}
