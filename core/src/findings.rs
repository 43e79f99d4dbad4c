//! The model of a report: what a shadow found in a run, independent of how it is shown.
//!
//! These are the facts of the JSON report (schema [`SCHEMA`]). Sites are ids here; their names, the ranking of findings
//! and the folding of repeated outputs come when a report is written, and so does every format.

mod answers;
mod confirmation;
mod decimal;
mod index_set;
mod listing;
mod output;
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
pub use index_set::IndexSet;
pub use listing::{Entry, Listed, Listing};
pub use output::{Judgement, Label, Output, OutputKind, OutputShadow};
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

    /// The line of the script that ran at `site`, if an interpreter did.
    pub fn script_line(&self, site: Site) -> Option<&ScriptLine> {
        self.stacks.get(&site)?.iter().find_map(|&caller| self.sites.script_line(caller))
    }

    /// Leaves only the outputs with these indices, which are ascending; they get new ones, from 0.
    pub fn keep_outputs(&mut self, kept: &[u64]) {
        self.outputs.keep(kept);
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
}

/// Kind of cause that a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingKind {
    /// A difference of nearly equal values uncovers the rounding of its operands.
    Cancellation,
    /// A small operand vanishes in a large one.
    Absorption,
    /// Many small roundings add up at one place.
    Accumulation,
    /// Roundings of many operations, amplified, of which none is worth naming.
    Conditioning,
    /// An operation whose own result is far off.
    Rounding,
    /// The float is beyond the largest of its format where the real is not infinite.
    Overflow,
    /// The float is so small that its format has not all bits for it, or none.
    Underflow,
    /// NaN, or an infinity that is no overflow, of operands that are neither.
    Invalid,
    /// A comparison that the reals decide otherwise.
    Branch,
    /// A conversion to integer that the reals decide otherwise.
    Conversion,
}

/// A group of kinds of findings that are told in the same way and matter for the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topic {
    /// Makes numbers wrong: matters if one of those leaves the program, or decides something.
    Error,
    /// The program would have gone another way in the reals: matters in any case.
    Decision,
    /// Bears NaN or an infinity: matters in any case.
    Special,
}

impl FindingKind {
    /// The group of this kind.
    pub fn topic(self) -> Topic {
        match self {
            FindingKind::Branch | FindingKind::Conversion => Topic::Decision,
            FindingKind::Invalid | FindingKind::Overflow => Topic::Special,
            FindingKind::Cancellation
            | FindingKind::Absorption
            | FindingKind::Accumulation
            | FindingKind::Conditioning
            | FindingKind::Rounding
            | FindingKind::Underflow => Topic::Error,
        }
    }
}

/// One execution of an operation, for people to see what happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The operands.
    pub operands: Vec<Value>,
    /// The result.
    pub result: Value,
}

/// A better way to compute an expression, tried on inputs that the program had.
#[derive(Clone, Debug, PartialEq)]
pub struct Remedy {
    /// The formula to compute instead, infix, for people.
    pub expression: String,
    /// The formula as FPCore, for tools.
    pub fpcore: Option<String>,
    /// Mean error of the program's own expression on the inputs, in bits.
    pub bits_before: f64,
    /// Mean error of this formula on the same inputs, in bits.
    pub bits_after: f64,
    /// Number of different inputs.
    pub samples: usize,
}

/// Mean and maximum over the executions of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// Largest.
    pub max: f64,
}

/// An interval that values fell in, ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Smallest value met.
    pub min: f64,
    /// Largest value met.
    pub max: f64,
}

/// The values that one variable of an expression had, split by sign: at most a negative and a positive interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariableRange {
    /// Name of the variable in the expression.
    pub variable: String,
    /// Over all executions.
    pub all: Vec<Interval>,
    /// Over the executions with an error.
    pub erroneous: Vec<Interval>,
    /// The value in the worst execution.
    pub worst: Option<f64>,
}

/// A cause of error: one operation at one place, however often it was executed.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The kind of error.
    pub kind: FindingKind,
    /// The operation, as TABLE 1 calls it.
    pub operation: String,
    /// The place of the operation.
    pub site: Site,
    /// Number of executions with an error; of a decision, those that came out otherwise than in the reals.
    pub count: u64,
    /// Number of all executions; known for decisions only.
    pub executions: Option<u64>,
    /// Number of executions of a decision of which the shadow could not tell.
    pub unsettled: u64,
    /// Operands that the first NaN or infinity was made of.
    pub witness: Option<Witness>,
    /// Error of its results.
    pub error_bits: Option<Spread>,
    /// Error that the operation itself introduces.
    pub local_error_bits: Option<Spread>,
    /// The formula that it computes, infix, for people.
    pub expression: Option<String>,
    /// The formula as FPCore, for tools.
    pub fpcore: Option<String>,
    /// The ranges of its variables.
    pub ranges: Vec<VariableRange>,
    /// The outputs it reached.
    pub outputs: IndexSet,
    /// The shares in the errors of these, as far as they are known.
    pub shares: Shares,
    /// Remarks on it.
    pub hint: Option<String>,
    /// Better ways to compute its expression, the best first.
    pub remedies: Vec<Remedy>,
    /// Bits of error that this explains: of each number that it made wrong, its share times the bits.
    pub contribution: f64,
    /// Share of all error of the outputs reached that this explains, 0…1, where the shadow can tell.
    pub share: Option<f64>,
    /// Sites of the findings this one is a consequence of: a comparison flips because its operands were wrong before.
    pub causes: Vec<Site>,
    /// The word of a second run on it, if there was one.
    pub confirmed: Option<Confirmed>,
}

