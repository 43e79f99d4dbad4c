//! Local variables that SPECs name: what is to be done when the program assigns one, found before it runs.

mod flow;
mod running;

use super::places::{NoPlace, Place};
use super::seeds::{Awaited, Files, Job, Jobs, Purpose, When};
use super::spec_failure::SpecFailure;
use flow::{Assignment, Assignments};
pub(crate) use running::Assigning;
pub(super) use running::Watched;
use shadowgrind_core::site::Place as SourcePlace;
use shadowgrind_core::spec::{Calls, Scope, Variable};
use shadowgrind_symbols::{Local, SymbolFile};
use std::collections::BTreeSet;

/// Assignment of a local variable that a job waits for.
#[derive(Clone, Debug)]
pub(super) struct AwaitedAssignment {
    /// Number of the file it is in.
    pub(super) file: usize,
    assignment: Assignment,
    job: usize,
    /// The variable's place before the assignment.
    before: Option<Place>,
}

/// Places that are listed in a message.
const MOST: usize = 3;

/// All that is found of a SPEC's variables.
#[derive(Default)]
struct Found {
    jobs: Vec<Job>,
    /// Functions that are entered, and assignments, with the number of their job among these.
    entries: Vec<(u64, usize)>,
    assignments: Vec<(Assignment, Option<Place>, usize)>,
    /// Lines from which on the variable has a value that cannot be reached.
    unreached: BTreeSet<String>,
    /// Lines where it is assigned that are not asked for.
    elsewhere: BTreeSet<String>,
}

impl Jobs {
    /// Adds what is to be done when `variable` of `scope` is assigned.
    pub(super) fn add_local(
        &mut self,
        files: &mut Files,
        (option, purpose): (&str, Purpose),
        (scope, variable): (&Scope, &Variable),
    ) -> Result<(), SpecFailure> {
        let function = match scope {
            Scope::Function(name) => Some(name.as_str()),
            Scope::Line { .. } => None,
        };
        let failed = |error: NoPlace| error.into_failure(option);
        let locals = files.find(|_, file| file.locals(function, variable));
        let (file, locals) = locals.map_err(|error| failed(error.into()))?;
        let mut found = Found::default();
        for local in &locals {
            let stretches = local.stretches.iter();
            let reached = stretches.map(|stretch| files.reached(file, stretch.variable.clone(), None));
            let places = reached.collect::<Result<Vec<_>, _>>().map_err(failed)?;
            found.add(files.get(file), local, &places, purpose, scope);
        }
        if found.jobs.is_empty() {
            let why = found.nothing(scope, variable);
            return Err(SpecFailure::Unsupported { option: option.to_owned(), why });
        }
        if !found.unreached.is_empty() {
            self.partly.push((option.to_owned(), list(&found.unreached)));
        }
        self.await_assignments(file, found);
        Ok(())
    }

    /// Adds what was found in this file.
    fn await_assignments(&mut self, file: usize, found: Found) {
        let first = self.all.len();
        self.all.extend(found.jobs);
        let entries = found.entries.into_iter();
        self.functions.extend(entries.map(|(address, job)| Awaited {
            file,
            address,
            is_ifunc: false,
            job: first + job,
        }));
        let assignments = found.assignments.into_iter();
        self.assignments.extend(assignments.map(|(assignment, before, job)| AwaitedAssignment {
            file,
            assignment,
            job: first + job,
            before,
        }));
    }
}

impl Found {
    /// Adds the assignments of `local`, whose places are these, as far as they are in `scope`.
    fn add(&mut self, file: &SymbolFile, local: &Local, places: &[Place], purpose: Purpose, scope: &Scope) {
        let code = |range: &std::ops::Range<u64>| Some((range.start, file.code(range)?));
        let code: Vec<_> = local.code.iter().filter_map(code).collect();
        let found = flow::assignments(local, &code);
        if let Scope::Function(_) = scope {
            self.unreached.extend(undescribed(file, local, &code, &found));
        }
        let job = |place: usize, when| Job {
            purpose,
            place: places[place].clone(),
            when,
            calls: Calls::All,
            met: 0,
        };
        for assignment in found.all {
            // A seed would be that of another variable as well.
            let is_left_out = assignment.is_shared && matches!(purpose, Purpose::Seed(..));
            if !is_in(file, assignment.at, scope) {
                self.elsewhere.extend(assignment.is_certain().then(|| line(&file.place(assignment.at))));
                continue;
            }
            if is_left_out {
                self.unreached.insert(line(&file.place(assignment.next)));
                continue;
            }
            let before = assignment.before.map(|before| places[before].clone());
            self.assignments.push((assignment, before, self.jobs.len()));
            self.jobs.push(job(assignment.place, When::Assigned));
        }
        for place in found.entry.into_iter().filter(|_| is_in(file, local.entry, scope)) {
            self.entries.push((local.entry, self.jobs.len()));
            self.jobs.push(job(place, When::Entry));
        }
        let unreached = found.unreached.into_iter().filter(|&address| is_in(file, address, scope));
        self.unreached.extend(unreached.map(|address| line(&file.place(address))));
    }

    /// Reason why there is nothing to be done.
    fn nothing(&self, scope: &Scope, variable: &Variable) -> String {
        let name = &variable.name;
        match scope {
            Scope::Line { file, line } if !self.elsewhere.is_empty() => {
                format!("`{name}` is not assigned at {file}:{line}, but at {}", list(&self.elsewhere))
            }
            Scope::Line { file, line } => format!("no local variable `{name}` is assigned at {file}:{line}"),
            Scope::Function(_) => {
                format!(
                    "`{name}` was optimised away: no instruction gives it a value in a register or memory of its own"
                )
            }
        }
    }
}

/// The line that declares `local`, if there is code of it that gives the variable no value: one that debug information does not
/// tell of.
fn undescribed(
    file: &SymbolFile,
    local: &Local,
    code: &[(u64, Vec<u8>)],
    found: &Assignments,
) -> Option<String> {
    let own = file.place(local.entry).file;
    let declares = |place: &SourcePlace| place.line == local.line && place.file == own && own.is_some();
    let is_told = |address: u64| declares(&file.place(address));
    let is_whole_scope = local.stretches.iter().all(|stretch| stretch.is_whole_scope);
    let mut told = found.all.iter().map(|assignment| assignment.at).chain(found.unreached.iter().copied());
    if local.line.is_none() || local.is_parameter || is_whole_scope || told.any(is_told) {
        return None;
    }
    let mut places = flow::addresses(code).map(|address| file.place(address));
    places.find(declares).map(|place| line(&place))
}

/// Tells whether the instruction at `address` is in `scope`, given that it is in the function that may be named.
fn is_in(file: &SymbolFile, address: u64, scope: &Scope) -> bool {
    match scope {
        Scope::Function(_) => true,
        Scope::Line { file: name, line } => file.place(address).is_line(name, *line),
    }
}

/// The line of `place`, or the address where that is not known.
fn line(place: &SourcePlace) -> String {
    match (&place.file, place.line) {
        (Some(file), Some(line)) => format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)),
        _ => place.offset.map_or_else(|| "?".to_owned(), |offset| format!("{offset:#x}")),
    }
}

/// The first of `lines`, and how many more there are.
fn list(lines: &BTreeSet<String>) -> String {
    let first: Vec<&str> = lines.iter().take(MOST).map(String::as_str).collect();
    let more = lines.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    first.join(", ") + &more
}
