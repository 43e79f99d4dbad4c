//! First touches: of chosen floats in guest memory, whether the program reads each before it overwrites it.
//!
//! The pages of their mirror are closed to any access. What touches one faults, whoever it is; the signal handler notes
//! what it was, opens the page for that one host instruction, which the trap flag sets apart, and closes it again, as
//! long as there are floats in it that nobody has touched. So nothing is paid for where no float waits, and little where
//! one does: faults are taken up to a limit. Not seen is what another thread does while a page is open. Knows ranges of
//! guest memory, not what they mean.

use super::layout::{GUEST_END, PAGE, page_ceil, page_floor};
use super::planes::PLANE;
use super::sys;
use crate::context::TRAP_FLAG;
use crate::mailbox::Touches;
use iced_x86::{Decoder, DecoderOptions, Instruction};
use shadowgrind_core::findings::Overwritten;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Groups there is room for; floats of more are not watched.
const GROUPS: usize = 64;
/// Faults taken at most, in all: about ten milliseconds.
const MOST_FAULTS: u32 = 1000;

static WATCHED: [OnceLock<Group>; GROUPS] = [const { OnceLock::new() }; GROUPS];
static FAULTS_LEFT: AtomicU32 = AtomicU32::new(MOST_FAULTS);

/// Fate of a float that nobody has touched.
const UNTOUCHED: u8 = 0;
/// Fate of one that was read first, or that is not asked about any more.
const READ: u8 = 1;
/// Fate of one that was overwritten first.
const OVERWRITTEN: u8 = 2;

/// Floats that are asked about together.
struct Group {
    number: usize,
    /// In the order of their addresses.
    floats: Vec<Float>,
    /// Guest address of the instruction that was the first to overwrite one; 0 if there is none, or it is not known.
    first: AtomicU64,
}

struct Float {
    start: u64,
    end: u64,
    fate: AtomicU8,
}

/// A page fault, as the processor tells of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageFault {
    pub(crate) address: u64,
    pub(crate) host_pc: u64,
    pub(crate) writes: bool,
    pub(crate) eflags: u64,
}

/// Watches these floats of guest memory, address and bytes, from now on.
pub(crate) fn watch(number: usize, floats: &[(u64, u64)]) {
    let float =
        |&(start, bytes): &(u64, u64)| Float { start, end: start + bytes, fate: AtomicU8::new(UNTOUCHED) };
    let mut floats: Vec<Float> =
        floats.iter().filter(|(start, bytes)| start + bytes <= GUEST_END).map(float).collect();
    floats.sort_by_key(|float| float.start);
    let mut group = Group { number, floats, first: AtomicU64::new(0) };
    let pages = pages([&group].into_iter());
    for place in &WATCHED {
        match place.set(group) {
            Ok(()) => return close(pages),
            Err(back) => group = back,
        }
    }
}

/// Ends the watch; of each group of which floats were overwritten before they were read, how many.
pub(crate) fn overwritten() -> Vec<Overwritten> {
    let at_least = FAULTS_LEFT.swap(0, Ordering::SeqCst) == 0;
    for range in pages(groups()) {
        allow(range, libc::PROT_READ | libc::PROT_WRITE);
    }
    let told = groups().filter_map(|group| {
        let is_gone = |float: &&Float| float.fate.load(Ordering::Relaxed) == OVERWRITTEN;
        let floats = group.floats.iter().filter(is_gone).count() as u64;
        let pc = Some(group.first.load(Ordering::Relaxed)).filter(|&pc| pc != 0);
        let of = group.floats.len() as u64;
        (floats > 0).then_some(Overwritten { group: group.number, floats, of, at_least, pc })
    });
    told.collect()
}

