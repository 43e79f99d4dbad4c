//! A running thread assigns a local variable that a SPEC names.

use super::super::calls::{Calls, Then};
use super::super::observer::Observer;
use super::super::places::Place;
use super::super::state::State;
use super::super::tail_calls::decode;
use super::AwaitedAssignment;
use super::flow::{self, By};
use crate::hooks::abi::{self, Float};
use crate::hooks::machine::Machine;
use iced_x86::{FlowControl, Instruction, Register};
use shadowgrind_core::shadow::Location;
use std::ops::Range;

/// Assignment at an address of this process.
#[derive(Clone, Debug)]
pub(in super::super) struct Watched {
    next: u64,
    other: Option<u64>,
    by: By,
    job: usize,
    before: Option<Place>,
}

/// An assignment that is under way.
#[derive(Debug)]
pub(crate) struct Assigning {
    /// Address of the instruction, of the next, and of the one that may be next otherwise.
    at: u64,
    next: u64,
    other: Option<u64>,
    job: usize,
    known: Known,
}

/// Facts about the floats before the assignment.
#[derive(Debug)]
enum Known {
    /// All are going to be assigned.
    All,
    /// Floats that are in this memory.
    Written(Vec<Range<u64>>),
    /// Floats that will not be what they were.
    Floats(Vec<Float>),
    /// Floats that differ from what the variable was, wherever that was.
    Elsewhere(Vec<Float>),
}

impl Assigning {
    /// Tells whether the thread, which is at `pc`, has done it: nothing if it has not come to a decision.
    pub(in super::super) fn is_done(&self, pc: u64) -> Option<bool> {
        if pc == self.next {
            return Some(true);
        }
        (self.other == Some(pc)).then_some(false)
    }
}

impl AwaitedAssignment {
    /// The addresses it is about where its file is moved by `bias`, and what is to be done at the first of them.
    pub(in super::super) fn watched(&self, bias: u64) -> (u64, Watched) {
        let moved = |address: u64| address.wrapping_add(bias);
        let assignment = &self.assignment;
        let (next, other) = (moved(assignment.next), assignment.other.map(moved));
        let (by, job, before) = (assignment.by, self.job, self.before.clone());
        (moved(assignment.at), Watched { next, other, by, job, before })
    }
}

impl Watched {
    /// Addresses at which the thread may be next.
    pub(in super::super) fn next(&self) -> impl Iterator<Item = u64> + use<> {
        [self.next].into_iter().chain(self.other)
    }
}

impl State {
    /// A thread is about to execute the instruction at `pc`: begins the assignments that it may be.
    pub(in super::super) fn begin_assignments(&mut self, pc: u64, calls: &mut Calls, m: &dyn Machine) {
        let Some(watched) = self.assigned.get(&pc) else { return };
        let Some(instruction) = decode(m, pc) else { return };
        let is_call = matches!(instruction.flow_control(), FlowControl::Call | FlowControl::IndirectCall);
        for Watched { next, other, by, job, before } in watched {
            let floats = |place: &Place| place.floats(m, &self.loaded, &[]).unwrap_or_default();
            let own = &self.jobs.all[*job].place;
            let known = match (by, before) {
                (By::Itself, _) => Known::All,
                (By::Store, _) => match written(&instruction, m) {
                    Some(ranges) => Known::Written(ranges),
                    None => Known::Floats(floats(own)),
                },
                (By::Way, Some(before)) => Known::Elsewhere(floats(before)),
                (By::Others | By::Way, _) => Known::Floats(floats(own)),
            };
            let assigning = Assigning { at: pc, next: *next, other: *other, job: *job, known };
            if is_call {
                calls.push(*next, m.general(abi::RSP), Then::Assigned(Box::new(assigning)));
            } else {
                calls.assign(assigning);
            }
        }
    }

    /// A thread has made the assignment.
    pub(in super::super) fn end_assignment(
        &mut self,
        assigning: &Assigning,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let job = &mut self.jobs.all[assigning.job];
        // A pointer may not have been set yet.
        let Ok(floats) = job.place.floats(m, &self.loaded, &[]) else { return };
        let floats = assigning.known.assigned(floats);
        if floats.is_empty() {
            return;
        }
        let time = job.met;
        job.met += 1;
        let site = self.report.sites.at(assigning.at);
        self.deal(assigning.job, floats, (time, site), observer, m);
    }
}

impl Known {
    /// Floats among `floats` that have been assigned.
    fn assigned(&self, mut floats: Vec<Float>) -> Vec<Float> {
        match self {
            Known::All => {}
            Known::Written(ranges) => floats.retain(|float| ranges.iter().any(|range| is_in(float, range))),
            Known::Floats(before) => floats.retain(|float| {
                let same = |old: &&Float| old.location == float.location;
                before.iter().find(same).is_some_and(|old| old.bits != float.bits)
            }),
            Known::Elsewhere(before) if before.len() == floats.len() => {
                let mut before = before.iter();
                floats.retain(|float| before.next().is_none_or(|old| old.bits != float.bits));
            }
            Known::Elsewhere(_) => {}
        }
        floats
    }
}

fn is_in(float: &Float, range: &Range<u64>) -> bool {
    let Location::Memory(address) = float.location else { return false };
    address < range.end && range.start < address + float.format.bytes() as u64
}

/// The memory that the instruction writes.
fn written(instruction: &Instruction, m: &dyn Machine) -> Option<Vec<Range<u64>>> {
    flow::written(instruction, |register| match register {
        Register::FS => Some(m.thread_pointer()),
        Register::ES | Register::CS | Register::SS | Register::DS => Some(0),
        _ if register.is_gpr() => {
            let value = m.general(register.number());
            let unused = 64 - 8 * register.size() as u32;
            Some(value << unused >> unused)
        }
        _ => None,
    })
}
