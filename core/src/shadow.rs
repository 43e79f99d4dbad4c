//! The seam between front ends and shadows: all that a shadow is.
//!
//! A shadow has a rule, which says what the shadow of an operation's result is ([`Rule`]); words, which say what the cell
//! beside a float holds ([`Words`]); a policy, which says what a front end is to do for it ([`Policy`]); and words for people,
//! seeds, outputs and findings ([`Shadow`]). Moves are the cells' alone ([`Cells`]): no shadow knows of them. Dispatch is
//! static throughout.

mod cells;
mod policy;

use crate::findings::{self, Answers, Coverage, Finding, OutputShadow, Questions, Subject, Value};
use crate::format::Format;
use crate::ops::Op;
use crate::rounding::Rounding;
use crate::site::Site;
use crate::step::{Predicate, Sums, ToInteger};
use crate::text::Notation;
use crate::tricks;
use crate::words::Words;
pub use cells::{Cells, Location};
pub use policy::{Derivatives, Errors, Exchange, Policy, Sent, Since, Watch, reach};
use std::path::PathBuf;

/// An operation as the guest performed it.
#[derive(Clone, Copy, Debug)]
pub struct Lane<'a, V> {
    /// The instruction, or the call of a function taken as one operation.
    pub site: Site,
    /// The row of TABLE 1.
    pub op: Op,
    /// Format of the operands.
    pub from: Format,
    /// Format of the result.
    pub to: Format,
    /// Bits of the operands.
    pub x: &'a [u128],
    /// Bits of the result.
    pub r: u128,
    /// Shadows of the operands, where they have one.
    pub shadows: &'a [Option<&'a V>],
}

impl<V> Lane<'_, V> {
    /// The result as a double, on operands `x`: of long doubles, what is computed of these, if rules take that for it.
    pub fn result(&self, x: &[f64]) -> f64 {
        let in_doubles = if self.to == Format::F80 { self.op.in_doubles(x) } else { None };
        in_doubles.unwrap_or_else(|| self.to.to_f64(self.r))
    }

    /// Tells whether this is a sum in which a number without a shadow rounds the other terms: to integers or, where `sums` says that
    /// it is taken off again, to fractions.
    pub fn rounds_by_magic(&self, sums: Sums) -> bool {
        let is_magic = |&i: &usize| {
            let x = self.from.to_f64(self.x[i]);
            let rounds = || tricks::rounds(self.to, x, self.to.to_f64(self.r));
            let to_fractions = || {
                sums == Sums::TakenOff
                    && self.from == self.to
                    && tricks::rounds_to_fractions(self.to, self.x[i], self.r)
            };
            self.shadows[i].is_none() && (rounds() || to_fractions())
        };
        sums != Sums::Plain && self.op.addends().iter().any(is_magic)
    }
}

/// A lane that something looks at.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a, V> {
    /// The format.
    pub format: Format,
    /// The bits.
    pub bits: u128,
    /// The shadow, where it has one.
    pub shadow: Option<&'a V>,
}

impl<V> Observed<'_, V> {
    /// The float as reports have it.
    pub fn value(&self) -> Value {
        Value::new(self.format, &self.bits.to_le_bytes())
    }
}

/// The meaning of operations on floats that carry shadows. No shadow at all means: the float is what it would be in the
/// reals, or, for a derivative, constant.
pub trait Rule {
    /// The shadow of one float. Cheap to clone.
    type Value: Clone;

    /// True if a float that integers have made of one with a shadow, in a way that was not followed, is not to be taken for one without.
    const TRACES: bool = false;

    /// Tells whether what is beside bits can be the shadow of a float of that format; beside half a double it may be impossible. What
    /// is lost leaves [traces](Self::TRACES) only where it is possible.
    fn is_possible(&self, _float: &Observed<'_, Self::Value>) -> bool {
        true
    }

