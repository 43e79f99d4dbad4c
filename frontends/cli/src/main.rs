//! The `shadowgrind` command: options in, exit status out. Knows no engine and no shadow beyond their settings.
#![no_main]

use clap::{ArgAction, Parser, ValueEnum};
use shadowgrind_dbi::{IsaLevel, Launch, Options};
use std::ffi::OsString;

#[global_allocator]
static HEAP: shadowgrind_dbi::EngineHeap = shadowgrind_dbi::EngineHeap;

/// Derivatives and rounding errors of compiled programs.
#[derive(Parser)]
#[command(name = "shadowgrind", bin_name = "shadowgrind", version, about)]
struct Cli {
    /// What to carry beside every float
    #[arg(long, value_enum, default_value_t = Shadow::None)]
    shadow: Shadow,

    /// Instruction-set level that the program sees
    #[arg(long, value_enum, default_value_t = Isa::V3)]
    isa: Isa,

    /// Follow programs that child processes execute
    #[arg(long, value_name = "yes|no", value_parser = yes_no, default_value = "no", action = ArgAction::Set)]
    trace_children: bool,

    /// Print the engine's counters when the program ends
    #[arg(long, help_heading = "Engine options, for tests")]
    stats: bool,

    /// Guest instructions per superblock
    #[arg(long, value_name = "N", default_value_t = 128, help_heading = "Engine options, for tests")]
    superblock_limit: usize,

    /// Never link translated blocks
    #[arg(long, help_heading = "Engine options, for tests")]
    no_link: bool,

    /// Flush the code cache after every N blocks
    #[arg(long, value_name = "N", help_heading = "Engine options, for tests")]
    flush_every: Option<usize>,

    /// Name the program is told it was called by
    #[arg(long, value_name = "NAME", hide = true)]
    argv0: Option<OsString>,

    /// Program and arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROG [ARGS]")]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shadow {
    /// Nothing: the engine alone
    None,
}

#[derive(Clone, Copy, ValueEnum)]
enum Isa {
    Native,
    V4,
    V3,
    V2,
}

fn yes_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("expected yes or no".into()),
    }
}

shadowgrind_dbi::entry!(run);

/// Runs the command; the exit status if the program could not be started.
fn run() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let Shadow::None = cli.shadow;
    let tool_arguments = tool_arguments(&cli);
    let mut command = cli.command.into_iter();
    let program = command.next().unwrap_or_default();
    let options = Options {
        isa: match cli.isa {
            Isa::Native => IsaLevel::Native,
            Isa::V4 => IsaLevel::V4,
            Isa::V3 => IsaLevel::V3,
            Isa::V2 => IsaLevel::V2,
        },
        superblock_limit: cli.superblock_limit,
        link: !cli.no_link,
        flush_every: cli.flush_every,
        stats: cli.stats,
        trace_children: cli.trace_children,
        tool_arguments,
    };
    let launch = Launch { program, arguments: command.collect(), argv0: cli.argv0, options };
    let error = shadowgrind_dbi::run(launch);
    eprintln!("shadowgrind: {error}");
    error.exit_status()
}

/// Prints the help or version that was asked for, or what is wrong with the command, in one line; the exit status.
fn usage(error: &clap::Error) -> u8 {
    const WRONG_USAGE: u8 = 2;
    if !error.use_stderr() {
        return u8::from(error.print().is_err());
    }
    let text = error.to_string();
    let about_it = text
        .lines()
        .take_while(|line| !["Usage:", "For more"].iter().any(|end| line.starts_with(end)))
        .map(str::trim);
    let words: Vec<&str> = about_it.filter(|line| !line.is_empty()).collect();
    eprintln!("shadowgrind: {} (see --help)", words.join(" ").trim_start_matches("error: "));
    WRONG_USAGE
}

/// The tool's own arguments, without program and `--argv0`: what a program executed by this one is run with.
fn tool_arguments(cli: &Cli) -> Vec<OsString> {
    let all: Vec<OsString> = std::env::args_os().skip(1).collect();
    let own = all.len() - cli.command.len();
    let is_argv0 = |arg: &OsString| arg.as_encoded_bytes().starts_with(b"--argv0=");
    all[..own].iter().filter(|arg| *arg != "--" && !is_argv0(arg)).cloned().collect()
}
