//! Formulas as one writes them: each operator is an operation at the line it stands on.

use std::ops::{Add, Div, Mul, Neg, Sub};
use std::panic::Location;

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

use crate::machine::{Machine, Tracked};

/// A number of a program.
#[derive(Clone)]
pub(crate) struct Number<'m>(pub(crate) &'m Machine, pub(crate) Tracked);

/// Right operand of an operator: a number, or a literal of the format of the left one.
pub(crate) trait Operand {
    fn beside(self, other: &Number<'_>) -> Tracked;
}

impl Operand for f64 {
    fn beside(self, other: &Number<'_>) -> Tracked {
        other.0.lit(other.1.format, self)
    }
}

impl Operand for &Number<'_> {
    fn beside(self, _: &Number<'_>) -> Tracked {
        self.1.clone()
    }
}

impl Operand for Number<'_> {
    fn beside(self, _: &Number<'_>) -> Tracked {
        self.1
    }
}

macro_rules! operators {
    ($($operator:ident $method:ident $op:ident;)+) => { $(
        impl<'m, T: Operand> $operator<T> for &Number<'m> {
            type Output = Number<'m>;
            #[track_caller]
            fn $method(self, other: T) -> Number<'m> {
                let other = other.beside(self);
                Number(self.0, self.0.op(Location::caller().line(), Op::$op, &[&self.1, &other]))
            }
        }

        impl<'m, T: Operand> $operator<T> for Number<'m> {
            type Output = Number<'m>;
            #[track_caller]
            fn $method(self, other: T) -> Number<'m> {
                let other = other.beside(&self);
                Number(self.0, self.0.op(Location::caller().line(), Op::$op, &[&self.1, &other]))
            }
        }

        impl<'m> $operator<Number<'m>> for f64 {
            type Output = Number<'m>;
            #[track_caller]
            fn $method(self, other: Number<'m>) -> Number<'m> {
                let left = self.beside(&other);
                Number(other.0, other.0.op(Location::caller().line(), Op::$op, &[&left, &other.1]))
            }
        }

        impl<'m> $operator<&Number<'m>> for f64 {
            type Output = Number<'m>;
            #[track_caller]
            fn $method(self, other: &Number<'m>) -> Number<'m> {
                let left = self.beside(other);
                Number(other.0, other.0.op(Location::caller().line(), Op::$op, &[&left, &other.1]))
            }
        }
    )+ };
}

operators! { Add add Add; Sub sub Sub; Mul mul Mul; Div div Div; }

impl<'m> Neg for Number<'m> {
    type Output = Number<'m>;
    #[track_caller]
    fn neg(self) -> Number<'m> {
        Number(self.0, self.0.op(Location::caller().line(), Op::Neg, &[&self.1]))
    }
}

macro_rules! functions {
    ($($name:ident $op:ident;)+) => { impl<'m> Number<'m> { $(
        #[track_caller]
        pub(crate) fn $name(&self) -> Number<'m> {
            Number(self.0, self.0.op(Location::caller().line(), Op::$op, &[&self.1]))
        }
    )+ } };
}

functions! { sqrt Sqrt; sin Sin; cos Cos; exp Exp; log Log; tanh Tanh; }

impl<'m> Number<'m> {
    #[track_caller]
    pub(crate) fn pow(&self, exponent: f64) -> Number<'m> {
        let exponent = exponent.beside(self);
        Number(self.0, self.0.op(Location::caller().line(), Op::Pow, &[&self.1, &exponent]))
    }
}

impl Machine {
    pub(crate) fn number(&self, format: Format, x: f64) -> Number<'_> {
        Number(self, self.lit(format, x))
    }
}
