//! Replay: running the steps of an instruction on a shadow and its cells, from a record of what the guest did.
//!
//! Needs no engine and no guest: it is how recorded code is shadowed, the slow twin of code that shadows inline, and
//! the oracle of tests.

use crate::format::Format;
use crate::ops::{MAX_OPERANDS, Op};
use crate::shadow::{Cells, Lane, Location, Rule, Seen};
use crate::site::Site;
use crate::step::{Bitwise, Lowered, Map, Operand, Place, Predicate, SECOND_SOURCE, Step};
use crate::tricks;

/// Runs the steps of one executed instruction. `record` is laid out as `lowered` says.
pub fn replay<S, C>(lowered: &Lowered, site: Site, record: &[u8], shadow: &mut S, cells: &mut C)
where
    S: Rule,
    C: Cells<S::Value>,
{
    let mut run = Run { site, record, shadow, cells };
    let mut skip = 0;
    for step in &lowered.steps {
        if skip > 0 {
            skip -= 1;
        } else if let Step::Unless { flag, skip: count } = step {
            skip = if record[usize::from(*flag)] == 0 { *count } else { 0 };
        } else {
            run.step(step);
        }
    }
}

struct Run<'a, S, C> {
    site: Site,
    record: &'a [u8],
    shadow: &'a mut S,
    cells: &'a mut C,
}

