//! Warnings of seeds that the program has overwritten.

use super::OVERWRITTEN;
use crate::hooks::machine::Machine;
use crate::session::observer::Observer;
use crate::session::seeds::{Purpose, When};
use crate::session::state::State;
use shadowgrind_core::findings::{Overwritten, OverwrittenSeeds};
use shadowgrind_core::site::Site;

impl State {
    /// Counts the seeds that the program has overwritten before it read them, and warns of inputs of which it was all.
    pub(in crate::session) fn count_overwritten_inputs(&mut self, m: &mut dyn Machine) {
        for Overwritten { group, floats, of, at_least, pc } in m.overwritten() {
            let site = pc.map_or(Site::NONE, |pc| self.report.sites.at(pc));
            self.report.coverage.overwritten.push(OverwrittenSeeds {
                input: group,
                floats,
                of,
                at_least,
                site,
            });
            let is_all = self.report.inputs.get(group).is_none_or(|input| input.count <= of);
            if floats == of && is_all {
                self.warn_of_overwritten(group);
            }
        }
    }

    fn warn_of_overwritten(&mut self, input: usize) {
        let spec = &self.report.inputs[input].spec;
        let text = format!(
            "--input={spec}: the program has overwritten what was seeded before it read any of it; \
             {spec}@f seeds when f is entered"
        );
        self.warn(OVERWRITTEN, text);
    }

    /// Variables that were seeded at the start, carry nothing at the end, and no output depends on any input: as a rule the
    /// program has set them first.
    pub(in crate::session) fn warn_of_overwritten_inputs(
        &mut self,
        observer: &mut dyn Observer,
        m: &mut dyn Machine,
    ) {
        if self.report.depends_on_inputs() {
            return;
        }
        let mut overwritten = self.bare_inputs(observer, m);
        let known = &self.report.coverage.overwritten;
        overwritten
            .retain(|&input| !known.iter().any(|seeds| seeds.input == input && seeds.floats == seeds.of));
        for input in overwritten {
            let spec = &self.report.inputs[input].spec;
            let text = format!(
                "--input={spec}: the program has overwritten what was seeded, and no output depends on it; \
                 {spec}@f seeds when f is entered"
            );
            self.warn(OVERWRITTEN, text);
        }
    }

    /// Numbers of the inputs that were seeded at the start and whose floats carry no shadow now.
    fn bare_inputs(&self, observer: &mut dyn Observer, m: &mut dyn Machine) -> Vec<usize> {
        let mut bare = Vec::new();
        for job in self.jobs.all.iter().filter(|job| job.when == When::Once) {
            let (Purpose::Seed(input, _), Ok(floats)) = (job.purpose, job.place.floats(m, &self.loaded, &[]))
            else {
                continue;
            };
            if self.report.inputs[input].count > 0 && !floats.iter().any(|&x| observer.is_shadowed(m, x)) {
                bare.push(input);
            }
        }
        bare.dedup();
        bare
    }
}
