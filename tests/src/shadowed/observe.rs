//! Runs a program natively and under a shadow, insists that it did not notice, and reads the report.

use super::build::Recipe;
use super::report::Report;
use crate::compare::differences;
use crate::host;
use crate::outcome::{End, Left, Outcome};
use crate::run::Job;
use crate::suite::base_environment;
use crate::tool::{self, Engine};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// File that the tool is told to write; part of no outcome.
const REPORT: &str = "shadowgrind-report.json";

/// Extensions of guests that are compiled; others are scripts.
const COMPILED: [&str; 5] = ["c", "cpp", "rs", "go", "f90"];

/// A program and how it is run.
#[derive(Clone, Debug)]
pub struct Case {
    /// The shadow's name.
    pub shadow: &'static str,
    /// Options of the tool, without the shadow and the report.
    pub options: Vec<String>,
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// Additions to the environment.
    pub env: Vec<(String, String)>,
    /// The bytes of its standard input.
    pub stdin: Vec<u8>,
    /// Files in its working directory.
    pub files: Vec<(String, Vec<u8>)>,
    /// The status it ends with natively.
    pub exit: i32,
}

/// Observation of one run.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The native run; the one under the tool was the same.
    pub outcome: Outcome,
    /// The shadow's report.
    pub report: Report,
}

impl Case {
    /// A program under a shadow with these options.
    pub fn new(shadow: &'static str, options: &[&str], program: &Path) -> Case {
        Case {
            shadow,
            options: options.iter().map(|o| (*o).to_owned()).collect(),
            argv: vec![program.into()],
            env: Vec::new(),
            stdin: Vec::new(),
            files: Vec::new(),
            exit: 0,
        }
    }

    /// The guest `source` under a shadow, as `how` says: by a compiler and its options, or by an interpreter and its. Nothing, with a
    /// word of why `name` is not tested, if that is not installed.
    pub fn of_guest(
        name: &str,
        shadow: &'static str,
        source: &Path,
        how: &str,
    ) -> Result<Option<Case>, String> {
        let (program, options) = how.split_once(' ').unwrap_or((how, ""));
        let extension = source.extension().unwrap_or_default().to_string_lossy();
        let exe = if COMPILED.contains(&&*extension) {
            let (debug, libs) = match program {
                "go" => ("", ""),
                "rustc" => ("-g", ""),
                _ => ("-g", "-lm"),
            };
            Recipe::new(program, &format!("{options} {debug}"), source, libs).build()?
        } else {
            host::find_program(program)
        };
        let Some(exe) = exe else {
            host::skipped(name, &format!("{program} is not installed"));
            return Ok(None);
        };
        let case = Case::new(shadow, &[], &exe);
        if COMPILED.contains(&&*extension) {
            return Ok(Some(case));
        }
        Ok(Some(options.split_whitespace().fold(case, Case::arg).arg(source)))
    }

    /// Gives the case another argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Case {
        self.argv.push(argument.into());
        self
    }

    /// Gives the case another variable in its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Case {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs it natively.
    pub fn native(&self) -> Result<Outcome, String> {
        let job = self.job(&Engine::from_env());
        let outcome = job.run().map_err(|e| format!("{}: {e}", job.display()))?;
        if outcome.end != End::Exit(self.exit) {
            let stderr = String::from_utf8_lossy(&outcome.stderr).into_owned();
            return Err(format!("natively: {}\n{stderr}\n{}", outcome.end, job.display()));
        }
        Ok(outcome)
    }

    /// Runs it under the tool, whatever comes of it: for what is refused.
    pub fn tool(&self, extra: &[&str]) -> Result<Outcome, String> {
        let engine = Engine::from_env();
        let mut job = self.job(&engine);
        job.argv = engine.command_for(self.shadow, &self.extra(extra), &self.argv);
        job.run().map_err(|e| format!("{}: {e}", job.display()))
    }

    /// Text that people read on the terminal when it is run under the tool, standard error of the program included.
    pub fn terminal(&self, extra: &[&str]) -> Result<String, String> {
        let engine = Engine::from_env();
        let mut job = self.job(&engine);
        job.argv = engine.command_for(self.shadow, &self.extra(extra), &self.argv);
        job.argv.retain(|argument| argument != "-q");
        let outcome = job.run().map_err(|e| format!("{}: {e}", job.display()))?;
        Ok(String::from_utf8_lossy(&outcome.stderr).into_owned())
    }

    /// Runs it both ways.
    pub fn observe(&self) -> Result<Observed, String> {
        let outcome = self.native()?;
        let report = format!("--report=json:{REPORT}");
        let mut under = self.tool(&[&report])?;
        let written = under.files.remove(REPORT);
        // Forked children have reports of their own.
        under.files.retain(|name, _| !name.starts_with(REPORT));
        let shown = || format!("\ntool: {:?} {:?}", self.extra(&[&report]), self.argv);
        if let Some(text) = differences(&outcome, &under) {
            let stderr = String::from_utf8_lossy(&under.stderr).chars().take(2000).collect::<String>();
            return Err(format!("differs under the tool\n{text}\n{stderr}{}", shown()));
        }
        let Some(Left::File(_, text)) = written else { return Err(format!("no report{}", shown())) };
        let report = Report::parse(&text).map_err(|e| format!("{e}{}", shown()))?;
        Ok(Observed { outcome, report })
    }

    fn extra<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        self.options.iter().map(String::as_str).chain(more.iter().copied()).collect()
    }

    fn job(&self, engine: &Engine) -> Job {
        let mut env = base_environment(engine);
        env.extend(self.env.iter().map(|(name, value)| (name.into(), value.into())));
        Job {
            argv: self.argv.clone(),
            env,
            stdin: self.stdin.clone(),
            dir: host::fresh_work_dir(),
            files: self.files.clone(),
            timeout: Duration::from_secs(120) * tool::patience(),
        }
    }
}
