//! What `--input` and `--output` name: resolved against the program's file before anything runs, found in its memory when
//! the time has come.

use super::config::SessionConfig;
use crate::tools::hooks::abi::{self, Float};
use crate::tools::machine::{Machine, Unmapped, read_u64};
use shadowgrind_core::format::Format;
use shadowgrind_core::spec::{OutputSpec, Slot, Target};
use shadowgrind_reports::symbols::{LookupError, OpenError, Storage, SymbolFile, Variable};
use std::fmt;
use std::path::Path;

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
        why: &'static str,
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
    Variable(Variable),
    Slot(Slot, Format),
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

/// All SPECs of a run, resolved.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    pub(super) all: Vec<Job>,
    /// Functions of the program that jobs wait for: link-time address, whether it is a resolver's, job.
    pub(super) functions: Vec<(u64, usize)>,
    /// The SPECs of outputs, as they were written.
    pub(super) labels: Vec<String>,
}

/// Looks all SPECs up in the program's file.
pub(super) fn resolve(config: &SessionConfig, program: &Path) -> Result<Jobs, SpecFailure> {
    let mut jobs = Jobs::default();
    let named = config.outputs.iter().filter_map(|output| match output {
        OutputSpec::Named { text, target } => Some((text, target)),
        OutputSpec::Printed => None,
    });
    let outputs: Vec<_> = named.collect();
    if config.inputs.is_empty() && outputs.is_empty() {
        return Ok(jobs);
    }
    let file = SymbolFile::open(program).map_err(SpecFailure::Program)?;
    for (number, input) in config.inputs.iter().enumerate() {
        let option = format!("--input={}", input.text);
        jobs.add(&file, option, Purpose::Seed(number, input.weight), &input.target)?;
    }
    for (number, (text, target)) in outputs.into_iter().enumerate() {
        jobs.labels.push(text.clone());
        jobs.add(&file, format!("--output={text}"), Purpose::Sample(number), target)?;
    }
    Ok(jobs)
}

impl Jobs {
    fn add(
        &mut self,
        file: &SymbolFile,
        option: String,
        purpose: Purpose,
        target: &Target,
    ) -> Result<(), SpecFailure> {
        let failed = |error| SpecFailure::Lookup { option: option.clone(), error };
        let is_seed = matches!(purpose, Purpose::Seed(..));
        let (place, function, when) = match target {
            Target::Variable { variable, at } => {
                let place = Place::Variable(file.variable(variable).map_err(failed)?);
                let when = if is_seed { When::Entry } else { When::Return };
                (place, at.as_deref(), when)
            }
            Target::Call { function, slot } => {
                let when = match slot {
                    Slot::Argument(_) => When::Entry,
                    Slot::Pointee(_) if is_seed => When::Entry,
                    Slot::Pointee(_) | Slot::Result => When::Return,
                };
                (Place::Slot(*slot, Format::F64), Some(function.as_str()), when)
            }
        };
        let Some(function) = function else {
            self.all.push(Job { purpose, place, when: When::Once });
            return Ok(());
        };
        for found in file.function(function).map_err(failed)? {
            if found.is_ifunc {
                let why = "this function is chosen while the program starts (IFUNC) and cannot be named";
                return Err(SpecFailure::Unsupported { option, why });
            }
            self.functions.push((found.address, self.all.len()));
        }
        self.all.push(Job { purpose, place, when });
        Ok(())
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

/// The float that a slot of a call names. On return, `address` is what [`pointee`] was on entry.
pub(super) fn slot(m: &dyn Machine, slot: Slot, format: Format, address: u64) -> Result<Float, Unmapped> {
    match slot {
        Slot::Argument(number) => abi::float(m, number as usize - 1, format),
        Slot::Pointee(_) => abi::memory(m, address, format),
        Slot::Result => Ok(abi::result(m, format)),
    }
}

/// The address that a slot of a call that begins leads to.
pub(super) fn pointee(m: &dyn Machine, slot: Slot) -> Result<u64, Unmapped> {
    match slot {
        Slot::Pointee(number) => abi::integer(m, number as usize - 1),
        Slot::Argument(_) | Slot::Result => read_u64(m, m.general(abi::RSP)),
    }
}
