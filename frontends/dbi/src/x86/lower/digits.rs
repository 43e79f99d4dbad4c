//! Integers made of a float's bits such that nothing of it is left: what is read and written, lane by lane.
//!
//! Does not know what the instructions compute: within sixteen bytes all of a result may come of all that is read.

use super::build::{Build, register_place, written};
use crate::x86::access::{is_in_address, is_operand, is_read, is_write};
use shadowgrind_core::step::{Place, Step};

/// Bytes of a vector register among which instructions make lanes of others.
const LANE: u16 = 16;
/// Bytes of the widest float there.
const WIDE: u16 = 8;

/// Has all that the instruction writes come of all that it reads. Its memory operands are named.
pub(super) fn digits(build: &mut Build<'_>) {
    let is_address = |register| is_in_address(build.insn, register) && !is_operand(build.insn, register);
    let registers = build.info.used_registers().iter();
    let registers = registers.filter(|used| is_read(used.access()) && !is_address(used.register()));
    let mut read: Vec<(Place, u16)> = registers.filter_map(|used| register_place(used.register())).collect();
    let mut write: Vec<(Place, u16)> = written(build.info).collect();
    for operand in (0..build.insn.op_count()).filter(|&operand| build.is_memory(operand)) {
        let Ok(place) = build.place(operand) else { continue };
        let (access, bytes) = (build.info.op_access(operand), build.insn.memory_size().size() as u16);
        read.extend(is_read(access).then_some((place, bytes)));
        write.extend(is_write(access).then_some((place, bytes)));
    }
    let all = || read.iter().chain(&write);
    let widest = all().map(|&(_, bytes)| bytes).max().unwrap_or(0);
    // Where lanes are narrowed, those of a result come of other lanes.
    let is_even = widest > LANE && all().all(|&(_, bytes)| bytes == widest);
    let lane = if is_even { LANE } else { widest };
    for at in (0..widest).step_by(usize::from(lane.max(1))) {
        let x = pieces(&read, at, lane).map(|(place, bytes)| (build.before(place, bytes), bytes)).collect();
        let to = pieces(&write, at, lane).collect();
        build.step(Step::Digits { x, to });
    }
}

/// Parts of the places, each as wide as a float, in the `lane` bytes from byte `at` of each on.
fn pieces(places: &[(Place, u16)], at: u16, lane: u16) -> impl Iterator<Item = (Place, u16)> {
    places.iter().flat_map(move |&(place, bytes)| {
        let end = bytes.min(at + lane);
        (at..end).step_by(usize::from(WIDE)).map(move |at| (place.plus(at), WIDE.min(end - at)))
    })
}
