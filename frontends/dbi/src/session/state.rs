//! The session itself: what it knows, from its beginning on, and across forks.
//!
//! What is loaded where is in [`mapped`], what is counted in [`counted`].

mod counted;
mod mapped;

pub(crate) use counted::Decision;

use super::boxes::Boxes;
use super::by_value::TakenFloats;
use super::config::SessionConfig;
use super::known::KnownFloats;
use super::locals::Watched;
use super::modules::{Meaning, ModuleFile};
use super::outputs;
use super::own_texts::OwnTexts;
use super::parsed::{self, ParsedInputs};
use super::places::Loaded;
use super::python::Python;
use super::seeds::{self, Jobs};
use super::sent::{self, Badness};
use super::spec_failure::SpecFailure;
use super::tree::{self, Tree};
use super::walk::Walks;
use crate::engine::Lock;
use crate::hooks::{Hotspot, LeftOut, Statements};
use crate::shadows::ShadowKind;
use hashbrown::{HashMap, HashSet};
use shadowgrind_core::findings::{Decided, Label, Listed, Listing, Report, Rounded};
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
use std::sync::atomic::{AtomicBool, AtomicU64};

const FILTER: usize = 1024;

/// One per process image; shared by all threads.
pub(crate) struct Session {
    pub(super) config: SessionConfig,
    program: PathBuf,
    pub(super) tree: Box<dyn Tree>,
    /// True if a module is loaded whose variables are to be seeded before any of its code runs.
    awaits_code: AtomicBool,
    /// True once a Java virtual machine is loaded. Asked for each instruction that is translated, without a lock.
    pub(super) has_java: AtomicBool,
    /// True once integer code has taken a float with a shadow.
    pub(super) takes: AtomicBool,
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
    pub(super) own_texts: OwnTexts,
    /// Functions that parse, by their addresses, which are not looked at as long as no such text was written.
    later: Vec<(u64, Hooked)>,
    pub(super) labels: Vec<Label>,
    /// True if printed floats are outputs.
    pub(super) printed: bool,
    pub(super) files: HashMap<PathBuf, Arc<ModuleFile>>,
    /// Ranges of code, each with its module.
    code: Vec<(Range<u64>, Arc<ModuleFile>)>,
    /// Memory of files with code that cannot be written.
    pub(super) constants: Vec<Range<u64>>,
    /// Functions by their addresses in this process.
    pub(super) hooked: HashMap<u64, Hooked>,
    /// Functions that SPECs name.
    pub(super) named: HashMap<u64, Named>,
    /// Instructions that may assign local variables that SPECs name.
    pub(super) assigned: HashMap<u64, Vec<Watched>>,
    /// Addresses that calls return to, and those after such instructions.
    pub(super) returns: HashSet<u64>,
    /// Call instructions by return address, and by the function entered if it is known: some are jumped to.
    pub(super) call_sites: HashMap<(u64, Option<u64>), Site>,
    /// Names of hooked functions, and how often each was taken as one operation.
    pub(super) names: Vec<(String, u64)>,
    name_of: HashMap<String, usize>,
    /// The places where floats left in binary form, by their numbers among those of the report, or below.
    pub(super) sent: HashMap<sent::Place, usize>,
    /// Floats that left at them, where derivatives stand in place.
    pub(super) untold: Vec<sent::Untold>,
    /// The badness of the worst float that left at each site.
    pub(super) worst_sent: Vec<Badness>,
    /// Addresses of instructions that compute with floats and have been given code for their shadows.
    pub(super) shadowed: HashSet<u64>,
    /// Instructions that dropped shadows, by site and the instruction's number in the decoder, and how often.
    pub(super) gaps: HashMap<(Site, usize), (String, u64)>,
    /// Floats whose digits integer code has taken.
    pub(super) taken: TakenFloats,
    /// Floats that known functions have made text of.
    pub(super) known: KnownFloats,
    /// Comparisons of floats, and how often one met a shadow.
    pub(super) decisions: HashMap<Site, Decided>,
    /// Roundings of floats with shadows to whole numbers, by the instruction or call.
    pub(super) roundings: HashMap<Site, Rounded>,
    /// The program has set shadows itself.
    pub(super) sets_shadows: bool,
    /// Values of the inputs and outputs that the program has made itself, by their numbers in the record of the run.
    pub(super) indices: HashMap<u64, f64>,
    /// The interpreter of the program, if it is one whose scripts can be followed.
    pub(super) python: Option<Python>,
    /// The Java virtual machine of the program, if it has one and texts that are parsed are wanted.
    pub(super) java: Option<Hotspot>,
    /// Functions of run-time systems that were not looked at, and the number of calls.
    pub(super) left_out: Vec<(&'static LeftOut, u64)>,
    /// True if numbers without a shadow whose text is written nowhere are no outputs.
    pub(super) leaves_out_unwritten: bool,
    /// Run-time systems of which it is not known where they print floats.
    pub(super) unwatched: Vec<&'static str>,
    /// Fortran's statements that write.
    pub(super) statements: Statements,
    /// Numbers in boxes that others share.
    pub(super) boxes: Boxes,
    /// Call frame information of files, read when it is asked for.
    pub(super) frames: HashMap<PathBuf, Option<CallFrames>>,
    /// Walks up stacks.
    pub(super) walks: Walks,
    /// Callers that are noted of a finding or an output, at most.
    pub(super) num_callers: usize,
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

/// Events that translated code counts by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Numbered {
    /// A comparison that met a shadow.
    Comparison(Site),
    /// A rounding to a whole number that met one.
    Rounding(Site),
    /// Calls of a function that makes whole numbers, which met one.
    Calls(Site),
    /// An instruction that dropped one, as [`State::gaps`] has it.
    Gap(Site, usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Hooked {
    pub(super) meaning: Meaning,
    pub(super) is_resolver: bool,
}

/// A function that SPECs name.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    /// Numbers of the jobs.
    pub(super) jobs: Vec<usize>,
    /// True if they are for the function whose address this one, an IFUNC's resolver, returns.
    pub(super) is_resolver: bool,
}

impl State {
    /// State at the start, in which nothing was seen yet.
    fn new(report: Report, jobs: Jobs, config: &SessionConfig) -> State {
        let is_named = |output: &OutputSpec| matches!(output, OutputSpec::Named { .. });
        let printed = config.outputs.is_empty() || !config.outputs.iter().all(is_named);
        State {
            report,
            destinations: config.reports.clone(),
            suppressions: Suppressions::default(),
            jobs,
            moves: config.moves.clone(),
            parsed: None,
            labels: Vec::new(),
            printed,
            files: HashMap::new(),
            code: Vec::new(),
            constants: Vec::new(),
            hooked: HashMap::new(),
            named: HashMap::new(),
            assigned: HashMap::new(),
            returns: HashSet::new(),
            call_sites: HashMap::new(),
            names: Vec::new(),
            name_of: HashMap::new(),
            sent: HashMap::new(),
            untold: Vec::new(),
            worst_sent: Vec::new(),
            shadowed: HashSet::new(),
            gaps: HashMap::new(),
            own_texts: OwnTexts::default(),
            later: Vec::new(),
            taken: TakenFloats::above(config.error_threshold),
            known: KnownFloats::default(),
            decisions: HashMap::new(),
            roundings: HashMap::new(),
            sets_shadows: false,
            indices: HashMap::new(),
            python: None,
            java: None,
            left_out: Vec::new(),
            leaves_out_unwritten: config.leaves_out_unwritten(),
            unwatched: Vec::new(),
            statements: Statements::default(),
            boxes: Boxes::default(),
            frames: HashMap::new(),
            walks: Walks::default(),
            num_callers: config.num_callers,
            erred: HashSet::new(),
            numbered: Vec::new(),
            number_of: HashMap::new(),
            loaded: Vec::new(),
            unrun: Vec::new(),
            seeded: Vec::new(),
        }
    }
}

/// A report of this process that says nothing yet.
fn empty_report(config: &SessionConfig) -> Report {
    let shadow = config.shadow;
    Report::new(shadow.name(), shadow.subject(), config.argv.clone(), std::process::id())
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
        let mut report = empty_report(&config);
        report.inputs =
            config.inputs.iter().map(|input| outputs::unseeded(&input.text, input.weight)).collect();
        let labels = jobs.labels.iter().map(|label| report.outputs.label(label)).collect();
        report.listing = config.list.map(Listing::new);
        let parsed = ParsedInputs::of(&config.inputs, config.list == Some(Listed::Inputs));
        let parses = parsed.is_some();
        if parses && tree.is_first_program() {
            tree::note_words(&*tree, &config.argv);
        }
        let names_scripts = !jobs.scripts.is_empty();
        let state = State { suppressions, parsed, labels, ..State::new(report, jobs, &config) };
        let filter = Box::new([const { AtomicU64::new(0) }; FILTER]);
        let [awaits_code, has_java, takes] = std::array::from_fn(|_| AtomicBool::new(false));
        Ok(Session {
            config,
            program,
            tree,
            awaits_code,
            has_java,
            takes,
            parses,
            names_scripts,
            filter,
            state: Lock::new(state),
        })
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

    /// Begins a forked child: its report is about what comes, and goes to files of its own.
    pub(crate) fn forked(&self) {
        let mut state = self.state.lock();
        let old = std::mem::replace(&mut state.report, empty_report(&self.config));
        state.report.sites = old.sites;
        state.report.inputs = old.inputs;
        let labels: Vec<String> = state.jobs.labels.clone();
        state.labels = labels.iter().map(|label| state.report.outputs.label(label)).collect();
        state.names.iter_mut().for_each(|(_, calls)| *calls = 0);
        state.left_out.iter_mut().for_each(|(_, calls)| *calls = 0);
        state.gaps.values_mut().for_each(|(_, count)| *count = 0);
        state.taken.forked();
        state.decisions.clear();
        state.roundings.clear();
        state.erred.clear();
        state.sent.clear();
        state.untold.clear();
        state.worst_sent.clear();
        state.own_texts.forked();
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
