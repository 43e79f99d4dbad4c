//! `mmap`: where the guest's mappings go, and what becomes of them.

use super::{changed, code_may_change};
use crate::engine::layout::{ENGINE_END, GUEST_END, page_ceil};
use crate::engine::space::{Purpose, Region, Space};
use crate::engine::syscalls::call::{Answer, Call, fail, pass};
use crate::engine::thread::Thread;
use crate::engine::{arena, descriptors, end, guest, shared_planes, sys};

const MAP_32BIT: u64 = libc::MAP_32BIT as u64;
const MAP_FIXED: u64 = libc::MAP_FIXED as u64;
const MAP_FIXED_NOREPLACE: u64 = libc::MAP_FIXED_NOREPLACE as u64;
const MAP_GROWSDOWN: u64 = libc::MAP_GROWSDOWN as u64;

/// Arguments of the call, the length in whole pages.
struct Mmap {
    address: u64,
    len: u64,
    prot: i32,
    flags: u64,
    fd: u64,
    offset: u64,
}

impl Mmap {
    /// Tells whether the mapping is wanted at its address and nowhere else.
    fn is_fixed(&self) -> bool {
        self.flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0
    }

    fn is_anonymous(&self) -> bool {
        self.flags & libc::MAP_ANONYMOUS as u64 != 0
    }

    fn is_private(&self) -> bool {
        self.flags & libc::MAP_TYPE as u64 == libc::MAP_PRIVATE as u64
    }

    /// Row of the mapping in the book of mappings.
    fn region(&self) -> Region {
        Region {
            prot: self.prot & 7,
            shared: !self.is_private(),
            file: !self.is_anonymous(),
            grows_down: self.flags & MAP_GROWSDOWN != 0,
        }
    }
}

pub(in crate::engine::syscalls) fn mmap(thread: &mut Thread, call: &Call) -> Answer {
    let [address, len, prot, flags, fd, offset] = call.args;
    let request = Mmap { address, len: page_ceil(len), prot: prot as i32, flags, fd, offset };
    if request.len == 0 {
        // Nothing, or more than there are addresses: the kernel knows which of several errors it is.
        return pass(thread, call);
    }
    let process = thread.process;
    let mut space = process.space.lock();
    // What the guest takes of the engine's gigabyte the engine does not take at the same time.
    let engine_waits = (address < ENGINE_END).then(arena::pause);
    let spares = engine_waits.as_ref().is_none_or(|engine| leaves_enough(engine, &request, &space));
    let place = match request.is_fixed() {
        true => fixed(&request, &space, spares),
        false => open(thread, &request, &mut space, spares),
    };
    let at = match place {
        Ok(at) => at,
        Err(errno) => {
            refuse_sanitizer(thread, &request);
            return fail(errno);
        }
    };
    let replaces = flags & MAP_FIXED != 0 && code_may_change(thread, &space, at, at + request.len);
    let region = request.region();
    let (at, len) = match map_or_move(&request, at, &mut space) {
        Ok(range) => range,
        Err(errno) => return fail(errno),
    };
    space.insert(at, at + len, region);
    changed(thread, (space, replaces), &[(at, at + len)]);
    thread.unmapped(at, len);
    tell(thread, &request, region, (at, len));
    Answer::Value(at)
}

/// Tells all who follow what is in memory of the new mapping, `len` bytes at `at`.
fn tell(thread: &mut Thread, request: &Mmap, region: Region, (at, len): (u64, u64)) {
    if region.file && region.executable() {
        thread.mapped_file(request.fd, request.offset, at, at + len);
    }
    if region.file && !region.executable() {
        note_text(thread, request, (at, len));
    }
    if region.shared {
        let descriptor = region.file.then_some(request.fd);
        thread.client().shares(thread, descriptor, (at, len));
    }
    let Some(handed) = &thread.process.handed else { return };
    match (region.file, region.shared) {
        (true, shared) => {
            let site = (shared && handed.is_on()).then(|| thread.client().address_of_call(thread));
            let floats = handed.mapped(request.fd, request.offset, (at, len), site);
            let pc = thread.pc.wrapping_sub(sys::SYSCALL_BYTES);
            thread.client().fetched(thread, pc, (libc::SYS_mmap as u64, "mmap"), floats);
        }
        (false, true) if handed.is_on() => shared_planes::share_fresh(at, len),
        (false, _) => {}
    }
}

/// Tells the session, if it wants to know what is read, of a file that is mapped, `len` bytes at `at`. One that begins with zeros is
/// no text.
fn note_text(thread: &mut Thread, request: &Mmap, (at, len): (u64, u64)) {
    const BEGINNING: u64 = 1 << 12;
    if !thread.process.services.reads {
        return;
    }
    let descriptor = request.fd as i32;
    let path = descriptors::path_of(descriptor);
    let found = std::fs::metadata(format!("/proc/self/fd/{descriptor}")).ok();
    let size = found.filter(std::fs::Metadata::is_file).map_or(0, |found| found.len());
    let length = len.min(size.saturating_sub(request.offset));
    let mut beginning = vec![0; length.min(BEGINNING) as usize];
    let known = guest::read_some(at, &mut beginning);
    if path.starts_with('/') && known > 0 && !beginning[..known].contains(&0) {
        let path = Some(&*path).filter(|_| descriptor != libc::STDIN_FILENO);
        thread.client().read(thread, path, Some(request.offset as usize), &[(at, length)]);
    }
}

