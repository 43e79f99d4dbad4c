//! Folding of repeated outputs: a loop that prints a million times is one row.
//!
//! Outputs are one *series* when they left by the same call, as the same argument, under the same label. One pass, small
//! memory: a series keeps its first few records, its last and its extremes. Knows nothing of formats.

use std::collections::BTreeSet;
use std::iter::Peekable;

use hashbrown::HashMap;
use shadowgrind_core::findings::{
    IndexSet, Judgement, Label, Output, OutputKind, OutputShadow, Outputs, RealText, Value,
};
use shadowgrind_core::site::Site;
use shadowgrind_core::text::{self, Notation};

/// A series of at most this many outputs is shown one by one.
pub const FEW: usize = 3;

/// A run of at most this many outputs is shown one by one, whatever series they belong to.
pub const SHORT: u64 = 24;

/// One output, owned.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The index.
    pub index: u64,
    /// The value.
    pub value: Value,
    /// The derivative, if the shadow has one.
    pub dot: Option<Value>,
    /// The error, if the shadow knows one.
    pub error: Option<SampleError>,
    /// The notation, if that is known.
    pub notation: Option<Notation>,
    /// The text of the real.
    pub exact: RealText<String>,
}

/// The error of one output.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleError {
    /// The real value, decimal.
    pub real: Option<String>,
    /// Error bits.
    pub bits: f64,
    /// Correct decimal digits; NaN where the value has none.
    pub digits: f64,
    /// The judgement on the value.
    pub judgement: Judgement,
}

/// Smallest and largest of a series, NaN aside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes {
    /// Smallest.
    pub min: Value,
    /// Largest.
    pub max: Value,
}

/// Outputs that left by the same call, as the same argument, under the same label.
#[derive(Clone, Debug)]
pub struct Series {
    /// The way by which they left.
    pub kind: OutputKind,
    /// Under which name.
    pub label: Label,
    /// The place at which they left.
    pub site: Site,
    /// Number of outputs.
    pub count: u64,
    /// The first ones: all, if they are [`FEW`]; in a [`SHORT`] run all in any case.
    pub first: Vec<Sample>,
    /// The last one.
    pub last: Sample,
    /// Extremes of the values; nothing if all are NaN.
    pub values: Option<Extremes>,
    /// Extremes of the derivatives.
    pub dots: Option<Extremes>,
    /// The one with the largest error, the first of several.
    pub worst: Option<Sample>,
}

/// Outputs of a series that a cause reached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// The series, by its number.
    pub series: usize,
    /// Number of its outputs.
    pub count: u64,
    /// Correct digits that the worst of them has left.
    pub digits: Option<f64>,
}

/// Number of outputs of each kind that a user has to know of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Wrong ones, but for those whose causes are all suppressed.
    pub wrong: u64,
    /// Outputs of which the shadow cannot tell.
    pub unsettled: u64,
    /// Outputs whose text is not that of their reals, or not known to be.
    pub inexact: u64,
    /// Outputs that are NaN, but for those whose causes are all suppressed.
    pub nan: u64,
}

/// All outputs of a run, folded.
#[derive(Debug, Default)]
pub struct Folded {
    /// The series, in the order of their first outputs.
    pub series: Vec<Series>,
    /// For each set of indices that was given, what it reached.
    pub reached: Vec<Vec<Reach>>,
    /// Number of those to be known of.
    pub judged: Judged,
}

impl Folded {
    /// Folds `outputs`; `sets` are the outputs each cause reached, `suppressed` those that suppressed ones did.
    pub fn new(outputs: &Outputs, sets: &[&IndexSet], suppressed: &IndexSet) -> Folded {
        let keep = if outputs.len() <= SHORT { SHORT as usize } else { FEW };
        let mut folding = Folding {
            keep,
            number_of: HashMap::new(),
            sets: sets.iter().map(|set| Box::new(set.iter()) as Box<dyn Iterator<Item = u64>>).collect(),
            due: sets.iter().enumerate().filter_map(|(n, set)| Some((set.iter().next()?, n))).collect(),
            suppressed: (Box::new(suppressed.iter()) as Box<dyn Iterator<Item = u64>>).peekable(),
            slot_of: HashMap::new(),
            folded: Folded { reached: vec![Vec::new(); sets.len()], ..Folded::default() },
        };
        // The heap was primed with the first index of each set.
        folding.sets.iter_mut().for_each(|set| {
            set.next();
        });
        for (index, output) in outputs.iter() {
            folding.add(index, &output);
        }
        folding.folded
    }

    /// The output with the largest error.
    pub fn worst(&self) -> Option<&Sample> {
        let worst = self.series.iter().filter_map(|series| series.worst.as_ref());
        worst.reduce(|a, b| if b.bits() > a.bits() { b } else { a })
    }
}

