//! Files that the program maps: which addresses are hooked there, and what is known of the code.

use super::super::places::Loaded;
use super::{FILTER, Hooked, Numbered, Session, State};
use crate::context::FUNCTIONS;
use crate::hooks::machine::Machine;
use crate::hooks::{self, Hook, Hotspot};
use crate::session::modules::{Meaning, ModuleFile};
use crate::session::observer::Observer;
use crate::session::python::Python;
use crate::session::tree;
use crate::x86::function::Counted;
use crate::x86::rounding::Rounding;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl State {
    /// Notes that the code of a file is at `range` now, in place of what was there.
    fn place_code(&mut self, file: &Arc<ModuleFile>, range: Range<u64>, bias: u64) {
        let module = self.report.sites.add_module(file.module.clone());
        self.forget(range.start, range.end);
        self.report.sites.map(range.clone(), module, bias);
        self.code.push((range, file.clone()));
        let loaded = |at: Range<u64>| at.start.wrapping_add(bias)..at.end.wrapping_add(bias);
        let constants = file.layout.constants().filter(|at| !at.is_empty()).map(loaded);
        self.constants.extend(constants);
        if let Some(runtime) = file.python {
            self.python = Python::of(&file.canonical, runtime.wrapping_add(bias));
        }
        if let (Some(exports), None) = (file.java, &self.java) {
            self.java = Some(Hotspot::new(exports.loaded(bias)));
        }
        if let Some(reason) = hooks::unwatched(&file.canonical)
            && !self.unwatched.contains(&reason)
        {
            self.unwatched.push(reason);
        }
    }
}

impl Session {
    /// The file `path`, from `file_offset` on, was mapped executable at `start..end`: the addresses there that are
    /// hooked from now on. `place` is where the file can be read, if it has no path any more.
    pub(crate) fn mapped(
        &self,
        path: &Path,
        place: Option<&Path>,
        file_offset: u64,
        start: u64,
        end: u64,
    ) -> Vec<u64> {
        let mut state = self.state.lock();
        let read = || Arc::new(ModuleFile::read(path, place, &self.program));
        let file = state.files.entry(path.to_owned()).or_insert_with(read).clone();
        let bias = file.layout.bias(file_offset, start).unwrap_or(start.wrapping_sub(file_offset));
        state.place_code(&file, start..end, bias);
        if state.java.is_some() {
            self.has_java.store(true, Ordering::Relaxed);
        }
        let mut added = self.hook(&mut state, &file, start..end, bias);
        let found = state.jobs.look_into(&file.canonical, place.unwrap_or(&file.canonical));
        tree::note(&*self.tree, &found, &[]);
        self.place_jobs(&mut state, &file, (start..end, bias), &mut added);
        added.iter().for_each(|&address| self.note(address));
        added
    }

    /// Hooks the functions of a file that mean something to this session, as far as they are in `range`: their addresses.
    fn hook(&self, state: &mut State, file: &ModuleFile, range: Range<u64>, bias: u64) -> Vec<u64> {
        let mut added = Vec::new();
        for function in &file.hooked {
            let address = function.address.wrapping_add(bias);
            let is_wanted = self.wants(&function.hook, state.printed);
            let is_parser = matches!(function.hook, Hook::Parses(_)) && self.config.shadow.is_carried();
            if !range.contains(&address) || !is_wanted && !is_parser {
                continue;
            }
            let meaning = Meaning { hook: function.hook, name: state.name(&function.symbol) };
            let hooked = Hooked { meaning, is_resolver: function.is_ifunc };
            if is_wanted {
                state.hooked.insert(address, hooked);
                added.push(address);
            } else {
                state.later.push((address, hooked));
            }
        }
        added
    }

    /// Hooks functions that parse once the program has written what they may parse again: their addresses.
    pub(crate) fn hook_parsers(&self) -> Vec<u64> {
        if !self.config.shadow.is_carried() {
            return Vec::new();
        }
        let mut state = self.state.lock();
        let parsers = if state.own_texts.is_empty() { Vec::new() } else { std::mem::take(&mut state.later) };
        let addresses = parsers.iter().map(|&(address, _)| address).collect();
        for (address, hooked) in parsers {
            state.hooked.insert(address, hooked);
            self.note(address);
        }
        addresses
    }

