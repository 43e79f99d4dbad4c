//! Tools: what the engine is run for. A tool decides what is emitted beside guest instructions, and what happens where
//! the program meets the outside: functions that print, mathematical functions, requests, its end.

mod asked;
pub(crate) mod cells;
pub(crate) mod evaluate;
mod exchange;
#[cfg(test)]
mod fake;
pub(crate) mod hooks;
mod host;
mod limbs;
pub(crate) mod machine;
mod merging;
mod reals;
mod records;
pub(crate) mod registers;
pub(crate) mod session;
pub(crate) mod shadowed;
mod solo;
mod sweep;
mod tool;
pub(crate) mod visit;

pub(crate) use host::{check_host, constants, has_upper_registers};
pub(crate) use tool::Tool;
