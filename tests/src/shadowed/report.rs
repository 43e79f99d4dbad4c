//! Reads a JSON report back: what its documentation promises to its readers, and nothing more.

use serde_json::Value;

/// A whole report.
#[derive(Clone, Debug)]
pub struct Report {
    /// Outputs, in the order in which the program made them.
    pub outputs: Vec<Output>,
    /// Best ranked first.
    pub findings: Vec<Finding>,
    /// The rest of the document.
    pub document: Value,
}

/// One output.
#[derive(Clone, Debug)]
pub struct Output {
    /// `printf`, `iostream`, `spec`, …
    pub kind: String,
    /// The SPEC or name, if it has one.
    pub label: Option<String>,
    /// The float; an 80-bit one is rounded.
    pub value: f64,
    /// The number that its text is, where that is known: of fewer digits, perhaps.
    pub printed: Option<f64>,
    /// The derivative; of one with a gradient, in the direction of all inputs.
    pub dot: Option<f64>,
    /// The derivatives by each component.
    pub gradient: Vec<f64>,
    /// The real it stands for, in decimal.
    pub real: Option<String>,
    /// The error.
    pub error_bits: Option<f64>,
    /// The site at which it was made.
    pub site: Site,
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// `cancellation`, `branch`, …
    pub kind: String,
    /// The operation's name.
    pub operation: String,
    /// The site of the comparison.
    pub site: Site,
    /// Number of times it went wrong.
    pub count: u64,
    /// Number of times it ran; 0 where that is not said.
    pub executions: u64,
    /// Number of times it could not be told.
    pub unsettled: u64,
    /// The outputs that it reaches.
    pub outputs: Vec<u64>,
    /// The expression as FPCore.
    pub fpcore: Option<String>,
    /// The note beside it; empty if there is none.
    pub hint: String,
}

/// A place in the program; what is unknown is empty or 0.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// The innermost function.
    pub function: String,
    /// The source file's name without its directory.
    pub file: String,
    /// The line.
    pub line: u64,
    /// Lines of the callers it was inlined into, outwards.
    pub inlined_by: Vec<u64>,
}

impl Report {
    /// Tells whether its verdict is "clean", and no finding says otherwise.
    pub fn is_clean(&self) -> bool {
        let matters = |finding: &Finding| {
            !finding.outputs.is_empty()
                || ["branch", "conversion", "invalid", "overflow"].contains(&finding.kind.as_str())
        };
        self.document["verdict"]["clean"] == true && !self.findings.iter().any(matters)
    }

    /// Parses the text of a report.
    pub fn parse(text: &[u8]) -> Result<Report, String> {
        let document: Value = serde_json::from_slice(text).map_err(|e| format!("not JSON: {e}"))?;
        let schema = &document["schema"];
        if schema != "shadowgrind-report/1" {
            return Err(format!("schema {schema}"));
        }
        let list = |key: &str| document[key].as_array().cloned().ok_or_else(|| format!("no {key}"));
        let mut outputs: Vec<Output> = list("outputs")?.iter().map(output).collect::<Result<_, _>>()?;
        for gradient in document["gradients"].as_array().into_iter().flatten() {
            let output = gradient["output"].as_u64().and_then(|index| outputs.get_mut(index as usize));
            let values = gradient["values"].as_array().into_iter().flatten();
            let values: Option<Vec<f64>> = values.map(number).collect();
            if let (Some(output), Some(values)) = (output, values) {
                output.dot = Some(values.iter().sum());
                output.gradient = values;
            }
        }
        let findings = list("findings")?.iter().map(finding).collect();
        Ok(Report { outputs, findings, document })
    }
}

fn output(record: &Value) -> Result<Output, String> {
    Ok(Output {
        kind: text(&record["kind"]),
        printed: record["printed"].as_str().and_then(|text| text.trim().parse().ok()),
        label: record["label"].as_str().map(str::to_owned),
        value: number(&record["value"]).ok_or_else(|| format!("no value in {record}"))?,
        dot: number(&record["dot"]),
        gradient: Vec::new(),
        real: record["real"].as_str().map(str::to_owned),
        error_bits: number(&record["error_bits"]),
        site: site(&record["site"]),
    })
}

fn finding(record: &Value) -> Finding {
    Finding {
        kind: text(&record["kind"]),
        operation: text(&record["operation"]),
        site: site(&record["site"]),
        count: record["count"].as_u64().unwrap_or(0),
        executions: record["executions"].as_u64().unwrap_or(0),
        unsettled: record["unsettled"].as_u64().unwrap_or(0),
        outputs: record["outputs"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect(),
        fpcore: record["fpcore"].as_str().map(str::to_owned),
        hint: record["hint"].as_str().unwrap_or_default().to_owned(),
    }
}

fn site(record: &Value) -> Site {
    let file = text(&record["file"]);
    let inlined = record["inlined_by"].as_array().into_iter().flatten();
    Site {
        function: text(&record["function"]),
        file: file.rsplit('/').next().unwrap_or_default().to_owned(),
        line: record["line"].as_u64().unwrap_or(0),
        inlined_by: inlined.filter_map(|frame| frame["line"].as_u64()).collect(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A JSON number, one of the special values, or the decimal string of an 80-bit float.
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_every_spelling() {
        let read = |text| number(&serde_json::from_str(text).expect("valid"));
        assert_eq!(read("0.1"), Some(0.1));
        assert_eq!(read("\"-Infinity\""), Some(f64::NEG_INFINITY));
        assert!(read("\"NaN\"").is_some_and(f64::is_nan));
        assert_eq!(read("\"1.00000000000000000000e3\""), Some(1000.0));
        assert_eq!(read("null"), None);
    }
}
