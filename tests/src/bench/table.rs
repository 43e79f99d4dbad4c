//! Prints a finished row as a line of the table, and the whole run as JSON. Knows figures, not programs.

use super::measure::Pair;
use super::rows::Row;
use crate::host;
use serde::Serialize;

/// A row with its samples.
#[derive(Debug, Serialize)]
pub struct Result {
    /// The row's name.
    pub name: &'static str,
    /// The unit of its figures.
    pub unit: &'static str,
    /// Median, least and greatest figure of the pairs.
    pub median: f64,
    /// The least figure of the pairs.
    pub low: f64,
    /// The greatest figure of the pairs.
    pub high: f64,
    /// Median CPU seconds of the native run.
    pub native_cpu: f64,
    /// Median figure of Valgrind in the same run.
    pub valgrind: Option<f64>,
    /// Median figure of NSan.
    pub nsan: Option<f64>,
    /// The limit that applies on this machine.
    pub must: f64,
    /// The figure to aim at.
    pub want: Option<f64>,
    /// True if the median is within the limit.
    pub holds: bool,
    /// Every pair.
    pub pairs: Vec<Pair>,
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

impl Result {
    /// Sums up the pairs of a row.
    pub fn new(row: &Row, pairs: Vec<Pair>) -> Result {
        let figures: Vec<f64> = pairs.iter().map(|p| p.figure).collect();
        let middle = median(figures.clone());
        let must = row.must[usize::from(!host::has_upper_registers())];
        let of_others = |figure: fn(&Pair) -> Option<f64>| {
            let figures: Vec<f64> = pairs.iter().filter_map(figure).collect();
            (!figures.is_empty()).then(|| median(figures))
        };
        Result {
            name: row.name,
            unit: row.figure.unit(),
            median: middle,
            low: figures.iter().copied().fold(f64::INFINITY, f64::min),
            high: figures.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            native_cpu: median(pairs.iter().map(|p| p.native.cpu).collect()),
            valgrind: of_others(|pair| pair.valgrind),
            nsan: of_others(|pair| pair.nsan),
            must,
            want: row.want,
            holds: middle <= must,
            pairs,
        }
    }
}

/// The head of the table.
pub fn head() -> String {
    format!(
        "{:<38} {:>8} {:>9} {:>17} {:>8} {:>8} {:>9} {:>9}\n{}",
        "program",
        "native s",
        "tool",
        "low – high",
        "must",
        "want",
        "valgrind",
        "nsan",
        "-".repeat(112)
    )
}

/// One line of the table.
pub fn line(result: &Result) -> String {
    let optional = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| format!("{x:.2}"));
    format!(
        "{:<38} {:>8.3} {:>9} {:>17} {:>8} {:>8} {:>9} {:>9}  {}",
        result.name,
        result.native_cpu,
        format!("{:.2} {}", result.median, result.unit.split(' ').next().unwrap_or_default()),
        format!("{:.2} – {:.2}", result.low, result.high),
        format!("{:.2}", result.must),
        optional(result.want),
        optional(result.valgrind),
        optional(result.nsan),
        if result.holds { "" } else { "MISSED" }
    )
}

/// Everything about a run, for files.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    /// Names this format.
    pub schema: &'static str,
    /// The shadow that was measured.
    pub shadow: &'a str,
    /// Further options of the engine.
    pub engine_options: Vec<String>,
    /// The CPU's name.
    pub cpu: String,
    /// The number of hardware threads.
    pub cpus: usize,
    /// The kernel's release.
    pub kernel: String,
    /// The rows.
    pub rows: &'a [Result],
}

impl<'a> Report<'a> {
    /// A report about these rows on this machine.
    pub fn new(shadow: &'a str, engine_options: Vec<String>, rows: &'a [Result]) -> Report<'a> {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model =
            info.lines().find_map(|l| l.strip_prefix("model name")?.split_once(": ").map(|(_, name)| name));
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Report {
            schema: "shadowgrind-bench/1",
            shadow,
            engine_options,
            cpu: model.unwrap_or("unknown").to_owned(),
            cpus: std::thread::available_parallelism().map_or(0, usize::from),
            kernel: kernel.trim().to_owned(),
            rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
