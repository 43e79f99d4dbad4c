//! The report of a second run, held against that of the first: each finding is confirmed, refuted, or neither.
//!
//! A finding of the second run is about the same as one of the first if both are errors, decisions or births of NaN, and are of
//! the same instruction or the same line. What has no such finding is refuted only if the second run could not but have seen
//! it: if it took the same course, lost no shadow on the way, and its reals were precise enough. Knows nothing of how a
//! program is run again.

use serde::Deserialize;
use serde::de::IgnoredAny;
use shadowgrind_core::findings::{
    Confirmation, Confirmed, Finding, FindingKind, Judgement, Missed, OutputShadow, Program, Report, Topic,
};
use shadowgrind_core::site::{Place, Site};

use crate::document::{self, Symbols};

/// Report of a second run, as far as it is compared.
#[derive(Debug, Deserialize)]
pub struct SecondReport {
    program: Program,
    verdict: Verdict,
    findings: Vec<Found>,
    coverage: Coverage,
}

#[derive(Debug, Deserialize)]
struct Verdict {
    clean: bool,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Found {
    kind: FindingKind,
    operation: String,
    site: Place,
    count: u64,
    outputs: Vec<u64>,
    #[serde(default)]
    stack: Vec<Place>,
}

#[derive(Debug, Deserialize)]
struct Coverage {
    gaps: Vec<IgnoredAny>,
    #[serde(default)]
    exhausted: Vec<IgnoredAny>,
    #[serde(default)]
    unjudged: Vec<IgnoredAny>,
}

/// Facts about a second run that are not in its report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circumstances {
    /// Name of its shadow.
    pub shadow: &'static str,
    /// Processor time of both runs, in seconds.
    pub seconds: [f64; 2],
    /// True if both wrote the same; nothing where that is not known.
    pub same_output: Option<bool>,
}

/// Tells whether there is anything in a report that a second run may confirm or refute.
pub fn is_wanted(report: &Report) -> bool {
    let is_right = |said| match said {
        OutputShadow::Error { judgement, .. } => judgement == Judgement::Right,
        OutputShadow::Nothing | OutputShadow::Dot(_) => true,
    };
    !report.findings.is_empty() || report.outputs.iter().any(|(_, output)| !is_right(output.said))
}

impl SecondReport {
    /// Reads the JSON report of a run; the error says in what way it is none.
    pub fn read(text: &[u8]) -> Result<SecondReport, String> {
        serde_json::from_slice(text).map_err(|error| error.to_string())
    }

    /// Marks each finding of the first run's `report`, and notes the comparison there.
    pub fn confirm(&self, report: &mut Report, symbols: &mut dyn Symbols, circumstances: Circumstances) {
        let Circumstances { shadow, seconds: [first_s, second_s], same_output } = circumstances;
        let (own, first) = (&self.program, &report.program);
        let same_end = (own.exit_code, &own.signal) == (first.exit_code, &first.signal);
        let mut confirmation = Confirmation {
            shadow: shadow.to_owned(),
            first_s,
            second_s,
            same_output,
            same_end,
            clean: self.verdict.clean,
            verdict: self.verdict.text.clone(),
            missed: Vec::new(),
        };
        let sees_all = self.coverage.gaps.is_empty()
            && self.coverage.exhausted.is_empty()
            && self.coverage.unjudged.is_empty()
            && confirmation.is_of_the_same();
        let places: Vec<Known> =
            report.findings.iter().map(|finding| Known::of(report, finding.site, symbols)).collect();
        for (finding, known) in report.findings.iter_mut().zip(&places) {
            finding.confirmed = Some(self.word_on(finding.kind, known, sees_all));
        }
        let has = |found: &Found| {
            let mut all = report.findings.iter().zip(&places);
            all.any(|(finding, known)| is_about(found, finding, known))
        };
        let missed = self.findings.iter().filter(|found| found.matters() && !has(found));
        confirmation.missed = missed.map(Found::missed).collect();
        report.confirmation = Some(confirmation);
    }

    fn word_on(&self, kind: FindingKind, known: &Known, sees_all: bool) -> Confirmed {
        let alike = |found: &&Found| found.kind.topic() == kind.topic() && known.is_at(found);
        let found: Vec<&Found> = self.findings.iter().filter(alike).collect();
        match () {
            () if found.iter().any(|found| found.is_settled()) => Confirmed::Confirmed,
            () if found.is_empty() && sees_all => Confirmed::Refuted,
            () => Confirmed::Unsettled,
        }
    }
}

fn is_about(found: &Found, finding: &Finding, known: &Known) -> bool {
    found.kind.topic() == finding.kind.topic() && known.is_at(found)
}

impl Found {
    /// Tells whether it is more than a decision that could not be told.
    fn is_settled(&self) -> bool {
        self.kind.topic() != Topic::Decision || self.count > 0
    }

    /// Tells whether anything came of it that a user sees.
    fn matters(&self) -> bool {
        self.is_settled() && (self.kind.topic() != Topic::Error || !self.outputs.is_empty())
    }

    /// The line of the script that ran, if one did.
    fn script(&self) -> Option<&Place> {
        self.stack.iter().find(|place| place.module.is_none())
    }

    fn missed(&self) -> Missed {
        let place = self.script().unwrap_or(&self.site).clone();
        Missed { kind: self.kind, operation: self.operation.clone(), place }
    }
}

/// Place of a finding of the first run.
struct Known {
    place: Place,
    script: Option<Place>,
}

impl Known {
    fn of(report: &Report, site: Site, symbols: &mut dyn Symbols) -> Known {
        let place = document::place(&report.sites, symbols, site);
        Known { place, script: report.script_line(site).map(Place::from) }
    }

    fn is_at(&self, found: &Found) -> bool {
        match (&self.script, found.script()) {
            (Some(own), Some(script)) => is_line(own, script),
            _ => is_instruction(&self.place, &found.site) || is_line(&self.place, &found.site),
        }
    }
}

fn is_instruction(a: &Place, b: &Place) -> bool {
    a.module.is_some() && a.offset.is_some() && (&a.module, a.offset) == (&b.module, b.offset)
}

fn is_line(a: &Place, b: &Place) -> bool {
    a.file.is_some() && a.line.is_some() && (&a.file, a.line) == (&b.file, b.line)
}
