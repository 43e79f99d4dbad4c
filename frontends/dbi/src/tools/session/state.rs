//! The session itself: which addresses are hooked, and what happens when a thread arrives at one.

use super::calls::{Call, Calls, Then};
use super::config::{SessionConfig, ShadowKind};
use super::modules::{Meaning, ModuleFile};
use super::observer::{Applied, Kept, Observer, Word};
use super::seeds::{self, Jobs, Loaded, Place, Purpose, SpecFailure, When};
use super::suppressions::Suppressions;
use crate::engine::Lock;
use crate::tools::hooks::{self, Argument, Family, Hook, Printed, abi, abi::Float};
use crate::tools::machine::{Machine, Unmapped, read_bytes};
use hashbrown::{HashMap, HashSet};
use shadowgrind_core::findings::{Input, Label, Output, OutputKind, Report, Said, Value};
use shadowgrind_core::site::Site;
use shadowgrind_core::spec::OutputSpec;
use shadowgrind_reports::Destinations;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What becomes of a thread that arrived at a hooked address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It goes on.
    Go,
    /// It goes on, and this address is hooked from now on.
    Watch(u64),
    /// The function runs without shadows until it returns to this address, which is hooked from now on. What it leaves
    /// in registers and memory has no shadow but what the session sets then. [`Calls::wrapped`] is true meanwhile.
    Wrapped(u64),
}

/// How the program, or this image of it, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramEnd {
    /// By its own exit, with this status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// It lives on as another program.
    Replaced,
}

/// Words of the filter in front of the set of hooked addresses.
const FILTER: usize = 1024;

/// One per process image; shared by all threads.
pub(crate) struct Session {
    pub(super) config: SessionConfig,
    program: PathBuf,
    /// Bit h(address) is set if the address may be hooked. Asked for each instruction that is translated, without a lock.
    filter: Box<[AtomicU64; FILTER]>,
    pub(super) state: Lock<State>,
}

/// What changes while the program runs.
pub(crate) struct State {
    pub(super) report: Report,
    pub(super) destinations: Destinations,
    pub(super) suppressions: Suppressions,
    pub(super) jobs: Jobs,
    labels: Vec<Label>,
    /// Whether printed floats are outputs.
    printed: bool,
    files: HashMap<String, Arc<ModuleFile>>,
    /// Functions by their addresses in this process.
    hooked: HashMap<u64, Hooked>,
    /// Functions that SPECs name, and the numbers of their jobs.
    named: HashMap<u64, Vec<usize>>,
    /// Addresses that calls return to.
    returns: HashSet<u64>,
    /// Call instructions by return address.
    call_sites: HashMap<u64, Site>,
    /// Names of hooked functions, and how often each was taken as one operation.
    pub(super) names: Vec<(String, u64)>,
    name_of: HashMap<String, usize>,
    /// Where the program's own file is.
    pub(super) loaded: Option<Loaded>,
}

#[derive(Clone, Copy, Debug)]
struct Hooked {
    meaning: Meaning,
    is_resolver: bool,
}

impl Session {
    /// A session for the program at `program`. SPECs are checked here, before anything runs.
    pub(crate) fn new(config: SessionConfig, program: &Path) -> Result<Session, SpecFailure> {
        let jobs = seeds::resolve(&config, program)?;
        let suppressions = Suppressions::read(&config.suppressions).map_err(SpecFailure::Suppressions)?;
        let mut report = Report::new(config.shadow.name(), config.argv.clone(), std::process::id());
        report.inputs = config.inputs.iter().map(|input| unseeded(&input.text, input.weight)).collect();
        let labels = jobs.labels.iter().map(|label| report.outputs.label(label)).collect();
        let printed = config.outputs.is_empty() || config.outputs.contains(&OutputSpec::Printed);
        let state = State {
            report,
            destinations: config.reports.clone(),
            suppressions,
            jobs,
            labels,
            printed,
            files: HashMap::new(),
            hooked: HashMap::new(),
            named: HashMap::new(),
            returns: HashSet::new(),
            call_sites: HashMap::new(),
            names: Vec::new(),
            name_of: HashMap::new(),
            loaded: None,
        };
        let filter = Box::new([const { AtomicU64::new(0) }; FILTER]);
        let program = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        Ok(Session { config, program, filter, state: Lock::new(state) })
    }

