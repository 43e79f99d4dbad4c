//! Gaps that a report has, of a guest of one file.

use super::build::Recipe;
use super::observe::{Case, Observed};
use crate::host;
use serde_json::Value;

/// Shadows that are derivatives, with options of the tool: that in place in each [binding](host::bindings), and a tape.
pub fn derivatives() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    host::bindings().map(|options| ("dot", options)).chain([("adjoint", &[][..])])
}

/// The guest, run both ways; `None`, with a word of why, where it cannot be.
pub fn observe(
    shadow: &'static str,
    name: &str,
    flags: &str,
    need: &str,
    options: &[&str],
) -> Option<Observed> {
    if host::lacks(name, &[need]) {
        return None;
    }
    let source = host::tests_dir().join("guests/dot").join(name);
    let Some(exe) = Recipe::new("gcc", flags, &source, "-lm").build().unwrap_or_else(|e| panic!("{e}"))
    else {
        host::skipped(name, "gcc is not installed");
        return None;
    };
    let input: &[&str] = if matches!(shadow, "dot" | "adjoint") { &["--input=x"] } else { &[] };
    let options = [input, options].concat();
    Some(Case::new(shadow, &options, &exe).observe().unwrap_or_else(|e| panic!("{e}")))
}

/// The gaps: what is named, and how often that lost a shadow. Each has a place.
pub fn gaps(seen: &Observed) -> Vec<(String, u64)> {
    let gaps = seen.report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
    let gap = |gap: &Value| {
        let name = gap["instruction"].as_str().expect("a name").to_owned();
        assert!(gap["site"]["offset"].is_u64(), "{gap}");
        (name, gap["count"].as_u64().expect("a count"))
    };
    gaps.iter().map(gap).collect()
}

/// Numbers of gaps in functions of a guest.
pub fn counted(seen: &Observed, function: &str) -> u64 {
    let gaps = seen.report.document["coverage"]["gaps"].as_array().cloned().unwrap_or_default();
    let here = gaps.iter().filter(|gap| gap["site"]["function"] == function);
    here.filter_map(|gap| gap["count"].as_u64()).sum()
}
