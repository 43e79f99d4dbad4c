//! The commonest operations, `+ − × ÷ √`, each compiled on its own: what an operation is then is no question
//! in the midst of it.

use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

use crate::diagnosis::number::is_sum;
use crate::ieee::Ieee;
use crate::reals::bigfloat::Short;

const HOST: Host = Host::new(Format::F64);

/// One of the commonest operations. Where it has one operand, what is said of a second is of no account.
pub trait Elementary: Copy {
    /// The row of TABLE 1.
    fn op(self) -> Op;

    /// Number of its operands.
    #[inline(always)]
    fn arity(self) -> usize {
        self.op().arity()
    }

    /// Tells whether it adds: the only ones that cancel.
    #[inline(always)]
    fn is_sum(self) -> bool {
        is_sum(self.op())
    }

    /// Tells whether relative errors of operands grow or shrink in it.
    #[inline(always)]
    fn is_conditioned(self) -> bool {
        !matches!(self.op(), Op::Mul | Op::Div)
    }

    /// Local rounding error of `r`, the operation's result for moderate numbers.
    fn rounding<F: Ieee>(self, a: f64, b: f64, r: f64) -> f64;

    /// The derivatives.
    #[inline(always)]
    fn partials(self, a: f64, b: f64, r: f64) -> [f64; 2] {
        let gradient = self.op().arithmetic_gradient(&HOST, &[a, b][..self.arity()], r);
        gradient.map_or([0.0; 2], |gradient| [0, 1].map(|n| gradient.value(&HOST, n)))
    }

    /// The derivatives for relative errors: those of the result by those of the operands.
    fn factors<F: Ieee>(self, a: f64, b: f64, r: f64) -> [f32; 2];

    /// Result on numbers that are not zero, of which it is said whether they are doubles; and whether the result is
    /// one, which is denied where finding out would take long.
    fn short(self, a: (&Short, bool), b: (&Short, bool), precision: u32) -> (Short, bool);
}

/// `a ± b`.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    /// True if it is a difference.
    pub subtract: bool,
}

/// `a · b`.
#[derive(Clone, Copy, Debug)]
pub struct Product;

/// `a / b`.
#[derive(Clone, Copy, Debug)]
pub struct Quotient;

/// `√a`.
#[derive(Clone, Copy, Debug)]
pub struct Root;

/// Any of them, where it does not matter that one has to ask which.
#[derive(Clone, Copy, Debug)]
pub struct Any(pub Op);

/// Derivatives for relative errors where the result is too short to stand for that of the reals.
#[inline(always)]
fn relative(partials: [f64; 2], x: [f64; 2], r: f64) -> [f32; 2] {
    [0, 1].map(|n| (partials[n] * x[n] / r) as f32)
}

impl Elementary for Sum {
    #[inline(always)]
    fn op(self) -> Op {
        if self.subtract { Op::Sub } else { Op::Add }
    }

    /// Of both alike: which it is need not be asked.
    #[inline(always)]
    fn arity(self) -> usize {
        const { Op::Add.arity() }
    }

    /// By the sum's parts as they are found again in it, as TABLE 1's rows say it, for both operations at once.
    #[inline(always)]
    fn rounding<F: Ieee>(self, a: f64, b: f64, r: f64) -> f64 {
        let b = self.signed(b);
        let b_seen = F::sub(r, a);
        let a_seen = F::sub(r, b_seen);
        -F::add(F::sub(a, a_seen), F::sub(b, b_seen))
    }

    #[inline(always)]
    fn partials(self, _a: f64, _b: f64, _r: f64) -> [f64; 2] {
        [1.0, self.signed(1.0)]
    }

    #[inline(always)]
    fn factors<F: Ieee>(self, a: f64, b: f64, r: f64) -> [f32; 2] {
        [(a / r) as f32, (self.signed(b) / r) as f32]
    }

    #[inline(always)]
    fn short(self, (a, _): (&Short, bool), (b, _): (&Short, bool), precision: u32) -> (Short, bool) {
        Short::near_sum(a, b, self.subtract, precision)
    }
}

