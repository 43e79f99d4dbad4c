//! Partial derivatives of a loop's operations, one for each iteration, made of the floats in its records.

use super::super::{EXACT, partial};
use super::{half, word};
use shadowgrind_core::appended::{Floats, Operation, Part};
use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{Gradient, MAX_OPERANDS, Op, OperandFactor};
use std::ops::Range;

/// Partial derivatives by an operand, as far as they are known.
#[derive(Clone, Debug, Default)]
pub(super) enum Partials {
    /// No term.
    #[default]
    None,
    /// Numbers that were found, and are here: one for each iteration.
    Found(Range<usize>),
    /// Numbers that are to be found: of so many of the first iterations.
    First(usize),
}

/// A lane of a part of a record, in all iterations.
pub(super) struct Source<'a, I> {
    pub(super) part: &'a Part,
    pub(super) lane: usize,
    pub(super) rows: I,
}

impl<'a, I: ExactSizeIterator<Item = &'a [u8]> + Clone> Source<'a, I> {
    /// Adds the partials by operand `i`, which is a term: one for each iteration.
    pub(super) fn fill(&self, i: usize, factor: Option<OperandFactor>, into: &mut Vec<f64>) {
        let (from, rows) = (self.part.operation.from, self.rows.clone());
        if let (Some(OperandFactor { operand, negated }), Format::F64 | Format::F32) = (factor, from) {
            let at = usize::from(self.part.x[operand]) + self.lane * from.bytes();
            let sign = u64::from(negated) << 63;
            if from == Format::F64 {
                return into.extend(rows.map(|row| f64::from_bits(word(&row[at..]) ^ sign)));
            }
            let single = |row: &[u8]| f64::from(f32::from_bits(half(&row[at..])));
            return into.extend(rows.map(|row| f64::from_bits(single(row).to_bits() ^ sign)));
        }
        if let (Some(OperandFactor { operand, negated }), Format::F80) = (factor, from) {
            let signed = |x: f64| if negated { -x } else { x };
            return into.extend(rows.map(|row| signed(self.part.long(row, operand))));
        }
        // The row is known in each arm, and nothing but its arithmetic is left of it.
        match self.part.operation.op {
            Op::Add => self.row::<2>(Op::Add, i, into),
            Op::Sub => self.row::<2>(Op::Sub, i, into),
            Op::Mul => self.row::<2>(Op::Mul, i, into),
            Op::Div => self.row::<2>(Op::Div, i, into),
            Op::Fmadd => self.row::<3>(Op::Fmadd, i, into),
            op => self.any(op, i, into),
        }
    }

    #[inline(never)]
    fn any(&self, op: Op, i: usize, into: &mut Vec<f64>) {
        match op.arity() {
            1 => self.row::<1>(op, i, into),
            2 => self.row::<2>(op, i, into),
            _ => self.row::<3>(op, i, into),
        }
    }

    #[inline(always)]
    fn row<const ARITY: usize>(&self, op: Op, i: usize, into: &mut Vec<f64>) {
        let Operation { from, to, .. } = self.part.operation;
        if [from, to] == [Format::F64; 2] {
            self.each::<ARITY, true>(op, i, into)
        } else {
            self.each::<ARITY, false>(op, i, into)
        }
    }

    #[inline(always)]
    fn each<const ARITY: usize, const DOUBLES: bool>(&self, op: Op, i: usize, into: &mut Vec<f64>) {
        let rows = self.rows.clone();
        // Each in its own arm, so that nothing is found but what is asked for.
        match i {
            0 => into.extend(rows.map(|row| self.gradient::<ARITY, DOUBLES>(op, row).value(&EXACT, 0))),
            1 => into.extend(rows.map(|row| self.gradient::<ARITY, DOUBLES>(op, row).value(&EXACT, 1))),
            _ => into.extend(rows.map(|row| self.gradient::<ARITY, DOUBLES>(op, row).value(&EXACT, 2))),
        }
    }

    /// The derivatives at the floats of a record; with `DOUBLES` all of these are doubles.
    #[inline(always)]
    fn gradient<const ARITY: usize, const DOUBLES: bool>(&self, op: Op, bytes: &[u8]) -> Gradient<Host> {
        let Floats { x, r } = if DOUBLES {
            // What is not read is anything.
            let double = |at: u16| {
                let at = usize::from(at) + self.lane * Format::F64.bytes();
                f64::from_bits(bytes.get(at..).map_or(0, word))
            };
            let [x, y, z] = self.part.x;
            Floats { x: [double(x), double(y), double(z)], r: double(self.part.r) }
        } else {
            self.part.floats(bytes, self.lane)
        };
        let arithmetic = op.arithmetic_gradient(&EXACT, &x[..ARITY], r);
        arithmetic.unwrap_or_else(|| op.gradient(&EXACT, &x[..ARITY], r))
    }

    /// Adds the partials of an operation that chooses between its operands by those of them that are active, as far as they are terms
    /// in the first iteration; and the number of iterations in which the terms are the same.
    #[inline(never)]
    pub(super) fn choices(
        &self,
        active: [bool; MAX_OPERANDS],
        into: &mut Vec<f64>,
    ) -> ([Partials; MAX_OPERANDS], usize) {
        let op = self.part.operation.op;
        let partial = |row: &[u8], i: usize| {
            let Floats { x, r } = self.part.floats(row, self.lane);
            partial(&op.arithmetic_gradient(&EXACT, &x[..op.arity()], r)?, i)
        };
        let mut found: [Partials; MAX_OPERANDS] = Default::default();
        let mut alike = self.rows.len();
        for i in (0..op.arity()).filter(|&i| active[i]) {
            let start = into.len();
            let mut rows = self.rows.clone().map(|row| partial(row, i));
            let first = rows.next().flatten();
            let same = rows.take_while(|partial| partial.is_some() == first.is_some());
            let others = same.take(alike - 1);
            match first {
                None => alike = 1 + others.count(),
                Some(first) => {
                    into.push(first);
                    into.extend(others.flatten());
                    alike = into.len() - start;
                    found[i] = Partials::Found(start..into.len());
                }
            }
        }
        (found, alike)
    }
}
