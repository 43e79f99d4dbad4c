//! Gradients: names of their components, the table that people read, and the file that numpy does.
//!
//! Knows how inputs are written, but neither programs nor symbols: a component is called as its input's SPEC would name
//! it alone.

use std::io::{self, Write};

use hashbrown::HashMap;
use shadowgrind_core::findings::{Answers, Input, Output, Row};

use crate::document::Document;
use crate::tables::{Cell, Line, Table, columns};
use crate::words::{self, float, number, whereabouts};

/// Components of a gradient in the table of an output; the files have them all.
const LARGEST: usize = 10;

/// Numbers of all gradients together, up to which they stand in the JSON report.
pub const IN_JSON: u64 = 100_000;

/// Name of component `n` of an input: `x[17]` of `x[0..100]`, `file:in.dat:12:3` of `file:in.dat`, and the time where it is seeded
/// more than once.
pub(crate) fn component(input: &Input, n: u64) -> String {
    if let Some([line, number]) = input.text.places.get(n as usize) {
        return format!("{}:{line}:{number}", input.text.name);
    }
    let at_once = input.at_once.max(1);
    let element = element(&input.spec, n % at_once, at_once);
    if input.count > at_once { format!("{element}, time {}", n / at_once) } else { element }
}

/// Name of element `n` of so many that a SPEC names.
fn element(spec: &str, n: u64, count: u64) -> String {
    if count == 1 {
        return spec.to_owned();
    }
    if let Some((open, close)) = range(spec) {
        let subscript = &spec[open + 1..close];
        let start = subscript.split(['.', ':']).next().unwrap_or_default().trim();
        let start: i64 = if start.is_empty() { 0 } else { start.parse().unwrap_or(0) };
        return format!("{}[{}]{}", &spec[..open], start + n as i64, &spec[close + 1..]);
    }
    // A whole array, perhaps at a function: elements in memory order.
    let end = spec.find(['@', '#']).unwrap_or(spec.len());
    format!("{}[{n}]{}", &spec[..end], &spec[end..])
}

/// The places of the brackets of the one subscript that is a range.
fn range(spec: &str) -> Option<(usize, usize)> {
    let mut found = None;
    for (open, _) in spec.match_indices('[') {
        let close = open + spec[open..].find(']')?;
        if spec[open..close].contains("..") {
            if found.is_some() {
                return None;
            }
            found = Some((open, close));
        }
    }
    found
}

/// Name of a component by its number among all.
fn name(document: &Document<'_>, answers: &Answers, component_: u64) -> String {
    let found = answers.input_of(component_);
    let found = found.and_then(|(input, n)| Some((document.report.inputs.get(input)?, n)));
    found.map_or(String::new(), |(input, n)| component(input, n))
}

/// The Euclidean norm of a gradient.
pub(crate) fn norm(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |norm: f64, x| norm.hypot(*x))
}

/// Outputs with the largest components of their gradients.
pub(crate) fn table(document: &Document<'_>, answers: &Answers) -> Table {
    let outputs: HashMap<u64, Output<'_>> = document.report.outputs.iter().collect();
    let rows = answers.gradients.iter().map(|row| {
        let output = row.output.and_then(|index| outputs.get(&index));
        cells(document, answers, row, output)
    });
    let columns = columns(&[
        ("output", true),
        ("value", true),
        ("norm", true),
        ("by", false),
        ("derivative", true),
        ("where", false),
    ]);
    Table { columns, rows: rows.collect() }
}

/// Cells of a row, which is the gradient of `output`, or of the sum of all.
fn cells(document: &Document<'_>, answers: &Answers, row: &Row, output: Option<&Output<'_>>) -> Vec<Cell> {
    let mut title = Cell::text(row.output.map_or("sum".to_owned(), |index| index.to_string()));
    let label = output.and_then(|output| document.report.outputs.label_text(output.label));
    title.lines.extend(label.map(Line::from));
    let value = output.map_or(String::new(), |output| float(output.value));
    let norm = float(norm(&row.values).into());
    let [names, numbers] = largest(document, answers, row);
    let place = output.and_then(|output| whereabouts(document.place(output.site)));
    let place = place.unwrap_or_else(|| "at the end".to_owned());
    vec![title, Cell::text(value), Cell::text(norm), names, numbers, Cell::text(place)]
}

/// Numbers of the largest of `values`, NaN first, and counts of those that are smaller, and zero.
fn ranked(values: &[f64]) -> (Vec<usize>, usize, usize) {
    let mut order: Vec<usize> = (0..values.len()).filter(|&n| values[n] != 0.0).collect();
    let (smaller, zero) = (order.len().saturating_sub(LARGEST), values.len() - order.len());
    let size = |&n: &usize| {
        let size = values[n].abs();
        if size.is_nan() { f64::INFINITY } else { size }
    };
    let shown = LARGEST.min(order.len());
    if shown < order.len() {
        order.select_nth_unstable_by(shown, |a, b| size(b).total_cmp(&size(a)));
    }
    order.truncate(shown);
    order.sort_by(|a, b| size(b).total_cmp(&size(a)).then(a.cmp(b)));
    (order, smaller, zero)
}

