//! A report made ready to be written: sites named, causes ranked, outputs folded. Every format writes this.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use shadowgrind_core::findings::{Confirmed, Entry, IndexSet, Report, Subject, Topic, Written};
use shadowgrind_core::site::{Module, Place, Site, SiteTable};

use crate::fold::{Folded, Reach};
use crate::rank::{self, Cause};
use crate::verdict::Verdict;
use std::borrow::Cow;

/// Whoever knows names of places.
pub trait Symbols {
    /// Names of the site at `offset` of `module`.
    fn place(&mut self, module: &Module, offset: u64) -> Place;

    /// The text of a line, if the source is at hand.
    fn source_line(&mut self, file: &str, line: u32) -> Option<String>;
}

/// Names of a site, be it an instruction or a line of a script.
pub fn place(sites: &SiteTable, symbols: &mut dyn Symbols, site: Site) -> Place {
    match sites.get(site) {
        Some((module, offset)) => symbols.place(module, offset),
        None => sites.script_line(site).map_or_else(Place::default, Place::from),
    }
}

/// A report ready to be written in any format.
pub struct Document<'a> {
    /// The facts.
    pub report: &'a Report,
    /// Causes, ranked.
    pub causes: Vec<Cause>,
    /// Outputs, folded; `reached` goes with `causes`.
    pub outputs: Folded,
    /// The verdict on the program.
    pub verdict: Verdict,
    /// Source lines of causes, by index.
    sources: Vec<Option<String>>,
    places: HashMap<Site, Place>,
}

impl<'a> Document<'a> {
    /// Names, ranks and folds what `report` holds.
    pub fn new(report: &'a Report, symbols: &mut dyn Symbols) -> Document<'a> {
        let mut places = Places { report, symbols, known: HashMap::new() };
        let mut causes =
            rank::rank(&report.findings, |site| places.get(site), |site| report.script_line(site));
        for cause in &mut causes {
            cause.script = report.script_line(cause.finding.site).map(Place::from);
        }
        let outputs = folded(report, &causes);
        let verdict = Verdict::of(report, &causes, &outputs);
        let series = outputs.series.iter().map(|series| series.site);
        for site in series.chain(answered(report)).chain(covered(report)).chain(callers(report, &causes)) {
            places.get(site);
        }
        let Places { symbols, known, .. } = places;
        let mut line = |place: &Place| symbols.source_line(place.file.as_deref()?, place.line?);
        let sources = causes.iter().map(|cause| line(cause.known_place())).collect();
        Document { report, causes, outputs, verdict, sources, places: known }
    }

    /// The SPEC of the input at this place.
    pub(crate) fn input(&self, number: usize) -> &str {
        self.report.inputs.get(number).map_or("", |input| &input.spec)
    }

    /// Tells whether the report judges outputs and decisions.
    pub fn judges(&self) -> bool {
        self.report.subject == Subject::Errors
    }

    /// Sections of the report, in the order people read them.
    pub fn contents(&self) -> Vec<Content> {
        if self.report.listing.is_some() {
            return vec![Content::Listing];
        }
        let subject = match self.report.subject {
            Subject::Program => None,
            Subject::Derivatives => Some(Content::Inputs),
            Subject::Errors => Some(Content::Causes),
        };
        let outputs = match &self.report.answers {
            Some(_) => Some(Content::Gradients),
            // The verdict says that there are none.
            None if self.judges() && self.report.outputs.is_empty() => None,
            None => Some(Content::Outputs),
        };
        subject.into_iter().chain(outputs).chain([Content::Coverage]).collect()
    }

    /// Names of a site of the report.
    pub fn place(&self, site: Site) -> &Place {
        const NOWHERE: &Place = &Place {
            module: None,
            offset: None,
            function: None,
            file: None,
            line: None,
            column: None,
            inlined_by: Vec::new(),
        };
        self.places.get(&site).unwrap_or(NOWHERE)
    }

    /// Line that has a number of a list parsed or printed: the innermost one of the user's, if there is one, or else the place of
    /// the call.
    pub fn asker(&self, entry: &Entry) -> Cow<'_, Place> {
        let sites = std::iter::once(entry.site).chain(entry.callers.iter().copied());
        let users = sites.map(|site| self.place(site)).find_map(Place::users);
        users.map_or_else(|| Cow::Borrowed(self.place(entry.site)), Cow::Owned)
    }

    /// Callers of a cause when an error was noted there first, from the innermost outwards.
    pub fn callers(&self, cause: &Cause) -> impl Iterator<Item = &Place> {
        self.report.stacks.get(&cause.finding.site).into_iter().flatten().map(|&site| self.place(site))
    }

    /// Summary of all floats that output `index` stands for, if there are others.
    pub fn written(&self, index: u64) -> Option<&Written> {
        let all = &self.report.written;
        all.binary_search_by_key(&index, |written| written.output).ok().map(|at| &all[at])
    }

    /// Callers of the code at which output `index` left, or the floats did that it stands for.
    pub fn senders(&self, index: u64) -> impl Iterator<Item = &Place> {
        let printed = || self.report.output_stacks.of(index);
        let callers = self.written(index).map_or_else(printed, |written| &written.callers);
        callers.iter().map(|&site| self.place(site))
    }

    /// Consequences of a cause, but for those that a second run has refuted.
    pub(crate) fn symptoms(&self, cause: &Cause) -> impl Iterator<Item = &Cause> {
        let all = cause.symptoms.iter().map(|&symptom| &self.causes[symptom]);
        all.filter(|symptom| symptom.finding.confirmed != Some(Confirmed::Refuted))
    }

