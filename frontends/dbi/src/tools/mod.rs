//! Tools: what the engine is run for. A tool decides what is emitted beside guest instructions, and what happens where
//! the program meets the outside: functions that print, mathematical functions, requests, its end.

pub(crate) mod machine;
pub(crate) mod session;
