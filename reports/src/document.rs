//! A report made ready to be written: sites named, causes ranked, outputs folded. Every format writes this.

use hashbrown::HashMap;
use shadowgrind_core::findings::Report;
use shadowgrind_core::site::{Module, Place, Site};

use crate::fold::{Folded, Reach};
use crate::rank::{self, Cause};

/// Error bits up to which an output is clean, if the shadow does not say.
const THRESHOLD: f64 = 5.0;

/// Whoever knows names of places.
pub trait Symbols {
    /// What is at `offset` of `module`.
    fn place(&mut self, module: &Module, offset: u64) -> Place;

    /// The text of a line, if the source is at hand.
    fn source_line(&mut self, file: &str, line: u32) -> Option<String>;
}

/// A report ready to be written in any format.
pub struct Document<'a> {
    /// The facts.
    pub report: &'a Report,
    /// Causes, ranked.
    pub causes: Vec<Cause>,
    /// Outputs, folded; `reached` goes with `causes`.
    pub outputs: Folded,
    /// Source lines of causes, by index.
    sources: Vec<Option<String>>,
    places: HashMap<Site, Place>,
}

impl<'a> Document<'a> {
    /// Names, ranks and folds what `report` holds.
    pub fn new(report: &'a Report, symbols: &mut dyn Symbols) -> Document<'a> {
        let mut places = Places { report, symbols, known: HashMap::new() };
        let causes = rank::rank(&report.findings, |site| places.get(site));
        let sets: Vec<_> = causes.iter().map(|cause| &cause.finding.outputs).collect();
        let outputs = Folded::new(&report.outputs, &sets, threshold(report));
        for series in &outputs.series {
            places.get(series.site);
        }
        let coverage = &report.coverage;
        let gaps = coverage.gaps.iter().map(|gap| gap.site);
        for site in gaps.chain(coverage.exhausted.iter().map(|exhausted| exhausted.site)) {
            places.get(site);
        }
        let Places { symbols, known, .. } = places;
        let mut line = |place: &Place| symbols.source_line(place.file.as_deref()?, place.line?);
        let sources = causes.iter().map(|cause| line(&cause.place)).collect();
        Document { report, causes, outputs, sources, places: known }
    }

    /// What a site of the report is called.
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

    /// The source line of a cause.
    pub fn source(&self, cause: usize) -> Option<&str> {
        self.sources.get(cause)?.as_deref()
    }

    /// What a cause reached, series by series.
    pub fn reached(&self, cause: usize) -> &[Reach] {
        self.outputs.reached.get(cause).map_or(&[], Vec::as_slice)
    }

    /// Error bits up to which an output is clean.
    pub fn threshold(&self) -> f64 {
        threshold(self.report)
    }
}

fn threshold(report: &Report) -> f64 {
    report.settings.error_threshold.unwrap_or(THRESHOLD)
}

/// Places by site, each asked for once.
struct Places<'a, 'b> {
    report: &'a Report,
    symbols: &'b mut dyn Symbols,
    known: HashMap<Site, Place>,
}

impl Places<'_, '_> {
    fn get(&mut self, site: Site) -> Place {
        let (report, symbols) = (self.report, &mut *self.symbols);
        let name = || match report.sites.get(site) {
            Some((module, offset)) => symbols.place(module, offset),
            None => Place::default(),
        };
        self.known.entry(site).or_insert_with(name).clone()
    }
}
