//! Instructions that run out of line: as they were lowered, how often they have run, and how they are watched.

use super::{Tool, taken};
use crate::engine::condition::consumed;
use crate::engine::process::Process;
use crate::x86::lower::{Lowerer, Lowering};
use crate::x86::mirror::{Watched, may_count, may_follow, may_scale};
use crate::x86::mode::Mode;
use crate::x86::rows;
use crate::x86::wholes::{self, Whole};
use hashbrown::HashMap;
use iced_x86::{Decoder, DecoderOptions, Instruction};
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::Watch;
use shadowgrind_core::site::Site;
use shadowgrind_core::step::{Predicate, Step, Sums};
use std::cell::Cell;
use std::rc::Rc;

pub(super) const LONGEST: usize = 15;

/// An instruction as it was lowered, and from which bytes.
pub(super) struct Entry {
    pub(super) bytes: [u8; LONGEST],
    pub(super) insn: Instruction,
    pub(super) lowering: Lowering,
    /// Purpose of it, if it is a sum.
    pub(super) sums: Sums,
    pub(super) site: Site,
    /// Number of times it has run.
    pub(super) runs: Cell<u32>,
    /// True if it may take the digits of a float for integers.
    pub(super) may_take: bool,
    /// True once the instruction has taken bits of a part of a double, for which the double is looked for.
    pub(super) takes_parts: Cell<bool>,
}

impl Entry {
    /// Tells whether it adds doubles by instructions for narrow lanes, which the code for those does not know.
    fn sums_doubles(&self) -> bool {
        let Lowering::Steps(lowered) = &self.lowering else { return false };
        lowered.lowered.whole == Some(Format::F64) && wholes::sums_narrow_lanes(&self.insn)
    }
}

/// Lowered instructions.
pub(super) struct OutOfLine {
    pub(super) lowerer: Lowerer,
    /// By address, x87 top, and the part of a float that they change.
    pub(super) entries: HashMap<(u64, u8, Option<Whole>), Rc<Entry>>,
    pub(super) pending: Option<Pending>,
    /// Kept from one instruction to the next.
    pub(super) record: Vec<u8>,
    /// Number of times in a row that a compare-and-exchange was refused for its shadow.
    pub(super) refused: u32,
    /// Number of executions that came because they are watched.
    pub(super) watched: u64,
    /// Number of times that code was made anew for what is watched, and the number of executions before that is done again.
    pub(super) changes: u64,
    pub(super) next_change: u64,
    /// True if one of those that are due has run often enough.
    pub(super) is_ripe: bool,
    /// Instructions, by their first and last byte, that are to be watched otherwise when code is made anew.
    pub(super) due: Vec<([u64; 2], Watched)>,
}

/// An instruction that is running out of line.
pub(super) struct Pending {
    pub(super) entry: Rc<Entry>,
    pub(super) mode: Mode,
    /// Physical x87 register on top.
    pub(super) top: u8,
    /// True if GS is the guest's meanwhile.
    pub(super) guest_gs: bool,
    /// True if it holds the tool's lock: no other thread's atomic instruction runs meanwhile.
    pub(super) locked: bool,
    /// rcx, rsi, rdi before a string instruction, or the image's address of one that saves state.
    pub(super) before: [u64; 3],
    /// A gap met a shadow, or an address was made of what has one.
    pub(super) met: bool,
    /// Floats with shadows that a gap reads.
    pub(super) reads: Vec<taken::Before>,
}

impl OutOfLine {
    /// For shadows that are kept beside an f16 too or, without `halves`, are not.
    pub(super) fn new(halves: bool) -> Self {
        OutOfLine {
            lowerer: Lowerer::new(halves),
            entries: HashMap::new(),
            pending: None,
            record: Vec::new(),
            refused: 0,
            watched: 0,
            changes: 0,
            next_change: 0,
            is_ripe: false,
            due: Vec::new(),
        }
    }

    /// The instruction at `pc` of which `bytes` were read; `sums`: what it is meant for, if it is a sum; `whole`: the part of
    /// a float that it changes.
    pub(super) fn entry(
        &mut self,
        process: &Process,
        pc: u64,
        bytes: [u8; LONGEST],
        top: u8,
        sums: Sums,
        whole: Option<Whole>,
    ) -> Option<Rc<Entry>> {
        if let Some(entry) = self.entries.get(&(pc, top, whole))
            && (entry.bytes, entry.sums) == (bytes, sums)
        {
            return Some(entry.clone());
        }
        let insn = Decoder::with_ip(64, &bytes, pc, DecoderOptions::NONE).decode();
        if insn.is_invalid() {
            return None;
        }
        let lowering = self.lowering(&insn, top, sums, whole);
        let entry = Rc::new(Entry {
            may_take: taken::may_take(&lowering),
            takes_parts: Cell::new(false),
            bytes,
            insn,
            lowering,
            sums,
            site: Tool::of(process).map_or(Site::NONE, |tool| tool.session.site(pc)),
            runs: Cell::new(0),
        });
        self.entries.insert((pc, top, whole), entry.clone());
        Some(entry)
    }

