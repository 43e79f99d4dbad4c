//! Shadows and their meaning: derivatives, reals, errors.
//!
//! A shadow is a rule on top of TABLE 1 and knows neither instructions nor engines nor report formats.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod adjoint;
pub mod chain_rule;
mod diagnosis;
mod distance;
pub mod dot;
pub mod error;
mod exact;
pub mod ieee;
pub mod merging;
pub mod mpfr;
pub mod none;
pub mod reals;
pub mod remedies;

/// GMP, whose memory and code a front end may choose before the first number is made.
pub use gmp_mpfr_sys::gmp;
