//! Floats that left at one place in binary form: one output stands for them all, the worst.

/// What there is to say of all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Written {
    /// The index of their output.
    pub output: u64,
    /// How many floats with a shadow there were.
    pub count: u64,
    /// The sum of their error bits.
    pub error_bits: f64,
}

impl Written {
    /// The mean of their error bits.
    pub fn mean(&self) -> f64 {
        self.error_bits / self.count.max(1) as f64
    }
}
