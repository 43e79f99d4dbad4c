//! What a session warns of: whatever makes its report say less than a reader may think.

use super::places::Missed;
use super::seeds::{Job, Purpose};
use super::state::{Session, State};
use super::tree;
use shadowgrind_core::findings::Warning;

/// An input was never reached.
const NEVER_REACHED: &str = "input-never-reached";
/// The way to what a SPEC names led nowhere.
const MISSED: &str = "spec-missed";
/// No program of the tree has what a SPEC names.
const NOT_FOUND: &str = "spec-not-found";
/// A derivative was asked for, and no input.
const NOTHING_SEEDED: &str = "nothing-seeded";
/// Programs that child processes executed ran natively.
const NOT_FOLLOWED: &str = "exec-not-followed";
/// There are findings that the user does not want to hear about.
const SUPPRESSED: &str = "findings-suppressed";
/// A static program without symbols: nobody can tell where it prints.
const NAMELESS: &str = "functions-unknown";

/// Programs listed before "and so on".
const MOST: usize = 3;

impl Session {
    /// Warns of what is known at the end only. `is_concerned`: there is something to say about the program.
    pub(super) fn warn_at_end(&self, state: &mut State, is_concerned: bool) {
        if !self.config.shadow.is_carried() {
            return;
        }
        state.warn_of_unreached_inputs();
        if !is_concerned {
            return;
        }
        if self.config.shadow.policy().derivatives
            && state.report.inputs.is_empty()
            && state.shadowed.is_empty()
        {
            state.warn(NOTHING_SEEDED, "nothing was seeded: every derivative is 0".to_owned());
        }
        if let Some(program) = state.files.values().find(|file| file.is_nameless) {
            let text = format!(
                "{} holds its libraries, and no names: where it prints is not known, nor which functions it calls",
                program.module.path
            );
            state.warn(NAMELESS, text);
        }
        if self.tree.is_first_process() {
            self.warn_of_unfollowed(state);
        }
    }

    fn warn_of_unfollowed(&self, state: &mut State) {
        let mut programs = tree::all_unfollowed(&*self.tree);
        let count = programs.len();
        if count == 0 {
            return;
        }
        programs.truncate(MOST);
        let more = if count > MOST { format!(" and {} more", count - MOST) } else { String::new() };
        let programs = programs.join(", ");
        let text = format!(
            "child processes executed programs that were not followed (--trace-children=yes follows them): \
             {programs}{more}"
        );
        state.warn(NOT_FOLLOWED, text);
    }

    /// Whether anybody reads what is said: a run without any report is quiet.
    pub(super) fn has_reader(&self, state: &State) -> bool {
        let to = &state.destinations;
        let is_asked = self.config.error_exitcode.is_some() || self.config.strict;
        to.terminal.is_some() || !to.files.is_empty() || is_asked
    }
}

impl State {
    /// The floats of a job could not be reached: said once for each SPEC and reason.
    pub(super) fn missed(&mut self, job: usize, missed: Missed) {
        let spec = match self.jobs.all[job].purpose {
            Purpose::Seed(input, _) => format!("--input={}", self.report.inputs[input].spec),
            Purpose::Sample(output) => format!("--output={}", self.jobs.labels[output]),
        };
        self.warn(MISSED, format!("{spec}: {missed}"));
    }

    /// Inputs that the program has, and that were never seeded.
    pub(super) fn warn_of_unreached_inputs(&mut self) {
        let names = |job: &Job| match job.purpose {
            Purpose::Seed(input, _) => Some(input),
            Purpose::Sample(_) => None,
        };
        let mut inputs: Vec<usize> = self.jobs.all.iter().filter_map(names).collect();
        inputs.dedup();
        inputs.retain(|&input| self.report.inputs[input].count == 0);
        for input in inputs {
            let spec = self.report.inputs[input].spec.clone();
            self.warn(NEVER_REACHED, format!("--input={spec} was never reached: nothing was seeded"));
        }
    }

    /// Says that findings were left out.
    pub(super) fn warn_of_suppressed(&mut self) {
        let text = match self.report.suppressed.len() {
            0 => return,
            1 => "1 finding is suppressed".to_owned(),
            n => format!("{n} findings are suppressed"),
        };
        self.warn(SUPPRESSED, text);
    }

    /// Says that a SPEC names nothing.
    pub(super) fn warn_of_not_found(&mut self, text: &str) {
        self.warn(NOT_FOUND, text.to_owned());
    }

    /// Whether a warning is said even if no report is written: it is about a SPEC.
    pub(super) fn is_always_said(code: &str) -> bool {
        [NEVER_REACHED, MISSED].contains(&code)
    }

    fn warn(&mut self, code: &'static str, message: String) {
        let warning = Warning { code, message };
        if !self.report.warnings.contains(&warning) {
            self.report.warnings.push(warning);
        }
    }
}
