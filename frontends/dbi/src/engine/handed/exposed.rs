//! Memory that others see as well, under a shadow that cannot be handed to them: what carries shadows there when this process
//! gives it up, ends or executes a program has left it. Processes of the tree that have the memory as well count it then, too.
//!
//! Others see what a forked child has too, what is mapped twice, segments of System V's, and files as long as there is a way
//! to them, and what was there when it was taken away. Knows ranges of guest memory and counts floats; whether anybody reads them is not asked.

use super::Lost;
use super::channel::{self, Channel, Key};
use super::shown::{Memory, Shown};
use crate::engine::{Lock, planes};
use shadowgrind_core::site::Site;

/// Memory of this process that others may see.
pub(crate) struct Exposed {
    parts: Lock<Vec<Part>>,
    shown: Shown,
}

/// A range of guest memory, and the call that made it.
#[derive(Clone, Debug)]
struct Part {
    start: u64,
    end: u64,
    file: Option<File>,
    /// Others have it, too, whether or not there is a way to the file.
    is_shared: bool,
    /// Floats with shadows that were there when this process was forked: its parent counts them.
    inherited: u64,
    site: Site,
    /// Number and name of the call.
    call: (u64, &'static str),
}

#[derive(Clone, Debug)]
struct File {
    key: Key,
    /// The file's path, as the kernel gives it.
    path: Vec<u8>,
}

impl File {
    fn has_a_way(&self) -> bool {
        channel::at(&self.path) == Some(Channel::File(self.key))
    }
}

impl Part {
    /// The floats in it that carry shadows, as a loss; nothing if there are none.
    fn lost(&self) -> Option<Lost> {
        let floats = planes::count_touched(self.start, self.end - self.start);
        (floats > 0).then_some(Lost { site: self.site, call: self.call, floats })
    }

    fn is_of(&self, key: Key) -> bool {
        self.file.as_ref().is_some_and(|file| file.key == key)
    }

    /// Tells whether others may see it; `is_open` says whether a file is open where that is a way to it.
    fn is_seen(&self, is_open: impl Fn(Key) -> bool) -> bool {
        self.is_shared || self.file.as_ref().is_some_and(|file| file.has_a_way() || is_open(file.key))
    }

    /// Memory that it is, in whichever process: a file, or a range of addresses.
    fn memory(&self) -> Memory {
        self.file.as_ref().map_or(Memory::Range(self.start, self.end), |file| Memory::File(file.key))
    }

    /// The floats in it that others may see.
    fn seen(&self, is_open: impl Fn(Key) -> bool) -> Option<Lost> {
        self.lost().filter(|_| self.is_seen(is_open))
    }
}

impl Exposed {
    /// Nothing is seen yet.
    pub(crate) fn new() -> Exposed {
        Exposed { parts: Lock::new(Vec::new()), shown: Shown::new() }
    }

    /// Guest memory, start and length, is shared with whoever has the file that `descriptor` is open for, or with the children to
    /// come; by the call at `site`.
    pub(crate) fn mapped(&self, descriptor: Option<u64>, (start, len): (u64, u64), site: Site) {
        let file = descriptor.and_then(|descriptor| match Channel::of(descriptor)? {
            Channel::File(key) => Some(File { key, path: channel::path(descriptor) }),
            _ => None,
        });
        let mut parts = self.parts.lock();
        let is_same = |part: &Part| file.as_ref().is_some_and(|file| part.is_of(file.key));
        let is_shared = parts.iter().any(is_same);
        parts.iter_mut().filter(|part| is_same(part)).for_each(|part| part.is_shared = true);
        let call = (libc::SYS_mmap as u64, "mmap");
        let end = start.saturating_add(len);
        parts.push(Part { start, end, file, is_shared, inherited: 0, site, call });
    }

    /// A segment of System V's shared memory is there.
    pub(crate) fn attached(&self, (start, len): (u64, u64), site: Site) {
        let call = (libc::SYS_shmat as u64, "shmat");
        let end = start.saturating_add(len);
        let part = Part { start, end, file: None, is_shared: true, inherited: 0, site, call };
        self.parts.lock().push(part);
    }

    /// Guest memory is given up: what others may see there has left the process.
    pub(crate) fn given_up(&self, start: u64, len: u64) -> Vec<Lost> {
        let gone = self.take(start, start.saturating_add(len));
        gone.iter().flat_map(|part| self.losses(part, channel::is_open_here)).collect()
    }

