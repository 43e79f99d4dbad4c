//! The end of a session: outputs that are sampled last, what the shadow found, and the reports.

use super::observer::Observer;
use super::script_variable::ScriptVariable;
use super::seeds::Purpose;
use super::state::{Session, State};
use super::tree;
use crate::engine::ProgramEnd;
use crate::hooks;
use crate::hooks::machine::Machine;
use hashbrown::HashMap;
use shadowgrind_core::findings::{Gap, LeftOut, Topic, Wrapped};
use shadowgrind_core::shadow::Derivatives;
use shadowgrind_core::site::{Module, Place};
use shadowgrind_reports::document::{Document, Symbols};
use shadowgrind_reports::verdict::Verdict;
use shadowgrind_reports::{suppress, trace};
use shadowgrind_symbols::{SymbolFile, demangle};
use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// The exit status that warnings come to, if they are to count: that of a command that was not given as meant.
const STRICT: i32 = 2;

impl Session {
    /// The program has ended: writes all reports, that for people to `terminal`. `m` is a thread of the program, if its
    /// memory is still to be read. The exit status to be given instead of the program's own, if there is one.
    pub(crate) fn finish(
        &self,
        end: ProgramEnd,
        observer: &mut dyn Observer,
        m: Option<&mut dyn Machine>,
        terminal: &mut dyn Write,
    ) -> Option<i32> {
        let state = &mut *self.state.lock();
        self.look_once_more(state, end, observer, m);
        let is_concerned = self.is_concerned(state);
        let mut symbols = Files::default();
        self.sum_up(state, is_concerned, observer, &mut symbols);
        let not_found = self.not_found(state);
        if !is_concerned {
            self.withhold(state, not_found.is_empty());
        }
        tell(terminal, self.write_trace(state, observer, &mut symbols));
        self.judge(state, observer, &mut symbols);
        if is_concerned && self.config.shadow.policy().derivatives.is_some() {
            state.warn_of_independence();
        }
        self.withhold_empty(state);
        if is_concerned {
            self.confirm(state, &mut symbols);
        }
        let verdict = self.write_reports(state, &not_found, &mut symbols, terminal);
        self.exit_status(state, verdict).filter(|_| matches!(end, ProgramEnd::Exited(_)))
    }
}

/// Prints one line for each of these texts.
fn tell(terminal: &mut dyn Write, texts: impl IntoIterator<Item: Display>) {
    for text in texts {
        let _ = writeln!(terminal, "shadowgrind: {text}");
    }
}

impl Session {
    /// Warns of what is known at the end only, and completes the report with what the shadow found.
    fn sum_up(
        &self,
        state: &mut State,
        is_concerned: bool,
        observer: &mut dyn Observer,
        symbols: &mut Files,
    ) {
        self.warn_at_end(state, symbols, is_concerned);
        if self.tree.is_first_process() {
            state.count_left(&*self.tree);
        }
        state.tell_sent();
        state.gather(observer, self.config.shadow.is_carried());
        state.leave_out_writers(symbols);
    }

    /// Withholds the reports of a program on the way to the one that is meant: of it there is nothing to say. On the
    /// terminal there is, unless `all_found`.
    fn withhold(&self, state: &mut State, all_found: bool) {
        if all_found {
            state.destinations.terminal = None;
        }
        if !self.tree.is_first_process() {
            state.destinations.files.clear();
        }
    }

    /// Withholds on the terminal what would say nothing of a child process, unless all is to be said: a script runs many that compute
    /// nothing.
    fn withhold_empty(&self, state: &mut State) {
        let is_child = !self.tree.is_first_process() && self.config.shadow.is_carried();
        if is_child
            && state.report.is_empty()
            && state.destinations.terminal.is_some_and(|style| !style.verbose)
        {
            state.destinations.terminal = None;
        }
    }

    /// Puts the outputs in order, asks the shadow about those that are to be reported, and takes out what is suppressed.
    fn judge(&self, state: &mut State, observer: &mut dyn Observer, symbols: &mut Files) {
        state.place_outputs();
        state.report.coverage.unwritten = state.own_texts.unwritten(&state.report.outputs);
        state.list_outputs();
        let outputs = state.choose_outputs(&self.config.outputs, symbols);
        state.ask(&self.config, outputs, observer);
        state.suppressions.apply(&mut state.report, symbols);
        state.warn_of_suppressed();
        state.warn_of_capped(self.config.shadow.confirmed_by());
    }