/// Begins a forked child: what was overwritten so far its parent tells of.
pub(super) fn forked() {
    for float in groups().flat_map(|group| &group.floats) {
        let _ = float.fate.compare_exchange(OVERWRITTEN, READ, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Guest memory was overwritten by the instruction at `pc`, or the system call before it, and not by a copy of that.
pub(crate) fn overwritten_by(pc: u64, address: u64, len: u64) {
    for group in groups() {
        if group.note(address..address.saturating_add(len), true) {
            group.place(pc);
        }
    }
}

/// Sees to a page fault in the signal handler: the flags to go on with, or `None` if it is not about a watched page.
pub(super) fn touched(thread: &Touches, fault: PageFault) -> Option<u64> {
    let address = fault.address.checked_sub(PLANE).filter(|&address| address < GUEST_END)?;
    let page = page_floor(address);
    if !groups().any(|group| !group.within(page..page + PAGE).is_empty()) {
        return None;
    }
    let range = match extent(fault.host_pc) {
        Some(len) => address..address + len,
        // Rather none too many than one that was not.
        None if fault.writes => address..address + 1,
        None => page..page + PAGE,
    };
    for (place, group) in groups().enumerate() {
        if group.note(range.clone(), fault.writes) && group.first.load(Ordering::Relaxed) == 0 {
            thread.write_down(fault.host_pc, place);
        }
    }
    if !allow(page..page + PAGE, libc::PROT_READ | libc::PROT_WRITE) {
        return None;
    }
    let is_free = |open: &&AtomicU64| open.load(Ordering::Relaxed) == 0;
    let steps_already = fault.eflags & TRAP_FLAG != 0 && thread.open.iter().all(|open| is_free(&open));
    let free = thread.open.iter().find(is_free);
    // Threads that fault at the same time may be counted once.
    let left = FAULTS_LEFT.load(Ordering::Relaxed);
    FAULTS_LEFT.store(left.saturating_sub(1), Ordering::Relaxed);
    match free {
        Some(open) if left > 0 && !steps_already && waits(page) => {
            open.store(page, Ordering::Relaxed);
            Some(fault.eflags | TRAP_FLAG)
        }
        // It stays open.
        _ => Some(fault.eflags),
    }
}

/// Tells, in the signal handler, whether a trap ends the one instruction that pages were opened for; closes them again.
pub(super) fn stepped(thread: &Touches) -> bool {
    let opened = thread.open.each_ref().map(|open| open.swap(0, Ordering::Relaxed));
    for page in opened.into_iter().filter(|&page| page != 0 && waits(page)) {
        allow(page..page + PAGE, libc::PROT_NONE);
    }
    opened != [0; 2]
}

/// The host address of an instruction that has overwritten a float, and what is to be told its guest address; one after
/// the other.
pub(super) fn unplaced(thread: &Touches) -> Option<(u64, impl FnOnce(u64) + use<>)> {
    let (host_pc, place) = thread.written_down()?;
    let tell = move |pc: u64| {
        if let Some(group) = WATCHED[place].get() {
            group.place(pc);
        }
    };
    Some((host_pc, tell))
}

impl Group {
    /// The instruction at `pc` has overwritten a float: it is told if it is the first of which that is known.
    fn place(&self, pc: u64) {
        let _ = self.first.compare_exchange(0, pc, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Floats that lie in this range, in part at least.
    fn within(&self, range: Range<u64>) -> &[Float] {
        let first = self.floats.partition_point(|float| float.end <= range.start);
        let last = self.floats.partition_point(|float| float.start < range.end);
        self.floats.get(first..last).unwrap_or_default()
    }

    /// Notes that this range was touched; whether floats were overwritten by that, first of all.
    fn note(&self, range: Range<u64>, writes: bool) -> bool {
        let fate = if writes { OVERWRITTEN } else { READ };
        let mut is_first = false;
        for float in self.within(range) {
            let now = float.fate.compare_exchange(UNTOUCHED, fate, Ordering::Relaxed, Ordering::Relaxed);
            is_first |= now.is_ok() && writes;
        }
        is_first
    }
}

fn groups() -> impl Iterator<Item = &'static Group> {
    WATCHED.iter().map_while(OnceLock::get)
}

/// Guest pages that have floats of these groups, as few ranges as may be.
fn pages<'a>(groups: impl Iterator<Item = &'a Group>) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for float in groups.flat_map(|group| &group.floats) {
        let (start, end) = (page_floor(float.start), page_ceil(float.end));
        match ranges.last_mut() {
            Some(last) if last.start <= start && start <= last.end => last.end = last.end.max(end),
            _ => ranges.push(start..end),
        }
    }
    ranges
}

fn close(pages: Vec<Range<u64>>) {
    for range in pages {
        allow(range, libc::PROT_NONE);
    }
}

/// Tells whether there are floats in a page that nobody has touched, and faults are left to be taken for them.
fn waits(page: u64) -> bool {
    let is_untouched = |float: &Float| float.fate.load(Ordering::Relaxed) == UNTOUCHED;
    FAULTS_LEFT.load(Ordering::Relaxed) > 0
        && groups().any(|group| group.within(page..page + PAGE).iter().any(is_untouched))
}

/// Gives the mirror of whole guest pages this protection; false if it cannot be had.
fn allow(pages: Range<u64>, access: i32) -> bool {
    let args = [PLANE + pages.start, pages.end - pages.start, access as u64, 0, 0, 0];
    // SAFETY: the pages lie in the plane, which holds no Rust object; who touches one while it is closed faults, and the
    // handler opens it.
    unsafe { sys::syscall(libc::SYS_mprotect as u64, args) == 0 }
}

/// Bytes that the instruction at a host address moves to or from memory; `None` if some of them are masked out, or elsewhere.
fn extent(host_pc: u64) -> Option<u64> {
    /// Longest instruction of the architecture, bytes.
    const LONGEST: u64 = 15;
    let decode = |len: u64| {
        // SAFETY: the instruction has just run: its pages are mapped, and `len` reaches into no other page but, where the
        // shorter piece does not hold it, the next, into which it goes on then.
        let bytes = unsafe { std::slice::from_raw_parts(host_pc as *const u8, len as usize) };
        let mut insn = Instruction::default();
        Decoder::with_ip(64, bytes, host_pc, DecoderOptions::NONE).decode_out(&mut insn);
        insn
    };
    let mut insn = decode(LONGEST.min(page_floor(host_pc) + PAGE - host_pc));
    if insn.is_invalid() {
        insn = decode(LONGEST);
    }
    (!insn.has_op_mask() && !insn.is_vsib()).then_some((insn.memory_size().size() as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group() -> Group {
        let float = |start| Float { start, end: start + 8, fate: AtomicU8::new(UNTOUCHED) };
        Group { number: 0, floats: vec![float(8), float(16), float(32)], first: AtomicU64::new(0) }
    }

    #[test]
    fn floats_are_found_by_any_byte_of_theirs() {
        let group = group();
        let starts = |range| group.within(range).iter().map(|float| float.start).collect::<Vec<u64>>();
        assert_eq!(starts(0..8), [0; 0]);
        assert_eq!(starts(15..17), [8, 16]);
        assert_eq!(starts(24..32), [0; 0]);
        assert_eq!(starts(0..64), [8, 16, 32]);
        assert_eq!(starts(40..64), [0; 0]);
    }

    #[test]
    fn pages_are_joined() {
        let float = |start| Float { start, end: start + 8, fate: AtomicU8::new(UNTOUCHED) };
        let floats = [8, 16, PAGE - 4, 2 * PAGE + 8, 5 * PAGE].map(float).into();
        let group = Group { number: 0, floats, first: AtomicU64::new(0) };
        assert_eq!(pages([&group].into_iter()), [0..3 * PAGE, 5 * PAGE..6 * PAGE]);
    }

    #[test]
    fn the_first_touch_decides() {
        let group = group();
        assert!(!group.note(8..16, false));
        assert!(group.note(8..24, true));
        assert!(!group.note(16..24, true));
        let fates: Vec<u8> = group.floats.iter().map(|float| float.fate.load(Ordering::Relaxed)).collect();
        assert_eq!(fates, [READ, OVERWRITTEN, UNTOUCHED]);
    }

    #[test]
    fn an_instruction_says_how_much_it_moves() {
        // vmovupd [rax], ymm0; movsd xmm0, [rax]; rep movsb; vmovdqu8 [rax]{k1}, zmm0; vgatherqpd zmm0{k1}, [rax+zmm1].
        let cases: [(&[u8], Option<u64>); 5] = [
            (&[0xc5, 0xfd, 0x11, 0x00], Some(32)),
            (&[0xf2, 0x0f, 0x10, 0x00], Some(8)),
            (&[0xf3, 0xa4], Some(1)),
            (&[0x62, 0xf1, 0x7f, 0x49, 0x7f, 0x00], None),
            (&[0x62, 0xf2, 0xfd, 0x49, 0x93, 0x04, 0x08], None),
        ];
        for (code, bytes) in cases {
            let mut padded = [0x90; 32];
            padded[..code.len()].copy_from_slice(code);
            assert_eq!(extent(padded.as_ptr() as u64), bytes, "{code:x?}");
        }
    }
}
