//! Sentences about a cause: its headline, and the facts that stand below it.

use shadowgrind_core::findings::{
    Confirmed, Finding, FindingKind, Interval, OutputKind, Remedy, Spread, Topic, VariableRange, Witness,
};
use shadowgrind_core::site::Place;

use super::{count, float, location, number, number_of_bits, or_unknown, some, tenth, whereabouts};
use crate::brief;
use crate::document::Document;
use crate::fold::Reach;
use crate::rank::Cause;

/// A cause in a few words.
pub(crate) fn title(cause: &Cause) -> String {
    format!("{} ({})", kind(cause.finding.kind), cause.finding.operation)
}

/// A cause and where it is: what stands above all else there is to say about it.
pub(crate) fn headline(cause: &Cause) -> String {
    let finding = &cause.finding;
    let known = cause.known_place();
    let place = || or_unknown(location(known));
    match finding.kind.topic() {
        Topic::Error => format!("{} in {}", title(cause), or_unknown(whereabouts(known))),
        Topic::Decision => {
            let what = finding.expression.clone().unwrap_or_else(|| title(cause));
            let (how, often) = match finding.count {
                0 => ("unsettled", finding.unsettled),
                flips => ("decided otherwise", flips),
            };
            format!("{}  {what}  {how} {}", place(), times(often, finding.executions))
        }
        Topic::Special => {
            let what = finding
                .witness
                .as_ref()
                .map_or_else(|| title(cause), |one| execution(&finding.operation, one));
            format!("{}  {what}  {}", place(), times(finding.count, finding.executions))
        }
    }
}

/// `3 of 11 times`, or `3 times`.
fn times(n: u64, of: Option<u64>) -> String {
    match of.filter(|&of| of >= n) {
        Some(of) => format!("{} of {}", number(n), count(of, "time")),
        None => count(n, "time"),
    }
}

/// `sqrt(-1.0) = NaN`.
fn execution(operation: &str, one: &Witness) -> String {
    let operands: Vec<String> = one.operands.iter().map(|&operand| float(operand)).collect();
    let sign = match operation {
        "add" => "+",
        "sub" => "-",
        "mul" => "*",
        "div" => "/",
        _ => return format!("{operation}({}) = {}", operands.join(", "), float(one.result)),
    };
    format!("{} = {}", operands.join(&format!(" {sign} ")), float(one.result))
}

/// A kind of finding in a word or two.
pub(super) fn kind(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Cancellation => "cancellation",
        FindingKind::Absorption => "absorption",
        FindingKind::Accumulation => "accumulation",
        FindingKind::Conditioning => "conditioning",
        FindingKind::Rounding => "rounding",
        FindingKind::Overflow => "overflow",
        FindingKind::Underflow => "underflow",
        FindingKind::Invalid => "invalid operation",
        FindingKind::Branch => "decision",
        FindingKind::Conversion => "conversion",
    }
}

/// Facts about a cause, by name: all of them (`verbose`), or what matters.
pub(crate) fn facts(document: &Document<'_>, index: usize, verbose: bool) -> Vec<(&'static str, String)> {
    let cause = &document.causes[index];
    let finding = &cause.finding;
    let mut facts = Vec::new();
    let mut say = |name, text: Option<String>| facts.extend(text.map(|text| (name, text)));
    let topic = finding.kind.topic();
    let (is_error, decides) = (topic == Topic::Error, topic == Topic::Decision);
    say("in", cause.known_place().function.as_deref().map(brief::function).filter(|_| !is_error));
    say("inlined", inlined(&cause.place));
    say("called", called(document, cause));
    say("runs", cause.script.as_ref().and_then(|_| whereabouts(&cause.place)));
    let root = cause.cause.map(|root| &document.causes[root]);
    say("cause", root.filter(|_| !is_error).map(|root| format!("{}. {}", root.rank, headline(root))));
    let is_said = |expression: &String| decides || headline(cause).contains(&format!("  {expression} ="));
    say("expression", finding.expression.clone().filter(|expression| !is_said(expression)));
    say("introduces", finding.local_error_bits.filter(is_any).map(spread));
    let off = if decides { "operands" } else { "result" };
    say(off, finding.error_bits.filter(is_any).map(|bits| format!("off by {}", spread(bits))));
    let left = (decides && finding.count > 0 && finding.unsettled > 0).then_some(finding.unsettled);
    say("unsettled", left.map(|more| format!("{more} more: too close for the reals to tell")));
    say("happens", is_error.then(|| format!("{}{}", count(finding.count, "time"), share(finding))));
    let is_telling = !decides && (cause.symptoms.is_empty() || !document.reached(index).is_empty());
    let reached = || reaches(document, document.reached(index)).map(|text| text + &mean_share(finding));
    say("reaches", is_telling.then(reached).flatten());
    say("goes wrong", ranges(&finding.ranges, verbose));
    let symptoms = document.symptoms(cause).map(symptom_of);
    say("leads to", Some(some(symptoms.collect())).filter(|text| !text.is_empty()));
    say("try", finding.remedies.first().map(remedy));
    say("second run", finding.confirmed.map(|word| second_run_on(word).to_owned()));
    say("note", finding.hint.clone());
    facts
}

/// Word of the second run on a finding.
fn second_run_on(word: Confirmed) -> &'static str {
    match word {
        Confirmed::Confirmed => "confirms it",
        Confirmed::Unsettled => "cannot tell",
        Confirmed::Refuted => "has nothing of the kind here: not counted",
    }
}

