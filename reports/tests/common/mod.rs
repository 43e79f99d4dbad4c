//! Guests compiled for a test: their sources are in `guests`, their binaries in cargo's scratch folder.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder with the guests' sources, as compilers record it.
pub(crate) fn guests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests").canonicalize().expect("the guests are there")
}

/// Compiles `source` with `compiler` and `options`, in the folder of the sources so that debug information names it;
/// the result is called `name`.
pub(crate) fn compile(name: &str, compiler: &str, source: &str, options: &[&str]) -> PathBuf {
    let binary = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(compiler);
    command.current_dir(guests()).arg("-o").arg(&binary).args(options).arg(source);
    run(&mut command);
    binary
}

/// Runs `command`, which must succeed, and returns what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("guests print UTF-8")
}
