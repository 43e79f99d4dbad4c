//! The digamma function ψ = Γ′/Γ on `f64`, which neither the standard library nor C has.
//!
//! Formulas from the NIST Digital Library of Mathematical Functions, chapter 5. Errors stay within a few ulps of
//! max(|ψ(x)|, 1): near its zeros ψ is as ill-conditioned as any function near a zero.

use std::f64::consts::PI;

/// B₂ₖ / 2k for k = 1…8, from the Bernoulli numbers B₂ₖ of DLMF 24.2(iv).
const ASYMPTOTIC: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32760.0,
    1.0 / 12.0,
    -3617.0 / 8160.0,
];

/// From here on the first term left out of the series is below 2⁻⁵⁸.
const LARGE: f64 = 10.0;

/// ψ(x).
///
/// At the poles: lnΓ rises to +∞ from either side of a negative integer, so NaN; zeros have a side, +0 gives −∞ and
/// −0 gives +∞.
pub(super) fn digamma(x: f64) -> f64 {
    if x > 0.0 {
        positive(x)
    } else if x == 0.0 {
        -1.0 / x
    } else if x.fract() == 0.0 {
        f64::NAN
    } else {
        // Reflection, DLMF 5.5.4: ψ(x) = ψ(1 − x) − π cot πx.
        positive(1.0 - x) - PI * cot_pi(x)
    }
}

/// ψ(x) for x > 0: ψ(x) = ψ(x + n) − Σ 1/(x + k) (DLMF 5.5.2) up to where the asymptotic series holds.
fn positive(x: f64) -> f64 {
    let steps = if x < LARGE { (LARGE - x).ceil() as u32 } else { 0 };
    // Small terms first.
    let sum: f64 = (0..steps).rev().map(|k| 1.0 / (x + f64::from(k))).sum();
    asymptotic(x + f64::from(steps)) - sum
}

/// ψ(x) ~ ln x − 1/2x − Σ B₂ₖ / (2k x²ᵏ), DLMF 5.11.2.
fn asymptotic(x: f64) -> f64 {
    if x.is_infinite() {
        return x;
    }
    let w = 1.0 / x;
    let w2 = w * w;
    let series = ASYMPTOTIC.iter().rev().fold(0.0, |sum, &b| w2 * (b + sum));
    x.ln() - (0.5 * w + series)
}

/// cot πx for a non-integer x: reduced exactly to |t| ≤ ½, then to the half of it where tan is well-conditioned.
fn cot_pi(x: f64) -> f64 {
    let t = x - x.round();
    if t.abs() <= 0.25 { 1.0 / (PI * t).tan() } else { (PI * (0.5 - t.abs())).tan().copysign(t) }
}