/// A better way, and its proof: `1.0 / (sqrt(x + 1.0) + sqrt(x)): 50.5 → 0.4 bits on 200 recorded inputs`.
fn remedy(remedy: &Remedy) -> String {
    let Remedy { expression, bits_before, bits_after, samples, .. } = remedy;
    let inputs = count(*samples as u64, "recorded input");
    format!("{expression}: {} → {} on {inputs}", tenth(*bits_before), number_of_bits(*bits_after))
}

/// Lines of a script that led to a cause, which is in another; or the callers of a library, as far as the code of another file.
fn called(document: &Document<'_>, cause: &Cause) -> Option<String> {
    const SHOWN: usize = 3;
    let callers: Vec<&Place> = document.callers(cause).collect();
    let is_script = |place: &&&Place| place.module.is_none();
    let mut shown: Vec<&Place> = callers.iter().filter(is_script).skip(1).take(SHOWN).copied().collect();
    if cause.script.is_none() {
        let own = &cause.place.module;
        shown.push(callers.iter().find(|place| place.module != *own)?);
    }
    let names: Vec<String> = shown.into_iter().filter_map(whereabouts).collect();
    (!names.is_empty()).then(|| format!("at {}", names.join(", in ")))
}

fn inlined(place: &Place) -> Option<String> {
    let callers = place.inlined_by.iter().map(|frame| {
        let caller = Place {
            function: frame.function.clone(),
            file: frame.file.clone(),
            line: frame.line,
            ..Place::default()
        };
        whereabouts(&caller)
            .or(caller.function.as_deref().map(brief::function))
            .unwrap_or_else(|| "an unknown caller".to_owned())
    });
    let callers: Vec<String> = callers.collect();
    (!callers.is_empty()).then(|| format!("into {}", callers.join(", in ")))
}

/// Tells whether bits of error are more than reads as none.
fn is_any(bits: &Spread) -> bool {
    bits.max >= 0.05
}

fn spread(bits: Spread) -> String {
    if tenth(bits.mean) == tenth(bits.max) {
        return number_of_bits(bits.max);
    }
    format!("{} on average, {} at most", number_of_bits(bits.mean), tenth(bits.max))
}

/// Share of the error of what was made wrong, where no outputs are named beside it.
fn share(finding: &Finding) -> String {
    let share = finding.share.filter(|_| finding.shares.mean().is_none());
    share.map_or(String::new(), |share| format!(", {} of the error there", percent(share)))
}

/// Mean size of the shares in the errors of outputs.
fn mean_share(finding: &Finding) -> String {
    let several = finding.outputs.len() > 1;
    let of = if several { "of their errors on average" } else { "of its error" };
    finding.shares.mean().map_or(String::new(), |share| format!("; {} {of}", percent(share)))
}

/// A share for people: how many times the whole it is where others cancel most of it says nothing.
fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent < 0.5 => "less than 1 %".to_owned(),
        percent if percent > 200.0 => "more than 200 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

fn reaches(document: &Document<'_>, reached: &[Reach]) -> Option<String> {
    let digits = reached.iter().filter_map(|reach| reach.digits).reduce(f64::min);
    let places = reached.iter().map(|reach| {
        let series = &document.outputs.series[reach.series];
        let is_named = matches!(series.kind, OutputKind::Spec | OutputKind::Mark);
        let label = document.report.outputs.label_text(series.label).filter(|_| is_named).map(str::to_owned);
        let place = label.or_else(|| whereabouts(document.place(series.site)));
        let of =
            if series.count > reach.count { format!(" of {}", number(series.count)) } else { String::new() };
        let noun = if series.count == 1 { "output" } else { "outputs" };
        format!("{}{of} {noun} of {}", number(reach.count), or_unknown(place))
    });
    let places: Vec<String> = places.collect();
    if places.is_empty() {
        let is_known = document.report.coverage.unexplained == 0;
        return Some(if is_known { "no output" } else { "no output that could be traced" }.to_owned());
    }
    let left =
        digits.map_or(String::new(), |digits| format!("; {} correct digits left at worst", tenth(digits)));
    Some(format!("{}{left}", some(places)))
}

/// Ranges of the first few variables of an expression, or of all.
fn ranges(ranges: &[VariableRange], all: bool) -> Option<String> {
    const SHOWN: usize = 3;
    let mut texts: Vec<String> = ranges.iter().filter_map(range).collect();
    let more = texts.len().saturating_sub(SHOWN);
    if more > 0 && !all {
        texts.truncate(SHOWN);
        texts.push(format!("{} (-v shows them)", count(more as u64, "more variable")));
    }
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// `b in 1e8…1e9 (seen in 1…1e9), worst at 7.3e8`.
fn range(range: &VariableRange) -> Option<String> {
    let wrong = intervals(&range.erroneous)?;
    let all = intervals(&range.all).filter(|all| *all != wrong);
    let seen = all.map_or(String::new(), |all| format!(" (seen in {all})"));
    let worst = range.worst.map_or(String::new(), |worst| format!(", worst at {}", float(worst.into())));
    Some(format!("{} in {wrong}{seen}{worst}", range.variable))
}

fn intervals(intervals: &[Interval]) -> Option<String> {
    let texts: Vec<String> = intervals
        .iter()
        .map(|Interval { min, max }| match min == max {
            true => float((*min).into()),
            false => format!("{}…{}", float((*min).into()), float((*max).into())),
        })
        .collect();
    (!texts.is_empty()).then(|| texts.join(" or "))
}

fn symptom_of(cause: &Cause) -> String {
    let place = or_unknown(location(cause.known_place()));
    format!("{} at {place}, {}", title(cause), count(cause.finding.count, "time"))
}