impl Finding {
    /// A finding of which nothing is known yet but what and where it is.
    pub fn new(kind: FindingKind, operation: impl Into<String>, site: Site) -> Self {
        Finding {
            kind,
            operation: operation.into(),
            site,
            count: 0,
            executions: None,
            unsettled: 0,
            witness: None,
            error_bits: None,
            local_error_bits: None,
            expression: None,
            fpcore: None,
            ranges: Vec::new(),
            outputs: IndexSet::new(),
            shares: Shares::default(),
            hint: None,
            remedies: Vec::new(),
            contribution: 0.0,
            share: None,
            causes: Vec::new(),
            confirmed: None,
        }
    }

    /// Adds a remark to the hint.
    pub fn remark(&mut self, remark: &str) {
        let hint = self.hint.get_or_insert_default();
        if !hint.is_empty() {
            hint.push_str("; ");
        }
        hint.push_str(remark);
    }
}

/// Coverage of a run: operations watched, and those that were not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Floating-point operations that were shadowed, each time counted; nothing if the shadow does not count them.
    pub operations: Option<u64>,
    /// Different instructions of the program among them: those that code was made for with their shadows.
    pub instructions: Option<u64>,
    /// Functions taken as one operation.
    pub wrapped: Vec<Wrapped>,
    /// Calls that were not looked at, because they are none of the program's business.
    pub left_out: Vec<LeftOut>,
    /// Floats that are printed without being seen, in words: whose they are, and why.
    pub unwatched: Vec<&'static str>,
    /// Instructions that met a shadowed value and dropped it.
    pub gaps: Vec<Gap>,
    /// Comparisons of shadowed values, where the shadow is that of the way taken.
    pub decisions: Vec<Decided>,
    /// Seeds that the program has overwritten before it read them.
    pub overwritten: Vec<OverwrittenSeeds>,
    /// Operations some of whose results may be right only because the shadow's precision was too low to tell.
    pub exhausted: Vec<Exhausted>,
    /// Number of wrong outputs that nobody is known to answer for, of a shadow that looks for causes and does not see all.
    pub unexplained: u64,
    /// Number of instructions of which fewer executions were looked at for causes, because there were too many in all.
    pub capped: u64,
}

/// Floats of a group, given together, that the program has overwritten before it read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overwritten {
    /// The number that the group was given.
    pub group: usize,
    /// Number of these floats.
    pub floats: u64,
    /// Number of floats of the group.
    pub of: u64,
    /// True if there may be more: not all could be watched to the end.
    pub at_least: bool,
    /// Guest address of the instruction that was the first, if that is known.
    pub pc: Option<u64>,
}

/// Floats of an input that the program has overwritten before it read them: nothing depends on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverwrittenSeeds {
    /// The input's place among those of the report.
    pub input: usize,
    /// Number of these floats.
    pub floats: u64,
    /// Number of floats that were seeded together.
    pub of: u64,
    /// There may be more of them.
    pub at_least: bool,
    /// The place where the first was overwritten, if that is known.
    pub site: Site,
}

/// An operation for which the shadow's precision did not always suffice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// The operation, as TABLE 1 calls it.
    pub operation: &'static str,
    /// Number of times that was so.
    pub count: u64,
    /// The place where it was so.
    pub site: Site,
}

/// A function whose calls were each taken as one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapped {
    /// The function, as its symbol names it.
    pub function: String,
    /// Number of calls.
    pub calls: u64,
}

/// A function of a run-time system that was not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The reason, in words: what the function does.
    pub reason: &'static str,
    /// Number of calls.
    pub calls: u64,
}

/// A comparison of shadowed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// Number of times that a value compared had a shadow.
    pub count: u64,
    /// Number of times that the values were then asked to be equal, and were: what is done next is done at a point.
    pub equal: u64,
    /// Where.
    pub site: Site,
}

/// An instruction that no shadow understands yet, where it met a shadowed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The instruction: mnemonic and operand kinds.
    pub instruction: String,
    /// Number of shadows it dropped.
    pub count: u64,
    /// The place where it dropped them.
    pub site: Site,
}
