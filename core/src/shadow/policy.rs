//! Policy of a shadow: how its rule reaches the guest, and what a front end does for it.
//!
//! Knows neither rules nor front ends: a front end reads here what it is asked for.

use crate::ops::Op;

/// The ways in which a shadow's rule reaches the guest: types, so that a front end chooses code by them.
pub mod reach {
    /// Not at all: nothing is carried.
    #[derive(Clone, Copy, Debug)]
    pub struct Nowhere;

    /// As machine code beside the guest's, made from the rule over abstract arithmetic.
    #[derive(Clone, Copy, Debug)]
    pub struct Inline;

    /// Operations are recorded, and replayed many at a time.
    #[derive(Clone, Copy, Debug)]
    pub struct Recorded;

    /// Operations are appended to a record of the whole run, each result under a number of its own.
    #[derive(Clone, Copy, Debug)]
    pub struct Appended;
}

/// From when on code is annotated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// From the first seed: no shadow is born before.
    FirstSeed,
    /// From the program's first instruction.
    Start,
}

/// Treatment of a shadow that has changed meanwhile, by an exchange whose success the program does not ask about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// Nothing: the shadow that the program has computed is put there.
    Replace,
    /// Adds what was added meanwhile: shadows are numbers in place, and linear.
    Add,
}

/// Way in which a shadow knows derivatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivatives {
    /// The cells are derivatives, forward: a program which asks for their bytes may have them.
    InPlace,
    /// Numbers that are found at the end, backwards, from a record of the run.
    Recorded,
}

/// Way in which a shadow knows errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    /// With roundings of their own: a run under the shadow that has reals tells which findings are right.
    Rounded,
    /// As distances from reals.
    Reals,
}

/// Fate of shadows in memory that system calls hand out, where the bytes leave the process as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Nothing is said of such memory.
    Unseen,
    /// Each place where floats leave so is an output, judged by the worst of them. Where no float is found, as where one is cut in
    /// two, and by memory that others see, they are counted as lost.
    Output,
    /// Floats that leave so are counted as lost: nobody knows what the worst of them would be.
    Lost,
}

/// Executions of an instruction that a front end leaves to the rule out of line, though the rule is computed beside the program
/// otherwise, or later from a record: enough for a shadow to see what is computed, what goes wrong, and where the program is then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Number of executions from the first on, by each thread.
    pub first: u32,
    /// Number of executions after those that are [suspicious](crate::inline::Inline::suspicion); the rest is left alone.
    pub suspicious: u32,
}

/// Services of a front end for a shadow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// From when on code is annotated.
    pub since: Since,
    /// True if a result may have a shadow though no operand has one: roundings are born of exact operands.
    pub is_born: bool,
    /// True if comparisons are to be seen.
    pub comparisons: bool,
    /// True if comparisons of floats with shadows are counted: the shadow knows nothing of the way not taken.
    pub decisions: bool,
    /// True if conversions to integers are to be seen.
    pub conversions: bool,
    /// The treatment of memory that system calls hand out.
    pub sent: Sent,
    /// True if a sum that rounds by a magic number has the shadow of that number: it rounds, and is no sum.
    pub magic_rounds: bool,
    /// True if a number in place that is widened is marked as [`WIDENED`](crate::words::WIDENED), and one that is stored beside a long
    /// double where it was loaded beside an `f64` as [`WIDENED_DOUBLE`](crate::words::WIDENED_DOUBLE).
    pub marks_widened: bool,
    /// The executions that the rule sees out of line although it is inline, or recorded.
    pub watch: Option<Watch>,
    /// True if rules hold several values at once beside operands and shadows: they want registers more than shadows do.
    pub long_rules: bool,
    /// The functions of which [`Inline::eval`](crate::inline::Inline::eval) tells the shadow of a result although shadows are
    /// born, or says NaN.
    pub evaluated: &'static [Op],
    /// The treatment of shadows by exchanges.
    pub exchange: Exchange,
    /// The way it knows derivatives, if that is what it is about: what loses one is then a gap.
    pub derivatives: Option<Derivatives>,
    /// The way it knows errors, if that is what it is about.
    pub errors: Option<Errors>,
}

impl Policy {
    /// The policy of a shadow that is born of seeds alone, and sees operations only.
    pub const SEEDED: Policy = Policy {
        since: Since::FirstSeed,
        is_born: false,
        comparisons: false,
        decisions: false,
        conversions: false,
        sent: Sent::Unseen,
        magic_rounds: false,
        marks_widened: false,
        watch: None,
        long_rules: false,
        evaluated: &[],
        exchange: Exchange::Replace,
        derivatives: None,
        errors: None,
    };

    /// The policy of a shadow that is born of any operation, and sees all there is.
    pub const BORN: Policy = Policy {
        since: Since::Start,
        is_born: true,
        comparisons: true,
        conversions: true,
        sent: Sent::Output,
        ..Policy::SEEDED
    };
}