impl Sum {
    /// `b`, or minus it where it is taken away: a bit that is turned over, as which it is cannot be foreseen.
    #[inline(always)]
    fn signed(self, b: f64) -> f64 {
        f64::from_bits(b.to_bits() ^ u64::from(self.subtract) << 63)
    }
}

impl Elementary for Product {
    #[inline(always)]
    fn op(self) -> Op {
        Op::Mul
    }

    #[inline(always)]
    fn rounding<F: Ieee>(self, a: f64, b: f64, r: f64) -> f64 {
        -F::fma(a, b, -r)
    }

    #[inline(always)]
    fn factors<F: Ieee>(self, a: f64, b: f64, r: f64) -> [f32; 2] {
        if F::FORMAT == Format::F64 { [1.0, 1.0] } else { relative(self.partials(a, b, r), [a, b], r) }
    }

    #[inline(always)]
    fn short(
        self,
        (a, a_is_double): (&Short, bool),
        (b, b_is_double): (&Short, bool),
        precision: u32,
    ) -> (Short, bool) {
        (Short::product_known(a, a_is_double, b, b_is_double, precision), true)
    }
}

impl Elementary for Quotient {
    #[inline(always)]
    fn op(self) -> Op {
        Op::Div
    }

    #[inline(always)]
    fn rounding<F: Ieee>(self, a: f64, b: f64, r: f64) -> f64 {
        -F::div(F::fma(-r, b, a), b)
    }

    #[inline(always)]
    fn factors<F: Ieee>(self, a: f64, b: f64, r: f64) -> [f32; 2] {
        if F::FORMAT == Format::F64 { [1.0, -1.0] } else { relative(self.partials(a, b, r), [a, b], r) }
    }

    #[inline(always)]
    fn short(self, (a, _): (&Short, bool), (b, _): (&Short, bool), precision: u32) -> (Short, bool) {
        (Short::quotient(a, b, precision), true)
    }
}

impl Elementary for Root {
    #[inline(always)]
    fn op(self) -> Op {
        Op::Sqrt
    }

    #[inline(always)]
    fn rounding<F: Ieee>(self, a: f64, _b: f64, r: f64) -> f64 {
        -F::div(F::fma(-r, r, a), 2.0 * r)
    }

    #[inline(always)]
    fn factors<F: Ieee>(self, a: f64, b: f64, r: f64) -> [f32; 2] {
        if F::FORMAT == Format::F64 { [0.5, 0.0] } else { relative(self.partials(a, b, r), [a, b], r) }
    }

    #[inline(always)]
    fn short(self, (a, _): (&Short, bool), _b: (&Short, bool), precision: u32) -> (Short, bool) {
        (a.root(precision), !a.is_negative())
    }
}

impl Any {
    #[inline(always)]
    fn sum(self) -> Sum {
        Sum { subtract: self.0 == Op::Sub }
    }
}

impl Elementary for Any {
    #[inline(always)]
    fn op(self) -> Op {
        self.0
    }

    #[inline(always)]
    fn rounding<F: Ieee>(self, a: f64, b: f64, r: f64) -> f64 {
        match self.0 {
            Op::Add | Op::Sub => self.sum().rounding::<F>(a, b, r),
            Op::Mul => Product.rounding::<F>(a, b, r),
            Op::Div => Quotient.rounding::<F>(a, b, r),
            _ => Root.rounding::<F>(a, b, r),
        }
    }

    #[inline(always)]
    fn factors<F: Ieee>(self, a: f64, b: f64, r: f64) -> [f32; 2] {
        match self.0 {
            Op::Add | Op::Sub => self.sum().factors::<F>(a, b, r),
            Op::Mul => Product.factors::<F>(a, b, r),
            Op::Div => Quotient.factors::<F>(a, b, r),
            _ => Root.factors::<F>(a, b, r),
        }
    }

    #[inline(always)]
    fn short(self, a: (&Short, bool), b: (&Short, bool), precision: u32) -> (Short, bool) {
        match self.0 {
            Op::Add | Op::Sub => self.sum().short(a, b, precision),
            Op::Mul => Product.short(a, b, precision),
            Op::Div => Quotient.short(a, b, precision),
            _ => Root.short(a, b, precision),
        }
    }
}
