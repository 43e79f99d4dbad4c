//! Calls by which a run-time system sees to itself, with floats that are none of the program's: it asks the machine how
//! floats are rounded, or how full its tables are. What such a call decides says nothing about the program, and what it
//! computes is exact by definition: an epsilon is the float that it is.
//!
//! The table is short on purpose, and each row has its reason: whatever is in it is not looked at. Reports say how often
//! that was so.

/// A function, and which of its calls are left out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The symbol.
    symbol: &'static str,
    /// The calls.
    pub(crate) calls: Calls,
    /// The reason, as reports give it.
    pub(crate) reason: &'static str,
}

/// Calls of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    All,
    /// Calls of `PyEval_EvalCode(code, …)` that run a Python file whose path ends so, and all that it imports.
    Runs(&'static str),
}

const ROWS: &[LeftOut] = &[
    LeftOut {
        symbol: "setup_Rmainloop",
        calls: Calls::All,
        reason: "R's start, which asks the machine for its floats' parameters",
    },
    LeftOut {
        symbol: "Rf_defineVar",
        calls: Calls::All,
        reason: "R's tables of variables, which grow when they are 85 % full",
    },
    LeftOut {
        symbol: "PyEval_EvalCode",
        calls: Calls::Runs("/numpy/__init__.py"),
        reason: "numpy's start, which asks the machine for its floats' parameters and makes text of them",
    },
];

/// The row of the function of this name.
pub(super) fn of(symbol: &str) -> Option<&'static LeftOut> {
    ROWS.iter().find(|row| row.symbol == symbol)
}
