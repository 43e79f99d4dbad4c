//! The engine: a guest program loaded into this process and run from a code cache, with its system calls, signals and
//! threads.
//!
//! In the order in which a program meets them: `run` starts it; `program`, `elf`, `loader` find and map it into the
//! `space` laid out by `layout`; `thread` dispatches, `translate` fills the `cache`, `switch` is the border to it;
//! `syscalls`, `signals`, `spawn`, `exec` and `changes` are what a guest can ask of a kernel; `end` is its end.

mod alloc;
mod arena;
mod cache;
mod changes;
mod cpuid;
mod diagnose;
mod elf;
mod emulate;
mod end;
mod exec;
mod futex;
mod guest;
mod layout;
mod loader;
mod lock;
mod options;
mod process;
mod program;
mod run;
mod signals;
mod space;
mod spawn;
mod stats;
mod switch;
mod sys;
mod syscalls;
mod thread;
mod threads;
mod tls;
mod translate;
mod vsyscall;

pub use alloc::EngineHeap;
pub use cpuid::IsaLevel;
pub use elf::ElfError;
pub use loader::LoadError;
pub use options::Options;
pub use program::ProgramError;
pub use run::{Launch, StartError, run};
