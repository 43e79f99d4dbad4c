//! Calls that change the guest's address space. The engine chooses every address the guest leaves open.

use super::call::{Answer, Call, fail, pass};
use crate::engine::layout::{ENGINE_END, GUEST_END, PAGE, page_ceil};
use crate::engine::space::{Purpose, Region, Space};
use crate::engine::thread::Thread;
use crate::engine::{arena, end, shared_planes, sys};

const MAP_32BIT: u64 = libc::MAP_32BIT as u64;
const MAP_FIXED: u64 = libc::MAP_FIXED as u64;
const MAP_FIXED_NOREPLACE: u64 = libc::MAP_FIXED_NOREPLACE as u64;
const MAP_GROWSDOWN: u64 = libc::MAP_GROWSDOWN as u64;

struct Mmap {
    address: u64,
    len: u64,
    prot: i32,
    flags: u64,
    fd: u64,
    offset: u64,
}

pub(super) fn mmap(thread: &mut Thread, call: &Call) -> Answer {
    let [address, len, prot, flags, fd, offset] = call.args;
    let mut request = Mmap { address, len: page_ceil(len), prot: prot as i32, flags, fd, offset };
    if request.len == 0 {
        // Nothing, or more than there are addresses: the kernel knows which of several errors it is.
        return pass(thread, call);
    }
    let process = thread.process;
    let mut space = process.space.lock();
    // What the guest takes of the engine's gigabyte the engine does not take at the same time.
    let _engine_waits = (address < ENGINE_END).then(arena::pause);
    let place = if flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0 {
        fixed(&request, &space)
    } else {
        open(thread, &request, &mut space)
    };
    let mut at = match place {
        Ok(at) => at,
        Err(errno) => {
            refuse_sanitizer(thread, &request);
            return fail(errno);
        }
    };
    let replaces = flags & MAP_FIXED != 0 && code_may_change(thread, &space, at, at + request.len);
    let mut result = map(&request, at);
    if sys::error_of(result) == Some(libc::EINVAL)
        && flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) == 0
        && let Some(page) = huge_page(&request)
        && let Some(free) = space.pick(request.len.saturating_add(2 * page), Purpose::Data)
    {
        at = free.next_multiple_of(page);
        request.len = request.len.next_multiple_of(page);
        result = map(&request, at);
    }
    if sys::error_of(result) == Some(libc::EINVAL)
        && request.address == 0
        && let Some(chosen) = map_where_the_kernel_likes(&request)
    {
        (at, result) = (chosen, chosen);
    }
    if sys::error_of(result).is_some() {
        return Answer::Value(result);
    }
    let region = Region {
        prot: request.prot & 7,
        shared: flags & libc::MAP_TYPE as u64 != libc::MAP_PRIVATE as u64,
        file: flags & libc::MAP_ANONYMOUS as u64 == 0,
        grows_down: flags & MAP_GROWSDOWN != 0,
    };
    space.insert(at, at + request.len, region);
    drop(space);
    if replaces {
        changed(thread, at, at + request.len);
    }
    thread.unmapped(at, request.len);
    if region.file && region.executable() {
        thread.mapped_file(request.fd, request.offset, at, at + request.len);
    }
    if region.shared {
        let descriptor = region.file.then_some(request.fd);
        thread.client().shares(thread, descriptor, (at, request.len));
    }
    if let Some(handed) = &thread.process.handed {
        match (region.file, region.shared) {
            (true, shared) => {
                let site = shared.then(|| thread.client().address_of_call(thread));
                handed.mapped(request.fd, request.offset, (at, request.len), site);
            }
            (false, true) => shared_planes::share_fresh(at, request.len),
            (false, false) => {}
        }
    }
    Answer::Value(result)
}

/// The address a fixed request gets, or an errno.
fn fixed(request: &Mmap, space: &Space) -> Result<u64, i32> {
    let end = request.address.checked_add(request.len).filter(|&end| end <= GUEST_END);
    let Some(end) = end else { return Err(libc::ENOMEM) };
    let noreplace = request.flags & MAP_FIXED_NOREPLACE != 0;
    if arena::overlaps(request.address, end) {
        return Err(if noreplace { libc::EEXIST } else { libc::ENOMEM });
    }
    if noreplace && space.overlapping(request.address, end).next().is_some() {
        return Err(libc::EEXIST);
    }
    Ok(request.address)
}

