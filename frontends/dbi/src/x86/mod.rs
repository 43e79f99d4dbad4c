//! Guest instructions: reading them, what they mean, and the machine code that is made of them.
//!
//! Produces bytes for given addresses; does not know where memory is, who runs the code, or what the kernel does.

pub(crate) mod asm;
pub(crate) mod discover;
pub(crate) mod emit;
mod far;
pub(crate) mod function;
pub(crate) mod lower;
pub(crate) mod mirror;
pub(crate) mod mode;
mod probe;
mod rcx;
pub(crate) mod rows;
pub(crate) mod rules;
pub(crate) mod state;
pub(crate) mod table;
pub(crate) mod vector;
