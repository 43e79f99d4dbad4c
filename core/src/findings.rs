//! The model of a report: what a shadow found in a run, independent of how it is shown.
//!
//! These are the facts of the JSON report (schema [`SCHEMA`]). Sites are ids here; their names, the ranking of findings
//! and the folding of repeated outputs come when a report is written, and so does every format.

mod answers;
mod confirmation;
mod coverage;
mod decimal;
mod finding;
mod index_set;
mod listing;
mod output;
mod output_stacks;
mod outputs;
mod record;
mod shares;
mod texts;
mod value;
mod warning;
mod written;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

pub use answers::{Answers, Contribution, Questions, Row, Sparse, Tape};
pub use confirmation::{Confirmation, Confirmed, Missed};
pub use coverage::{
    Coverage, Decided, Exhausted, Gap, LeftOut, Overwritten, OverwrittenSeeds, Rounded, Unjudged, Unwritten,
    Wrapped,
};
pub use finding::{Finding, FindingKind, Interval, Remedy, Spread, Topic, VariableRange, Witness};
pub use index_set::IndexSet;
pub use listing::{Entry, Listed, Listing};
pub use output::{Judgement, Label, Output, OutputKind, OutputShadow, RealText};
pub use output_stacks::OutputStacks;
pub use outputs::Outputs;
pub use shares::Shares;
pub use texts::{PrintedAt, WrittenText, WrittenTexts, label_at_end};
pub use value::{Number, Value};
pub use warning::Warning;
pub use written::Written;

use crate::site::{ScriptLine, Site, SiteTable};

/// Version of the JSON report: fields may be added, not renamed.
pub const SCHEMA: &str = "shadowgrind-report/1";

/// Everything there is to say about one run of one program image.
#[derive(Debug)]
pub struct Report {
    /// Name of the shadow.
    pub shadow: &'static str,
    /// The question that it answers.
    pub subject: Subject,
    /// The program did not come to its own end, or the report was written before it did.
    pub partial: bool,
    /// The program that ran.
    pub program: Program,
    /// The settings of the shadow, where a reader of the report must know them.
    pub settings: Settings,
    /// The inputs, in the order they were asked for.
    pub inputs: Vec<Input>,
    /// The outputs: floats that left the program.
    pub outputs: Outputs,
    /// The calls that led to outputs.
    pub output_stacks: OutputStacks,
    /// Outputs that stand for several floats, in order.
    pub written: Vec<Written>,
    /// Texts that the program wrote, if anybody asks for them, and where outputs stand in them.
    pub texts: WrittenTexts,
    /// Answers of the record of the whole run, if the shadow keeps one.
    pub answers: Option<Answers>,
    /// Causes of error, decisions, NaN and infinities, in no particular order.
    pub findings: Vec<Finding>,
    /// Findings that the user does not want to hear about.
    pub suppressed: Vec<Finding>,
    /// The comparison with a second run, if there was one.
    pub confirmation: Option<Confirmation>,
    /// Reasons why the fields above say less than they seem to.
    pub warnings: Vec<Warning>,
    /// A list of what can be named, if that was asked for.
    pub listing: Option<Listing>,
    /// The coverage: operations watched, and those that were not.
    pub coverage: Coverage,
    /// The calls that led to the sites of findings, from the innermost outwards, when an error was noted there first.
    pub stacks: HashMap<Site, Vec<Site>>,
    /// The meaning of every site above.
    pub sites: SiteTable,
}

impl Report {
    /// Tells whether a derivative of any output is not 0: of one that has it beside it, or as an answer of the record.
    pub fn depends_on_inputs(&self) -> bool {
        self.outputs.depend_on_inputs() || self.answers.iter().any(Answers::depend_on_inputs)
    }

    /// An empty report of `shadow`, which is about `subject`, on a program about to start.
    pub fn new(shadow: &'static str, subject: Subject, argv: Vec<String>, pid: u32) -> Self {
        Report {
            shadow,
            subject,
            partial: false,
            program: Program { argv, pid, exit_code: None, signal: None },
            settings: Settings::default(),
            inputs: Vec::new(),
            outputs: Outputs::new(),
            output_stacks: OutputStacks::default(),
            written: Vec::new(),
            texts: WrittenTexts::default(),
            listing: None,
            answers: None,
            findings: Vec::new(),
            suppressed: Vec::new(),
            confirmation: None,
            warnings: Vec::new(),
            coverage: Coverage::default(),
            stacks: HashMap::new(),
            sites: SiteTable::new(),
        }
    }

