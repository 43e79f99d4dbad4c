//! Derivatives of printed numbers against central differences of native runs.

use super::observe::{Case, Observed};
use super::pairs;
use crate::outcome::Outcome;

/// Every number that the program prints: its derivative, and the difference quotient of two native runs whose last
/// argument is moved from 0 by `h`; an error that lists those further apart than `tolerance`, relative.
pub fn against_argument(case: &Case, h: f64, tolerance: f64) -> Result<Observed, String> {
    let moved = |shift: f64| case.clone().arg(shift.to_string());
    against(case, &moved(-h), &moved(h), 2.0 * h, tolerance)
}

/// Every number that the program prints: its derivative, and the difference quotient of two native runs whose input is
/// `distance` apart.
pub fn against(
    case: &Case,
    before: &Case,
    after: &Case,
    distance: f64,
    tolerance: f64,
) -> Result<Observed, String> {
    let seen = case.observe()?;
    let (before, after) = (numbers(&before.native()?), numbers(&after.native()?));
    let printed = numbers(&seen.outcome);
    if [before.len(), after.len()] != [printed.len(); 2] {
        return Err(format!("{} numbers, and moved {} and {}", printed.len(), before.len(), after.len()));
    }
    let mut text = String::new();
    for (index, output) in pairs::aligned(&printed, &seen.report)?.into_iter().enumerate() {
        let quotient = (after[index] - before[index]) / distance;
        let dot = output.dot.unwrap_or(f64::NAN);
        if (dot - quotient).abs() > tolerance * quotient.abs().max(1e-2) || dot.is_nan() {
            text += &format!("number {index}, {}: dot {dot}, difference quotient {quotient}\n", output.value);
        }
    }
    if text.is_empty() { Ok(seen) } else { Err(text) }
}

/// The numbers that a program has printed to its standard output.
pub fn numbers(outcome: &Outcome) -> Vec<f64> {
    String::from_utf8_lossy(&outcome.stdout).split_whitespace().filter_map(|word| word.parse().ok()).collect()
}
