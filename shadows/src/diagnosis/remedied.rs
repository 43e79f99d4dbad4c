//! Remedies for what went wrong: the expressions of findings as problems, and what comes of those in words.

use std::time::Duration;

use shadowgrind_core::findings::{Finding, Remedy};
use shadowgrind_core::format::Format;

use super::expression::{Expression, Term};
use super::operations::What;
use crate::remedies::{Finder, Problem, Tree};

/// Time for all remedies of a report.
const PATIENCE: Duration = Duration::from_secs(4);

/// Looks for remedies of findings that have an expression, those first that matter most.
pub(crate) fn find(findings: &mut [(Finding, Option<&Expression>)]) {
    let mut order: Vec<usize> = (0..findings.len()).filter(|&at| findings[at].1.is_some()).collect();
    if order.is_empty() {
        return;
    }
    order.sort_by(|&a, &b| findings[b].0.contribution.total_cmp(&findings[a].0.contribution));
    let finder = Finder::new(PATIENCE);
    for at in order {
        let (finding, expression) = &mut findings[at];
        let Some(expression) = expression else { continue };
        finding.remedies = expression.remedies(&finder, finding);
    }
}

impl Expression {
    fn remedies(&self, finder: &Finder, finding: &Finding) -> Vec<Remedy> {
        let Some(problem) = self.problem() else { return Vec::new() };
        let in_words = |remedy: &crate::remedies::Remedy| {
            let term = self.term(&remedy.tree, problem.format);
            Remedy {
                expression: self.infix_of_term(&term),
                fpcore: self.fpcore_of_term(&term, &finding.operation, &finding.ranges),
                bits_before: remedy.bits_before,
                bits_after: remedy.bits_after,
                samples: remedy.samples,
            }
        };
        finder.remedies(&problem).iter().map(in_words).collect()
    }

    /// The expression as a problem, if all of it is of one format.
    fn problem(&self) -> Option<Problem> {
        let Term::Op { format, .. } = self.root() else { return None };
        let tree = tree(self.root(), *format)?;
        Some(Problem { tree, format: *format, samples: self.samples().to_vec() })
    }

    fn term(&self, tree: &Tree, format: Format) -> Term {
        match tree {
            Tree::Variable(number) => Term::Variable(*number),
            Tree::Below(variable, bound, ways) => {
                Term::Below(*variable, *bound, Box::new(ways.each_ref().map(|way| self.term(way, format))))
            }
            Tree::Constant(value) => {
                Term::Constant { format, bits: Format::F64.convert(value.to_bits().into(), format) }
            }
            Tree::Op(op, operands) => {
                let args = operands.iter().map(|operand| self.term(operand, format)).collect();
                // Nobody executed it: in ranges, which alone go by that, it does not appear.
                Term::Op { operation: 0, what: What::Op(*op), format, args }
            }
        }
    }
}

fn tree(term: &Term, expected: Format) -> Option<Tree> {
    match term {
        Term::Variable(number) => Some(Tree::Variable(*number)),
        Term::Constant { format, bits } => {
            (*format == expected).then(|| Tree::Constant(crate::exact::to_f64(*format, *bits)))
        }
        Term::Op { what: What::Op(op), format, args, .. } if *format == expected => {
            let args: Option<Vec<Tree>> = args.iter().map(|arg| tree(arg, expected)).collect();
            Some(Tree::Op(*op, args?))
        }
        Term::Op { .. } | Term::Below(..) => None,
    }
}
