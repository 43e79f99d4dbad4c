//! The session itself: what is loaded where, and which addresses are hooked for it.

use super::boxes;
use super::config::SessionConfig;
use super::locals::Watched;
use super::modules::{Meaning, ModuleFile};
use super::observer::Observer;
use super::outputs;
use super::parsed::{self, ParsedInputs};
use super::python::Python;
use super::seeds::{self, Jobs, SpecFailure};
use super::sent::{self, Badness};
use super::tree::{self, Tree};
use crate::context::{COUNTS, FUNCTIONS};
use crate::engine::Lock;
use crate::hooks::machine::Machine;
use crate::hooks::{self, Hook, LeftOut, Statements};
use crate::shadows::ShadowKind;
use crate::x86::function::Counted;
use crate::x86::rounding::Rounding;
use hashbrown::{HashMap, HashSet};
use shadowgrind_core::findings::{Decided, Label, Listed, Listing, Report};
use shadowgrind_core::moves::Moves;
use shadowgrind_core::shadow::Settings;
use shadowgrind_core::site::Site;
use shadowgrind_core::spec::OutputSpec;
use shadowgrind_reports::Destinations;
use shadowgrind_reports::suppress::Suppressions;
use shadowgrind_symbols::CallFrames;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const FILTER: usize = 1024;

/// One per process image; shared by all threads.
pub(crate) struct Session {
    pub(super) config: SessionConfig,
    program: PathBuf,
    pub(super) tree: Box<dyn Tree>,
    /// True if a module is loaded whose variables are to be seeded before any of its code runs.
    awaits_code: AtomicBool,
    /// True if an input names numbers that the program parses.
    pub(super) parses: bool,
    /// True if an output names a variable of a script.
    pub(super) names_scripts: bool,
    /// Bit h(address) is set if the address may be hooked. Asked for each instruction that is translated, without a lock.
    filter: Box<[AtomicU64; FILTER]>,
    pub(super) state: Lock<State>,
}

/// State that changes while the program runs.
pub(crate) struct State {
    pub(super) report: Report,
    pub(super) destinations: Destinations,
    pub(super) suppressions: Suppressions,
    pub(super) jobs: Jobs,
    /// The direction of seeds, and how far inputs are moved.
    pub(super) moves: Moves,
    pub(super) parsed: Option<ParsedInputs>,
    pub(super) labels: Vec<Label>,
    /// True if printed floats are outputs.
    pub(super) printed: bool,
    pub(super) files: HashMap<PathBuf, Arc<ModuleFile>>,
    /// Whose code is where.
    code: Vec<(Range<u64>, Arc<ModuleFile>)>,
    /// Functions by their addresses in this process.
    pub(super) hooked: HashMap<u64, Hooked>,
    /// Functions that SPECs name, and the numbers of their jobs.
    pub(super) named: HashMap<u64, Vec<usize>>,
    /// Instructions that may assign local variables that SPECs name.
    pub(super) assigned: HashMap<u64, Vec<Watched>>,
    /// Addresses that calls return to, and those after such instructions.
    pub(super) returns: HashSet<u64>,
    /// Call instructions by return address, and by the function entered if it is known: some are jumped to.
    pub(super) call_sites: HashMap<(u64, Option<u64>), Site>,
    /// Names of hooked functions, and how often each was taken as one operation.
    pub(super) names: Vec<(String, u64)>,
    name_of: HashMap<String, usize>,
    /// The places where floats left in binary form, by their numbers among those of the report.
    pub(super) sent: HashMap<sent::Place, usize>,
    /// The badness of the worst float that left at each site.
    pub(super) worst_sent: Vec<Badness>,
    /// Addresses of instructions that compute with floats and have been given code for their shadows.
    pub(super) shadowed: HashSet<u64>,
    /// Instructions that dropped shadows, by site and the instruction's number in the decoder, and how often.
    pub(super) gaps: HashMap<(Site, usize), (String, u64)>,
    /// Comparisons of floats, and how often one met a shadow.
    pub(super) decisions: HashMap<Site, Decided>,
    /// The program has set shadows itself.
    pub(super) sets_shadows: bool,
    /// Values of the inputs and outputs that the program has made itself, by their numbers in the record of the run.
    pub(super) indices: HashMap<u64, f64>,
    /// The interpreter of the program, if it is one whose scripts can be followed.
    pub(super) python: Option<Python>,
    /// Functions of run-time systems that were not looked at, and the number of calls.
    pub(super) left_out: Vec<(&'static LeftOut, u64)>,
    /// Run-time systems of which it is not known where they print floats.
    pub(super) unwatched: Vec<&'static str>,
    /// Fortran's statements that write.
    pub(super) statements: Statements,
    /// Shadows of numbers in boxes that others share, by address.
    pub(super) boxes: HashMap<u64, boxes::Shadow>,
    /// Call frame information of files, read when it is asked for.
    pub(super) frames: HashMap<PathBuf, Option<CallFrames>>,
    /// The sites at which an error has been noted.
    pub(super) erred: HashSet<Site>,
    /// Events that translated code counts, by number, and those numbers.
    numbered: Vec<Numbered>,
    number_of: HashMap<Numbered, u16>,
    /// The places of the files that SPECs are about, by their numbers.
    pub(super) loaded: Vec<Option<Loaded>>,
    /// Code of modules with variables to be seeded, of which nothing has run, and the number of their files.
    unrun: Vec<(Range<u64>, usize)>,
    /// The files of such modules of which something has.
    seeded: Vec<usize>,
}

/// Places of a module's floats in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loaded {
    pub(super) bias: u64,
    /// Size of its thread-local block, which ends at the thread pointer.
    pub(super) tls_size: Option<u64>,
}

