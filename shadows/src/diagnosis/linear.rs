//! An operation to first order: how errors of its operands pass through it, and what it rounds off itself.

use shadowgrind_core::arith::Host;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{MAX_OPERANDS, Op, Residual};
use shadowgrind_core::shadow::Lane;

use super::scale::Scale;
use crate::exact::{residual_host, residuals_hold, to_f64};

/// Operands, result and partial derivatives of an operation as the guest performed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    /// The operands.
    pub(crate) x: [f64; MAX_OPERANDS],
    /// The result.
    pub(crate) r: f64,
    /// The derivative with respect to each operand that has a shadow.
    pub(crate) partials: [f64; MAX_OPERANDS],
    /// The local rounding error, where TABLE 1's residual tells.
    pub(crate) rounding: Option<f64>,
}

impl Linear {
    /// The floats of `lane`.
    #[inline(always)]
    pub(crate) fn new<V>(lane: &Lane<'_, V>) -> Linear {
        let mut x = [0.0; MAX_OPERANDS];
        for (x, &bits) in x.iter_mut().zip(lane.x) {
            *x = to_f64(lane.from, bits);
        }
        Linear { x, r: to_f64(lane.to, lane.r), partials: [0.0; MAX_OPERANDS], rounding: None }
    }

    /// True if the result is exact, by the residual; `None` where that does not tell: 80-bit lanes, library
    /// functions, numbers near the ends of the range. Keeps the residual.
    #[inline(always)]
    pub(crate) fn is_exact<V>(&mut self, lane: &Lane<'_, V>) -> Option<bool> {
        if !residuals_hold(lane.from, lane.to, &self.x, self.r) {
            return None;
        }
        let host = residual_host(lane);
        self.rounding = match lane.op.residual(&host, &self.x[..lane.x.len()], self.r) {
            Residual::Never => Some(0.0),
            Residual::Exact(lost) | Residual::Rounded(lost) => Some(-lost),
            Residual::Unknown => None,
        };
        self.rounding.map(|rounding| rounding == 0.0)
    }

    /// Finds the partials. For sums, the commonest of all, without the table's detour.
    #[inline(always)]
    pub(crate) fn differentiate(&mut self, op: Op, arity: usize) {
        match op {
            Op::Add => self.partials = [1.0, 1.0, 0.0],
            Op::Sub => self.partials = [1.0, -1.0, 0.0],
            Op::Mul => self.partials = [self.x[1], self.x[0], 0.0],
            Op::Fmadd => self.partials = [self.x[1], self.x[0], 1.0],
            Op::Fmsub => self.partials = [self.x[1], self.x[0], -1.0],
            Op::Fnmadd => self.partials = [-self.x[1], -self.x[0], 1.0],
            Op::Fnmsub => self.partials = [-self.x[1], -self.x[0], -1.0],
            _ => {
                // Partials are wanted to a few digits, and without overflow of a narrow format.
                let host = Host::new(Format::F64);
                let gradient = op.gradient(&host, &self.x[..arity], self.r);
                for (index, partial) in self.partials.iter_mut().enumerate().take(arity) {
                    *partial = gradient.value(&host, index);
                }
            }
        }
    }

    /// Factor that makes coefficients of operand `index`, by its scale, coefficients of the result by that of the result.
    #[inline(always)]
    pub(crate) fn factor(&self, index: usize, from: Scale, to: Scale) -> f64 {
        self.partials[index] * from.size / to.size
    }

    /// Growth of a relative error of operand `index`: log₂ of the operation's condition number.
    #[inline(always)]
    pub(crate) fn amplification(&self, index: usize) -> f64 {
        log2(self.partials[index] * self.x[index]) - log2(self.r)
    }

    /// Half a unit in the last place of the result: no rounding to nearest adds more.
    pub(crate) fn half_ulp(&self, format: Format) -> f64 {
        let exponent = exponent(self.r).max(-1022) - format.precision() as i32;
        2f64.powi(exponent.max(-1074))
    }
}

/// log₂ |x|, linear between powers of two: off by 0.09 at most, and the same for the same number. −1023 for zero.
#[inline(always)]
pub(crate) fn log2(x: f64) -> f64 {
    (x.to_bits() & (u64::MAX >> 1)) as f64 * (0.5f64).powi(52) - 1023.0
}

/// ⌊log₂ |x|⌋; for subnormal numbers and zero the least.
#[inline(always)]
pub(crate) fn exponent(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32 - 1023
}
