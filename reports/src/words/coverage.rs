//! Sentences about what was watched and what was not, and about a second run.

use shadowgrind_core::findings::{Confirmed, Decided, Output, OutputKind, Subject, Tape, Wrapped};
use shadowgrind_core::site::Site;

use super::cause::kind;
use super::{and_more, count, location, number, or_unknown, some, whereabouts};
use crate::document::Document;

/// Report of the second run: its price, its words on the findings, and its own verdict.
fn second_run(document: &Document<'_>) -> Vec<(&'static str, String)> {
    let Some(second) = &document.report.confirmation else { return Vec::new() };
    let [confirmed, refuted, unsettled] = [Confirmed::Confirmed, Confirmed::Refuted, Confirmed::Unsettled]
        .map(|word| document.count_confirmed(word));
    let findings = count(confirmed + refuted + unsettled, "finding");
    let (shadow, first_s, second_s) = (&second.shadow, second.first_s, second.second_s);
    let price = format!("{second_s:.2} s of processor time, after {first_s:.2} s of the first");
    let open = if unsettled > 0 { format!(", {} unsettled", number(unsettled)) } else { String::new() };
    let text = format!(
        "under {shadow}, {price}: of {findings} {} confirmed, {} refuted{open}; its verdict: {}",
        number(confirmed),
        number(refuted),
        second.verdict
    );
    let missed = second.missed.iter().map(|missed| {
        format!("{} ({}) in {}", kind(missed.kind), missed.operation, or_unknown(whereabouts(&missed.place)))
    });
    let missed = some(missed.collect());
    let missed = (!missed.is_empty()).then_some(("also finds", missed));
    [("second run", text)].into_iter().chain(missed).collect()
}

/// The number of all, in units called `noun`, and the place of most of them with a word of how many more there are; nothing if there
/// are none.
fn numbered(
    document: &Document<'_>,
    all: impl Iterator<Item = (u64, Site)> + Clone,
    noun: &str,
) -> Option<(String, String)> {
    let (_, site) = all.clone().max_by_key(|(count, _)| *count)?;
    let place = or_unknown(location(document.place(site)));
    let total = all.clone().map(|(count, _)| count).sum();
    Some((count(total, noun), format!("{place}{}", and_more(all.count()))))
}

/// Statement that the reals were not precise enough.
fn exhausted(document: &Document<'_>) -> Option<String> {
    let all = &document.report.coverage.exhausted;
    let most = all.iter().max_by_key(|exhausted| exhausted.count)?;
    let (results, places) =
        numbered(document, all.iter().map(|exhausted| (exhausted.count, exhausted.site)), "result")?;
    Some(format!(
        "too low to tell {results} from zero, of {} at {places}: try a higher --precision",
        most.operation
    ))
}

/// Statement that text of floats with shadows was written nowhere, nor read by a function that is known.
fn unwritten(document: &Document<'_>) -> Option<String> {
    let all = &document.report.coverage.unwritten;
    let (numbers, places) =
        numbered(document, all.iter().map(|unwritten| (unwritten.count, unwritten.site)), "number")?;
    let least = if all.iter().any(|unwritten| unwritten.at_least) { "at least " } else { "" };
    let (shadows, without) = match document.report.subject {
        Subject::Errors => ("errors", "is taken for exact"),
        _ => ("derivatives", "has no derivative"),
    };
    Some(format!(
        "{least}{numbers} with {shadows} made into text that is not written, at {places}: what the program reads from such text {without}"
    ))
}

/// Statement that decisions were not judged.
fn unjudged(document: &Document<'_>) -> Option<String> {
    let all = document.report.coverage.unjudged.iter().map(|unjudged| (unjudged.count, unjudged.site));
    let (decisions, places) = numbered(document, all, "decision")?;
    Some(format!(
        "{decisions} about totals whose roundings are put back elsewhere, at {places}: the reals decide otherwise"
    ))
}

/// Statement that errors of so many outputs were not followed to their causes.
fn unexplained(outputs: u64) -> Option<String> {
    let them = if outputs == 1 { "it" } else { "them" };
    let outputs = (outputs > 0).then(|| count(outputs, "wrong output"))?;
    Some(format!("{outputs} could not be traced to what made {them} wrong: --shadow=mpfr can"))
}

/// Numbers of comparisons of shadowed values, and of those that were asked for equality and found it.
fn decisions(document: &Document<'_>) -> Vec<(&'static str, String)> {
    let all = &document.report.coverage.decisions;
    let told = |count: fn(&Decided) -> u64| {
        let places: Vec<&Decided> = all.iter().filter(|decided| count(decided) > 0).collect();
        let most = places.iter().max_by_key(|decided| (decided.at_least, count(decided)))?;
        let place = or_unknown(location(document.place(most.site)));
        Some((
            places.iter().map(|decided| count(decided)).sum(),
            format!("{place}{}", and_more(places.len())),
        ))
    };
    let at_least = if all.iter().any(|decided| decided.at_least) { "at least " } else { "" };
    let taken = told(|decided| decided.count).map(|(total, places)| {
        let comparisons = count(total, "comparison");
        let text = format!(
            "{at_least}{comparisons} of shadowed values, at {places}: derivatives are those of the way taken"
        );
        ("branches", text)
    });
    let equal = told(|decided| decided.equal).map(|(total, places)| {
        let text =
            format!("{} of them came out equal, at {places}: elsewhere another way is taken", number(total));
        ("equal", text)
    });
    taken.into_iter().chain(equal).collect()
}