/// The address for a request that leaves it open: the hint if it is free, else by what the mapping will hold.
fn open(thread: &Thread, request: &Mmap, space: &mut Space) -> Result<u64, i32> {
    const LOWEST_HINT: u64 = 0x1_0000;
    const MAP_32BIT_END: u64 = 1 << 31;
    let hint = page_ceil(request.address);
    let low = request.flags & MAP_32BIT != 0;
    let highest = if low { MAP_32BIT_END } else { GUEST_END };
    if hint >= LOWEST_HINT
        && hint.checked_add(request.len).is_some_and(|end| end <= highest && space.is_free(hint, end))
    {
        return Ok(hint);
    }
    let purpose = if low {
        Purpose::Low
    } else if may_hold_code(thread, request) {
        Purpose::Code
    } else {
        Purpose::Data
    };
    space.pick(request.len, purpose).ok_or(libc::ENOMEM)
}

/// The size of the huge pages that the mapping asks for, which is also its alignment; `None` if it does not.
fn huge_page(request: &Mmap) -> Option<u64> {
    const SIZE_MASK: u64 = libc::MAP_HUGE_MASK as u64;
    // Of x86-64, unless the kernel was started with another default.
    const DEFAULT: u64 = 2 << 20;
    if request.flags & libc::MAP_HUGETLB as u64 != 0 {
        let exponent = request.flags >> libc::MAP_HUGE_SHIFT & SIZE_MASK;
        return Some(if exponent == 0 { DEFAULT } else { 1 << exponent.min(40) });
    }
    // A file of hugetlbfs has blocks of its pages' size.
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    let args = [request.fd, stat.as_mut_ptr() as u64, 0, 0, 0, 0];
    let anonymous = request.flags & libc::MAP_ANONYMOUS as u64 != 0;
    // SAFETY: the kernel writes the structure whose address it gets.
    if anonymous || unsafe { sys::syscall(libc::SYS_fstat as u64, args) } != 0 {
        return None;
    }
    // SAFETY: fstat succeeded and has filled it.
    let block = unsafe { stat.assume_init() }.st_blksize as u64;
    (block >= DEFAULT && block.is_power_of_two()).then_some(block)
}

/// Tells whether code may end up in the mapping. ld.so's first mapping of a library need not be executable: it reserves
/// the whole span, from the file or, for segments aligned beyond a page, anonymously and without access.
fn may_hold_code(thread: &Thread, request: &Mmap) -> bool {
    let anonymous = request.flags & libc::MAP_ANONYMOUS as u64 != 0;
    let private = request.flags & libc::MAP_TYPE as u64 == libc::MAP_PRIVATE as u64;
    let (start, end) = thread.process.interpreter;
    let by_loader = start <= thread.pc && thread.pc < end;
    request.prot & libc::PROT_EXEC != 0
        || (!anonymous && private && is_elf(request.fd))
        || (anonymous && request.prot == libc::PROT_NONE && by_loader)
}

fn is_elf(fd: u64) -> bool {
    let mut magic = [0; 4];
    let args = [fd, magic.as_mut_ptr() as u64, 4, 0, 0, 0];
    // SAFETY: the kernel writes at most four bytes into the array.
    let got = unsafe { sys::syscall(libc::SYS_pread64 as u64, args) };
    got == 4 && &magic == b"\x7fELF"
}

fn map(request: &Mmap, at: u64) -> u64 {
    // The kernel would look for 31-bit addresses again, and grow mappings into whatever lies below.
    let flags = request.flags & !(MAP_32BIT | MAP_FIXED_NOREPLACE | MAP_GROWSDOWN) | MAP_FIXED;
    let args = [at, request.len, request.prot as u64, flags, request.fd, request.offset];
    // SAFETY: the range was checked to be the guest's own or free.
    unsafe { sys::syscall(libc::SYS_mmap as u64, args) }
}

