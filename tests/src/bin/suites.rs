//! `cargo run --release -p shadowgrind-tests --bin suites -- --help`: other people's test suites under the tool.

#![forbid(unsafe_code)]

use clap::{Parser, ValueEnum};
use shadowgrind_tests::suites::runner::{Item, run_all};
use shadowgrind_tests::suites::{fetch, posix, torture, valgrind};
use std::process::ExitCode;

/// Runs GCC's c-torture/execute, Valgrind's none/tests or the Open POSIX Test Suite natively and under shadowgrind, and
/// counts what differs.
///
/// The sources come from Debian's source packages, fetched on first use. The tool is the one of this workspace,
/// built if need be, or the one that SHADOWGRIND_BIN names; SHADOWGRIND_ENGINE_OPTIONS are added to each run.
#[derive(Parser)]
struct Options {
    suite: Suite,
    /// Levels of optimisation, for gcc-torture
    #[arg(long, value_delimiter = ',', default_values = ["-O0", "-O2", "-O3"], allow_hyphen_values = true)]
    levels: Vec<String>,
    /// Only programs whose name contains this
    #[arg(long, default_value = "")]
    filter: String,
    /// Only every N-th program
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Programs at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Debian mirror
    #[arg(long, default_value = "http://deb.debian.org/debian")]
    mirror: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Suite {
    /// gcc.c-torture/execute of the package gcc-12
    GccTorture,
    /// none/tests and none/tests/amd64 of the package valgrind
    Valgrind,
    /// The Open POSIX Test Suite of the package posixtestsuite
    Posix,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("suites: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<bool, String> {
    let groups: Vec<(String, Vec<Item>)> = match options.suite {
        Suite::GccTorture => {
            let group = |level: &String| {
                Ok((format!("gcc-torture {level}"), torture::items(level, &options.mirror)?))
            };
            options.levels.iter().map(group).collect::<Result<_, String>>()?
        }
        Suite::Posix => vec![("posixtestsuite".to_owned(), posix::items(&options.mirror)?)],
        Suite::Valgrind => vec![("valgrind none/tests".to_owned(), valgrind::items(&options.mirror)?)],
    };
    let mut all_same = true;
    let mut log = String::new();
    for (title, items) in groups {
        let chosen =
            items.into_iter().filter(|i| i.name.contains(&options.filter)).step_by(options.every as usize);
        let count = run_all(&chosen.collect::<Vec<_>>(), options.jobs);
        print!("{}", count.report(&title));
        count.different.iter().for_each(|(name, how)| log += &format!("== {name}\n{how}\n"));
        all_same &= count.different.is_empty();
    }
    let path = fetch::suites_dir().join("differences.txt");
    std::fs::write(&path, log).map_err(|e| format!("{}: {e}", path.display()))?;
    eprintln!("differences in full: {}", path.display());
    Ok(all_same)
}
