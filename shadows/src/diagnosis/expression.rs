//! Expression of an erroneous operation: one for all its executions.
//!
//! An expression starts as what was computed the first time and is generalised to fit what is computed later
//! (anti-unification, Plotkin 1970): constants that were always the same stay, what differed becomes a variable, and
//! what was equal in every execution is the same variable.

mod negatives;
mod print;
mod samples;

use shadowgrind_core::findings::VariableRange;
use shadowgrind_core::format::Format;

use super::history::{History, Made, Source};
use super::operations::{Id, Operations, What};
use super::ranges::Ranges;
use crate::exact::to_f64;
pub(crate) use print::{function, symbol};
use samples::Samples;

/// Part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    /// An operation.
    Op {
        /// The one it was the first time; others at other sites may do the same.
        operation: Id,
        /// The row of TABLE 1; at the root also a decision.
        what: What,
        /// Format of its result.
        format: Format,
        /// The operands.
        args: Vec<Term>,
    },
    /// A float that was always the same.
    Constant {
        /// The format.
        format: Format,
        /// The bits.
        bits: u128,
    },
    /// A float that was not: its number.
    Variable(usize),
    /// The first where a variable is below a bound, else the second: what a remedy may be, but no program's expression.
    Below(usize, f64, Box<[Term; 2]>),
}

#[derive(Clone, Debug, Default)]
struct Variable {
    erroneous: Ranges,
    worst: Option<f64>,
    /// The value in the execution being looked at.
    now: Option<Source>,
}

/// Formula that an operation computes.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    root: Term,
    variables: Vec<Variable>,
    /// Two to the bits of the worst execution.
    worst: f64,
    /// Operations it may still get.
    left: u32,
    samples: Samples,
}

/// Context in which executions are looked up.
#[derive(Clone, Copy)]
pub(crate) struct Trace<'a> {
    /// The history, which knows the operations that made operands.
    pub(crate) history: &'a History,
    /// The operations by number.
    pub(crate) operations: &'a Operations,
    /// The depth of the expression, in operations.
    pub(crate) depth: u32,
    /// True if what a loop carries is followed into the turns before: an operand that an operation made which is on the
    /// way to it already.
    pub(crate) loops: bool,
    /// The root.
    pub(crate) root: Id,
}

/// Operations an expression has at most: one of great depth is not read by anyone.
const LARGEST: u32 = 500;

/// Operations from the root down to where we are.
struct Path<'a> {
    operation: Id,
    above: Option<&'a Path<'a>>,
    /// Number of variables.
    length: u32,
}

impl<'a> Path<'a> {
    fn root(operation: Id) -> Path<'a> {
        Path { operation, above: None, length: 1 }
    }

    fn then(&'a self, operation: Id) -> Path<'a> {
        Path { operation, above: Some(self), length: self.length + 1 }
    }

    fn contains(&self, operation: Id) -> bool {
        std::iter::successors(Some(self), |path| path.above).any(|path| path.operation == operation)
    }
}

impl Trace<'_> {
    /// Tells whether an expression goes on with `operation` at the end of `path`.
    fn follows(&self, path: &Path<'_>, operation: Id) -> bool {
        path.length < self.depth && (self.loops || !path.contains(operation))
    }
}

/// A term in the making.
struct Builder<'a> {
    trace: Trace<'a>,
    /// Operations there may still be.
    left: u32,
}

impl Builder<'_> {
    fn term(&mut self, path: &Path<'_>, operands: &[Source]) -> Term {
        let operation = path.operation;
        let record = &self.trace.operations[operation];
        self.left = self.left.saturating_sub(1);
        let args = operands.iter().map(|&operand| self.operand(path, operand)).collect();
        Term::Op { operation, what: record.what, format: record.formats.1, args }
    }

    fn operand(&mut self, path: &Path<'_>, source: Source) -> Term {
        let made = self.trace.history.made(source).filter(|_| self.left > 0);
        match made.filter(|made| self.trace.follows(path, made.operation)) {
            Some(made) => self.term(&path.then(made.operation), made.operands()),
            None => Term::Constant { format: source.format, bits: source.bits },
        }
    }
}