    /// Tells what SPECs have asked for in a file where it is now, and adds the addresses that are hooked for that.
    fn place_jobs(
        &self,
        state: &mut State,
        file: &ModuleFile,
        (range, bias): (Range<u64>, u64),
        added: &mut Vec<u64>,
    ) {
        let number = state.jobs.files.iter().position(|path| *path == file.canonical);
        let Some(number) = number else { return };
        let tls_size = file.layout.tls_size().filter(|_| file.is_program);
        state.load(number, Loaded { bias, tls_size });
        state.name_functions(number, bias, range.clone(), added);
        if !file.is_program && state.jobs.seeds(number) {
            state.unrun.push((range, number));
            self.awaits_code.store(true, Ordering::Relaxed);
        }
    }

    pub(in crate::session) fn wants(&self, hook: &Hook, printed: bool) -> bool {
        match hook {
            Hook::Output(..) | Hook::Prints => printed,
            Hook::Math(_)
            | Hook::Digits(_)
            | Hook::LeftOut(_)
            | Hook::Boxes(_)
            | Hook::Software
            | Hook::Unwinds
            | Hook::PrintsInteger => self.config.shadow.is_carried(),
            Hook::Parses(parser) if parser.estimates => self.parses || self.config.shadow.is_carried(),
            Hook::Parses(_) | Hook::ParsesInteger(_) | Hook::ParsesData | Hook::Java(_) => self.parses,
            Hook::RunsCode(_) => self.names_scripts || self.config.shadow.is_carried(),
        }
    }

    /// Memory at `start..end` shows no file any more.
    pub(crate) fn unmapped(&self, start: u64, end: u64) {
        let mut state = self.state.lock();
        state.forget(start, end);
        state.report.sites.unmap(start..end);
    }

    /// Tells whether a thread that comes to `pc` is to be reported by [`Session::arrived`].
    pub(crate) fn is_hooked(&self, pc: u64) -> bool {
        let (word, bit) = filter_bit(pc);
        if self.filter[word].load(Ordering::Relaxed) & bit == 0 {
            return false;
        }
        let state = self.state.lock();
        let is_function = state.hooked.contains_key(&pc) || state.named.contains_key(&pc);
        is_function || state.assigned.contains_key(&pc) || state.returns.contains(&pc)
    }

    /// Tells whether the code at `pc` is of a module that is to be reported by [`Session::first_run`] before any of it
    /// runs.
    pub(crate) fn awaits_run(&self, pc: u64) -> bool {
        self.awaits_code.load(Ordering::Relaxed)
            && self.state.lock().unrun.iter().any(|(range, _)| range.contains(&pc))
    }

    /// The first of a module's code is about to run, at `pc`: seeds its variables. It is mapped whole by now and relocated.
    pub(crate) fn first_run(&self, pc: u64, observer: &mut dyn Observer, m: &mut dyn Machine) {
        let mut state = self.state.lock();
        let Some(index) = state.unrun.iter().position(|(range, _)| range.contains(&pc)) else { return };
        let (_, number) = state.unrun.swap_remove(index);
        state.seeded.push(number);
        self.awaits_code.store(!state.unrun.is_empty(), Ordering::Relaxed);
        state.do_all(|job| job.is_seed() && job.is_of(number), observer, m);
    }

    /// The program's first instruction is about to run: seeds what is there from the start.
    pub(crate) fn begin(&self, observer: &mut dyn Observer, m: &mut dyn Machine) {
        let mut state = self.state.lock();
        state.note_arguments(&tree::words(&*self.tree), m);
        let seeded = std::mem::take(&mut state.seeded);
        // The code of a library may never run.
        state.unrun.clear();
        self.awaits_code.store(false, Ordering::Relaxed);
        state.do_all(|job| job.is_seed() && !seeded.iter().any(|&number| job.is_of(number)), observer, m);
    }