/// Number of shadowed values that became whole numbers.
fn roundings(document: &Document<'_>) -> Option<String> {
    let all = &document.report.coverage.roundings;
    let (values, places) =
        numbered(document, all.iter().map(|rounded| (rounded.count, rounded.site)), "shadowed value")?;
    Some(format!("{values} rounded to whole numbers, at {places}: these are constant, with derivative 0"))
}

/// Seeds that were overwritten before they were read, input by input.
fn overwritten(document: &Document<'_>) -> Option<String> {
    let inputs = document.report.coverage.overwritten.iter().map(|seeds| {
        let of = if seeds.floats < seeds.of { format!(" of {}", number(seeds.of)) } else { String::new() };
        let place =
            location(document.place(seeds.site)).map_or(String::new(), |place| format!(" at {place}"));
        let least = if seeds.at_least && seeds.floats < seeds.of { "at least " } else { "" };
        format!("{} ({least}{}{of}{place})", document.input(seeds.input), count(seeds.floats, "float"))
    });
    let inputs: Vec<String> = inputs.collect();
    (!inputs.is_empty()).then(|| format!("overwritten before they were read: {}", inputs.join(", ")))
}

/// Calls of run-time systems that were not looked at.
fn left_out(document: &Document<'_>) -> Option<String> {
    let all = document.report.coverage.left_out.iter();
    let all: Vec<String> =
        all.map(|left| format!("{} ({})", left.reason, count(left.calls, "call"))).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Coverage, by name: operations watched, and those that were not.
pub(crate) fn coverage(document: &Document<'_>) -> Vec<(&'static str, String)> {
    let coverage = &document.report.coverage;
    let mut wrapped: Vec<_> = coverage.wrapped.iter().filter(|wrapped| wrapped.calls > 0).collect();
    wrapped.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.function.cmp(&b.function)));
    let called = |wrapped: &&Wrapped| format!("{} ({})", wrapped.function, count(wrapped.calls, "call"));
    let functions: Vec<String> = wrapped.iter().map(called).collect();
    let operations = coverage.operations.map(|number| count(number, "operation"));
    let instructions = coverage.instructions.map(|number| count(number, "instruction"));
    let shadowed = match (operations, instructions) {
        (Some(operations), Some(instructions)) => format!("{operations} by {instructions}"),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => "nothing".to_owned(),
    };
    let mut facts = vec![("shadowed", shadowed)];
    if !functions.is_empty() {
        facts.push(("functions", format!("taken as one operation: {}", functions.join(", "))));
    }
    facts.extend(left_out(document).map(|text| ("left out", text)));
    let is_found = |output: &Output<'_>| output.kind == OutputKind::Value;
    let found = document.report.outputs.iter().filter(|(_, output)| is_found(output)).count();
    if found > 0 {
        let text = "found in what the program has written: it makes text of floats by code that is not known";
        facts.push(("by value", format!("{}, {text}", count(found as u64, "output"))));
    }
    if !coverage.unwatched.is_empty() {
        facts.push(("not seen", coverage.unwatched.join("; ")));
    }
    facts.extend(document.report.answers.as_ref().map(|answers| ("tape", tape(&answers.tape))));
    facts.extend(decisions(document));
    facts.extend(roundings(document).map(|text| ("roundings", text)));
    let dropped: u64 = coverage.gaps.iter().map(|gap| gap.count).sum();
    facts.push(match dropped {
        0 => ("gaps", "none: every shadowed value was followed".to_owned()),
        1 => ("gaps", "1 value lost its shadow in this instruction".to_owned()),
        _ => ("gaps", format!("{} lost their shadow in these instructions", count(dropped, "value"))),
    });
    facts.extend(unwritten(document).map(|text| ("text", text)));
    facts.extend(overwritten(document).map(|text| ("seeds", text)));
    facts.extend(unjudged(document).map(|text| ("not judged", text)));
    facts.extend(exhausted(document).map(|text| ("precision", text)));
    facts.extend(unexplained(coverage.unexplained).map(|text| ("causes", text)));
    facts.extend(second_run(document));
    facts
}

/// Size of a record, and the time that it took.
fn tape(tape: &Tape) -> String {
    let megabytes = tape.bytes as f64 / 1e6;
    let each = tape.bytes as f64 / tape.statements.max(1) as f64;
    let Tape { record_s, sweep_s, .. } = tape;
    format!(
        "{megabytes:.1} MB, {each:.0} bytes per operation; recorded in {record_s:.2} s, swept in {sweep_s:.2} s"
    )
}
