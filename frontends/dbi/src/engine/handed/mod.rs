//! Shadows of bytes that processes of a tree hand each other, or themselves: through pipes, pairs of sockets, files and shared
//! memory.
//!
//! What is written is noted with its shadows, by stream and position or by file and offset; who reads it there has them
//! again, if the bytes are still those. So a position that somebody else has moved costs shadows and puts none beside
//! another float. What is mapped and shared has a mirror that is shared, which reading and writing the file see too. Forked
//! processes share all that; what nobody has read in the end is counted as lost. Knows bytes in mirrors, not what they
//! mean.

mod channel;
mod exposed;
mod log;
mod mapped;
mod windows;

use crate::engine::{Lock, descriptors, guest, planes};
use channel::{Channel, Key};
pub(crate) use exposed::Exposed;
use hashbrown::HashMap;
use log::{Entry, Log, NUMBERS};
use shadowgrind_core::site::Site;
use std::collections::BTreeMap;
use std::ops::Range;
use windows::Windows;

/// Pieces of guest memory, address and length, one after the other.
pub(crate) type Pieces<'a> = &'a [(u64, u64)];

/// Kinds of entries: their first number. Numbers 1 to 3 are a key.
mod kind {
    /// Bytes with shadows of a file: numbers 4 and 5 are offset and length; 6 says whether they were read.
    pub(super) const FILE: u64 = 1;
    /// Bytes of a file that have none any more, likewise.
    pub(super) const PLAIN: u64 = 2;
    /// A stream: numbers 4 and 5 say how much was written and read.
    pub(super) const STREAM: u64 = 3;
    /// Bytes with shadows in a stream, as those of files.
    pub(super) const DATA: u64 = 4;
    /// Two sockets: the other key is in numbers 4 to 6.
    pub(super) const PAIR: u64 = 5;
    /// The mirror of a file that is mapped and shared: its place among such mirrors, and length; that all can read it; the
    /// address of the call that mapped it first. Its bytes are the file's path.
    pub(super) const WINDOW: u64 = 6;
    /// Bytes that a process which has ended leaves unread: place, address and number of the call, floats.
    pub(super) const LEFT: u64 = 7;
    /// The process that speaks for all has ended.
    pub(super) const ENDED: u64 = 8;
    /// A program that knows of no shadows was given a file that is mapped and shared: number 4 is how many floats are in it.
    pub(super) const EXPOSED: u64 = 9;
}
const AT: usize = 4;
const LEN: usize = 5;
const IS_READ: usize = 6;
const WRITTEN: usize = 4;
const READ: usize = 5;

/// Shadows of bytes that are on their way through the kernel, or in files.
pub(crate) struct Handed {
    /// The process that began it, and that speaks for those that it has forked.
    first: u32,
    log: Log,
    windows: Windows,
    known: Lock<Known>,
}

/// The log as this process knows it.
#[derive(Default)]
struct Known {
    /// So far it was looked at.
    until: u64,
    /// Bytes with shadows, by file and offset: length, and place in the log.
    files: HashMap<Key, BTreeMap<u64, (u64, u64)>>,
    streams: HashMap<Key, Stream>,
    /// The socket at the other end.
    peers: HashMap<Key, Key>,
    /// Mirrors of files that are shared: place among such mirrors and length, and place in the log.
    windows: HashMap<Key, (u64, u64, u64)>,
    /// Floats in such files when other programs could read them, at most.
    exposed: HashMap<Key, u64>,
    /// Bytes in use for such mirrors.
    windows_end: u64,
    /// Entries that this process has written.
    own: Vec<Own>,
    /// Bytes that processes which have ended leave unread: place, address and number of the call, floats.
    left: Vec<[u64; 4]>,
    /// The process that speaks for all has ended.
    ended: bool,
}

struct Stream {
    place: u64,
    /// Position, length, and place in the log.
    data: Vec<(u64, u64, u64)>,
}

/// Bytes that this process has written, at a place in the log.
struct Own {
    place: u64,
    lost: Lost,
}

/// Floats that left the process at a system call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) site: Site,
    /// Number and name of the call.
    pub(crate) call: (u64, &'static str),
    pub(crate) floats: u64,
}

/// A call that writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writing<'a> {
    pub(crate) descriptor: u64,
    /// The file offset, if the call names one.
    pub(crate) offset: Option<u64>,
    pub(crate) pieces: Pieces<'a>,
}

/// A call that writes and has not returned.
#[derive(Debug)]
pub(crate) enum Begun {
    /// To where nobody reads what was noted.
    Elsewhere,
    /// To a file.
    File(Key),
    /// By these requests, each with the pieces that it hands out, to where nobody reads them.
    Queued(Vec<Vec<(u64, u64)>>),
    /// To a stream, so many bytes from this position on; with shadows that are noted at a place.
    Stream { place: u64, at: u64, len: u64, noted: Option<u64> },
}

