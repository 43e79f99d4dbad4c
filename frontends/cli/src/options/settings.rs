//! Settings that the options make together, for engine and session.

use super::Cli;
use super::values::{Isa, usual_tape_dir, usual_tape_memory};
use clap::ValueEnum;
use shadowgrind_core::moves::Moves;
use shadowgrind_dbi::{Command, IsaLevel, Launch, Options, SecondRun, SessionConfig, ShadowKind};
use shadowgrind_reports::target::{ReportTarget, TargetError};
use shadowgrind_reports::terminal::Style;
use shadowgrind_reports::{Destinations, gradients};
use std::ffi::OsString;
use std::fs::File;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

impl Cli {
    /// Refuses files and directories that are not there; the line that says so.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.directions()?;
        match &self.tape_dir {
            Some(dir) if !dir.is_dir() => Err(format!("--tape-dir={}: no such directory", dir.display())),
            _ => Ok(()),
        }
    }

    /// Tells whether another image of the same command has said already what is to be said of it.
    pub(crate) fn is_continued(&self) -> bool {
        self.first_process.is_some() || self.stack_limit.is_some()
    }

    /// Program to be run, with its settings. `all`: the arguments as they were typed, without the command's own name.
    pub(crate) fn launch(mut self, all: &[OsString]) -> Result<Launch, TargetError> {
        if self.list.is_some() && !self.shadow.is_carried() {
            // Calls are only looked at beside a shadow; without a seed the first of them costs nothing.
            self.shadow = ShadowKind::ALL.iter().copied().find(|kind| kind.is_carried()).unwrap_or_default();
        }
        let reports = self.destinations()?;
        for target in &reports.files {
            target.probe(std::process::id(), reports.forked)?;
        }
        let session = self.session(reports);
        Ok(Launch { command: self.into_command(all), session })
    }

    /// Places that reports are to be written to.
    fn destinations(&self) -> Result<Destinations, TargetError> {
        let mut files = self.reports.clone();
        files.extend(self.gradient.as_deref().map(ReportTarget::gradient).transpose()?);
        files.extend(self.jacobian.as_deref().map(ReportTarget::jacobian).transpose()?);
        files.extend(self.sparsity.as_deref().map(ReportTarget::sparsity).transpose()?);
        files.extend(self.output_array.as_deref().map(ReportTarget::outputs).transpose()?);
        let annotated = self.annotate.as_deref().filter(|directory| *directory != Path::new("-"));
        files.extend(annotated.map(ReportTarget::annotated).transpose()?);
        Ok(Destinations {
            annotated: self.annotate.is_some() && annotated.is_none(),
            terminal: (self.shadow.is_carried() && !self.quiet).then(|| self.style()),
            files,
            forked: self.first_process.is_some_and(|first| first != std::process::id()),
        })
    }

    /// The program and the engine's settings. `all` as for [`Cli::launch`].
    fn into_command(self, all: &[OsString]) -> Command {
        let options = self.options(all);
        let second_run = self.second_run(all);
        let mut command = self.command.into_iter();
        let program = command.next().unwrap_or_default();
        Command {
            program,
            arguments: command.collect(),
            argv0: self.argv0,
            descriptor: self.descriptor,
            messages: self.messages,
            book: self.book,
            second_run,
            stand_by: self.stand_by,
            first_process: self.first_process,
            stack_limit: self.stack_limit,
            options,
        }
    }

    /// Style of messages: for people, if it is people who read them.
    fn style(&self) -> Style {
        let is_terminal = match self.messages {
            None => std::io::stderr().is_terminal(),
            Some(number) => {
                File::open(format!("/proc/self/fd/{number}")).is_ok_and(|file| file.is_terminal())
            }
        };
        Style::of_environment(is_terminal, self.verbose)
    }

    /// The directions that were given; the line that says why they cannot be read.
    fn directions(&self) -> Result<Option<Vec<Vec<f64>>>, String> {
        let Some(file) = &self.direction else { return Ok(None) };
        let read = std::fs::read(file).map_err(|error| error.to_string());
        let columns = read.and_then(|bytes| gradients::read_columns(&bytes).map_err(str::to_owned));
        columns.map(Some).map_err(|error| format!("--direction={}: {error}", file.display()))
    }

    /// The directory for what does not fit into memory; absolute, since the program may go elsewhere.
    fn tape_dir(&self) -> PathBuf {
        let dir = self.tape_dir.clone().unwrap_or_else(usual_tape_dir);
        std::path::absolute(&dir).unwrap_or(dir)
    }

    fn options(&self, all: &[OsString]) -> Options {
        Options {
            isa: match self.isa {
                Isa::Native => IsaLevel::Native,
                Isa::V4 => IsaLevel::V4,
                Isa::V3 => IsaLevel::V3,
                Isa::V2 => IsaLevel::V2,
            },
            superblock_limit: self.superblock_limit,
            link: !self.no_link,
            flush_every: self.flush_every,
            hot_after: self.hot_after,
            chaos: self.chaos,
            fsgsbase: !self.no_fsgsbase,
            stats: self.stats,
            trace_children: self.trace_children,
            tool_arguments: self.tool_arguments(all),
        }
    }

    fn session(&self, reports: Destinations) -> SessionConfig {
        SessionConfig {
            shadow: self.shadow,
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            all_printed: self.all_printed,
            list: self.list,
            reports,
            moves: Moves { along: self.along, steps: self.steps.clone() },
            trace: self.trace.clone(),
            directions: self.directions().ok().flatten(),
            budget: self.budget,
            tape_memory: self.tape_memory.unwrap_or_else(usual_tape_memory),
            tape_dir: self.tape_dir(),
            argv: self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            precision: self.precision.bits.unwrap_or(256),
            settles: self.precision.bits.is_none(),
            error_threshold: self.error_threshold,
            expression_depth: self.expr_depth,
            remedies: self.remedies,
            confirm: self.confirm,
            num_callers: self.num_callers,
            error_exitcode: self.error_exitcode,
            fail_on: self.fail_on.iter().map(|concern| concern.meant()).collect(),
            strict: self.strict,
            suppressions: self.suppressions.clone(),
            gen_suppressions: self.gen_suppressions,
            valgrind_compat: self.valgrind_compat,
            avx512: !self.no_avx512,
            annotate: self.from_start,
            slow: self.reference_path,
        }
    }

    /// The command by which findings are confirmed, if they are to be: the shadow that does so, and options that decide what it
    /// finds and how the program runs. `all`: the arguments as they were typed.
    fn second_run(&self, all: &[OsString]) -> Option<SecondRun> {
        let shadow = self.shadow.confirmed_by().filter(|_| self.confirm)?;
        let isa = self.isa.to_possible_value()?;
        let precision = self.precision.bits.map_or("auto".to_owned(), |bits| bits.to_string());
        let mut options: Vec<OsString> = vec![
            format!("--shadow={shadow}").into(),
            "-q".into(),
            "--remedies=no".into(),
            format!("--precision={precision}").into(),
            format!("--error-threshold={}", self.error_threshold).into(),
            format!("--isa={}", isa.get_name()).into(),
            format!("--trace-children={}", if self.trace_children { "yes" } else { "no" }).into(),
        ];
        let flags = [("--no-avx512", self.no_avx512), ("--valgrind-compat", self.valgrind_compat)];
        options.extend(flags.iter().filter(|(_, given)| *given).map(|(flag, _)| (*flag).into()));
        options.extend(SecondRun::outputs_in(&all[..all.len() - self.command.len()]));
        Some(SecondRun { options, command: self.command.clone() })
    }

    /// The tool's own arguments, without what concerns this program alone: what a program executed by this one is run with.
    fn tool_arguments(&self, all: &[OsString]) -> Vec<OsString> {
        const OF_THIS_ONE: [&[u8]; 7] = [
            b"--argv0=",
            b"--descriptor=",
            b"--messages=",
            b"--book=",
            b"--stand-by=",
            b"--first-process=",
            b"--stack-limit=",
        ];
        let own = all.len() - self.command.len();
        let names = |arg: &OsString| {
            let bytes = arg.as_encoded_bytes();
            bytes == b"--" || OF_THIS_ONE.iter().any(|option| bytes.starts_with(option))
        };
        all[..own].iter().filter(|arg| !names(arg)).cloned().collect()
    }
}