impl Sample {
    fn new(index: u64, output: &Output<'_>) -> Sample {
        let (dot, error) = match output.said {
            OutputShadow::Nothing => (None, None),
            OutputShadow::Dot(dot) => (Some(dot), None),
            OutputShadow::Error { real, error_bits, correct_digits, judgement, .. } => {
                let (real, digits) = (real.map(str::to_owned), correct_digits.into());
                (None, Some(SampleError { real, bits: error_bits, digits, judgement }))
            }
        };
        let exact = output.exact().map(str::to_owned);
        Sample { index, value: output.value, dot, error, notation: output.notation, exact }
    }

    /// The text, if its notation is known, without what only fills it up.
    pub fn printed(&self) -> Option<String> {
        Some(self.notation?.write(&text::Float::from(self.value)).trim().to_owned())
    }

    /// Error bits; 0 where none are known.
    pub fn bits(&self) -> f64 {
        self.error.as_ref().map_or(0.0, |error| error.bits)
    }
}

/// Key of a series.
type Key = (Site, Label, OutputKind, u16);

struct Folding<'a> {
    keep: usize,
    number_of: HashMap<Key, usize>,
    sets: Vec<Box<dyn Iterator<Item = u64> + 'a>>,
    /// The next index of each set, smallest first.
    due: BTreeSet<(u64, usize)>,
    /// The outputs that suppressed causes reached.
    suppressed: Peekable<Box<dyn Iterator<Item = u64> + 'a>>,
    /// The place of what a set reached of a series.
    slot_of: HashMap<(usize, usize), usize>,
    folded: Folded,
}

impl Folding<'_> {
    fn add(&mut self, index: u64, output: &Output<'_>) {
        let key = (output.site, output.label, output.kind, output.position);
        let all = &mut self.folded.series;
        let number = *self.number_of.entry(key).or_insert(all.len());
        if number == all.len() {
            all.push(Series::new(Sample::new(index, output), output));
        }
        all[number].add(index, output, self.keep);
        let is_answered_for = self.reach(index, number, output);
        while self.suppressed.next_if(|&suppressed| suppressed < index).is_some() {}
        let is_suppressed = self.suppressed.peek() == Some(&index);
        self.judge(output, is_suppressed && !is_answered_for);
    }

    /// Counts an output that is to be known of, unless it is `excused`.
    fn judge(&mut self, output: &Output<'_>, excused: bool) {
        let OutputShadow::Error { judgement, exact, .. } = output.said else { return };
        let judged = &mut self.folded.judged;
        judged.wrong += u64::from(judgement == Judgement::Wrong && !excused);
        judged.unsettled += u64::from(judgement == Judgement::Unsettled);
        judged.inexact += u64::from(exact != RealText::Same);
        judged.nan += u64::from(output.value.is_nan() && !excused);
    }

    /// Sees which causes reached an output; whether any did.
    fn reach(&mut self, index: u64, series: usize, output: &Output<'_>) -> bool {
        let mut any = false;
        while let Some(&(due, set)) = self.due.first().filter(|(due, _)| *due <= index) {
            self.due.pop_first();
            if let Some(next) = self.sets[set].next() {
                self.due.insert((next, set));
            }
            if due == index {
                any = true;
                self.count(set, series, output);
            }
        }
        any
    }

    /// Counts an output of `series` among those that the cause of this number reached.
    fn count(&mut self, set: usize, series: usize, output: &Output<'_>) {
        let digits = output.said.right_digits().map(f64::from);
        let reached = &mut self.folded.reached[set];
        let slot = *self.slot_of.entry((set, series)).or_insert(reached.len());
        match reached.get_mut(slot) {
            Some(reach) => {
                reach.count += 1;
                reach.digits = [reach.digits, digits].into_iter().flatten().reduce(f64::min);
            }
            None => reached.push(Reach { series, count: 1, digits }),
        }
    }
}

impl Series {
    fn new(last: Sample, output: &Output<'_>) -> Series {
        Series {
            kind: output.kind,
            label: output.label,
            site: output.site,
            count: 0,
            first: Vec::new(),
            last,
            values: None,
            dots: None,
            worst: None,
        }
    }

    fn add(&mut self, index: u64, output: &Output<'_>, keep: usize) {
        self.count += 1;
        extend(&mut self.values, output.value);
        if let OutputShadow::Dot(dot) = output.said {
            extend(&mut self.dots, dot);
        }
        if let OutputShadow::Error { error_bits, .. } = output.said
            && self.worst.as_ref().is_none_or(|worst| error_bits > worst.bits())
        {
            self.worst = Some(Sample::new(index, output));
        }
        if self.first.len() < keep {
            self.first.push(Sample::new(index, output));
        }
        self.last = Sample::new(index, output);
    }

    /// True when its outputs are to be shown one by one.
    pub fn is_short(&self) -> bool {
        self.first.len() as u64 == self.count
    }
}

