//! Rules that a front end can turn into machine code: a number beside each float, made from TABLE 1's partials.
//!
//! The rule is written once over [`Arith`]. On [`Host`] it is a number (replay, and the oracle of tests), on a front end's
//! emitter the same rule is machine code. Its shape depends on the row alone, never on values, so that an arithmetic row
//! becomes straight-line code.

use crate::arith::{Arith, Host};
use crate::format::Format;
use crate::functions::Functions;
use crate::ops::{Gradient, InParts, Op};
use crate::shadow::{Rule, Shadow};
use crate::words::InPlace;

/// Operands, result, and the operands' shadows of an operation.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a, V> {
    /// The operands.
    pub x: &'a [V],
    /// The result.
    pub r: V,
    /// The operands' shadows: +0 without one.
    pub shadows: &'a [V],
}

/// A shadow of numbers in place, whose rule can be emitted beside the guest's instructions.
pub trait Inline: Rule<Value = f64> + Shadow<Words = InPlace> {
    /// The rule of arithmetic adds products of partials and shadows ([`Arith::scaled`] and its like), and is NaN where one of them is. A
    /// front end may then multiply without asking whether a shadow is absent, and do as the rule says only if the result is NaN:
    /// nothing times a number adds nothing. A result of −0 may become +0 by that.
    const ADDS_PRODUCTS: bool = false;

    /// The shadow of the result of `op`, whose derivatives are `gradient`.
    fn rule<K: Arith>(k: &K, op: Op, gradient: &Gradient<K>, given: Given<'_, K::V>) -> K::V;

    /// The shadow of the result of `op`, as straight-line arithmetic; nothing for a function row, which is evaluated by
    /// [`eval`](Inline::eval).
    fn arithmetic<K: Arith>(k: &K, op: Op, given: Given<'_, K::V>) -> Option<K::V> {
        let gradient = op.arithmetic_gradient(k, given.x, given.r)?;
        Some(Self::rule(k, op, &gradient, given))
    }

    /// The shadow of the result of `op`, be it arithmetic or a function.
    fn with_functions<K: Functions>(k: &K, op: Op, given: Given<'_, K::V>) -> K::V {
        Self::rule(k, op, &op.gradient(k, given.x, given.r), given)
    }

    /// The shadow of the result of `op` as a number of `format`.
    ///
    /// Arithmetic rows round every step to the format, as [`arithmetic`](Inline::arithmetic) does; function rows are
    /// evaluated in `f64` and rounded once, since f32 steps would lose several digits.
    fn eval(format: Format, op: Op, given: Given<'_, f64>) -> f64 {
        let k = Host::new(format);
        Self::arithmetic(&k, op, given)
            .unwrap_or_else(|| k.round(Self::with_functions(&Host::new(Format::F64), op, given)))
    }

    /// The shadow of a function's result where [`eval`](Inline::eval) says NaN, by whatever it takes.
    fn eval_slowly(format: Format, op: Op, given: Given<'_, f64>) -> f64 {
        Self::eval(format, op, given)
    }

    /// Tells whether [`eval`](Inline::eval) raises no exception but *inexact* where operands, result and shadows are numbers of moderate
    /// size, and shadows of operands much smaller than those.
    fn raises_only_inexact(_op: Op) -> bool {
        false
    }

    /// A number that is not +0 where an operation is worth being seen by [`Rule::op`], asked before it: its result is not read. NaN
    /// for operations that are never asked about. For shadows whose policy has a [`Watch`](crate::shadow::Watch).
    fn suspicion<K: Arith>(k: &K, _op: Op, _given: Given<'_, K::V>) -> K::V {
        k.lit(f64::NAN)
    }

    /// The shadow of the result of `op` on long doubles, whose operands' shadows are given as their errors; NaN for operations
    /// that are left to [`Rule::op`].
    fn in_parts<K: Arith>(k: &K, _op: Op, _given: InParts<'_, K::V>) -> K::V {
        k.lit(f64::NAN)
    }

    /// The question of [`suspicion`](Inline::suspicion) before an operation on long doubles.
    fn suspicion_in_parts<K: Arith>(k: &K, _op: Op, _given: InParts<'_, K::V>) -> K::V {
        k.lit(f64::NAN)
    }

    /// The question of [`doubt`](Inline::doubt) beside a comparison of long doubles.
    fn doubt_in_parts<K: Arith>(k: &K, _given: InParts<'_, K::V>) -> K::V {
        k.lit(f64::NAN)
    }

    /// Asked beside comparisons, and roundings to integers, of a shadow that wants to see them: a number that is not +0 where they may
    /// come out otherwise by the shadow. Of a comparison `op` is the operands' difference ([`Op::Sub`]). Its result is not read.
    fn doubt<K: Arith>(k: &K, _op: Op, _given: Given<'_, K::V>) -> K::V {
        k.lit(0.0)
    }
}