    /// Steps of the instruction, with what its sums and comparisons are meant for.
    fn lowering(&mut self, insn: &Instruction, top: u8, sums: Sums, whole: Option<Whole>) -> Lowering {
        let mut lowering = self.lowerer.lower(insn, top, whole);
        if let Lowering::Steps(lowered) = &mut lowering {
            lowered.lowered.sums = sums;
            lowered.lowered.steps.retain_mut(|step| match step {
                Step::Compare { predicate, .. } => {
                    *predicate = consumed(*predicate, insn.ip());
                    true
                }
                Step::Equal { .. } => consumed(Predicate::ORDER, insn.ip()).asks_for_equality(),
                _ => true,
            });
        }
        lowering
    }
}

/// Executions that a thread watches in all before each operation is watched [`FEW`] times only: some two microseconds each.
const PLENTY: u64 = 1 << 16;
const FEW: u32 = 8;
/// Executions that are watched once more of an operation that errs for the first time later.
const AGAIN: u32 = 16;
/// Number of runs of an operation that is to be watched no longer.
const DUE: u32 = 1 << 30;
/// Executions between two times that code is made anew, for each time before: that costs more than an execution does, and
/// a program with many operations would have it for each of them.
const APART: u64 = 64;

/// Runs after which longer code is worth it.
pub(super) const OFTEN: u32 = 32;
/// Runs after which it is where parts of doubles are taken: to look for a double takes a microsecond, and code cannot.
const OFTEN_TAKEN: u32 = 4096;

/// Tells whether the instruction is worth longer code than it has, for the first time: of vectors, with shadows of some
/// `in_registers`; of general registers, where derivatives are `in_place`.
pub(super) fn runs_often(entry: &Entry, in_registers: bool, in_place: bool) -> bool {
    let has_code = in_registers && may_scale(&entry.insn) && !entry.sums_doubles()
        || in_place && (may_follow(&entry.insn) || may_count(&entry.insn));
    let often = if entry.takes_parts.get() { OFTEN_TAKEN } else { OFTEN };
    has_code && runs_again(entry) == often
}

/// Counts a run of the instruction.
pub(super) fn runs_again(entry: &Entry) -> u32 {
    let runs = entry.runs.get().saturating_add(1);
    entry.runs.set(runs);
    runs
}

impl OutOfLine {
    /// Has the operation at `pc` watched from now on for [some](AGAIN) executions: its first and last byte. Nothing if this thread
    /// has not watched it before, or watches it still.
    pub(super) fn watch_again(&mut self, pc: u64, watch: Watch) -> Option<[u64; 2]> {
        const TOPS: u8 = 8;
        let known: Vec<&Rc<Entry>> = (0..TOPS).filter_map(|top| self.entries.get(&(pc, top, None))).collect();
        let again = watch.first.saturating_sub(AGAIN);
        if known.iter().any(|entry| entry.runs.get() < again) {
            return None;
        }
        known.iter().for_each(|entry| entry.runs.set(again));
        known.first().map(|entry| [pc, entry.insn.next_ip() - 1])
    }

    /// The operations that are watched in another way from now on, now that the one at `place` runs. All that have run almost
    /// as often as they should change together, when the first of them has: code is made anew once for a loop, and not for
    /// each of its operations.
    pub(super) fn watched_from_now(
        &mut self,
        entry: &Entry,
        place: [u64; 2],
        tool: &Tool,
    ) -> Vec<([u64; 2], Watched)> {
        let watch = tool.policy().watch;
        let Some(watch) = watch.filter(|_| rows::row(&entry.insn).is_watched(tool.records_comparisons()))
        else {
            return Vec::new();
        };
        self.watched += 1;
        let (runs, all) = (runs_again(entry), watch.first + watch.suspicious);
        let is_brief = self.watched > PLENTY;
        if is_brief && (FEW..DUE).contains(&(runs + 1)) {
            self.due.push((place, Watched::Never));
            entry.runs.set(DUE);
        } else if runs + 1 == watch.first {
            self.due.push((place, Watched::Suspicious));
        } else if runs + 1 == all {
            self.due.push((place, Watched::Never));
        }
        self.is_ripe |= runs == watch.first || runs == all || is_brief;
        if !self.is_ripe || self.watched < self.next_change {
            return Vec::new();
        }
        self.is_ripe = false;
        self.changes += 1;
        self.next_change = self.watched + APART * self.changes;
        std::mem::take(&mut self.due)
    }
}
