//! Floats that leave the program in binary form: memory that system calls hand out. One output per place and caller.
//!
//! A shadow that knows its floats says at once which these are. Where cells are derivatives in place, all that has left at a place
//! tells in the end, or nothing does.

mod readings;
mod told;

use super::calls::Calls;
use super::observer::Observer;
use super::state::{Session, State};
use super::tree::{self, Tree};
use crate::hooks::abi::Float;
use crate::hooks::machine::{Machine, read_u64};
use readings::Readings;
use shadowgrind_core::findings::{Gap, Label, Output, OutputKind, OutputShadow, Value, Written};
use shadowgrind_core::site::Site;
use std::ops::Range;
use std::path::Path;

/// Floats are looked for at addresses divisible by this.
const ALIGNMENT: u64 = 4;

/// Numbers of system calls among those of instructions: beyond those in the decoder.
const SYSTEM_CALLS: usize = 1 << 16;

/// Badness of the statement about a float: more in the order of tuples.
pub(super) type Badness = (u8, f64);

/// Place where floats leave, and its caller, if that is known.
pub(super) type Place = (Site, Option<Site>);

impl Session {
    /// The system call at `pc` has handed out this memory, some of which carries shadows. Tells whether a float was found in it.
    pub(crate) fn sent(
        &self,
        pc: u64,
        memory: Range<u64>,
        calls: &mut Calls,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) -> bool {
        if calls.is_disabled() {
            return false;
        }
        let mut state = self.state.lock();
        let (site, callers) = state.sender(pc, self.config.num_callers, m);
        let place = (site, callers.first().copied());
        let mut is_said = false;
        let mut address = memory.start.next_multiple_of(ALIGNMENT);
        while address + ALIGNMENT <= memory.end {
            let mut cell = [0; ALIGNMENT as usize];
            m.read_mirror(address, &mut cell);
            let is_shadowed = cell != [0; ALIGNMENT as usize];
            let sent = is_shadowed.then(|| state.sent_at(address, place, &callers, observer, m)).flatten();
            is_said |= sent.is_some();
            let bytes = sent.map_or(ALIGNMENT, |x| x.format.bytes() as u64);
            address += bytes.next_multiple_of(ALIGNMENT);
        }
        is_said
    }
}

/// Floats with derivatives that have left at one place, in whatever format.
#[derive(Debug)]
pub(super) struct Untold {
    place: Place,
    callers: Vec<Site>,
    readings: Readings,
}

impl Session {
    /// The system call at `pc` has handed out this memory, in some of which there are derivatives in place.
    pub(crate) fn sent_in_place(&self, pc: u64, memory: Range<u64>, calls: &Calls, m: &mut dyn Machine) {
        if calls.is_disabled() {
            return;
        }
        let mut state = self.state.lock();
        let (site, callers) = state.sender(pc, self.config.num_callers, m);
        let place = (site, callers.first().copied());
        let State { sent, untold, .. } = &mut *state;
        let number = *sent.entry(place).or_insert_with(|| {
            untold.push(Untold { place, callers, readings: Readings::default() });
            untold.len() - 1
        });
        untold[number].readings.add(m, memory);
    }
}

impl Session {
    /// The place that has the system call at `pc` made, as [`State::caller`] says; nothing while shadowing is switched off.
    pub(crate) fn caller(&self, pc: u64, calls: &Calls, m: &mut dyn Machine) -> Option<Site> {
        (!calls.is_disabled()).then(|| self.state.lock().caller(pc, m))
    }

    /// The system call at `site`, of this number and name, has taken so many floats with shadows where none is followed.
    pub(crate) fn left(&self, site: Site, (number, name): (u64, &str), floats: u64) {
        let mut state = self.state.lock();
        let of = (site, SYSTEM_CALLS + number as usize);
        state.gaps.entry(of).or_insert_with(|| (format!("{name} (system call)"), 0)).1 += floats;
    }
}

impl Session {
    /// Notes that this image executes a program, to which it leaves so many floats with shadows.
    pub(crate) fn leaves(&self, floats: u64, program: &Path) {
        if floats > 0 {
            tree::note_left(&*self.tree, floats, program);
        }
    }
}

impl State {
    /// Counts the floats that images of the tree have left to programs that they executed.
    pub(super) fn count_left(&mut self, tree: &dyn Tree) {
        let gap = |(program, count)| {
            let instruction = format!("execve of {program} (system call)");
            Gap { instruction, count, site: Site::NONE }
        };
        self.report.coverage.gaps.extend(tree::all_left(tree).into_iter().map(gap));
    }

