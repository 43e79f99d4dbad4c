//! Guests compiled for a test: their sources are in `guests`, their binaries in cargo's scratch folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The folder with the guests' sources, as compilers record it.
pub(crate) fn guests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../symbols/tests/guests")
        .canonicalize()
        .expect("the guests are there")
}

/// Compiles `source` with `compiler` and `options`, in the folder of the sources so that debug information names it;
/// the result is called `name`, and is there whole or not at all: tests that run at the same time may ask for the same.
pub(crate) fn compile(name: &str, compiler: &str, source: &str, options: &[&str]) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (binary, number) = (folder.join(name), NEXT.fetch_add(1, Ordering::Relaxed));
    let own = folder.join(format!("{name}.{number}"));
    let mut command = Command::new(compiler);
    command.current_dir(guests()).arg("-o").arg(&own).args(options).arg(source);
    run(&mut command);
    std::fs::rename(&own, &binary).expect("both are in one folder");
    binary
}

/// Runs `command`, which must succeed, and returns what it printed.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("guests print UTF-8")
}
