//! Pieces of guest memory that a call writes or reads, and their shadows in the log.

use super::channel::Key;
use super::log::{self, NUMBERS};
use super::{AT, Handing, IS_READ, LEN, WRITER};
use crate::engine::{guest, planes};
use std::ops::Range;

/// Pieces of guest memory, address and length, one after the other.
pub(crate) type Pieces<'a> = &'a [(u64, u64)];

/// Bytes that have a bit where shadows are only counted: those of a double.
const WORD: u64 = 8;
/// Number of those bits in a byte of the log.
const BITS: u64 = u8::BITS as u64;

/// Notes what of the bytes at `range` of the pieces, which begin at `at`, has shadows, by this process; where.
pub(super) fn note(
    log: &mut log::Held<'_>,
    handing: Handing,
    (kind, key): (u64, Key),
    at: u64,
    pieces: Pieces<'_>,
    range: Range<u64>,
) -> Option<u64> {
    let mut numbers = numbers(kind, key, at + range.start, range.end - range.start);
    numbers[WRITER] = std::process::id().into();
    match handing {
        Handing::On => note_shadows(log, numbers, pieces, range),
        Handing::Counted { .. } => log.add(numbers, &[&words(pieces, range)?]),
    }
}

/// Adds an entry with the bytes at `range` of the pieces and their shadows; where.
fn note_shadows(
    log: &mut log::Held<'_>,
    numbers: [u64; NUMBERS],
    pieces: Pieces<'_>,
    range: Range<u64>,
) -> Option<u64> {
    let (mut values, mut shadows) = (Vec::new(), Vec::new());
    for (address, len) in part(pieces, range) {
        let bytes = guest::read_bytes(address, len as usize).ok()?;
        let mut shadow = vec![0; bytes.len()];
        planes::read(address, &mut shadow);
        values.extend(bytes);
        shadows.extend(shadow);
    }
    log.add(numbers, &[&values, &shadows])
}

/// A bit for each word at `range` of the pieces: set where that has a shadow. Nothing if none has, as where all is text.
fn words(pieces: Pieces<'_>, range: Range<u64>) -> Option<Vec<u8>> {
    let mut bits = vec![0; (range.end - range.start).div_ceil(WORD * BITS) as usize];
    let mut before = 0;
    for (address, len) in part(pieces, range) {
        let floats = planes::has(address, len).then(|| planes::floats(address, len));
        for at in floats.into_iter().flatten() {
            let word = (before + at - address) / WORD;
            bits[(word / BITS) as usize] |= 1 << (word % BITS);
        }
        before += len;
    }
    bits.iter().any(|&byte| byte != 0).then_some(bits)
}

/// Number of words with shadows that begin at `range` of the bytes noted at `place`.
fn count(log: &log::Held<'_>, place: u64, range: Range<u64>) -> u64 {
    let words = range.start.div_ceil(WORD)..range.end.div_ceil(WORD);
    let first = words.start / BITS;
    let mut bits = vec![0; (words.end.div_ceil(BITS) - first) as usize];
    log.bytes(place, first, &mut bits);
    words.filter(|word| bits[(word / BITS - first) as usize] >> (word % BITS) & 1 == 1).count() as u64
}

/// Gives the pieces, into which `read` was read, the shadows of what was noted at `place`, as far as it is still at `range`; or counts
/// the floats that had some.
pub(super) fn give(
    log: &mut log::Held<'_>,
    handing: Handing,
    place: u64,
    range: Range<u64>,
    read: &Range<u64>,
    pieces: Pieces<'_>,
) -> u64 {
    let noted = log.number(place, AT);
    let end = range.end.min(noted + log.number(place, LEN)).min(read.end);
    let start = range.start.max(read.start);
    if start >= end {
        return 0;
    }
    let is_own = log.number(place, WRITER) == u64::from(std::process::id());
    match handing {
        Handing::On => give_shadows(log, place, (noted, start..end), read, pieces),
        Handing::Counted { own } if is_own && !own => {}
        Handing::Counted { .. } => return count(log, place, start - noted..end - noted),
    }
    0
}

/// Gives the pieces, into which `read` was read, the shadows of the bytes from `start` to `end`, which were noted at `place` from `noted`
/// on, if they are still those.
fn give_shadows(
    log: &mut log::Held<'_>,
    place: u64,
    (noted, Range { start, end }): (u64, Range<u64>),
    read: &Range<u64>,
    pieces: Pieces<'_>,
) {
    let all = log.number(place, NUMBERS) / 2;
    let (mut values, mut shadows) = (vec![0; (end - start) as usize], vec![0; (end - start) as usize]);
    log.bytes(place, start - noted, &mut values);
    log.bytes(place, all + start - noted, &mut shadows);
    let pieces = part(pieces, start - read.start..end - read.start);
    let now: Option<Vec<Vec<u8>>> =
        pieces.iter().map(|&(address, len)| guest::read_bytes(address, len as usize).ok()).collect();
    if now.is_none_or(|now| now.concat() != values) {
        return;
    }
    let mut rest = &shadows[..];
    for (address, len) in pieces {
        let (here, others) = rest.split_at(len as usize);
        planes::write(address, here);
        rest = others;
    }
    log.set_number(place, IS_READ, 1);
}

/// Numbers of an entry about `len` bytes at `at`.
pub(super) fn numbers(kind: u64, key: Key, at: u64, len: u64) -> [u64; NUMBERS] {
    [kind, key.device, key.inode, key.born, at, len, 0, 0]
}

/// Bytes of the pieces.
pub(super) fn length(pieces: Pieces<'_>) -> u64 {
    pieces.iter().map(|&(_, len)| len).sum()
}

/// Pieces of the bytes at `range`, counted over all pieces.
pub(super) fn part(pieces: Pieces<'_>, range: Range<u64>) -> Vec<(u64, u64)> {
    let mut before = 0;
    let cut = pieces.iter().filter_map(|&(address, len)| {
        let (start, end) = (range.start.max(before), range.end.min(before + len));
        let from = address + start.saturating_sub(before);
        before += len;
        (start < end).then(|| (from, end - start))
    });
    cut.collect()
}

/// Range of the pieces that has shadows, from the first to the last.
pub(super) fn shadowed(pieces: Pieces<'_>) -> Option<Range<u64>> {
    /// Bytes that are looked at in one go.
    const STEP: u64 = 8;
    let mut found: Option<Range<u64>> = None;
    let mut before = 0;
    for &(address, len) in pieces {
        if planes::has(address, len) && planes::any(address, len) {
            for at in (0..len).step_by(STEP as usize) {
                let here = STEP.min(len - at);
                if planes::any(address + at, here) {
                    let start = found.map_or(before + at, |range| range.start);
                    found = Some(start..before + at + here);
                }
            }
        }
        before += len;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_anywhere() {
        let pieces = [(100, 4), (200, 0), (300, 6)];
        assert_eq!(part(&pieces, 0..10), [(100, 4), (300, 6)]);
        assert_eq!(part(&pieces, 2..5), [(102, 2), (300, 1)]);
        assert_eq!(part(&pieces, 4..6), [(300, 2)]);
        assert_eq!(part(&pieces, 10..20), []);
        assert_eq!(length(&pieces), 10);
    }
}
