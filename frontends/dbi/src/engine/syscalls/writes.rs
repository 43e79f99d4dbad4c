//! Guest memory that the kernel has written: whatever it held, it carries no shadow now. And what it has read and handed
//! on: floats that leave the program.
//!
//! What each call writes is in the table; here it becomes addresses.

use super::call::Call;
use super::queued::{self, Request};
use super::table::{self, Writes};
use crate::engine::handed::{Begun, Writing};
use crate::engine::thread::Thread;
use crate::engine::{guest, planes, sys};
use std::os::unix::fs::MetadataExt;

/// Pieces, or messages, that a call has at most.
const IOV_MAX: u64 = 1024;
/// `struct iovec`: base, length.
const IOVEC_BYTES: u64 = 16;
/// `struct mmsghdr`: a `struct msghdr` of 56 bytes and a length, padded.
const MMSGHDR_BYTES: u64 = 64;
/// `struct msgbuf` begins with the message's type.
const MSGBUF_TYPE_BYTES: u64 = 8;

/// Drops the shadows of what a successful call with this `result` has written.
pub(super) fn forget_shadows(thread: &Thread, call: &Call, result: u64) {
    written(call, Some(result)).into_iter().for_each(|(base, len)| thread.kernel_wrote(base, len));
}

/// Guest memory that a call may write, before it is made. The length of a buffer is the argument after it: where it is another
/// one, more memory may be named.
pub(super) fn may_write(call: &Call) -> Vec<(u64, u64)> {
    written(call, None)
}

/// Guest memory that a call with this `result` has written, or, where it has none yet, may write.
fn written(call: &Call, result: Option<u64>) -> Vec<(u64, u64)> {
    let Some(row) = table::row_of(call.number) else { return Vec::new() };
    let argument = |n: u8| call.args.get(usize::from(n)).copied().unwrap_or(0);
    let limit = result.unwrap_or(u64::MAX);
    match row.writes {
        Writes::Nothing => Vec::new(),
        Writes::Result(at) => vec![(argument(at), result.unwrap_or_else(|| argument(at + 1)))],
        Writes::Bytes(at, bytes) if argument(at) != 0 => vec![(argument(at), u64::from(bytes))],
        Writes::Bytes(..) => Vec::new(),
        Writes::Records(at, count, bytes) => {
            vec![(argument(at), argument(count).saturating_mul(u64::from(bytes)))]
        }
        Writes::Vector(at, count) => pieces(argument(at), argument(count), limit),
        Writes::Message(at) => message(argument(at), limit),
        Writes::Messages(at) => {
            let count = result.unwrap_or_else(|| argument(at + 1));
            messages(argument(at), count).flat_map(|at| message(at, u64::MAX)).collect()
        }
    }
}

/// Addresses of the first `count` messages of an array of `mmsghdr`: as many as the kernel looks at, at most.
fn messages(at: u64, count: u64) -> impl Iterator<Item = u64> {
    (0..count.min(IOV_MAX)).map(move |n| at.wrapping_add(n * MMSGHDR_BYTES))
}

/// Tells whether a call hands out guest memory as it is.
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
            | libc::SYS_sendmmsg
            | libc::SYS_vmsplice
            | libc::SYS_msgsnd
            | libc::SYS_mq_timedsend
            | libc::SYS_process_vm_writev
            | libc::SYS_io_uring_enter
            | libc::SYS_io_submit
    )
}

