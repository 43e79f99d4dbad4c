//! Runs many cases of a profile both ways and, at the first difference, finds out what it takes.

use super::catalog::{Catalog, Isa};
use super::compare::{self, Difference};
use super::execute::{Batch, How, Ran, Runner};
use super::op::{Assembled, Case};
use super::profile::Profile;
use super::wire::{self, BATCH, CASE_ROOM};
use super::{minimise, report, sequence};
use crate::outcome::End;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Runs of the tool that minimising one case may take, and the time: a case that hangs takes long to try.
const BUDGET: usize = 150;
const TIME: Duration = Duration::from_secs(180);

#[derive(Clone, Debug)]
pub struct Campaign {
    catalog: Catalog,
    profile: Profile,
    runner: Runner,
}

/// Summary of a successful campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub cases: u64,
    pub instructions: u64,
    pub signals: u64,
}

/// Reason why a batch is not as it should be.
#[derive(Clone, Debug)]
struct Finding {
    /// Position in the batch.
    at: usize,
    what: Vec<Difference>,
    note: String,
}

/// Generates a case and makes it fit its room.
pub fn build(catalog: &Catalog, profile: &Profile, seed: u64, index: u64) -> (Case, Assembled) {
    let addr = wire::case_address(profile, seed, index);
    let mut case = sequence::case(catalog, profile, seed, index, addr);
    loop {
        let code = case.assemble().unwrap_or_else(|e| panic!("seed {seed:#x}, case {index}: {e}"));
        if code.bytes.len() as u64 <= CASE_ROOM {
            return (case, code);
        }
        let last = case.ops.iter().map(|op| op.item).max().expect("something is too long");
        case.ops.retain(|op| op.item != last);
    }
}

impl Campaign {
    /// `None` if this machine cannot run the profile.
    pub fn new(catalog: &Catalog, profile: &Profile) -> Option<Campaign> {
        let possible = match profile.isa {
            Isa::Sse => true,
            Isa::Avx2 => catalog.host.has_avx2(),
            Isa::Avx512 => catalog.host.has_avx512(),
        };
        possible.then(|| Campaign {
            catalog: catalog.clone(),
            profile: profile.clone(),
            runner: Runner::new(),
        })
    }

    /// Runs the cases of a range under the tool and compares them with native runs.
    pub fn against_tool(&self, seed: u64, cases: Range<u64>) -> Result<Summary, String> {
        self.check(How::Tool, seed, cases)
    }

    /// Runs the cases of a range natively twice: what differs here is no use as a test.
    pub fn against_itself(&self, seed: u64, cases: Range<u64>) -> Result<Summary, String> {
        self.check(How::Native, seed, cases)
    }

    pub(super) fn batch(&self, seed: u64, cases: Range<u64>) -> Batch {
        cases.map(|i| build(&self.catalog, &self.profile, seed, i)).collect()
    }

    pub(super) fn run(&self, how: How, batch: &Batch) -> Ran {
        self.runner.run(how, &self.profile, batch, None)
    }

    fn check(&self, how: How, seed: u64, cases: Range<u64>) -> Result<Summary, String> {
        let mut summary = Summary::default();
        let mut from = cases.start;
        while from < cases.end {
            // Never across a multiple of the batch size: there the addresses start again.
            let to = cases.end.min((from / BATCH + 1) * BATCH);
            let batch = self.batch(seed, from..to);
            let native = self.run(How::Native, &batch);
            self.expect_sound(&native, &batch)?;
            let other = self.run(how, &batch);
            if let Some(finding) = compare_runs(&native, &other, batch.len()) {
                return Err(self.explain(how, &batch, finding));
            }
            summary.add(&batch, &native);
            from = to;
        }
        Ok(summary)
    }

    /// Natively every case ends, and none raises a signal unless that is what it is for.
    fn expect_sound(&self, native: &Ran, batch: &Batch) -> Result<(), String> {
        let stderr = String::from_utf8_lossy(&native.outcome.stderr).into_owned();
        let output = native.output.as_ref().map_err(|e| format!("{e}: {} {stderr}", native.outcome.end))?;
        if !native.succeeded() {
            let (case, code) = &batch[output.started.saturating_sub(1)];
            let why = format!("natively: {}: {stderr}", native.outcome.end);
            return Err(self.describe(&why, case, code, &[]));
        }
        if self.profile.faults {
            return Ok(());
        }
        let raised = |r: &wire::Record| r.faults_seen > 0;
        match output.records.iter().position(raised) {
            None => Ok(()),
            Some(at) => {
                let fault = &output.records[at].faults[0];
                let why = format!("natively: signal {} at {:#x}", fault.words[0], fault.words[4]);
                Err(self.describe(&why, &batch[at].0, &batch[at].1, &[]))
            }
        }
    }

    fn describe(&self, why: &str, case: &Case, code: &Assembled, what: &[Difference]) -> String {
        format!(
            "{why}\nprofile {}, seed {:#x}, case {}\nrepeat with: {}\n\nstart:\n{}\ncode:\n{}\n{}",
            self.profile.name,
            case.seed,
            case.index,
            report::repeat(&self.profile, case),
            report::start(case),
            report::listing(case, code),
            report::differences(what)
        )
    }

