//! Guest instructions: reading them, what they mean, and the machine code that is made of them.
//!
//! `discover` finds a superblock, `emit` makes `code` of it, annotated by `mirror` with the machine code of `rules`; `lower`
//! says, by the table in `rows`, what an instruction means for shadows.
//!
//! Produces bytes for given addresses; does not know where memory is, who runs the code, or what the kernel does.

pub(crate) mod access;
pub(crate) mod asm;
pub(crate) mod branch_table;
pub(crate) mod code;
pub(crate) mod code_source;
pub(crate) mod discover;
pub(crate) mod emit;
mod exits;
mod far;
pub(crate) mod function;
mod head;
pub(crate) mod insn;
pub(crate) mod lower;
pub(crate) mod mirror;
pub(crate) mod mode;
mod probe;
mod rcx;
pub(crate) mod returns;
pub(crate) mod rounding;
pub(crate) mod rows;
pub(crate) mod rules;
pub(crate) mod state;
mod sums;
pub(crate) mod superblock;
pub(crate) mod table;
mod taken_off;
pub(crate) mod vector;
pub(crate) mod wholes;
