//! What an operation at fault computes: one expression for all its executions.
//!
//! An expression starts as what was computed the first time and is generalised to fit what is computed later
//! (anti-unification, Plotkin 1970): constants that were always the same stay, what differed becomes a variable, and
//! what was equal in every execution is the same variable.

mod print;

use shadowgrind_core::findings::VariableRange;
use shadowgrind_core::format::Format;

use super::exact::to_f64;
use super::history::{History, Source};
use super::operations::{Id, Operations, What};
use super::ranges::Ranges;
pub(super) use print::{function, symbol};

/// Part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Term {
    /// An operation.
    Op {
        /// The one it was the first time; others at other sites may do the same.
        operation: Id,
        /// Its row of TABLE 1; at the root also a decision.
        what: What,
        /// Format of its result.
        format: Format,
        /// Its operands.
        args: Vec<Term>,
    },
    /// A float that was always the same.
    Constant {
        /// Its format.
        format: Format,
        /// Its bits.
        bits: u128,
    },
    /// A float that was not: its number.
    Variable(usize),
}

#[derive(Clone, Debug, Default)]
struct Variable {
    erroneous: Ranges,
    worst: Option<f64>,
    /// Its value in the execution being looked at.
    now: Option<Source>,
}

/// What an operation computes.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    root: Term,
    variables: Vec<Variable>,
    worst_bits: f64,
}

/// Where executions are looked up.
#[derive(Clone, Copy)]
pub(super) struct Trace<'a> {
    /// What made the operands.
    pub(super) history: &'a History,
    /// What those operations are.
    pub(super) operations: &'a Operations,
    /// How deep.
    pub(super) depth: u32,
    /// Whether what a loop carries is followed into the turns before: an operand that an operation made which is on
    /// the way to it already.
    pub(super) loops: bool,
    /// The root.
    pub(super) root: Id,
}

/// Operations an expression has at most: one of great depth is not read by anyone.
const LARGEST: u32 = 500;

/// A term in the making.
struct Builder<'a> {
    trace: Trace<'a>,
    /// Operations from the root down to where we are.
    path: Vec<Id>,
    /// Operations there may still be.
    left: u32,
}

impl Builder<'_> {
    fn term(&mut self, operation: Id, operands: &[Source]) -> Term {
        let record = &self.trace.operations[operation];
        self.left = self.left.saturating_sub(1);
        self.path.push(operation);
        let args = operands.iter().map(|&operand| self.operand(operand)).collect();
        self.path.pop();
        Term::Op { operation, what: record.what, format: record.formats.1, args }
    }

    fn operand(&mut self, source: Source) -> Term {
        let deep = self.path.len() >= self.trace.depth as usize || self.left == 0;
        let made = self.trace.history.made(source).filter(|_| !deep);
        match made.filter(|made| self.trace.loops || !self.path.contains(&made.operation)) {
            Some(made) => self.term(made.operation, made.operands()),
            None => Term::Constant { format: source.format, bits: source.bits },
        }
    }
}

impl Expression {
    /// What the trace's root computed from `operands` this once, with `bits` of local error.
    pub(super) fn new(trace: Trace<'_>, operands: &[Source], bits: f64) -> Expression {
        let root = Builder { trace, path: Vec::new(), left: LARGEST }.term(trace.root, operands);
        Expression { root, variables: Vec::new(), worst_bits: bits }
    }

    /// Makes it fit another execution.
    pub(super) fn generalise(&mut self, trace: Trace<'_>, operands: &[Source], bits: f64) {
        let mut walk = Walk { trace, variables: &mut self.variables, changed: Vec::new() };
        walk.variables.iter_mut().for_each(|variable| variable.now = None);
        if let Term::Op { args, .. } = &mut self.root {
            walk.all(args, operands);
        }
        let worst = bits > self.worst_bits;
        for variable in &mut self.variables {
            let Some(now) = variable.now else { continue };
            let value = to_f64(now.format, now.bits);
            variable.erroneous.add(value);
            if worst || variable.worst.is_none() {
                variable.worst = Some(value);
            }
        }
        self.worst_bits = self.worst_bits.max(bits);
    }

    /// The expression itself.
    pub(super) fn root(&self) -> &Term {
        &self.root
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

    /// Where the variables lay; if the executions it was made from were at fault, also where they lay then.
    pub(super) fn ranges(&self, operations: &Operations, at_fault: bool) -> Vec<VariableRange> {
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
                variable: print::name(place),
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
    /// What was replaced, the value it had in this execution, and the variable it became.
    changed: Vec<(Term, u128, usize)>,
}

impl Walk<'_> {
    fn all(&mut self, terms: &mut [Term], sources: &[Source]) {
        for (term, &source) in terms.iter_mut().zip(sources) {
            self.one(term, source);
        }
    }

    fn one(&mut self, term: &mut Term, source: Source) {
        let fits = match term {
            Term::Variable(number) => {
                let now = &mut self.variables[*number].now;
                now.get_or_insert(source).bits == source.bits
            }
            Term::Constant { format, bits } => *format == source.format && *bits == source.bits,
            Term::Op { what, format, args, .. } => {
                let made = self.trace.history.made(source);
                match made.filter(|made| self.does(made.operation, *what, *format)) {
                    Some(made) => {
                        self.all(args, made.operands());
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

    fn does(&self, operation: Id, what: What, format: Format) -> bool {
        let record = &self.trace.operations[operation];
        record.what == what && record.formats.1 == format
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
