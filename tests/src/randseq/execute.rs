//! Builds the harness and runs files of cases with it, natively and under the tool.

use super::catalog::Isa;
use super::op::{Assembled, Case};
use super::profile::Profile;
use super::wire::{self, Output};
use crate::host;
use crate::outcome::{End, Outcome};
use crate::run::Job;
use crate::tool::{Engine, patience};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::Duration;

/// A batch in the form in which it is run.
pub type Batch = Vec<(Case, Assembled)>;

/// One run of a batch.
#[derive(Clone, Debug)]
pub struct Ran {
    pub outcome: Outcome,
    pub output: Result<Output, String>,
}

impl Ran {
    pub fn succeeded(&self) -> bool {
        self.outcome.end == End::Exit(0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Native,
    Tool,
}

#[derive(Clone, Debug)]
pub struct Runner {
    harness: PathBuf,
    engine: Engine,
}

impl Runner {
    pub fn new() -> Runner {
        // Tests run in threads of one process: only one of them builds.
        static HARNESS: LazyLock<PathBuf> = LazyLock::new(build_harness);
        Runner { harness: HARNESS.clone(), engine: Engine::from_env() }
    }

    /// Runs a batch, keeping the memory that case `dump` leaves if that is wanted.
    pub fn run(&self, how: How, profile: &Profile, batch: &Batch, dump: Option<usize>) -> Ran {
        let dir = host::fresh_work_dir();
        std::fs::create_dir_all(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
        let (input, output) = (dir.join("cases"), dir.join("results"));
        write(&input, &wire::input(profile, batch, dump));
        write(&output, &vec![0; wire::output_size(batch.len(), dump.is_some())]);
        let job = Job {
            argv: self.command(how, profile, &input, &output),
            env: BTreeMap::new(),
            stdin: Vec::new(),
            dir: dir.join("cwd"),
            files: Vec::new(),
            timeout: (Duration::from_secs(10) + Duration::from_millis(20) * batch.len() as u32) * patience(),
        };
        let outcome = job.run().unwrap_or_else(|e| panic!("{}: {e}", job.display()));
        let bytes = std::fs::read(&output).unwrap_or_default();
        std::fs::remove_dir_all(&dir).ok();
        Ran { outcome, output: Output::parse(&bytes, batch.len(), dump.is_some()) }
    }

    /// The command line that runs a file of cases.
    pub fn command(&self, how: How, profile: &Profile, input: &Path, output: &Path) -> Vec<OsString> {
        let program: Vec<OsString> = vec![self.harness.clone().into(), input.into(), output.into()];
        if how == How::Native {
            return program;
        }
        let chosen = self.engine.options.iter().any(|o| o.starts_with("--isa"));
        let native_isa = profile.isa == Isa::Avx512 && !chosen;
        self.engine.command(if native_isa { &["--isa=native"] } else { &[] }, &program)
    }
}

impl Default for Runner {
    fn default() -> Runner {
        Runner::new()
    }
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

/// Compiles the harness, once per content. No vector instruction of its own, no libc, at fixed addresses.
fn build_harness() -> PathBuf {
    const FLAGS: [&str; 11] = [
        "-O2",
        "-Wall",
        "-Wextra",
        "-static",
        "-nostdlib",
        "-no-pie",
        "-fno-pic",
        "-ffreestanding",
        "-fno-stack-protector",
        "-mgeneral-regs-only",
        "-fcf-protection=none",
    ];
    let source = host::tests_dir().join("guests/randseq");
    let mut hasher = DefaultHasher::new();
    for name in ["harness.c", "enter.S", "wire.h"] {
        let path = source.join(name);
        std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).hash(&mut hasher);
    }
    FLAGS.hash(&mut hasher);
    let harness = host::target_dir().join(format!("guests/bin/randseq-{:016x}", hasher.finish()));
    if harness.exists() {
        return harness;
    }
    let made = harness.with_extension(std::process::id().to_string());
    std::fs::create_dir_all(harness.parent().expect("below target"))
        .expect("the target directory is writable");
    let mut gcc = Command::new("gcc");
    gcc.args(FLAGS).arg("-o").arg(&made).args([source.join("harness.c"), source.join("enter.S")]);
    let output = gcc.output().unwrap_or_else(|e| panic!("gcc: {e}"));
    assert!(output.status.success(), "the harness: {}", String::from_utf8_lossy(&output.stderr));
    // Another process may have been faster; its result is the same.
    std::fs::rename(&made, &harness).unwrap_or_else(|e| panic!("{}: {e}", harness.display()));
    harness
}
