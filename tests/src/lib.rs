//! The test drivers: run a program natively and under the tool, and say precisely where the two part.
//!
//! Nothing here knows how the engine works. The only thing a test may assume is the command line and that a program
//! must not notice the tool; the native run on the same machine is the expectation.

#![forbid(unsafe_code)]

pub mod bench;
pub mod compare;
pub mod compile;
pub mod host;
pub mod modules;
pub mod outcome;
pub mod programs;
pub mod randseq;
pub mod run;
pub mod shadowed;
pub mod spec;
pub mod suite;
pub mod suites;
pub mod tool;
