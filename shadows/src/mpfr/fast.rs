//! The commonest operations, `+ − × ÷ √` and fused ones, on floats of moderate size, in as few steps as they need.
//!
//! What comes of them is what [`execute`](crate::reals::execute) makes of any operation, to the last bit: that is the slow
//! path of what is here, and tests compare the two. Whatever is out of the ordinary is left to it.

mod binary;
mod certain;
mod comparisons;
mod fused;
mod local_errors;
mod made;
mod small;
#[cfg(test)]
mod tests;

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::shadow::Lane;
use shadowgrind_core::site::Site;

use super::MpfrShadow;
use super::elementary::{Any, Elementary};
use crate::diagnosis::blame::Merging;
use crate::diagnosis::following::is_looked_at;
use crate::diagnosis::local_error::LocalError;
use crate::diagnosis::operations::{Id, What};
use crate::diagnosis::scale::Scale;
use crate::exact;
use crate::ieee::Ieee;
use crate::reals::bigfloat::Short;
use crate::reals::error_bound::{self, ErrorBound};
use crate::reals::number::RealNumber;
use crate::reals::real::Real;
use crate::reals::settle;
pub use made::{FastOutcome, Made};

/// The distance of the least exponent of what is added to round to fractions to the greatest, which is that of what is added to
/// round to integers.
const MAGIC_SPAN: u64 = shadowgrind_core::tricks::FRACTION_BITS as u64;

/// Stand-in for an operand without a shadow, but for its value.
const NOTHING: &Real = &Real::NOTHING;

/// An instruction that is executed again and again.
#[derive(Clone, Copy, Debug)]
pub struct Recurring {
    site: Site,
    /// The operation, once it was executed.
    id: Option<Id>,
}

impl Recurring {
    /// The instruction at `site`, which does one thing only.
    pub fn new(site: Site) -> Recurring {
        Recurring { site, id: None }
    }

    /// The site of the operation.
    pub fn site(&self) -> Site {
        self.site
    }

    /// The operation, which is looked up the first time.
    #[inline(always)]
    pub(crate) fn operation(&mut self, look_up: impl FnOnce(Site) -> Id) -> Id {
        match self.id {
            Some(id) => id,
            None => *self.id.insert(look_up(self.site)),
        }
    }
}

