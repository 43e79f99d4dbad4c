//! Reports of runs, read back as far as a check needs them.

use serde_json::Value;
use shadowgrind_core::differences::Values;
use shadowgrind_reports::check::Lost;

/// One run.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) inputs: Vec<SeenInput>,
    pub(super) outputs: Vec<SeenOutput>,
    /// Gradients: number of the output, and its derivative by each component.
    pub(super) gradients: Vec<(u64, Vec<f64>)>,
    pub(super) lost: Vec<Lost>,
    pub(super) warnings: Vec<String>,
    /// Codes of the warnings.
    codes: Vec<String>,
    /// The end of the program, in words.
    pub(super) ending: String,
}

/// Input as a run has it.
#[derive(Clone, Debug)]
pub(super) struct SeenInput {
    pub(super) spec: String,
    pub(super) count: u64,
    pub(super) largest: Option<f64>,
}

/// Output as a run has it.
#[derive(Clone, Debug)]
pub(super) struct SeenOutput {
    pub(super) index: u64,
    pub(super) value: f64,
    pub(super) dot: Option<f64>,
    pub(super) place: String,
}

/// A number, or the name of one that is none.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn place(site: &Value) -> String {
    let word = |key: &str| site[key].as_str();
    let last = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let at = match (word("file"), site["line"].as_u64(), word("module"), site["offset"].as_u64()) {
        (Some(file), Some(line), ..) => format!("{}:{line}", last(file)),
        (_, _, Some(module), Some(offset)) => format!("{}+{offset:#x}", last(module)),
        _ => return String::new(),
    };
    word("function").map_or(at.clone(), |function| format!("{function} ({at})"))
}

fn all(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn input(input: &Value) -> SeenInput {
    SeenInput {
        spec: input["spec"].as_str().unwrap_or_default().to_owned(),
        count: input["count"].as_u64().unwrap_or(0),
        largest: number(&input["largest"]),
    }
}

/// An output; nothing for floats that leave in binary form, of which one stands for all, in each run perhaps another.
fn output(output: &Value) -> Option<SeenOutput> {
    (output["kind"] != "written").then_some(())?;
    Some(SeenOutput {
        index: output["index"].as_u64()?,
        value: number(&output["value"]).unwrap_or(f64::NAN),
        dot: number(&output["dot"]),
        place: place(&output["site"]),
    })
}

fn gap(gap: &Value) -> Lost {
    Lost {
        instruction: gap["instruction"].as_str().unwrap_or_default().to_owned(),
        place: place(&gap["site"]),
        count: gap["count"].as_u64().unwrap_or(0),
    }
}

/// The end of `program`, in words.
fn ending(program: &Value) -> String {
    match (program["exit_code"].as_i64(), program["signal"].as_str()) {
        (Some(status), _) => format!("ended with status {status}"),
        (_, Some(signal)) => format!("was ended by {signal}"),
        _ => "did not end".to_owned(),
    }
}

/// Sums of the magnitudes of all roundings as they reach each output that a report has a budget of.
pub(super) fn roundings(text: &[u8]) -> Vec<(u64, f64)> {
    let report: Value = serde_json::from_slice(text).unwrap_or_default();
    let mut sums: Vec<(u64, f64)> = Vec::new();
    for line in all(&report["budget"]) {
        let Some((output, magnitude)) = line["output"].as_u64().zip(number(&line["magnitude"])) else {
            continue;
        };
        match sums.iter_mut().find(|(own, _)| *own == output) {
            Some((_, sum)) => *sum += magnitude,
            None => sums.push((output, magnitude)),
        }
    }
    sums
}

impl Seen {
    /// Reads a report; nothing if it is none.
    pub(super) fn read(text: &[u8]) -> Option<Seen> {
        let report: Value = serde_json::from_slice(text).ok()?;
        let warning = |warning: &Value| warning["message"].as_str().map(str::to_owned);
        Some(Seen {
            inputs: all(&report["inputs"]).map(input).collect(),
            outputs: all(&report["outputs"]).filter_map(output).collect(),
            gradients: Vec::new(),
            lost: all(&report["coverage"]["gaps"]).map(gap).collect(),
            codes: all(&report["warnings"])
                .filter_map(|warning| Some(warning["code"].as_str()?.to_owned()))
                .collect(),
            warnings: all(&report["warnings"]).filter_map(warning).collect(),
            ending: ending(&report["program"]),
        })
    }

    /// Adds gradients: `rows` are the outputs that `text`, the report, has them for, `columns` their components.
    pub(super) fn add_gradients(&mut self, text: &[u8], columns: &[Vec<f64>]) {
        let report: Value = serde_json::from_slice(text).unwrap_or_default();
        let outputs: Vec<u64> = all(&report["gradients"]).filter_map(|row| row["output"].as_u64()).collect();
        let row =
            |n: usize| columns.iter().map(|column| column.get(n).copied().unwrap_or(f64::NAN)).collect();
        self.gradients = outputs.iter().enumerate().map(|(n, &output)| (output, row(n))).collect();
    }

    /// Values of the outputs, by their numbers.
    pub(super) fn values(&self) -> Values {
        self.outputs.iter().map(|output| (output.index, output.value)).collect()
    }

    /// Tells whether both runs have the same outputs with the same values.
    pub(super) fn has_values_of(&self, other: &Seen) -> bool {
        let bits = |seen: &Seen| -> Vec<(u64, u64)> {
            seen.values().into_iter().map(|(index, value)| (index, value.to_bits())).collect()
        };
        bits(self) == bits(other)
    }

    /// Tells whether there are outputs whose gradients were not found.
    pub(super) fn leaves_out(&self) -> bool {
        self.codes.iter().any(|code| code == "gradients-left-out" || code == "record-incomplete")
    }

    /// Number of all components.
    pub(super) fn components(&self) -> u64 {
        self.inputs.iter().map(|input| input.count).sum()
    }

    /// Input of a component, and its number within that.
    pub(super) fn component(&self, component: u64) -> (usize, u64) {
        let mut number = component;
        for (n, input) in self.inputs.iter().enumerate() {
            if number < input.count {
                return (n, number);
            }
            number -= input.count;
        }
        (self.inputs.len().saturating_sub(1), number)
    }

    /// Product of a gradient and the direction of these factors.
    pub(super) fn along(&self, row: &[f64], factor: impl Fn(usize, u64) -> f64) -> f64 {
        let inputs = self.inputs.iter().enumerate();
        let factors = inputs.flat_map(|(n, input)| (0..input.count).map(move |number| (n, number)));
        row.iter()
            .zip(factors)
            .map(|(x, (n, number))| if *x == 0.0 { 0.0 } else { x * factor(n, number) })
            .sum()
    }

    /// Tells whether an output and its derivative have no more digits than floats of four bytes.
    pub(super) fn is_single(&self, index: u64) -> bool {
        let output = self.outputs.iter().find(|output| output.index == index);
        let fits = |x: f64| f64::from(x as f32) == x;
        output.is_some_and(|output| fits(output.value) && output.dot.is_some_and(fits))
    }
}