    /// The site of a system call. The call of the C library's function, if that keeps no frame, says more than its own
    /// instruction.
    fn system_call(&mut self, pc: u64, m: &mut dyn Machine) -> Site {
        let caller = read_u64(m, m.general(crate::hooks::abi::RSP)).ok();
        match caller.filter(|&at| self.report.sites.locate(at).is_some()) {
            Some(at) => self.call_site(at, None, m),
            None => self.report.sites.at(pc),
        }
    }

    /// The place that has the system call at `pc` made: a line of a script, or code of the program's own.
    pub(super) fn caller(&mut self, pc: u64, m: &mut dyn Machine) -> Site {
        self.sender(pc, 1, m).0
    }

    /// The place that has floats leave by the system call at `pc`, and at most so many of its callers: a line of a script, or
    /// code of the program's own, behind what languages' libraries do for it.
    fn sender(&mut self, pc: u64, most: usize, m: &mut dyn Machine) -> (Site, Vec<Site>) {
        // Libraries call each other.
        const OF_LIBRARIES: usize = 16;
        let lines = self.python.map_or_else(Vec::new, |python| python.lines(m, most + 1));
        if !lines.is_empty() {
            let mut lines: Vec<Site> = lines.into_iter().map(|line| self.report.sites.script(line)).collect();
            return (lines.remove(0), lines);
        }
        let site = self.system_call(pc, m);
        let mut stack = self.native_stack(pc, most.max(1) + OF_LIBRARIES, false, m);
        let own = stack.iter().position(|&site| !self.is_library(site)).unwrap_or(0);
        stack.drain(..own);
        // A call by a function that keeps no frame is the first of the stack as well.
        let is_library = self.is_library(site) || stack.first() == Some(&site);
        let site = if is_library && !stack.is_empty() { stack.remove(0) } else { site };
        stack.truncate(most);
        (site, stack)
    }

    /// Tells whether a site is in a library that belongs to a language.
    pub(super) fn is_library(&self, site: Site) -> bool {
        let address = self.report.sites.address(site);
        address.and_then(|pc| self.file_at(pc)).is_some_and(|file| file.is_of_language())
    }

    /// Makes the float at `address`, which leaves at `place`, part of the output of that place; nothing if there is none with
    /// a shadow.
    fn sent_at(
        &mut self,
        address: u64,
        place: Place,
        callers: &[Site],
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) -> Option<Float> {
        let (site, _) = place;
        let known = self.sent.get(&place).copied();
        let index = known.map_or(self.report.outputs.len(), |known| self.report.written[known].output);
        let (x, said) = observer.sent(m, index, site, address)?;
        let (kind, label, value, position) = (OutputKind::Written, Label::NONE, x.value(), 0);
        let (badness, notation) = (said.badness(), None);
        let output = Output { kind, label, value, site, position, said: said.as_deref(), notation };
        match known {
            Some(known) => self.sent_again(known, badness, &output),
            None => self.sent_first(place, callers, badness, &output),
        }
        Some(x)
    }

    /// The first float leaves at a place.
    fn sent_first(&mut self, place: Place, callers: &[Site], badness: Badness, output: &Output<'_>) {
        let index = self.report.outputs.push(output);
        self.sent.insert(place, self.report.written.len());
        self.worst_sent.push(badness);
        let callers = callers.to_vec();
        let error_bits = badness.1;
        self.report.written.push(Written { output: index, callers, count: 1, error_bits, norm: None });
    }

    /// Makes outputs of what has left with derivatives in place, as far as it tells which floats it is.
    pub(super) fn tell_sent(&mut self) {
        for Untold { place: (site, _), callers, readings } in std::mem::take(&mut self.untold) {
            let Some(reading) = readings.told() else { continue };
            let Some((x, derivative)) = reading.largest else { continue };
            let (kind, label, value) = (OutputKind::Written, Label::NONE, x.value());
            let derivative = Value::new(x.format, &x.format.from_f64(derivative).to_le_bytes());
            let said = OutputShadow::of_derivative(derivative);
            let output = Output { kind, label, value, site, position: 0, said, notation: None };
            let (output, norm) = (self.report.outputs.push(&output), Some(reading.norm));
            let count = reading.count;
            self.report.written.push(Written { output, callers, count, error_bits: 0.0, norm });
        }
    }

    /// Makes shares in the errors of such outputs, which were added up float by float, means.
    pub(super) fn average_shares(&mut self) {
        let findings = &mut self.report.findings;
        for written in self.report.written.iter().filter(|written| written.count > 1) {
            findings.iter_mut().for_each(|finding| finding.shares.average(written.output, written.count));
        }
    }

    /// Another does, at the place of this number.
    fn sent_again(&mut self, place: usize, badness: Badness, output: &Output<'_>) {
        let written = &mut self.report.written[place];
        written.count += 1;
        written.error_bits += badness.1;
        if badness > self.worst_sent[place] {
            self.worst_sent[place] = badness;
            self.report.outputs.replace(written.output, output);
        }
    }
}