/// Maps what nobody but the kernel may choose an address for, such as the rings of io_uring, where the kernel looks for 31-bit
/// addresses: in the engine's gigabyte, below the guest's end.
fn map_where_the_kernel_likes(request: &Mmap) -> Option<u64> {
    let flags = request.flags | MAP_32BIT;
    let args = [0, request.len, request.prot as u64, flags, request.fd, request.offset];
    // SAFETY: without MAP_FIXED the kernel picks unused addresses.
    let at = sys::check(unsafe { sys::syscall(libc::SYS_mmap as u64, args) }).ok()?;
    if at + request.len <= GUEST_END {
        return Some(at);
    }
    // SAFETY: this has just been mapped, and nobody uses it.
    unsafe { sys::syscall(libc::SYS_munmap as u64, [at, request.len, 0, 0, 0, 0]) };
    None
}

/// AddressSanitizer wants, at fixed addresses, the ranges that the engine and the mirrors have; refused, it would
/// only say that memory ran out.
fn refuse_sanitizer(thread: &mut Thread, request: &Mmap) {
    const SHADOW_START: std::ops::RangeInclusive<u64> = 0x7fff_7000..=0x7fff_8000;
    if request.flags & MAP_FIXED != 0 && SHADOW_START.contains(&request.address) {
        thread.say("this program is built with AddressSanitizer, whose memory layout cannot be had here");
        end::by_exit(thread, 126);
    }
}

pub(super) fn munmap(thread: &mut Thread, call: &Call) -> Answer {
    let [start, len, ..] = call.args;
    let Some(end) = guest_range(start, len) else { return fail(libc::EINVAL) };
    let process = thread.process;
    let mut space = process.space.lock();
    let concerns = code_may_change(thread, &space, start, end);
    // SAFETY: the range is the guest's.
    let result = unsafe { sys::syscall(libc::SYS_munmap as u64, [start, len, 0, 0, 0, 0]) };
    if result == 0 {
        space.remove(start, end);
        drop(space);
        if concerns {
            changed(thread, start, end);
        }
        thread.unmapped(start, end - start);
    }
    Answer::Value(result)
}

/// The end of the guest's range `start..start + len`, if that is what it is.
fn guest_range(start: u64, len: u64) -> Option<u64> {
    let len = page_ceil(len);
    let end = start.checked_add(len)?;
    (start.is_multiple_of(PAGE) && len != 0 && end <= GUEST_END && !arena::overlaps(start, end))
        .then_some(end)
}

pub(super) fn mprotect(thread: &mut Thread, call: &Call) -> Answer {
    let [start, len, prot, ..] = call.args;
    if len == 0 {
        return pass(thread, call);
    }
    let Some(end) = guest_range(start, len) else {
        return fail(if start.is_multiple_of(PAGE) { libc::ENOMEM } else { libc::EINVAL });
    };
    let process = thread.process;
    let mut space = process.space.lock();
    let concerns = process.changes.concerns(start, end);
    let mut changed_call = *call;
    // Stacks do not grow into what lies below them here, and so neither does the protection.
    changed_call.args[2] = prot & !(libc::PROT_GROWSDOWN as u64);
    let mut words = [0; 6];
    words.copy_from_slice(&changed_call.args);
    // SAFETY: the range is the guest's.
    let result = unsafe { sys::syscall(call.number, words) };
    // A failure in the middle leaves what lies before it changed: the book follows page by page only on success,
    // and keeps the more permissive view otherwise.
    if result == 0 {
        space.protect(start, end, prot as i32 & 7);
    }
    drop(space);
    if concerns {
        changed(thread, start, end);
    }
    Answer::Value(result)
}

pub(super) fn brk(thread: &mut Thread, call: &Call) -> Answer {
    let wanted = call.args[0];
    let process = thread.process;
    let mut heap = process.heap.lock();
    if !(heap.start..=heap.limit).contains(&wanted) {
        return Answer::Value(heap.end);
    }
    let (old, new) = (page_ceil(heap.end), page_ceil(wanted));
    let mut space = process.space.lock();
    if new > old {
        let region = Region {
            prot: libc::PROT_READ | libc::PROT_WRITE,
            shared: false,
            file: false,
            grows_down: false,
        };
        if !space.is_free(old, new) || sys::map_at(old, new - old, region.prot).is_err() {
            return Answer::Value(heap.end);
        }
        space.insert(old, new, region);
    } else if new < old {
        // SAFETY: the range is the guest's heap.
        unsafe { sys::syscall(libc::SYS_munmap as u64, [new, old - new, 0, 0, 0, 0]) };
        space.remove(new, old);
        drop(space);
        thread.unmapped(new, old - new);
    }
    heap.end = wanted;
    Answer::Value(wanted)
}

