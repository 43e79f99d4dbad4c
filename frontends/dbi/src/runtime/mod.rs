//! The run time of shadows: what happens to them when translated code leaves for them, and where they are kept
//! meanwhile. Knows threads and their registers; what inputs, outputs and functions mean is the session's business.

mod appends;
mod buffers;
mod carrier;
pub(crate) mod cells;
mod condition;
mod entries;
mod evaluate;
pub(crate) mod events;
pub(crate) mod exceptions;
mod exchange;
mod gmp_setup;
pub(crate) mod handed;
mod host;
mod merging;
mod observing;
mod out_of_line;
mod raised;
mod recorder;
mod recording;
mod records;
pub(crate) mod registers;
pub(crate) mod shadowed;
mod sweep;
mod tool;
pub(crate) mod visit;

pub(crate) use carrier::{Carrier, InlineCode, Reach, carry};
pub(crate) use condition::consumed;
pub(crate) use host::{Host, check_host, constants, has_upper_registers, shared_word};
pub(crate) use merging::Vectors;
pub(crate) use tool::Tool;
