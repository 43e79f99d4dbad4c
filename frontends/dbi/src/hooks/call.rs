//! A call of a mathematical function as operations: what it was given, and what each of them came to.
//!
//! Knows neither names of functions nor where the ABI puts their operands.

use super::abi::Float;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::ToInteger;

/// Operand of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Argument {
    Float(Float),
    /// As the float of this value, which no shadow follows.
    Integer(i64),
}

/// Operands of a call, kept until it returns.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// The operands.
    pub(crate) arguments: Vec<Argument>,
    /// The addresses that results are written to.
    pub(crate) pointers: Vec<u64>,
}

/// One operation of a call that has returned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// Number of its first operand among the call's.
    pub(crate) first: usize,
    /// Number of the call's operands that are its.
    pub(crate) count: usize,
    /// One more operand, known only now.
    pub(crate) integer: Option<i64>,
    pub(crate) made: Made,
}

/// Result of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Made {
    /// A float.
    Float(Op, Float),
    /// An integer, which carries no shadow.
    Integer(ToInteger),
}
