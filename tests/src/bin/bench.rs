//! `cargo run --release -p shadowgrind-tests --bin bench -- --help`: the benchmark's command line.

#![forbid(unsafe_code)]

use clap::Parser;
use shadowgrind_tests::bench::measure::{self, check_output, commands, pair};
use shadowgrind_tests::bench::rows::{Row, SHADOWS, rows};
use shadowgrind_tests::bench::table::{Report, Result as Line, head, line};
use shadowgrind_tests::{host, tool};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures what programs cost under shadowgrind, in pairs with their native runs.
///
/// The tool is the one of this workspace, built if need be, or the one that SHADOWGRIND_BIN names.
/// SHADOWGRIND_ENGINE_OPTIONS are added to each of its runs.
#[derive(Parser)]
struct Options {
    /// The shadow to measure
    #[arg(long, default_value = "none", value_parser = SHADOWS)]
    shadow: String,
    /// Pairs of runs per row
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pairs: u32,
    /// Only rows whose name contains this
    #[arg(long, default_value = "")]
    filter: String,
    /// Measure `valgrind --tool=none` in the same run, in so many of the pairs: it takes up to 200 times as long as native
    #[arg(long, value_name = "PAIRS", default_value_t = 0, default_missing_value = "1", num_args = 0..=1, require_equals = true)]
    valgrind: u32,
    /// Measure clang-19's NSan (-fsanitize=numerical) in so many of the pairs, where the row's program is compiled for it: it takes up to
    /// 300 times as long as native
    #[arg(long, value_name = "PAIRS", default_value_t = 0, default_missing_value = "1", num_args = 0..=1, require_equals = true)]
    nsan: u32,
    /// JSON file to write (default: bench-SHADOW.json in cargo's target directory)
    #[arg(long)]
    json: Option<PathBuf>,
    /// End with status 1 if a limit is missed
    #[arg(long)]
    check: bool,
    /// List the rows and end
    #[arg(long)]
    list: bool,
    /// Run a command so many times and print its use as JSON
    #[arg(long, hide = true, requires = "command", value_name = "TIMES")]
    measure: Option<u32>,
    #[arg(hide = true, last = true)]
    command: Vec<OsString>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    match run(&options) {
        Ok(all_hold) if all_hold || !options.check => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::from(2)
        }
    }
}

/// Place of the shadows of vector registers in this run.
fn binding() -> &'static str {
    let without = std::env::var("SHADOWGRIND_ENGINE_OPTIONS").is_ok_and(|o| o.contains("--no-avx512"));
    if host::has_upper_registers() && !without {
        "in registers, with AVX-512"
    } else {
        "in memory, without AVX-512"
    }
}

fn run(options: &Options) -> Result<bool, String> {
    if let Some(times) = options.measure {
        let usage = measure::measure_here(times, &options.command)?;
        println!("{}", serde_json::to_string(&usage).map_err(|e| e.to_string())?);
        return Ok(true);
    }
    let rows = rows(&options.shadow).expect("clap accepts only these");
    let rows: Vec<&Row> = rows.iter().filter(|r| r.name.contains(&options.filter)).collect();
    if options.list {
        rows.iter().for_each(|row| println!("{}", row.name));
        return Ok(true);
    }
    let mut lines = Vec::new();
    println!("{}: shadows {}", options.shadow, binding());
    println!("{}", head());
    for row in rows {
        if let Some(result) = measure_row(row, options)? {
            println!("{}", line(&result));
            lines.push(result);
        }
    }
    write_json(options, &lines)?;
    Ok(lines.iter().all(|l| l.holds))
}

fn measure_row(row: &Row, options: &Options) -> Result<Option<Line>, String> {
    let Some(commands) = commands(row, options.nsan > 0)? else { return Ok(None) };
    // A row that fails says so and leaves the others alone: half a table is worth having.
    let measured = check_output(row, &commands, &options.shadow).and_then(|()| {
        let others = |number| [number < options.valgrind, number < options.nsan];
        (0..options.pairs).map(|n| pair(row, &commands, &options.shadow, others(n))).collect()
    });
    match measured {
        Ok(pairs) => Ok(Some(Line::new(row, pairs))),
        Err(message) => {
            println!("{:<38} FAILED: {message}", row.name);
            Ok(None)
        }
    }
}

fn write_json(options: &Options, lines: &[Line]) -> Result<(), String> {
    let default = || host::target_dir().join(format!("bench-{}.json", options.shadow));
    let path = options.json.clone().unwrap_or_else(default);
    let engine_options = tool::Engine::from_env().options;
    let text = serde_json::to_string_pretty(&Report::new(&options.shadow, engine_options, lines))
        .map_err(|e| e.to_string())?;
    std::fs::write(&path, text + "\n").map_err(|e| format!("{}: {e}", path.display()))?;
    eprintln!("written: {}", path.display());
    Ok(())
}