impl Handed {
    /// Nothing is handed yet. `None` without memory for it.
    pub(crate) fn new() -> Option<Handed> {
        let first = std::process::id();
        Some(Handed { first, log: Log::new()?, windows: Windows::new()?, known: Lock::new(Known::default()) })
    }

    /// Keeps other threads of the process out across a `fork`, until dropped on both sides.
    pub(crate) fn hold(&self) -> impl Sized + '_ {
        self.known.lock()
    }

    /// Begins a forked child: what its parent has written is not its own.
    pub(crate) fn forked(&self) {
        self.known.lock().own.clear();
    }

    /// Two sockets are connected with each other.
    pub(crate) fn pair(&self, descriptors: [u64; 2]) {
        let [Some(Channel::Socket(a)), Some(Channel::Socket(b))] = descriptors.map(Channel::of) else {
            return;
        };
        let numbers = [kind::PAIR, a.device, a.inode, a.born, b.device, b.inode, b.born, 0];
        self.log.hold().add(numbers, &[]);
    }

    /// Before a call that writes: who reads a stream may be faster than who has written it.
    pub(crate) fn begin(&self, writing: Writing<'_>) -> Begun {
        let shadowed = shadowed(writing.pieces);
        if shadowed.is_none() && self.log.len() == 0 {
            return Begun::Elsewhere;
        }
        let mut known = self.known.lock();
        let mut log = self.log.hold();
        known.catch_up(&log);
        let (key, unread) = match Channel::of(writing.descriptor) {
            Some(Channel::File(key)) => return Begun::File(key),
            Some(Channel::Pipe(key)) => (key, channel::unread(writing.descriptor)),
            Some(Channel::Socket(key)) => match known.peers.get(&key) {
                Some(&peer) => (peer, 0),
                None => return Begun::Elsewhere,
            },
            None => return Begun::Elsewhere,
        };
        let stream = known.streams.get(&key).map(|stream| stream.place);
        let stream = stream.or_else(|| {
            shadowed.as_ref()?;
            log.add(numbers(kind::STREAM, key, unread, 0), &[])
        });
        let Some(place) = stream else { return Begun::Elsewhere };
        let at = log.number(place, WRITTEN);
        let len = length(writing.pieces);
        log.set_number(place, WRITTEN, at + len);
        let noted = shadowed.and_then(|range| note(&mut log, kind::DATA, key, at, writing.pieces, range));
        Begun::Stream { place, at, len, noted }
    }

    /// After it: what was written is in the pieces, and what that takes out of the process is in `lost`. Gives that back if
    /// nobody can read it.
    pub(crate) fn end(&self, begun: &Begun, writing: Writing<'_>, lost: Option<Lost>) -> Option<Lost> {
        if matches!(begun, Begun::Elsewhere | Begun::Queued(_)) {
            return lost;
        }
        let written = length(writing.pieces);
        let mut known = self.known.lock();
        let mut log = self.log.hold();
        known.catch_up(&log);
        let noted = match *begun {
            Begun::Elsewhere | Begun::Queued(_) => None,
            Begun::File(key) => known.wrote_file(&mut log, &self.windows, key, writing, written),
            Begun::Stream { place, at, len, noted } => {
                if written != len && log.number(place, WRITTEN) == at + len {
                    log.set_number(place, WRITTEN, at + written);
                }
                if let Some(noted) = noted {
                    let left = (at + written).saturating_sub(log.number(noted, AT));
                    let len = log.number(noted, LEN).min(left);
                    log.set_number(noted, LEN, len);
                }
                noted
            }
        };
        match (lost, noted) {
            (Some(lost), Some(place)) => {
                known.own.push(Own { place, lost });
                None
            }
            (lost, _) => lost,
        }
    }

    /// `read` bytes were read into these pieces; `offset` as for writing. `peeks`: they can be read once more.
    pub(crate) fn received(&self, reading: Writing<'_>, read: u64, peeks: bool) {
        if self.log.len() == 0 || read == 0 {
            return;
        }
        let mut known = self.known.lock();
        let mut log = self.log.hold();
        known.catch_up(&log);
        match Channel::of(reading.descriptor) {
            Some(Channel::File(key)) => {
                let offset =
                    reading.offset.or_else(|| descriptors::offset(reading.descriptor)?.checked_sub(read));
                if let Some(offset) = offset {
                    known.read_file(&mut log, &self.windows, key, offset..offset + read, reading.pieces);
                }
            }
            Some(Channel::Pipe(key) | Channel::Socket(key)) => {
                let Some(stream) = known.streams.get(&key) else { return };
                let from = log.number(stream.place, READ);
                if !peeks {
                    log.set_number(stream.place, READ, from + read);
                }
                let range = from..from + read;
                for &(at, len, place) in &stream.data {
                    give(&mut log, place, at..at + len, &range, reading.pieces);
                }
            }
            None => {}
        }
    }

    /// Another program takes this one's place, and knows of nothing: the floats that it leaves. If the process is not the first,
    /// that one counts them. `at` is the address of a site.
    pub(crate) fn leave(&self, at: impl Fn(Site) -> u64) -> u64 {
        let mut known = self.known.lock();
        let mut log = self.log.hold();
        known.catch_up(&log);
        let exposed = self.left_in_files(&known, &log, channel::is_open);
        for &(key, _, floats) in &exposed {
            log.add([kind::EXPOSED, key.device, key.inode, key.born, floats, 0, 0, 0], &[]);
        }
        let own = known.unread(&log);
        if self.first == std::process::id() {
            log.add([kind::ENDED, 0, 0, 0, 0, 0, 0, 0], &[]);
            let others = known.left.iter().filter(|left| log.number(left[0], IS_READ) == 0);
            let others: u64 = others.map(|[.., floats]| floats).sum();
            return own.iter().map(|own| own.lost.floats).sum::<u64>()
                + others
                + exposed.iter().map(|(.., floats)| floats).sum::<u64>();
        }
        own.iter().for_each(|own| own.leave(&mut log, &at));
        0
    }

    /// Bytes that this process, which ends, has written and nobody has read, each time counted. If it is the first, those that others
    /// have, too; otherwise that one may read it yet. `at` is the address of a site, and `lost` says what an address and a
    /// number of a call, and floats, stand for.
    pub(crate) fn unread(
        &self,
        at: impl Fn(Site) -> u64,
        lost: impl Fn([u64; 3]) -> Option<Lost>,
    ) -> Vec<Lost> {
        let mut known = self.known.lock();
        let mut log = self.log.hold();
        known.catch_up(&log);
        let own = known.unread(&log);
        let is_first = self.first == std::process::id();
        if is_first {
            log.add([kind::ENDED, 0, 0, 0, 0, 0, 0, 0], &[]);
        } else if !known.ended {
            own.iter().for_each(|own| own.leave(&mut log, &at));
            return Vec::new();
        }
        let mapped = self.left_in_files(&known, &log, |_| false).into_iter();
        let left = std::mem::take(&mut known.left).into_iter();
        let left = left.filter(|left| is_first && log.number(left[0], IS_READ) == 0);
        let left = left.filter_map(|[_, address, number, floats]| lost([address, number, floats]));
        let mapped = mapped.filter_map(|(_, address, floats)| lost([address, libc::SYS_mmap as u64, floats]));
        own.into_iter().map(|own| own.lost).chain(left).chain(mapped).collect()
    }
}

