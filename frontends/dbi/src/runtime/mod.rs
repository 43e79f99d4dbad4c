//! The run time of shadows: what happens to them when translated code leaves for them, and where they are kept
//! meanwhile. Knows threads and their registers; what inputs, outputs and functions mean is the session's business.

mod appends;
mod buffers;
mod carried;
mod carrier;
pub(crate) mod cells;
mod entries;
mod evaluate;
mod events;
mod exchange;
mod gmp_setup;
mod host;
mod merging;
mod observing;
mod out_of_line;
mod parts;
mod recorder;
mod recording;
mod records;
mod shadowed;
mod stopped;
mod stops;
mod sweep;
mod taken;
mod tool;
mod tree;
mod visit;
mod wrapped;

pub(crate) use carrier::{Carrier, FunctionCode, InlineCode, Reach, carry};
#[cfg(test)]
pub(crate) use cells::MirrorCells;
pub(crate) use host::{Host, check_host, constants, has_upper_registers, shared_word, turned_doubles};
pub(crate) use merging::Vectors;
pub(crate) use tool::Tool;