    /// Tells whether the report says nothing: no float was followed, seeded, printed or lost, and there is nothing to warn of.
    pub fn is_empty(&self) -> bool {
        let Coverage { operations, instructions, unwatched, gaps, .. } = &self.coverage;
        let met = operations.unwrap_or(0) + instructions.unwrap_or(0);
        let named = self.inputs.iter().any(|input| input.count > 0) || self.listing.is_some();
        let said = !self.findings.is_empty() || !self.suppressed.is_empty() || !self.warnings.is_empty();
        let printed_or_lost = !self.outputs.is_empty() || !unwatched.is_empty() || !gaps.is_empty();
        met == 0 && !(named || said || printed_or_lost || self.partial)
    }

    /// The line of the script that ran at `site`, if an interpreter did.
    pub fn script_line(&self, site: Site) -> Option<&ScriptLine> {
        self.stacks.get(&site)?.iter().find_map(|&caller| self.sites.script_line(caller))
    }

    /// Leaves only the outputs with these indices, which are ascending; they get new ones, from 0.
    pub fn keep_outputs(&mut self, kept: &[u64]) {
        self.outputs.keep(kept);
        self.output_stacks.keep(kept);
        self.texts.keep(kept);
        let findings = self.findings.iter_mut().chain(&mut self.suppressed);
        findings.for_each(|finding| {
            finding.outputs = finding.outputs.among(kept);
            finding.shares = finding.shares.among(kept);
        });
        for written in &mut self.written {
            // Such outputs are always among those that are left.
            written.output = kept.binary_search(&written.output).map_or(written.output, |index| index as u64);
        }
    }
}

/// Subject of a shadow, and so of its reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Neither: nothing is said of inputs, nor are outputs judged.
    Program,
    /// Derivatives of outputs with respect to inputs.
    Derivatives,
    /// Rounding errors of outputs, and their causes.
    Errors,
}

/// The program that was run and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The arguments, its name first; what is not UTF-8 is replaced.
    pub argv: Vec<String>,
    /// The process.
    pub pid: u32,
    /// The exit status, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did: `SIGSEGV`.
    pub signal: Option<String>,
}

/// Settings of a shadow that decide how its report reads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// Precision of the reals, in bits.
    pub precision: Option<u32>,
    /// Error bits up to which an output or a local error counts as clean.
    pub error_threshold: Option<f64>,
}

/// One `--input`, or the seeds of client requests at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The SPEC as it was written, or the name the program gave.
    pub spec: String,
    /// The value that was there when it was seeded first; nothing if that never happened.
    pub value: Option<Value>,
    /// The seed: the weight of this input in the direction.
    pub seed: f64,
    /// Number of floats seeded, each time counted.
    pub count: u64,
    /// Number of them that were seeded at once, the last time.
    pub at_once: u64,
    /// The largest magnitude of a finite one, where inputs are moved.
    pub largest: Option<f64>,
    /// The numbers of a text that the first of them were made from.
    pub text: TextNumbers,
}

/// Numbers of one text, in the order in which a program made floats from them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextNumbers {
    /// The text as a SPEC names it: `file:in.dat` or `stdin`.
    pub name: String,
    /// Line of each number, and its place among the numbers of that line, both from 1.
    pub places: Vec<[u32; 2]>,
}

impl Input {
    /// Notes that the next float to be seeded is made from the number at `place` of the text `name`: line, and number on it.
    /// Once a float was seeded of which nothing was noted, later ones are not either.
    pub fn note_place(&mut self, name: impl FnOnce() -> String, place: [u32; 2]) {
        if self.text.places.len() as u64 != self.count {
            return;
        }
        if self.count == 0 {
            self.text.name = name();
        }
        self.text.places.push(place);
    }
}
