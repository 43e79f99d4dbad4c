//! The binary front end: a dynamic binary instrumentation engine for x86-64 Linux programs, and the translation of
//! their instructions into a shadow's steps.
//!
//! The only crate with `unsafe`. `engine` runs the program and tells a client of its events; `x86` knows its instructions;
//! `runtime` is the client that carries shadows, for a `session` with inputs, outputs and reports, which knows functions
//! by `hooks`. `context` is the memory in which translated code and engine meet; `launch` puts all that together.

mod context;
mod engine;
mod hooks;
mod launch;
mod mailbox;
mod registers;
mod runtime;
mod session;
mod shadows;
mod x86;

pub use engine::{
    Command, ElfError, EngineHeap, IsaLevel, LoadError, Options, ProgramError, SecondRun, StandBy,
    StartError, say,
};
pub use launch::{Launch, run};
pub use session::{SessionConfig, SpecFailure};
pub use shadows::ShadowKind;

/// Makes a `fn() -> u8`, which returns an exit status, the program's entry.
///
/// Rust's own start-up would ignore SIGPIPE, open standard streams that were closed and catch SIGSEGV: the guest
/// would inherit all that. The C library's start-up leaves the process as it was.
#[macro_export]
macro_rules! entry {
    ($main:path) => {
        // SAFETY: no other `main` exists in a `no_main` program, and this has the C library's signature for it.
        #[unsafe(no_mangle)]
        pub extern "C" fn main(_argc: i32, _argv: *const *const u8, _envp: *const *const u8) -> i32 {
            let main: fn() -> u8 = $main;
            i32::from(main())
        }
    };
}
