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
mod known;
mod log;
mod mapped;
mod pieces;
mod shown;
mod windows;

use crate::engine::{Lock, descriptors};
use channel::{Channel, Key};
pub(crate) use exposed::Exposed;
use known::{Known, Own};
use log::Log;
pub(crate) use pieces::Pieces;
use pieces::{give, length, note, numbers, shadowed};
use shadowgrind_core::site::Site;
use windows::Windows;

/// Kinds of entries: their first number. Numbers 1 to 3 are a key.
mod kind {
    /// Bytes with shadows of a file: numbers 4 and 5 are offset and length; 6 says whether they were read; 7 is the process that has
    /// written them.
    pub(super) const FILE: u64 = 1;
    /// Bytes of a file that have none any more, likewise.
    pub(super) const PLAIN: u64 = 2;
    /// A stream: numbers 4 and 5 say how much was written and read.
    pub(super) const STREAM: u64 = 3;
    /// Bytes with shadows in a stream, as those of files.
    pub(super) const DATA: u64 = 4;
    /// Two sockets: the other key is in numbers 4 to 6.
    pub(super) const PAIR: u64 = 5;
    /// The mirror of a file that is mapped and shared: its place among such mirrors, and length; 1, or 2 if more than one
    /// mapping of the tree has it; the address of the call that mapped it first. Its bytes are the file's path.
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
const WRITER: usize = 7;
const WRITTEN: usize = 4;
const READ: usize = 5;

/// Fate of shadows of bytes that a process of the tree hands another, or itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handing {
    /// Whoever reads the bytes has their shadows.
    On,
    /// Whoever reads them counts the floats among them that had shadows, as lost to it: cells mean nothing there. What this process
    /// has written itself is only counted with `own`.
    Counted { own: bool },
}

/// Shadows of bytes that are on their way through the kernel, or in files.
pub(crate) struct Handed {
    handing: Handing,
    /// The process that began it, and that speaks for those that it has forked.
    first: u32,
    log: Log,
    windows: Windows,
    known: Lock<Known>,
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
    pub(crate) fn new(handing: Handing) -> Option<Handed> {
        let (first, known) = (std::process::id(), Lock::new(Known::default()));
        Some(Handed { handing, first, log: Log::new()?, windows: Windows::new()?, known })
    }

    /// Tells whether those who read bytes have their shadows, and those who share memory share its mirror.
    pub(crate) fn is_on(&self) -> bool {
        self.handing == Handing::On
    }

    /// Keeps other threads of the process out across a `fork`, until dropped on both sides.
    pub(crate) fn hold(&self) -> impl Sized + '_ {
        let known = self.known.lock();
        self.shares_with_child(&known);
        known
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
        let noted = shadowed
            .and_then(|range| note(&mut log, self.handing, (kind::DATA, key), at, writing.pieces, range));
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
            Begun::File(key) => {
                known.wrote_file(&mut log, (self.handing, &self.windows), key, writing, written)
            }
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
            (Some(lost), Some(place)) if self.is_on() => {
                known.own.push(Own { place, lost });
                None
            }
            (lost, _) => lost,
        }
    }

    /// `read` bytes were read into these pieces; `offset` as for writing. `peeks`: they can be read once more. Number of floats
    /// among them whose shadows are [counted](Handing::Counted) here.
    pub(crate) fn received(&self, reading: Writing<'_>, read: u64, peeks: bool) -> u64 {
        if self.log.len() == 0 || read == 0 {
            return 0;
        }
        let mut known = self.known.lock();
        let mut log = self.log.hold();
        known.catch_up(&log);
        match Channel::of(reading.descriptor) {
            Some(Channel::File(key)) => {
                let offset =
                    reading.offset.or_else(|| descriptors::offset(reading.descriptor)?.checked_sub(read));
                offset.map_or(0, |offset| {
                    let range = offset..offset + read;
                    known.read_file(&mut log, (self.handing, &self.windows), key, range, reading.pieces)
                })
            }
            Some(Channel::Pipe(key) | Channel::Socket(key)) => {
                let Some(stream) = known.streams.get(&key) else { return 0 };
                let from = log.number(stream.place, READ);
                if !peeks {
                    log.set_number(stream.place, READ, from + read);
                }
                let range = from..from + read;
                let give = |&(at, len, place): &(u64, u64, u64)| {
                    give(&mut log, self.handing, place, at..at + len, &range, reading.pieces)
                };
                stream.data.iter().map(give).sum()
            }
            None => 0,
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
