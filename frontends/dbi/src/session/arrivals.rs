//! A thread arrives at a hooked address: a function begins there, or a call returns there.

use super::boxes::Boxing;
use super::call_sites::call_before;
use super::calls::{Call, Calls, Then};
use super::entered::{Entered, Frame};
use super::hidden;
use super::modules::Meaning;
use super::observer::{LibraryCall, Observer, SavedShadow};
use super::stack::Noted;
use super::state::{Hooked, Session, State};
use super::tail_calls;
use crate::context::{CallVector, FunctionCall};
use crate::hooks::machine::Machine;
use crate::hooks::{self, Made, Outcome, abi};
use crate::x86::function::{Function, Goes};
use shadowgrind_core::format::Format;
use shadowgrind_core::site::Site;

/// Outcome for a thread that arrived at a hooked address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Goes on.
    Go,
    /// Goes on, and this address is hooked from now on.
    Watch(u64),
    /// The function runs without shadows until it returns, which the engine then reports. What it leaves in registers and
    /// memory has no shadow but what the session sets then. [`Calls::wrapped`] is true meanwhile.
    Wrapped,
}

impl Session {
    /// A thread is about to execute the instruction at `pc`, which is hooked: because a function begins there, because
    /// a call returns there, or both.
    pub(crate) fn arrived(
        &self,
        pc: u64,
        calls: &mut Calls,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) -> Arrival {
        let mut here = Here { pc, calls, observer, m };
        let returned = self.returned(&mut here);
        let mut state = self.state.lock();
        let hooked = state.hooked.get(&pc).copied();
        if hooked.is_some() || state.named.contains_key(&pc) {
            return self.begun(&mut state, hooked, here).unwrap_or(returned);
        }
        if !here.calls.wrapped() {
            state.begin_assignments(pc, here.calls, here.m);
        }
        returned
    }

    /// Does what is to be done when the function at `here` begins, which is `hooked` or named by a SPEC; nothing if the
    /// thread just goes on.
    fn begun(&self, state: &mut State, hooked: Option<Hooked>, here: Here<'_>) -> Option<Arrival> {
        let Here { pc, calls, observer, m } = here;
        let top = m.general(abi::RSP);
        let (stack, at) = (top.wrapping_add(8), abi::return_address(m).ok()?);
        calls.settle(top, at);
        give_up(calls, observer, m);
        if calls.wrapped() {
            return None;
        }
        state.begin_assignments(pc, calls, m);
        match state.enter_all(hooked, &mut Frame { calls, observer, m, pc, at, stack }) {
            Entered::Go => None,
            Entered::Wrap => Some(Arrival::Wrapped),
            Entered::Watch => {
                if state.returns.insert(at) {
                    self.note(at);
                }
                Some(Arrival::Watch(at))
            }
        }
    }

    /// Does what calls were waited for that may have returned to where the thread is.
    fn returned(&self, here: &mut Here<'_>) -> Arrival {
        let stack = here.m.general(abi::RSP);
        let mut arrival = Arrival::Go;
        for assigning in here.calls.assigned(here.pc) {
            self.state.lock().end_assignment(&assigning, here.observer, here.m);
        }
        while let Some(then) = here.calls.returned(here.pc, stack) {
            if let Some(implementation) = self.end(then, here) {
                arrival = Arrival::Watch(implementation);
            }
        }
        give_up(here.calls, here.observer, here.m);
        arrival
    }