    /// The file `path`, from `file_offset` on, was mapped executable at `start..end`: the addresses there that are
    /// hooked from now on. Names in brackets are no files.
    pub(crate) fn mapped(&self, path: &str, file_offset: u64, start: u64, end: u64) -> Vec<u64> {
        let mut state = self.state.lock();
        let file = state.files.entry(path.to_owned());
        let file = file.or_insert_with(|| Arc::new(ModuleFile::read(path, &self.program))).clone();
        let bias = file.layout.bias(file_offset, start).unwrap_or(start.wrapping_sub(file_offset));
        let module = state.report.sites.add_module(file.module.clone());
        state.forget(start, end);
        state.report.sites.map(start..end, module, bias);
        let mut added = Vec::new();
        for function in &file.hooked {
            let address = function.address.wrapping_add(bias);
            if (start..end).contains(&address) && self.wants(&function.hook, state.printed) {
                let name = state.name(&function.symbol);
                let meaning = Meaning { hook: function.hook, name };
                state.hooked.insert(address, Hooked { meaning, is_resolver: function.is_ifunc });
                added.push(address);
            }
        }
        if file.is_program {
            state.loaded = Some(Loaded { bias, tls_size: file.layout.tls_size() });
            state.name_functions(bias, start..end, &mut added);
        }
        added.iter().for_each(|&address| self.note(address));
        added
    }

    fn wants(&self, hook: &Hook, printed: bool) -> bool {
        match hook {
            Hook::Output(..) | Hook::Prints => printed,
            Hook::Math(_) => self.config.shadow != ShadowKind::None,
        }
    }

    /// Memory at `start..end` shows no file any more.
    pub(crate) fn unmapped(&self, start: u64, end: u64) {
        let mut state = self.state.lock();
        state.forget(start, end);
        state.report.sites.unmap(start..end);
    }

    /// Whether a thread that comes to `pc` is to be reported by [`Session::arrived`].
    pub(crate) fn is_hooked(&self, pc: u64) -> bool {
        let (word, bit) = filter_bit(pc);
        if self.filter[word].load(Ordering::Relaxed) & bit == 0 {
            return false;
        }
        let state = self.state.lock();
        state.hooked.contains_key(&pc) || state.named.contains_key(&pc) || state.returns.contains(&pc)
    }

    /// The site of the instruction at `pc`.
    pub(crate) fn site(&self, pc: u64) -> Site {
        self.state.lock().report.sites.at(pc)
    }

    /// A thread is about to execute the instruction at `pc`, which is hooked: because a function begins there, because
    /// a call returns there, or both.
    pub(crate) fn arrived(
        &self,
        pc: u64,
        calls: &mut Calls,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) -> Arrival {
        let returned = self.returned(pc, calls, observer, m);
        let mut state = self.state.lock();
        let (hooked, named) = (state.hooked.get(&pc).copied(), state.named.contains_key(&pc));
        if hooked.is_none() && !named {
            return returned;
        }
        let (stack, Ok(at)) = (m.general(abi::RSP).wrapping_add(8), abi::return_address(m)) else {
            return returned;
        };
        calls.settle(m.general(abi::RSP), at);
        observer.release(&calls.lost());
        if calls.wrapped() {
            return returned;
        }
        let mut frame = Frame { calls, observer, m, at, stack };
        let mut watch = named && state.enter_named(pc, &mut frame);
        let mut wrapped = false;
        if let Some(hooked) = hooked {
            match state.enter(hooked, &mut frame) {
                Entered::Go => {}
                Entered::Watch => watch = true,
                Entered::Wrap => (watch, wrapped) = (true, true),
            }
        }
        if !watch {
            return returned;
        }
        if state.returns.insert(at) {
            self.note(at);
        }
        if wrapped { Arrival::Wrapped(at) } else { Arrival::Watch(at) }
    }

    /// A thread came to `pc`, which a call may have returned to: does what the call was waited for. The engine need not
    /// ask; [`Session::arrived`] does.
    pub(crate) fn returned(
        &self,
        pc: u64,
        calls: &mut Calls,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) -> Arrival {
        let stack = m.general(abi::RSP);
        let mut arrival = Arrival::Go;
        while let Some(then) = calls.returned(pc, stack) {
            let mut state = self.state.lock();
            match then {
                Then::Formatted | Then::Prints(_) => {}
                Then::Resolved(meaning) => {
                    let implementation = m.general(abi::RAX);
                    state.hooked.insert(implementation, Hooked { meaning, is_resolver: false });
                    self.note(implementation);
                    arrival = Arrival::Watch(implementation);
                }
                Then::Applied(call) => {
                    state.apply(&call, observer, m);
                    observer.release(&call.operands.kept);
                    calls.reuse(call.operands);
                }
                Then::Named(job, address) => {
                    let site = state.call_site(pc, m);
                    state.do_job(job, site, address, observer, m);
                }
            }
        }
        observer.release(&calls.lost());
        arrival
    }