impl Expression {
    /// Expression of one execution: the trace's root computed it from `operands`, with error of so many bits, as a
    /// power of two.
    pub(crate) fn new(trace: Trace<'_>, operands: &[Source], power: f64) -> Expression {
        let mut builder = Builder { trace, left: LARGEST };
        let root = builder.term(&Path::root(trace.root), operands);
        Expression { root, variables: Vec::new(), worst: power, left: builder.left, samples: Samples::one() }
    }

    /// Makes it fit another execution.
    pub(crate) fn generalise(&mut self, trace: Trace<'_>, operands: &[Source], power: f64) {
        self.fit(trace, operands);
        // What a variable was in the worst execution is not known where an operation stood there: the worst is of one execution, so
        // that it happened.
        let is_partly_known =
            self.variables.iter().any(|variable| variable.now.is_some() && variable.worst.is_none());
        let is_worst = power > self.worst || is_partly_known;
        for variable in &mut self.variables {
            let Some(now) = variable.now else { continue };
            let value = to_f64(now.format, now.bits);
            variable.erroneous.add(value);
            if is_worst {
                variable.worst = Some(value);
            }
        }
        if is_worst {
            self.worst = power;
        }
    }

    /// Generalises the expression by an execution, without counting it as erroneous.
    pub(crate) fn fit(&mut self, trace: Trace<'_>, operands: &[Source]) {
        let (variables, left) = (&mut self.variables, &mut self.left);
        let mut walk = Walk { trace, variables, changed: Vec::new(), left };
        walk.variables.iter_mut().for_each(|variable| variable.now = None);
        if let Term::Op { args, .. } = &mut self.root {
            walk.all(&Path::root(trace.root), args, operands);
        }
        let changed = walk.changed;
        self.samples.extend(&changed);
        self.samples.add(&self.variables);
    }

    /// The expression itself.
    pub(crate) fn root(&self) -> &Term {
        &self.root
    }

    /// Values of the variables in some executions, by number.
    pub(crate) fn samples(&self) -> &[Vec<f64>] {
        self.samples.kept()
    }

    /// Numbers of the variables in the order in which they appear.
    fn order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        self.root.visit(&mut |term, _| match term {
            Term::Variable(number) if !order.contains(number) => order.push(*number),
            _ => {}
        });
        order
    }

    /// Ranges of the variables; if the executions it was made from were erroneous, also the ranges of the erroneous ones.
    pub(crate) fn ranges(&self, operations: &Operations, at_fault: bool) -> Vec<VariableRange> {
        let range = |(place, number): (usize, usize)| {
            let variable = &self.variables[number];
            let mut all = variable.erroneous;
            self.root.visit(&mut |term, parent| match (term, parent) {
                (Term::Variable(other), Some((operation, index))) if *other == number => {
                    all.join(&operations[operation].operands[index]);
                }
                _ => {}
            });
            VariableRange {
                variable: name(place),
                all: all.intervals(),
                erroneous: if at_fault { variable.erroneous.intervals() } else { Vec::new() },
                worst: variable.worst.filter(|_| at_fault),
            }
        };
        self.order().into_iter().enumerate().map(range).collect()
    }
}

impl Term {
    /// Visits every term, operations before their operands; with the operation it is an operand of, and which.
    fn visit(&self, see: &mut impl FnMut(&Term, Option<(Id, usize)>)) {
        see(self, None);
        self.visit_operands(see);
    }

    fn visit_operands(&self, see: &mut impl FnMut(&Term, Option<(Id, usize)>)) {
        if let Term::Op { operation, args, .. } = self {
            for (index, arg) in args.iter().enumerate() {
                see(arg, Some((*operation, index)));
                arg.visit_operands(see);
            }
        }
    }
}

