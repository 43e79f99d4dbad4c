//! Random instruction sequences, natively and under the tool (`shadowgrind_tests::randseq`).
//!
//! By default a few thousand with a fixed seed and some more with a fresh one, which is printed. From the environment:
//!
//!     RANDSEQ_CASES=200000   that many, shared out among the profiles in the proportion of the default
//!     RANDSEQ_SEED=0x1234    with this seed instead of a fresh one
//!     RANDSEQ_CASE=17        only this case, or with `17..20` these cases, of each profile that is not filtered out
//!     RANDSEQ_SURVEY=1       list every case that differs instead of minimising the first
//!     SHADOWGRIND_BIN, SHADOWGRIND_ENGINE_OPTIONS, SHADOWGRIND_SHADOW, SHADOWGRIND_PATIENCE   as in all tests

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host::skipped;
use shadowgrind_tests::randseq::campaign::{Campaign, Summary};
use shadowgrind_tests::randseq::catalog::{Catalog, Isa};
use shadowgrind_tests::randseq::host::Host;
use shadowgrind_tests::randseq::profile::{PROFILES, Profile};
use shadowgrind_tests::randseq::{coverage, survey};
use std::ops::Range;
use std::sync::Arc;

const FIXED_SEED: u64 = 0x0005_eed5_0f0d_1ce5;

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    let catalog = Arc::new(Catalog::new(Host::detect()));
    let mut trials = Vec::new();
    for profile in &PROFILES {
        let (first, second) = (Arc::clone(&catalog), Arc::clone(&catalog));
        trials.push(Trial::test(profile.name, move || under_tool(&first, profile)));
        trials.push(Trial::test(format!("{}/native", profile.name), move || natively(&second, profile)));
    }
    trials.push(Trial::test("coverage", move || every_instruction_is_generated(&catalog)));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn under_tool(catalog: &Catalog, profile: &Profile) -> Result<(), Failed> {
    let Some(campaign) = Campaign::new(catalog, profile) else {
        skipped(profile.name, "this processor lacks its instructions, AVX-512's perhaps");
        return Ok(());
    };
    for (seed, cases) in plan(profile) {
        eprintln!("{}: seed {seed:#x}, cases {cases:?}", profile.name);
        if std::env::var_os("RANDSEQ_SURVEY").is_some() {
            let lines = survey::survey(&campaign, seed, cases);
            if !lines.is_empty() {
                return Err(format!("{} cases differ:\n{}", lines.len(), lines.join("\n")).into());
            }
            continue;
        }
        let Summary { cases, instructions, signals } = campaign.against_tool(seed, cases)?;
        eprintln!("{}: {cases} sequences, {instructions} instructions, {signals} signals", profile.name);
    }
    Ok(())
}

/// Checks that the same comes out natively twice: otherwise it would say nothing about the tool.
fn natively(catalog: &Catalog, profile: &Profile) -> Result<(), Failed> {
    if let Some(campaign) = Campaign::new(catalog, profile) {
        campaign.against_itself(FIXED_SEED, 0..profile.cases / 4)?;
    }
    Ok(())
}

/// Seeds and the cases to run with each.
fn plan(profile: &Profile) -> Vec<(u64, Range<u64>)> {
    let seed = number("RANDSEQ_SEED");
    if let Ok(text) = std::env::var("RANDSEQ_CASE") {
        return vec![(seed.unwrap_or(FIXED_SEED), range(&text))];
    }
    if let Some(total) = number("RANDSEQ_CASES") {
        let all: u64 = PROFILES.iter().map(|p| p.cases).sum();
        return vec![(seed.unwrap_or_else(fresh_seed), 0..(total * profile.cases).div_ceil(all))];
    }
    match seed {
        Some(seed) => vec![(seed, 0..profile.cases)],
        None => vec![(FIXED_SEED, 0..profile.cases), (fresh_seed(), 0..profile.cases / 4)],
    }
}

fn fresh_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    since.as_nanos() as u64 ^ u64::from(std::process::id()) << 40
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(parse(&text).unwrap_or_else(|| panic!("{name}={text:?} is not a number")))
}

fn parse(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn range(text: &str) -> Range<u64> {
    let (from, to) = text.split_once("..").unwrap_or((text, ""));
    let from = parse(from).unwrap_or_else(|| panic!("RANDSEQ_CASE={text:?} is neither a number nor a range"));
    from..parse(to).unwrap_or(from + 1)
}

/// All that is neither denied for a stated reason nor absent from this machine occurs.
fn every_instruction_is_generated(catalog: &Catalog) -> Result<(), Failed> {
    let isa = if catalog.host.has_avx512() { Isa::Avx512 } else { Isa::Avx2 };
    let seen = coverage::generated(catalog, isa, FIXED_SEED, 40_000);
    eprintln!("{}", coverage::statement(catalog, isa, &seen));
    let missing: Vec<_> = catalog.expected(isa).into_iter().filter(|code| !seen.contains(code)).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("never generated: {missing:?}").into()) }
}
