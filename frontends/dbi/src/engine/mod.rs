//! The engine: a guest program loaded into this process and run from a code cache, with its system calls, signals and
//! threads.
//!
//! In the order in which a program meets them: `run` starts it; `program`, `elf`, `loader` find and map it into the
//! `space` laid out by `layout`; `thread` dispatches, `translate` fills the `cache` in its `region`s, `switch` and `stubs`
//! are the border to it;
//! `syscalls`, `signals`, `spawn`, `exec` and `changes` are what a guest can ask of a kernel; `end` is its end.

mod alloc;
pub(crate) mod arena;
mod cache;
mod carrier;
pub(crate) mod changes;
pub(crate) mod chaos;
pub(crate) mod client;
mod code_space;
pub(crate) mod condition;
mod cpuid;
pub(crate) mod descriptors;
pub(crate) mod diagnose;
mod dispatch;
mod elf;
mod emulate;
pub(crate) mod end;
mod exceptions;
mod exec;
pub(crate) mod first_touch;
mod futex;
pub(crate) mod guest;
pub(crate) mod guest_code;
pub(crate) mod handed;
pub(crate) mod layout;
mod loader;
pub(crate) mod lock;
mod options;
mod plane_map;
pub(crate) mod planes;
pub(crate) mod process;
mod program;
mod raised;
pub(crate) mod region;
mod run;
mod second_run;
pub(crate) mod shared_planes;
mod signals;
pub(crate) mod space;
mod spawn;
mod stack_limit;
mod stand_by;
mod stats;
mod stepping;
pub(crate) mod stubs;
pub(crate) mod switch;
pub(crate) mod sys;
pub(crate) mod syscalls;
pub(crate) mod thread;
pub(crate) mod threads;
mod tls;
pub(crate) mod translate;
pub(crate) mod tree;
mod vsyscall;

pub use alloc::EngineHeap;
pub use cpuid::IsaLevel;
pub use elf::ElfError;
pub(crate) use end::ProgramEnd;
pub(crate) use loader::Code;
pub use loader::LoadError;
pub(crate) use lock::{Guard, Held, Lock};
pub use options::Options;
pub use program::ProgramError;
pub(crate) use run::{Beginning, NO_MEMORY, run};
pub use run::{Command, StartError, say};
pub use second_run::SecondRun;
pub use stand_by::StandBy;
pub(crate) use stand_by::{Again, run_again};
