//! Warnings of a session: whatever makes its report say less than a reader may think.

mod overwritten;
mod unreached;

use super::places::Missed;
use super::seeds::Purpose;
use super::state::{Session, State};
use super::tree;
use shadowgrind_core::findings::{Input, Listed, Warning};
use shadowgrind_reports::document::Symbols;
use std::collections::BTreeSet;

/// An input was never reached.
const NEVER_REACHED: &str = "input-never-reached";
/// An output was never reached.
const NEVER_SAMPLED: &str = "output-never-reached";
/// An input that reads like one number was reached more than once.
const REACHED_AGAIN: &str = "input-reached-again";
/// Some of the numbers that an input names were not seeded.
const PARTLY_REACHED: &str = "input-partly-reached";
/// A parsed number may be one that an input names, or another.
const AMBIGUOUS: &str = "input-ambiguous";
/// No printed float is one that an output names.
const NEVER_PRINTED: &str = "output-never-printed";
/// Printed numbers may be one float or another.
const OUTPUT_AMBIGUOUS: &str = "output-ambiguous";
/// There are numbers that a list cannot have.
const NOT_LISTED: &str = "list-incomplete";
/// More text was written than is kept.
const LONG_TEXTS: &str = "texts-too-long";
/// The way to what a SPEC names led nowhere.
const MISSED: &str = "spec-missed";
/// The format of a variable was guessed.
const FORMAT_ASSUMED: &str = "format-assumed";
/// The place of an argument was guessed.
const ASSUMED: &str = "arguments-assumed";
/// A local variable has values that cannot be reached.
const PARTLY: &str = "local-partly-unreached";
/// A seed was overwritten.
const OVERWRITTEN: &str = "seed-overwritten";
/// No output depends on what was seeded.
const INDEPENDENT: &str = "outputs-independent";
/// No program of the tree has what a SPEC names.
const NOT_FOUND: &str = "spec-not-found";
/// A derivative was asked for, and no input.
const NOTHING_SEEDED: &str = "nothing-seeded";
/// Programs that child processes executed ran natively.
const NOT_FOLLOWED: &str = "exec-not-followed";
/// A ring of io_uring reads and writes unseen.
const POLLED: &str = "ring-not-followed";
/// There are findings that the user does not want to hear about.
const SUPPRESSED: &str = "findings-suppressed";
/// Fewer executions than usual were looked at for causes.
const CAPPED: &str = "causes-capped";
/// A static program without symbols: nobody can tell where it prints.
const NAMELESS: &str = "functions-unknown";
/// There was to be a second run, and there was none.
const NOT_CONFIRMED: &str = "not-confirmed";
/// The second run did not take the course of the first.
const ANOTHER_COURSE: &str = "second-run-differs";

/// The record of the run could not be kept to its end.
const RECORD_ENDS: &str = "record-incomplete";
/// There are more gradients than were found, or shown.
const LEFT_OUT: &str = "gradients-left-out";

/// Gradients come out otherwise with other roundings.
const UNSURE: &str = "gradients-unsure";

/// Names listed before "and so on".
const MOST: usize = 3;

/// The first few of these names, and how many more there are.
fn listed(names: &[String]) -> String {
    let (first, rest) = names.split_at(names.len().min(MOST));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    first.join(", ") + &more
}

impl Session {
    /// Warns of what is known at the end only. `is_concerned`: there is something to say about the program.
    pub(super) fn warn_at_end(&self, state: &mut State, symbols: &mut dyn Symbols, is_concerned: bool) {
        if !self.config.shadow.is_carried() {
            return;
        }
        state.warn_of_unreached_inputs();
        self.warn_of_unreached_outputs(state);
        self.warn_of_unreached_texts(state, symbols);
        state.warn_of_unlisted(symbols);
        self.warn_of_unreached_scripts(state);
        state.warn_of_assumed_arguments();
        state.warn_of_guessed_formats();
        state.warn_of_ambiguous_outputs();
        state.warn_of_parts();
        if !is_concerned {
            return;
        }
        if self.config.shadow.policy().derivatives.is_some() && state.is_unseeded() {
            state.warn(NOTHING_SEEDED, "nothing was seeded: every derivative is 0".to_owned());
        }
        state.warn_of_nameless();
        if self.tree.is_first_process() {
            self.warn_of_unfollowed(state);
        }
    }

    fn warn_of_unfollowed(&self, state: &mut State) {
        let programs = tree::all_unfollowed(&*self.tree);
        if programs.is_empty() {
            return;
        }
        let programs = listed(&programs);
        let text = format!(
            "child processes executed programs that were not followed (--trace-children=yes follows them): \
             {programs}"
        );
        state.warn(NOT_FOLLOWED, text);
    }

