//! Sweeping: slots whose tickets are nowhere in the mirror or in registers are freed.
//!
//! All threads but the sweeping one are kept out of translated code meanwhile. Every word of the mirror that is set is
//! taken for a ticket: a few slots may outlive their floats, none is lost. Tickets of floats that are not aligned to
//! four bytes are not seen: those floats are unshadowed from then on.

use super::registers;
use crate::engine::layout::{GUEST_END, PAGE};
use crate::engine::planes::{self, PLANE};
use crate::engine::sys;
use crate::engine::thread::Thread;

/// Bytes of the mirror asked about at once.
const STEP: u64 = 1 << 30;

/// Frees what nothing refers to any more.
pub(super) fn sweep(thread: &mut Thread) {
    let process = thread.process;
    let Some(tool) = process.tool.as_ref() else { return };
    if !process.threads.pause_others(&thread.handle) {
        return;
    }
    registers::complete_image(thread.context);
    let mut marked = Vec::new();
    let Some(shadowed) = thread.shadowed.as_deref() else { return };
    words(&shadowed.registers(thread.context).save()[..], &mut marked);
    shadowed.interrupted.iter().for_each(|(_, saved)| words(&saved.shadows[..], &mut marked));
    process.threads.for_others(&thread.handle, |context| {
        words(&context.shadows.0, &mut marked);
        words(registers::upper_vectors(context), &mut marked);
    });
    let regions: Vec<(u64, u64)> =
        process.space.lock().overlapping(0, GUEST_END).map(|(start, end, _)| (start, end)).collect();
    regions.into_iter().for_each(|(start, end)| memory(start, end, &mut marked));
    tool.reals.lock().slots.sweep(marked);
    process.threads.resume_others();
}

/// Adds all words that are set.
fn words(bytes: &[u8], marked: &mut Vec<u64>) {
    let words = bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word));
    marked.extend(words.filter(|&word| word != 0).map(u64::from));
}

/// Adds all words that are set in the mirror of a guest range, as far as it was ever touched.
fn memory(start: u64, end: u64, marked: &mut Vec<u64>) {
    let mut page = [0; PAGE as usize];
    let mut resident = vec![0_u8; (STEP / PAGE) as usize];
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
            }
        }
    }
}
