//! Targets of `--input` and `--output`, resolved against the files of the program.
//!
//! The program's own file and the libraries it needs are looked at before anything runs; what is not there may be in a
//! module that is loaded later, or in another program that is executed. Where the floats then are in a running program,
//! [`super::places`] knows.

use super::config::SessionConfig;
use super::locals::AwaitedAssignment;
use super::needed::Needed;
use super::places::{NoPlace, Place, Whence};
use super::script_variable::ScriptVariable;
use shadowgrind_core::spec::{Callee, Calls, InputTarget, OutputSpec, Slot, Target};
use shadowgrind_symbols::{Function, Lacks, LookupError, OpenError, SymbolFile};
use std::fmt;
use std::path::{Path, PathBuf};

/// Reason why a SPEC, or another file the session needs, is no good: one line.
#[derive(Debug)]
pub enum SpecFailure {
    /// A SPEC names nothing that can be seeded or sampled.
    Lookup {
        /// The option and its SPEC.
        option: String,
        /// The error of the look-up.
        error: LookupError,
    },
    /// A SPEC that cannot be followed although what it names is known.
    Unsupported {
        /// The option and its SPEC.
        option: String,
        /// Why.
        why: String,
    },
    /// The program's symbols cannot be read, but SPECs were given.
    Program(OpenError),
    /// A suppressions file cannot be read or understood.
    Suppressions(String),
}

impl fmt::Display for SpecFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecFailure::Lookup { option, error } => write!(f, "{option}: {error}"),
            SpecFailure::Unsupported { option, why } => write!(f, "{option}: {why}"),
            SpecFailure::Program(error) => write!(f, "{error}"),
            SpecFailure::Suppressions(error) => write!(f, "--suppressions: {error}"),
        }
    }
}

impl std::error::Error for SpecFailure {}

impl SpecFailure {
    /// Tells whether another file may have what this one does not.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self, SpecFailure::Lookup { error: LookupError::Unknown { .. }, .. })
    }

    /// Tells whether it names what the user may have meant.
    pub(super) fn helps(&self) -> bool {
        match self {
            SpecFailure::Lookup { error: LookupError::Unknown { near, .. }, .. } => !near.is_empty(),
            SpecFailure::Program(_) => false,
            _ => true,
        }
    }
}

/// Purpose of a target: its floats are seeded or sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Purpose {
    /// Number of the input.
    Seed(usize, f64),
    /// Number of the SPEC.
    Sample(usize),
}

/// Moment at which it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// At the start of the program, or, for an output, its end.
    Once,
    Entry,
    Return,
    /// At each assignment of a local variable.
    Assigned,
}

/// One thing to be done for a SPEC.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) purpose: Purpose,
    pub(super) place: Place,
    pub(super) when: When,
    /// The calls at which it is to be done.
    pub(super) calls: Calls,
    /// Number of calls so far at which that might have been.
    pub(super) met: u64,
}

impl Job {
    /// Tells whether it seeds.
    pub(super) fn is_seed(&self) -> bool {
        matches!(self.purpose, Purpose::Seed(..))
    }

    /// Tells whether it is about a variable of the file of this number.
    pub(super) fn is_of(&self, number: usize) -> bool {
        matches!(self.place, Place::Memory { file, .. } if file == number)
    }
}

/// A function that a job waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    /// Number of the file it is in.
    pub(super) file: usize,
    /// Link-time address.
    pub(super) address: u64,
    pub(super) job: usize,
}

/// A SPEC that is to be found.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// The option, as it was written.
    pub(super) option: String,
    purpose: Purpose,
    target: Target,
}

impl Wanted {
    fn is_seed(&self) -> bool {
        matches!(self.purpose, Purpose::Seed(..))
    }

    /// Job of seeding or sampling the floats at `place`, at `calls` of a function.
    fn job(&self, place: Place, when: When, calls: &Calls) -> Job {
        Job { purpose: self.purpose, place, when, calls: calls.clone(), met: 0 }
    }