    /// The program's first instruction is about to run: seeds what is there from the start.
    pub(crate) fn begin(&self, observer: &mut dyn Observer, m: &mut dyn Machine) {
        let mut state = self.state.lock();
        state.do_all(|job| matches!(job.purpose, Purpose::Seed(..)), observer, m);
    }

    /// This process is a forked child: its report is about what comes, and goes to files of its own.
    pub(crate) fn forked(&self, observer: &mut dyn Observer) {
        let mut state = self.state.lock();
        observer.forked();
        let fresh = Report::new(self.config.shadow.name(), self.config.argv.clone(), std::process::id());
        let old = std::mem::replace(&mut state.report, fresh);
        state.report.sites = old.sites;
        state.report.inputs = old.inputs;
        let labels: Vec<String> = state.jobs.labels.clone();
        state.labels = labels.iter().map(|label| state.report.outputs.label(label)).collect();
        state.names.iter_mut().for_each(|(_, calls)| *calls = 0);
        state.destinations.forked = true;
    }

    /// Outputs beyond the first thousands go to this file, which is nobody else's; not inherited by forked children.
    pub(crate) fn spill_to(&self, file: std::fs::File) {
        self.state.lock().report.outputs.spill_to(file);
    }

    /// Keeps all other threads out of the session, across a `fork`, until dropped on both sides.
    pub(crate) fn hold(&self) -> impl Drop + '_ {
        self.state.lock()
    }

    fn note(&self, address: u64) {
        let (word, bit) = filter_bit(address);
        self.filter[word].fetch_or(bit, Ordering::Relaxed);
    }
}

/// Word and bit of an address in the filter.
fn filter_bit(address: u64) -> (usize, u64) {
    // Fibonacci hashing: the upper bits of the product depend on all of the address.
    let hash = address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
    ((hash >> 6) as usize % FILTER, 1 << (hash & 63))
}

/// An input of which nothing has been seen yet.
fn unseeded(spec: &str, seed: f64) -> Input {
    Input { spec: spec.to_owned(), value: None, seed, count: 0 }
}

/// A thread at the first instruction of a function.
struct Frame<'a> {
    calls: &'a mut Calls,
    observer: &'a mut dyn Observer,
    m: &'a mut dyn Machine,
    /// The return address.
    at: u64,
    /// The stack pointer after the return.
    stack: u64,
}

impl Frame<'_> {
    fn wait(&mut self, then: Then) {
        self.calls.push(self.at, self.stack, then);
    }
}

/// What a function's entry comes to.
enum Entered {
    Go,
    Watch,
    Wrap,
}

/// What an output is called and where it left.
#[derive(Clone, Copy)]
pub(super) struct Leaving {
    pub(super) kind: OutputKind,
    pub(super) label: Label,
    pub(super) site: Site,
}

impl State {
    /// Forgets what is hooked at `start..end`.
    fn forget(&mut self, start: u64, end: u64) {
        let outside = |address: u64| !(start..end).contains(&address);
        self.hooked.retain(|&address, _| outside(address));
        self.named.retain(|&address, _| outside(address));
        self.returns.retain(|&address| outside(address));
        self.call_sites.retain(|&address, _| outside(address));
    }