/// Events that translated code counts by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Numbered {
    /// A comparison that met a shadow.
    Comparison(Site),
    /// An instruction that dropped one, as [`State::gaps`] has it.
    Gap(Site, usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Hooked {
    pub(super) meaning: Meaning,
    pub(super) is_resolver: bool,
}

impl Session {
    /// A session for the program at `program`, one of the `tree`'s. SPECs are checked here, before anything runs.
    pub(crate) fn new(
        config: SessionConfig,
        program: &Path,
        tree: Box<dyn Tree>,
    ) -> Result<Session, SpecFailure> {
        let program = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        if tree.is_first_program() {
            parsed::check(&config.inputs, &config.argv)?;
        }
        let jobs = seeds::resolve(&config, &program, tree.is_first_program())?;
        if !tree.is_first_program() || !jobs.missing.is_empty() {
            tree::note(&*tree, &jobs.found, &jobs.missing);
        }
        let suppressions = suppressions(&config.suppressions).map_err(SpecFailure::Suppressions)?;
        let mut report = Report::new(
            config.shadow.name(),
            config.shadow.subject(),
            config.argv.clone(),
            std::process::id(),
        );
        report.inputs =
            config.inputs.iter().map(|input| outputs::unseeded(&input.text, input.weight)).collect();
        let labels = jobs.labels.iter().map(|label| report.outputs.label(label)).collect();
        let is_named = |output: &OutputSpec| matches!(output, OutputSpec::Named { .. });
        let printed = config.outputs.is_empty() || !config.outputs.iter().all(is_named);
        report.listing = config.list.map(Listing::new);
        let parsed = ParsedInputs::of(&config.inputs, config.list == Some(Listed::Inputs));
        let parses = parsed.is_some();
        if parses && tree.is_first_program() {
            tree::note_words(&*tree, &config.argv);
        }
        let names_scripts = !jobs.scripts.is_empty();
        let state = State {
            report,
            destinations: config.reports.clone(),
            suppressions,
            jobs,
            moves: config.moves.clone(),
            parsed,
            labels,
            printed,
            files: HashMap::new(),
            code: Vec::new(),
            hooked: HashMap::new(),
            named: HashMap::new(),
            assigned: HashMap::new(),
            returns: HashSet::new(),
            call_sites: HashMap::new(),
            names: Vec::new(),
            name_of: HashMap::new(),
            sent: HashMap::new(),
            worst_sent: Vec::new(),
            shadowed: HashSet::new(),
            gaps: HashMap::new(),
            decisions: HashMap::new(),
            sets_shadows: false,
            indices: HashMap::new(),
            python: None,
            left_out: Vec::new(),
            unwatched: Vec::new(),
            statements: Statements::default(),
            boxes: HashMap::new(),
            frames: HashMap::new(),
            erred: HashSet::new(),
            numbered: Vec::new(),
            number_of: HashMap::new(),
            loaded: Vec::new(),
            unrun: Vec::new(),
            seeded: Vec::new(),
        };
        let filter = Box::new([const { AtomicU64::new(0) }; FILTER]);
        let awaits_code = AtomicBool::new(false);
        Ok(Session {
            config,
            program,
            tree,
            awaits_code,
            parses,
            names_scripts,
            filter,
            state: Lock::new(state),
        })
    }

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
        let module = state.report.sites.add_module(file.module.clone());
        state.forget(start, end);
        state.report.sites.map(start..end, module, bias);
        state.code.push((start..end, file.clone()));
        if let Some(runtime) = file.python {
            state.python = Python::of(&file.canonical, runtime.wrapping_add(bias));
        }
        if let Some(reason) = hooks::unwatched(&file.canonical)
            && !state.unwatched.contains(&reason)
        {
            state.unwatched.push(reason);
        }
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
        let found = state.jobs.look_into(&file.canonical, place.unwrap_or(&file.canonical));
        tree::note(&*self.tree, &found, &[]);
        if let Some(number) = state.jobs.files.iter().position(|path| *path == file.canonical) {
            let tls_size = file.layout.tls_size().filter(|_| file.is_program);
            state.load(number, Loaded { bias, tls_size });
            state.name_functions(number, bias, start..end, &mut added);
            if !file.is_program && state.jobs.seeds(number) {
                state.unrun.push((start..end, number));
                self.awaits_code.store(true, Ordering::Relaxed);
            }
        }
        added.iter().for_each(|&address| self.note(address));
        added
    }

    fn wants(&self, hook: &Hook, printed: bool) -> bool {
        match hook {
            Hook::Output(..) | Hook::Prints => printed,
            Hook::Math(_)
            | Hook::Digits
            | Hook::LeftOut(_)
            | Hook::Boxes(_)
            | Hook::Software
            | Hook::Leaves
            | Hook::PrintsInteger => self.config.shadow.is_carried(),
            Hook::Parses(parser) if parser.estimates => self.parses || self.config.shadow.is_carried(),
            Hook::Parses(_) | Hook::ParsesInteger(_) | Hook::ParsesData => self.parses,
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

    /// The function at `pc`, if it is hooked for that alone and simple.
    pub(crate) fn function(&self, pc: u64) -> Option<Counted> {
        let state = self.state.lock();
        let Hooked { meaning, is_resolver: false } = *state.hooked.get(&pc)? else { return None };
        let Hook::Math(math) = meaning.hook else { return None };
        // What is to be traced comes to the engine.
        let is_seen_to = self.config.shadow.functions().is_some() && !self.settings().budget;
        let counts = is_seen_to && self.config.trace.is_none();
        let alone = counts && !state.named.contains_key(&pc);
        let number = u16::try_from(meaning.name).ok().filter(|&n| alone && usize::from(n) < FUNCTIONS)?;
        Some(Counted { function: math.simple()?, number })
    }

    /// For which formats sums in the code at `pc` may round by a magic number: any, in code that is from no file.
    pub(crate) fn rounding(&self, pc: u64) -> Rounding {
        if !self.config.shadow.policy().magic_rounds {
            return Rounding::default();
        }
        let file = self.state.lock().file_at(pc).cloned();
        file.map_or(Rounding::ANY, |file| file.rounding())
    }

    /// Functions were called this often, by their numbers, without the session's being asked.
    pub(crate) fn count_calls(&self, calls: &[u64]) {
        let mut state = self.state.lock();
        state.names.iter_mut().zip(calls).for_each(|((_, total), calls)| *total += calls);
    }

    /// The user's settings of the shadow.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            precision: self.config.precision,
            error_threshold: self.config.error_threshold,
            expr_depth: self.config.expression_depth,
            fast: !self.config.slow,
            settles: self.config.settles,
            remedies: self.config.remedies,
            budget: self.config.budget,
            tape_memory: self.config.tape_memory,
            tape_dir: self.config.tape_dir.clone(),
            trace: self.config.trace.is_some(),
        }
    }

    /// Tells whether shadows are carried before there is a seed.
    pub(crate) fn annotates(&self) -> bool {
        self.config.annotate
    }

    /// Tells whether the tool may use AVX-512.
    pub(crate) fn may_use_avx512(&self) -> bool {
        self.config.avx512
    }

    /// Tells whether all that meets a shadow is left to the engine.
    pub(crate) fn is_slow(&self) -> bool {
        self.config.slow
    }

    /// The shadow that is carried.
    pub(crate) fn shadow(&self) -> ShadowKind {
        self.config.shadow
    }

    /// The site of the instruction at `pc`.
    pub(crate) fn site(&self, pc: u64) -> Site {
        self.state.lock().report.sites.at(pc)
    }

    /// An address of the site in this process, if its module is there.
    pub(crate) fn address(&self, site: Site) -> Option<u64> {
        self.state.lock().report.sites.address(site)
    }

    /// Code was made for the shadows of these instructions, which compute with floats.
    pub(crate) fn translated(&self, operations: impl Iterator<Item = u64>) {
        let mut operations = operations.peekable();
        if operations.peek().is_some() {
            self.state.lock().shadowed.extend(operations);
        }
    }

    /// An instruction that is not understood dropped a shadow. `code` tells it from others that were at the same site.
    pub(crate) fn gap(&self, site: Site, code: usize, instruction: impl FnOnce() -> String) {
        let mut state = self.state.lock();
        state.gaps.entry((site, code)).or_insert_with(|| (instruction(), 0)).1 += 1;
    }

    /// Tells whether the comparison at `pc` is counted. How the C library goes about what it does is its own business.
    pub(crate) fn counts_comparison(&self, pc: u64) -> bool {
        let counts = self.config.shadow.policy().decisions;
        counts && !self.state.lock().file_at(pc).is_some_and(|file| file.is_taken_as_whole())
    }

    /// The number under which translated code counts the comparison at `pc`, as long as there are numbers.
    pub(crate) fn number_of_comparison(&self, pc: u64) -> Option<u16> {
        let mut state = self.state.lock();
        let site = state.report.sites.at(pc);
        state.number(Numbered::Comparison(site))
    }

    /// The number under which translated code counts what [`Session::gap`] does otherwise.
    pub(crate) fn number_of_gap(
        &self,
        site: Site,
        code: usize,
        name: impl FnOnce() -> String,
    ) -> Option<u16> {
        let mut state = self.state.lock();
        state.gaps.entry((site, code)).or_insert_with(|| (name(), 0));
        state.number(Numbered::Gap(site, code))
    }

    /// The comparison at `pc` met a shadow; `is_equal`: it was asked for equality, and found it.
    pub(crate) fn decided(&self, pc: u64, site: Site, is_equal: bool) {
        if !self.counts_comparison(pc) {
            return;
        }
        let mut state = self.state.lock();
        let decided = state.decided(site);
        decided.count += 1;
        decided.equal += u64::from(is_equal);
    }

    /// Translated code has counted this, by number.
    pub(crate) fn count(&self, counts: &[u64]) {
        let mut state = self.state.lock();
        for (&what, &count) in state.numbered.clone().iter().zip(counts) {
            match (what, count) {
                (_, 0) => {}
                (Numbered::Comparison(site), count) => state.decided(site).count += count,
                (Numbered::Gap(site, code), count) => {
                    state.gaps.entry((site, code)).and_modify(|(_, total)| *total += count);
                }
            }
        }
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

    /// This process is a forked child: its report is about what comes, and goes to files of its own.
    pub(crate) fn forked(&self) {
        let mut state = self.state.lock();
        let fresh = Report::new(
            self.config.shadow.name(),
            self.config.shadow.subject(),
            self.config.argv.clone(),
            std::process::id(),
        );
        let old = std::mem::replace(&mut state.report, fresh);
        state.report.sites = old.sites;
        state.report.inputs = old.inputs;
        let labels: Vec<String> = state.jobs.labels.clone();
        state.labels = labels.iter().map(|label| state.report.outputs.label(label)).collect();
        state.names.iter_mut().for_each(|(_, calls)| *calls = 0);
        state.left_out.iter_mut().for_each(|(_, calls)| *calls = 0);
        state.gaps.values_mut().for_each(|(_, count)| *count = 0);
        state.decisions.clear();
        state.erred.clear();
        state.sent.clear();
        state.worst_sent.clear();
        state.destinations.forked = true;
    }

    /// A process is about to be made: what its programs are is to be known here.
    pub(crate) fn forking(&self) {
        if self.config.shadow.is_carried() {
            self.tree.write("");
        }
    }

    /// Keeps all other threads out of the session, across a `fork`, until dropped on both sides.
    pub(crate) fn hold(&self) -> impl Drop + '_ {
        self.state.lock()
    }

    pub(super) fn note(&self, address: u64) {
        let (word, bit) = filter_bit(address);
        self.filter[word].fetch_or(bit, Ordering::Relaxed);
    }
}

