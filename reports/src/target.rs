//! `--report=json:FILE` and `--report=html:FILE`: where reports go besides the terminal.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use shadowgrind_core::findings::Answers;

use crate::document::Document;
use crate::{annotated, arrays, gradients, html, json, matrix};

impl Format {
    /// The option that asks for the file.
    fn option(self) -> &'static str {
        match self {
            Format::Json | Format::Html => "--report",
            Format::Annotated => "--annotate",
            Format::Gradient => "--gradient",
            Format::Jacobian => "--jacobian",
            Format::Sparsity => "--sparsity",
            Format::Outputs => "--output-array",
        }
    }
}

/// Formats of reports in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Json,
    Html,
    /// Texts of the program, in a directory.
    Annotated,
    Gradient,
    Jacobian,
    Sparsity,
    /// All outputs, as an array.
    Outputs,
}

/// One `--report`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportTarget {
    format: Format,
    /// Absolute: the guest may go elsewhere before the report is written.
    file: PathBuf,
}

/// A `--report` that cannot be read or written.
#[derive(Debug)]
pub enum TargetError {
    /// Not `json:FILE` nor `html:FILE`.
    Malformed(String),
    /// The file of this option cannot be written.
    Unwritable(&'static str, PathBuf, io::Error),
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TargetError::Malformed(target) => write!(f, "`{target}`: expected json:FILE or html:FILE"),
            TargetError::Unwritable(option, file, error) => {
                write!(f, "{option}: cannot write {}: {error}", file.display())
            }
        }
    }
}

impl std::error::Error for TargetError {}

impl FromStr for ReportTarget {
    type Err = TargetError;

    fn from_str(target: &str) -> Result<Self, TargetError> {
        let malformed = || TargetError::Malformed(target.to_owned());
        let (format, file) = target.split_once(':').ok_or_else(malformed)?;
        let format = match format {
            "json" => Format::Json,
            "html" => Format::Html,
            _ => return Err(malformed()),
        };
        if file.is_empty() {
            return Err(malformed());
        }
        ReportTarget::of(format, Path::new(file))
    }
}

impl ReportTarget {
    /// The directory for copies of the program's texts, with what was found beside each number.
    pub fn annotated(directory: &Path) -> Result<Self, TargetError> {
        ReportTarget::of(Format::Annotated, directory)
    }

    /// Tells whether it says where outputs stand in the program's texts.
    pub fn tells_places(&self) -> bool {
        matches!(self.format, Format::Json | Format::Annotated)
    }

    /// The file for gradients as an array.
    pub fn gradient(file: &Path) -> Result<Self, TargetError> {
        ReportTarget::of(Format::Gradient, file)
    }

    /// The file for the derivatives other than zero.
    pub fn jacobian(file: &Path) -> Result<Self, TargetError> {
        ReportTarget::of(Format::Jacobian, file)
    }

    /// The file that says which derivatives are other than zero.
    pub fn sparsity(file: &Path) -> Result<Self, TargetError> {
        ReportTarget::of(Format::Sparsity, file)
    }

    /// The file for all outputs as an array, with what the shadow says of each.
    pub fn outputs(file: &Path) -> Result<Self, TargetError> {
        ReportTarget::of(Format::Outputs, file)
    }

    fn of(format: Format, file: &Path) -> Result<Self, TargetError> {
        let absolute = std::path::absolute(file);
        let file = absolute.map_err(|error| TargetError::Unwritable(format.option(), file.into(), error))?;
        Ok(ReportTarget { format, file })
    }

    /// Tells whether it is for derivatives other than zero.
    pub fn is_jacobian(&self) -> bool {
        self.format == Format::Jacobian
    }

    /// Tells whether it says which derivatives are other than zero.
    pub fn is_sparsity(&self) -> bool {
        self.format == Format::Sparsity
    }

    /// Tells whether it is for gradients.
    pub fn is_gradient(&self) -> bool {
        self.format == Format::Gradient
    }

    /// The file a process writes: `%p` stands for its id (`%%` for `%`). A child of the first process gets a file of
    /// its own, FILE.PID, if the name does not make the difference.
    pub fn path(&self, pid: u32, forked: bool) -> PathBuf {
        let name = self.file.to_string_lossy();
        // A name that is not UTF-8 is kept as it is.
        let Some(name) = self.file.to_str().filter(|_| name.contains('%')) else {
            return if forked { with_pid(&self.file, pid) } else { self.file.clone() };
        };
        let (path, own) = expanded(name, pid);
        let path = PathBuf::from(path);
        if forked && !own { with_pid(&path, pid) } else { path }
    }

