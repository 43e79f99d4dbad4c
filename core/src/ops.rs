//! TABLE 1: what an operation on real numbers means, one row each.
//!
//! A row states mathematics only: operands, the operation in floats, partial derivatives, exact rounding residual, real function. It knows no
//! shadow and no instruction. The rows are in `ops/table.rs`; everything here is made from them, and nothing has to be kept
//! in step with them by hand.

mod parts;
mod reads;
mod rules;
mod table;

use crate::arith::{Arith, Host};
use crate::format::Format;
use crate::functions::Functions;
use crate::reals::Reals;
use crate::rounding::Rounding;
use Partial::{Factor, Minus, MinusOne, One, Sign, Unless, When, Zero};
use Residual::{Exact, Never, Rounded, Unknown};
pub use parts::{InParts, PARTED, Parts};
pub use reads::{OperandFactor, Reads};
use rules::*;
pub use rules::{ERROR_BOUND, LEAST_LEFT, LEAST_LEFT_OF_ROOT};

/// No op has more operands.
pub const MAX_OPERANDS: usize = 3;

/// The partial derivative of a result with respect to one operand.
///
/// Factors that cost nothing are told apart so that a rule need not multiply by them; `When` and `Unless` keep `0 · ∞`
/// out of selections. All masks of one row are the same mask.
pub enum Partial<K: Arith> {
    /// The result does not depend on the operand (almost everywhere).
    Zero,
    /// 1.
    One,
    /// −1.
    MinusOne,
    /// 1 with the sign of the value.
    Sign(K::V),
    /// A computed factor.
    Factor(K::V),
    /// The negative of a computed factor.
    Minus(K::V),
    /// 1 where the mask holds, else 0.
    When(K::M),
    /// 0 where the mask holds, else 1.
    Unless(K::M),
}

impl<K: Arith> Clone for Partial<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Arith> Copy for Partial<K> {}

impl<K: Arith> Partial<K> {
    /// The partial as a plain value.
    #[inline(always)]
    pub fn value(self, k: &K) -> K::V {
        match self {
            Zero => k.lit(0.0),
            One => k.lit(1.0),
            MinusOne => k.lit(-1.0),
            Sign(v) => k.flip(k.lit(1.0), v),
            Factor(v) => v,
            Minus(v) => k.neg(v),
            When(m) => k.select(m, k.lit(1.0), k.lit(0.0)),
            Unless(m) => k.select(m, k.lit(0.0), k.lit(1.0)),
        }
    }
}

/// All partial derivatives of a result, in the order of the operands.
///
/// Where the row names a divisor, the derivative with respect to operand i is `partials[i] / divisor`: a sum over
/// operands is divided once.
pub struct Gradient<K: Arith> {
    /// One per operand, `Zero` beyond the last.
    pub partials: [Partial<K>; MAX_OPERANDS],
    /// The divisor of all partials, if not 1.
    pub divisor: Option<K::V>,
}

impl<K: Arith> Gradient<K> {
    /// The derivative with respect to operand `i` as a plain value.
    #[inline(always)]
    pub fn value(&self, k: &K, i: usize) -> K::V {
        let partial = self.partials[i].value(k);
        self.divisor.map_or(partial, |divisor| k.over(partial, divisor))
    }

    /// No value, no derivative: what the rows say, but NaN where `r` is (ln −1 has no slope, though 1/x has a value).
    #[inline(always)]
    fn where_defined(mut self, k: &K, r: K::V) -> Self {
        for partial in &mut self.partials {
            if !matches!(partial, Zero | When(_) | Unless(_)) {
                *partial = Factor(k.select(k.eq(r, r), partial.value(k), k.lit(f64::NAN)));
            }
        }
        self
    }
}

