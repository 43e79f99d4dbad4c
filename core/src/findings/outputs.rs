//! Outputs of a run, in program order: tens of millions of records of forty-six bytes.
//!
//! Records are appended while the program runs and read back, in order, when a report is written. Knows nothing about what
//! is done with them; folding repeated prints is the report's business.

use hashbrown::HashMap;

use super::output::{Label, Output, OutputShadow};
use super::record::{self, RECORD};
use crate::text::Notation;

/// Records per chunk: 736 KiB.
const CHUNK: u64 = 1 << 14;

/// All outputs of a run. The index of an output is its place in the order they were pushed.
#[derive(Debug, Default)]
pub struct Outputs {
    labels: Vec<String>,
    label_of: HashMap<String, Label>,
    notations: Vec<Notation>,
    notation_of: HashMap<Notation, u32>,
    full: Vec<Chunk>,
    last: Chunk,
    len: u64,
}

impl Outputs {
    /// No outputs yet.
    pub fn new() -> Self {
        Outputs::default()
    }

    /// The label `name`, the same one each time.
    pub fn label(&mut self, name: &str) -> Label {
        if let Some(&label) = self.label_of.get(name) {
            return label;
        }
        self.labels.push(name.to_owned());
        let label = Label(u32::try_from(self.labels.len()).expect("fewer than 2^32 labels"));
        self.label_of.insert(name.to_owned(), label);
        label
    }

    /// The text of `label`; nothing for [`Label::NONE`].
    pub fn label_text(&self, label: Label) -> Option<&str> {
        self.labels.get((label.0 as usize).checked_sub(1)?).map(String::as_str)
    }

    /// Appends an output and returns its index.
    pub fn push(&mut self, output: &Output<'_>) -> u64 {
        let notation = output.notation.map_or(0, |notation| self.notation(notation));
        record::encode(output, notation, &mut self.last.records, &mut self.last.reals);
        self.len += 1;
        if self.len.is_multiple_of(CHUNK) {
            let next = Chunk { first: self.len, ..Chunk::default() };
            self.full.push(std::mem::replace(&mut self.last, next));
        }
        self.len - 1
    }

    /// Leaves only the outputs with these indices, which are ascending; they get new ones, from 0.
    pub fn keep(&mut self, kept: &[u64]) {
        let old = std::mem::take(self);
        self.labels = old.labels.clone();
        self.label_of = old.label_of.clone();
        let mut kept = kept.iter().peekable();
        for (index, output) in old.iter() {
            if kept.next_if_eq(&&index).is_some() {
                self.push(&output);
            }
        }
    }

    /// Puts another output in the place of that at `index`, which there must be.
    pub fn replace(&mut self, index: u64, output: &Output<'_>) {
        let notation = output.notation.map_or(0, |notation| self.notation(notation));
        let chunk = self.full.get_mut((index / CHUNK) as usize).unwrap_or(&mut self.last);
        let mut new = Vec::with_capacity(RECORD);
        record::encode(output, notation, &mut new, &mut chunk.reals);
        let start = (index % CHUNK) as usize * RECORD;
        chunk.records[start..start + RECORD].copy_from_slice(&new);
    }

    /// The number of a notation, from 1, the same one each time.
    fn notation(&mut self, notation: Notation) -> u32 {
        *self.notation_of.entry(notation).or_insert_with(|| {
            self.notations.push(notation);
            self.notations.len() as u32
        })
    }

    /// Tells whether a derivative of any is not 0.
    pub fn depend_on_inputs(&self) -> bool {
        self.iter().any(|(_, output)| matches!(output.said, OutputShadow::Dot(dot) if dot.to_f64() != 0.0))
    }

    /// Number of outputs.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True when nothing was output.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All outputs in order, with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Output<'_>)> {
        self.full.iter().chain([&self.last]).flat_map(|chunk| chunk.iter(&self.notations))
    }
}

/// Some consecutive outputs: memory that is never moved to grow.
#[derive(Debug, Default)]
struct Chunk {
    first: u64,
    records: Vec<u8>,
    /// The texts of reals that the records refer to, end to end.
    reals: Vec<u8>,
}

