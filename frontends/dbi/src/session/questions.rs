//! Questions to a shadow that keeps a record of the whole run, asked at its end.

use super::config::SessionConfig;
use super::observer::Observer;
use super::state::State;
use shadowgrind_core::findings::{Answers, Questions};
use shadowgrind_core::spec::OutputSpec;
use shadowgrind_reports::gradients::IN_JSON;
use shadowgrind_reports::target::ReportTarget;

/// Outputs whose gradients are found where none are named.
const MOST: usize = 64;

/// Gives the outputs that `answers` are about the numbers they have in the report, in place of those in `outputs`.
fn renumber(answers: &mut Answers, outputs: &[u64]) {
    let rows = answers.gradients.iter_mut().chain(&mut answers.directions).map(|row| &mut row.output);
    let shares = answers.budget.iter_mut().map(|share| &mut share.output);
    for output in rows.chain(shares).chain(&mut answers.jacobian_outputs).chain(&mut answers.unsure) {
        let number = output.and_then(|output| outputs.binary_search(&output).ok());
        *output = number.map(|number| number as u64);
    }
}

impl State {
    /// Asks the shadow what its record says, if it keeps one. `outputs`: the numbers it knows those of the report by.
    pub(super) fn ask(&mut self, config: &SessionConfig, outputs: Vec<u64>, observer: &mut dyn Observer) {
        if !config.shadow.keeps_record() {
            return;
        }
        if let Some(text) = self.bad_directions(config) {
            return self.warn_of_record(text);
        }
        let Some(mut answers) = observer.answers(&self.questions(config, &outputs)) else { return };
        renumber(&mut answers, &outputs);
        if let Some(why) = &answers.incomplete {
            self.report.partial = true;
            let text =
                format!("the record of the run ends early, and outputs after that have no gradients: {why}");
            self.warn_of_record(text);
        }
        if answers.left_out > 0 {
            let all = answers.left_out + answers.gradients.len() as u64;
            self.warn_of_left_out(format!(
                "{all} outputs depend on an input: gradients of the first {MOST} alone (--output=… chooses)"
            ));
        }
        self.warn_of_unsure(&answers.unsure);
        self.name_gradient_file(config, &mut answers);
        self.report.answers = Some(answers);
    }

    /// Names the file that has all gradients, or says that one should be asked for if they are too many for a report.
    fn name_gradient_file(&mut self, config: &SessionConfig, answers: &mut Answers) {
        let target = config.reports.files.iter().find(|target| target.is_gradient());
        let path = target.map(|target| target.path(self.report.program.pid, self.destinations.forked));
        answers.gradient_file = path.map(|path| path.display().to_string());
        if answers.width() * answers.gradients.len() as u64 > IN_JSON && target.is_none() {
            let text = "these are more numbers than a report is for: --gradient=FILE.npy has them all";
            self.warn_of_left_out(text.to_owned());
        }
    }

    fn questions(&self, config: &SessionConfig, outputs: &[u64]) -> Questions {
        let named = !config.outputs.is_empty();
        let wants = |wanted: fn(&ReportTarget) -> bool| config.reports.files.iter().any(wanted);
        let (jacobian, sparsity) = (wants(ReportTarget::is_jacobian), wants(ReportTarget::is_sparsity));
        let weighted = config.outputs.iter().any(|output| output.weight().is_some());
        Questions {
            inputs: self.report.inputs.len(),
            outputs: named.then(|| outputs.to_vec()),
            gradients: wants(ReportTarget::is_gradient) || !jacobian && !sparsity,
            jacobian,
            sparsity,
            directions: config.directions.clone(),
            most: MOST,
            weights: weighted.then(|| self.weights(config)),
        }
    }

    /// Reason why the directions that were given are none of the components that there are.
    fn bad_directions(&self, config: &SessionConfig) -> Option<String> {
        let components: u64 = self.report.inputs.iter().map(|input| input.count).sum();
        let given = config.directions.as_ref()?.first()?.len() as u64;
        (given != components).then(|| {
            format!("--direction has {given} numbers in a column, and there are {components} components")
        })
    }

    /// Weight of each output: 1 where its SPEC has none.
    fn weights(&self, config: &SessionConfig) -> Vec<f64> {
        let named = config.outputs.iter().filter(|output| matches!(output, OutputSpec::Named { .. }));
        let weights: Vec<f64> = named.map(|output| output.weight().unwrap_or(1.0)).collect();
        let outputs = self.report.outputs.iter();
        outputs
            .map(|(_, output)| {
                let spec = self.labels.iter().position(|label| *label == output.label);
                spec.map_or(1.0, |spec| weights[spec])
            })
            .collect()
    }
}