pub(super) fn mremap(thread: &mut Thread, call: &Call) -> Answer {
    let [old, old_len, new_len, flags, new, _] = call.args;
    let (old_len, new_len) = (page_ceil(old_len), page_ceil(new_len));
    const FIXED: u64 = libc::MREMAP_FIXED as u64;
    const MAY_MOVE: u64 = libc::MREMAP_MAYMOVE as u64;
    const DONT_UNMAP: u64 = libc::MREMAP_DONTUNMAP as u64;
    let malformed = !old.is_multiple_of(PAGE)
        || new_len == 0
        || flags & !(FIXED | MAY_MOVE | DONT_UNMAP) != 0
        || flags & (FIXED | DONT_UNMAP) != 0 && flags & MAY_MOVE == 0
        || flags & DONT_UNMAP != 0 && old_len != new_len;
    if malformed {
        return fail(libc::EINVAL);
    }
    let process = thread.process;
    let mut space = process.space.lock();
    let whole = old.checked_add(old_len.max(1)).filter(|&end| end <= GUEST_END && !arena::overlaps(old, end));
    let (Some(_), Some((_, _, region))) = (whole, space.find(old)) else { return fail(libc::EFAULT) };
    let target = if flags & FIXED != 0 {
        let Some(end) = guest_range(new, new_len) else { return fail(libc::EINVAL) };
        let _ = end;
        Some(new)
    } else if flags & DONT_UNMAP == 0 && (new_len <= old_len || space.is_free(old + old_len, old + new_len)) {
        None
    } else if flags & MAY_MOVE == 0 {
        return fail(libc::ENOMEM);
    } else {
        let purpose = if region.executable() { Purpose::Code } else { Purpose::Data };
        match space.pick(new_len, purpose) {
            Some(at) => Some(at),
            None => return fail(libc::ENOMEM),
        }
    };
    let (kernel_flags, kernel_new) = match target {
        Some(at) => (flags | FIXED | MAY_MOVE, at),
        None => (flags & !MAY_MOVE, 0),
    };
    let end = (old + old_len).max(old + PAGE);
    let concerns = code_may_change(thread, &space, old, end)
        || target.is_some_and(|at| code_may_change(thread, &space, at, at + new_len));
    // SAFETY: both ranges are the guest's or free.
    let result = unsafe {
        sys::syscall(libc::SYS_mremap as u64, [old, old_len, new_len, kernel_flags, kernel_new, 0])
    };
    if sys::error_of(result).is_some() {
        return Answer::Value(result);
    }
    if flags & DONT_UNMAP == 0 {
        space.remove(old, old + old_len);
    }
    space.insert(result, result + new_len, region);
    drop(space);
    if concerns {
        changed(thread, old, end);
        changed(thread, result, result + new_len);
    }
    thread.moved(old, old_len, result, new_len);
    Answer::Value(result)
}

pub(super) fn madvise(thread: &mut Thread, call: &Call) -> Answer {
    let [start, len, advice, ..] = call.args;
    let discards = [libc::MADV_DONTNEED, libc::MADV_FREE, libc::MADV_REMOVE].contains(&(advice as i32));
    let answer = pass(thread, call);
    if discards
        && answer == Answer::Value(0)
        && let Some(end) = guest_range(start, len)
    {
        if thread.process.changes.concerns(start, end) {
            rewritten(thread, start, end);
        }
        let parts: Vec<_> = thread.process.space.lock().overlapping(start, end).collect();
        for (from, to, region) in parts {
            let (from, to) = (from.max(start), to.min(end));
            match region.shared {
                false => thread.unmapped(from, to - from),
                true if advice as i32 == libc::MADV_REMOVE => thread.kernel_wrote(from, to - from),
                // What others have too is still there.
                true => {}
            }
        }
    }
    answer
}

/// Locking everything would fill the mirror, which is as large as the address space: with one, it is refused as for want
/// of memory that may be locked. Single ranges can be locked.
pub(super) fn mlockall(thread: &mut Thread, call: &Call) -> Answer {
    if thread.process.has_mirror() { fail(libc::ENOMEM) } else { pass(thread, call) }
}