    /// Says that there is a ring of io_uring that the kernel looks at by itself, and at devices as well.
    pub(crate) fn cannot_follow_polled_rings(&self) {
        let text = "a ring of io_uring and its devices are polled by the kernel (IORING_SETUP_SQPOLL and _IOPOLL): floats that \
                    it reads or writes are neither followed nor counted";
        self.state.lock().warn(POLLED, text.to_owned());
    }

    /// Tells whether anybody reads what is said: a run without any report is quiet.
    pub(super) fn has_reader(&self, state: &State) -> bool {
        let to = &state.destinations;
        let is_asked = self.config.error_exitcode.is_some() || self.config.strict;
        to.terminal.is_some() || !to.files.is_empty() || is_asked
    }
}

impl State {
    /// Says of which functions the arguments are guessed.
    fn warn_of_assumed_arguments(&mut self) {
        for option in self.jobs.assumed.clone() {
            let text = format!(
                "{option}: without debug information all arguments of the function are taken for scalars; \
                 a structure that is passed by value before this one would move it"
            );
            self.warn(ASSUMED, text);
        }
    }

    /// Says of which local variables some assignments are not followed.
    fn warn_of_parts(&mut self) {
        for (option, lines) in self.jobs.partly.clone() {
            let text = format!(
                "{option}: from {lines} on it may have a value that the compiler keeps nowhere, in several places, or \
                 together with that of another variable: left out there"
            );
            self.warn(PARTLY, text);
        }
    }

    /// Warns of a program that holds its libraries, and no names.
    fn warn_of_nameless(&mut self) {
        if let Some(program) = self.files.values().find(|file| file.is_nameless) {
            let text = format!(
                "{} holds its libraries, and no names: where it prints is not known, nor which functions it calls",
                program.module.path
            );
            self.warn(NAMELESS, text);
        }
    }

    /// Says that no output depends on what was seeded, which is no answer where whole numbers were made of floats on the way.
    pub(super) fn warn_of_independence(&mut self) {
        let report = &self.report;
        let is_seeded = report.inputs.iter().any(|input| input.count > 0);
        let is_overwritten = report.warnings.iter().any(|warning| warning.code == OVERWRITTEN);
        let is_explained = is_overwritten || !report.coverage.gaps.is_empty() || report.partial;
        if !is_seeded || report.outputs.is_empty() || report.depends_on_inputs() || is_explained {
            return;
        }
        let places = if report.coverage.roundings.is_empty() { "" } else { ": see the report's roundings" };
        let text = format!(
            "no output depends on what was seeded: it does not matter, or the program makes whole numbers of it (by floor, modf, \
             rounding, a conversion), whose derivative is 0{places}"
        );
        self.warn(INDEPENDENT, text);
    }

    /// Tells whether no shadow can have come from anywhere, although nobody has only asked for a list.
    fn is_unseeded(&self) -> bool {
        self.report.inputs.is_empty()
            && self.report.listing.is_none()
            && self.shadowed.is_empty()
            && !self.sets_shadows
    }

    /// Says that there are numbers which a list cannot have.
    fn warn_of_unlisted(&mut self, symbols: &mut dyn Symbols) {
        let Some(listed) = self.report.listing.as_ref().map(|listing| listing.listed) else { return };
        let mut why: Vec<String> = match listed {
            Listed::Inputs => self.java_is_unknown().into_iter().chain(self.unmade()).collect(),
            Listed::Outputs => self.unwatched.iter().map(|reason| (*reason).to_owned()).collect(),
        };
        if listed == Listed::Inputs {
            why.extend(self.unparsed_texts(symbols));
        }
        for why in why {
            self.warn(NOT_LISTED, format!("not all numbers are listed: {why}"));
        }
    }

    /// As many bytes as an even number of doubles has may be long doubles as well.
    fn warn_of_guessed_formats(&mut self) {
        let guessed = self.jobs.all.iter().filter(|job| job.place.is_guessed());
        let inputs = guessed.filter_map(|job| match job.purpose {
            Purpose::Seed(input, _) => self.report.inputs.get(input),
            Purpose::Sample(_) => None,
        });
        let text = |input: &Input| {
            format!(
                "--input={0}: without debug information this is taken for {1} doubles; if it is long double, say \
                 --input={0}:longdouble",
                input.spec, input.at_once
            )
        };
        let even = inputs.filter(|input| input.at_once > 0 && input.at_once.is_multiple_of(2));
        for text in even.map(text).collect::<Vec<_>>() {
            self.warn(FORMAT_ASSUMED, text);
        }
    }

    /// The floats of a job could not be reached: said once for each SPEC and reason.
    pub(super) fn missed(&mut self, job: usize, missed: Missed) {
        let spec = match self.jobs.all[job].purpose {
            Purpose::Seed(input, _) => format!("--input={}", self.report.inputs[input].spec),
            Purpose::Sample(output) => format!("--output={}", self.jobs.labels[output]),
        };
        self.warn(MISSED, format!("{spec}: {missed}"));
    }

