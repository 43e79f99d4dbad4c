//! Operations that translated code has appended, which are most: straight to the tape.

use super::{Adjoint, statement};
use shadowgrind_core::appended::{Appended, Floats, Operation};
use shadowgrind_core::numbers::Numbered;
use shadowgrind_core::ops::{MAX_OPERANDS, Op};

impl Appended for Adjoint {
    fn block(&mut self) -> u64 {
        self.tape.block()
    }

    #[inline(always)]
    fn append(
        &mut self,
        number: u64,
        operation: &Operation,
        floats: &Floats,
        operands: &[Option<Numbered>; MAX_OPERANDS],
    ) {
        // The row is known in each arm, and nothing but its arithmetic is left of it.
        match operation.op {
            Op::Add => self.row::<2>(Op::Add, number, operation, floats, operands),
            Op::Sub => self.row::<2>(Op::Sub, number, operation, floats, operands),
            Op::Mul => self.row::<2>(Op::Mul, number, operation, floats, operands),
            Op::Div => self.row::<2>(Op::Div, number, operation, floats, operands),
            Op::Fmadd => self.row::<3>(Op::Fmadd, number, operation, floats, operands),
            op => self.any(op, number, operation, floats, operands),
        }
    }
}

impl Adjoint {
    #[inline(never)]
    fn any(
        &mut self,
        op: Op,
        number: u64,
        operation: &Operation,
        floats: &Floats,
        operands: &[Option<Numbered>; MAX_OPERANDS],
    ) {
        match op.arity() {
            1 => self.row::<1>(op, number, operation, floats, operands),
            2 => self.row::<2>(op, number, operation, floats, operands),
            _ => self.row::<3>(op, number, operation, floats, operands),
        }
    }

    #[inline(always)]
    fn row<const ARITY: usize>(
        &mut self,
        op: Op,
        number: u64,
        &Operation { site, from, to, .. }: &Operation,
        &Floats { ref x, r }: &Floats,
        operands: &[Option<Numbered>; MAX_OPERANDS],
    ) {
        let mut statement = statement(op, &x[..ARITY], r, operands[..ARITY].iter().copied());
        if self.budget {
            statement.rounding = Some(self.rounding((op, from, to), site, &x[..ARITY], r));
        }
        self.check_number(to, number);
        self.tape.add(number, &statement);
    }
}