    /// Writes all reports, and to `terminal` also the warnings and what was `not_found`; the verdict they come to.
    fn write_reports(
        &self,
        state: &mut State,
        not_found: &[String],
        symbols: &mut Files,
        terminal: &mut dyn Write,
    ) -> Verdict {
        let said = state.report.warnings.len();
        not_found.iter().for_each(|text| state.warn_of_not_found(text));
        let document = Document::new(&state.report, symbols);
        let verdict = document.verdict;
        let written = shadowgrind_reports::write(&document, &state.destinations, terminal);
        tell(terminal, written.err().unwrap_or_default());
        self.say(state, said, symbols, terminal);
        tell(terminal, not_found);
        let _ = terminal.flush();
        verdict
    }

    /// The exit status that findings and warnings come to, if they are to count.
    fn exit_status(&self, state: &State, verdict: Verdict) -> Option<i32> {
        let fails = self.config.fail_on.iter().any(|&concern| verdict.has(concern));
        let is_strict = self.config.strict && !state.report.warnings.is_empty();
        self.config.error_exitcode.filter(|_| fails).or(is_strict.then_some(STRICT))
    }
}

impl Session {
    /// Notes how the program has ended, and what its memory `m` has then, if that is still to be read.
    fn look_once_more(
        &self,
        state: &mut State,
        end: ProgramEnd,
        observer: &mut dyn Observer,
        m: Option<&mut dyn Machine>,
    ) {
        state.note_end(end);
        let Some(m) = m else { return };
        state.find_last_taken(observer, m);
        state.do_all(|job| matches!(job.purpose, Purpose::Sample(_)), observer, m);
        if self.config.shadow.policy().derivatives.is_some() {
            state.count_overwritten_inputs(m);
        }
        if self.config.shadow.policy().derivatives == Some(Derivatives::InPlace) {
            state.warn_of_overwritten_inputs(observer, m);
        }
    }

    /// Says the first `said` warnings, and prints suppressions if those were asked for.
    fn say(&self, state: &State, said: usize, symbols: &mut Files, terminal: &mut dyn Write) {
        let has_reader = self.has_reader(state);
        // What was not found is said below.
        for warning in &state.report.warnings[..said] {
            if has_reader || State::is_always_said(warning.code) {
                let _ = writeln!(terminal, "shadowgrind: warning: {}", warning.message);
            }
        }
        if self.config.gen_suppressions {
            let _ = write!(terminal, "{}", suppress::generate(&state.report, symbols));
        }
    }
}

impl Session {
    /// Writes what each operation has computed, if a file for that was given; why that failed, if it did.
    fn write_trace(&self, state: &State, observer: &mut dyn Observer, symbols: &mut Files) -> Option<String> {
        let path = self.config.trace.as_ref().filter(|_| !state.destinations.forked)?;
        let written = File::create(path).and_then(|file| {
            let mut file = BufWriter::new(file);
            trace::write(&observer.trace(), &state.report.sites, symbols, &mut file)?;
            file.flush()
        });
        written.err().map(|error| format!("cannot write {}: {error}", path.display()))
    }

    /// SPECs that no program of the tree has, in the process that speaks for all.
    fn not_found(&self, state: &State) -> Vec<String> {
        if self.tree.is_first_process() {
            tree::not_found(&*self.tree, &state.jobs.missing)
        } else {
            Vec::new()
        }
    }

    /// Tells whether the program has anything to do with what was asked for.
    fn is_concerned(&self, state: &State) -> bool {
        let asked = self.parses || self.names_scripts || !state.jobs.missing.is_empty();
        let lists = state.report.listing.as_ref().is_some_and(|listing| !listing.entries.is_empty());
        let has = lists
            || state.jobs.scripts.iter().any(ScriptVariable::is_reached)
            || !state.jobs.all.is_empty()
            || state.report.inputs.iter().any(|input| input.count > 0);
        // Of numbers that nobody has parsed, the first process says so.
        let speaks = (self.parses || self.names_scripts)
            && self.tree.is_first_process()
            && tree::all_found(&*self.tree).is_empty();
        !asked || has || speaks
    }
}

impl State {
    /// Notes how the program has ended.
    fn note_end(&mut self, end: ProgramEnd) {
        match end {
            ProgramEnd::Exited(status) => self.report.program.exit_code = Some(status),
            ProgramEnd::Killed(signal) => {
                self.report.program.signal = Some(signal_name(signal));
                self.report.partial = true;
            }
        }
    }