impl Own {
    /// Has the process that speaks for all count this, unless it is read yet. `at` is the address of a site.
    fn leave(&self, log: &mut log::Held<'_>, at: impl Fn(Site) -> u64) {
        let Lost { site, call: (number, _), floats } = self.lost;
        log.add([kind::LEFT, self.place, at(site), number, floats, 0, 0, 0], &[]);
    }
}

impl Known {
    /// Takes what this process has written and nobody has read.
    fn unread(&mut self, log: &log::Held<'_>) -> Vec<Own> {
        let own = std::mem::take(&mut self.own).into_iter();
        own.filter(|own| log.number(own.place, IS_READ) == 0).collect()
    }

    /// Looks at what was added to the log.
    fn catch_up(&mut self, log: &log::Held<'_>) {
        while let Some((Entry { place, numbers, .. }, next)) = log.entry(self.until) {
            let [_, device, inode, born, at, len, third, _] = numbers;
            let key = Key { device, inode, born };
            match numbers[0] {
                kind::FILE => self.replace(key, at, len, Some(place)),
                kind::PLAIN => self.replace(key, at, len, None),
                kind::STREAM => {
                    self.streams.insert(key, Stream { place, data: Vec::new() });
                }
                kind::DATA => {
                    let stream =
                        self.streams.get_mut(&key).expect("a stream's entry comes before its data's");
                    // What was read is not read again, and positions ascend.
                    let read = log.number(stream.place, READ);
                    stream.data.retain(|&(at, len, _)| at + len > read);
                    stream.data.push((at, len, place));
                }
                kind::WINDOW => {
                    self.windows.insert(key, (at, len, place));
                    self.windows_end = at + len;
                }
                kind::LEFT => self.left.push([device, inode, born, at]),
                kind::ENDED => self.ended = true,
                kind::EXPOSED => {
                    let most = self.exposed.entry(key).or_default();
                    *most = at.max(*most);
                }
                _ => {
                    let peer = Key { device: at, inode: len, born: third };
                    self.peers.extend([(key, peer), (peer, key)]);
                }
            }
            self.until = next;
        }
    }