    fn name(&mut self, symbol: &str) -> usize {
        if let Some(&name) = self.name_of.get(symbol) {
            return name;
        }
        self.names.push((symbol.to_owned(), 0));
        self.name_of.insert(symbol.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    /// Hooks the functions that SPECs name.
    fn name_functions(&mut self, bias: u64, range: std::ops::Range<u64>, added: &mut Vec<u64>) {
        for &(address, job) in &self.jobs.functions {
            let address = address.wrapping_add(bias);
            if range.contains(&address) {
                self.named.entry(address).or_default().push(job);
                added.push(address);
            }
        }
    }

    fn enter(&mut self, hooked: Hooked, frame: &mut Frame<'_>) -> Entered {
        if hooked.is_resolver {
            frame.wait(Then::Resolved(hooked.meaning));
            return Entered::Watch;
        }
        if frame.calls.is_disabled() {
            return Entered::Go;
        }
        match hooked.meaning.hook {
            Hook::Math(math) => self.enter_math(math, hooked.meaning.name, frame),
            Hook::Output(kind, family) => self.enter_output(kind, family, frame),
            Hook::Prints if frame.calls.printing().is_none() => {
                let site = self.call_site(frame.at, frame.m);
                frame.wait(Then::Prints(site));
                Entered::Watch
            }
            Hook::Prints => Entered::Go,
        }
    }

    fn enter_math(&mut self, math: hooks::Math, name: usize, frame: &mut Frame<'_>) -> Entered {
        let mut operands = frame.calls.operands();
        if hooks::arguments(frame.m, math, &mut operands.given).is_err() {
            // The function will fault; it may do so in peace.
            frame.calls.reuse(operands);
            return Entered::Go;
        }
        for index in 0..operands.given.arguments.len() {
            let (bits, kept) = match operands.given.arguments[index] {
                Argument::Float(x) => (x.bits, frame.observer.keep(frame.m, x)),
                Argument::Integer(n) => (math.format().from_f64(n as f64), Kept::NONE),
            };
            operands.x.push(bits);
            operands.kept.push(kept);
        }
        self.names[name].1 += 1;
        if !frame.observer.wraps(&operands.kept) {
            frame.calls.reuse(operands);
            return Entered::Go;
        }
        let site = self.call_site(frame.at, frame.m);
        frame.wait(Then::Applied(Call { math, site, operands }));
        Entered::Wrap
    }

    /// Gives the results of a mathematical function their shadows.
    fn apply(&mut self, call: &Call, observer: &mut dyn Observer, m: &mut dyn Machine) {
        let operands = &call.operands;
        for index in 0.. {
            let outcome = hooks::outcome(m, call.math, &operands.given.pointers, index);
            let Ok(Some(outcome)) = outcome else { return };
            let own = outcome.first..outcome.first + outcome.count;
            let (x, kept) = (&operands.x[own.clone()], &operands.kept[own]);
            let applied = Applied { site: call.site, op: outcome.op, x, kept, result: outcome.result };
            match outcome.integer {
                None => observer.function(m, &applied),
                Some(n) => {
                    let n = outcome.result.format.from_f64(n as f64);
                    let (x, kept) = ([x, &[n]].concat(), [kept, &[Kept::NONE]].concat());
                    observer.function(m, &Applied { x: &x, kept: &kept, ..applied });
                }
            }
        }
    }

    fn enter_output(&mut self, kind: OutputKind, family: Family, frame: &mut Frame<'_>) -> Entered {
        if frame.calls.is_formatting() {
            return Entered::Go;
        }
        let Ok((floats, printed)) = hooks::floats(frame.m, family) else { return Entered::Go };
        if floats.is_empty() {
            return Entered::Go;
        }
        let site = match frame.calls.printing() {
            Some(site) => site,
            None => self.call_site(frame.at, frame.m),
        };
        let leaving = Leaving { kind, label: Label::NONE, site };
        for (position, x) in floats.into_iter().enumerate() {
            let promoted = printed == Printed::Promoted && was_float(x);
            self.output(leaving, position, x, promoted, frame.observer, frame.m);
        }
        frame.wait(Then::Formatted);
        Entered::Watch
    }

    /// Records an output.
    pub(super) fn output(
        &mut self,
        leaving: Leaving,
        position: usize,
        x: Float,
        promoted: bool,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let outputs = &mut self.report.outputs;
        let (value, word) = observer.output(m, outputs.len(), leaving.site, x, promoted);
        let said = match &word {
            Word::Nothing => Said::Nothing,
            Word::Dot(dot) => Said::Dot(*dot),
            Word::Error { real, error_bits, correct_digits } => {
                let (error_bits, correct_digits) = (*error_bits, *correct_digits);
                Said::Error { real: real.as_deref(), error_bits, correct_digits }
            }
        };
        let Leaving { kind, label, site } = leaving;
        let position = u16::try_from(position).unwrap_or(u16::MAX);
        outputs.push(&Output { kind, label, value, site, position, said });
    }

    /// Does what is to be done for SPECs on entry to the function at `pc`; whether its return is waited for.
    fn enter_named(&mut self, pc: u64, frame: &mut Frame<'_>) -> bool {
        let Some(jobs) = self.named.get(&pc).cloned() else { return false };
        let site = self.call_site(frame.at, frame.m);
        let mut watch = false;
        for number in jobs {
            let job = &self.jobs.all[number];
            let address = match &job.place {
                Place::Spots(spots) => spots.first().map_or(Ok(0), |spot| spot.pointer(frame.m)).unwrap_or(0),
                Place::Variable(_) => 0,
            };
            if job.when == When::Return {
                frame.wait(Then::Named(number, address));
                watch = true;
            } else {
                self.do_job(number, site, address, frame.observer, frame.m);
            }
        }
        watch
    }

    /// Does the jobs without a function that `wanted` selects.
    pub(super) fn do_all(
        &mut self,
        wanted: impl Fn(&seeds::Job) -> bool,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        for number in 0..self.jobs.all.len() {
            let job = &self.jobs.all[number];
            if job.when == When::Once && wanted(job) {
                self.do_job(number, Site::NONE, 0, observer, m);
            }
        }
    }

    fn do_job(
        &mut self,
        number: usize,
        site: Site,
        address: u64,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let Some(loaded) = self.loaded else { return };
        let job = &self.jobs.all[number];
        let (purpose, floats) = (job.purpose, floats(m, &job.place, loaded, address));
        let Ok(floats) = floats else { return };
        match purpose {
            Purpose::Seed(input, weight) => {
                let input = &mut self.report.inputs[input];
                seed(input, &floats, weight, observer, m);
            }
            Purpose::Sample(spec) => {
                let leaving = Leaving { kind: OutputKind::Spec, label: self.labels[spec], site };
                for (position, x) in floats.into_iter().enumerate() {
                    self.output(leaving, position, x, false, observer, m);
                }
            }
        }
    }

    /// Seeds floats for the input that a request names.
    pub(super) fn seed_named(
        &mut self,
        name: &str,
        floats: &[Float],
        weight: f64,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        let inputs = &mut self.report.inputs;
        let same = |input: &Input| input.spec == name && input.seed.to_bits() == weight.to_bits();
        let number = inputs.iter().position(same).unwrap_or_else(|| {
            inputs.push(unseeded(name, weight));
            inputs.len() - 1
        });
        seed(&mut inputs[number], floats, weight, observer, m);
    }

    /// The call instruction that returns to `at`.
    pub(super) fn call_site(&mut self, at: u64, m: &dyn Machine) -> Site {
        if let Some(&site) = self.call_sites.get(&at) {
            return site;
        }
        let sites = &mut self.report.sites;
        let call = call_before(m, at, |target| sites.locate(target).is_some());
        let site = sites.at(call);
        self.call_sites.insert(at, site);
        site
    }
}

fn seed(input: &mut Input, floats: &[Float], weight: f64, observer: &mut dyn Observer, m: &mut dyn Machine) {
    for &x in floats {
        input.value.get_or_insert(Value::new(x.format, &x.bits.to_le_bytes()));
        input.count += 1;
        observer.seed(m, x, weight);
    }
}

fn floats(m: &dyn Machine, place: &Place, loaded: Loaded, address: u64) -> Result<Vec<Float>, Unmapped> {
    match place {
        Place::Variable(variable) => seeds::variable(m, variable, loaded),
        Place::Spots(spots) => spots.iter().map(|spot| spot.float(m, address)).collect(),
    }
}

/// Whether a double may have been a `float`: it is the same number in both.
fn was_float(x: Float) -> bool {
    use shadowgrind_core::format::Format::{F32, F64};
    x.format == F64 && F32.convert(F64.convert(x.bits, F32), F64) == x.bits
}

/// Address of the call instruction before the return address `at`; `is_code` tells whether a direct call may lead to an
/// address.
fn call_before(m: &dyn Machine, at: u64, is_code: impl Fn(u64) -> bool) -> u64 {
    // The longest call has seven bytes without prefixes that mean nothing: FF /2 with SIB and disp32 has REX before it.
    const LONGEST: usize = 8;
    let Ok(bytes) = read_bytes::<LONGEST>(m, at.wrapping_sub(LONGEST as u64)) else {
        return at.wrapping_sub(1);
    };
    let before = |length: usize| &bytes[LONGEST - length..];
    if let [0xe8, rel @ ..] = before(5) {
        let target = at.wrapping_add_signed(i32::from_le_bytes([rel[0], rel[1], rel[2], rel[3]]).into());
        if is_code(target) {
            // `addr32 call`, which linkers pad relaxed calls with; `bnd call`.
            let prefixed = matches!(before(6)[0], 0x67 | 0xf2);
            return at.wrapping_sub(if prefixed { 6 } else { 5 });
        }
    }
    let is_call = |length: &usize| is_indirect_call(before(*length));
    at.wrapping_sub([6, 2, 3, 4, 7, 8].into_iter().find(is_call).unwrap_or(1) as u64)
}

fn is_indirect_call(bytes: &[u8]) -> bool {
    use iced_x86::{Decoder, DecoderOptions, FlowControl};
    let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
    instruction.len() == bytes.len() && instruction.flow_control() == FlowControl::IndirectCall
}
