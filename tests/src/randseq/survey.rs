//! All cases that differ, one line each, instead of the first one in detail: for whoever has many to choose from.

use super::campaign::Campaign;
use super::compare;
use super::execute::{How, Ran};
use super::wire::BATCH;
use std::ops::Range;

/// One line per case that differs or ends the tool; empty if there is none. Nothing is minimised.
pub fn survey(campaign: &Campaign, seed: u64, cases: Range<u64>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut from = cases.start;
    while from < cases.end {
        let to = cases.end.min((from / BATCH + 1) * BATCH);
        let batch = campaign.batch(seed, from..to);
        let native = campaign.run(How::Native, &batch);
        let tool = campaign.run(How::Tool, &batch);
        let (found, done) = lines_of(&native, &tool, from);
        lines.extend(found);
        // A case that ended the tool is left behind; the next process starts after it.
        from = if done < to { done + 1 } else { to };
    }
    lines
}

/// The lines for one process, and the first case that it did not finish.
fn lines_of(native: &Ran, tool: &Ran, from: u64) -> (Vec<String>, u64) {
    let (Ok(a), Ok(b)) = (&native.output, &tool.output) else {
        return (vec![format!("{from}: {}", ending(tool))], from);
    };
    let mut lines = Vec::new();
    for (i, (x, y)) in a.records.iter().zip(&b.records).enumerate() {
        let what: Vec<_> = compare::records(x, y).into_iter().map(|d| d.what).collect();
        if !what.is_empty() {
            let signal = x.faults.first().map_or(String::new(), |f| format!(" (signal {})", f.words[0]));
            lines.push(format!("{}{signal}: {}", from + i as u64, what.join(", ")));
        }
    }
    let done = from + b.finished.min(a.finished) as u64;
    if b.finished < a.finished {
        lines.push(format!("{done}: {}", ending(tool)));
    }
    (lines, done)
}

fn ending(ran: &Ran) -> String {
    let stderr = String::from_utf8_lossy(&ran.outcome.stderr);
    format!("{}: {}", ran.outcome.end, stderr.lines().next().unwrap_or_default())
}