fn extend(extremes: &mut Option<Extremes>, value: Value) {
    let x = value.to_f64();
    match extremes {
        _ if x.is_nan() => {}
        None => *extremes = Some(Extremes { min: value, max: value }),
        Some(known) => {
            if x < known.min.to_f64() {
                known.min = value;
            }
            if x > known.max.to_f64() {
                known.max = value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(outputs: &mut Outputs, site: u32, position: u16, value: f64, said: OutputShadow<&str>) {
        let site = Site::from_bits(site);
        let (kind, label) = (OutputKind::Printf, Label::NONE);
        let value = value.into();
        outputs.push(&Output { kind, label, value, site, position, said, notation: None });
    }

    fn bits(error_bits: f64) -> OutputShadow<&'static str> {
        let judgement = if error_bits > 5.0 { Judgement::Wrong } else { Judgement::Right };
        OutputShadow::Error {
            real: None,
            error_bits,
            correct_digits: (15.0 - error_bits) as f32,
            judgement,
            exact: RealText::Same,
        }
    }

    #[test]
    fn arguments_of_one_call_are_series_of_their_own() {
        let mut outputs = Outputs::new();
        for i in 0..100 {
            push(&mut outputs, 1, 0, f64::from(i), OutputShadow::Dot((-f64::from(i)).into()));
            push(&mut outputs, 1, 1, 0.5, OutputShadow::Dot(f64::NAN.into()));
        }
        push(&mut outputs, 2, 0, 7.0, OutputShadow::Nothing);
        let folded = Folded::new(&outputs, &[], &IndexSet::new());
        assert_eq!(folded.series.iter().map(|s| s.count).collect::<Vec<_>>(), [100, 100, 1]);
        let first = &folded.series[0];
        assert_eq!(first.first.iter().map(|s| s.index).collect::<Vec<_>>(), [0, 2, 4]);
        assert_eq!((first.last.index, first.last.value), (198, 99.0.into()));
        assert_eq!(first.values, Some(Extremes { min: 0.0.into(), max: 99.0.into() }));
        assert_eq!(first.dots, Some(Extremes { min: (-99.0).into(), max: (-0.0).into() }));
        assert_eq!(folded.series[1].dots, None, "NaN is no extreme");
        assert!(!first.is_short() && folded.series[2].is_short());
    }

    #[test]
    fn a_short_run_is_not_folded() {
        let mut outputs = Outputs::new();
        (0..SHORT).for_each(|i| push(&mut outputs, 1, 0, i as f64, OutputShadow::Nothing));
        assert!(Folded::new(&outputs, &[], &IndexSet::new()).series[0].is_short());
        push(&mut outputs, 1, 0, 0.0, OutputShadow::Nothing);
        assert!(!Folded::new(&outputs, &[], &IndexSet::new()).series[0].is_short());
    }

    #[test]
    fn causes_know_what_they_reached() {
        let mut outputs = Outputs::new();
        for i in 0..30 {
            push(&mut outputs, 1 + i % 2, 0, 1.0, bits(f64::from(i) / 2.0));
        }
        let odd: IndexSet = (0..15).map(|i| 2 * i + 1).collect();
        let some: IndexSet = [0, 3, 4, 29, 77].into_iter().collect();
        let folded = Folded::new(&outputs, &[&odd, &some, &IndexSet::new()], &IndexSet::new());
        assert_eq!(folded.reached[0], [Reach { series: 1, count: 15, digits: Some(0.5) }]);
        let expected = [
            Reach { series: 0, count: 2, digits: Some(13.0) },
            Reach { series: 1, count: 2, digits: Some(0.5) },
        ];
        assert_eq!(folded.reached[1], expected);
        assert!(folded.reached[2].is_empty());
        assert_eq!(folded.judged, Judged { wrong: 19, ..Judged::default() });
        assert_eq!(folded.worst().map(|worst| worst.index), Some(29));
    }

    #[test]
    fn outputs_with_suppressed_causes_only_are_excused() {
        let mut outputs = Outputs::new();
        let mut say = |value, error_bits, judgement| {
            let said = OutputShadow::Error {
                real: None,
                error_bits,
                correct_digits: f32::NAN,
                judgement,
                exact: RealText::Same,
            };
            push(&mut outputs, 1, 0, value, said);
        };
        (0..4).for_each(|_| say(1.0, 50.0, Judgement::Wrong));
        (0..2).for_each(|_| say(f64::NAN, 0.0, Judgement::Right));
        say(1.0, 0.0, Judgement::Unsettled);
        let (kept, suppressed): (IndexSet, IndexSet) =
            ([1].into_iter().collect(), [0, 1, 5, 6].into_iter().collect());
        let folded = Folded::new(&outputs, &[&kept], &suppressed);
        assert_eq!(folded.judged, Judged { wrong: 3, unsettled: 1, inexact: 0, nan: 1 });
    }
}