    /// Does what a call was waited for that has returned; the address of the function that it has resolved, if it has.
    fn end(&self, then: Then, here: &mut Here<'_>) -> Option<u64> {
        let mut state = self.state.lock();
        let Here { pc, observer, m, .. } = here;
        match then {
            Then::Formatted(floats) => hidden::reveal(&floats, *observer, *m),
            Then::Prints(_) | Then::Digits | Then::LeftOut(_) | Then::Data | Then::Parsed(None, _) => {}
            Then::Script(globals) => state.end_script(globals, *observer, *m),
            Then::Boxed(boxing) => state.boxed(&boxing, *m),
            Then::Parsed(Some(parsing), function) => state.end_parsing(&parsing, function, *observer, *m),
            Then::ReadBack(text) => state.end_reading_back(&text, *observer, *m),
            Then::ReadsInteger(reading) => state.end_integer(reading, *m),
            Then::Resolved(meaning) => return Some(self.resolved(&mut state, meaning, *m)),
            Then::Chosen(jobs) => return Some(self.chosen(&mut state, &jobs, *m)),
            Then::LibraryCall(call) => self.end_library_call(&mut state, call, here),
            Then::Assigned(assigning) => state.end_assignment(&assigning, *observer, *m),
            Then::Named(job, given) => {
                let site = state.call_site(*pc, None, *m);
                state.do_job(job, site, &given, *observer, *m);
            }
        }
        None
    }

    /// Hooks the function that an IFUNC's resolver has returned: its address.
    fn resolved(&self, state: &mut State, meaning: Meaning, m: &dyn Machine) -> u64 {
        let implementation = m.general(abi::RAX);
        state.hooked.insert(implementation, Hooked { meaning, is_resolver: false });
        self.note(implementation);
        implementation
    }

    /// Has these jobs done at the function that an IFUNC's resolver has returned: its address. A resolver may be asked several times.
    fn chosen(&self, state: &mut State, jobs: &[usize], m: &dyn Machine) -> u64 {
        let implementation = m.general(abi::RAX);
        let named = state.named.entry(implementation).or_default();
        let is_new = |job: &usize| !named.jobs.contains(job);
        let new: Vec<usize> = jobs.iter().copied().filter(is_new).collect();
        named.jobs.extend(new);
        self.note(implementation);
        implementation
    }

    /// Gives the results of a call taken as one operation their shadows, and notes its callers if it erred.
    fn end_library_call(&self, state: &mut State, call: Call, here: &mut Here<'_>) {
        end_operations(&call, here.observer, here.m);
        let policy = self.config.shadow.policy();
        if policy.decisions
            && call.math.simple().and_then(Function::rounds_by).is_some()
            && call.operands.have_shadows()
        {
            state.rounded(call.site).count += 1;
        }
        self.note_error(state, (call.site, here.pc), here.observer, here.m);
        here.observer.release(&call.operands.kept);
        here.calls.reuse(call.operands);
    }

    /// Notes the callers of the call at `site`, which has returned to `pc`, if it erred.
    fn note_error(
        &self,
        state: &mut State,
        (site, pc): (Site, u64),
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        if self.config.shadow.policy().watch.is_some() && observer.noted() == Some(site) {
            state.note_stack(site, pc, (Noted::Erred, self.config.num_callers), m);
        }
    }

    /// Gives the results of `call`, which has returned to `pc`, their shadows. Translated code has begun it: a call of a
    /// function of floats, one in each operand. Those that begin here end as [`Then::LibraryCall`].
    pub(crate) fn end_function(
        &self,
        pc: u64,
        function: Function,
        call: &FunctionCall,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let mut state = self.state.lock();
        let (site, format) = (state.call_site(pc, None, m), function.format);
        let float = |vector: CallVector| format.bits_of(&bytes_of(vector));
        let operands = 0..function.given();
        let x: Vec<u128> = operands.clone().map(|i| float(call.x[i])).collect();
        let mut keep = |i: usize| match float(call.shadows[i]) {
            0 => SavedShadow::NONE,
            cell => observer.keep_cell(format, x[i], cell),
        };
        let kept: Vec<SavedShadow> = operands.map(&mut keep).collect();
        let mut end = |m: &mut dyn Machine, made| end_operation(observer, m, (site, format), made, &x, &kept);
        if let Some(how) = function.converts() {
            end(m, Made::Integer(how));
        }
        for (op, goes) in function.results() {
            let result = match goes {
                Goes::Register => Ok(abi::result(m, format)),
                Goes::Through(i) => abi::memory(m, call.pointers[i], format),
            };
            if let Ok(result) = result {
                end(m, Made::Float(op, result));
            }
        }
        self.note_error(&mut state, (site, pc), observer, m);
        observer.release(&kept);
    }
}

