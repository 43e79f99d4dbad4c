//! Texts that the program has read or written: told to a session that looks for their numbers.

use super::call::Call;
use super::writes;
use crate::engine::thread::Thread;
use crate::engine::{descriptors, stand_by};

/// Pieces of guest memory: address and length.
type Pieces = Vec<(u64, u64)>;

/// Pieces of the `count` bytes that a call has read, and the file offset if it names one.
fn pieces_read(call: &Call, count: u64) -> Option<(Pieces, Option<u64>)> {
    let (buffer, length, offset) = (call.args[1], call.args[2], call.args[3]);
    Some(match call.number as i64 {
        libc::SYS_read => (vec![(buffer, count)], None),
        libc::SYS_pread64 => (vec![(buffer, count)], Some(offset)),
        libc::SYS_readv => (writes::pieces(buffer, length, count), None),
        libc::SYS_preadv | libc::SYS_preadv2 => (writes::pieces(buffer, length, count), Some(offset)),
        _ => return None,
    })
}

/// Tells whoever stands by for a second run of `count` bytes that a successful call has read or written.
pub(super) fn note_for_second_run(call: &Call, count: u64) {
    if !stand_by::is_there() {
        return;
    }
    let descriptor = call.args[0] as i32;
    match pieces_read(call, count) {
        Some((pieces, _)) => stand_by::note_read(descriptor, &pieces),
        None if writes::sends(call.number as u16) => {
            stand_by::note_written(descriptor, &writes::handed_out(call, count));
        }
        None => {}
    }
}

/// Tells the session, if it wants to know, of `count` bytes that a successful call has read.
pub(super) fn note(thread: &mut Thread, call: &Call, count: u64) {
    if !thread.process.services.reads {
        return;
    }
    let Some((pieces, offset)) = pieces_read(call, count) else { return };
    let descriptor = call.args[0] as i32;
    let path = descriptors::path_of(descriptor);
    // A program may read a copy of the descriptor. Of a file, another descriptor may be another place in it.
    let is_no_file = !path.starts_with('/') || path.starts_with("/dev/");
    let is_stdin =
        descriptor == libc::STDIN_FILENO || is_no_file && path == descriptors::path_of(libc::STDIN_FILENO);
    if !is_stdin && !path.starts_with('/') {
        return;
    }
    let here = || descriptors::offset(call.args[0]).map(|here| here.saturating_sub(count));
    let offset = offset.or_else(here).map(|offset| offset as usize);
    thread.client().read(thread, Some(&*path).filter(|_| !is_stdin), offset, &pieces);
}

/// Tells the session, if it wants to know, of the pieces, address and length, that a successful call has written.
pub(super) fn note_written(thread: &mut Thread, call: &Call, count: u64) {
    if thread.client().wants_written() {
        let descriptor = call.args[0] as i32;
        let pieces = writes::handed_out(call, count);
        thread.client().wrote(thread, descriptor, &descriptors::path_of(descriptor), &pieces);
    }
}
