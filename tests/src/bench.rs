//! The benchmark: what a program costs under the tool, as a ratio to its own native run.
//!
//! Runs are paired, native and tool in turn, since the machine's speed changes under our feet; the figure is the
//! median of the pairs' ratios. CPU time is that of the whole process tree, user and system. Rows, measuring and
//! printing are in the three modules below; nothing here knows how the tool works.

pub mod measure;
pub mod rows;
pub mod table;
