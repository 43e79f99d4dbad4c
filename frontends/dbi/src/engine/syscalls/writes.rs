//! Guest memory that the kernel has written: whatever it held, it carries no shadow now. And what it has read and handed
//! on: floats that leave the program.
//!
//! What each call writes is in the table; here it becomes addresses.

use super::Call;
use super::table::{self, Writes};
use crate::engine::guest;
use crate::engine::thread::Thread;
use crate::runtime::shadowed;

/// `struct iovec`: base, length.
const IOVEC_BYTES: u64 = 16;
/// `struct mmsghdr`: a `struct msghdr` of 56 bytes and a length, padded.
const MMSGHDR_BYTES: u64 = 64;

/// Drops the shadows of what a successful call with this `result` has written.
pub(super) fn forget_shadows(thread: &Thread, call: &Call, result: u64) {
    let Some(row) = table::row_of(call.number) else { return };
    let argument = |n: u8| call.args[usize::from(n)];
    match row.writes {
        Writes::Nothing => {}
        Writes::Result(at) => shadowed::kernel_wrote(thread, argument(at), result),
        Writes::Bytes(at, bytes) if argument(at) != 0 => {
            shadowed::kernel_wrote(thread, argument(at), u64::from(bytes));
        }
        Writes::Bytes(..) => {}
        Writes::Records(at, count, bytes) => {
            let len = argument(count).saturating_mul(u64::from(bytes));
            shadowed::kernel_wrote(thread, argument(at), len);
        }
        Writes::Vector(at, count) => vector(thread, argument(at), argument(count), result),
        Writes::Message(at) => message(thread, argument(at), result),
        Writes::Messages(at) => {
            (0..result).for_each(|n| message(thread, argument(at) + n * MMSGHDR_BYTES, u64::MAX));
        }
    }
}

/// Whether a call hands out guest memory as it is.
pub(super) const fn sends(number: u16) -> bool {
    matches!(
        number as i64,
        libc::SYS_write
            | libc::SYS_pwrite64
            | libc::SYS_writev
            | libc::SYS_pwritev
            | libc::SYS_pwritev2
            | libc::SYS_sendto
            | libc::SYS_sendmsg
    )
}

/// Has the tool look at what a successful call of the instruction before `next` has handed out: `sent` bytes.
pub(super) fn look_at_sent(thread: &mut Thread, call: &Call, next: u64, sent: u64) {
    let buffer = call.args[1];
    let pieces = match call.number as i64 {
        libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_sendto => vec![(buffer, sent)],
        libc::SYS_writev | libc::SYS_pwritev | libc::SYS_pwritev2 => pieces(buffer, call.args[2], sent),
        libc::SYS_sendmsg => match guest::read::<[u64; 4]>(buffer) {
            Ok([_, _, iov, count]) => pieces(iov, count, sent),
            Err(guest::Fault) => return,
        },
        _ => return,
    };
    shadowed::sent(thread, next.wrapping_sub(super::SYSCALL_BYTES), &pieces);
}

/// The first `left` bytes of an array of `iovec`.
fn pieces(at: u64, count: u64, mut left: u64) -> Vec<(u64, u64)> {
    const IOV_MAX: u64 = 1024;
    let mut pieces = Vec::new();
    for n in 0..count.min(IOV_MAX) {
        let Ok([base, len]) = guest::read::<[u64; 2]>(at + n * IOVEC_BYTES) else { break };
        let part = len.min(left);
        pieces.push((base, part));
        left -= part;
    }
    pieces
}

/// Drops shadows in the first `left` bytes of an array of `iovec`.
fn vector(thread: &Thread, at: u64, count: u64, left: u64) {
    pieces(at, count, left).into_iter().for_each(|(base, len)| shadowed::kernel_wrote(thread, base, len));
}

/// The buffers of a `msghdr`, and its name and control data.
fn message(thread: &Thread, at: u64, written: u64) {
    let Ok([name, name_len, iov, count, control, control_len]) = guest::read::<[u64; 6]>(at) else { return };
    vector(thread, iov, count, written);
    for (base, len) in [(name, name_len & 0xffff_ffff), (control, control_len)] {
        if base != 0 {
            shadowed::kernel_wrote(thread, base, len);
        }
    }
}
