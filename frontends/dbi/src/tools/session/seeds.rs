//! What `--input` and `--output` name: resolved against the program's file before anything runs, found in its memory when
//! the time has come.

use super::config::SessionConfig;
use super::needed;
use crate::tools::hooks::abi::{self, Float};
use crate::tools::hooks::{self, Spot};
use crate::tools::machine::{Machine, Unmapped};
use shadowgrind_core::spec::{OutputSpec, Slot, Target};
use shadowgrind_reports::symbols::{LookupError, OpenError, Storage, SymbolFile, Variable};
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a SPEC, or another file the session needs, is no good: one line.
#[derive(Debug)]
pub enum SpecFailure {
    /// A SPEC names nothing that can be seeded or sampled.
    Lookup {
        /// The option and its SPEC.
        option: String,
        /// What is wrong with it.
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

/// Whether floats are seeded or sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Purpose {
    /// Number of the input.
    Seed(usize, f64),
    /// Number of the SPEC.
    Sample(usize),
}

/// What a SPEC names.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// Of the file of this number.
    Variable(usize, Variable),
    Spots(Vec<Spot>),
}

/// When it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// At the start of the program, or, for an output, its end.
    Once,
    Entry,
    Return,
}

/// One thing to be done for a SPEC.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) purpose: Purpose,
    pub(super) place: Place,
    pub(super) when: When,
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

/// All SPECs of a run, resolved.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    pub(super) all: Vec<Job>,
    pub(super) functions: Vec<Awaited>,
    /// The files that SPECs are about, by their canonical paths; the program is the first.
    pub(super) files: Vec<PathBuf>,
    /// The SPECs of outputs, as they were written.
    pub(super) labels: Vec<String>,
}

/// Looks all SPECs up in the program's file, and what is not there in its libraries.
pub(super) fn resolve(config: &SessionConfig, program: &Path) -> Result<Jobs, SpecFailure> {
    let mut jobs = Jobs { files: vec![program.to_owned()], ..Jobs::default() };
    let named = config.outputs.iter().filter_map(|output| match output {
        OutputSpec::Named { text, target } => Some((text, target)),
        OutputSpec::Printed => None,
    });
    let outputs: Vec<_> = named.collect();
    if config.inputs.is_empty() && outputs.is_empty() {
        return Ok(jobs);
    }
    let mut files = Files::new(program)?;
    for (number, input) in config.inputs.iter().enumerate() {
        let option = format!("--input={}", input.text);
        jobs.add(&mut files, option, Purpose::Seed(number, input.weight), &input.target)?;
    }
    for (number, (text, target)) in outputs.into_iter().enumerate() {
        jobs.labels.push(text.clone());
        jobs.add(&mut files, format!("--output={text}"), Purpose::Sample(number), target)?;
    }
    jobs.files.extend(files.libraries.into_iter().flatten().map(|library| library.path().to_owned()));
    Ok(jobs)
}

impl Jobs {
    fn add(
        &mut self,
        files: &mut Files,
        option: String,
        purpose: Purpose,
        target: &Target,
    ) -> Result<(), SpecFailure> {
        let failed = |error| SpecFailure::Lookup { option: option.clone(), error };
        let unsupported = |why| SpecFailure::Unsupported { option: option.clone(), why };
        let is_seed = matches!(purpose, Purpose::Seed(..));
        let (function, when) = match target {
            Target::Variable { at, .. } => (at.as_ref(), if is_seed { When::Entry } else { When::Return }),
            Target::Call { function, slot } => (Some(function), moment(*slot, is_seed)),
        };
        let Some(function) = function else {
            let place = files.place(target, 0, 0).map_err(|error| error.into_failure(&option))?;
            self.all.push(Job { purpose, place, when: When::Once });
            return Ok(());
        };
        let (file, functions) = files.find(|file| file.function(function)).map_err(failed)?;
        for found in functions {
            if found.is_ifunc {
                let why = "this function is chosen while the program starts (IFUNC) and cannot be named";
                return Err(unsupported(why.to_owned()));
            }
            let place =
                files.place(target, file, found.address).map_err(|error| error.into_failure(&option))?;
            self.functions.push(Awaited { file, address: found.address, job: self.all.len() });
            self.all.push(Job { purpose, place, when });
        }
        Ok(())
    }
}

