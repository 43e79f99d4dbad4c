//! Pieces of guest memory that a call writes or reads, and their shadows in the log.

use super::channel::Key;
use super::log::{self, NUMBERS};
use super::{AT, IS_READ, LEN};
use crate::engine::{guest, planes};
use std::ops::Range;

/// Pieces of guest memory, address and length, one after the other.
pub(crate) type Pieces<'a> = &'a [(u64, u64)];

/// Notes the bytes at `range` of the pieces, which begin at `at`, and their shadows; where.
pub(super) fn note(
    log: &mut log::Held<'_>,
    kind: u64,
    key: Key,
    at: u64,
    pieces: Pieces<'_>,
    range: Range<u64>,
) -> Option<u64> {
    let (mut values, mut shadows) = (Vec::new(), Vec::new());
    for (address, len) in part(pieces, range.clone()) {
        let bytes = guest::read_bytes(address, len as usize).ok()?;
        let mut shadow = vec![0; bytes.len()];
        planes::read(address, &mut shadow);
        values.extend(bytes);
        shadows.extend(shadow);
    }
    log.add(numbers(kind, key, at + range.start, range.end - range.start), &[&values, &shadows])
}

/// Gives the pieces, into which `read` was read, the shadows of what was noted at `place`, as far as it is still at `range`.
pub(super) fn give(
    log: &mut log::Held<'_>,
    place: u64,
    range: Range<u64>,
    read: &Range<u64>,
    pieces: Pieces<'_>,
) {
    let (noted, all) = (log.number(place, AT), log.number(place, NUMBERS) / 2);
    let end = range.end.min(noted + log.number(place, LEN)).min(read.end);
    let start = range.start.max(read.start);
    if start >= end {
        return;
    }
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