    /// Says why a variable of a script is no output.
    pub(super) fn warn_of_script(&mut self, option: &str, why: &str) {
        self.warn(MISSED, format!("{option}: {why}"));
    }

    /// Says that a number which `spec` names, parsed as number `order` of all, cannot be told from that of the SPEC `other`.
    pub(super) fn warn_of_doubt(&mut self, spec: &str, other: &str, order: u64) {
        let text = format!(
            "--input={spec} cannot be told from {other}, which is the same number: not seeded; parsed:{order} names it \
             by its order"
        );
        self.warn(AMBIGUOUS, text);
    }

    /// Says which numbers may be one of several floats that code of the program's own makes text of.
    fn warn_of_ambiguous_outputs(&mut self) {
        let Some((count, first)) = &self.taken.ambiguous else { return };
        let (numbers, are, more) = match count {
            1 => ("1 number that was written".to_owned(), "is", String::new()),
            n => (format!("{n} numbers that were written"), "are", format!(" and {} more", n - 1)),
        };
        let text = format!(
            "{numbers} by code that is not known {are} the text of several floats, with different shadows: {first}{more}; \
             no outputs, as nobody can tell which"
        );
        self.warn(OUTPUT_AMBIGUOUS, text);
    }

    /// Says that more text was written than is kept.
    pub(super) fn warn_of_long_texts(&mut self) {
        let text = "more than 64 MiB of text was written: where outputs stand beyond that is not known";
        self.warn(LONG_TEXTS, text.to_owned());
    }

    /// Says that no printed float is one that `spec` names.
    pub(super) fn warn_of_unprinted(&mut self, spec: &str) {
        self.warn(NEVER_PRINTED, format!("--output={spec}: no such float was printed"));
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

    /// Says that causes may be missing. `other` names a shadow that finds them, as it looks at all executions.
    pub(super) fn warn_of_capped(&mut self, other: Option<&str>) {
        let instructions = match self.report.coverage.capped {
            0 => return,
            1 => "1 instruction".to_owned(),
            n => format!("{n} instructions"),
        };
        let other = other.map_or(String::new(), |other| format!(", which --shadow={other} finds"));
        let text = format!(
            "so many executions asked to be looked at that of {instructions} fewer were than usual: causes may be \
             missing{other}"
        );
        self.warn(CAPPED, text);
    }

    /// Says why there was no second run.
    pub(super) fn warn_of_no_second_run(&mut self, why: &str) {
        self.warn(NOT_CONFIRMED, format!("--confirm: findings are not confirmed: {why}"));
    }

    /// Says in what the second run differs from the first.
    pub(super) fn warn_of_another_course(&mut self, what: &str) {
        let text = format!(
            "--confirm: the second run {what}: the program does not do the same each time, and nothing is refuted"
        );
        self.warn(ANOTHER_COURSE, text);
    }

    /// Says that a record ends early.
    pub(super) fn warn_of_record(&mut self, text: String) {
        self.warn(RECORD_ENDS, text);
    }

    /// Says that some gradients are left out.
    pub(super) fn warn_of_left_out(&mut self, text: String) {
        self.warn(LEFT_OUT, text);
    }

    /// Says that gradients of these outputs, or of a sum of outputs, come out otherwise with other roundings.
    pub(super) fn warn_of_unsure(&mut self, outputs: &[Option<u64>]) {
        let name = |output: &Option<u64>| output.map_or("the sum".to_owned(), |n| format!("output {n}"));
        // Gradients and Jacobian may both say so of one.
        let outputs: BTreeSet<_> = outputs.iter().collect();
        if outputs.is_empty() {
            return;
        }
        let names = listed(&outputs.into_iter().map(name).collect::<Vec<_>>());
        self.warn(
            UNSURE,
            format!(
                "gradients of {names} are not to be relied on: far larger derivatives cancel on the way, and with other roundings they come out otherwise (derivatives by one input, found forwards, may be right)"
            ),
        );
    }

    /// Says that a SPEC names nothing.
    pub(super) fn warn_of_not_found(&mut self, text: &str) {
        self.warn(NOT_FOUND, text.to_owned());
    }

    /// Tells whether a warning is said even if no report is written: it is about a SPEC.
    pub(super) fn is_always_said(code: &str) -> bool {
        [
            NEVER_REACHED,
            NEVER_SAMPLED,
            PARTLY_REACHED,
            REACHED_AGAIN,
            AMBIGUOUS,
            NEVER_PRINTED,
            MISSED,
            PARTLY,
            OVERWRITTEN,
        ]
        .contains(&code)
    }

    fn warn(&mut self, code: &'static str, message: String) {
        let warning = Warning { code, message };
        if !self.report.warnings.contains(&warning) {
            self.report.warnings.push(warning);
        }
    }
}
