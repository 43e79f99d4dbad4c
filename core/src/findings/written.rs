//! Floats that left at one place in binary form: one output stands for them all, the worst, or that with the
//! largest derivative.

use crate::site::Site;

/// Summary of all floats that left by one call in binary form.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The index of their output.
    pub output: u64,
    /// Callers of the code at the output's site, from the innermost outwards: other callers have outputs of their own.
    pub callers: Vec<Site>,
    /// Number of floats with a shadow.
    pub count: u64,
    /// The sum of their error bits.
    pub error_bits: f64,
    /// The Euclidean norm of their derivatives, of a shadow that has those.
    pub norm: Option<f64>,
}

impl Written {
    /// The mean of their error bits.
    pub fn mean(&self) -> f64 {
        self.error_bits / self.count.max(1) as f64
    }
}
