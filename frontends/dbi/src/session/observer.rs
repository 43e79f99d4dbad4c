//! What a shadow does with what a session finds.

use crate::hooks::abi::Float;
use crate::hooks::machine::Machine;
use shadowgrind_core::findings::{Coverage, Finding, Judgement, Settings, Value};
use shadowgrind_core::ops::Op;
use shadowgrind_core::site::Site;

/// The shadow of an operand, kept while a function runs: whatever 64 bits mean to the observer that made it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kept(pub(crate) u64);

impl Kept {
    /// No shadow.
    pub(crate) const NONE: Kept = Kept(0);
}

/// An operation that a function performed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Applied<'a> {
    /// The call.
    pub(crate) site: Site,
    pub(crate) op: Op,
    /// Bits of the operands, all in the format of the result.
    pub(crate) x: &'a [u128],
    /// Their shadows when the function was entered.
    pub(crate) kept: &'a [Kept],
    /// The result, where it is now.
    pub(crate) result: Float,
}

/// What a shadow says about an output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Word {
    /// Nothing: no shadow is carried.
    Nothing,
    /// The derivative.
    Dot(Value),
    /// The distance from the reals.
    Error {
        /// The real value in decimal digits.
        real: Option<String>,
        /// Error bits of the value.
        error_bits: f64,
        /// Decimal digits of the value that are right; NaN where it has none.
        correct_digits: f32,
        /// How it is to be taken.
        judgement: Judgement,
    },
}

/// One per shadow.
pub(crate) trait Observer {
    /// What is to be said about output number `index`, and the value as it is to be reported: a float that was
    /// `promoted` to double for the call is reported as it was before, where the shadow can tell.
    fn output(
        &mut self,
        m: &mut dyn Machine,
        index: u64,
        site: Site,
        x: Float,
        promoted: bool,
    ) -> (Value, Word);

    /// What is to be said about the float at `address`, which left in binary form as part of output `index`; nothing if
    /// there is none with a shadow.
    fn sent(
        &mut self,
        _m: &mut dyn Machine,
        _index: u64,
        _site: Site,
        _address: u64,
    ) -> Option<(Float, Word)> {
        None
    }

    /// Gives `x` its seed.
    fn seed(&mut self, m: &mut dyn Machine, x: Float, weight: f64);

    /// The shadow of an operand of a function that is entered.
    fn keep(&mut self, m: &mut dyn Machine, x: Float) -> Kept;

    /// Whether a function with these operands must be taken as one operation. If not, it runs like any other code, which
    /// then must come to the same.
    fn wraps(&mut self, _kept: &[Kept]) -> bool {
        true
    }

    /// A function returned: gives its result its shadow. Only `Applied::kept` says what operands had: the function
    /// may have overwritten all else.
    fn function(&mut self, m: &mut dyn Machine, applied: &Applied<'_>);

    /// What was kept for a call is not needed any more.
    fn release(&mut self, _kept: &[Kept]) {}

    /// Shadows `x` from now on although no operation has touched it.
    fn track(&mut self, _m: &mut dyn Machine, _x: Float) {}

    /// The derivative of `x`; nothing if this shadow has none.
    fn dot(&mut self, _m: &mut dyn Machine, _x: Float) -> Option<f64> {
        None
    }

    /// Sets the derivative of `x`; false if this shadow has none.
    fn set_dot(&mut self, _m: &mut dyn Machine, _x: Float, _dot: f64) -> bool {
        false
    }

    /// The real that `x` stands for, in this many decimal digits (0: all it has); nothing if this shadow has no reals.
    fn real(&mut self, _m: &mut dyn Machine, _x: Float, _digits: usize) -> Option<String> {
        None
    }

    /// Error bits of `x`; nothing if this shadow has no errors.
    fn error_bits(&mut self, _m: &mut dyn Machine, _x: Float) -> Option<f64> {
        None
    }

    /// Whether `x` carries a shadow.
    fn is_shadowed(&mut self, m: &mut dyn Machine, x: Float) -> bool;

    /// Everything found so far, at the end of the run.
    fn findings(&mut self) -> Vec<Finding> {
        Vec::new()
    }

    /// Adds what was watched and what was not.
    fn coverage(&mut self, _into: &mut Coverage) {}

    /// Settings that a reader of the report must know.
    fn settings(&self) -> Settings {
        Settings::default()
    }

    /// The process was forked; this is the child, whose report is about what comes.
    fn forked(&mut self) {}
}

/// The observer of a run without a shadow.
pub(crate) struct Nobody;

/// The float as reports have it.
pub(crate) fn value(x: Float) -> Value {
    Value::new(x.format, &x.bits.to_le_bytes())
}

impl Observer for Nobody {
    fn output(&mut self, _: &mut dyn Machine, _: u64, _: Site, x: Float, _: bool) -> (Value, Word) {
        (value(x), Word::Nothing)
    }

    fn seed(&mut self, _: &mut dyn Machine, _: Float, _: f64) {}

    fn keep(&mut self, _: &mut dyn Machine, _: Float) -> Kept {
        Kept::NONE
    }

    fn wraps(&mut self, _: &[Kept]) -> bool {
        false
    }

    fn function(&mut self, _: &mut dyn Machine, _: &Applied<'_>) {}

    fn is_shadowed(&mut self, _: &mut dyn Machine, _: Float) -> bool {
        false
    }
}