/// Guest memory that a call hands out, of which `sent` bytes, or messages, are meant.
pub(super) fn handed_out(call: &Call, sent: u64) -> Vec<(u64, u64)> {
    let (buffer, len) = (call.args[1], call.args[2]);
    match call.number as i64 {
        libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_sendto => vec![(buffer, len.min(sent))],
        libc::SYS_writev
        | libc::SYS_pwritev
        | libc::SYS_pwritev2
        | libc::SYS_vmsplice
        | libc::SYS_process_vm_writev => pieces(buffer, len, sent),
        libc::SYS_msgsnd => vec![(buffer + MSGBUF_TYPE_BYTES, len)],
        libc::SYS_mq_timedsend => vec![(buffer, len)],
        libc::SYS_sendmsg => pieces_of_message(buffer, sent),
        libc::SYS_sendmmsg => {
            let messages = messages(buffer, sent.min(len));
            messages.flat_map(|message| pieces_of_message(message, u64::MAX)).collect()
        }
        _ => Vec::new(),
    }
}

/// Guest memory that a call has read `read` bytes into.
fn pieces_received(call: &Call, read: u64) -> Vec<(u64, u64)> {
    let buffer = call.args[1];
    match call.number as i64 {
        libc::SYS_read | libc::SYS_pread64 | libc::SYS_recvfrom => vec![(buffer, read)],
        libc::SYS_readv | libc::SYS_preadv | libc::SYS_preadv2 => pieces(buffer, call.args[2], read),
        libc::SYS_recvmsg => pieces_of_message(buffer, read),
        _ => Vec::new(),
    }
}

/// The descriptor that a call reads or writes, and the file offset if it names one.
fn channel(call: &Call) -> Option<(u64, Option<u64>)> {
    /// As preadv2(2) has it: the offset that the descriptor is at.
    const CURRENT: u64 = u64::MAX;
    let (descriptor, offset) = (call.args[0], call.args[3]);
    match call.number as i64 {
        libc::SYS_write | libc::SYS_writev | libc::SYS_sendto | libc::SYS_sendmsg => Some((descriptor, None)),
        libc::SYS_read | libc::SYS_readv | libc::SYS_recvfrom | libc::SYS_recvmsg => Some((descriptor, None)),
        libc::SYS_pwrite64
        | libc::SYS_pwritev
        | libc::SYS_pwritev2
        | libc::SYS_pread64
        | libc::SYS_preadv
        | libc::SYS_preadv2 => Some((descriptor, Some(offset).filter(|&offset| offset != CURRENT))),
        _ => None,
    }
}

/// Before a call: what it hands out is noted for who reads it.
pub(super) fn begin_to_send(thread: &Thread, call: &Call) -> Begun {
    if !sends(call.number as u16) || !thread.process.is_annotating() {
        return Begun::Elsewhere;
    }
    if let Some(requests) = queued::requests(call) {
        return Begun::Queued(requests.into_iter().map(|request| begin_request(thread, request)).collect());
    }
    let (Some(handed), Some((descriptor, offset))) = (&thread.process.handed, channel(call)) else {
        return Begun::Elsewhere;
    };
    handed.begin(Writing { descriptor, offset, pieces: &handed_out(call, u64::MAX) })
}

/// Pieces that a request hands out. What it has written carries no shadow from now on: the program leaves it alone until it
/// is told that the request is done.
fn begin_request(thread: &Thread, request: Request) -> Vec<(u64, u64)> {
    match request {
        Request::Out(pieces) => pieces,
        Request::Into(pieces) => {
            pieces.into_iter().for_each(|(base, len)| thread.kernel_wrote(base, len));
            Vec::new()
        }
    }
}

/// Has the client look at what a call of the instruction before `next` has handed out: its result says how much.
pub(super) fn look_at_sent(thread: &mut Thread, call: &Call, begun: &Begun, next: u64, result: u64) {
    if !sends(call.number as u16) {
        return;
    }
    let Some(row) = table::row_of(call.number) else { return };
    let pc = next.wrapping_sub(crate::engine::sys::SYSCALL_BYTES);
    let sent = if sys::error_of(result).is_none() { result } else { 0 };
    let failed = sys::error_of(result).is_some();
    let pieces = match begun {
        _ if failed => Vec::new(),
        Begun::Queued(requests) => requests.iter().take(sent as usize).flatten().copied().collect(),
        _ => handed_out(call, sent),
    };
    let (descriptor, offset) = channel(call).unwrap_or_default();
    let writing = Writing { descriptor, offset, pieces: &pieces };
    thread.client().sent(thread, pc, (call.number, row.name), begun, writing);
}

