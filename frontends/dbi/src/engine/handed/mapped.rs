//! Files that are mapped and shared: their mirrors are windows, which all processes of a tree have.
//!
//! Floats still in one when nobody of the tree is there to read it, or when a program is executed that may read it and
//! knows of no shadows, have left the tree, as long as there is a way to the file. So have those in one that has only one user in
//! the tree when its name goes.

use super::channel::{self, Channel, Key};
use super::known::Known;
use super::log::{self, NUMBERS};
use super::windows::{self, Windows};
use super::{Handed, kind};
use crate::engine::shared_planes;

/// Places among the numbers of a window's entry: that of how many share it, 1 or more, and that of the address.
const SHARERS: usize = 6;
const SITE: usize = 7;

/// The path in a window's entry.
fn path(log: &log::Held<'_>, place: u64) -> Vec<u8> {
    let mut path = vec![0; log.number(place, NUMBERS) as usize];
    log.bytes(place, 0, &mut path);
    path
}

/// Tells whether the path in the window's entry at `place` is that of its file.
fn is_named(log: &log::Held<'_>, key: Key, place: u64) -> bool {
    channel::at(&path(log, place)) == Some(Channel::File(key))
}

/// A file that memory shows.
struct Shown {
    /// Bytes.
    size: u64,
    /// As the kernel names it; empty for a segment of System V's.
    path: Vec<u8>,
    /// Address of the call that maps it.
    site: u64,
}

impl Handed {
    /// A file is mapped, from `offset` on, at guest memory with this start and length; if it is `shared` with who else has it,
    /// by a call at this address and mirrors are [handed on](Handed::is_on). Number of floats in it whose shadows are counted here.
    pub(crate) fn mapped(
        &self,
        descriptor: u64,
        offset: u64,
        memory: (u64, u64),
        shared: Option<u64>,
    ) -> u64 {
        if shared.is_none() && self.log.len() == 0 {
            return 0;
        }
        let Some(Channel::File(key)) = Channel::of(descriptor) else {
            // A device that gives memory to whoever maps it, as /dev/zero.
            shared.into_iter().for_each(|_| shared_planes::share_fresh(memory.0, memory.1));
            return 0;
        };
        if let Some(site) = shared {
            let file = Shown { size: channel::size(descriptor), path: channel::path(descriptor), site };
            self.share(key, &file, offset, memory);
        }
        let mut known = self.known.lock();
        let mut log = self.log.hold();
        known.catch_up(&log);
        known.read_noted(&mut log, self.handing, key, offset..offset + memory.1, &[memory])
    }

    /// Segment `id` of System V's shared memory is attached.
    pub(crate) fn attached(&self, id: u64, memory: (u64, u64)) {
        /// No file is on that device.
        const DEVICE: u64 = u64::MAX;
        let segment = Shown { size: memory.1, path: Vec::new(), site: 0 };
        self.share(Key { device: DEVICE, inode: id, born: 0 }, &segment, 0, memory);
    }

    /// Memory shows a file: its mirror is that of whoever else has it.
    fn share(&self, key: Key, file: &Shown, offset: u64, (start, len): (u64, u64)) {
        let mut known = self.known.lock();
        let mut log = self.log.hold();
        known.catch_up(&log);
        let before = known.windows.get(&key).copied();
        before.iter().for_each(|&(.., place)| log.set_number(place, SHARERS, 2));
        let enough = before.filter(|(_, bytes, _)| offset + len <= *bytes);
        let window = enough.or_else(|| {
            let (at, bytes) = (known.windows_end, Windows::bytes(file.size.max(offset + len)));
            if at + bytes > windows::BYTES {
                return None;
            }
            let numbers = [kind::WINDOW, key.device, key.inode, key.born, at, bytes, 1, file.site];
            log.add(numbers, &[&file.path]).map(|place| (at, bytes, place))
        });
        known.catch_up(&log);
        if let Some((at, ..)) = window {
            shared_planes::share_window(start, len, self.windows.address(at + offset));
        }
    }

    /// Calls what takes away a name of a file. What is there has been seen by whoever found the file by that, unless processes of
    /// the tree are who shares it.
    pub(crate) fn unlinks(&self, unlink: impl FnOnce()) {
        let mut alone = self.alone();
        unlink();
        let mut log = self.log.hold();
        alone.retain(|&(key, place, _)| !is_named(&log, key, place));
        for (key, _, floats) in alone {
            log.add([kind::EXPOSED, key.device, key.inode, key.born, floats, 0, 0, 0], &[]);
        }
    }

    /// Files with a name that one mapping of the tree has: each with its place in the log, and the floats with shadows in it.
    fn alone(&self) -> Vec<(Key, u64, u64)> {
        let mut known = self.known.lock();
        let log = self.log.hold();
        known.catch_up(&log);
        let alone = known.windows.iter().filter_map(|(&key, &(at, bytes, place))| {
            let floats = self.windows.count(at, bytes);
            let is_alone = floats > 0 && log.number(place, SHARERS) == 1 && is_named(&log, key, place);
            is_alone.then_some((key, place, floats))
        });
        alone.collect()
    }

    /// Notes that what is mapped now will be a child's, too.
    pub(super) fn shares_with_child(&self, known: &Known) {
        let mut log = self.log.hold();
        known.windows.values().for_each(|&(.., place)| log.set_number(place, SHARERS, 2));
    }

    /// Floats with shadows in files that are mapped and shared, or were, as far as others can come to them now, because their
    /// paths still name them or because of `others`, or could before: file, address of the call that mapped it, number.
    pub(super) fn left_in_files(
        &self,
        known: &Known,
        log: &log::Held<'_>,
        others: impl Fn(Key) -> bool,
    ) -> Vec<(Key, u64, u64)> {
        let floats = |(&key, &(at, bytes, place)): (&Key, &(u64, u64, u64))| {
            let exposed = known.exposed.get(&key).copied().unwrap_or(0);
            let is_there = is_named(log, key, place) || others(key);
            let now = if is_there { self.windows.count(at, bytes) } else { 0 };
            let floats = now.max(exposed);
            (floats > 0).then(|| (key, log.number(place, SITE), floats))
        };
        known.windows.iter().filter_map(floats).collect()
    }
}