/// The largest components of a row, NaN first: names and numbers. Components that are zero are counted, not named.
fn largest(document: &Document<'_>, answers: &Answers, row: &Row) -> [Cell; 2] {
    let (order, smaller, zero) = ranked(&row.values);
    let mut names = Cell::default();
    let mut numbers = Cell::default();
    for n in order {
        names.lines.push(name(document, answers, n as u64).into());
        numbers.lines.push(float(row.values[n].into()).into());
    }
    for (count, what) in [(smaller, "smaller"), (zero, "zero")] {
        if count > 0 {
            names.lines.push(format!("… {} {what}", number(count as u64)).into());
        }
    }
    [names, numbers]
}

/// Derivatives of outputs in each direction.
pub(crate) fn directions(answers: &Answers) -> Table {
    let rows = answers.directions.iter().map(|row| {
        let title = row.output.map_or("sum".to_owned(), |index| index.to_string());
        let mut numbers = Cell::default();
        let shown = row.values.iter().take(LARGEST).map(|&value| Line::from(float(value.into())));
        numbers.lines.extend(shown);
        let more = row.values.len().saturating_sub(LARGEST);
        numbers.lines.extend((more > 0).then(|| Line::from(format!("… {} more", number(more as u64)))));
        vec![Cell::text(title), numbers]
    });
    Table { columns: columns(&[("output", true), ("derivative", true)]), rows: rows.collect() }
}

/// Rounding errors of outputs by source line, of each output the largest first.
pub(crate) fn budget(document: &Document<'_>, answers: &Answers) -> Table {
    let mut rows: Vec<(Option<u64>, String, f64, f64)> = Vec::new();
    for share in &answers.budget {
        let place = whereabouts(document.place(share.site)).unwrap_or_default();
        match rows
            .iter_mut()
            .find(|(output, known, ..)| (*output, known.as_str()) == (share.output, place.as_str()))
        {
            Some((_, _, error, magnitude)) => {
                *error += share.error;
                *magnitude += share.magnitude;
            }
            None => rows.push((share.output, place, share.error, share.magnitude)),
        }
    }
    let rows = rows.into_iter().map(|(output, place, error, magnitude)| {
        let title = output.map_or("sum".to_owned(), |index| index.to_string());
        let short = |x: f64| Cell::text(format!("{x:.2e}"));
        vec![Cell::text(title), short(error), short(magnitude), Cell::text(place)]
    });
    let columns = columns(&[("output", true), ("error", true), ("magnitudes", true), ("where", false)]);
    Table { columns, rows: rows.collect() }
}

/// The sentence about operations whose rounding is not known; nothing if all are.
pub(crate) fn unknown(answers: &Answers) -> Option<String> {
    let count = answers.unknown_roundings.filter(|&count| count > 0)?;
    Some(format!(
        "The roundings of {} are not known and not counted: library functions, long doubles, infinities and NaN.",
        words::count(count, "operation")
    ))
}

/// The sentence about outputs that are not in the table; nothing if all are.
pub(crate) fn others(document: &Document<'_>, answers: &Answers) -> Option<String> {
    let shown = answers.gradients.iter().filter(|row| row.output.is_some()).count() as u64 + answers.left_out;
    let others = document.report.outputs.len().saturating_sub(shown);
    let is_sum = answers.gradients.iter().any(|row| row.output.is_none());
    let depends = if others == 1 { "depends" } else { "depend" };
    (others > 0 && !is_sum && answers.incomplete.is_none())
        .then(|| format!("{} {depends} on no input.", words::count(others, "more output")))
}

/// Writes all gradients as numpy's file of an array of doubles, outputs × components.
pub(crate) fn write_array(answers: &Answers, out: &mut dyn Write) -> io::Result<()> {
    let (rows, columns) = (answers.gradients.len(), answers.width());
    write_head("'<f8'", &format!("({rows}, {columns})"), out)?;
    let mut values = answers.gradients.iter().flat_map(|row| &row.values);
    values.try_for_each(|value| out.write_all(&value.to_le_bytes()))
}

/// The head of version 1.0 of the format: magic, the length of what follows, and a Python dictionary, padded with blanks
/// such that the numbers begin at a multiple of 64 bytes (numpy's NEP 1). `kind` and `shape` are as in Python.
pub(crate) fn write_head(kind: &str, shape: &str, out: &mut dyn Write) -> io::Result<()> {
    const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";
    let mut head = format!("{{'descr': {kind}, 'fortran_order': False, 'shape': {shape}, }}");
    let before = MAGIC.len() + 2;
    let padding = (before + head.len() + 1).next_multiple_of(64) - (before + head.len() + 1);
    head.extend(std::iter::repeat_n(' ', padding));
    head.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&(head.len() as u16).to_le_bytes())?;
    out.write_all(head.as_bytes())
}

/// Rows and columns of an array whose shape, in parentheses, is the first thing in `text`; nothing if it has no such.
fn shape(text: &str) -> Option<(usize, usize)> {
    let sizes = text.split(['(', ')']).nth(1)?.split(',').map(str::trim);
    let sizes = sizes.filter(|size| !size.is_empty()).map(|size| size.parse().ok());
    match sizes.collect::<Option<Vec<usize>>>()?[..] {
        [rows] => Some((rows, 1)),
        [rows, columns] => Some((rows, columns)),
        _ => None,
    }
}

