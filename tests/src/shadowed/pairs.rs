//! The lines `name value derivative` of the derivative guests, and their comparison with what the tool reports.
//!
//! The derivative on a line is a closed form that the guest computes beside the value. `name~F` allows F times the
//! usual error, `name^` has no difference quotient.

use super::report::{Output, Report};
use std::fmt::Write;

/// A line of a guest.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The name of the number, without its suffixes.
    pub name: String,
    /// Multiple of the usual error that it may have.
    pub factor: f64,
    /// True if it can be checked by differences.
    pub smooth: bool,
    /// The value.
    pub value: f64,
    /// The derivative that it must have.
    pub derivative: f64,
}

/// All lines of a guest's output.
pub fn parse(stdout: &[u8]) -> Result<Vec<Pair>, String> {
    let text = String::from_utf8_lossy(stdout);
    let pairs: Vec<Pair> = text.lines().map(pair).collect::<Result<_, _>>()?;
    if pairs.is_empty() { Err("the guest prints nothing".into()) } else { Ok(pairs) }
}

fn pair(line: &str) -> Result<Pair, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, value, derivative] = words[..] else { return Err(format!("not a pair: {line:?}")) };
    let number = |word: &str| word.parse::<f64>().map_err(|e| format!("{line:?}: {e}"));
    let (name, smooth) = match name.split_once('^') {
        Some((before, after)) => (format!("{before}{after}"), false),
        None => (name.to_owned(), true),
    };
    let (name, factor) = match name.split_once('~') {
        Some((name, factor)) => (name.to_owned(), number(factor)?),
        None => (name, 1.0),
    };
    Ok(Pair { name, factor, smooth, value: number(value)?, derivative: number(derivative)? })
}

/// Compares the derivatives that the tool reports with the closed forms; `None` if all are within `tolerance`,
/// relative. A line is two outputs, in this order: the value, and the derivative it must have.
pub fn disagreements(pairs: &[Pair], report: &Report, tolerance: f64) -> Option<String> {
    let wrong = match wrong(pairs, report, tolerance) {
        Ok(wrong) => wrong,
        Err(text) => return Some(text),
    };
    let mut text = String::new();
    for (Pair { name, value, derivative, .. }, dot) in wrong.iter().take(12) {
        writeln!(text, "{name}: value {value}, dot {dot:e}, must be {derivative:e}").ok();
    }
    (!wrong.is_empty()).then(|| format!("{} of {} wrong\n{text}", wrong.len(), pairs.len()))
}

/// The pairs whose derivative in the report is not within `tolerance`, relative, of the closed form, each with that.
pub fn wrong<'a>(pairs: &'a [Pair], report: &Report, tolerance: f64) -> Result<Vec<(&'a Pair, f64)>, String> {
    let numbers: Vec<f64> = pairs.iter().flat_map(|pair| [pair.value, pair.derivative]).collect();
    let outputs = aligned(&numbers, report)?;
    let each = pairs.iter().zip(outputs.iter().step_by(2));
    let each = each.map(|(pair, output)| (pair, output.dot.unwrap_or(f64::NAN)));
    let is_right = |pair: &Pair, dot: f64| {
        (dot - pair.derivative).abs() <= tolerance * pair.factor * pair.derivative.abs()
    };
    Ok(each.filter(|&(pair, dot)| !is_right(pair, dot)).collect())
}

/// The outputs that are these printed numbers. A library may format numbers of its own in between: those are passed
/// over, but every printed number must be there, in order.
pub fn aligned<'a>(numbers: &[f64], report: &'a Report) -> Result<Vec<&'a Output>, String> {
    let mut rest = report.outputs.iter();
    let find = |(index, number): (usize, &f64)| {
        let found = rest.by_ref().find(|output| same_value(output.printed.unwrap_or(output.value), *number));
        found.ok_or_else(|| {
            format!("printed number {index}, {number}, is not among the outputs after those before it")
        })
    };
    numbers.iter().enumerate().map(find).collect()
}

/// Printed values of long doubles are read as doubles twice: the last digit may differ.
fn same_value(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 4e-16 * b.abs() || (a.is_nan() && b.is_nan())
}

/// Compares closed forms with central differences of three native runs, at −h, 0 and h; `None` if all agree within
/// `tolerance`, relative.
pub fn difference_quotients(at: [&[Pair]; 3], h: f64, tolerance: f64) -> Option<String> {
    let mut text = String::new();
    for ((before, here), after) in at[0].iter().zip(at[1]).zip(at[2]) {
        let quotient = (after.value - before.value) / (2.0 * h);
        let allowed = tolerance * here.derivative.abs().max(1e-2);
        let far = (quotient - here.derivative).abs();
        if here.smooth && (far > allowed || far.is_nan()) {
            let Pair { name, value, derivative, .. } = here;
            writeln!(text, "{name}: value {value}, derivative {derivative}, difference quotient {quotient}")
                .ok();
        }
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_read() {
        let read = parse(b"tan~4 1.5 -2\nround^~2 3 0\nadd 1 1\n").expect("well formed");
        assert_eq!((read[0].name.as_str(), read[0].factor, read[0].smooth), ("tan", 4.0, true));
        assert_eq!((read[1].name.as_str(), read[1].factor, read[1].smooth), ("round", 2.0, false));
        assert_eq!((read[2].value, read[2].derivative), (1.0, 1.0));
        assert!(parse(b"what is this line\n").is_err());
        assert!(parse(b"").is_err());
    }

    #[test]
    fn wrong_derivatives_are_seen() {
        let report = |dot: &str| {
            let outputs =
                format!(r#"[{{"kind":"printf","value":4,"dot":{dot}}},{{"kind":"printf","value":3}}]"#);
            let text = format!(r#"{{"schema":"shadowgrind-report/1","outputs":{outputs},"findings":[]}}"#);
            Report::parse(text.as_bytes()).expect("valid")
        };
        let pairs = parse(b"x 4 3\n").expect("well formed");
        assert_eq!(disagreements(&pairs, &report("3"), 1e-14), None);
        for wrong in ["3.001", "0", "\"NaN\"", "null"] {
            assert!(disagreements(&pairs, &report(wrong), 1e-14).is_some(), "{wrong}");
        }
    }
}
