//! Tests of lists of roundings.

use super::*;

fn list(terms: &[(Id, f32)]) -> Roundings {
    terms.iter().fold(Roundings::NONE, |list, &term| {
        Roundings::combine([(&list, 1.0)], term, Scale::relative_to(1.0))
    })
}

/// Merged lists have what adding up by operation gives, the largest first.
#[test]
fn roundings_of_one_operation_are_added_up() {
    let lists = [
        list(&[]),
        list(&[(1, 4.0)]),
        list(&[(2, 3.0), (1, -2.0), (5, 0.5)]),
        list(&[(5, -8.0), (3, 1.0), (2, 0.75)]),
        list(&[(9, 1e20), (2, 2e20), (1, -3e20)]),
    ];
    for a in &lists {
        for b in &lists {
            for (p, q, rounding) in [(1.0, 1.0, 0.25), (1.0, -1.0, 1e-3), (-0.5, 3.0, 7.0), (0.0, 1e-18, 0.0)]
            {
                let mut sums: Vec<ErrorTerm> = Vec::new();
                let scaled = |list: &Roundings, factor: f32| -> Vec<ErrorTerm> {
                    let factor = f64::from(factor);
                    list.iter()
                        .map(|term| ErrorTerm { coefficient: term.coefficient * factor, ..term })
                        .collect()
                };
                put_all(&mut sums, scaled(a, p).into_iter());
                put_all(
                    &mut sums,
                    [ErrorTerm { operation: 5, coefficient: f64::from(rounding) }].into_iter(),
                );
                put_all(&mut sums, scaled(b, q).into_iter());
                sums.sort_by(|a, b| b.coefficient.abs().total_cmp(&a.coefficient.abs()));
                let most = f64::from(a.brought(p).max(b.brought(q)).max(rounding));
                let merged = Roundings::combine([(a, p), (b, q)], (5, rounding), Scale::relative_to(1.0));
                let merged: Vec<ErrorTerm> = merged.iter().collect();
                // Coefficients are kept with seven digits, of the largest where others cancel.
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs() + 3e-7 * most;
                for (term, expected) in merged.iter().zip(&sums) {
                    assert!(
                        near(term.coefficient.abs(), expected.coefficient.abs()),
                        "{merged:?}, not {sums:?}"
                    );
                    let same = sums.iter().find(|sum| sum.operation == term.operation);
                    assert!(
                        same.is_some_and(|same| near(term.coefficient, same.coefficient)),
                        "{merged:?}, {sums:?}"
                    );
                }
                let kept = sums.iter().filter(|term| term.coefficient.abs() > 1e-6 * most).count();
                assert!(merged.len() >= kept.min(ROUNDINGS), "{merged:?}, not {sums:?}");
            }
        }
    }
}