impl Chunk {
    fn iter<'a>(&'a self, notations: &'a [Notation]) -> impl Iterator<Item = (u64, Output<'a>)> {
        let (records, _) = self.records.as_chunks::<RECORD>();
        (self.first..).zip(records.iter().map(|record| record::decode(record, &self.reals, notations)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::output::{Judgement, OutputKind, OutputShadow, RealText};
    use super::*;
    use crate::site::Site;

    fn output(value: f64, said: OutputShadow<&str>) -> Output<'_> {
        Output {
            kind: OutputKind::Printf,
            label: Label::NONE,
            value: value.into(),
            site: Site::NONE,
            position: 0,
            said,
            notation: None,
        }
    }

    fn fill(outputs: &mut Outputs, count: u64) {
        for i in 0..count {
            let real = format!("{i}.25");
            let judgement = Judgement::Wrong;
            let said = OutputShadow::Error {
                real: Some(real.as_str()),
                error_bits: 1.5,
                correct_digits: 2.0,
                judgement,
                exact: RealText::Same,
            };
            assert_eq!(outputs.push(&output(i as f64, said)), i);
        }
    }

    #[test]
    fn labels_are_interned() {
        let mut outputs = Outputs::new();
        let (a, b) = (outputs.label("u[0]"), outputs.label("u[1]"));
        assert_eq!(outputs.label("u[0]"), a);
        assert_ne!(a, b);
        assert_eq!(outputs.label_text(b), Some("u[1]"));
        assert_eq!(outputs.label_text(Label::NONE), None);
    }

    #[test]
    fn an_output_can_give_way_to_another() {
        let mut outputs = Outputs::new();
        fill(&mut outputs, CHUNK + 2);
        for index in [3, CHUNK - 1, CHUNK] {
            let said = OutputShadow::Error {
                real: Some("worse"),
                error_bits: 9.0,
                correct_digits: 1.0,
                judgement: Judgement::Wrong,
                exact: RealText::Same,
            };
            outputs.replace(index, &output(-1.0, said));
        }
        let others = [3, CHUNK - 1, CHUNK];
        for (index, output) in outputs.iter() {
            let OutputShadow::Error { real: Some(real), .. } = output.said else { panic!("{output:?}") };
            assert_eq!(real == "worse", others.contains(&index));
            assert_eq!(output.value.to_f64() == -1.0, others.contains(&index));
        }
    }

    #[test]
    fn notations_are_interned() {
        use crate::text::Style;
        let mut outputs = Outputs::new();
        for precision in [2, 3, 2] {
            let notation = Some(Notation::new(Style::Fixed, Some(precision)));
            let judgement = Judgement::Wrong;
            let exact = RealText::Other("0.12");
            let said =
                OutputShadow::Error { real: None, error_bits: 9.0, correct_digits: 1.0, judgement, exact };
            outputs.push(&Output { notation, ..output(0.11, said) });
        }
        let texts: Vec<_> = outputs.iter().map(|(_, output)| output.printed().unwrap_or_default()).collect();
        assert_eq!(texts, ["0.11", "0.110", "0.11"]);
        assert_eq!(outputs.notations.len(), 2);
        assert!(outputs.iter().all(|(_, output)| output.wrong_from("0.11") == Some(3)));
    }

    #[test]
    fn outputs_come_back_in_order_across_chunks() {
        let mut outputs = Outputs::new();
        let count = 2 * CHUNK + 7;
        fill(&mut outputs, count);
        assert_eq!((outputs.len(), outputs.full.len()), (count, 2));
        for (expected, (index, output)) in (0..).zip(outputs.iter()) {
            let OutputShadow::Error { real: Some(real), .. } = output.said else { panic!("{output:?}") };
            assert_eq!((index, output.value.to_f64()), (expected, expected as f64));
            assert_eq!(real, format!("{expected}.25"));
        }
        assert_eq!(outputs.iter().count() as u64, count);
    }
}
