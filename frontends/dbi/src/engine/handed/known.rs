//! The log as one process knows it: bytes with shadows in files and streams, and who has written them.

use super::channel::{self, Key};
use super::log::{self, Entry};
use super::pieces::{Pieces, give, note, numbers, shadowed};
use super::windows::Windows;
use super::{Handing, IS_READ, Lost, READ, Writing, kind};
use crate::engine::descriptors;
use hashbrown::HashMap;
use shadowgrind_core::site::Site;
use std::collections::BTreeMap;
use std::ops::Range;

/// The log as this process knows it.
#[derive(Default)]
pub(super) struct Known {
    /// So far it was looked at.
    pub(super) until: u64,
    /// Bytes with shadows, by file and offset: length, and place in the log.
    pub(super) files: HashMap<Key, BTreeMap<u64, (u64, u64)>>,
    pub(super) streams: HashMap<Key, Stream>,
    /// The socket at the other end.
    pub(super) peers: HashMap<Key, Key>,
    /// Mirrors of files that are shared: place among such mirrors and length, and place in the log.
    pub(super) windows: HashMap<Key, (u64, u64, u64)>,
    /// Floats in such files when other programs could read them, at most.
    pub(super) exposed: HashMap<Key, u64>,
    /// Bytes in use for such mirrors.
    pub(super) windows_end: u64,
    /// Entries that this process has written.
    pub(super) own: Vec<Own>,
    /// Bytes that processes which have ended leave unread: place, address and number of the call, floats.
    pub(super) left: Vec<[u64; 4]>,
    /// The process that speaks for all has ended.
    pub(super) ended: bool,
}

/// A stream, at a place in the log.
pub(super) struct Stream {
    pub(super) place: u64,
    /// Position, length, and place in the log.
    pub(super) data: Vec<(u64, u64, u64)>,
}

/// Bytes that this process has written, at a place in the log.
pub(super) struct Own {
    pub(super) place: u64,
    pub(super) lost: Lost,
}

impl Own {
    /// Has the process that speaks for all count this, unless it is read yet. `at` is the address of a site.
    pub(super) fn leave(&self, log: &mut log::Held<'_>, at: impl Fn(Site) -> u64) {
        let Lost { site, call: (number, _), floats } = self.lost;
        log.add([kind::LEFT, self.place, at(site), number, floats, 0, 0, 0], &[]);
    }
}

impl Known {
    /// Takes what this process has written and nobody has read.
    pub(super) fn unread(&mut self, log: &log::Held<'_>) -> Vec<Own> {
        let own = std::mem::take(&mut self.own).into_iter();
        own.filter(|own| log.number(own.place, IS_READ) == 0).collect()
    }

    /// Looks at what was added to the log.
    pub(super) fn catch_up(&mut self, log: &log::Held<'_>) {
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
    pub(super) fn replace(&mut self, key: Key, at: u64, len: u64, place: Option<u64>) {
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
    pub(super) fn wrote_file(
        &mut self,
        log: &mut log::Held<'_>,
        (handing, windows): (Handing, &Windows),
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
            Some(range) => note(log, handing, (kind::FILE, key), offset, writing.pieces, range),
            None if self.files.contains_key(&key) => {
                log.add(numbers(kind::PLAIN, key, offset, written), &[]);
                None
            }
            None => None,
        };
        self.catch_up(log);
        noted
    }

    /// Bytes of a file are read: the number of floats whose shadows are counted here.
    pub(super) fn read_file(
        &self,
        log: &mut log::Held<'_>,
        (handing, windows): (Handing, &Windows),
        key: Key,
        range: Range<u64>,
        pieces: Pieces<'_>,
    ) -> u64 {
        match self.windows.get(&key) {
            Some(&(at, bytes, _)) if range.end <= bytes => {
                windows.read(at + range.start, pieces);
                0
            }
            _ => self.read_noted(log, handing, key, range, pieces),
        }
    }

    /// Bytes of a file are read, whose mirror nobody shares: the number of floats whose shadows are counted here.
    pub(super) fn read_noted(
        &self,
        log: &mut log::Held<'_>,
        handing: Handing,
        key: Key,
        range: Range<u64>,
        pieces: Pieces<'_>,
    ) -> u64 {
        let Some(file) = self.files.get(&key) else { return 0 };
        // What begins before may reach into the range; bytes are noted once.
        let before = file.range(..range.start).next_back();
        let first = before.map_or(range.start, |(&at, _)| at);
        let concerned = file.range(first..range.end.max(first));
        concerned.map(|(&at, &(len, place))| give(log, handing, place, at..at + len, &range, pieces)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
