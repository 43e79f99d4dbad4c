//! Runs of the program: each a process of this command, with the same standard input and a report to be read back.

use super::CheckOptions;
use super::parting;
use super::seen::{self, Seen};
use shadowgrind_core::moves::Along;
use shadowgrind_dbi::ShadowKind;
use shadowgrind_reports::check::Parting;
use shadowgrind_reports::gradients;
use shadowgrind_reports::trace::Trace;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// Reason why a check cannot be made.
pub(crate) struct Failure {
    pub(crate) status: u8,
    /// The line that says so; nothing where that has been said already.
    pub(crate) line: Option<String>,
}

impl Failure {
    pub(super) fn usage(line: String) -> Failure {
        Failure { status: 2, line: Some(line) }
    }

    pub(super) fn internal(error: io::Error) -> Failure {
        Failure { status: 125, line: Some(format!("check: {error}")) }
    }
}

/// Directory for what runs write, removed at the end.
struct Directory(PathBuf);

impl Directory {
    fn new() -> io::Result<Directory> {
        let path = std::env::temp_dir().join(format!("shadowgrind-check-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Directory(path))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // It is a temporary one: nobody is helped by a word about it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs so far, and all that they have in common.
pub(super) struct Runs {
    options: Vec<OsString>,
    command: Vec<OsString>,
    directory: Directory,
    /// The bytes of standard input; nothing where each run may have it as it is.
    stdin: Option<PathBuf>,
    /// Names of shadows, and how often the program ran with each.
    purposes: Vec<(String, u64)>,
}

impl Runs {
    pub(super) fn new(options: &CheckOptions) -> Result<Runs, Failure> {
        let directory = Directory::new().map_err(Failure::internal)?;
        let stdin = copy_of_stdin(&directory).map_err(Failure::internal)?;
        let inputs = options.inputs.iter().map(|spec| format!("--input={spec}"));
        let outputs = options.outputs.iter().map(|spec| format!("--output={spec}"));
        let binding = options.no_avx512.then(|| "--no-avx512".to_owned());
        let common = inputs.chain(outputs).chain(binding).chain(["-q", "--all-printed"].map(str::to_owned));
        Ok(Runs {
            options: common.map(OsString::from).collect(),
            command: options.command.clone(),
            directory,
            stdin,
            purposes: Vec::new(),
        })
    }

    /// The command, for people.
    pub(super) fn argv(&self) -> Vec<String> {
        self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Number of runs.
    pub(super) fn count(&self) -> u64 {
        self.purposes.iter().map(|(_, count)| count).sum()
    }

    /// Number of runs of each kind, in words.
    pub(super) fn purposes(&self) -> Vec<String> {
        self.purposes.iter().map(|(what, count)| format!("{count} {what}")).collect()
    }

    /// A run with a shadow. `shown`: the user sees what it writes.
    pub(super) fn shadowed(
        &mut self,
        shadow: ShadowKind,
        along: Along,
        shown: bool,
    ) -> Result<Seen, Failure> {
        let file = self.directory.file("gradient.npy");
        let mut options = vec![format!("--along={along}").into()];
        if shadow.keeps_record() {
            options.push(named("--gradient=", &file));
        }
        let purpose = format!("with --shadow={}", shadow.name());
        let text = self.run(shadow, &options, shown, purpose)?;
        let mut seen = Seen::read(&text).ok_or_else(unreadable)?;
        if let Some(columns) =
            std::fs::read(&file).ok().and_then(|bytes| gradients::read_columns(&bytes).ok())
            && shadow.keeps_record()
        {
            seen.add_gradients(&text, &columns);
        }
        Ok(seen)
    }

    /// A run without a shadow, the inputs moved by these steps.
    pub(super) fn moved(&mut self, along: Along, steps: &[f64]) -> Result<Seen, Failure> {
        let options = [format!("--along={along}").into(), step_option(steps)];
        let purpose = "unshadowed with inputs moved or in place".to_owned();
        let text = self.run(ShadowKind::default(), &options, false, purpose)?;
        Seen::read(&text).ok_or_else(unreadable)
    }

    /// Sums of the magnitudes of all roundings as they reach each output, to first order: of those that a sweep is made for.
    pub(super) fn roundings(&mut self) -> Result<Vec<(u64, f64)>, Failure> {
        let purpose = "for the roundings that reach outputs".to_owned();
        let text = self.run(ShadowKind::backward(), &["--budget".into()], false, purpose)?;
        Ok(seen::roundings(&text))
    }

    /// Place at which the derivatives along a direction first are not the differences: of runs that keep what each operation
    /// has computed, at the point and beside it by `step` and by a longer one.
    pub(super) fn parting(
        &mut self,
        along: Along,
        scales: &[f64],
        step: f64,
    ) -> Result<Option<Parting>, Failure> {
        let mut traces = Vec::new();
        // One unit for all: derivatives along a direction know of no other.
        let unit = match along {
            Along::One { input, .. } => scales.get(input).copied().unwrap_or(1.0),
            _ => scales.iter().copied().fold(f64::INFINITY, f64::min).min(1e300),
        };
        for distance in parting::DISTANCES {
            let steps = [distance * step * unit];
            match self.traced(along, &steps)? {
                Some(trace) => traces.push(trace),
                None => return Ok(None),
            }
        }
        Ok(parting::find(&traces, step * unit))
    }

    fn traced(&mut self, along: Along, steps: &[f64]) -> Result<Option<Trace>, Failure> {
        let file = self.directory.file("trace");
        let options = [
            format!("--along={along}").into(),
            step_option(steps),
            named("--trace=", &file),
            "--reference-path".into(),
        ];
        let purpose = "to find the place".to_owned();
        self.run(ShadowKind::forward(), &options, false, purpose)?;
        Ok(std::fs::read(&file).ok().and_then(|bytes| Trace::read(&bytes)))
    }

    /// Runs the program once; its report.
    fn run(
        &mut self,
        shadow: ShadowKind,
        options: &[OsString],
        shown: bool,
        purpose: String,
    ) -> Result<Vec<u8>, Failure> {
        let report = self.directory.file("report.json");
        let _ = std::fs::remove_file(&report);
        let exe = std::env::current_exe().map_err(Failure::internal)?;
        let mut command = Command::new(exe);
        command.arg(format!("--shadow={}", shadow.name())).args(&self.options).args(options);
        command.arg(named("--report=json:", &report)).arg("--").args(&self.command);
        if let Some(file) = &self.stdin {
            command.stdin(File::open(file).map_err(Failure::internal)?);
        }
        if !shown {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        }
        let status = command.status().map_err(Failure::internal)?;
        match self.purposes.iter_mut().find(|(what, _)| *what == purpose) {
            Some((_, count)) => *count += 1,
            None => self.purposes.push((purpose, 1)),
        }
        std::fs::read(&report).map_err(|_| without_report(status, shown))
    }
}

/// The failure of a run that has written no report; it has said why itself where the user sees what it writes.
fn without_report(status: ExitStatus, shown: bool) -> Failure {
    let signal = status.signal().map(|signal| 128 + signal);
    let code = status.code().or(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(125);
    let line = (!shown).then(|| format!("check: a run with moved inputs left no report ({status})"));
    // A program that is replaced by another before it reports may end well.
    Failure { status: if code == 0 { 125 } else { code }, line }
}

fn unreadable() -> Failure {
    Failure { status: 125, line: Some("check: the report of a run cannot be read".to_owned()) }
}

/// Option whose value is a file.
fn named(option: &str, file: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(file);
    word
}

fn step_option(steps: &[f64]) -> OsString {
    let steps: Vec<String> = steps.iter().map(|step| format!("{step:e}")).collect();
    format!("--steps={}", steps.join(",")).into()
}

/// Copies standard input, so that each run has all of it. A terminal or another device is left as it is.
fn copy_of_stdin(directory: &Directory) -> io::Result<Option<PathBuf>> {
    let mut stdin = io::stdin().lock();
    let is_device = std::fs::metadata("/proc/self/fd/0").is_ok_and(|file| file.file_type().is_char_device());
    if stdin.is_terminal() || is_device {
        return Ok(None);
    }
    let path = directory.file("stdin");
    let mut copy = File::create(&path)?;
    match io::copy(&mut stdin, &mut copy) {
        // It may be closed, which is as good as empty.
        Ok(_) | Err(_) => copy.flush()?,
    }
    Ok(Some(path))
}
