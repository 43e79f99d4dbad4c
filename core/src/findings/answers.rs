//! Answers that the record of a whole run gives at its end: derivatives of outputs by all components of the inputs.
//!
//! Components of one input stand together, in the order they were seeded; inputs follow each other in their own order.

use crate::site::Site;

/// A row of numbers that belongs to an output, or to a sum of outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Number of the output; nothing for the weighted sum of all.
    pub output: Option<u64>,
    /// One for each component, or for each direction.
    pub values: Vec<f64>,
}

/// Numbers in rows and columns of which most are zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sparse {
    /// Number of columns.
    pub columns: u64,
    /// The entries of each row, their columns ascending.
    pub rows: Vec<Vec<(u64, f64)>>,
}

impl Sparse {
    /// Number of entries.
    pub fn entries(&self) -> u64 {
        self.rows.iter().map(|row| row.len() as u64).sum()
    }
}

/// Contribution of one instruction to the rounding error of an output, to first order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    /// Number of the output; nothing for the weighted sum of all.
    pub output: Option<u64>,
    /// The instruction.
    pub site: Site,
    /// The float less the real: the sum over all executions.
    pub error: f64,
    /// Sum of the magnitudes of the errors over all executions.
    pub magnitude: f64,
}

/// Size of a record, and the time it took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tape {
    /// Operations that were recorded.
    pub statements: u64,
    /// The partial derivatives that had to be kept.
    pub values: u64,
    /// Bytes of it all.
    pub bytes: u64,
    /// Bytes that were written as the program ran, before they were packed.
    pub raw_bytes: u64,
    /// Bytes of floats among those; the others are integers.
    pub raw_float_bytes: u64,
    /// Seconds from the first seed to the end of the program.
    pub record_s: f64,
    /// Seconds that the answers took.
    pub sweep_s: f64,
}

/// Answers of the record of a whole run: derivatives of outputs by all components of the inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// Number of components of each input of the report.
    pub components: Vec<u64>,
    /// Number of outputs that depend on an input and were not looked at.
    pub left_out: u64,
    /// Derivatives by each component.
    pub gradients: Vec<Row>,
    /// Outputs whose derivatives by components come out otherwise with other roundings.
    pub unsure: Vec<Option<u64>>,
    /// Derivatives in each of the directions that were asked about.
    pub directions: Vec<Row>,
    /// Derivatives, or with ones their pattern, of which most are zero.
    pub jacobian: Option<Sparse>,
    /// The outputs that are the rows of the Jacobian.
    pub jacobian_outputs: Vec<Option<u64>>,
    /// Rounding errors of outputs by instruction; of each output the largest first.
    pub budget: Vec<Contribution>,
    /// Number of operations whose rounding is not known, if roundings were recorded.
    pub unknown_roundings: Option<u64>,
    /// File that gradients are written to as an array, if there is one.
    pub gradient_file: Option<String>,
    /// Size and time.
    pub tape: Tape,
    /// The reason why the record does not reach to the end of the run, if it does not.
    pub incomplete: Option<String>,
}

impl Answers {
    /// Tells whether a derivative of any output is not 0.
    pub fn depend_on_inputs(&self) -> bool {
        let mut rows = self.gradients.iter().chain(&self.directions);
        let is_sparse = self.jacobian.as_ref().is_some_and(|jacobian| jacobian.entries() > 0);
        self.left_out > 0 || is_sparse || rows.any(|row| row.values.iter().any(|&value| value != 0.0))
    }

    /// Number of the first component of `input`.
    pub fn first(&self, input: usize) -> u64 {
        self.components.iter().take(input).sum()
    }

    /// Number of components.
    pub fn width(&self) -> u64 {
        self.components.iter().sum()
    }

    /// The input that a component belongs to, and its number there.
    pub fn input_of(&self, component: u64) -> Option<(usize, u64)> {
        let mut rest = component;
        self.components.iter().enumerate().find_map(|(input, &count)| {
            let within = rest;
            let found = rest < count;
            rest = rest.saturating_sub(count);
            found.then_some((input, within))
        })
    }
}

/// Questions to the record of a whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Questions {
    /// Number of inputs of the report.
    pub inputs: usize,
    /// The outputs that are asked about, ascending; nothing for the first that depend on an input.
    pub outputs: Option<Vec<u64>>,
    /// True if derivatives by all components are wanted.
    pub gradients: bool,
    /// True if the derivatives other than zero are wanted.
    pub jacobian: bool,
    /// True if it is wanted which those are.
    pub sparsity: bool,
    /// Directions in the space of components, if derivatives along such are wanted.
    pub directions: Option<Vec<Vec<f64>>>,
    /// Most outputs that are looked at where none are named.
    pub most: usize,
    /// Weight of each output in one sum of all; nothing if each is asked about on its own.
    pub weights: Option<Vec<f64>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_belong_to_inputs() {
        let answers = Answers { components: vec![2, 0, 3], ..Answers::default() };
        let found: Vec<_> = (0..6).map(|component| answers.input_of(component)).collect();
        let expected = [Some((0, 0)), Some((0, 1)), Some((2, 0)), Some((2, 1)), Some((2, 2)), None];
        assert_eq!(found, expected);
        assert_eq!((answers.first(2), answers.width()), (2, 5));
    }
}