/// Tells whether the engine has enough left of its gigabyte for more threads and code if the request is granted where it would like to be:
/// virtual machines reserve large spaces at low addresses of their choice, and try another where one is taken.
fn leaves_enough(engine: &arena::Paused, request: &Mmap, space: &Space) -> bool {
    const ENOUGH: u64 = 256 << 20;
    let rest = engine.rest();
    let (start, end) = (request.address.max(rest.start), request.address.saturating_add(request.len));
    let taken = end.min(rest.end).saturating_sub(start);
    let lent: u64 = space.overlapping(rest.start, rest.end).map(|(start, end, _)| end - start).sum();
    taken == 0 || rest.end - rest.start >= lent + taken + ENOUGH
}

/// The address a fixed request gets, or an errno. The engine `spares` it, or needs it itself unless the request insists.
fn fixed(request: &Mmap, space: &Space, spares: bool) -> Result<u64, i32> {
    let end = request.address.checked_add(request.len).filter(|&end| end <= GUEST_END);
    let Some(end) = end else { return Err(libc::ENOMEM) };
    let noreplace = request.flags & MAP_FIXED_NOREPLACE != 0;
    if arena::overlaps(request.address, end) {
        return Err(if noreplace { libc::EEXIST } else { libc::ENOMEM });
    }
    if noreplace && (!spares || space.overlapping(request.address, end).next().is_some()) {
        return Err(libc::EEXIST);
    }
    Ok(request.address)
}

/// The address for a request that leaves it open: the hint if it is free and the engine `spares` it, else by what the mapping will
/// hold.
fn open(thread: &Thread, request: &Mmap, space: &mut Space, spares: bool) -> Result<u64, i32> {
    const LOWEST_HINT: u64 = 0x1_0000;
    const MAP_32BIT_END: u64 = 1 << 31;
    let hint = page_ceil(request.address);
    let low = request.flags & MAP_32BIT != 0;
    let highest = if low { MAP_32BIT_END } else { GUEST_END };
    if hint >= LOWEST_HINT
        && spares
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
    // SAFETY: the kernel writes the structure whose address it gets.
    if request.is_anonymous() || unsafe { sys::syscall(libc::SYS_fstat as u64, args) } != 0 {
        return None;
    }
    // SAFETY: fstat succeeded and has filled it.
    let block = unsafe { stat.assume_init() }.st_blksize as u64;
    (block >= DEFAULT && block.is_power_of_two()).then_some(block)
}

/// Tells whether code may end up in the mapping. ld.so's first mapping of a library need not be executable: it reserves
/// the whole span, from the file or, for segments aligned beyond a page, anonymously and without access.
fn may_hold_code(thread: &Thread, request: &Mmap) -> bool {
    let (anonymous, private) = (request.is_anonymous(), request.is_private());
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

/// Maps what is asked for at `at`, or elsewhere if the kernel calls that invalid and the guest has left the address open: address
/// and length of the mapping, or an errno.
fn map_or_move(request: &Mmap, at: u64, space: &mut Space) -> Result<(u64, u64), i32> {
    let mut len = request.len;
    let mut mapped = map(request, at, len);
    if mapped == Err(libc::EINVAL)
        && !request.is_fixed()
        && let Some(page) = huge_page(request)
        && let Some(free) = space.pick(len.saturating_add(2 * page), Purpose::Data)
    {
        len = len.next_multiple_of(page);
        mapped = map(request, free.next_multiple_of(page), len);
    }
    if mapped == Err(libc::EINVAL)
        && request.address == 0
        && let Some(chosen) = map_where_the_kernel_likes(request, len)
    {
        mapped = Ok(chosen);
    }
    mapped.map(|at| (at, len))
}

/// Maps `len` bytes at `at`: the address, or an errno.
fn map(request: &Mmap, at: u64, len: u64) -> Result<u64, i32> {
    // The kernel would look for 31-bit addresses again, and grow mappings into whatever lies below.
    let flags = request.flags & !(MAP_32BIT | MAP_FIXED_NOREPLACE | MAP_GROWSDOWN) | MAP_FIXED;
    let args = [at, len, request.prot as u64, flags, request.fd, request.offset];
    // SAFETY: the range was checked to be the guest's own or free.
    sys::check(unsafe { sys::syscall(libc::SYS_mmap as u64, args) })
}

/// Maps what nobody but the kernel may choose an address for, such as the rings of io_uring, where the kernel looks for 31-bit
/// addresses: in the engine's gigabyte, below the guest's end.
fn map_where_the_kernel_likes(request: &Mmap, len: u64) -> Option<u64> {
    let flags = request.flags | MAP_32BIT;
    let args = [0, len, request.prot as u64, flags, request.fd, request.offset];
    // SAFETY: without MAP_FIXED the kernel picks unused addresses.
    let at = sys::check(unsafe { sys::syscall(libc::SYS_mmap as u64, args) }).ok()?;
    if at + len <= GUEST_END {
        return Some(at);
    }
    // SAFETY: this has just been mapped, and nobody uses it.
    unsafe { sys::syscall(libc::SYS_munmap as u64, [at, len, 0, 0, 0, 0]) };
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