/// Columns of the array of doubles in numpy's file `bytes`, one-dimensional or two-dimensional; the reason why it is none.
pub fn read_columns(bytes: &[u8]) -> Result<Vec<Vec<f64>>, &'static str> {
    const NONE: &str = "not a numpy file of doubles in one or two dimensions";
    let length = match bytes {
        [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _, low, high, ..] => {
            10 + usize::from(u16::from_le_bytes([*low, *high]))
        }
        _ => return Err(NONE),
    };
    let head = bytes.get(10..length).and_then(|head| std::str::from_utf8(head).ok()).ok_or(NONE)?;
    let after = |key: &str| head.split(key).nth(1);
    let by_columns = after("'fortran_order':").ok_or(NONE)?.trim_start().starts_with("True");
    let (rows, columns) = after("'shape':").and_then(shape).ok_or(NONE)?;
    let (words, rest) = bytes[length..].as_chunks();
    if !head.contains("'<f8'") || !rest.is_empty() || Some(words.len()) != rows.checked_mul(columns) {
        return Err(NONE);
    }
    let at =
        |row: usize, column: usize| if by_columns { column * rows + row } else { row * columns + column };
    let number = |row, column| f64::from_le_bytes(words[at(row, column)]);
    Ok((0..columns).map(|column| (0..rows).map(|row| number(row, column)).collect()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_core::findings::TextNumbers;

    fn input(spec: &str, at_once: u64, count: u64) -> Input {
        let text = TextNumbers::default();
        Input { spec: spec.to_owned(), value: None, seed: 1.0, count, at_once, largest: None, text }
    }

    #[test]
    fn components_are_called_as_they_would_be_named() {
        let names = |spec, at_once, count, n| component(&input(spec, at_once, count), n);
        assert_eq!(names("x", 1, 1, 0), "x");
        assert_eq!(names("x[0..100]", 100, 100, 17), "x[17]");
        assert_eq!(names("a[3..9].y@f", 6, 12, 7), "a[4].y@f, time 1");
        assert_eq!(names("m[..][0..3]", 9, 9, 4), "m[..][0..3][4]");
        assert_eq!(names("x[..4]", 4, 4, 2), "x[2]");
        assert_eq!(names("u@solve", 5, 5, 3), "u[3]@solve");
        assert_eq!(names("f#2", 1, 30, 29), "f#2, time 29");
    }

    #[test]
    fn components_of_a_text_are_called_by_their_place_in_it() {
        let mut input = input("file:/data/in.dat", 1, 0);
        for place in [[2, 1], [2, 3]] {
            input.note_place(|| "file:in.dat".to_owned(), place);
            input.count += 1;
        }
        input.count += 1;
        input.note_place(String::new, [9, 9]);
        let names: Vec<String> = (0..3).map(|n| component(&input, n)).collect();
        assert_eq!(names, ["file:in.dat:2:1", "file:in.dat:2:3", "file:/data/in.dat, time 2"]);
    }

    #[test]
    fn arrays_are_as_numpy_wants_them() {
        let row = |values: &[f64]| Row { output: None, values: values.to_vec() };
        let gradients = vec![row(&[1.0, 2.0, 3.0]), row(&[4.0, 5.0, 6.0])];
        let answers = Answers { components: vec![1, 2], gradients, ..Answers::default() };
        let mut file = Vec::new();
        write_array(&answers, &mut file).unwrap();
        assert_eq!(file.len() % 64, 48);
        assert_eq!(&file[..8], b"\x93NUMPY\x01\x00");
        let head = u16::from_le_bytes([file[8], file[9]]) as usize;
        assert_eq!((head + 10) % 64, 0);
        assert!(String::from_utf8_lossy(&file[10..10 + head]).contains("'shape': (2, 3)"));
        assert_eq!(&file[10 + head..10 + head + 8], &1f64.to_le_bytes());
    }

    #[test]
    fn arrays_are_read_back_by_columns() {
        let row = |values: &[f64]| Row { output: None, values: values.to_vec() };
        let gradients = vec![row(&[1.0, 2.0, 3.0]), row(&[4.0, 5.0, 6.0])];
        let answers = Answers { components: vec![1, 2], gradients, ..Answers::default() };
        let mut file = Vec::new();
        write_array(&answers, &mut file).unwrap();
        assert_eq!(read_columns(&file), Ok(vec![vec![1.0, 4.0], vec![2.0, 5.0], vec![3.0, 6.0]]));
        let by_columns = String::from_utf8_lossy(&file[10..]).contains("False");
        assert!(by_columns && read_columns(&file[..file.len() - 1]).is_err() && read_columns(b"x").is_err());
    }

    #[test]
    fn norms() {
        assert_eq!(norm(&[3.0, -4.0]), 5.0);
        assert_eq!(norm(&[1e200, 1e200]), 1e200 * 2f64.sqrt());
    }
}
