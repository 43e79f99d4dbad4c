//! Random instruction sequences, run natively and under the tool: every register, flag, control word, signal frame and
//! byte of memory must come out the same.
//!
//! `catalog` sorts iced's instructions into what is generated and what is not, with reasons; `sequence` and its helpers
//! build cases from a seed; `wire` writes them for the harness in tests/guests/randseq; `execute` runs it both ways;
//! `compare` and `report` say what differs; `minimise` drops what does not matter to a difference; `survey` lists all.
//!
//! Only documented command line options are used: nothing here knows how the tool works.

mod calls;
pub mod campaign;
pub mod catalog;
pub mod compare;
mod control;
pub mod coverage;
mod deny;
pub mod execute;
mod faults;
mod fpstate;
mod gather;
pub mod host;
mod idioms;
mod kernel;
pub mod layout;
mod memory;
pub mod minimise;
pub mod op;
mod operand;
pub mod profile;
pub mod report;
pub mod rng;
mod selfmod;
pub mod sequence;
mod stack;
pub mod state;
mod strings;
pub mod survey;
pub mod wire;
