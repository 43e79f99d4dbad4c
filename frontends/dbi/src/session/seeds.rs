//! Targets of `--input` and `--output`, resolved against the files of the program.
//!
//! The program's own file and the libraries it needs are looked at before anything runs; what is not there may be in a
//! module that is loaded later, or in another program that is executed. Where the floats then are in a running program,
//! [`super::places`] knows.

mod files;

use super::config::SessionConfig;
use super::locals::AwaitedAssignment;
use super::places::Place;
use super::script_variable::ScriptVariable;
use super::spec_failure::SpecFailure;
pub(super) use files::Files;
use shadowgrind_core::spec::{Callee, Calls, InputTarget, OutputSpec, Slot, Target};
use shadowgrind_symbols::Function;
use std::path::{Path, PathBuf};

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
    /// Link-time address; that of the resolver for an IFUNC.
    pub(super) address: u64,
    pub(super) is_ifunc: bool,
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
        if places.iter().any(|(_, place)| place.is_on_stack()) && !files.know(file, &places) {
            self.assumed.push(wanted.option.clone());
        }
        for (Function { address, is_ifunc, .. }, place) in places {
            self.functions.push(Awaited { file, address, is_ifunc, job: self.all.len() });
            self.all.push(wanted.job(place, when, calls));
        }
        Ok(())
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
