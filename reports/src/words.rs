//! The sentences of a report, the same in every format that people read.

use shadowgrind_core::findings::{
    Confirmed, Decided, Finding, FindingKind, Interval, Listed, Listing, Output, OutputKind, Program, Remedy,
    Report, Spread, Tape, Topic, Value, VariableRange, Witness, Wrapped,
};
use shadowgrind_core::format::Format;
use shadowgrind_core::site::Place;

use crate::brief;
use crate::document::{Document, Section};
use crate::fold::Reach;
use crate::rank::Cause;

/// Places and functions listed before "and so on".
const MOST: usize = 3;

/// A whole number with its thousands apart.
pub(crate) fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 output`, `2,000 outputs`.
pub(crate) fn count(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", number(n), if n == 1 { "" } else { "s" })
}

/// A float, as short as it reads back; large ones with an exponent where that is shorter.
pub(crate) fn float(value: Value) -> String {
    let plain = value.to_string();
    let x = value.to_f64();
    if value.format() == Format::F80 && x.is_finite() && value.is(x) {
        return float(x.into());
    }
    if value.format() == Format::F80 || !x.is_finite() || x.abs() < 1e7 {
        return plain;
    }
    let scientific = if value.format() == Format::F32 { format!("{:e}", x as f32) } else { format!("{x:e}") };
    if scientific.len() < plain.len() { scientific } else { plain }
}

/// Bits and digits, to a tenth.
pub(crate) fn tenth(x: f64) -> String {
    format!("{x:.1}")
}

/// The first few names, and how many more there are.
fn some(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    if more > 0 {
        names.push(format!("{} more", number(more as u64)));
    }
    names.join(", ")
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `file.c:12`, or `prog+0x1f3` where no line is known.
pub(crate) fn location(place: &Place) -> Option<String> {
    match (&place.file, place.line, &place.module, place.offset) {
        (Some(file), Some(line), ..) => Some(format!("{}:{line}", file_name(file))),
        (_, _, Some(module), Some(offset)) => Some(format!("{}+{offset:#x}", file_name(module))),
        _ => None,
    }
}

/// `solve (file.c:12)`; nothing for an output that left at no particular instruction.
pub(crate) fn whereabouts(place: &Place) -> Option<String> {
    let location = location(place)?;
    Some(match &place.function {
        Some(function) => format!("{} ({location})", brief::function(function)),
        None => location,
    })
}

/// A place, known or not.
pub(crate) fn or_unknown(place: Option<String>) -> String {
    place.unwrap_or_else(|| "an unknown place".to_owned())
}

/// Text after the first of so many things, of which the others are not named.
pub(crate) fn and_more(all: usize) -> String {
    if all > 1 { format!(" and {} more", all - 1) } else { String::new() }
}

/// Command that was run.
pub(crate) fn command(program: &Program) -> String {
    let quoted = program.argv.iter().map(|argument| {
        let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%#".contains(c);
        let bare = !argument.is_empty() && argument.chars().all(plain);
        if bare { argument.clone() } else { format!("'{}'", argument.replace('\'', "'\\''")) }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// End of the program.
pub(crate) fn ending(document: &Document<'_>) -> String {
    let program = &document.report.program;
    let end = match (&program.signal, program.exit_code) {
        (Some(signal), _) => format!("killed by {signal}"),
        (None, Some(code)) => format!("exit status {code}"),
        (None, None) => "still running".to_owned(),
    };
    let partial = if document.report.partial { "; this report covers what ran until then" } else { "" };
    let precision = document.report.settings.precision;
    let reals = precision.map_or(String::new(), |bits| format!(", reals of {bits} bits"));
    format!("process {}, {end}{reals}{partial}", program.pid)
}

/// Text in place of an empty list of inputs: advice, unless derivatives came without one.
pub(crate) fn no_inputs(report: &Report) -> &'static str {
    if report.outputs.depend_on_inputs() { SET_BY_PROGRAM } else { NOTHING_SEEDED }
}

const SET_BY_PROGRAM: &str = "No input was named: the program has set derivatives itself.";

/// Advice for a derivative that was asked for with nothing seeded.
const NOTHING_SEEDED: &str = "Nothing was seeded, so every derivative is 0. Name an input: --input=nu for a \
     global variable, --input=a[0..3] for elements, --input=nu@solve where it is set before solve is called, \
     --input=f#1 for a function's first floating-point argument.";

/// Explanation of an empty list of inputs.
pub(crate) const NO_PARSER: &str = "No function that is known for parsing numbers was called with one.";

/// Size of a record, and the time that it took.
fn tape(tape: &Tape) -> String {
    let megabytes = tape.bytes as f64 / 1e6;
    let each = tape.bytes as f64 / tape.statements.max(1) as f64;
    let Tape { record_s, sweep_s, .. } = tape;
    format!(
        "{megabytes:.1} MB, {each:.0} bytes per operation; recorded in {record_s:.2} s, swept in {sweep_s:.2} s"
    )
}

/// Explanation of a report without outputs.
pub(crate) const NO_OUTPUT: &str = "No float left the program in a way that is watched. Known are C's printf and its \
     kin, C++'s streams and to_chars, Fortran's write, and the formatting of Python, numpy, Rust, Go, PHP and V8; \
     others are found by their values where these are written. --output=SPEC names other floats.";

/// The result of the run in one sentence.
pub(crate) fn verdict(document: &Document<'_>) -> String {
    let verdict = &document.verdict;
    let problems = verdict.problems();
    let causes = document.causes_in(Section::Causes).count() as u64;
    let found = if causes > 0 { format!("; {} found", count(causes, "cause")) } else { String::new() };
    if !problems.is_empty() {
        return sentence(&format!("{}{found}.", problems.join(", ")));
    }
    if let Some(reason) = verdict.keeps_from_clean() {
        return match verdict.outputs {
            0 => sentence(&format!("{reason}{found}.")),
            _ => format!("Not clean, though no error was found: {reason}."),
        };
    }
    let outputs = count(verdict.outputs, "output");
    let operations =
        verdict.operations.map_or(String::new(), |n| format!("; {} followed", count(n, "operation")));
    let worst = document.outputs.worst().map_or(0.0, |worst| worst.bits());
    let threshold = document.report.settings.error_threshold.unwrap_or(f64::INFINITY);
    match worst {
        0.0 => format!("Clean: {outputs}, exact to the last digit{operations}."),
        worst if worst > threshold => {
            let off = number_of_bits(worst);
            format!("Clean: {outputs}, every printed digit right, {off} off at most{operations}.")
        }
        _ => format!("Clean: {outputs}, none more than {} off{operations}.", number_of_bits(worst)),
    }
}

/// Words as a sentence.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn number_of_bits(bits: f64) -> String {
    format!("{} bits", tenth(bits))
}

/// Title of a list of numbers, and what is said if it is empty.
pub(crate) fn listed(listing: &Listing) -> (String, &'static str) {
    let numbers = count(listing.entries.len() as u64, "number");
    match listing.listed {
        Listed::Inputs => (format!("{numbers} parsed"), NO_PARSER),
        Listed::Outputs => (format!("{numbers} printed"), NO_OUTPUT),
    }
}

/// The headline of a section.
pub(crate) fn section(section: Section) -> &'static str {
    match section {
        Section::Causes => "Causes",
        Section::Decisions => "Decisions",
        Section::Unsettled => "Unsettled decisions",
        Section::Special => "NaN and infinities",
        Section::Refuted => "Refuted by the second run",
        Section::Hidden => "Without consequence",
    }
}

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

fn kind(kind: FindingKind) -> &'static str {
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

fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if percent < 0.5 => "less than 1 %".to_owned(),
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

/// Statement that the reals were not precise enough.
fn exhausted(document: &Document<'_>) -> Option<String> {
    let all = &document.report.coverage.exhausted;
    let most = all.iter().max_by_key(|exhausted| exhausted.count)?;
    let place = or_unknown(location(document.place(most.site)));
    let results = count(all.iter().map(|exhausted| exhausted.count).sum(), "result");
    Some(format!(
        "too low to tell {results} from zero, of {} at {place}{}: try a higher --precision",
        most.operation,
        and_more(all.len())
    ))
}

/// Statement that errors of so many outputs were not followed to their causes.
fn unexplained(outputs: u64) -> Option<String> {
    let outputs = (outputs > 0).then(|| count(outputs, "wrong output"))?;
    Some(format!("{outputs} could not be traced to what made it wrong: --shadow=mpfr can"))
}

/// Numbers of comparisons of shadowed values, and of those that were asked for equality and found it.
fn decisions(document: &Document<'_>) -> Vec<(&'static str, String)> {
    let all = &document.report.coverage.decisions;
    let told = |count: fn(&Decided) -> u64| {
        let places: Vec<&Decided> = all.iter().filter(|decided| count(decided) > 0).collect();
        let most = places.iter().max_by_key(|decided| count(decided))?;
        let place = or_unknown(location(document.place(most.site)));
        Some((
            places.iter().map(|decided| count(decided)).sum(),
            format!("{place}{}", and_more(places.len())),
        ))
    };
    let taken = told(|decided| decided.count).map(|(total, places)| {
        let comparisons = count(total, "comparison");
        let text =
            format!("{comparisons} of shadowed values, at {places}: derivatives are those of the way taken");
        ("branches", text)
    });
    let equal = told(|decided| decided.equal).map(|(total, places)| {
        let text =
            format!("{} of them came out equal, at {places}: elsewhere another way is taken", number(total));
        ("equal", text)
    });
    taken.into_iter().chain(equal).collect()
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
    let dropped: u64 = coverage.gaps.iter().map(|gap| gap.count).sum();
    facts.push(match coverage.gaps.len() {
        0 => ("gaps", "none: every shadowed value was followed".to_owned()),
        _ => ("gaps", format!("{} lost their shadow in these instructions", count(dropped, "value"))),
    });
    facts.extend(overwritten(document).map(|text| ("seeds", text)));
    facts.extend(exhausted(document).map(|text| ("precision", text)));
    facts.extend(unexplained(coverage.unexplained).map(|text| ("causes", text)));
    facts.extend(second_run(document));
    facts
}
