//! Parts that every shadow of every front end shares: the mathematics of an operation (TABLE 1), the arithmetic it is
//! written over, number formats, sites, and the model of a report.
//!
//! Knows neither instruction sets nor engines nor report formats.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod appended;
pub mod arith;
pub mod differences;
pub mod findings;
pub mod format;
pub mod functions;
pub mod inline;
pub mod moves;
pub mod numbers;
pub mod ops;
pub mod reals;
pub mod recorded;
pub mod replay;
pub mod rounding;
pub mod shadow;
pub mod site;
pub mod slots;
pub mod spec;
pub mod step;
pub mod text;
pub mod tricks;
pub mod turned;
pub mod words;