/// A call that was begun is not made after all.
pub(super) fn not_sent(thread: &Thread, call: &Call, begun: &Begun) {
    if let (Some(handed), Some((descriptor, offset))) = (&thread.process.handed, channel(call)) {
        handed.end(begun, Writing { descriptor, offset, pieces: &[] }, None);
    }
}

/// Gives what a call of the instruction before `next` has read the shadows that were noted when it was written, or has the client count
/// those that stay behind.
pub(super) fn look_at_received(thread: &mut Thread, call: &Call, next: u64, read: u64) {
    let (Some(handed), Some((descriptor, offset))) = (&thread.process.handed, channel(call)) else {
        return;
    };
    let flags = match call.number as i64 {
        libc::SYS_recvfrom => call.args[3],
        libc::SYS_recvmsg => call.args[2],
        _ => 0,
    };
    let pieces = pieces_received(call, read);
    if !pieces.is_empty() {
        let peeks = flags & libc::MSG_PEEK as u64 != 0;
        let floats = handed.received(Writing { descriptor, offset, pieces: &pieces }, read, peeks);
        let Some(row) = table::row_of(call.number).filter(|_| floats > 0) else { return };
        let pc = next.wrapping_sub(crate::engine::sys::SYSCALL_BYTES);
        thread.client().fetched(thread, pc, (call.number, row.name), floats);
    }
}

/// The first `sent` bytes of what a `msghdr` is made of.
pub(super) fn pieces_of_message(at: u64, sent: u64) -> Vec<(u64, u64)> {
    match guest::read::<[u64; 4]>(at) {
        Ok([_, _, iov, count]) => pieces(iov, count, sent),
        Err(guest::Fault) => Vec::new(),
    }
}

/// The first `left` bytes of an array of `iovec`.
pub(super) fn pieces(at: u64, count: u64, mut left: u64) -> Vec<(u64, u64)> {
    let mut pieces = Vec::new();
    for n in 0..count.min(IOV_MAX) {
        let Ok([base, len]) = guest::read::<[u64; 2]>(at + n * IOVEC_BYTES) else { break };
        let part = len.min(left);
        pieces.push((base, part));
        left -= part;
    }
    pieces
}

/// Floats with shadows that a call has read from the memory of another process under the tool, to which they stay there.
pub(super) fn look_at_fetched(thread: &mut Thread, call: &Call, next: u64, read: u64) {
    let [process, _, _, remote, count, _] = call.args;
    if call.number as i64 != libc::SYS_process_vm_readv || !runs_the_tool(process) {
        return;
    }
    let floats =
        pieces(remote, count, read).into_iter().map(|piece| planes::count_elsewhere(process, piece)).sum();
    let pc = next.wrapping_sub(crate::engine::sys::SYSCALL_BYTES);
    thread.client().fetched(thread, pc, (call.number, "process_vm_readv"), floats);
}

/// Tells whether a process runs this same tool.
fn runs_the_tool(process: u64) -> bool {
    let file = |link: String| std::fs::metadata(link).map(|data| (data.dev(), data.ino())).ok();
    let own = file("/proc/self/exe".to_owned());
    own.is_some() && own == file(format!("/proc/{process}/exe"))
}

/// The buffers of a `msghdr`, of which `written` bytes are meant, and its name and control data.
fn message(at: u64, written: u64) -> Vec<(u64, u64)> {
    let Ok([name, name_len, iov, count, control, control_len]) = guest::read::<[u64; 6]>(at) else {
        return Vec::new();
    };
    let mut all = pieces(iov, count, written);
    let others = [(name, name_len & 0xffff_ffff), (control, control_len)];
    all.extend(others.into_iter().filter(|&(base, _)| base != 0));
    all
}
