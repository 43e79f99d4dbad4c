//! Values of options, as they are typed.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use shadowgrind_core::findings::Listed;
use shadowgrind_dbi::ShadowKind;
use shadowgrind_reports::verdict::Concern;
use std::path::PathBuf;

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum FailOn {
    Output,
    Decision,
    Nan,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum Isa {
    Native,
    V4,
    V3,
    V2,
}

impl FailOn {
    pub(super) fn meant(self) -> Concern {
        match self {
            FailOn::Output => Concern::Output,
            FailOn::Decision => Concern::Decision,
            FailOn::Nan => Concern::Nan,
        }
    }
}

/// The shadows there are, by their names.
pub(super) fn shadows() -> impl TypedValueParser<Value = ShadowKind> {
    let named = |kind: &ShadowKind| PossibleValue::new(kind.name()).help(kind.summary());
    let named = PossibleValuesParser::new(ShadowKind::ALL.iter().map(named));
    named.map(|name| *ShadowKind::ALL.iter().find(|kind| kind.name() == name).expect("one of these"))
}

pub(super) fn listed(text: &str) -> Result<Listed, String> {
    match text {
        "inputs" => Ok(Listed::Inputs),
        "outputs" => Ok(Listed::Outputs),
        _ => Err("expected inputs or outputs".into()),
    }
}

pub(super) fn yes_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("expected yes or no".into()),
    }
}

/// Number of bits of reals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precision {
    /// Always so many; or as many as it takes.
    pub(super) bits: Option<u32>,
}

pub(super) fn precision(text: &str) -> Result<Precision, String> {
    match text.parse() {
        _ if text == "auto" => Ok(Precision { bits: None }),
        Ok(bits @ 64..=16384) => Ok(Precision { bits: Some(bits) }),
        _ => Err("neither auto nor a number from 64 to 16384".to_owned()),
    }
}

/// A number of bytes: `65536`, `512M`, `4G`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: &str = "KMGT";
    let unit = text.chars().last().and_then(|last| UNITS.find(last.to_ascii_uppercase()));
    let digits = if unit.is_some() { &text[..text.len() - 1] } else { text };
    let shift = unit.map_or(0, |unit| 10 * (unit as u32 + 1));
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.ok_or_else(|| "expected a number of bytes, as in 512M or 4G".into())
}

/// A quarter of the machine's memory.
pub(super) fn usual_tape_memory() -> u64 {
    let kilobytes = || -> Option<u64> {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.split_whitespace().next()?.parse().ok()
    };
    kilobytes().map_or(1 << 30, |kilobytes| kilobytes * 256)
}

/// The directory for large temporary files.
pub(super) fn usual_tape_dir() -> PathBuf {
    std::env::var_os("TMPDIR").filter(|dir| !dir.is_empty()).map_or("/var/tmp".into(), PathBuf::from)
}

pub(super) fn bits(text: &str) -> Result<f64, String> {
    let bits = text.parse().ok().filter(|bits| (0.0..=80.0).contains(bits));
    bits.ok_or_else(|| "expected a number from 0 to 80".into())
}
