//! The chain rule over TABLE 1's partials: the derivative of a result in the direction its operands move. A derivative in that
//! direction is a number's dot.
//!
//! It is written once over [`Arith`]: on [`Host`](shadowgrind_core::arith::Host) it is a number (replay, and the oracle of tests),
//! on a front end's emitter it is machine code. Its shape depends on the row alone, never on values, so an arithmetic row becomes
//! straight-line code. Knows no shadow: some have it as their rule, others as a part of that.
//!
//! **An operand without a dot contributes nothing**, also where its partial is infinite or NaN: √0, x/0, ∞ · c and
//! pow(x, y) with a constant y have derivatives with respect to what is active. Without a dot means: one whose bits are
//! all zero (`Arith::absent`); a dot of −0 is a number like any other. Each product is `Arith::scaled`, `plus_scaled` or
//! `minus_scaled`, a change of sign alone is `opposite` or `signed`, and the division is `over`; no other place knows of
//! this, and none of them makes a dot where there was none. A dot that is there follows IEEE arithmetic.

use shadowgrind_core::arith::Arith;
use shadowgrind_core::ops::{Gradient, Partial};

/// Derivative of a result: Σ partialᵢ · dotᵢ / divisor.
pub fn derivative<K: Arith>(k: &K, gradient: &Gradient<K>, dots: &[K::V]) -> K::V {
    if let ([Partial::When(m), Partial::Unless(_), ..], None) = (gradient.partials, gradient.divisor) {
        return k.select(m, dots[0], dots[1]);
    }
    let terms = || gradient.partials.iter().zip(dots);
    // Terms without a multiplication first: products are then added by fma, without a rounding of their own. What is
    // subtracted as it is comes last, since a sum that starts with it would have to turn its sign first.
    let sum = terms().fold(None, |sum, (&partial, &dot)| unscaled(k, sum, partial, dot));
    let sum = terms().fold(sum, |sum, (&partial, &dot)| product(k, sum, partial, dot));
    let sum = terms().fold(sum, |sum, (&partial, &dot)| match (partial, sum) {
        (Partial::MinusOne, None) => Some(k.opposite(dot)),
        (Partial::MinusOne, Some(sum)) => Some(k.sub(sum, dot)),
        _ => sum,
    });
    match (sum, gradient.divisor) {
        (None, _) => k.lit(0.0),
        (Some(sum), None) => sum,
        (Some(sum), Some(divisor)) => k.over(sum, divisor),
    }
}

/// `sum` with the term partial · dot, if that is added as it is.
fn unscaled<K: Arith>(k: &K, sum: Option<K::V>, partial: Partial<K>, dot: K::V) -> Option<K::V> {
    let zero = || k.lit(0.0);
    let term = match partial {
        Partial::One => dot,
        Partial::Sign(v) => k.signed(dot, v),
        Partial::When(m) => k.select(m, dot, zero()),
        Partial::Unless(m) => k.select(m, zero(), dot),
        Partial::Zero | Partial::MinusOne | Partial::Factor(_) | Partial::Minus(_) => return sum,
    };
    Some(sum.map_or(term, |sum| k.add(sum, term)))
}

/// `sum` with the term partial · dot, if that takes a multiplication.
fn product<K: Arith>(k: &K, sum: Option<K::V>, partial: Partial<K>, dot: K::V) -> Option<K::V> {
    Some(match (partial, sum) {
        (Partial::Factor(p), None) => k.scaled(p, dot),
        (Partial::Factor(p), Some(sum)) => k.plus_scaled(sum, p, dot),
        (Partial::Minus(p), None) => k.scaled(k.neg(p), dot),
        (Partial::Minus(p), Some(sum)) => k.minus_scaled(sum, p, dot),
        _ => return sum,
    })
}