    /// Finds the smallest thing that still differs and describes it.
    fn explain(&self, how: How, batch: &Batch, finding: Finding) -> String {
        let (case, code) = &batch[finding.at];
        let whole = self.describe(&finding.note, case, code, &finding.what);
        let Some(history) = self.history(how, batch, finding.at) else {
            return format!("{whole}\nDid not happen again, neither alone nor after the cases before it.");
        };
        let before = &batch[finding.at - history..finding.at];
        let deadline = Instant::now() + TIME;
        let differs = |c: &Case| Instant::now() < deadline && self.differs(how, before, c).is_some();
        let small = minimise::minimise(case, differs, BUDGET);
        let small_code = small.assemble().expect("it ran");
        let Some(again) = self.differs(how, before, &small) else {
            return format!("{whole}\nHappens now and then; not minimised.");
        };
        let mut what = again.what;
        what.extend(self.memory_differences(how, before, &small));
        let note = format!("{}\nminimised; needs {history} earlier case(s)", again.note);
        let kept = self.keep(before, &small, &small_code);
        format!("{}\n{kept}", self.describe(&note, &small, &small_code, &what))
    }

    /// Number of the cases before it that a difference needs.
    fn history(&self, how: How, batch: &Batch, at: usize) -> Option<usize> {
        let needs = |n: usize| self.differs(how, &batch[at - n..at], &batch[at].0).is_some();
        let mut n = 0;
        while n < at {
            if needs(n) {
                return Some(n);
            }
            n = (2 * n).max(1);
        }
        needs(at).then_some(at)
    }

    fn with(&self, before: &[(Case, Assembled)], case: &Case) -> Option<Batch> {
        let code = case.assemble().ok()?;
        Some(before.iter().cloned().chain([(case.clone(), code)]).collect())
    }

    /// Tells whether the last of these cases differs, natively being as sound as the profile demands.
    fn differs(&self, how: How, before: &[(Case, Assembled)], case: &Case) -> Option<Finding> {
        let batch = self.with(before, case)?;
        let native = self.run(How::Native, &batch);
        self.expect_sound(&native, &batch).ok()?;
        let other = self.run(how, &batch);
        compare_runs(&native, &other, batch.len()).filter(|f| f.at + 1 == batch.len())
    }

    fn memory_differences(&self, how: How, before: &[(Case, Assembled)], case: &Case) -> Vec<Difference> {
        let Some(batch) = self.with(before, case) else { return Vec::new() };
        let dump = |how| self.runner.run(how, &self.profile, &batch, Some(batch.len() - 1)).output;
        match (dump(How::Native), dump(how)) {
            // What did not come to its end was not dumped.
            (Ok(a), Ok(b)) if a.finished == b.finished => compare::dumps(&a.dump, &b.dump, 16),
            _ => Vec::new(),
        }
    }

    /// Keeps the input file, for a debugger.
    fn keep(&self, before: &[(Case, Assembled)], case: &Case, code: &Assembled) -> String {
        let dir = crate::host::target_dir().join("randseq");
        let name = format!("{}-{:x}-{}", self.profile.name, case.seed, case.index);
        let input = dir.join(&name);
        let output = dir.join(format!("{name}.results"));
        let mut batch = before.to_vec();
        batch.push((case.clone(), code.clone()));
        let written = std::fs::create_dir_all(&dir)
            .and_then(|()| std::fs::write(&input, wire::input(&self.profile, &batch, None)))
            .and_then(|()| std::fs::write(&output, vec![0; wire::output_size(batch.len(), false)]));
        match written {
            Err(e) => format!("({}: {e})", input.display()),
            Ok(()) => {
                let command = self.runner.command(How::Tool, &self.profile, &input, &output);
                let words: Vec<_> = command.iter().map(|w| w.to_string_lossy()).collect();
                format!("run it alone with: {}", words.join(" "))
            }
        }
    }
}

/// The first difference between two runs of a batch.
fn compare_runs(native: &Ran, other: &Ran, cases: usize) -> Option<Finding> {
    let ended = format!("the tool: {}", other.outcome.end);
    let stderr = String::from_utf8_lossy(&other.outcome.stderr).into_owned();
    let (Ok(a), Ok(b)) = (&native.output, &other.output) else {
        return Some(Finding {
            at: 0,
            what: Vec::new(),
            note: format!("{ended}, nothing was run\n{stderr}"),
        });
    };
    let both = a.records.iter().zip(&b.records).map(|(x, y)| compare::records(x, y));
    let mut differing = both.enumerate().filter(|(_, what)| !what.is_empty());
    if let Some((at, what)) = differing.next() {
        let others = differing.count();
        let note = format!("registers, signals or memory differ, also in {others} other case(s) of {cases}");
        return Some(Finding { at, what, note });
    }
    if b.finished < cases || other.outcome.end != End::Exit(0) {
        let at = b.started.clamp(1, cases) - 1;
        return Some(Finding { at, what: Vec::new(), note: format!("{ended}\n{stderr}") });
    }
    let same = native.outcome.stdout == other.outcome.stdout && other.outcome.stderr == native.outcome.stderr;
    let note = || format!("standard output or error differs\n{stderr}");
    (!same).then(|| Finding { at: cases - 1, what: Vec::new(), note: note() })
}

impl Summary {
    fn add(&mut self, batch: &Batch, native: &Ran) {
        self.cases += batch.len() as u64;
        self.instructions += batch.iter().map(|(case, _)| case.instructions() as u64).sum::<u64>();
        let records = native.output.iter().flat_map(|o| &o.records);
        self.signals += records.map(|r| r.faults_seen).sum::<u64>();
    }
}
