//! Warnings of inputs and outputs that no process of the tree has reached, said by the one that speaks for all.
//!
//! What was reached is known from the report and from what other processes have noted.

use super::{MISSED, NEVER_REACHED, NEVER_SAMPLED, PARTLY_REACHED, REACHED_AGAIN};
use crate::session::script_variable::ScriptVariable;
use crate::session::seeds::{Job, Purpose};
use crate::session::state::{Session, State};
use crate::session::tree;
use hashbrown::HashSet;
use shadowgrind_core::findings::{Label, OutputKind};
use shadowgrind_reports::document::Symbols;
use std::collections::BTreeSet;

impl Session {
    /// Says which numbers of texts no process of the tree has parsed, in the one that speaks for all.
    pub(super) fn warn_of_unreached_texts(&self, state: &mut State, symbols: &mut dyn Symbols) {
        if !self.tree.is_first_process() {
            return tree::note(&*self.tree, &state.reached_texts(), &[]);
        }
        let reached = tree::all_found(&*self.tree);
        let unreached = state.unreached_texts(symbols).into_iter();
        for (option, why) in unreached.filter(|(option, _)| !reached.contains(option)) {
            state.warn(NEVER_REACHED, format!("{option} was never reached: {why}"));
        }
        let partly = state.partly_reached_texts().into_iter();
        for (option, what) in partly.filter(|(option, _)| !reached.contains(option)) {
            state.warn(PARTLY_REACHED, format!("{option}: {what}"));
        }
    }

    /// Says which outputs that the program has no process of the tree has sampled, in the one that speaks for all.
    pub(super) fn warn_of_unreached_outputs(&self, state: &mut State) {
        let named = state.sampled();
        let options = |wanted: bool| -> Vec<String> {
            let named = named.iter().filter(|(_, is_sampled)| *is_sampled == wanted);
            named.map(|&(output, _)| format!("--output={}", state.jobs.labels[output])).collect()
        };
        if !self.tree.is_first_process() {
            return tree::note(&*self.tree, &options(true), &[]);
        }
        let elsewhere = tree::all_found(&*self.tree);
        // Why one was missed has been said.
        let is_said = |option: &str| {
            let warnings = &mut state.report.warnings.iter();
            warnings
                .any(|warning| warning.code == MISSED && warning.message.starts_with(&format!("{option}: ")))
        };
        let mut unreached = options(false);
        unreached.retain(|option| !elsewhere.contains(option) && !is_said(option));
        for option in unreached {
            state.warn(NEVER_SAMPLED, format!("{option} was never reached: nothing was sampled"));
        }
    }

    /// Says which variables of scripts no process of the tree has had, in the one that speaks for all.
    pub(super) fn warn_of_unreached_scripts(&self, state: &mut State) {
        let of = |variable: &ScriptVariable| (variable.option().to_owned(), variable.is_reached());
        let all: Vec<(String, bool)> = state.jobs.scripts.iter().map(of).collect();
        let (reached, unreached): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, is_reached)| *is_reached);
        if !self.tree.is_first_process() {
            let reached: Vec<String> = reached.into_iter().map(|(option, _)| option).collect();
            return tree::note(&*self.tree, &reached, &[]);
        }
        let elsewhere = tree::all_found(&*self.tree);
        let why = match state.python {
            Some(_) => "no script has come to its end",
            None => "no CPython from 3.9 to 3.13 has run",
        };
        for (option, _) in unreached.into_iter().filter(|(option, _)| !elsewhere.contains(option)) {
            state.warn(NEVER_REACHED, format!("{option} was never reached: {why}"));
        }
    }
}

impl State {
    /// Says which inputs that the program has were never seeded.
    pub(in crate::session) fn warn_of_unreached_inputs(&mut self) {
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
        for text in self.reached_again() {
            self.warn(REACHED_AGAIN, text);
        }
    }

    /// Outputs that the program has, by their numbers, and whether they were sampled.
    fn sampled(&self) -> Vec<(usize, bool)> {
        let samples = |job: &Job| match job.purpose {
            Purpose::Sample(output) => Some(output),
            Purpose::Seed(..) => None,
        };
        let named: BTreeSet<usize> = self.jobs.all.iter().filter_map(samples).collect();
        let outputs = self.report.outputs.iter().filter(|(_, output)| output.kind == OutputKind::Spec);
        let sampled: HashSet<Label> = outputs.map(|(_, output)| output.label).collect();
        named.into_iter().map(|output| (output, sampled.contains(&self.labels[output]))).collect()
    }
}
