//! The binary front end: a dynamic binary instrumentation engine for x86-64 Linux programs, and the translation of
//! their instructions into a shadow's steps.
//!
//! The only crate with `unsafe`. `engine` runs the program, `x86` knows its instructions; `context` is the memory in
//! which translated code and engine meet.

mod context;
mod engine;
mod x86;

pub use engine::{
    ElfError, EngineHeap, IsaLevel, Launch, LoadError, Options, ProgramError, StartError, run,
};