/// One execution being fitted.
struct Walk<'a> {
    trace: Trace<'a>,
    variables: &'a mut Vec<Variable>,
    /// The terms that were replaced, the value each had in this execution, and the variable it became.
    changed: Vec<(Term, u128, usize)>,
    /// Operations the expression may still get.
    left: &'a mut u32,
}

impl Walk<'_> {
    fn all(&mut self, path: &Path<'_>, terms: &mut [Term], sources: &[Source]) {
        for (term, &source) in terms.iter_mut().zip(sources) {
            self.one(path, term, source);
        }
    }

    fn one(&mut self, path: &Path<'_>, term: &mut Term, source: Source) {
        if let Term::Constant { format, bits } = term {
            let known = Source { format: *format, bits: *bits, serial: 0 };
            if known.format == source.format && known.bits == source.bits {
                return;
            }
            if let Some(before) = self.made_alike(path, known, source) {
                *term = before;
            }
        }
        let fits = match term {
            Term::Variable(number) => {
                let now = &mut self.variables[*number].now;
                now.get_or_insert(source).bits == source.bits
            }
            Term::Constant { .. } | Term::Below(..) => false,
            Term::Op { operation, what, format, args } => {
                match self.made_by(source, (*what, *format), *operation) {
                    Some(made) => {
                        self.all(&path.then(*operation), args, made.operands());
                        true
                    }
                    None => false,
                }
            }
        };
        if !fits {
            *term = Term::Variable(self.variable_for(term, source));
        }
    }

    /// The operation of this kind that made `source`. A float without a shadow that may be any is believed to be made so if it is
    /// what the very operation `at` made last, as it did at other times.
    fn made_by(&self, source: Source, kind: (What, Format), at: Id) -> Option<Made> {
        let history = self.trace.history;
        let fits = |made: &Made| {
            let record = &self.trace.operations[made.operation];
            (record.what, record.formats.1) == kind
        };
        let guess = || history.made_exactly(source).filter(|_| source.serial == 0);
        history.made(source).filter(fits).or_else(|| guess().filter(|made| made.operation == at))
    }

    /// Operation that made the constant `known`, if that is of the same kind as the one that now made `source`: the
    /// first time, its result just happened to be exact.
    fn made_alike(&mut self, path: &Path<'_>, known: Source, source: Source) -> Option<Term> {
        let now = self.trace.history.made(source).filter(|now| self.trace.follows(path, now.operation))?;
        let record = &self.trace.operations[now.operation];
        let before = self.made_by(known, (record.what, record.formats.1), now.operation)?;
        *self.left = self.left.checked_sub(1)?;
        // One level: its operands are seen to when their turn comes.
        let constant = |operand: &Source| Term::Constant { format: operand.format, bits: operand.bits };
        let args = before.operands().iter().map(constant).collect();
        Some(Term::Op { operation: before.operation, what: record.what, format: record.formats.1, args })
    }

    /// The variable for what was `old` in all executions before and is `source` now: two places that were always
    /// equal, and still are, get the same one.
    fn variable_for(&mut self, old: &Term, source: Source) -> usize {
        let known = self.changed.iter().find(|(term, bits, _)| term == old && *bits == source.bits);
        if let Some(&(_, _, number)) = known {
            return number;
        }
        let mut variable = match old {
            Term::Variable(number) => self.variables[*number].clone(),
            _ => Variable::default(),
        };
        if let Term::Constant { format, bits } = old {
            let value = to_f64(*format, *bits);
            variable.erroneous.add(value);
            variable.worst = Some(value);
        }
        variable.now = Some(source);
        self.variables.push(variable);
        let number = self.variables.len() - 1;
        self.changed.push((old.clone(), source.bits, number));
        number
    }
}

/// The name of the variable that appears as number `place`.
fn name(place: usize) -> String {
    const NAMES: [&str; 6] = ["x", "y", "z", "u", "v", "w"];
    NAMES.get(place).map_or_else(|| format!("x{}", place - NAMES.len() + 1), |&name| name.to_owned())
}
