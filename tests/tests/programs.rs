//! Tests of real programs: see `programs.rs`.
fn main() {}
