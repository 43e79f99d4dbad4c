//! `shadowgrind symbols PROG [PATTERN]`: the variables and functions of a file that a SPEC can name. Runs nothing.

use clap::Parser;
use shadowgrind_reports::names;
use shadowgrind_symbols::{Nameable, SymbolFile};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Exit status where nothing fits, as grep's.
const NOTHING: u8 = 1;
/// Exit status where the file cannot be read as a program.
const NO_PROGRAM: u8 = 126;
/// Exit status where there is no such file.
const NOT_FOUND: u8 = 127;

/// List variables and functions that --input and --output can name
#[derive(Parser)]
#[command(name = "shadowgrind symbols")]
pub(crate) struct Symbols {
    /// Write a JSON array
    #[arg(long)]
    json: bool,

    /// Program or library; without a slash it is looked up in PATH, and then here
    #[arg(value_name = "PROG")]
    program: OsString,

    /// Text that a SPEC must contain
    #[arg(value_name = "PATTERN", default_value = "")]
    pattern: String,
}

impl Symbols {
    /// Writes the list to standard output; the exit status, and the line that says why it is not 0.
    pub(crate) fn list(&self) -> Result<(), (u8, String)> {
        let shown = self.program.to_string_lossy();
        let Some(path) = find(&self.program) else {
            return Err((NOT_FOUND, format!("{shown}: no such program or library")));
        };
        let file = SymbolFile::open(&path).map_err(|error| (NO_PROGRAM, error.to_string()))?;
        let all = file.nameable().map_err(|error| (NO_PROGRAM, error.to_string()))?;
        let fitting: Vec<&Nameable> =
            all.iter().filter(|nameable| nameable.spec.contains(&self.pattern)).collect();
        let write = if self.json { names::write_json } else { names::write_text };
        let mut text = Vec::new();
        // Whoever reads it may have seen enough.
        let _ = write(&fitting, &mut text).and_then(|()| std::io::stdout().write_all(&text));
        if fitting.is_empty() {
            let of =
                if self.pattern.is_empty() { String::new() } else { format!(" with \"{}\"", self.pattern) };
            return Err((NOTHING, format!("{shown}: nothing{of} that a SPEC can name")));
        }
        Ok(())
    }
}

/// The file of a program, looked up as a shell would; that of a library is as a rule not on the way.
fn find(program: &OsStr) -> Option<PathBuf> {
    let direct = Path::new(program);
    if direct.components().count() > 1 || direct.is_absolute() {
        return direct.is_file().then(|| direct.to_owned());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut on_path = std::env::split_paths(&path).map(|directory| directory.join(program));
    on_path.find(|file| file.is_file()).or_else(|| direct.is_file().then(|| direct.to_owned()))
}