/// Writes another process's memory, or by the long way round one's own.
pub(super) fn process_vm_writev(thread: &mut Thread, call: &Call) -> Answer {
    let answer = pass(thread, call);
    if call.args[0] as u32 == std::process::id() {
        rewritten(thread, 0, GUEST_END);
    }
    answer
}

pub(super) fn shmat(thread: &mut Thread, call: &Call) -> Answer {
    let [id, address, flags, ..] = call.args;
    let Some(len) = segment_size(id) else { return pass(thread, call) };
    let process = thread.process;
    let mut space = process.space.lock();
    let rounded = if flags & libc::SHM_RND as u64 != 0 { address & !(PAGE - 1) } else { address };
    let at = match rounded {
        0 => space.pick(len, Purpose::Data),
        at => guest_range(at, len).map(|_| at),
    };
    let Some(at) = at else { return fail(libc::EINVAL) };
    // SAFETY: the kernel refuses to map over anything unless SHM_REMAP says so, and then the range is the guest's.
    let result = unsafe { sys::syscall(libc::SYS_shmat as u64, [id, at, flags, 0, 0, 0]) };
    if sys::error_of(result).is_none() {
        let write = if flags & libc::SHM_RDONLY as u64 != 0 { 0 } else { libc::PROT_WRITE };
        let exec = if flags & libc::SHM_EXEC as u64 != 0 { libc::PROT_EXEC } else { 0 };
        let region =
            Region { prot: libc::PROT_READ | write | exec, shared: true, file: true, grows_down: false };
        space.insert(result, result + len, region);
        drop(space);
        if let Some(handed) = &thread.process.handed {
            handed.attached(id, (result, len));
        }
        thread.client().attaches(thread, (result, len));
    }
    Answer::Value(result)
}

fn segment_size(id: u64) -> Option<u64> {
    // SAFETY: zero bytes are a valid value of this C structure.
    let mut status: libc::shmid_ds = unsafe { std::mem::zeroed() };
    let args = [id, libc::IPC_STAT as u64, std::ptr::from_mut(&mut status) as u64, 0, 0, 0];
    // SAFETY: the kernel fills the structure.
    let result = unsafe { sys::syscall(libc::SYS_shmctl as u64, args) };
    (result == 0).then(|| page_ceil(status.shm_segsz as u64))
}

pub(super) fn shmdt(thread: &mut Thread, call: &Call) -> Answer {
    let start = call.args[0];
    let process = thread.process;
    let mut space = process.space.lock();
    let region = space.find(start);
    // SAFETY: detaches a segment the guest attached.
    let result = unsafe { sys::syscall(libc::SYS_shmdt as u64, [start, 0, 0, 0, 0, 0]) };
    if let (0, Some((_, end, _))) = (result, region) {
        space.remove(start, end);
        drop(space);
        changed(thread, start, end);
        thread.unmapped(start, end - start);
    }
    Answer::Value(result)
}

pub(super) fn remap_file_pages(thread: &mut Thread, call: &Call) -> Answer {
    let answer = pass(thread, call);
    if let Some(end) = guest_range(call.args[0], call.args[1])
        && thread.process.changes.concerns(call.args[0], end)
    {
        rewritten(thread, call.args[0], end);
    }
    answer
}

/// Makes pages that we write-protected writable again after a call failed on one; false if there were none.
pub(super) fn release_watched(thread: &mut Thread) -> bool {
    let process = thread.process;
    let released = process.changes.release_all(&process.space.lock());
    if released {
        process.threads.await_change(&thread.handle, &process.changes);
        thread.mailbox.request();
    }
    released
}

fn code_may_change(thread: &Thread, space: &Space, start: u64, end: u64) -> bool {
    space.overlapping(start, end).any(|(_, _, region)| region.executable())
        || thread.process.changes.concerns(start, end)
}

/// Makes every thread forget the code it made from the range, and waits until none can run it any more.
fn changed(thread: &mut Thread, start: u64, end: u64) {
    let process = thread.process;
    process.changes.record(start, end);
    process.threads.await_change(&thread.handle, &process.changes);
    thread.mailbox.request();
}

/// Makes every thread forget the code it made from the range, whose mappings are what they were.
pub(super) fn rewritten(thread: &mut Thread, start: u64, end: u64) {
    let process = thread.process;
    process.changes.rewritten(start, end);
    process.threads.await_change(&thread.handle, &process.changes);
    thread.mailbox.request();
}