    /// Failure of a SPEC that names something which cannot be followed.
    fn unsupported(&self, why: &str) -> SpecFailure {
        SpecFailure::Unsupported { option: self.option.clone(), why: why.to_owned() }
    }
}

/// A SPEC that no file so far has, and why.
#[derive(Debug)]
pub(super) struct Missing {
    pub(super) wanted: Wanted,
    pub(super) failure: SpecFailure,
}

/// All SPECs of a run, as far as they are resolved.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// Options about arguments of functions of which nothing is known but the machine code, and that are on the stack.
    pub(super) assumed: Vec<String>,
    pub(super) all: Vec<Job>,
    pub(super) functions: Vec<Awaited>,
    pub(super) assignments: Vec<AwaitedAssignment>,
    /// Options about local variables that have values which cannot be reached, and where.
    pub(super) partly: Vec<(String, String)>,
    /// The files that were looked at for SPECs, by their canonical paths; the program is the first.
    pub(super) files: Vec<PathBuf>,
    /// The SPECs of outputs, as they were written.
    pub(super) labels: Vec<String>,
    /// Options whose SPECs the program has, by itself or in its libraries.
    pub(super) found: Vec<String>,
    /// Variables of scripts that are outputs.
    pub(super) scripts: Vec<ScriptVariable>,
    /// SPECs that are still to be found.
    pub(super) missing: Vec<Missing>,
}

/// All SPECs of a run that name floats by where the program has them.
fn wanted(config: &SessionConfig) -> Vec<Wanted> {
    let inputs = config.inputs.iter().enumerate().filter_map(|(number, input)| match &input.target {
        InputTarget::Place(target) => Some(Wanted {
            option: format!("--input={}", input.text),
            purpose: Purpose::Seed(number, input.weight),
            target: target.clone(),
        }),
        InputTarget::Parsed(_) | InputTarget::Text(_) => None,
    });
    let named = config.outputs.iter().filter_map(|output| match output {
        OutputSpec::Named { text, target, .. } => Some((text, target)),
        _ => None,
    });
    let outputs = named.enumerate().map(|(number, (text, target))| Wanted {
        option: format!("--output={text}"),
        purpose: Purpose::Sample(number),
        target: target.clone(),
    });
    inputs.chain(outputs).collect()
}

/// Looks all SPECs up in the program's file, and what is not there in its libraries. Fails with what is certain to be wrong;
/// with what may turn up later, only if `insists`, as on a program that was executed by another it does not.
pub(super) fn resolve(config: &SessionConfig, program: &Path, insists: bool) -> Result<Jobs, SpecFailure> {
    let mut jobs = Jobs { files: vec![program.to_owned()], ..Jobs::default() };
    refuse_weights(config)?;
    jobs.labels = config.outputs.iter().filter_map(OutputSpec::text).map(str::to_owned).collect();
    let wanted = wanted(config);
    if wanted.is_empty() {
        return Ok(jobs);
    }
    let mut files = match Files::of_program(program) {
        Ok(files) => files,
        Err(error) if insists => return Err(SpecFailure::Program(error)),
        Err(error) => {
            let missing = |wanted| Missing { wanted, failure: SpecFailure::Program(error.clone()) };
            jobs.missing = wanted.into_iter().map(missing).collect();
            return Ok(jobs);
        }
    };
    for wanted in wanted {
        match jobs.add(&mut files, &wanted) {
            Ok(()) if matches!(wanted.target, Target::Script { .. }) => {}
            Ok(()) => jobs.found.push(wanted.option),
            Err(failure) if insists && !(failure.may_pass() && files.more_may_come()) => return Err(failure),
            Err(failure) => jobs.missing.push(Missing { wanted, failure }),
        }
    }
    jobs.files.extend(files.library_paths());
    Ok(jobs)
}

