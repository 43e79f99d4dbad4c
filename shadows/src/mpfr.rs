//! Reals carried beside floats, by MPFR.

pub mod convert;
pub mod reals;