/// An operation on floats of format `F`, as doubles.
#[derive(Clone, Copy)]
struct Binary<'a, E, F> {
    site: Site,
    row: E,
    format: F,
    x: [f64; 2],
    r: f64,
    shadows: [Option<&'a Real>; 2],
    /// The shadows, or what stands for them.
    reals: [&'a Real; 2],
    /// The local rounding error.
    rounding: f64,
}

/// A result in the reals, well within the range of its format.
#[derive(Clone, Copy)]
struct Found {
    exponent: i32,
    /// The bits of the nearest float, whether it is just that, and whether it is [next to it](RealNumber::clings).
    rounded: u64,
    is_float: bool,
    clings: bool,
}

impl Found {
    /// Facts to be found of `value`, or of its [leading](Short::leading) bits.
    #[inline(always)]
    fn of(value: &Short, format: Format) -> Option<Found> {
        let (exponent, rounded, bits) = (value.exponent()?, value.nearest(format)?, format.precision());
        Some(Found { exponent, rounded, is_float: value.fits(bits), clings: value.clings(bits) })
    }
}

/// The result itself, to be looked at where that is rarely needed.
trait Value {
    fn look<T>(&self, at: impl FnOnce(&RealNumber) -> T) -> T;
}

impl Value for Short {
    #[inline(always)]
    fn look<T>(&self, at: impl FnOnce(&RealNumber) -> T) -> T {
        at(&RealNumber::Short(*self))
    }
}

impl Value for RealNumber {
    #[inline(always)]
    fn look<T>(&self, at: impl FnOnce(&RealNumber) -> T) -> T {
        at(self)
    }
}

fn field(x: f64) -> u64 {
    x.to_bits() >> 52 & 0x7ff
}

/// Without its sign, a double is above or below another as its bits are.
#[inline(always)]
fn is_moderate<F: Ieee>(x: f64) -> bool {
    let least = const { (1023 - F::MODERATE) << 53 };
    let span = const { ((2 * F::MODERATE + 1) << 53) - 1 };
    (x.to_bits() << 1).wrapping_sub(least) <= span
}

impl MpfrShadow {
    /// Does what an operation on floats usually takes (of one operand: on that and 1.0), if reals are
    /// [short](Self::is_short). Where that is out of the ordinary, its shadow is for
    /// [`on_fallback`](Self::on_fallback) to find.
    #[inline(always)]
    pub fn on_floats<M: Merging, E: Elementary, F: Ieee>(
        &mut self,
        merging: M,
        (at, row, format): (&mut Recurring, E, F),
        x: [f64; 2],
        r: f64,
        shadows: [Option<&Real>; 2],
        made: &mut Made,
    ) -> FastOutcome {
        let Some(precision) = self.execution.arithmetic.short_precision() else {
            return FastOutcome::Fallback;
        };
        let binary = match self.begun((at, row, format), x, r, shadows) {
            Ok(binary) => binary,
            Err(outcome) => return outcome,
        };
        let Some((value, found)) = binary.short_found(precision) else { return FastOutcome::Fallback };
        made.value = value;
        self.fast_real(merging, at, binary, &value, found, made)
    }

    /// Does what an operation on floats usually takes, where reals are long. `left` is a shadow that is of no use any
    /// more: its digits' memory may be.
    #[inline(always)]
    pub fn on_floats_at_length<M: Merging, F: Ieee>(
        &mut self,
        merging: M,
        (at, op, format): (&mut Recurring, Op, F),
        x: [f64; 2],
        r: f64,
        shadows: [Option<&Real>; 2],
        left: Option<Real>,
    ) -> Option<Real> {
        match self.fast_long(merging, (at, Any(op), format), x, r, shadows, left) {
            (FastOutcome::Fallback, _) => self.on_fallback((at, op, format), x, r, shadows),
            (_, shadow) => shadow,
        }
    }

    #[inline(always)]
    fn fast_long<M: Merging, F: Ieee>(
        &mut self,
        merging: M,
        (at, row, format): (&mut Recurring, Any, F),
        x: [f64; 2],
        r: f64,
        shadows: [Option<&Real>; 2],
        left: Option<Real>,
    ) -> (FastOutcome, Option<Real>) {
        let binary = match self.begun((at, row, format), x, r, shadows) {
            Ok(binary) => binary,
            Err(outcome) => return (outcome, None),
        };
        let Some((value, found)) = self.long_found((row.op(), F::FORMAT), x, shadows, left) else {
            return (FastOutcome::Fallback, None);
        };
        let mut made = Made::NOTHING;
        match self.fast_real(merging, at, binary, &value, found, &mut made) {
            FastOutcome::Shadow => {
                let mut shadow = None;
                self.put_with((made, F::FORMAT), value, &mut shadow);
                (FastOutcome::Shadow, shadow)
            }
            outcome => (outcome, None),
        }
    }

    /// The shadow of the result of any operation on two floats, or on the first of them.
    #[inline(never)]
    pub fn on_fallback<F: Ieee>(
        &mut self,
        (at, op, format): (&mut Recurring, Op, F),
        x: [f64; 2],
        r: f64,
        shadows: [Option<&Real>; 2],
    ) -> Option<Real> {
        let bits = x.map(|x| F::bits(x).into());
        let (bits, shadows) = (&bits[..op.arity()], &shadows[..op.arity()]);
        let (site, r) = (at.site, F::bits(r).into());
        let lane = Lane { site, op, from: F::FORMAT, to: F::FORMAT, x: bits, r, shadows };
        // Sums begin with zero: these are common enough not to be looked up.
        if let Some(kept) = exact::left_alone(&lane) {
            self.counted((at, Any(op), format), x);
            return shadows[kept].cloned();
        }
        self.execution.execute(&lane)
    }

    /// An operation that is not out of the ordinary, so far, and leaves a shadow probably; or the outcome without that.
    #[inline(always)]
    fn begun<'a, E: Elementary, F: Ieee>(
        &mut self,
        (at, row, format): (&mut Recurring, E, F),
        x: [f64; 2],
        r: f64,
        shadows: [Option<&'a Real>; 2],
    ) -> Result<Binary<'a, E, F>, FastOutcome> {
        let [a, b] = x;
        let all_moderate = is_moderate::<F>(a) & is_moderate::<F>(b) & is_moderate::<F>(r);
        if !(all_moderate & self.execution.settings.fast) {
            return Err(FastOutcome::Fallback);
        }
        let rounding = row.rounding::<F>(a, b, r);
        if (rounding == 0.0) & shadows[0].is_none() & shadows[1].is_none() {
            let id = self.counted((at, row, format), x);
            self.execution.diagnosis.history.push_exact_floats((id, format), (x, row.arity()), r);
            return Err(FastOutcome::Exact);
        }
        let [first, second] = shadows;
        let reals = [first.unwrap_or(NOTHING), second.unwrap_or(NOTHING)];
        let binary = Binary { site: at.site, row, format, x, r, shadows, reals, rounding };
        if binary.may_round() { Err(FastOutcome::Fallback) } else { Ok(binary) }
    }

    /// The real result by MPFR, which takes so long that it is called rather than inlined. Its digits are put where
    /// those of what is in `left` are.
    #[inline(never)]
    fn long_found(
        &mut self,
        (op, format): (Op, Format),
        x: [f64; 2],
        shadows: [Option<&Real>; 2],
        left: Option<Real>,
    ) -> Option<(RealNumber, Found)> {
        if shadows.into_iter().flatten().any(|shadow| shadow.value().get_exp().is_none()) {
            return None;
        }
        for (n, shadow) in shadows.iter().enumerate() {
            if shadow.is_none() {
                self.execution.arithmetic.assign(
                    &mut self.execution.scratch[n],
                    Format::F64,
                    x[n].to_bits().into(),
                );
            }
        }
        let operand = |n: usize| shadows[n].map_or(&self.execution.scratch[n], Real::value);
        let value = self.execution.arithmetic.long_binary(
            op,
            [operand(0), operand(1)],
            left.map(Real::into_value),
        )?;
        let found = Found::of(&value.leading()?, format)?;
        Some((value, found))
    }

    #[inline(always)]
    fn fast_real<M: Merging, E: Elementary, F: Ieee, R: Value>(
        &mut self,
        merging: M,
        at: &mut Recurring,
        binary: Binary<'_, E, F>,
        value: &R,
        found: Found,
        made: &mut Made,
    ) -> FastOutcome {
        let r = F::bits(binary.r);
        if (found.rounded ^ r) >> (F::FORMAT.width() - 1) != 0 {
            return FastOutcome::Fallback;
        }
        let floats = found.rounded.abs_diff(r);
        if (floats == 0) & found.is_float {
            return self.fast_exact(at, binary, &found);
        }
        let weighed = binary.weighed();
        if !Scale::measures(weighed.largest) | !binary.are_relative() {
            return FastOutcome::Fallback;
        }
        // Two positive floats are less than 2^63 apart, and it is numbers with signs that processors convert.
        let apart = floats as i64 as f64;
        let Some((error_bound, vouched)) = self.fast_error_bound(&binary, &found, apart) else {
            return FastOutcome::Fallback;
        };
        made.error_bound = error_bound;
        let id = self.operation((at, binary.row, binary.format));
        (made.roundings, made.amplifications) = binary.roundings(merging, id, weighed);
        let local_error =
            self.fast_influences(merging, binary, value, (found, floats), (id, weighed.factors), made);
        let serials = [binary.reals[0].serial, binary.reals[1].serial];
        let (x, arity) = (binary.x, binary.row.arity());
        made.serial =
            self.execution.diagnosis.history.push_floats((id, binary.format), (x, arity), serials, binary.r);
        let operation = &mut self.execution.diagnosis.operations[id];
        operation.counted(binary.row.arity(), binary.x);
        operation.error.add(apart + 1.0);
        if !vouched {
            let significant = made.error_bound.bits_of(found.exponent);
            operation.least_significant = operation.least_significant.min(significant);
        }
        if binary.row.is_sum() {
            let [a, b, r] = [binary.x[0].abs(), binary.x[1].abs(), binary.r.abs()];
            operation.absorbed += u64::from((r == a) | (r == b));
        }
        if local_error.is_some() | is_looked_at(operation.error.count) {
            self.fast_explained(binary, id, local_error, floats);
        }
        FastOutcome::Shadow
    }

    /// An operation whose real is its float.
    #[inline(always)]
    fn fast_exact<E: Elementary, F: Ieee>(
        &mut self,
        at: &mut Recurring,
        binary: Binary<'_, E, F>,
        found: &Found,
    ) -> FastOutcome {
        // What was rounded off may be too small for the reals.
        if (binary.rounding != 0.0) | (binary.kinds() != 0)
            || !binary.is_all(found, self.execution.settings.precision)
        {
            return FastOutcome::Fallback;
        }
        self.counted((at, binary.row, binary.format), binary.x);
        if binary.row.is_sum() & binary.shadows[0].is_some() & binary.shadows[1].is_some() {
            self.execution.diagnosis.note_compensation(binary.row.op(), binary.x, binary.reals);
        }
        FastOutcome::Exact
    }

    /// The error bound of a real whose float is `apart` floats away, and whether the float alone vouches for it; nothing
    /// where the real has to be found again.
    #[inline(always)]
    fn fast_error_bound<E: Elementary, F: Ieee>(
        &self,
        binary: &Binary<'_, E, F>,
        found: &Found,
        apart: f64,
    ) -> Option<(ErrorBound, bool)> {
        let precision = self.execution.settings.precision;
        let kinds = binary.kinds();
        let error = error_bound::error_bits(apart);
        let alone = (apart == 0.0) & found.clings | (kinds > ErrorBound::BELOW);
        if (kinds != 0) & !alone & error_bound::is_ample(error, F::FORMAT, precision) {
            return Some((ErrorBound::told((found.exponent - precision as i32) as f32, error), true));
        }
        let error_bound = binary.error_bound(found, apart, alone, precision);
        let is_short = settle::is_short(error_bound, Some(found.exponent), F::FORMAT)
            && (self.execution.may_settle(F::FORMAT, binary.shadows.into_iter().flatten())
                || binary.is_within_bound(found, error_bound, precision));
        (!is_short).then_some((error_bound, false))
    }

    #[inline(never)]
    fn fast_explained<E: Elementary, F: Ieee>(
        &mut self,
        binary: Binary<'_, E, F>,
        id: Id,
        local_error: Option<LocalError>,
        floats: u64,
    ) {
        binary.with_lane(|lane| self.execution.diagnosis.explain_now(id, lane, local_error, floats as f64));
    }

    /// Counts an execution.
    #[inline(always)]
    fn counted<E: Elementary, F: Ieee>(
        &mut self,
        (at, row, format): (&mut Recurring, E, F),
        x: [f64; 2],
    ) -> Id {
        let id = self.operation((at, row, format));
        self.execution.diagnosis.operations[id].counted(row.arity(), x);
        id
    }

    #[inline(always)]
    fn operation<E: Elementary, F: Ieee>(&mut self, (at, row, _): (&mut Recurring, E, F)) -> Id {
        at.operation(|site| self.looked_up(site, row.op(), F::FORMAT))
    }

    #[inline(never)]
    fn looked_up(&mut self, site: Site, op: Op, format: Format) -> Id {
        self.execution.diagnosis.operations.at(site, What::Op(op), (format, format))
    }
}