/// The rules of all these files.
fn suppressions(files: &[PathBuf]) -> Result<Suppressions, String> {
    let mut all = Suppressions::default();
    for path in files {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        all.extend(text.parse().map_err(|error| format!("{}: {error}", path.display()))?);
    }
    Ok(all)
}

/// Word and bit of an address in the filter.
fn filter_bit(address: u64) -> (usize, u64) {
    // Fibonacci hashing: the upper bits of the product depend on all of the address.
    let hash = address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
    ((hash >> 6) as usize % FILTER, 1 << (hash & 63))
}

impl State {
    /// The file that the code at `pc` is from.
    pub(super) fn file_at(&self, pc: u64) -> Option<&Arc<ModuleFile>> {
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
        self.unrun.retain(|(range, _)| stays(range));
        self.hooked.retain(|&address, _| outside(address));
        self.named.retain(|&address, _| outside(address));
        self.assigned.retain(|&address, _| outside(address));
        self.returns.retain(|&address| outside(address));
        self.call_sites.retain(|&(at, entered), _| outside(at) && entered.is_none_or(outside));
    }

    /// The number of what translated code is to count, as long as there are numbers.
    fn number(&mut self, what: Numbered) -> Option<u16> {
        if let Some(&number) = self.number_of.get(&what) {
            return Some(number);
        }
        let number = u16::try_from(self.numbered.len()).ok().filter(|&n| usize::from(n) < COUNTS)?;
        self.numbered.push(what);
        self.number_of.insert(what, number);
        Some(number)
    }

    fn decided(&mut self, site: Site) -> &mut Decided {
        self.decisions.entry(site).or_insert(Decided { count: 0, equal: 0, site })
    }

    fn name(&mut self, symbol: &str) -> usize {
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
                self.named.entry(address).or_default().push(function.job);
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
