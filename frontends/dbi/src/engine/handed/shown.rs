//! Floats with shadows that processes of a tree leave in memory that others of it have: how many, and in which memory.
//!
//! Each process adds what it leaves and takes, once, what others have left in memory that it has too. Knows no mirrors.

use super::channel::Key;
use super::log::{Entry, Log};
use crate::engine::Lock;

/// Number in place of a file's device where memory is a range of addresses.
const RANGE: u64 = u64::MAX;

/// Memory that several processes may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    File(Key),
    /// Start and end, which are those of the process that has forked the others.
    Range(u64, u64),
}

impl Memory {
    fn numbers(self) -> [u64; 3] {
        match self {
            Memory::File(Key { device, inode, born }) => [device, inode, born],
            Memory::Range(start, end) => [RANGE, start, end],
        }
    }

    fn of_numbers([device, inode, born]: [u64; 3]) -> Memory {
        match device {
            RANGE => Memory::Range(inode, born),
            _ => Memory::File(Key { device, inode, born }),
        }
    }

    /// Tells whether some of it is the same.
    fn meets(self, other: Memory) -> bool {
        match (self, other) {
            (Memory::Range(start, end), Memory::Range(from, to)) => start < to && from < end,
            (Memory::File(key), Memory::File(other)) => key == other,
            _ => false,
        }
    }
}

/// Floats that were left in memory, by process.
pub(super) struct Shown {
    /// Nothing without memory for it.
    log: Option<Log>,
    known: Lock<Known>,
}

/// The log as this process knows it.
#[derive(Default)]
struct Known {
    /// So far it was looked at.
    until: u64,
    /// Floats that others have left, and that this process has not taken.
    others: Vec<(Memory, u64)>,
}

impl Shown {
    /// Nothing was left yet, by this process or those that it forks.
    pub(super) fn new() -> Shown {
        Shown { log: Log::new(), known: Lock::new(Known::default()) }
    }

    /// Keeps other threads out across a `fork`, until dropped on both sides.
    pub(super) fn hold(&self) -> impl Sized + '_ {
        self.known.lock()
    }

    /// Adds so many floats with shadows that this process leaves in memory.
    pub(super) fn add(&self, memory: Memory, floats: u64) {
        let [a, b, c] = memory.numbers();
        let own = std::process::id().into();
        if let Some(log) = self.log.as_ref().filter(|_| floats > 0) {
            log.hold().add([a, b, c, floats, own, 0, 0, 0], &[]);
        }
    }

    /// Moves what others have left, as this process has moved the memory.
    pub(super) fn moved(&self, old: Memory, new: Memory) {
        let mut known = self.known.lock();
        self.catch_up(&mut known);
        known.others.iter_mut().filter(|(memory, _)| memory.meets(old)).for_each(|(memory, _)| *memory = new);
    }

    /// Number of floats that others have left in some of this memory since it was asked for last.
    pub(super) fn take(&self, memory: Memory) -> u64 {
        let mut known = self.known.lock();
        self.catch_up(&mut known);
        known.others.extract_if(.., |(other, _)| other.meets(memory)).map(|(_, floats)| floats).sum()
    }

    /// Looks at what was added to the log.
    fn catch_up(&self, known: &mut Known) {
        let Some(log) = self.log.as_ref().filter(|log| log.len() > known.until) else { return };
        let own = u64::from(std::process::id());
        let log = log.hold();
        while let Some((Entry { numbers: [a, b, c, floats, by, ..], .. }, next)) = log.entry(known.until) {
            if by != own {
                known.others.push((Memory::of_numbers([a, b, c]), floats));
            }
            known.until = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Floats that another process has left are taken once, by who has that memory; those of this one never are.
    #[test]
    fn what_others_leave_is_taken_once() {
        let shown = Shown::new();
        let file = Memory::File(Key { device: 1, inode: 2, born: 3 });
        shown.add(file, 9);
        assert_eq!(shown.take(file), 0, "its own");
        let another = [RANGE, 0x1000, 0x3000, 5, 0, 0, 0, 0];
        shown.log.as_ref().unwrap().hold().add(another, &[]);
        assert_eq!(shown.take(Memory::Range(0x3000, 0x4000)), 0);
        assert_eq!(shown.take(file), 0);
        shown.moved(Memory::Range(0x2000, 0x4000), Memory::Range(0x8000, 0xa000));
        assert_eq!(shown.take(Memory::Range(0x2000, 0x4000)), 0);
        assert_eq!(shown.take(Memory::Range(0x9000, 0xb000)), 5);
        assert_eq!(shown.take(Memory::Range(0x9000, 0xb000)), 0);
    }
}