/// Refuses weights of outputs where there is no sum of them.
fn refuse_weights(config: &SessionConfig) -> Result<(), SpecFailure> {
    let sums = config.shadow.keeps_record();
    let weighted = config.outputs.iter().find(|output| output.weight().is_some());
    let Some(output) = weighted.filter(|_| !sums) else { return Ok(()) };
    let text = output.text().unwrap_or_default();
    Err(SpecFailure::Unsupported {
        option: format!("--output={text}"),
        why: format!("outputs have no weights under --shadow={}", config.shadow.name()),
    })
}

impl Jobs {
    /// Tells whether variables of the file of this number are seeded once, when it is loaded.
    pub(super) fn seeds(&self, number: usize) -> bool {
        self.all.iter().any(|job| job.when == When::Once && job.is_seed() && job.is_of(number))
    }

    /// Looks for what is missing in a module that has been loaded, unless that was done before. Its file can be read at
    /// `place`. Returns the options that were found.
    pub(super) fn look_into(&mut self, module: &Path, place: &Path) -> Vec<String> {
        if self.missing.is_empty() || self.files.iter().any(|path| path == module) {
            return Vec::new();
        }
        let number = self.files.len();
        self.files.push(module.to_owned());
        let Ok(mut files) = Files::of_module(place, number) else { return Vec::new() };
        let mut found = Vec::new();
        for missing in std::mem::take(&mut self.missing) {
            match self.add(&mut files, &missing.wanted) {
                Ok(()) => found.push(missing.wanted.option),
                Err(failure) if failure.may_pass() => self.missing.push(missing),
                Err(failure) => self.missing.push(Missing { failure, ..missing }),
            }
        }
        found
    }

    /// Adds what is to be done for a SPEC; nothing if it fails.
    fn add(&mut self, files: &mut Files, wanted: &Wanted) -> Result<(), SpecFailure> {
        let Wanted { option, purpose, target } = wanted;
        match target {
            Target::Variable { at: None, .. } => self.add_variable(files, wanted),
            Target::Variable { at: Some(function), .. } => {
                let when = if wanted.is_seed() { When::Entry } else { When::Return };
                self.add_calls(files, wanted, function, (when, &Calls::All))
            }
            Target::Call { function, slot, calls, .. } => {
                self.add_calls(files, wanted, function, (moment(*slot, wanted.is_seed()), calls))
            }
            Target::Script { name, subscripts } => {
                self.scripts.push(ScriptVariable::new(*purpose, option, name, subscripts));
                Ok(())
            }
            Target::Local { scope, variable } => self.add_local(files, (option, *purpose), (scope, variable)),
        }
    }

    /// Adds what is to be done once for a variable: at the start or the end of the program.
    fn add_variable(&mut self, files: &mut Files, wanted: &Wanted) -> Result<(), SpecFailure> {
        let place = files.place(&wanted.target, None).map_err(|error| error.into_failure(&wanted.option))?;
        if wanted.is_seed() && place.is_through_pointers() {
            return Err(wanted.unsupported(
                "this is reached through a pointer that the program sets while it runs: \
                 write @ and a function that is entered after that",
            ));
        }
        self.all.push(wanted.job(place, When::Once, &Calls::All));
        Ok(())
    }

    /// Adds what is to be done at `calls` of `function`, on their entry or return.
    fn add_calls(
        &mut self,
        files: &mut Files,
        wanted: &Wanted,
        function: &Callee,
        (when, calls): (When, &Calls),
    ) -> Result<(), SpecFailure> {
        let (file, places) = files.places_in(function, wanted)?;
        if places.iter().any(|(_, place)| place.is_on_stack()) && !files.knows(file, &places) {
            self.assumed.push(wanted.option.clone());
        }
        for (address, place) in places {
            self.functions.push(Awaited { file, address, job: self.all.len() });
            self.all.push(wanted.job(place, when, calls));
        }
        Ok(())
    }
}

/// The program's file, and those of its libraries once something was not found there; or that of one module.
pub(super) struct Files {
    first: SymbolFile,
    /// The number.
    number: usize,
    needed: Option<Needed>,
}