    /// Guest memory at `old` has moved to `new`.
    pub(crate) fn moved(&self, (old, old_len): (u64, u64), (new, new_len): (u64, u64)) {
        let moved = self.take(old, old.saturating_add(old_len));
        let Some(first) = moved.into_iter().min_by_key(|part| part.start) else { return };
        let new_end = new.saturating_add(new_len);
        self.shown.moved(Memory::Range(old, old.saturating_add(old_len)), Memory::Range(new, new_end));
        self.parts.lock().push(Part { start: new, end: new_end, ..first });
    }

    /// The process ends: floats that it leaves to others, and others to it.
    pub(crate) fn left(&self) -> Vec<Lost> {
        let parts = self.parts.lock();
        parts.iter().flat_map(|part| self.losses(part, |_| false)).collect()
    }

    /// Floats of a part that is given up: those that this process leaves there to others, and those that others have left to it.
    fn losses(&self, part: &Part, is_open: impl Fn(Key) -> bool) -> Vec<Lost> {
        let own = part.seen(is_open);
        if let Some(Lost { floats, .. }) = own {
            self.shown.add(part.memory(), floats.saturating_sub(part.inherited));
        }
        let floats = self.shown.take(part.memory());
        let others = (floats > 0).then_some(Lost { site: part.site, call: part.call, floats });
        own.into_iter().chain(others).collect()
    }

    /// Another program takes this one's place: the floats that it, or whoever else has that memory, may read.
    pub(crate) fn left_to_program(&self) -> u64 {
        let parts = self.parts.lock();
        parts.iter().flat_map(|part| self.losses(part, channel::is_open)).map(|lost| lost.floats).sum()
    }

    /// Calls what takes away a name of a file. Whoever found it by that has seen what is there.
    pub(crate) fn unlinks(&self, unlink: impl FnOnce()) {
        let has_way = |part: &Part| part.file.as_ref().is_some_and(File::has_a_way);
        let is_alone = |part: &&mut Part| !part.is_shared && part.lost().is_some();
        let mut parts = self.parts.lock();
        let concerned = parts.iter_mut().filter(is_alone);
        let alone: Vec<_> = concerned.map(|part| (has_way(part), part)).collect();
        unlink();
        for (had_way, part) in alone {
            part.is_shared = had_way && !has_way(part);
        }
    }

    /// Keeps other threads out across a `fork`, until dropped on both sides. What is there is the child's too from now on.
    pub(crate) fn hold(&self) -> impl Sized + '_ {
        let mut parts = self.parts.lock();
        parts.iter_mut().for_each(|part| part.is_shared = true);
        (parts, self.shown.hold())
    }

    /// Begins a forked child.
    pub(crate) fn forked(&self) {
        for part in self.parts.lock().iter_mut() {
            part.inherited = planes::count_touched(part.start, part.end - part.start);
        }
    }

    /// Takes what is known of this range.
    fn take(&self, start: u64, end: u64) -> Vec<Part> {
        let mut parts = self.parts.lock();
        let concerned: Vec<Part> =
            parts.extract_if(.., |part| part.start < end && start < part.end).collect();
        let mut gone = Vec::new();
        for part in concerned {
            let kept = [(part.start, start), (end, part.end)].into_iter().filter(|(from, to)| from < to);
            parts.extend(kept.map(|(start, end)| Part { start, end, ..part.clone() }));
            gone.push(Part { start: part.start.max(start), end: part.end.min(end), ..part });
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(exposed: &Exposed) -> Vec<(u64, u64)> {
        let mut all: Vec<_> = exposed.parts.lock().iter().map(|part| (part.start, part.end)).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn parts_are_cut_and_moved() {
        let exposed = Exposed::new();
        exposed.mapped(None, (0x1000, 0x4000), Site::NONE);
        let gone = exposed.take(0x2000, 0x3000);
        assert_eq!(gone.iter().map(|part| (part.start, part.end)).collect::<Vec<_>>(), [(0x2000, 0x3000)]);
        assert_eq!(ranges(&exposed), [(0x1000, 0x2000), (0x3000, 0x5000)]);
        exposed.moved((0x3000, 0x2000), (0x9000, 0x3000));
        assert_eq!(ranges(&exposed), [(0x1000, 0x2000), (0x9000, 0xc000)]);
    }

    #[test]
    fn what_a_child_has_too_is_seen() {
        let exposed = Exposed::new();
        exposed.mapped(None, (0x1000, 0x1000), Site::NONE);
        assert!(!exposed.parts.lock()[0].is_seen(|_| true), "nobody else has it");
        drop(exposed.hold());
        assert!(exposed.parts.lock()[0].is_seen(|_| false));
    }
}
