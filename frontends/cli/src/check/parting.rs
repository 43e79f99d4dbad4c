//! The first place at which derivative and difference are not the same, from traces of runs beside each other.
//!
//! All runs do the same operations until one takes another way. Up to there, the derivative that an operation had at the
//! point is compared with the difference of its results on both sides. Curvature and rounding are told from that by the
//! longer step: each side by itself must be straight.

use shadowgrind_reports::check::{Lost, Parting};
use shadowgrind_reports::trace::{Record, Trace};

/// Distances of the runs from the point, in steps: the point, both sides, and both sides further out.
pub(super) const DISTANCES: [f64; 5] = [0.0, 1.0, -1.0, FURTHER, -FURTHER];
const FURTHER: f64 = 4.0;

/// Finds the place. `traces`: of runs at [`DISTANCES`]; `step`: the distance of one, in units of the seeds.
pub(super) fn find(traces: &[Trace], step: f64) -> Option<Parting> {
    let [here, near @ .., _, _] = traces else { return None };
    let length = traces.iter().map(|trace| trace.records.len()).min().unwrap_or(0);
    let mut last = None;
    for n in 0..length {
        let records: Vec<&Record> = traces.iter().map(|trace| &trace.records[n]).collect();
        let same = |other: usize| traces[other].identity(records[other]) == here.identity(records[0]);
        if !(1..=near.len()).all(same) {
            return Some(branch(here, last, n));
        }
        if !(1..traces.len()).all(same) {
            // The longer step went another way: it says nothing any more.
            return find_near(&traces[..3], n, step, last);
        }
        let values: Vec<f64> = records.iter().map(|record| record.value).collect();
        if !records[0].compares
            && let Some(quotient) = parts(&values, records[0].derivative, step)
        {
            return Some(value(here, records[0], n, quotient));
        }
        last = Some(n);
    }
    let ends = (0..=near.len()).map(|n| traces[n].records.len());
    let differ = ends.clone().min() != ends.max();
    differ.then(|| branch(here, last, length))
}

/// Finds where the runs beside the point take another way, from record `n` on.
fn find_near(traces: &[Trace], n: usize, step: f64, last: Option<usize>) -> Option<Parting> {
    let length = traces.iter().map(|trace| trace.records.len()).min().unwrap_or(0);
    let mut last = last;
    for n in n..length {
        let identity = |trace: &Trace| trace.identity(&trace.records[n]).to_owned();
        if traces.iter().any(|trace| identity(trace) != identity(&traces[0])) {
            return Some(branch(&traces[0], last, n));
        }
        let record = &traces[0].records[n];
        let [here, up, down] = [0, 1, 2].map(|trace| traces[trace].records[n].value);
        let quotient = (up - down) / (2.0 * step);
        let bent = (up + down - 2.0 * here).abs();
        let off = (quotient - record.derivative).abs() * step;
        if !record.compares
            && off > 0.01 * (up - down).abs().max(2.0 * step * record.derivative.abs())
            && off > 8.0 * bent
        {
            return Some(value(&traces[0], record, n, quotient));
        }
        last = Some(n);
    }
    None
}

/// The difference quotient of an operation whose results are `values`, if it is not its derivative.
fn parts(values: &[f64], derivative: f64, step: f64) -> Option<f64> {
    let &[here, up, down, far_up, far_down] = values else { return None };
    let quotient = (up - down) / (2.0 * step);
    let off = (quotient - derivative).abs() * step;
    let bent = |near: f64, far: f64| ((far - here) - FURTHER * (near - here)).abs();
    // A side is smooth too where it goes on as the derivative says, wherever it began.
    let rest =
        |near: f64, far: f64, sign: f64| (far - near - sign * (FURTHER - 1.0) * step * derivative).abs();
    let beside = rest(up, far_up, 1.0).max(rest(down, far_down, -1.0));
    let rough = bent(up, far_up).min(bent(down, far_down)).min(beside);
    let size = 1e-3 * step * quotient.abs().max(derivative.abs());
    (off > size + 8.0 * rough + 64.0 * f64::EPSILON * here.abs()).then_some(quotient)
}

fn value(trace: &Trace, record: &Record, after: usize, quotient: f64) -> Parting {
    Parting {
        place: trace.name(record).to_owned(),
        after: after as u64,
        kind: "value",
        text: format!(
            "the result {} has the derivative {}, and by differences {quotient}",
            record.value, record.derivative
        ),
    }
}

/// The place of the last record before the ways part: a comparison, if there was one.
fn branch(trace: &Trace, last: Option<usize>, after: usize) -> Parting {
    let compared = last.and_then(|last| {
        const BEFORE: usize = 16;
        let from = last.saturating_sub(BEFORE);
        trace.records[from..=last].iter().rev().find(|record| record.compares)
    });
    let record = compared.or(last.map(|last| &trace.records[last]));
    let text = match compared {
        Some(_) => "the program goes another way after this comparison when its inputs are moved",
        None => "the program goes another way after this operation when its inputs are moved",
    };
    Parting {
        place: record.map_or_else(|| "the start".to_owned(), |record| trace.name(record).to_owned()),
        after: after as u64,
        kind: "branch",
        text: text.to_owned(),
    }
}

/// The first place where values lost their derivative, where a derivative is `wrong` and nothing else tells.
pub(super) fn at_lost(wrong: bool, lost: &[Lost]) -> Option<Parting> {
    let first = lost.first().filter(|_| wrong)?;
    Some(Parting {
        place: first.place.clone(),
        after: 0,
        kind: "lost",
        text: format!("values lose their derivative here ({})", first.instruction),
    })
}
