//! Coverage: what of a run was looked at, and what was not.

use crate::site::Site;

/// Coverage of a run: operations watched, and those that were not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Floating-point operations that were shadowed, each time counted; nothing if there were some, and the shadow does not count them.
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
    /// Roundings of shadowed values to whole numbers, which are constant.
    pub roundings: Vec<Rounded>,
    /// Decisions that are not those of the reals, and may be meant so.
    pub unjudged: Vec<Unjudged>,
    /// Floats with derivatives whose text the program has made, and written nowhere.
    pub unwritten: Vec<Unwritten>,
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
    /// True if there may be more than are counted.
    pub at_least: bool,
    /// The place where the first was overwritten, if that is known.
    pub site: Site,
}

/// An operation for which the shadow's precision did not always suffice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// The operation, as TABLE 1 calls it.
    pub operation: &'static str,
    /// Number of results that could not be told from zero.
    pub count: u64,
    /// The place of the operation.
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
    /// True if it was counted no more after `count` times, and may have come more often.
    pub at_least: bool,
    /// Where.
    pub site: Site,
}

/// A place where shadowed values become whole numbers, whose derivative is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rounded {
    /// Number of values with a shadow that were rounded.
    pub count: u64,
    /// The place of the instruction, or of the function's call.
    pub site: Site,
}

/// A comparison of totals that lack what was rounded off, which the program puts back elsewhere: the reals decide otherwise, and
/// whether the program should have is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unjudged {
    /// Number of times that the reals decide otherwise.
    pub count: u64,
    /// The place of the comparison.
    pub site: Site,
}

/// Floats with derivatives whose text the program has made, and written nowhere: if it reads that text by code of its own, what it makes
/// of it has no derivative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritten {
    /// Number of floats.
    pub count: u64,
    /// True if there may be more: not all floats, or not all that was written, were looked through.
    pub at_least: bool,
    /// The place where the text was made.
    pub site: Site,
}

/// An instruction that no shadow understands yet, where it met a shadowed value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The instruction: mnemonic and operand kinds.
    pub instruction: String,
    /// Number of shadows it dropped.
    pub count: u64,
    /// The place of the instruction.
    pub site: Site,
}

impl Gap {
    /// Stands for the instruction where an operand came without what was kept beside it.
    pub const MISMATCH: &str = "a float whose bytes were changed before";
}