    /// The shadow of an operation's result; total.
    fn op(&mut self, lane: &Lane<'_, Self::Value>) -> Option<Self::Value>;

    /// The shadow of ±x·2ᵏ made from x by other than arithmetic.
    fn scale(
        &mut self,
        shadow: &Self::Value,
        format: Format,
        negate: bool,
        power: i32,
    ) -> Option<Self::Value>;

    /// Says what is known of the sums of the operations that follow.
    fn expect_sums(&mut self, _sums: Sums) {}

    /// The shadow of ±x·2ᵏ made from x as [`Rule::scale`] does, but for a constant's part in it: a sum of x and a
    /// constant as integers ([`crate::tricks::moves_along`]). Nothing where that is another real.
    fn displace(
        &mut self,
        _shadow: &Self::Value,
        _format: Format,
        _negate: bool,
        _power: i32,
    ) -> Option<Self::Value> {
        None
    }

    /// The shadow of a float whose sign was set or cleared, whatever it was, as in `result`; `turned` says whether that turned it over.
    /// Where a shadow has no sign of its own, it follows the float's.
    fn with_sign(
        &mut self,
        shadow: &Self::Value,
        format: Format,
        _result: u128,
        turned: bool,
    ) -> Option<Self::Value> {
        self.scale(shadow, format, turned, 0)
    }

    /// The shadow of the same float in a wider format.
    fn widen(&mut self, shadow: Self::Value, _from: Format, _to: Format) -> Self::Value {
        shadow
    }

    /// An operand at `site` has no shadow, though one is kept beside it: of another float, of which a part was changed
    /// in a way that was not followed.
    fn mismatch(&mut self, _site: Site) {}

    /// A comparison, before the guest acts on it.
    fn compare(&mut self, _site: Site, _predicate: Predicate, _x: [Observed<'_, Self::Value>; 2]) {}

    /// A conversion to an integer.
    fn to_integer(&mut self, _site: Site, _how: ToInteger, _x: Observed<'_, Self::Value>) {}

    /// From now on the guest rounds so, where an operation asks for the rounding mode of the moment: x87's instructions,
    /// and all others.
    fn set_rounding(&mut self, _x87: Rounding, _others: Rounding) {}

    /// The thread that is at a stop has raised the exception that says that a result was too small for its format.
    fn underflowed(&mut self, _site: Site) {}

    /// From now on comparisons and conversions are about how a number is written, or are not any more: what digits it has
    /// is asked of the float, and must be.
    fn ignore_decisions(&mut self, _ignore: bool) {}
}

/// Seed of an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seed {
    /// Number of the input in the report.
    pub input: usize,
    /// The weight in the direction.
    pub weight: f64,
}

/// Settings of a shadow that a user can choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Bits of reals, 64…16384.
    pub precision: u32,
    /// Error bits up to which a value, or what an operation introduces, counts as clean.
    pub error_threshold: f64,
    /// Depth, in operations, of the expression that explains a culprit.
    pub expr_depth: u32,
    /// True if fast paths are used; the reference path is left to do all otherwise.
    pub fast: bool,
    /// True if reals that have lost too many bits are found again with more.
    pub settles: bool,
    /// True if better ways are looked for to compute what went wrong.
    pub remedies: bool,
    /// True if the record of a whole run holds roundings.
    pub budget: bool,
    /// Bytes up to which the record of a whole run stays in memory.
    pub tape_memory: u64,
    /// Directory for what of it does not.
    pub tape_dir: PathBuf,
    /// True if what each operation has computed is wanted at the end: see [`Shadow::trace`].
    pub trace: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            precision: 256,
            error_threshold: 5.0,
            expr_depth: 5,
            fast: true,
            settles: true,
            remedies: true,
            budget: false,
            tape_memory: u64::MAX,
            tape_dir: PathBuf::from("/var/tmp"),
            trace: false,
        }
    }
}

/// Operation or comparison as it was executed, with the derivative that it had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traced {
    /// The instruction.
    pub site: Site,
    /// The result; nothing for a comparison.
    pub value: Option<f64>,
    /// The derivative of the result.
    pub derivative: f64,
}

/// Place and manner in which a float leaves the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaves {
    /// The instruction it leaves at.
    pub site: Site,
    /// The number among the outputs of the report.
    pub output: u64,
    /// The notation it is written in, where that is known.
    pub notation: Option<Notation>,
    /// True if it leaves in binary form, and not printed or named.
    pub written: bool,
}