/// The local rounding error: the real result of the operation on its floating-point operands, less the floating-point
/// result. Holds where the result is finite and nothing on the way over- or underflows, and needs arithmetic of the
/// result's own precision: [`Host`](crate::arith::Host) has that for `F32` and `F64`, not for `F80`.
#[derive(Debug)]
pub enum Residual<V> {
    /// The operation never rounds (or, like `floor`, means what it returns).
    Never,
    /// The residual itself.
    Exact(V),
    /// The residual, rounded.
    Rounded(V),
    /// Not to be had from floating-point arithmetic of the same precision.
    Unknown,
}

/// An operand of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The name in [`Op::formula`].
    pub name: &'static str,
    /// An integer in C (`n` of `ldexp` and `jn`). It is handed over like any operand, as the float of that value (all
    /// of C's `int` are exact; what a `long` loses is far beyond where results over- or underflow), and never carries
    /// a shadow.
    pub integer: bool,
}

/// The operands of a row as an array, for its pattern.
#[inline(always)]
fn operands<T: Copy, const N: usize>(x: &[T]) -> [T; N] {
    x.try_into().unwrap_or_else(|_| panic!("{} operands for an op of {N}", x.len()))
}

/// Meaning of an operand's mark in the table.
macro_rules! is_integer {
    () => {
        false
    };
    (int) => {
        true
    };
}

