//! The tool's place and its command line. The configurations of the engine that the suite is run in are listed here and
//! nowhere else.

use crate::host;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

/// Names another binary to test than the one of this workspace.
pub const BIN: &str = "SHADOWGRIND_BIN";
/// Options added to every run of the tool, e.g. `--superblock-limit=1`.
pub const ENGINE_OPTIONS: &str = "SHADOWGRIND_ENGINE_OPTIONS";
/// The shadow to run the suite with; programs must not notice those either.
pub const SHADOW: &str = "SHADOWGRIND_SHADOW";
/// Variable with the number of runs under the tool of each case; a number above 1 finds failures that come now and
/// then.
pub const REPEAT: &str = "SHADOWGRIND_REPEAT";
/// Multiplies every time limit, for slow machines.
pub const PATIENCE: &str = "SHADOWGRIND_PATIENCE";
/// `full`: every test in every configuration instead of a rotation.
pub const CONFIGURATIONS_RUN: &str = "SHADOWGRIND_CONFIGURATIONS";

/// One configuration of the engine: a name for tests and the options that make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Part of a test's name; empty for the default configuration.
    pub name: String,
    /// The shadow it runs under; that of the environment by default.
    pub shadow: Option<&'static str>,
    /// Options on the tool's command line.
    pub options: Vec<String>,
    /// Factor of time limits.
    pub slowness: u32,
    /// Another binary than the one under test: what the tests of the drivers themselves use.
    pub stand_in: Option<PathBuf>,
}

/// Configurations that the whole suite must also pass in: a name, the shadow if it is not that of the environment,
/// options, and the factor of time limits.
const CONFIGURATIONS: [(&str, Option<&str>, &[&str], u32); 12] = [
    ("hot-1", None, &["--hot-after=1"], 2),
    ("superblock-1", None, &["--superblock-limit=1"], 4),
    ("no-link", None, &["--no-link"], 8),
    ("flush-100", None, &["--flush-every=100"], 8),
    ("chaos", None, &["--chaos=1"], 2),
    ("no-fsgsbase", None, &["--no-fsgsbase"], 4),
    ("isa-v2", None, &["--isa=v2"], 1),
    ("isa-native", None, &["--isa=native"], 1),
    ("dot", Some("dot"), &["--from-start"], 4),
    ("mpfr", Some("mpfr"), &[], 8),
    ("error", Some("error"), &[], 4),
    ("adjoint", Some("adjoint"), &["--from-start"], 8),
];

impl Engine {
    /// The configuration that the environment asks for.
    pub fn from_env() -> Engine {
        let options = std::env::var(ENGINE_OPTIONS).unwrap_or_default();
        Engine {
            name: String::new(),
            shadow: None,
            options: options.split_whitespace().map(str::to_owned).collect(),
            slowness: 1,
            stand_in: None,
        }
    }

    /// Every other configuration, on top of what the environment asks for.
    pub fn others() -> Vec<Engine> {
        let extend = |(name, shadow, more, slowness): &(&str, Option<&'static str>, &[&str], u32)| {
            let mut engine = Engine::from_env();
            engine.name = (*name).to_owned();
            engine.shadow = *shadow;
            engine.options.extend(more.iter().map(|o| (*o).to_owned()));
            engine.slowness = *slowness;
            engine
        };
        CONFIGURATIONS.iter().map(extend).collect()
    }

    /// The command line that runs `program` (and its arguments) in this configuration, with the shadow that the
    /// environment asks for.
    pub fn command(&self, extra: &[&str], program: &[OsString]) -> Vec<OsString> {
        self.command_for(&self.shadow(), extra, program)
    }

    /// The shadow it runs under.
    pub fn shadow(&self) -> String {
        let of_environment = || std::env::var(SHADOW).unwrap_or_else(|_| "none".to_owned());
        self.shadow.map_or_else(of_environment, str::to_owned)
    }

    /// Time limit of `seconds` in this configuration, on this machine.
    pub fn time_limit(&self, seconds: u64) -> Duration {
        Duration::from_secs(seconds) * patience() * self.slowness
    }

    /// The command that runs `program` under this shadow.
    pub fn command_for(&self, shadow: &str, extra: &[&str], program: &[OsString]) -> Vec<OsString> {
        let binary = self.stand_in.as_deref().unwrap_or_else(|| binary());
        let mut argv = vec![binary.into(), format!("--shadow={shadow}").into()];
        if shadow != "none" {
            // A report on stderr would count as a difference.
            argv.push("-q".into());
        }
        argv.extend(self.options.iter().map(OsString::from));
        argv.extend(extra.iter().map(OsString::from));
        argv.push("--".into());
        argv.extend(program.iter().cloned());
        argv
    }

    /// Environment for the native *and* the tool's run. glibc picks variants of `exp`, `sin`… by CPU feature, and
    /// they differ in the last digit; where the tool hides features, the native run must not use them either.
    pub fn environment(&self) -> Vec<(&'static str, &'static str)> {
        if self.options.iter().any(|o| o == "--isa=v2") {
            vec![("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-BMI2,-AVX512F,-AVX512VL")]
        } else {
            Vec::new()
        }
    }
}

/// Number of runs under the tool of each case.
pub fn repeat() -> usize {
    number_from_env(REPEAT)
}

/// Tells whether every test is to be run in every configuration.
pub fn is_full_run() -> bool {
    std::env::var(CONFIGURATIONS_RUN).is_ok_and(|value| value == "full")
}

/// Factor of every time limit.
pub fn patience() -> u32 {
    u32::try_from(number_from_env(PATIENCE)).expect("a factor of this size is a mistake")
}

fn number_from_env(name: &str) -> usize {
    let Ok(text) = std::env::var(name) else { return 1 };
    text.parse().ok().filter(|n| *n > 0).unwrap_or_else(|| panic!("{name}={text:?} is not a positive number"))
}

/// The tool under test; built by the first call if the environment names none.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os(BIN) {
        Some(path) => {
            std::fs::canonicalize(&path).unwrap_or_else(|e| panic!("{BIN}={}: {e}", path.display()))
        }
        None => build(),
    })
}

fn build() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        // As `cargo run --release` builds it, with the same features: nothing is compiled twice.
        .args(["build", "--quiet", "--release", "--bin", "shadowgrind"])
        .current_dir(host::workspace_dir())
        .status();
    assert!(status.is_ok_and(|s| s.success()), "the tool does not build");
    host::target_dir().join("x86_64-unknown-linux-gnu/release/shadowgrind")
}
