//! Addresses to functions and lines, against what `addr2line`, `nm` and the sources say.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{compile, guests, run};
use shadowgrind_core::site::{Frame, Place};
use shadowgrind_symbols::{SymbolFile, SymbolKind};

/// Addresses of the instructions of `function`, with their text.
fn instructions(binary: &Path, function: &str) -> Vec<(u64, String)> {
    let listing = run(Command::new("objdump").arg(format!("--disassemble={function}")).arg(binary));
    let lines = listing.lines().filter_map(|line| {
        let (address, rest) = line.split_once(":\t")?;
        let text = rest.split('\t').nth(1)?;
        Some((u64::from_str_radix(address.trim(), 16).ok()?, text.to_owned()))
    });
    lines.collect()
}

/// The frames binutils gives for an address, innermost first: function, file and line.
fn binutils(binary: &Path, address: u64) -> Vec<(String, String)> {
    let text =
        run(Command::new("addr2line").args(["-f", "-i", "-e"]).arg(binary).arg(format!("{address:#x}")));
    let lines: Vec<&str> = text.lines().collect();
    lines.chunks(2).map(|pair| (pair[0].to_owned(), pair[1].split(" (").next().unwrap().to_owned())).collect()
}

fn frames(place: &Place) -> Vec<(String, String)> {
    let innermost = Frame { function: place.function.clone(), file: place.file.clone(), line: place.line };
    let all = [innermost].into_iter().chain(place.inlined_by.clone());
    all.map(|frame| {
        let line = frame.line.map_or("?".to_owned(), |line| line.to_string());
        let function = frame.function.unwrap_or("??".to_owned());
        (function, format!("{}:{line}", frame.file.unwrap_or("??".to_owned())))
    })
    .collect()
}

#[test]
fn every_instruction_as_binutils_sees_it() {
    for (compiler, option) in [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O2"), ("gcc", "-gdwarf-4")] {
        let binary =
            compile(&format!("lines-{compiler}{option}"), compiler, "lines.c", &["-g", "-no-pie", option]);
        let file = SymbolFile::open(&binary).unwrap();
        for function in ["length", "main"] {
            let all = instructions(&binary, function);
            assert!(all.len() > 5);
            for (address, text) in all {
                assert_eq!(
                    frames(&file.place(address)),
                    binutils(&binary, address),
                    "{compiler} {option} {text}"
                );
            }
        }
    }
}

#[test]
fn an_inlined_operation_names_its_callers_outwards() {
    let binary = compile("lines-inlined", "gcc", "lines.c", &["-g", "-O2"]);
    let file = SymbolFile::open(&binary).unwrap();
    let all = instructions(&binary, "length");
    let (address, _) = all.iter().find(|(_, text)| text.starts_with("mul")).unwrap();
    let place = file.place(*address);
    let source = guests().join("lines.c");
    let source = Some(source.to_string_lossy().into_owned());
    assert_eq!((place.function.as_deref(), &place.file, place.line), (Some("square"), &source, Some(5)));
    assert_eq!(place.column, Some(14));
    let frame = |function: &str, line| Frame {
        function: Some(function.into()),
        file: source.clone(),
        line: Some(line),
    };
    assert_eq!(place.inlined_by, [frame("norm", 9), frame("length", 13)]);
    assert_eq!((place.module, place.offset), (Some(binary.to_string_lossy().into_owned()), Some(*address)));
}

#[test]
fn without_debug_information_the_function_is_known() {
    let binary = compile("lines-nodebug", "gcc", "lines.c", &["-O2"]);
    let file = SymbolFile::open(&binary).unwrap();
    let (address, _) = instructions(&binary, "length")[2];
    let place = file.place(address);
    assert_eq!((place.function.as_deref(), place.file, place.line), (Some("length"), None, None));
    assert_eq!(file.place(0x10).function, None);
    let stripped = compile("lines-stripped", "gcc", "lines.c", &["-O2", "-s"]);
    let place = SymbolFile::open(&stripped).unwrap().place(address);
    assert_eq!((place.function, place.offset), (None, Some(address)));
}

/// Strips `binary` and puts what was stripped at `debug`.
fn separate(binary: &Path, debug: &Path) {
    fs::create_dir_all(debug.parent().unwrap()).unwrap();
    run(Command::new("objcopy").arg("--only-keep-debug").arg(binary).arg(debug));
    run(Command::new("strip").arg(binary));
}

/// A folder of the test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn knows_line_14(binary: &Path, root: &Path, address: u64) -> bool {
    let file = SymbolFile::open_with_debug_root(binary, root).unwrap();
    let place = file.place(address);
    place.line == Some(14) && file.function("length").is_ok()
}

/// The address of the division in line 14.
fn division(binary: &Path) -> u64 {
    instructions(binary, "length")
        .iter()
        .find(|(_, text)| text.contains("mulsd") && text.contains("rip"))
        .unwrap()
        .0
}

#[test]
fn separate_debug_files_by_build_id() {
    let root = folder("debug-root");
    let binary = compile("separate-id", "gcc", "lines.c", &["-g", "-O2", "-Wl,--build-id=0xabcdef0123"]);
    let address = division(&binary);
    separate(&binary, &root.join(".build-id/ab/cdef0123.debug"));
    assert!(knows_line_14(&binary, &root, address));
    assert!(!knows_line_14(&binary, Path::new("/nowhere"), address));
    assert_eq!(SymbolFile::open(&binary).unwrap().build_id(), Some(vec![0xab, 0xcd, 0xef, 0x01, 0x23]));
}