    /// Tells whether the file can be written, asked before the program runs; leaves nothing behind but a directory that
    /// was asked for.
    pub fn probe(&self, pid: u32, forked: bool) -> Result<(), TargetError> {
        let path = self.path(pid, forked);
        if self.format == Format::Annotated {
            let made = std::fs::create_dir_all(&path);
            return made.map_err(|error| TargetError::Unwritable(self.format.option(), path, error));
        }
        let existed = path.exists();
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .and_then(|_| if existed { Ok(()) } else { std::fs::remove_file(&path) })
            .map_err(|error| TargetError::Unwritable(self.format.option(), path, error))
    }

    /// Writes the report.
    pub fn write(&self, document: &Document<'_>, forked: bool) -> Result<(), TargetError> {
        let path = self.path(document.report.program.pid, forked);
        let written = match self.format {
            Format::Json => to_file(&path, |out| json::write(document, out)),
            Format::Html => to_file(&path, |out| html::write(document, out)),
            Format::Annotated => annotated::write_all(document, &path),
            Format::Outputs => to_file(&path, |out| arrays::write(document, out)),
            Format::Gradient => {
                to_file(&path, |out| with_answers(document, |answers| gradients::write_array(answers, out)))
            }
            Format::Jacobian => {
                to_file(&path, |out| with_answers(document, |answers| matrix::write(answers, true, out)))
            }
            Format::Sparsity => {
                to_file(&path, |out| with_answers(document, |answers| matrix::write(answers, false, out)))
            }
        };
        written.map_err(|error| TargetError::Unwritable(self.format.option(), path, error))
    }
}

/// Makes the file at `path` of what `write` writes.
fn to_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    write(&mut out)?;
    out.flush()
}

/// Writes what there is if the shadow has kept a record.
fn with_answers(document: &Document<'_>, write: impl FnOnce(&Answers) -> io::Result<()>) -> io::Result<()> {
    document.report.answers.as_ref().map_or(Ok(()), write)
}

/// The name with `pid` for `%p`, and `%` for `%%`; true if it has the former.
fn expanded(name: &str, pid: u32) -> (String, bool) {
    let mut path = String::new();
    let mut own = false;
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('%', Some('p')) => {
                own = true;
                path.push_str(&pid.to_string());
                chars.next();
            }
            ('%', Some('%')) => {
                path.push('%');
                chars.next();
            }
            _ => path.push(c),
        }
    }
    (path, own)
}

fn with_pid(path: &Path, pid: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{pid}"));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(target: &str, forked: bool) -> String {
        target.parse::<ReportTarget>().unwrap().path(42, forked).display().to_string()
    }

    #[test]
    fn names_of_files() {
        assert_eq!(path("json:/tmp/run.json", false), "/tmp/run.json");
        assert_eq!(path("json:/tmp/run.json", true), "/tmp/run.json.42");
        assert_eq!(path("html:/tmp/run-%p.html", true), "/tmp/run-42.html");
        assert_eq!(path("html:/tmp/100%%-%d-%p", false), "/tmp/100%-%d-42");
        assert_eq!(path("html:/tmp/100%%", true), "/tmp/100%.42");
        assert_eq!(path("json:/tmp/a:b", false), "/tmp/a:b");
        let here = std::env::current_dir().unwrap().join("run.json").display().to_string();
        assert_eq!(path("json:run.json", false), here);
    }

    #[test]
    fn malformed() {
        for target in ["run.json", "json:", "xml:run", ""] {
            let error = target.parse::<ReportTarget>().unwrap_err().to_string();
            assert_eq!(error, format!("`{target}`: expected json:FILE or html:FILE"));
        }
    }

    #[test]
    fn unwritable() {
        let target: ReportTarget = "json:/nowhere/run.json".parse().unwrap();
        let error = target.probe(1, false).unwrap_err().to_string();
        assert_eq!(error, "--report: cannot write /nowhere/run.json: No such file or directory (os error 2)");
        let folder: ReportTarget = "html:/tmp".parse().unwrap();
        assert_eq!(
            folder.probe(1, false).unwrap_err().to_string(),
            "--report: cannot write /tmp: Is a directory (os error 21)"
        );
    }

    #[test]
    fn a_probe_leaves_nothing_and_spoils_nothing() {
        let file = std::env::temp_dir().join(format!("shadowgrind-probe-{}", std::process::id()));
        let target: ReportTarget = format!("json:{}", file.display()).parse().unwrap();
        target.probe(1, false).unwrap();
        assert!(!file.exists());
        std::fs::write(&file, "kept").unwrap();
        target.probe(1, false).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");
        std::fs::remove_file(file).unwrap();
    }
}
