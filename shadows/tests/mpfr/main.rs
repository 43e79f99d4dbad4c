//! The shadow of reals on small programs, against truth computed beside it at 2600 bits.

mod cases;
mod culprits;
mod decisions;
mod explanations;
mod formulas;
mod fpbench;
mod gradual;
mod machine;
mod precision;
mod robust;
mod whole_range;