    /// Completes the report with what is known at the end only.
    fn gather(&mut self, observer: &mut dyn Observer, carries: bool) {
        self.report.findings = observer.findings();
        self.average_shares();
        self.report.settings = observer.settings();
        observer.coverage(&mut self.report.coverage);
        // Where outputs are named, those are all that matter.
        self.report.coverage.unwatched = if self.printed { self.unwatched.clone() } else { Vec::new() };
        self.report.coverage.instructions = carries.then_some(self.shadowed.len() as u64);
        self.gather_gaps(observer);
        self.gather_functions();
        let decisions = &mut self.report.coverage.decisions;
        decisions.extend(self.decisions.drain().map(|(_, decided)| decided));
        decisions.sort_by_key(|decided| (std::cmp::Reverse((decided.at_least, decided.count)), decided.site));
        let roundings = &mut self.report.coverage.roundings;
        roundings
            .extend(self.roundings.drain().map(|(_, rounded)| rounded).filter(|rounded| rounded.count > 0));
        roundings.sort_by_key(|rounded| (std::cmp::Reverse(rounded.count), rounded.site));
    }

    /// Reports the instructions without a row in the tables that met shadows, the most frequent first; those whose floats
    /// were found again do not count.
    fn gather_gaps(&mut self, observer: &mut dyn Observer) {
        for (of, found) in self.taken.found.drain() {
            self.gaps.entry(of).and_modify(|(_, count)| *count = count.saturating_sub(found));
        }
        self.forget_all_taken(observer);
        let met = self.gaps.drain().filter(|(_, (_, count))| *count > 0);
        let gaps = &mut self.report.coverage.gaps;
        gaps.extend(met.map(|((site, _), (instruction, count))| Gap { instruction, count, site }));
        gaps.sort_by(|a, b| (b.count, &a.instruction, a.site).cmp(&(a.count, &b.instruction, b.site)));
    }

    /// Reports the functions that were called: those taken as one operation, the most frequent first, and those left out.
    fn gather_functions(&mut self) {
        let left_out = self.left_out.iter().filter(|(_, calls)| *calls > 0);
        let left_out = left_out.map(|(row, calls)| LeftOut { reason: row.reason, calls: *calls });
        self.report.coverage.left_out = left_out.collect();
        let called = self.names.iter().filter(|(_, calls)| *calls > 0);
        let wrapped = &mut self.report.coverage.wrapped;
        wrapped.extend(called.map(|(symbol, calls)| Wrapped { function: demangle(symbol), calls: *calls }));
        wrapped.sort_by(|a, b| (b.calls, &a.function).cmp(&(a.calls, &b.function)));
    }
}

impl State {
    /// Forgets what functions have decided that only look at how a float is to be written.
    fn leave_out_writers(&mut self, symbols: &mut Files) {
        let sites = &self.report.sites;
        self.report.findings.retain(|finding| {
            let at = sites.get(finding.site).filter(|_| finding.kind.topic() == Topic::Decision);
            let function = at.and_then(|(module, offset)| symbols.place(module, offset).function);
            !function.is_some_and(|function| hooks::writes(&function))
        });
    }
}

/// The files of the program, opened when one is asked for.
#[derive(Default)]
struct Files {
    modules: HashMap<String, Option<SymbolFile>>,
    sources: HashMap<String, Option<Vec<String>>>,
}

impl Symbols for Files {
    fn place(&mut self, module: &Module, offset: u64) -> Place {
        let open = || {
            let file = SymbolFile::open(Path::new(&module.path)).ok()?;
            // A file that was replaced since has other lines at the same addresses.
            (file.build_id() == module.build_id).then_some(file)
        };
        let file = self.modules.entry(module.path.clone()).or_insert_with(open);
        match file {
            Some(file) => file.place(offset),
            None => Place { module: Some(module.path.clone()), offset: Some(offset), ..Place::default() },
        }
    }

    fn source_line(&mut self, file: &str, line: u32) -> Option<String> {
        let read = || {
            let text = std::fs::read(file).ok()?;
            Some(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
        };
        let lines = self.sources.entry(file.to_owned()).or_insert_with(read).as_ref()?;
        lines.get((line as usize).checked_sub(1)?).cloned()
    }
}

/// The name of a signal, or `signal 40`.
fn signal_name(signal: i32) -> String {
    const NAMES: [&str; 31] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
        "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
        "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    ];
    let name = usize::try_from(signal - 1).ok().and_then(|number| NAMES.get(number));
    name.map_or_else(|| format!("signal {signal}"), |name| format!("SIG{name}"))
}
