//! shadows
#![forbid(unsafe_code)]
