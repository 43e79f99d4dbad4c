//! The `shadowgrind` command: options in, exit status out. Knows no engine and no shadow beyond their settings.
#![cfg_attr(not(test), no_main)]

mod check;
mod meaning;
mod options;
mod symbols;

use clap::{CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;

#[global_allocator]
static HEAP: shadowgrind_dbi::EngineHeap = shadowgrind_dbi::EngineHeap;

/// Exit status of a command that was not understood.
const WRONG_USAGE: u8 = 2;

#[cfg(not(test))]
shadowgrind_dbi::entry!(run);

/// Runs the command; the exit status if the program could not be started.
#[cfg_attr(test, expect(dead_code, reason = "tests have a main of their own"))]
fn run() -> u8 {
    let mut all: Vec<OsString> = std::env::args_os().collect();
    if all.get(1).is_some_and(|first| first == "symbols") {
        return list_symbols(&all[1..]);
    }
    if all.get(1).is_some_and(|first| first == "check") {
        return check_derivatives(&all[1..]);
    }
    name_command(&mut all);
    let launch = match understood(&all) {
        Ok(launch) => launch,
        Err(status) => return status,
    };
    let messages = launch.command.messages;
    let error = shadowgrind_dbi::run(&launch);
    shadowgrind_dbi::say(messages, &error.to_string());
    error.exit_status()
}

/// The program to be run as `words` say, of which the first is the command's name. The exit status if they are no good, which
/// has been said, or ask for help alone.
fn understood(words: &[OsString]) -> Result<shadowgrind_dbi::Launch, u8> {
    let refused = |line: &str| {
        shadowgrind_dbi::say(None, line);
        WRONG_USAGE
    };
    let typed = options::Cli::command().try_get_matches_from(words).map_err(|error| usage(&error))?;
    let cli = options::Cli::from_arg_matches(&typed).map_err(|error| usage(&error))?;
    let unanswered = meaning::unanswered(&typed, cli.shadow);
    if let Some(error) = unanswered.refusal.or_else(|| cli.check().err()) {
        return Err(refused(&error));
    }
    if !cli.is_continued() {
        unanswered.idle.iter().for_each(|line| shadowgrind_dbi::say(None, line));
    }
    let options = words.get(1..).unwrap_or_default();
    cli.launch(options).map_err(|error| refused(&error.to_string()))
}

/// Lists what a SPEC can name, as `words` say, of which the first is the command's name; the exit status.
fn list_symbols(words: &[OsString]) -> u8 {
    let symbols = match symbols::Symbols::try_parse_from(words) {
        Ok(symbols) => symbols,
        Err(error) => return usage(&error),
    };
    match symbols.list() {
        Ok(()) => 0,
        Err((status, line)) => {
            shadowgrind_dbi::say(None, &line);
            status
        }
    }
}

/// Checks derivatives as `words` say, of which the first is the command's name; the exit status.
fn check_derivatives(words: &[OsString]) -> u8 {
    let options = match check::CheckOptions::try_parse_from(words) {
        Ok(options) => options,
        Err(error) => return usage(&error),
    };
    match check::check(&options) {
        Ok(status) => status,
        Err(failure) => {
            failure.line.iter().for_each(|line| shadowgrind_dbi::say(None, line));
            failure.status
        }
    }
}

/// Turns a command that lists, which stands where PROG might, into its option.
fn name_command(all: &mut [OsString]) {
    let Some(first) = all.get_mut(1) else { return };
    if let Some(command @ ("inputs" | "outputs")) = first.to_str() {
        *first = format!("--list={command}").into();
    }
}

/// Prints the help or version that was asked for, or what is wrong with the command, in one line; the exit status.
fn usage(error: &clap::Error) -> u8 {
    if !error.use_stderr() {
        return u8::from(error.print().is_err());
    }
    let text = error.to_string();
    let about_it = text
        .lines()
        .take_while(|line| !["Usage:", "For more"].iter().any(|end| line.starts_with(end)))
        .map(str::trim);
    let words: Vec<&str> = about_it.filter(|line| !line.is_empty()).collect();
    let line = words.join(" ");
    shadowgrind_dbi::say(None, &format!("{} (see --help)", line.trim_start_matches("error: ")));
    WRONG_USAGE
}
