//! Reals of a program's operations: the numbers that exact arithmetic would have given, computed by MPFR one execution at a
//! time, and what is known of each: the bound of its error, and what made its float another.
//!
//! Shadows have it in common: one follows every float so, another looks at some executions only. Knows neither, nor where shadows
//! are kept.

pub(crate) mod bigfloat;
pub(crate) mod consulted;
pub mod convert;
pub(crate) mod decisions;
mod derivation;
pub(crate) mod error_bound;
pub(crate) mod execute;
pub(crate) mod execution;
mod magic;
pub mod measure;
pub mod mpfr;
pub mod number;
pub(crate) mod range;
pub mod real;
mod rough;
pub(crate) mod settle;
mod special;
mod text;
