//! Reactions of a shadow to the things that a session finds.

use crate::hooks::abi::Float;
use crate::hooks::machine::Machine;
use shadowgrind_core::findings::{Answers, Coverage, Finding, OutputShadow, Questions, Settings, Value};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::{Leaves, Seed, Traced};
use shadowgrind_core::site::Site;
use shadowgrind_core::step::ToInteger;

/// The shadow of an operand, kept while a function runs: whatever 64 bits mean to the observer that made it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SavedShadow(pub(crate) u64);

impl SavedShadow {
    /// No shadow.
    pub(crate) const NONE: SavedShadow = SavedShadow(0);
}

/// An operation that a function performed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LibraryCall<'a> {
    /// The call.
    pub(crate) site: Site,
    pub(crate) op: Op,
    /// Bits of the operands, all in the format of the result.
    pub(crate) x: &'a [u128],
    /// The shadows when the function was entered.
    pub(crate) kept: &'a [SavedShadow],
    /// The result, where it is now.
    pub(crate) result: Float,
}

/// A shadow, as a session sees it.
pub(crate) trait Observer {
    /// Statement about a float that leaves, and the value as it is to be reported: one that was promoted to double for
    /// a call is reported as it was before, where the shadow can tell.
    fn output(&mut self, m: &mut dyn Machine, leaves: &Leaves, x: Float) -> (Value, OutputShadow<String>);

    /// Statement about the float at `address`, which left in binary form as part of output `index`; nothing if there is
    /// none with a shadow.
    fn sent(
        &mut self,
        m: &mut dyn Machine,
        index: u64,
        site: Site,
        address: u64,
    ) -> Option<(Float, OutputShadow<String>)>;

    /// Gives `x` its seed.
    fn seed(&mut self, m: &mut dyn Machine, x: Float, seed: Seed);

    /// The shadow of an operand of a function that is entered.
    fn keep(&mut self, m: &mut dyn Machine, x: Float) -> SavedShadow;

    /// Gives `x` the shadow that was kept, which is released.
    fn put_back(&mut self, m: &mut dyn Machine, x: Float, kept: SavedShadow);

    /// Gives `x` the shadow that was kept, and goes on keeping it.
    fn give(&mut self, m: &mut dyn Machine, x: Float, kept: SavedShadow);

    /// Tells whether a function with these operands must be taken as one operation. If not, it runs like any other
    /// code, which then must come to the same.
    fn wraps(&mut self, kept: &[SavedShadow]) -> bool;

    /// The shadow that the content of a cell, which is not zero, says the float of `format` and `bits` has.
    fn keep_cell(&mut self, format: Format, bits: u128, cell: u128) -> SavedShadow;

    /// Tells whether two shadows that were kept say the same of a float.
    fn keeps_alike(&mut self, a: SavedShadow, b: SavedShadow) -> bool;

    /// Error bits of the float of this format and these bits, whose shadow was kept; nothing if this shadow has no errors.
    fn kept_error(&mut self, x: (Format, u128), kept: SavedShadow) -> Option<f64>;

    /// Statement about a float, like [`Observer::output`]: that of this format and these bits, whose shadow was kept, or, if that is said,
    /// the same with the other sign.
    fn output_kept(
        &mut self,
        m: &mut dyn Machine,
        leaves: &Leaves,
        x: (Format, u128),
        kept: (SavedShadow, bool),
    ) -> (Value, OutputShadow<String>);

    /// A function returned: gives its result its shadow. Only `Applied::kept` says what operands had: the function
    /// may have overwritten all else.
    fn function(&mut self, m: &mut dyn Machine, applied: &LibraryCall<'_>);

    /// A function at `site` returned the integer that it has made of a float of this format and these bits, whose shadow was kept.
    fn converted(
        &mut self,
        m: &dyn Machine,
        site: Site,
        how: ToInteger,
        x: (Format, u128),
        kept: SavedShadow,
    );

    /// Releases operands that were kept for a call and are not needed any more.
    fn release(&mut self, kept: &[SavedShadow]);

    /// Shadows `x` from now on although no operation has touched it.
    fn track(&mut self, m: &mut dyn Machine, x: Float);

    /// The derivative of `x`; nothing if this shadow has none.
    fn derivative(&mut self, m: &mut dyn Machine, x: Float) -> Option<f64>;

    /// Sets the derivative of `x`; false if this shadow has none.
    fn set_derivative(&mut self, m: &mut dyn Machine, x: Float, derivative: f64) -> bool;

    /// Number that the record of the run has for `x`; nothing if `x` depends on no input, or there is no such record.
    fn number(&mut self, m: &mut dyn Machine, x: Float) -> Option<u64>;

    /// Makes `x` stand for what the record of the run has under `number`; false if it has nothing.
    fn set_number(&mut self, m: &mut dyn Machine, x: Float, number: u64) -> bool;

    /// Makes a component of an input whose float is nowhere yet; its number in the record of the run.
    fn component(&mut self, value: f64, seed: Seed) -> Option<u64>;

    /// Appends a result to the record of the run, given the numbers of the results that it depends on, at most two, and its
    /// partial derivatives by them; its number.
    fn append_result(&mut self, terms: &[(u64, f64)]) -> Option<u64>;

    /// Makes what the record of the run has under `number`, which is `value`, an output.
    fn output_number(&mut self, leaves: &Leaves, number: u64, value: f64);

    /// The real that `x` stands for, in this many decimal digits (0: all it has); nothing if the shadow knows none.
    fn real(&mut self, m: &mut dyn Machine, x: Float, digits: usize) -> Option<String>;

    /// Error bits of `x`; nothing if this shadow has no errors.
    fn error_bits(&mut self, m: &mut dyn Machine, x: Float) -> Option<f64>;

    /// Tells whether `x` has a shadow by which it is anything but an exact float that depends on nothing.
    fn matters(&mut self, m: &mut dyn Machine, x: Float) -> bool;

    /// Tells whether `x` carries a shadow.
    fn is_shadowed(&mut self, m: &mut dyn Machine, x: Float) -> bool;

    /// Takes the place where an error was noted last.
    fn noted(&mut self) -> Option<Site>;

    /// Everything found so far, at the end of the run.
    fn findings(&mut self) -> Vec<Finding>;

    /// Answers of the record of the run, at its end; nothing if there is none.
    fn answers(&mut self, questions: &Questions) -> Option<Answers>;

    /// Everything that operations with derivatives have computed, if that was kept.
    fn trace(&mut self) -> Vec<Traced>;

    /// Adds what was watched and what was not.
    fn coverage(&mut self, into: &mut Coverage);

    /// Settings that a reader of the report must know.
    fn settings(&self) -> Settings;
}
