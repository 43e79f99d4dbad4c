//! What a session warns of: inputs that were not seeded, or not as their SPECs read.

use super::places::Missed;
use super::seeds::{Job, Purpose};
use super::state::State;
use shadowgrind_core::findings::Warning;

/// An input was never reached.
const NEVER_REACHED: &str = "input-never-reached";
/// The way to what a SPEC names led nowhere.
const MISSED: &str = "spec-missed";

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

    fn warn(&mut self, code: &'static str, message: String) {
        let warning = Warning { code, message };
        if !self.report.warnings.contains(&warning) {
            self.report.warnings.push(warning);
        }
    }
}