    /// Number of causes of which a second run has said this.
    pub(crate) fn count_confirmed(&self, word: Confirmed) -> u64 {
        self.causes.iter().filter(|cause| cause.finding.confirmed == Some(word)).count() as u64
    }

    /// The source line of a cause.
    pub fn source(&self, cause: usize) -> Option<&str> {
        self.sources.get(cause)?.as_deref()
    }

    /// Outputs that a cause reached, series by series.
    pub fn reached(&self, cause: usize) -> &[Reach] {
        self.outputs.reached.get(cause).map_or(&[], Vec::as_slice)
    }

    /// The causes of a section, in order.
    pub fn causes_in(&self, section: Section) -> impl Iterator<Item = usize> {
        (0..self.causes.len()).filter(move |&index| self.section(index) == Some(section))
    }

    /// Section in which people read about a cause. A consequence of another stands there, unless it has a section of
    /// its own.
    fn section(&self, index: usize) -> Option<Section> {
        let cause = &self.causes[index];
        let topic = |index: usize| self.causes[index].finding.kind.topic();
        let decides = || self.symptoms(cause).any(|symptom| symptom.finding.kind.topic() != Topic::Error);
        match topic(index) {
            _ if cause.finding.confirmed == Some(Confirmed::Refuted) => Some(Section::Refuted),
            Topic::Decision if cause.finding.count == 0 => Some(Section::Unsettled),
            Topic::Decision => Some(Section::Decisions),
            Topic::Special => Some(Section::Special),
            Topic::Error if cause.cause.is_some() => None,
            Topic::Error if !cause.finding.outputs.is_empty() || decides() => Some(Section::Causes),
            // Nobody can tell what came of it, where no output is watched, or not all were traced.
            Topic::Error if self.report.outputs.is_empty() || self.report.coverage.unexplained > 0 => {
                Some(Section::Causes)
            }
            Topic::Error => Some(Section::Hidden),
        }
    }
}

/// Section of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Numbers that can be named.
    Listing,
    /// Inputs and their seeds.
    Inputs,
    /// The verdict, and what made numbers wrong.
    Causes,
    /// Floats that left the program.
    Outputs,
    /// Derivatives of those by all components of the inputs.
    Gradients,
    /// Coverage: operations watched, and those that were not.
    Coverage,
}

/// The sections that causes are told in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Causes that make outputs wrong, or decisions.
    Causes,
    /// Decisions that are not those of the reals.
    Decisions,
    /// Decisions of which the reals cannot tell.
    Unsettled,
    /// Births of NaN and infinities.
    Special,
    /// Whatever a second run has refuted.
    Refuted,
    /// Causes that made nothing wrong that left the program, and decided nothing.
    Hidden,
}

impl Section {
    /// Findings that follow the causes, in order.
    pub(crate) const APART: [Section; 4] =
        [Section::Decisions, Section::Unsettled, Section::Special, Section::Refuted];
}

/// Places by site, each asked for once.
/// The report's outputs, folded by the causes that reached them.
fn folded(report: &Report, causes: &[Cause]) -> Folded {
    let sets: Vec<_> = causes.iter().map(|cause| &cause.finding.outputs).collect();
    let suppressed = report.suppressed.iter().map(|finding| &finding.outputs);
    let suppressed = suppressed.fold(IndexSet::new(), |all, set| all.union(set));
    Folded::new(&report.outputs, &sets, &suppressed)
}

/// Sites in the answers to what was asked: of shares in a budget, and of what a list has.
fn answered(report: &Report) -> impl Iterator<Item = Site> {
    let shares = report.answers.iter().flat_map(|answers| &answers.budget).map(|share| share.site);
    let entries = report.listing.iter().flat_map(|listing| &listing.entries);
    let listed = entries.flat_map(|entry| entry.callers.iter().copied().chain([entry.site]));
    shares.chain(listed)
}

/// Sites in the report's coverage.
fn covered(report: &Report) -> impl Iterator<Item = Site> {
    let coverage = &report.coverage;
    let gaps = coverage.gaps.iter().map(|gap| gap.site);
    let decisions = coverage.decisions.iter().map(|decided| decided.site);
    let roundings = coverage.roundings.iter().map(|rounded| rounded.site);
    let exhausted = coverage.exhausted.iter().map(|exhausted| exhausted.site);
    let overwritten = coverage.overwritten.iter().map(|seeds| seeds.site);
    let unjudged = coverage.unjudged.iter().map(|unjudged| unjudged.site);
    let unwritten = coverage.unwritten.iter().map(|unwritten| unwritten.site);
    gaps.chain(decisions)
        .chain(roundings)
        .chain(unjudged)
        .chain(unwritten)
        .chain(exhausted)
        .chain(overwritten)
}

/// Sites of the calls that led to causes and outputs.
fn callers(report: &Report, causes: &[Cause]) -> impl Iterator<Item = Site> {
    let of_causes = causes.iter().filter_map(|cause| report.stacks.get(&cause.finding.site)).flatten();
    let senders = report.written.iter().flat_map(|written| &written.callers);
    of_causes.chain(senders).copied().chain(report.output_stacks.sites())
}

struct Places<'a, 'b> {
    report: &'a Report,
    symbols: &'b mut dyn Symbols,
    known: HashMap<Site, Place>,
}

impl Places<'_, '_> {
    fn get(&mut self, site: Site) -> Place {
        let (report, symbols) = (self.report, &mut *self.symbols);
        self.known.entry(site).or_insert_with(|| place(&report.sites, symbols, site)).clone()
    }
}
