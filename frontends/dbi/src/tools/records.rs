//! Records of translated code, replayed on the reals: many at a time, in the order they were made.

use super::reals::Reals;
use super::{Tool, sweep};
use crate::engine::arena;
use crate::engine::thread::Thread;
use crate::x86::mirror::record::{
    BUFFER, FRESH_32, FRESH_64, ID, LANES, OPERANDS, RESULT, Recorded, STRIDE, TICKETS, What,
};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::MAX_OPERANDS;
use shadowgrind_core::shadow::{Lane, Seen, Shadow};
use shadowgrind_core::site::Site;
use shadowgrind_shadows::mpfr::Value;

/// One record, as translated code leaves it.
type Record = [u8; STRIDE as usize];

/// Maps a buffer and fills in the tickets that results will get. Nothing where there is no memory.
pub(super) fn new_buffer(tool: &Tool) -> Option<u64> {
    let at = arena::take(2 * BUFFER, libc::PROT_READ | libc::PROT_WRITE).ok()?;
    let start = at.next_multiple_of(BUFFER);
    let mut reals = tool.reals.lock();
    for at in (start..start + BUFFER).step_by(STRIDE as usize) {
        // SAFETY: the memory was just mapped, is zeroed and belongs to nobody else.
        let record = unsafe { &mut *(at as *mut Record) };
        for lane in 0..LANES / 4 {
            refresh(&mut reals, record, Format::F32, lane as usize);
        }
        for lane in 0..LANES / 8 {
            refresh(&mut reals, record, Format::F64, lane as usize);
        }
    }
    Some(start)
}

/// Where the ticket for lane `lane` of a result is.
fn fresh(format: Format, lane: usize) -> std::ops::Range<usize> {
    let (first, bytes) = if format == Format::F32 { (FRESH_32, 4) } else { (FRESH_64, 8) };
    let at = first as usize + lane * bytes;
    at..at + bytes
}

/// Puts a new ticket where one was used.
fn refresh(reals: &mut Reals, record: &mut Record, format: Format, lane: usize) {
    let ticket = reals.slots.reserve(1).to_le_bytes();
    let range = fresh(format, lane);
    let bytes = range.len();
    record[range].copy_from_slice(&ticket[..bytes]);
}

/// Replays the thread's records and empties the buffer.
pub(super) fn replay(thread: &mut Thread) {
    let Some(tool) = thread.process.tool.as_ref() else { return };
    let Some(shadowed) = thread.shadowed.as_deref_mut() else { return };
    let Some(mirror) = thread.translator.mirror() else { return };
    let end = if thread.context.record > shadowed.buffer { thread.context.record } else { return };
    for at in (shadowed.buffer..end).step_by(STRIDE as usize) {
        // SAFETY: the buffer is this thread's own, and translated code does not run now.
        let record = unsafe { &mut *(at as *mut Record) };
        let id = number(&record[ID as usize..], 4) as u32;
        let recorded = mirror.recorded(id);
        if shadowed.sites.len() <= id as usize {
            shadowed.sites.resize(id as usize + 1, None);
        }
        let site = *shadowed.sites[id as usize].get_or_insert_with(|| tool.session.site(recorded.pc));
        let mut reals = tool.reals.lock();
        for lane in 0..usize::from(recorded.lanes) {
            replay_lane(&mut reals, record, &recorded, site, lane);
        }
    }
    thread.context.record = shadowed.buffer;
    if tool.reals.lock().slots.wants_sweep() {
        sweep::sweep(thread);
    }
}

/// The little-endian number in the first four or eight bytes.
fn number(bytes: &[u8], count: usize) -> u64 {
    match (count, bytes.first_chunk::<4>(), bytes.first_chunk::<8>()) {
        (8, _, Some(&eight)) => u64::from_le_bytes(eight),
        (_, Some(&four), _) => u64::from(u32::from_le_bytes(four)),
        _ => 0,
    }
}

fn replay_lane(reals: &mut Reals, record: &mut Record, recorded: &Recorded, site: Site, lane: usize) {
    let count = usize::from(recorded.operands);
    let width = recorded.from.bytes();
    let mut x = [0_u128; MAX_OPERANDS];
    let mut shadows: [Option<Value>; MAX_OPERANDS] = [const { None }; MAX_OPERANDS];
    for n in 0..count {
        let offset = n * LANES as usize + lane * width;
        x[n] = number(&record[OPERANDS as usize + offset..], width).into();
        let ticket = number(&record[TICKETS as usize + offset..], width);
        if ticket != 0 {
            shadows[n] = reals.slots.get(ticket, recorded.from, x[n]);
        }
    }
    let seen = |n: usize| Seen { format: recorded.from, bits: x[n], shadow: shadows[n].as_ref() };
    let result = number(&record[RESULT as usize + lane * recorded.to.bytes()..], recorded.to.bytes());
    let made = match recorded.what {
        What::Compare(predicate) => return reals.shadow.compare(site, predicate, [seen(0), seen(1)]),
        What::Integer(how) => return reals.shadow.to_integer(site, how, seen(0)),
        What::Widen => shadows[0].take(),
        What::Op(op) => reals.shadow.op(&Lane {
            site,
            op,
            from: recorded.from,
            to: recorded.to,
            x: &x[..count],
            r: result.into(),
            shadows: &shadows[..count],
        }),
    };
    let range = fresh(recorded.to, lane);
    let ticket = number(&record[range.clone()], range.len());
    // A ticket is used up even by an exact result: beside another float it would stand for that.
    reals.slots.assign(ticket, recorded.to, result.into(), made);
    refresh(reals, record, recorded.to, lane);
}