#[test]
fn separate_debug_files_by_name_and_checksum() {
    let beside = folder("debuglink");
    let binary = compile("debuglink/prog", "gcc", "lines.c", &["-g", "-O2", "-Wl,--build-id=none"]);
    let address = division(&binary);
    let debug = beside.join(".debug/prog.debug");
    separate(&binary, &debug);
    run(Command::new("objcopy").arg(format!("--add-gnu-debuglink={}", debug.display())).arg(&binary));
    assert!(knows_line_14(&binary, Path::new("/nowhere"), address));
    // The same name in another folder, and then one whose contents are not what was stripped.
    fs::rename(&debug, beside.join("prog.debug")).unwrap();
    assert!(knows_line_14(&binary, Path::new("/nowhere"), address));
    let mut bytes = fs::read(beside.join("prog.debug")).unwrap();
    bytes.push(0);
    fs::write(beside.join("prog.debug"), bytes).unwrap();
    assert!(!knows_line_14(&binary, Path::new("/nowhere"), address));
}

#[test]
fn functions_by_every_name() {
    let binary = compile("functions", "g++", "lines.cpp", &["-O2"]);
    let file = SymbolFile::open(&binary).unwrap();
    let nm = run(Command::new("nm").arg(&binary));
    let truth = |symbol: &str| {
        // A clone has something after the name.
        let line =
            nm.lines().find(|line| line.split('.').next().unwrap().ends_with(&format!(" {symbol}"))).unwrap();
        u64::from_str_radix(&line[..16], 16).unwrap()
    };
    let addresses = |name| file.function(name).unwrap().iter().map(|f| f.address).collect::<Vec<_>>();
    let (double, float) = (truth("_ZN4phys10overloadedEd"), truth("_ZN4phys10overloadedEf"));
    assert_eq!(addresses("main"), [truth("main")]);
    assert_eq!(addresses("_ZN4phys10overloadedEd"), [double]);
    assert_eq!(addresses("phys::overloaded(float)"), [float]);
    assert_eq!(addresses("phys::overloaded"), [double.min(float), double.max(float)]);
    assert_eq!(addresses("overloaded"), [double.min(float), double.max(float)]);
    assert_eq!(addresses("phys::local"), [truth("_ZN4physL5localEd")]);
    assert_eq!(addresses("phys::Solver<double>::step"), [truth("_ZNK4phys6SolverIdE4stepEd")]);
    assert_eq!(addresses("step"), [truth("_ZNK4phys6SolverIdE4stepEd")]);
    let (step, _) = instructions(&binary, "main")[0];
    assert_eq!(file.place(step).function.as_deref(), Some("main"));
    let error = file.function("overlaoded").unwrap_err().to_string();
    assert!(error.ends_with("which has no debug information; did you mean `phys::overloaded`?"), "{error}");
    assert_eq!(file.place(double).function.as_deref(), Some("phys::overloaded"));
}

#[test]
fn fortran_functions_by_every_name() {
    let binary =
        compile("functions-f90", "gfortran", "variables.f90", &["-J", env!("CARGO_TARGET_TMPDIR"), "-O0"]);
    let file = SymbolFile::open(&binary).unwrap();
    let step = file.function("__phys_MOD_step").unwrap();
    for name in ["phys::step", "PHYS::Step", "step"] {
        assert_eq!(file.function(name).unwrap(), step, "{name}");
    }
}

/// Versions as readelf shows them: `pow@GLIBC_2.2.5`, `pow@@GLIBC_2.29`.
#[test]
fn exported_symbols_with_versions() {
    let libm = Path::new("/lib/x86_64-linux-gnu/libm.so.6");
    let file = SymbolFile::open(libm).unwrap();
    let readelf = run(Command::new("readelf").args(["--dyn-syms", "-W"]).arg(libm));
    for name in ["pow", "exp", "sin", "fma", "lgamma", "j0l"] {
        let mut expected: Vec<_> = readelf
            .lines()
            .filter_map(|line| {
                let fields: Vec<&str> = line.split_whitespace().collect();
                let (symbol, version) = fields.get(7)?.split_once('@')?;
                let kind = if fields[3] == "IFUNC" { SymbolKind::Ifunc } else { SymbolKind::Function };
                let address = u64::from_str_radix(fields[1], 16).ok()?;
                let hidden = !version.starts_with('@');
                let version = version.trim_start_matches('@').to_owned();
                (symbol == name).then_some((version, hidden, address, fields[2].parse::<u64>().ok()?, kind))
            })
            .collect();
        let symbols = file.symbols().unwrap().filter(|s| s.name == name && s.version.is_some());
        let mut found: Vec<_> = symbols
            .map(|s| (s.version.unwrap_or_default().to_owned(), s.hidden, s.address, s.size, s.kind))
            .collect();
        expected.sort_by_key(|s| s.0.clone());
        found.sort_by_key(|s| s.0.clone());
        assert!(!expected.is_empty());
        assert_eq!(found, expected, "{name}");
    }
}