    /// The function at `pc`, if it is hooked for that alone and simple.
    pub(crate) fn function(&self, pc: u64) -> Option<Counted> {
        let mut state = self.state.lock();
        let Hooked { meaning, is_resolver: false } = *state.hooked.get(&pc)? else { return None };
        let Hook::Math(math) = meaning.hook else { return None };
        // What is to be traced comes to the engine.
        let is_seen_to = self.config.shadow.functions().is_some() && !self.settings().budget;
        let counts = is_seen_to && self.config.trace.is_none();
        let alone = counts && !state.named.contains_key(&pc);
        let number = u16::try_from(meaning.name).ok().filter(|&n| alone && usize::from(n) < FUNCTIONS)?;
        let function = math.simple()?;
        let mut rounds = None;
        if self.config.shadow.policy().decisions && function.rounds_by().is_some() {
            let site = state.report.sites.at(pc);
            rounds = state.number(Numbered::Calls(site));
        }
        Some(Counted { function, number, rounds })
    }

    /// For which formats sums in the code at `pc` may round by a magic number: any, in code that is from no file.
    pub(crate) fn rounding(&self, pc: u64) -> Rounding {
        if !self.config.shadow.policy().magic_rounds {
            return Rounding::default();
        }
        let file = self.state.lock().file_at(pc).cloned();
        file.map_or(Rounding::ANY, |file| file.rounding())
    }

    pub(in crate::session) fn note(&self, address: u64) {
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

impl State {
    /// The file that the code at `pc` is from.
    pub(in crate::session) fn file_at(&self, pc: u64) -> Option<&Arc<ModuleFile>> {
        self.code.iter().rev().find(|(range, _)| range.contains(&pc)).map(|(_, file)| file)
    }

    /// Forgets what is hooked at `start..end`.
    fn forget(&mut self, start: u64, end: u64) {
        let outside = |address: u64| !(start..end).contains(&address);
        let stays = |range: &Range<u64>| outside(range.start) || outside(range.end - 1);
        for (_, file) in self.code.extract_if(.., |(range, _)| !stays(range)) {
            let number = self.jobs.files.iter().position(|path| *path == file.canonical);
            if let Some(loaded) = number.and_then(|number| self.loaded.get_mut(number)) {
                *loaded = None;
            }
        }
        self.constants.retain(stays);
        self.unrun.retain(|(range, _)| stays(range));
        self.hooked.retain(|&address, _| outside(address));
        self.later.retain(|&(address, _)| outside(address));
        self.named.retain(|&address, _| outside(address));
        self.assigned.retain(|&address, _| outside(address));
        self.returns.retain(|&address| outside(address));
        self.walks.forget();
        self.call_sites.retain(|&(at, entered), _| outside(at) && entered.is_none_or(outside));
    }

    pub(in crate::session) fn name(&mut self, symbol: &str) -> usize {
        if let Some(&name) = self.name_of.get(symbol) {
            return name;
        }
        self.names.push((symbol.to_owned(), 0));
        self.name_of.insert(symbol.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    /// Remembers where a file that SPECs are about is.
    fn load(&mut self, file: usize, loaded: Loaded) {
        let files = self.jobs.files.len();
        self.loaded.resize(files, None);
        self.loaded[file] = Some(loaded);
    }

    /// Hooks the functions of a file that SPECs name.
    fn name_functions(&mut self, file: usize, bias: u64, range: Range<u64>, added: &mut Vec<u64>) {
        for function in self.jobs.functions.iter().filter(|function| function.file == file) {
            let address = function.address.wrapping_add(bias);
            if range.contains(&address) {
                let named = self.named.entry(address).or_default();
                named.jobs.push(function.job);
                named.is_resolver = function.is_ifunc;
                added.push(address);
            }
        }
        for awaited in self.jobs.assignments.iter().filter(|awaited| awaited.file == file) {
            let (address, watched) = awaited.watched(bias);
            if range.contains(&address) {
                added.extend(watched.next().chain([address]));
                self.returns.extend(watched.next());
                self.assigned.entry(address).or_default().push(watched);
            }
        }
    }
}