impl Files {
    fn of_program(program: &Path) -> Result<Files, OpenError> {
        Ok(Files { first: SymbolFile::open(program)?, number: 0, needed: None })
    }

    fn of_module(module: &Path, number: usize) -> Result<Files, OpenError> {
        Ok(Files { first: SymbolFile::open(module)?, number, needed: Some(Needed::default()) })
    }

    /// Places of what is `wanted` in the functions that `callee` means, each with the address of its function, and the number
    /// of the file they are in.
    fn places_in(
        &mut self,
        callee: &Callee,
        wanted: &Wanted,
    ) -> Result<(usize, Vec<(u64, Place)>), SpecFailure> {
        let failed = |error: NoPlace| error.into_failure(&wanted.option);
        let (file, functions) = self.functions(callee).map_err(failed)?;
        let mut places = Vec::new();
        for Function { address, is_ifunc, .. } in functions {
            if is_ifunc {
                return Err(wanted.unsupported(
                    "this function is chosen while the program starts (IFUNC) and cannot be named",
                ));
            }
            let place = self.place(&wanted.target, Some(Whence { file, address })).map_err(failed)?;
            places.push((address, place));
        }
        Ok((file, places))
    }

    /// Tells whether there is debug information of all these functions of a file.
    fn knows(&self, file: usize, functions: &[(u64, Place)]) -> bool {
        functions.iter().all(|&(address, _)| self.get(file).signature(address).is_some())
    }

    fn needed(&mut self) -> &Needed {
        self.needed.get_or_insert_with(|| Needed::by(self.first.path()))
    }

    /// Tells whether modules or programs may come that the program does not need to start.
    fn more_may_come(&mut self) -> bool {
        self.needed().more_may_come
    }

    fn library_paths(&self) -> impl Iterator<Item = PathBuf> {
        self.needed.iter().flat_map(|needed| &needed.files).map(|file| file.path().to_owned())
    }

    /// The file of this number.
    pub(super) fn get(&self, number: usize) -> &SymbolFile {
        match &self.needed {
            Some(needed) if number > self.number => &needed.files[number - self.number - 1],
            _ => &self.first,
        }
    }

    /// Result of `look_up` in a file of this number, and the number; failures are the first file's.
    pub(super) fn find<T>(
        &mut self,
        look_up: impl Fn(usize, &SymbolFile) -> Result<T, LookupError>,
    ) -> Result<(usize, T), LookupError> {
        let first = self.number;
        let unknown = match look_up(first, &self.first) {
            Ok(found) => return Ok((first, found)),
            Err(error @ LookupError::Unknown { .. }) => error,
            Err(error) => return Err(error),
        };
        let mut libraries = (first + 1..).zip(&self.needed().files);
        let found = libraries.find_map(|(number, file)| Some((number, look_up(number, file).ok()?)));
        found.ok_or(unknown)
    }

    /// The functions that `callee` means, and the number of the file they are in.
    fn functions(&mut self, callee: &Callee) -> Result<(usize, Vec<Function>), NoPlace> {
        match callee {
            Callee::Named(name) => Ok(self.find(|_, file| file.function(name))?),
            Callee::At { module, offset } => {
                let unknown = |file: &SymbolFile| LookupError::Unknown {
                    what: "module",
                    name: module.clone(),
                    path: file.path().to_owned(),
                    near: Vec::new(),
                    lacks: Lacks::Nothing,
                };
                let (number, function) = self.find(|_, file| match file.path().ends_with(module) {
                    true => Ok(file.function_at(*offset)),
                    false => Err(unknown(file)),
                })?;
                Ok((number, vec![function.ok_or_else(|| NoPlace::NoCode(module.clone()))?]))
            }
        }
    }
}

/// Moment at which a slot of a call is looked at: a float that a pointer leads to is a result where it is an output.
fn moment(slot: Slot, is_seed: bool) -> When {
    match slot {
        Slot::Argument(_) => When::Entry,
        Slot::Pointee(_) if is_seed => When::Entry,
        Slot::Pointee(_) | Slot::Result => When::Return,
    }
}