/// Bytes of a vector of a call, as they are in memory.
fn bytes_of(vector: CallVector) -> [u8; size_of::<CallVector>()] {
    let mut bytes = [0; size_of::<CallVector>()];
    for (into, word) in bytes.as_chunks_mut().0.iter_mut().zip(vector) {
        *into = word.to_le_bytes();
    }
    bytes
}

/// Gives the results of a mathematical function that has returned their shadows.
fn end_operations(call: &Call, observer: &mut dyn Observer, m: &mut dyn Machine) {
    let (operands, at) = (&call.operands, (call.site, call.math.format()));
    if let Some(int) = call.math.int_written(&operands.given.pointers) {
        // A float may have been there, and the function's own code was not annotated.
        m.write_mirror(int, &[0; size_of::<i32>()]);
    }
    for index in 0.. {
        let outcome = hooks::outcome(m, call.math, &operands.given.pointers, index);
        let Ok(Some(Outcome { first, count, integer, made })) = outcome else { return };
        let own = first..first + count;
        let (x, kept) = (&operands.x[own.clone()], &operands.kept[own]);
        match (made, integer) {
            (Made::Float(_, result), Some(n)) => {
                let n = result.format.from_f64(n as f64);
                let (x, kept) = ([x, &[n][..]].concat(), [kept, &[SavedShadow::NONE][..]].concat());
                end_operation(observer, m, at, made, &x, &kept);
            }
            _ => end_operation(observer, m, at, made, x, kept),
        }
    }
}

/// Tells the shadow what an operation of a function called at `site` has made of operands in `format`, with these bits and shadows.
fn end_operation(
    observer: &mut dyn Observer,
    m: &mut dyn Machine,
    (site, format): (Site, Format),
    made: Made,
    x: &[u128],
    kept: &[SavedShadow],
) {
    match made {
        Made::Float(op, result) => observer.function(m, &LibraryCall { site, op, x, kept, result }),
        Made::Integer(how) => observer.converted(m, site, how, (format, x[0]), kept[0]),
    }
}

/// A thread at a hooked address.
struct Here<'a> {
    pc: u64,
    calls: &'a mut Calls,
    observer: &'a mut dyn Observer,
    m: &'a mut dyn Machine,
}

/// Gives back what was kept for calls that will not return.
fn give_up(calls: &mut Calls, observer: &mut dyn Observer, m: &mut dyn Machine) {
    observer.release(&calls.lost());
    hidden::reveal(&calls.left(), observer, m);
}

impl State {
    /// Notes that a number is in its box, and what the box has lost.
    fn boxed(&mut self, boxing: &Boxing, m: &mut dyn Machine) {
        if let Some(lost) = self.boxes.end_boxing(boxing, m) {
            let name = || ("a box that numbers share".to_owned(), 0);
            self.gaps.entry((lost, 0)).or_insert_with(name).1 += 1;
        }
    }

    /// The call instruction that returns to `at`, or the jump by which the function it called became the one at `entered`.
    pub(super) fn call_site(&mut self, at: u64, entered: Option<u64>, m: &dyn Machine) -> Site {
        if let Some(&site) = self.call_sites.get(&(at, entered)) {
            return site;
        }
        let call = call_before(m, at, |target| self.report.sites.locate(target).is_some());
        let jump = entered.and_then(|entered| tail_calls::jump_to(m, call, entered));
        // How libraries do what is taken as one operation, or prints, is their own business.
        let is_theirs = |pc| self.file_at(pc).is_some_and(|file| file.is_taken_as_whole());
        let from = jump.filter(|&pc| !is_theirs(pc)).unwrap_or(call);
        let site = self.report.sites.at(from);
        self.call_sites.insert((at, entered), site);
        site
    }
}