    /// Bytes of a file are written: they hide what was noted there before.
    fn replace(&mut self, key: Key, at: u64, len: u64, place: Option<u64>) {
        let (file, end) = (self.files.entry(key).or_default(), at + len);
        let before = file.range(..at).next_back().map(|(&start, _)| start);
        let from = before.unwrap_or(at);
        let hidden: Vec<(u64, u64, u64)> =
            file.range(from..end).map(|(&start, &(length, place))| (start, start + length, place)).collect();
        for (start, last, place) in hidden.into_iter().filter(|&(_, last, _)| last > at) {
            file.remove(&start);
            if start < at {
                file.insert(start, (at - start, place));
            }
            if last > end {
                file.insert(end, (last - end, place));
            }
        }
        file.extend(place.map(|place| (at, (len, place))));
    }

    /// Bytes of a file are written now; where they are noted, if they have shadows.
    fn wrote_file(
        &mut self,
        log: &mut log::Held<'_>,
        windows: &Windows,
        key: Key,
        writing: Writing<'_>,
        written: u64,
    ) -> Option<u64> {
        let named = writing.offset.filter(|_| !channel::appends(writing.descriptor));
        let offset = named.or_else(|| descriptors::offset(writing.descriptor)?.checked_sub(written))?;
        if let Some(&(at, bytes, place)) = self.windows.get(&key)
            && offset + written <= bytes
        {
            windows.write(at + offset, writing.pieces);
            return Some(place);
        }
        let noted = match shadowed(writing.pieces) {
            Some(range) => note(log, kind::FILE, key, offset, writing.pieces, range),
            None if self.files.contains_key(&key) => {
                log.add(numbers(kind::PLAIN, key, offset, written), &[]);
                None
            }
            None => None,
        };
        self.catch_up(log);
        noted
    }

    fn read_file(
        &self,
        log: &mut log::Held<'_>,
        windows: &Windows,
        key: Key,
        range: Range<u64>,
        pieces: Pieces<'_>,
    ) {
        match self.windows.get(&key) {
            Some(&(at, bytes, _)) if range.end <= bytes => windows.read(at + range.start, pieces),
            _ => self.read_noted(log, key, range, pieces),
        }
    }

    /// Bytes of a file are read, whose mirror nobody shares.
    fn read_noted(&self, log: &mut log::Held<'_>, key: Key, range: Range<u64>, pieces: Pieces<'_>) {
        let Some(file) = self.files.get(&key) else { return };
        for (&at, &(len, place)) in file.range(..range.end) {
            give(log, place, at..at + len, &range, pieces);
        }
    }
}

/// Notes the bytes at `range` of the pieces, which begin at `at`, and their shadows; where.
fn note(
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
fn give(log: &mut log::Held<'_>, place: u64, range: Range<u64>, read: &Range<u64>, pieces: Pieces<'_>) {
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

fn numbers(kind: u64, key: Key, at: u64, len: u64) -> [u64; NUMBERS] {
    [kind, key.device, key.inode, key.born, at, len, 0, 0]
}

fn length(pieces: Pieces<'_>) -> u64 {
    pieces.iter().map(|&(_, len)| len).sum()
}

/// The pieces of what is at `range` of these.
fn part(pieces: Pieces<'_>, range: Range<u64>) -> Vec<(u64, u64)> {
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
fn shadowed(pieces: Pieces<'_>) -> Option<Range<u64>> {
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

    #[test]
    fn what_is_written_hides_what_was_there() {
        let key = Key { device: 1, inode: 2, born: 3 };
        let mut known = Known::default();
        known.replace(key, 0, 8, Some(1));
        known.replace(key, 8, 8, Some(2));
        known.replace(key, 4, 8, Some(3));
        let all = |known: &Known| -> Vec<_> {
            known.files[&key].iter().map(|(&at, &(len, place))| (at, len, place)).collect()
        };
        assert_eq!(all(&known), [(0, 4, 1), (4, 8, 3), (12, 4, 2)]);
        known.replace(key, 6, 2, None);
        assert_eq!(all(&known), [(0, 4, 1), (4, 2, 3), (8, 4, 3), (12, 4, 2)]);
        known.replace(key, 0, 16, None);
        assert!(known.files[&key].is_empty());
    }
}
