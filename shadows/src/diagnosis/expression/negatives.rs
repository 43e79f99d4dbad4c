//! Variables that are always another's negative: a sign that was turned over by an instruction that nobody saw, as in
//! exp(x) − exp(−x).

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

use super::super::operations::{Id, What};
use super::{Expression, Term};

/// Executions that it takes to believe it.
const LEAST: usize = 2;

impl Expression {
    /// Writes such variables as negatives; `negations` are the operations that those are, by format.
    pub(crate) fn join_negatives(&mut self, negations: [Id; Format::ALL.len()]) {
        let order = self.order();
        for (place, &number) in order.iter().enumerate() {
            let Some(source) = self.variables[number].now else { continue };
            let before = order[..place].iter().find(|&&other| self.are_opposite(number, other));
            let at = Format::ALL.iter().position(|&format| format == source.format);
            let (Some(&before), Some(at)) = (before, at) else { continue };
            let negative = Term::Op {
                operation: negations[at],
                what: What::Op(Op::Neg),
                format: source.format,
                args: vec![Term::Variable(before)],
            };
            replace(&mut self.root, number, &negative);
        }
    }

    fn are_opposite(&self, a: usize, b: usize) -> bool {
        let samples = self.samples.kept();
        // Of numbers without a size, signs tell nothing.
        let is_so = |sample: &Vec<f64>| sample[a] == -sample[b] && sample[a] != 0.0;
        samples.len() >= LEAST && samples.iter().all(is_so)
    }
}

fn replace(term: &mut Term, number: usize, by: &Term) {
    match term {
        Term::Variable(other) if *other == number => *term = by.clone(),
        Term::Op { args, .. } => args.iter_mut().for_each(|arg| replace(arg, number, by)),
        Term::Variable(_) | Term::Constant { .. } | Term::Below(..) => {}
    }
}