/// Makes [`Op`] from the rows of TABLE 1.
macro_rules! define_ops {
    (
        arithmetic { $(
            $(#[$adoc:meta])* $aop:ident $aname:literal ($($ax:ident),+) = $ar:ident, $aformula:literal,
            |$ak:ident, $am:ident| {
                $(primal: $aprimal:expr,)?
                gradient: $agradient:expr,
                residual: $aresidual:expr,
                $(moved: |$ae:ident| $amoved:expr,)?
                real: $areal:expr,
            }
        )+ }
        functions { $(
            $(#[$doc:meta])* $op:ident $name:literal ($($x:ident $(: $kind:ident)?),+) = $r:ident, $formula:literal,
            |$k:ident, $m:ident| { gradient: $gradient:expr, residual: $residual:expr, real: $real:expr, }
        )+ }
    ) => {
        /// An operation on real numbers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op {
            $($(#[$adoc])* $aop,)+
            $($(#[$doc])* $op,)+
        }

        #[allow(unused_variables, reason = "a row names its operands and result whether or not a column uses them")]
        impl Op {
            /// Every op, in the order of the table: `ALL[op as usize] == op`.
            pub const ALL: &[Op] = &[$(Op::$aop,)+ $(Op::$op,)+];

            /// The name in reports: C's name of the function where C has it.
            pub const fn name(self) -> &'static str {
                match self { $(Op::$aop => $aname,)+ $(Op::$op => $name,)+ }
            }

            /// The operands.
            #[inline(always)]
            pub const fn operands(self) -> &'static [Operand] {
                match self {
                    $(Op::$aop => &[$(Operand { name: stringify!($ax), integer: false },)+],)+
                    $(Op::$op => &[$(
                        Operand { name: stringify!($x), integer: is_integer!($($kind)?) },
                    )+],)+
                }
            }

            /// The op as an expression over its operands' names, in FPCore's syntax and, where FPCore has the
            /// function, its vocabulary.
            pub const fn formula(self) -> &'static str {
                match self { $(Op::$aop => $aformula,)+ $(Op::$op => $formula,)+ }
            }

            /// Tells whether the row's derivatives are written over [`Arith`] alone, so that they can be emitted
            /// inline.
            pub const fn is_arithmetic(self) -> bool {
                match self { $(Op::$aop => true,)+ _ => false }
            }

            /// The derivatives at operands `x` with result `r`, of an arithmetic row; no function row has them here.
            /// Where the op is known, nothing but its own row is left of this.
            #[inline(always)]
            pub fn arithmetic_gradient<K: Arith>(self, k: &K, x: &[K::V], r: K::V) -> Option<Gradient<K>> {
                match self {
                    $(Op::$aop => {
                        let ($ak, [$($ax),+], $ar) = (k, operands(x), r);
                        Some($agradient)
                    })+
                    _ => None,
                }
            }

            /// The derivatives at operands `x` with result `r`, of any row.
            pub fn gradient<K: Functions>(self, k: &K, x: &[K::V], r: K::V) -> Gradient<K> {
                match self {
                    $(Op::$op => {
                        let ($k, [$($x),+], $r) = (k, operands(x), r);
                        let gradient: Gradient<K> = $gradient;
                        gradient.where_defined(k, r)
                    })+
                    _ => self.arithmetic_gradient(k, x, r).expect("a row of one of two kinds"),
                }
            }

            /// The local rounding error made when operands `x` gave `r`. `k` computes in the format of `r`; for
            /// [`Op::Narrow`] in that of the operand, and `r` is given widened.
            pub fn residual<K: Arith>(self, k: &K, x: &[K::V], r: K::V) -> Residual<K::V> {
                match self {
                    $(Op::$aop => {
                        let ($ak, [$($ax),+], $ar) = (k, operands(x), r);
                        $aresidual
                    })+
                    $(Op::$op => {
                        let ($k, [$($x),+], $r) = (k, operands(x), r);
                        $residual
                    })+
                }
            }

            /// The result on floats of the format of `k`, rounded to nearest, of rows that are one verb of it or a choice. Where
            /// the op is known, nothing but its own row is left of this.
            #[inline(always)]
            pub fn primal<K: Arith>(self, k: &K, x: &[K::V]) -> Option<K::V> {
                match self {
                    $(Op::$aop => {
                        let ($ak, [$($ax),+]) = (k, operands(x));
                        let primal: Option<K::V> = None;
                        $(let primal = Some($aprimal);)?
                        primal
                    })+
                    _ => None,
                }
            }

            /// The real result at operands `x` + `e`, less the floating-point result `r`, of rows for which the residual
            /// and first order do not say that: errors of two operands meet, or the function is curved. Good to the
            /// precision of `k`, which computes in the format of `r`, as far as the residual is.
            pub fn moved<K: Arith>(self, k: &K, x: &[K::V], e: &[K::V], r: K::V) -> Option<K::V> {
                match self {
                    $(Op::$aop => {
                        let ($ak, [$($ax),+], $ar) = (k, operands(x), r);
                        let moved: Option<K::V> = None;
                        $(let $ae = e; let moved = Some($amoved);)?
                        moved
                    })+
                    _ => None,
                }
            }

            /// The real function. An integer operand is given exactly as the program has it.
            pub fn real<R: Reals>(self, m: &R, x: &[&R::Real]) -> R::Real {
                match self {
                    $(Op::$aop => { let ($am, [$($ax),+]) = (m, operands(x)); $areal })+
                    $(Op::$op => { let ($m, [$($x),+]) = (m, operands(x)); $real })+
                }
            }
        }
    };
}

table::for_each_op!(define_ops);

impl Op {
    /// Operands that are terms of a sum, which round the others if they are magic numbers, such as 1.5·2^52.
    pub fn addends(self) -> &'static [usize] {
        match self {
            Op::Add | Op::Sub => &[0, 1],
            Op::Fmadd | Op::Fmsub | Op::Fnmadd | Op::Fnmsub => &[2],
            _ => &[],
        }
    }

    /// True if results are whole numbers: a float with a shadow becomes a constant.
    pub const fn makes_whole(self) -> bool {
        matches!(self, Op::RoundEven | Op::Round | Op::Rint | Op::Floor | Op::Ceil | Op::Trunc)
    }

    /// The result of the op on doubles, of rows whose derivatives read it and that x87 instructions compute: rules beside those
    /// take it for the result, of which the instruction gives more digits than rules have.
    pub fn in_doubles(self, x: &[f64]) -> Option<f64> {
        match self {
            Op::Div | Op::Sqrt => self.primal(&Host::new(Format::F64), x),
            _ => None,
        }
    }

    /// Number of operands the op has.
    #[inline(always)]
    pub const fn arity(self) -> usize {
        self.operands().len()
    }
}