/// All that a shadow is. The methods are called where the program stops, never per operation.
pub trait Shadow: Rule<Value: Send> + Sized + Send + 'static {
    /// The name on the command line and in reports.
    const NAME: &'static str;
    /// The question it answers, in a few words.
    const SUMMARY: &'static str;
    /// The number that programs are told by client request.
    const NUMBER: u64;
    /// The subject of its reports.
    const SUBJECT: Subject;
    /// Services of a front end for this shadow.
    const POLICY: Policy;

    /// The way in which its rule reaches the guest: one of [`reach`].
    type Reach;

    /// The content of its cells.
    type Words: Words<Value = Self::Value> + Default + Send;

    /// A shadow that has seen nothing yet.
    fn new(settings: &Settings) -> Self;

    /// The shadow of an input, whose present one is given with it; nothing if inputs mean nothing to it.
    fn seed(&mut self, _x: Observed<'_, Self::Value>, _seed: Seed) -> Option<Self::Value> {
        None
    }

    /// The shadow of a float that is followed from now on although no operation has touched it.
    fn track(&mut self, x: Observed<'_, Self::Value>) -> Option<Self::Value> {
        x.shadow.cloned()
    }

    /// Statement about a float that leaves, and the float as it is reported, in the format it had before any promotion.
    fn output(&mut self, _leaves: &Leaves, x: Observed<'_, Self::Value>) -> (Value, OutputShadow<String>) {
        (x.value(), OutputShadow::Nothing)
    }

    /// The derivative that a shadow (or none) stands for; nothing if it stands for none.
    fn derivative(&self, _shadow: Option<&Self::Value>) -> Option<f64> {
        None
    }

    /// The shadow that stands for this derivative.
    fn of_derivative(&self, _derivative: f64) -> Option<Self::Value> {
        None
    }

    /// Number that the record of the run has for what `shadow` stands for; nothing if there is no such record.
    fn number(&mut self, _shadow: &Self::Value) -> Option<u64> {
        None
    }

    /// The shadow that stands for what the record of the run has under `number`.
    fn numbered(&self, _number: u64) -> Option<Self::Value> {
        None
    }

    /// Appends to the record of the run a result that the program names itself, given the numbers of the results that it
    /// depends on, at most two, and its partial derivatives by them. Its number; nothing if there is no such record.
    fn append_result(&mut self, _terms: &[(u64, f64)]) -> Option<u64> {
        None
    }

    /// The real that `x` stands for, in this many decimal digits (0: all that it has); nothing if it stands for none.
    fn real(&self, _x: Observed<'_, Self::Value>, _digits: usize) -> Option<String> {
        None
    }

    /// Error bits of `x`; nothing if errors are not known.
    fn error_bits(&self, _x: Observed<'_, Self::Value>) -> Option<f64> {
        None
    }

    /// Takes the place where an error was noted last, be it of an operation or a decision; nothing if none was since it was
    /// taken. A front end that stands there notes how the program came to it.
    fn noted(&mut self) -> Option<Site> {
        None
    }

    /// Takes the places where an error was noted for the first time, each once: a front end that was not there then looks at the
    /// next executions.
    fn noted_first(&mut self) -> Vec<Site> {
        Vec::new()
    }

    /// Everything found so far, at the end of the run.
    fn findings(&mut self) -> Vec<Finding> {
        Vec::new()
    }

    /// Answers of the record of the run, at its end; nothing if there is none.
    fn answers(&mut self, _questions: &Questions) -> Option<Answers> {
        None
    }

    /// Everything that operations have computed so far, in order, and what comparisons compared; nothing if that was not to be
    /// kept, or this shadow does not.
    fn trace(&mut self) -> Vec<Traced> {
        Vec::new()
    }

    /// Adds what was watched and what was not.
    fn coverage(&self, _into: &mut Coverage) {}

    /// Settings that a reader of the report must know.
    fn settings(&self) -> findings::Settings {
        findings::Settings::default()
    }
}