/// The program's file, and those of its libraries once something was not found there.
struct Files {
    program: SymbolFile,
    libraries: Option<Vec<SymbolFile>>,
}

impl Files {
    fn new(program: &Path) -> Result<Files, SpecFailure> {
        let program = SymbolFile::open(program).map_err(SpecFailure::Program)?;
        Ok(Files { program, libraries: None })
    }

    fn get(&self, number: usize) -> &SymbolFile {
        match number.checked_sub(1) {
            None => &self.program,
            Some(number) => &self.libraries.as_deref().unwrap_or_default()[number],
        }
    }

    /// What `look_up` finds, and the number of the file; failures are the program's.
    fn find<T>(
        &mut self,
        look_up: impl Fn(&SymbolFile) -> Result<T, LookupError>,
    ) -> Result<(usize, T), LookupError> {
        let unknown = match look_up(&self.program) {
            Ok(found) => return Ok((0, found)),
            Err(error @ LookupError::Unknown { .. }) => error,
            Err(error) => return Err(error),
        };
        let open = || {
            let paths = needed::libraries(self.program.path()).into_iter();
            paths.filter_map(|path| SymbolFile::open(&path).ok()).collect()
        };
        let libraries = self.libraries.get_or_insert_with(open);
        let found = libraries.iter().enumerate().find_map(|(i, file)| Some((i + 1, look_up(file).ok()?)));
        found.ok_or(unknown)
    }

    /// The floats of `target`; those of a slot as the function at `address` of file `number` has them.
    fn place(&mut self, target: &Target, number: usize, address: u64) -> Result<Place, NoPlace> {
        match target {
            Target::Variable { variable, .. } => {
                let program = self.program.path().to_owned();
                let found = self.find(|file| {
                    let found = file.variable(variable)?;
                    // Any object of a library might be meant, were its size all there is to know.
                    if found.guessed && file.path() != program {
                        return Err(LookupError::NoPlace { name: variable.name.clone() });
                    }
                    Ok(found)
                });
                found.map(|(file, found)| Place::Variable(file, found)).map_err(NoPlace::Lookup)
            }
            Target::Call { slot, .. } => {
                let spots = hooks::spots(self.get(number).signature(address).as_ref(), *slot);
                spots.map(Place::Spots).map_err(|error| NoPlace::Slot(error.to_string()))
            }
        }
    }
}

/// When a slot of a call is looked at: what a pointer leads to is a result where it is an output.
fn moment(slot: Slot, is_seed: bool) -> When {
    match slot {
        Slot::Argument(_) => When::Entry,
        Slot::Pointee(_) if is_seed => When::Entry,
        Slot::Pointee(_) | Slot::Result => When::Return,
    }
}

/// Why a target has no place.
enum NoPlace {
    Lookup(LookupError),
    Slot(String),
}

impl NoPlace {
    fn into_failure(self, option: &str) -> SpecFailure {
        let option = option.to_owned();
        match self {
            NoPlace::Lookup(error) => SpecFailure::Lookup { option, error },
            NoPlace::Slot(why) => SpecFailure::Unsupported { option, why },
        }
    }
}

/// Where a module's floats are in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loaded {
    pub(super) bias: u64,
    /// Size of its thread-local block, which ends at the thread pointer.
    pub(super) tls_size: Option<u64>,
}

/// The floats of a variable, in memory order.
pub(super) fn variable(m: &dyn Machine, variable: &Variable, loaded: Loaded) -> Result<Vec<Float>, Unmapped> {
    let first = match variable.storage {
        Storage::Static(address) => address.wrapping_add(loaded.bias),
        Storage::ThreadLocal(offset) => match (loaded.tls_size, m.thread_pointer()) {
            // No thread pointer: the program has not set one up yet.
            (None, _) | (_, 0) => return Err(Unmapped),
            (Some(size), pointer) => pointer.wrapping_sub(size).wrapping_add(offset),
        },
    };
    variable.offsets().map(|offset| abi::memory(m, first.wrapping_add(offset), variable.format)).collect()
}
