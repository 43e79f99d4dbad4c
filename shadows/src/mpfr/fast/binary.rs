//! One of the commonest operations itself: its real result, and whose roundings that carries.

use shadowgrind_core::shadow::Lane;

use super::{Binary, Found, MAGIC_SPAN, field};
use crate::diagnosis::blame::{Amplifications, Merging, Roundings};
use crate::diagnosis::linear::{exponent, log2};
use crate::diagnosis::operations::Id;
use crate::diagnosis::scale::Scale;
use crate::ieee::Ieee;
use crate::mpfr::elementary::Elementary;
use crate::reals::bigfloat::Short;
use crate::reals::number::RealNumber;
use crate::reals::real::Real;

impl<E: Elementary, F: Ieee> Binary<'_, E, F> {
    /// The real result by arithmetic of our own.
    #[inline(always)]
    pub(super) fn short_found(&self, precision: u32) -> Option<(Short, Found)> {
        let (first, second);
        let a = match self.shadows[0].map(Real::value) {
            Some(RealNumber::Short(short)) => short,
            Some(RealNumber::Long(_)) => return None,
            None => {
                first = Short::of_double(self.x[0]);
                &first
            }
        };
        let b = match self.shadows[1].map(Real::value) {
            Some(RealNumber::Short(short)) => short,
            Some(RealNumber::Long(_)) => return None,
            None => {
                second = Short::of_double(self.x[1]);
                &second
            }
        };
        if !(a.is_near() & b.is_near()) {
            return None;
        }
        let [first, second] = self.shadows;
        let (value, is_so) = self.row.short((a, first.is_none()), (b, second.is_none()), precision);
        if is_so { Some((value, Found::of(&value, F::FORMAT)?)) } else { None }
    }

    /// The exponents of the operands.
    #[inline(always)]
    pub(super) fn exponents(&self) -> [i32; 2] {
        let exponent = |n: usize| match self.shadows[n].map(Real::value) {
            Some(RealNumber::Short(short)) => short.scale(),
            Some(long) => long.get_exp().unwrap_or(0),
            None => exponent(self.x[n]) + 1,
        };
        [exponent(0), exponent(1)]
    }

    /// Tells whether the operation may be a rounding in disguise: see [`rounds_to_integer`](crate::exact::rounds_to_integer) and
    /// [`MpfrShadow::unrounds`](super::MpfrShadow::unrounds).
    #[inline(always)]
    pub(super) fn may_round(&self) -> bool {
        let least = const { 1023 + F::FORMAT.precision() as u64 - 1 - MAGIC_SPAN };
        let rounds = |index: usize| {
            self.shadows[index].is_none() & (field(self.x[index]).wrapping_sub(least) <= MAGIC_SPAN)
        };
        self.row.is_sum() & (rounds(0) | rounds(1))
    }

    #[inline(always)]
    pub(super) fn partials(&self) -> [f64; 2] {
        self.row.partials(self.x[0], self.x[1], self.r)
    }

    /// As any operation is described.
    #[inline(always)]
    pub(super) fn with_lane<T>(&self, then: impl FnOnce(&Lane<'_, Real>) -> T) -> T {
        let x = self.x.map(|x| F::bits(x).into());
        let (op, r) = (self.row.op(), F::bits(self.r).into());
        let (x, shadows) = (&x[..self.row.arity()], &self.shadows[..self.row.arity()]);
        then(&Lane { site: self.site, op, from: F::FORMAT, to: F::FORMAT, x, r, shadows })
    }

    /// Tells whether the scales of both operands are relative.
    #[inline(always)]
    pub(super) fn are_relative(&self) -> bool {
        self.reals[0].roundings.scale_code() | self.reals[1].roundings.scale_code() == 0
    }

    /// Coefficients of the operands on the result's scale, and the coefficient of its local rounding.
    #[inline(always)]
    pub(super) fn weighed(&self) -> Weighed {
        let factors = self.row.factors::<F>(self.x[0], self.x[1], self.r);
        let rounding = (self.rounding / Scale::relative_to(self.r).size) as f32;
        let brought = |n: usize| self.reals[n].roundings.brought(factors[n]).to_bits();
        let (first, second) = (brought(0), brought(1));
        // Which of them is the largest cannot be foreseen: these are choices of words, not branches.
        let second_is_foremost = second > first;
        let brought = if second_is_foremost { second } else { first };
        let new = rounding.abs().to_bits();
        Weighed { factors, rounding, second_is_foremost, grew: brought > new, largest: brought.max(new) }
    }

    /// Roundings that the result carries, and places where the largest of them has grown.
    #[inline(always)]
    pub(super) fn roundings<M: Merging>(
        &self,
        merging: M,
        id: Id,
        weighed: Weighed,
    ) -> (Roundings, Amplifications) {
        let Weighed { factors: [p, q], second_is_foremost, grew, .. } = weighed;
        let foremost = if second_is_foremost { self.reals[1] } else { self.reals[0] };
        let before = if grew { &foremost.amplifications } else { &Amplifications::NONE };
        let amplifications = if self.row.is_conditioned() {
            let partials = self.partials();
            let [x, y] = [partials[0] * self.x[0], partials[1] * self.x[1]].map(f64::to_bits);
            let x = f64::from_bits(if second_is_foremost { y } else { x });
            let bits = (log2(x) - log2(self.r)).to_bits() & 0_u64.wrapping_sub(grew.into());
            before.with(id, f64::from_bits(bits))
        } else {
            *before
        };
        let [a, b] = [&self.reals[0].roundings, &self.reals[1].roundings];
        // The operand that has no roundings comes last: the reference path does without it.
        let turned = self.shadows[0].is_none();
        let first = if turned { (b, q) } else { (a, p) };
        let second = if turned { (a, p) } else { (b, q) };
        (merging.merge([first, second], (id, weighed.rounding)), amplifications)
    }
}

/// Roundings that an operation's result carries, on its scale.
#[derive(Clone, Copy)]
pub(super) struct Weighed {
    /// For the operands' coefficients.
    pub(super) factors: [f32; 2],
    rounding: f32,
    second_is_foremost: bool,
    /// True if an operand brings more than is new.
    grew: bool,
    /// The bits of the largest coefficient.
    pub(super) largest: u32,
}
