//! Sweeping: slots whose handles are nowhere in the mirror or in registers are freed.
//!
//! All threads but the sweeping one stay where they are meanwhile, with all of their state in their contexts and all of
//! their records replayed: that is done before anything else when translated code has been left. Every word of the mirror
//! that is set is taken for a handle: a few slots may outlive their floats, none is lost. Handles of floats that are not
//! aligned to four bytes are not seen: those floats are unshadowed from then on.

use super::Tool;
use super::shadowed::Shadowed;
use crate::engine::layout::{GUEST_END, PAGE};
use crate::engine::planes::{self, PLANE};
use crate::engine::sys;
use crate::engine::thread::Thread;
use crate::registers;
use shadowgrind_core::slots::HANDLE;

/// Number of handles that can be handed out, and their shadows computed, while a page is read.
const HANDLES_PER_PAGE: u64 = 4;

/// Bytes of the mirror asked about at once.
const STEP: u64 = 1 << 30;

/// Frees what nothing refers to any more.
pub(super) fn sweep(thread: &mut Thread) {
    let process = thread.process;
    let Some(tool) = Tool::of(process) else { return };
    let Some(shadowed) = Shadowed::of(&thread.client_state) else { return };
    let Some(others) = process.threads.pause_others(&thread.handle) else { return };
    registers::complete_image(thread.context);
    let mut marked = Vec::new();
    words(&shadowed.registers(thread.context).save()[..], &mut marked);
    interrupted(shadowed, &mut marked);
    others.each(|other| {
        words(&other.shadows().0, &mut marked);
        words(registers::upper_vectors(other.xsave()), &mut marked);
        // SAFETY: threads are never freed, and this part of one is its own thread's, which stays where it is.
        let state = unsafe { &(*(other.thread() as *const Thread)).client_state };
        Shadowed::of(state).iter().for_each(|shadowed| interrupted(shadowed, &mut marked));
    });
    let regions: Vec<(u64, u64)> =
        process.space.lock().overlapping(0, GUEST_END).map(|(start, end, _)| (start, end)).collect();
    let longest = regions.iter().map(|(start, end)| end - start).max().unwrap_or(0).min(STEP);
    let mut resident = vec![0; (longest / PAGE) as usize];
    let pages: u64 =
        regions.into_iter().map(|(start, end)| memory(start, end, &mut resident, &mut marked)).sum();
    tool.carrier.sweep(marked, pages * HANDLES_PER_PAGE);
}

/// Adds all words of the states that signal handlers of a thread have interrupted.
fn interrupted(shadowed: &Shadowed, marked: &mut Vec<u32>) {
    shadowed.interrupted.iter().for_each(|(_, saved)| words(&saved.shadows[..], marked));
}

/// Adds all words that are set.
fn words(bytes: &[u8], marked: &mut Vec<u32>) {
    for &line in bytes.as_chunks::<32>().0 {
        if line == [0; 32] {
            continue;
        }
        let words = line.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word) & HANDLE);
        marked.extend(words.filter(|&word| word != 0));
    }
}

/// Adds all words that are set in the mirror of a guest range, as far as it was ever touched. How many pages that is. There is
/// a byte for each of the pages that are asked about at once.
fn memory(start: u64, end: u64, resident: &mut [u8], marked: &mut Vec<u32>) -> u64 {
    let mut touched = 0;
    let mut page = [0; PAGE as usize];
    for at in (start..end).step_by(STEP as usize) {
        let len = (end - at).min(STEP);
        let args = [PLANE + at, len, resident.as_mut_ptr() as u64, 0, 0, 0];
        // SAFETY: the kernel writes a byte per page, for which there is room.
        let result = unsafe { sys::syscall(libc::SYS_mincore as u64, args) };
        let known = result == 0;
        for n in 0..len / PAGE {
            if !known || resident[n as usize] & 1 == 1 {
                planes::read(at + n * PAGE, &mut page);
                words(&page, marked);
                touched += 1;
            }
        }
    }
    touched
}
