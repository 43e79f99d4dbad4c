//! Patterns in what a thread appends: sequences of records that follow each other again and again, as those of a loop's
//! iterations do.
//!
//! A sequence is looked for where a record comes again; what has been found once is tried first when its first record comes.
//! Knows what records look like, and nothing of what they say.

use hashbrown::HashMap;
use shadowgrind_core::appended::Records;
use std::ops::Range;

/// Fewest iterations that make a loop, the first time and later.
const FEWEST: usize = 4;
const FEWEST_KNOWN: usize = 2;
/// Fewest results of a loop: shorter ones are rather parts of the iterations of another.
const SHORTEST: usize = 32;
/// Most bytes from one iteration to the next.
const LONGEST: usize = 1 << 14;
/// Iterations of a loop below which another loop is looked for that it may be a part of, and fewest iterations of that one that are
/// yet to come.
const SHORT: usize = 16;
const FEWEST_AROUND: usize = 3;
/// Most patterns that are remembered for the same first record.
const REMEMBERED: usize = 4;

/// A record of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) kind: usize,
    /// Offset in bytes from the first record.
    pub(super) at: usize,
    /// Place of its first result among the numbers of an iteration.
    pub(super) number: usize,
}

/// Records of an iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Pattern {
    pub(super) places: Vec<Place>,
    pub(super) bytes: usize,
    /// Numbers that its results take.
    pub(super) numbers: usize,
}

impl Pattern {
    /// So many of it as one.
    pub(super) fn unrolled(&self, times: usize) -> Pattern {
        let place = |n: usize, place: &Place| Place {
            at: place.at + n * self.bytes,
            number: place.number + n * self.numbers,
            ..*place
        };
        let places = (0..times).flat_map(|n| self.places.iter().map(move |of| place(n, of)));
        Pattern { places: places.collect(), bytes: times * self.bytes, numbers: times * self.numbers }
    }

    /// Number of times that it comes in `records` from `at` on, one right after the other.
    fn count(&self, records: &Records<'_>, at: usize) -> usize {
        count(&self.places, self.bytes, records, at)
    }
}

/// Number of times that the kinds of records at these places, whose offsets are from that of the first, come in `records` from
/// `at` on, in so many bytes each time and one right after the other.
fn count(places: &[Place], bytes: usize, records: &Records<'_>, at: usize) -> usize {
    let start = places.first().map_or(0, |place| place.at);
    let iterations = records.bytes[at..].chunks_exact(bytes);
    let comes = |iteration: &[u8]| {
        places.iter().all(|place| {
            let kind = iteration[place.at - start..].first_chunk().map(|&kind| u32::from_le_bytes(kind));
            kind == Some(place.kind as u32)
        })
    };
    iterations.take_while(|iteration| comes(iteration)).count()
}

/// Tells whether so many iterations of so many results are enough for a loop.
fn is_worth(count: usize, results: usize) -> bool {
    count * results >= SHORTEST
}

/// Part of what was appended.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// Records that do not repeat, by their offsets, and the number of their first result.
    Single(Range<usize>, u64),
    /// So many iterations of a pattern, from this offset and number on.
    Repeated { pattern: &'a Pattern, iterations: usize, at: usize, number: u64 },
}

/// Visits of a loop that goes around a few times.
#[derive(Clone, Copy, Debug, Default)]
struct Visits {
    /// Number of them.
    count: u64,
    /// Place of the last one, as an offset from [`Finder::from`].
    last: u64,
}

/// Finder of the patterns of one thread.
#[derive(Debug, Default)]
pub(super) struct Finder {
    /// Patterns by the kind of their first record.
    known: Vec<Vec<Pattern>>,
    /// Places at which a record of each kind was seen last: offsets from `from`.
    seen: Vec<u64>,
    from: u64,
    /// Records since the last part, and their numbers.
    walked: Vec<Place>,
    /// Visits of short loops, by the kind of their first record and the number of their iterations.
    visits: HashMap<(usize, usize), Visits>,
}

