//! Offers of this machine to a test: CPU features, installed programs, directories. Knows nothing of the tool.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Tells whether the CPU has `flag`, spelt as in `/proc/cpuinfo`.
pub fn has_cpu_flag(flag: &str) -> bool {
    static FLAGS: OnceLock<Vec<String>> = OnceLock::new();
    let flags = FLAGS.get_or_init(|| {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let line = info.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
        line.split_whitespace().map(str::to_owned).collect()
    });
    flags.iter().any(|f| f == flag)
}

/// The file that a shell would run for `name`; a path with a slash is taken as it is.
pub fn find_program(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|p| is_executable(p));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|p| is_executable(p))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// The `tests` directory of the source tree. Cargo says where it is at each run; where it was when this was compiled is
/// another tree's, if build and source tree were copied together.
pub fn tests_dir() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()).into()
}

/// Cargo's target directory, where compiled guests are kept between runs.
pub fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => workspace_dir().join(dir),
        None => workspace_dir().join("target"),
    }
}

/// The root of the workspace.
pub fn workspace_dir() -> PathBuf {
    tests_dir().parent().expect("tests/ lies in the workspace").to_path_buf()
}

/// Tells whether the processor lacks one of `features`, named as in /proc/cpuinfo (an empty name is never lacking). Says so, as
/// why `what` was not tested, in the words that tests/may-be-skipped accepts.
pub fn lacks(what: &str, features: &[&str]) -> bool {
    let missing = features.iter().find(|feature| !has_cpu_flag(feature));
    if let Some(feature) = missing {
        skipped(what, &no_feature(feature));
    }
    missing.is_some()
}

/// Options of the tool for each way in which shadows can be bound to this processor: one without AVX-512, which is that of
/// `--no-avx512` then, and two with it.
pub fn bindings() -> impl Iterator<Item = &'static [&'static str]> + Clone {
    const BOTH: [&[&str]; 2] = [&[], &["--no-avx512"]];
    let is_any = |options: &&[&str]| options.is_empty() || has_upper_registers();
    BOTH.into_iter().filter(is_any)
}

/// Tells whether shadows can be in upper vector registers here, as tests/has-avx512.sh does.
pub fn has_upper_registers() -> bool {
    ["avx512f", "avx512vl", "avx512dq", "avx512bw"].into_iter().all(has_cpu_flag)
}

/// Reason why a test is skipped on a processor without `feature`.
pub fn no_feature(feature: &str) -> String {
    format!("this CPU has no {feature}")
}

/// A directory name nobody else uses, now or in a process that runs beside this one.
pub fn fresh_work_dir() -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    target_dir().join("guests/work").join(format!("{}-{number}", std::process::id()))
}

/// Says on stderr that `what` was not tested. A skipped test must never look like a passed one.
///
/// One write has the whole line and begins with its own line feed: tests that run beside this one have often printed half a
/// line, and `.ci/run` looks for lines that begin with `SKIPPED:` and names what is behind.
pub fn skipped(what: &str, why: &str) {
    use std::io::Write;
    // A stderr that is closed is no reason for a test to fail.
    let _ = std::io::stderr().write_all(format!("\nSKIPPED: {what}: {why}\n").as_bytes());
}