impl<S: Rule, C: Cells<S::Value>> Run<'_, S, C> {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Op { op, from, to, x, r } => self.op(*op, *from, *to, &x[..op.arity()], *r),
            Step::Widen { from, to, x, r } => {
                let shadow = self.get(*from, *x);
                let bits = self.bits(*to, *r);
                self.cells.set(self.location(r.place), *to, bits, shadow);
            }
            Step::Copy { from, to, bytes } => {
                self.cells.copy(self.location(*from), self.location(*to), usize::from(*bytes));
            }
            Step::Permute { from, to, bytes, map } => self.permute(*from, *to, *bytes, map),
            Step::Clear { at, bytes } => self.cells.clear(self.location(*at), usize::from(*bytes)),
            Step::Bits { by, x, r, bytes, lane } => self.bitwise(*by, *x, *r, *bytes, *lane),
            Step::Compare { format, predicate, x } => self.compare(*format, *predicate, *x),
            Step::Integer { format, how, x } => {
                let (bits, shadow) = (self.bits(*format, *x), self.get(*format, *x));
                let seen = Seen { format: *format, bits, shadow: shadow.as_ref() };
                self.shadow.to_integer(self.site, *how, seen);
            }
            Step::Unless { .. } => {}
        }
    }

    fn location(&self, place: Place) -> Location {
        match place {
            Place::State(at) => Location::State(at),
            Place::Memory { operand, offset } => {
                let at = 8 * usize::from(operand);
                let address = self.record[at..at + 8].iter().rev().fold(0, |a, &b| a << 8 | u64::from(b));
                Location::Memory(address + u64::from(offset))
            }
        }
    }

    fn bits(&self, format: Format, operand: Operand) -> u128 {
        let at = usize::from(operand.value);
        format.bits_of(&self.record[at..at + format.bytes()])
    }

    fn get(&mut self, format: Format, operand: Operand) -> Option<S::Value> {
        let bits = self.bits(format, operand);
        self.cells.get(self.location(operand.place), format, bits)
    }

    fn op(&mut self, op: Op, from: Format, to: Format, x: &[Operand], r: Operand) {
        let mut bits = [0; 3];
        let mut shadows: [Option<S::Value>; MAX_OPERANDS] = [None, None, None];
        for (index, &operand) in x.iter().enumerate() {
            bits[index] = self.bits(from, operand);
            shadows[index] = self.get(from, operand);
        }
        let result = self.bits(to, r);
        let seen = shadows.each_ref().map(Option::as_ref);
        let lane =
            Lane { site: self.site, op, from, to, x: &bits[..x.len()], r: result, shadows: &seen[..x.len()] };
        let value = self.shadow.op(&lane);
        self.cells.set(self.location(r.place), to, result, value);
    }

    fn permute(&mut self, from: [Place; 2], to: Place, bytes: u16, map: &Map) {
        let map = match map {
            Map::Fixed(map) => map,
            Map::Recorded(at) => &self.record[usize::from(*at)..usize::from(*at + bytes)],
        };
        let from = from.map(|place| self.location(place));
        let to = self.location(to);
        self.cells.permute(from, to, map);
    }

    fn compare(&mut self, format: Format, predicate: Predicate, x: [Operand; 2]) {
        let bits = x.map(|operand| self.bits(format, operand));
        let shadows = x.map(|operand| self.get(format, operand));
        let seen = |i: usize| Seen { format, bits: bits[i], shadow: shadows[i].as_ref() };
        self.shadow.compare(self.site, predicate, [seen(0), seen(1)]);
    }

    /// Lane by lane: first as floats of the suggested width, then, for wide lanes, as two narrow ones.
    fn bitwise(&mut self, by: Bitwise, x: [Operand; 2], r: Operand, bytes: u16, lane: Format) {
        let mut offset = 0;
        while offset < bytes {
            let (xs, result) = (x.map(|operand| operand.plus(offset)), r.plus(offset));
            let lane = if self.are_doubles(xs, bytes - offset, lane) { Format::F64 } else { lane };
            let here = (lane.bytes() as u16).min(bytes - offset);
            offset += here;
            if let Some(part) = self.part_of(xs, here) {
                self.part(xs, result, part.into());
                self.cells.clear(self.location(result.place.plus(part)), usize::from(here - part));
            } else if by == Bitwise::Xor {
                self.exclusive_lane(xs, result, lane);
            } else {
                self.bitwise_lane(by, xs, result, lane);
            }
        }
    }

    /// Whether narrow lanes are one wide one: instructions for narrow floats are used on wide ones, too, being shorter.
    fn are_doubles(&mut self, x: [Operand; 2], bytes: u16, lane: Format) -> bool {
        let double = |operand: Operand| {
            let bits = self.bits(Format::F64, operand);
            self.cells.is_double(self.location(operand.place), bits)
        };
        lane == Format::F32 && usize::from(bytes) >= Format::F64.bytes() && x.into_iter().any(double)
    }

    /// The sign of one float is turned over; or whatever it becomes will become it again.
    fn exclusive_lane(&mut self, x: [Operand; 2], r: Operand, format: Format) {
        let constant = x[0] == x[1];
        let kept = |run: &mut Self| match constant {
            true => run.cells.copy(run.location(x[0].place), run.location(r.place), format.bytes()),
            false => run.combined(x, r, format),
        };
        let (shadowed, other, shadow) = match x.map(|operand| self.get(format, operand)) {
            [Some(shadow), _] if constant => (x[0], x[0], shadow),
            [Some(shadow), None] => (x[0], x[1], shadow),
            [None, Some(shadow)] => (x[1], x[0], shadow),
            _ => return kept(self),
        };
        let turns = |run: &Self, format: Format, at| {
            let [x, other, r] = [shadowed, other, r].map(|lane| run.bits(format, lane.plus(at)));
            tricks::relation(Bitwise::Xor, format, x, other, r).map(|(negate, _)| negate)
        };
        match turns(self, format, 0) {
            Some(true) => {
                let (result, turned) = (self.bits(format, r), self.shadow.scale(&shadow, format, true, 0));
                self.cells.set(self.location(r.place), format, result, turned);
            }
            None if format == Format::F64
                && [0, 4].iter().all(|&at| turns(self, Format::F32, at).is_some()) =>
            {
                for half in [0, 4] {
                    self.exclusive_lane(x.map(|operand| operand.plus(half)), r.plus(half), Format::F32);
                }
            }
            _ => kept(self),
        }
    }

    /// How many of `bytes` bytes are a part of a float, if there is no more of one in them.
    fn part_of(&mut self, x: [Operand; 2], bytes: u16) -> Option<u16> {
        const LEAST: u16 = Format::F32.bytes() as u16;
        let carries = x.map(|operand| self.cells.carries(self.location(operand.place), bytes.into()));
        let end = 8 - (carries[0] | carries[1]).leading_zeros() as u16;
        let joins = x[0] != x[1] && carries.iter().all(|&carries| carries != 0);
        if bytes < LEAST {
            return Some(bytes);
        }
        ((1..LEAST).contains(&end) && !joins).then_some(end)
    }

    /// A part of a float, in a register of one or two bytes: kept, or its end with the sign turned over.
    fn part(&mut self, x: [Operand; 2], r: Operand, bytes: usize) {
        let range = |operand: Operand| usize::from(operand.value)..usize::from(operand.value) + bytes;
        let to = self.location(r.place);
        for operand in x {
            let from = self.location(operand.place);
            let (before, after) = (&self.record[range(operand)], &self.record[range(r)]);
            let (last, rest) =
                (before[bytes - 1] ^ after[bytes - 1], before[..bytes - 1] == after[..bytes - 1]);
            if !matches!(last, 0 | 0x80) || !rest || self.cells.carries(from, bytes) == 0 {
                continue;
            }
            return if last == 0 {
                self.cells.copy(from, to, bytes)
            } else {
                self.cells.turn(from, to, bytes)
            };
        }
        self.cells.clear(to, bytes);
    }

    /// Where each byte of the result comes from, if each is one operand's alone and so is what is kept beside it.
    fn bytes_of_either(&mut self, x: [Operand; 2], r: Operand, bytes: usize) -> Option<Vec<u8>> {
        let byte = |run: &Self, operand: Operand, i| run.record[usize::from(operand.value) + i];
        let carries = x.map(|operand| self.cells.carries(self.location(operand.place), bytes));
        let source = |i: usize| {
            let (values, result) = (x.map(|operand| byte(self, operand, i)), byte(self, r, i));
            let holds = [0, 1].map(|n| values[n] != 0 || carries[n] >> i & 1 != 0);
            let alone = !(holds[0] && holds[1]) && result == values[0] | values[1];
            alone.then_some(if holds[1] { SECOND_SOURCE + i as u8 } else { i as u8 })
        };
        (0..bytes).map(source).collect()
    }

    fn combined(&mut self, x: [Operand; 2], r: Operand, format: Format) {
        let from = x.map(|operand| self.location(operand.place));
        self.cells.combine(from, self.location(r.place), format.bytes());
    }

    /// Whether a wide result is put together of two narrow floats, one half from each operand.
    fn is_assembled(&self, x: [Operand; 2], r: Operand) -> bool {
        let half = |operand: Operand, at| self.bits(Format::F32, operand.plus(at));
        let (low, high) = (half(r, 0), half(r, 4));
        let from = |a: Operand, b: Operand| {
            half(a, 0) == low && half(b, 4) == high && half(a, 4) != high && half(b, 0) != low
        };
        from(x[0], x[1]) || from(x[1], x[0])
    }

    /// Whether one operand is a float with a shadow and the other just something for its exponent.
    fn adds_exponent(&mut self, x: [Operand; 2], format: Format) -> bool {
        let carries = x.map(|operand| self.cells.carries(self.location(operand.place), format.bytes()) != 0);
        let [first, second] = x.map(|operand| self.bits(format, operand));
        match carries {
            [true, false] => tricks::is_for_exponent(format, first, second),
            [false, true] => tricks::is_for_exponent(format, second, first),
            _ => false,
        }
    }

    /// Whether one operand sets the sign of the other.
    fn any_sets_sign(&self, by: Bitwise, x: [Operand; 2], r: Operand, format: Format) -> bool {
        let after = self.bits(format, r);
        x.iter().any(|&other| tricks::sets_sign(by, format, self.bits(format, other), after).is_some())
    }

    fn bitwise_lane(&mut self, by: Bitwise, x: [Operand; 2], r: Operand, format: Format) {
        if format == Format::F64 && by == Bitwise::Other && self.is_assembled(x, r) {
            for half in [0, 4] {
                self.bitwise_lane(by, x.map(|operand| operand.plus(half)), r.plus(half), Format::F32);
            }
            return;
        }
        if x[0] != x[1]
            && !self.any_sets_sign(by, x, r, format)
            && !(by == Bitwise::Other && self.adds_exponent(x, format))
            && let Some(map) = self.bytes_of_either(x, r, format.bytes())
        {
            let from = x.map(|operand| self.location(operand.place));
            return self.cells.permute(from, self.location(r.place), &map);
        }
        let result = self.bits(format, r);
        let made = [(x[0], x[1]), (x[1], x[0])].into_iter().find_map(|(operand, other)| {
            let [before, other] = [operand, other].map(|operand| self.bits(format, operand));
            let shadow = self.get(format, operand)?;
            let (negate, power) = tricks::relation(by, format, before, other, result)?;
            if let Some(negative) = tricks::sets_sign(by, format, other, result) {
                return self.shadow.with_sign(&shadow, format, negative, negate);
            }
            if !negate && power == 0 {
                return Some(shadow);
            }
            self.shadow.scale(&shadow, format, negate, power)
        });
        let location = self.location(r.place);
        match (made, format) {
            // Not a wide float: perhaps two narrow ones.
            (None, Format::F64) => {
                for half in [0, 4] {
                    self.bitwise_lane(by, x.map(|operand| operand.plus(half)), r.plus(half), Format::F32);
                }
            }
            (made, _) => self.cells.set(location, format, result, made),
        }
    }
}
