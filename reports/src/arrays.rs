//! Arrays that leave by name: what is said of one as a whole, and the file that numpy reads.
//!
//! An array is all floats that one `--output` names by where the program has them, if these are several. Knows neither programs
//! nor shadows but for what they say about a float.

use std::io::{self, Write};

use hashbrown::HashMap;
use shadowgrind_core::findings::{Label, Number, Output, OutputKind, OutputShadow, Report, Subject};

use crate::document::Document;
use crate::gradients;
use crate::tables::{Cell, Table, columns};
use crate::wire;
use crate::words::float;

/// Statement about an array.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Summary {
    label: Label,
    count: u64,
    /// Index of the output with the largest derivative or the most error bits, and that number's size.
    worst: u64,
    size: f64,
    /// Norm of the derivatives, or the sum of the error bits.
    total: f64,
}

/// Size of what a shadow says about a float, the larger the more to be looked at; nothing if it says nothing.
fn size(output: &Output<'_>) -> Option<f64> {
    let size = match output.said {
        OutputShadow::Nothing => return None,
        OutputShadow::Dot(derivative) => derivative.to_f64().abs(),
        OutputShadow::Error { error_bits, .. } => error_bits,
    };
    Some(if size.is_nan() { f64::INFINITY } else { size })
}

/// Arrays of the report, in the order in which they left first.
fn summaries(report: &Report) -> Vec<Summary> {
    let mut all: Vec<Summary> = Vec::new();
    let mut number_of: HashMap<Label, usize> = HashMap::new();
    for (index, output) in report.outputs.iter().filter(|(_, output)| output.kind == OutputKind::Spec) {
        let Some(size) = size(&output) else { continue };
        let number = *number_of.entry(output.label).or_insert_with(|| {
            all.push(Summary { label: output.label, count: 0, worst: index, size, total: 0.0 });
            all.len() - 1
        });
        let array = &mut all[number];
        array.count += 1;
        if size > array.size {
            (array.worst, array.size) = (index, size);
        }
        array.total = match output.said {
            OutputShadow::Dot(_) => gradients::norm(&[array.total, size]),
            _ => array.total + size,
        };
    }
    all.retain(|array| array.count > 1);
    all
}

/// Arrays, for tools.
pub(crate) fn records<'a>(document: &'a Document<'_>) -> Vec<wire::Array<'a>> {
    let report = document.report;
    let derivatives = report.subject == Subject::Derivatives;
    let record = |array: &Summary| wire::Array {
        label: report.outputs.label_text(array.label).unwrap_or_default().into(),
        count: array.count,
        worst: array.worst,
        norm: derivatives.then_some(Number(array.total)),
        mean_error_bits: (!derivatives).then(|| Number(array.total / array.count as f64)),
    };
    summaries(report).iter().map(record).collect()
}

/// Arrays, for people; nothing if there are none.
pub(crate) fn table(document: &Document<'_>) -> Option<Table> {
    let report = document.report;
    let derivatives = report.subject == Subject::Derivatives;
    let arrays = summaries(report);
    let rows = arrays.iter().map(|array| {
        let total = match derivatives {
            true => float(array.total.into()),
            false => format!("{:.1}", array.total / array.count as f64),
        };
        let size = if derivatives { float(array.size.into()) } else { format!("{:.1}", array.size) };
        let label = report.outputs.label_text(array.label).unwrap_or_default();
        let words = [label.to_owned(), array.count.to_string(), total, size, array.worst.to_string()];
        words.into_iter().map(Cell::text).collect()
    });
    let heads: [(&str, bool); 5] = match derivatives {
        true => [("array", false), ("floats", true), ("norm", true), ("largest", true), ("output", true)],
        false => {
            [("array", false), ("floats", true), ("mean bits off", true), ("worst", true), ("output", true)]
        }
    };
    (!arrays.is_empty()).then(|| Table { columns: columns(&heads), rows: rows.collect() })
}

/// Number of `label` among `known`, of which it becomes the last if it is new.
fn number_of(label: Label, known: &mut Vec<Label>) -> usize {
    known.iter().position(|other| *other == label).unwrap_or_else(|| {
        known.push(label);
        known.len() - 1
    })
}

/// Writes all outputs of the report to `out` as one array of records, in the report's order. `spec` is the number of the SPEC,
/// of those that name floats by where the program has them in the order in which these left first, from 0; −1 for other
/// outputs. `value` is the float; then comes what the shadow says of it.
pub(crate) fn write(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    let outputs = &document.report.outputs;
    let derivatives = document.report.subject == Subject::Derivatives;
    let said = if derivatives { &["derivative"][..] } else { &["real", "error_bits", "digits"] };
    let fields = std::iter::once("value").chain(said.iter().copied());
    let fields: String = fields.map(|field| format!(", ('{field}', '<f8')")).collect();
    gradients::write_head(&format!("[('spec', '<i8'){fields}]"), &format!("({},)", outputs.len()), out)?;
    let mut specs: Vec<Label> = Vec::new();
    for (_, output) in outputs.iter() {
        let is_spec = output.kind == OutputKind::Spec;
        let spec = if is_spec { number_of(output.label, &mut specs) as i64 } else { -1 };
        out.write_all(&spec.to_le_bytes())?;
        let numbers = [output.value.to_f64()].into_iter().chain(said_of(&output, said.len()));
        for number in numbers {
            out.write_all(&number.to_le_bytes())?;
        }
    }
    Ok(())
}

/// Numbers, as many as `fields`, that the shadow says of a float; NaN where it says nothing.
fn said_of(output: &Output<'_>, fields: usize) -> Vec<f64> {
    match output.said {
        OutputShadow::Nothing => vec![f64::NAN; fields],
        OutputShadow::Dot(derivative) => vec![derivative.to_f64()],
        OutputShadow::Error { real, error_bits, .. } => {
            let real = real.and_then(|real| real.parse().ok()).unwrap_or(f64::NAN);
            vec![real, error_bits, output.said.right_digits().map_or(f64::NAN, f64::from)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::site::Site;

    #[test]
    fn arrays_have_norms_and_worst_elements() {
        let mut report = Report::new("dot", Subject::Derivatives, Vec::new(), 1);
        let label = report.outputs.label("f#*1[0..3]");
        for (label, kind, derivative) in [
            (label, OutputKind::Spec, 3.0),
            (Label::NONE, OutputKind::Printf, 100.0),
            (label, OutputKind::Spec, -4.0),
            (label, OutputKind::Spec, 0.0),
        ] {
            let said = OutputShadow::Dot(f64::into(derivative));
            let (value, site) = (1.5.into(), Site::NONE);
            report.outputs.push(&Output { kind, label, value, site, position: 0, said, notation: None });
        }
        let expected = Summary { label, count: 3, worst: 2, size: 4.0, total: 5.0 };
        assert_eq!(summaries(&report), [expected]);
    }
}
