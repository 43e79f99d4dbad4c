//! Budgets: how much of an output's rounding error each instruction has contributed, to first order.
//!
//! The rounding of an operation, as TABLE 1 has it, is recorded with its statement. Times the adjoint of its result it is
//! what it contributes to an output; contributions of an instruction are added up, and so are their magnitudes, which do
//! not cancel. Roundings of operations without an active operand are not recorded: they do not depend on an input.

use super::Adjoint;
use super::columns::Rounding;
use crate::reals::mpfr::Mpfr;
use rug::Float;
use shadowgrind_core::arith::Host;
use shadowgrind_core::findings::Contribution;
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::{Op, Residual};
use shadowgrind_core::site::Site;

impl Adjoint {
    /// The rounding of an operation between these formats on `x` that gave `r`.
    pub(super) fn rounding(
        &mut self,
        (op, from, to): (Op, Format, Format),
        site: Site,
        x: &[f64],
        r: f64,
    ) -> Rounding {
        // What is narrowed is exact in the wider format.
        let format = if op == Op::Narrow { from } else { to };
        let residual = match op.residual(&Host::new(format), x, r) {
            Residual::Never => Some(0.0),
            Residual::Exact(_) | Residual::Rounded(_) if from == Format::F80 || to == Format::F80 => None,
            Residual::Exact(residual) | Residual::Rounded(residual) => Some(residual),
            Residual::Unknown if from == Format::F80 || to == Format::F80 => None,
            Residual::Unknown => Some(function_residual(op, x, r)),
        };
        let residual = residual.filter(|residual| residual.is_finite());
        self.unknown_roundings += u64::from(residual.is_none());
        Rounding { site, residual: residual.unwrap_or(0.0) }
    }
}

/// The real result of a function at `x`, less the float `r` that it gave.
fn function_residual(op: Op, x: &[f64], r: f64) -> f64 {
    /// Bits of a double twice, and some for what functions lose near their zeros.
    const PRECISION: u32 = 160;
    let operands: Vec<Float> = x.iter().map(|&x| Float::with_val(PRECISION, x)).collect();
    let real = op.real(&Mpfr::new(PRECISION), &operands.iter().collect::<Vec<_>>());
    Float::with_val(PRECISION, real - r).to_f64()
}

/// Contributions to some outputs at once, by site.
pub(super) struct Shares<const LANES: usize> {
    by_site: Vec<[[f64; 2]; LANES]>,
}

impl<const LANES: usize> Shares<LANES> {
    pub(super) fn new() -> Self {
        Shares { by_site: Vec::new() }
    }

    /// Adds what one rounding contributes, given the adjoints of its result.
    pub(super) fn add(&mut self, rounding: Rounding, adjoints: &[f64; LANES]) {
        let site = rounding.site.bits() as usize;
        if rounding.residual == 0.0 {
            return;
        }
        if site >= self.by_site.len() {
            self.by_site.resize(site + 1, [[0.0; 2]; LANES]);
        }
        for ([signed, magnitude], adjoint) in self.by_site[site].iter_mut().zip(adjoints) {
            // The error is the float less the real: the rounding's opposite.
            let error = if *adjoint == 0.0 { 0.0 } else { -rounding.residual * adjoint };
            *signed += error;
            *magnitude += error.abs();
        }
    }

    /// The contributions to the output of a lane, largest first.
    pub(super) fn of(&self, lane: usize, output: Option<u64>) -> Vec<Contribution> {
        let share = |(site, lanes): (usize, &[[f64; 2]; LANES])| {
            let [error, magnitude] = lanes[lane];
            (magnitude != 0.0).then(|| Contribution {
                output,
                site: Site::from_bits(site as u32),
                error,
                magnitude,
            })
        };
        let mut shares: Vec<_> = self.by_site.iter().enumerate().filter_map(share).collect();
        shares.sort_by(|a, b| b.magnitude.total_cmp(&a.magnitude));
        shares
    }
}
