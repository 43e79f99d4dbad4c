//! Files that are no modules, or lie about themselves; and what a question costs.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::compile;
use shadowgrind_core::spec::Variable;
use shadowgrind_symbols::SymbolFile;

fn scratch(name: &str, bytes: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn error(path: &Path) -> String {
    let error = SymbolFile::open(path).err().expect("an error").to_string();
    error.replace(&*path.to_string_lossy(), "FILE")
}

fn plain(name: &str) -> Variable {
    Variable { name: name.to_owned(), path: vec![name.to_owned()], selectors: Vec::new(), format: None }
}

/// Asks for names; nothing may panic, whatever the answers are.
fn ask_names(path: &Path) {
    let Ok(file) = SymbolFile::open(path) else { return };
    for name in ["nu", "p", "a", "zs", "calls", "nothing"] {
        let _ = file.variable(&plain(name), None);
    }
    let _ = file.function("main");
    file.build_id();
}

/// Asks for places of whatever symbols there are.
fn ask_places(path: &Path) {
    let Ok(file) = SymbolFile::open(path) else { return };
    let addresses: Vec<u64> = file.symbols().map(|all| all.map(|s| s.address).collect()).unwrap_or_default();
    for address in addresses.into_iter().take(40).chain([0, u64::MAX]) {
        file.place(address);
    }
}

/// `ask` about copies of `binary`, in each of which one byte is inverted.
fn corrupt(binary: &Path, step: usize, ask: impl Fn(&Path)) {
    let whole = fs::read(binary).unwrap();
    let copy = binary.with_extension("corrupted");
    for at in (0..64).chain((whole.len() / 3..whole.len()).step_by(step)) {
        let mut bytes = whole.clone();
        bytes[at] = !bytes[at];
        fs::write(&copy, bytes).unwrap();
        ask(&copy);
    }
}

#[test]
fn what_is_no_module_says_so() {
    assert_eq!(error(Path::new("/nowhere/at/all")), "FILE: No such file or directory (os error 2)");
    assert_eq!(error(Path::new("/usr")), "FILE: not an ELF file");
    assert_eq!(error(&scratch("script", b"#!/bin/sh\nexit 0\n")), "FILE: not an ELF file");
    assert_eq!(error(&scratch("empty", b"")), "FILE: not an ELF file");
    let whole = fs::read(compile("whole", "gcc", "lines.c", &["-g"])).unwrap();
    assert_eq!(error(&scratch("truncated", &whole[..40])), "FILE: corrupt ELF file (truncated header)");
    assert_eq!(error(&scratch("headless", &whole[..whole.len() / 2])), "FILE: corrupt ELF file (truncated)");
    let mut foreign = whole.clone();
    foreign[18] = 0xb7;
    assert_eq!(error(&scratch("aarch64", &foreign)), "FILE: not a 64-bit x86 ELF file");
    foreign = whole.clone();
    foreign[4] = 1;
    assert_eq!(error(&scratch("32-bit", &foreign)), "FILE: not a 64-bit x86 ELF file");
}

#[test]
fn corrupt_files_answer_or_refuse() {
    corrupt(&compile("corrupt-g", "gcc", "variables.c", &["-g", "-O1"]), 29, ask_names);
    // Line tables are read by a library that checks for overflow in debug builds, and panics.
    corrupt(&compile("corrupt", "gcc", "variables.c", &["-O1"]), 11, ask_places);
}

/// The fastest of several: the time a question takes, not what else the machine does.
fn fastest(what: impl Fn()) -> Duration {
    let time = || {
        let start = Instant::now();
        what();
        start.elapsed()
    };
    (0..20).map(|_| time()).min().unwrap()
}

#[test]
fn a_plain_symbol_is_found_fast() {
    let small = compile("small", "gcc", "variables.c", &[]);
    let lookup = || {
        SymbolFile::open(&small).unwrap().variable(&plain("nu"), None).unwrap();
    };
    assert!(fastest(lookup) < Duration::from_millis(5));
    // The names of a library of 2 MB, gone through once.
    let libc = || {
        let file = SymbolFile::open(Path::new("/lib/x86_64-linux-gnu/libc.so.6")).unwrap();
        assert!(file.symbols().unwrap().any(|s| s.name == "printf"));
    };
    assert!(fastest(libc) < Duration::from_millis(10));
}