impl Finder {
    /// Hands all records to `each`, in parts, in order. The number after that of the last result.
    pub(super) fn parts(&mut self, records: &Records<'_>, mut each: impl FnMut(Part<'_>)) -> u64 {
        let len = records.bytes.len();
        self.known.resize_with(records.kinds.count(), Vec::new);
        self.seen.resize(records.kinds.count(), 0);
        // A record seen at 0 was never seen.
        self.from += 1;
        self.walked.clear();
        let (mut at, mut number, mut single) = (0, records.number, (0, records.number));
        // A period that has turned out to come not often enough, up to this offset.
        let mut rejected = (0, 0);
        while at < len {
            let kind = records.kind_at(at);
            let (mut start, mut start_number) = (at, number);
            let mut found = self.find_known(records, kind, at);
            if found.is_none()
                && let Some(place) = self.seen_before(kind, at, single.0)
                && (at - self.walked[place].at != rejected.0 || at >= rejected.1)
            {
                let Place { at: first, number: first_number, .. } = self.walked[place];
                let (bytes, places) = (at - first, &self.walked[place..]);
                let count = 1 + count(places, bytes, records, at);
                let results = (number - records.number) as usize - first_number;
                if count >= FEWEST && is_worth(count, results) {
                    (start, start_number) = (first, records.number + first_number as u64);
                    let pattern = self.pattern(place, at, (number - records.number) as usize);
                    found = Some((self.remember(pattern), count));
                } else {
                    rejected = (bytes, first + count * bytes);
                }
            }
            if let Some((which, iterations)) = found.map(|inner| self.around(records, inner, start)) {
                if single.0 < start {
                    each(Part::Single(single.0..start, single.1));
                }
                let pattern = &self.known[which.0][which.1];
                each(Part::Repeated { pattern, iterations, at: start, number: start_number });
                at = start + iterations * pattern.bytes;
                number = start_number + (iterations * pattern.numbers) as u64;
                single = (at, number);
                self.walked.clear();
                continue;
            }
            self.walked.push(Place { kind, at, number: (number - records.number) as usize });
            self.seen[kind] = self.from + at as u64;
            let kind = records.kinds.of(kind);
            at += kind.bytes;
            number += kind.numbers as u64;
        }
        if single.0 < len {
            each(Part::Single(single.0..len, single.1));
        }
        self.from += len as u64;
        number
    }

    /// A known pattern that comes often enough at `at`, where a record of `kind` is, and how often: the one that takes most.
    fn find_known(&self, records: &Records<'_>, kind: usize, at: usize) -> Option<((usize, usize), usize)> {
        let patterns = self.known[kind].iter().enumerate();
        let counts = patterns.map(|(n, pattern)| (n, pattern.count(records, at), pattern.bytes));
        let often = counts
            .filter(|&(n, count, _)| count >= FEWEST_KNOWN && is_worth(count, self.known[kind][n].numbers));
        let (n, count, _) = often.max_by_key(|(_, count, bytes)| count * bytes)?;
        Some(((kind, n), count))
    }

    /// A pattern that this many iterations of one at `at` are the start of, if they have come before and what has come since comes
    /// again, and its number of iterations; otherwise what was found.
    fn around(
        &mut self,
        records: &Records<'_>,
        inner: ((usize, usize), usize),
        at: usize,
    ) -> ((usize, usize), usize) {
        let ((kind, _), iterations) = inner;
        if iterations >= SHORT {
            return inner;
        }
        let visits = self.visits.entry((kind, iterations)).or_default();
        let last = std::mem::replace(&mut visits.last, self.from + at as u64);
        visits.count += 1;
        // What was looked for in vain is looked for ever more rarely.
        let from = last.checked_sub(self.from).filter(|_| visits.count.is_power_of_two());
        let Some(from) = from.map(|from| from as usize).filter(|from| at - from <= LONGEST) else {
            return inner;
        };
        let mut outer = Pattern { bytes: at - from, ..Pattern::default() };
        let mut next = from;
        while next < at {
            let kind = records.kind_at(next);
            outer.places.push(Place { kind, at: next - from, number: outer.numbers });
            next += records.kinds.of(kind).bytes;
            outer.numbers += records.kinds.of(kind).numbers;
        }
        let count = outer.count(records, at);
        if count >= FEWEST_AROUND { (self.remember(outer), count) } else { inner }
    }

    /// Place among the walked records of the last one of `kind`, if that is not before `single` and not too far back.
    fn seen_before(&self, kind: usize, at: usize, single: usize) -> Option<usize> {
        let seen = self.seen[kind].checked_sub(self.from)? as usize;
        let is_near = single <= seen && at - seen <= LONGEST;
        is_near.then(|| self.walked.binary_search_by_key(&seen, |place| place.at).ok())?
    }

    /// The pattern of the walked records from number `first` to the next record, which is at `end` and has this number.
    fn pattern(&self, first: usize, end: usize, number: usize) -> Pattern {
        let Place { at, number: first_number, .. } = self.walked[first];
        let place =
            |place: &Place| Place { at: place.at - at, number: place.number - first_number, ..*place };
        let places = self.walked[first..].iter().map(place).collect();
        Pattern { places, bytes: end - at, numbers: number - first_number }
    }

    /// Remembers a pattern, in place of the oldest if there are too many. Where it is.
    fn remember(&mut self, pattern: Pattern) -> (usize, usize) {
        let kind = pattern.places[0].kind;
        let same = &mut self.known[kind];
        if same.len() == REMEMBERED {
            same.remove(0);
        }
        same.push(pattern);
        (kind, same.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::appended::{Kinds, Operation, Step};
    use shadowgrind_core::format::Format;
    use shadowgrind_core::ops::Op;
    use shadowgrind_core::site::Site;

    /// A loop that goes around a few times is found within the one that it is a part of, and all records are handed on once.
    #[test]
    fn short_loops_are_parts_of_others() {
        let operation = Operation { site: Site::NONE, op: Op::Mul, from: Format::F64, to: Format::F64 };
        let step = Step::alone(operation, 1, 2);
        let mut kinds = Kinds::default();
        (0..15).for_each(|_| kinds.learn(step));
        // Nine times ten records, and five more.
        let turn: Vec<u32> = (0..9).flat_map(|_| 0..10).chain(10..15).collect();
        let record = |kind: &u32| {
            let mut bytes = vec![0; step.record_bytes()];
            bytes[..4].copy_from_slice(&kind.to_le_bytes());
            bytes
        };
        let bytes: Vec<u8> = turn.repeat(40).iter().flat_map(record).collect();
        let records = Records { kinds: &kinds, bytes: &bytes, number: 7 };
        let (mut end, mut longest) = (0, 0);
        let after = Finder::default().parts(&records, |part| {
            let (from, numbers, number) = match part {
                Part::Single(bytes, number) => (bytes.start, bytes.len() / step.record_bytes(), number),
                Part::Repeated { pattern, iterations, at, number } => {
                    longest = longest.max(pattern.places.len());
                    (at, iterations * pattern.places.len(), number)
                }
            };
            assert_eq!((from, number), (end * step.record_bytes(), 7 + end as u64));
            end += numbers;
        });
        assert_eq!((after, end, longest), (7 + 40 * 95, 40 * 95, 95));
    }
}
