//! Valgrind's none/tests and none/tests/amd64: instructions, signals, threads and odd corners of Linux.
//!
//! They are compiled one by one, without the package's own build, so some that need its configuration do not compile.

use super::fetch::{run, source_archive, suites_dir};
use super::runner::Item;
use std::path::{Path, PathBuf};

const FLAGS: [&str; 20] = [
    "-w",
    "-g",
    "-O1",
    "-no-pie",
    "-pthread",
    "-mavx2",
    "-mfma",
    "-mbmi",
    "-mbmi2",
    "-mf16c",
    "-mlzcnt",
    "-mpopcnt",
    "-maes",
    "-mpclmul",
    "-mssse3",
    "-msse4.2",
    "-mmovbe",
    "-DVGA_amd64=1",
    "-DVGO_linux=1",
    "-DVGP_amd64_linux=1",
];

/// The programs that the suite's own descriptions (`*.vgtest`) name, with their arguments.
pub fn items(mirror: &str) -> Result<Vec<Item>, String> {
    let root = unpacked(mirror)?;
    let mut items = Vec::new();
    for part in ["none/tests", "none/tests/amd64", "none/tests/amd64-linux", "none/tests/linux"] {
        let dir = root.join(part);
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        let mut tests: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|p| p.extension().is_some_and(|e| e == "vgtest"))
            .collect();
        tests.sort();
        items.extend(tests.iter().filter_map(|test| item(&root, &dir, part, test)));
    }
    Ok(items)
}

fn item(root: &Path, dir: &Path, part: &str, test: &Path) -> Option<Item> {
    let text = std::fs::read_to_string(test).ok()?;
    let value = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)).map(str::trim);
    let program = value("prog:")?.trim_start_matches("./");
    let source = source_of(dir, program)?;
    let mut compile = vec![if source.extension()? == "cpp" { "g++" } else { "gcc" }.to_owned()];
    compile.extend(FLAGS.map(str::to_owned));
    compile.extend([format!("-I{}", root.display()), format!("-I{}/include", root.display())]);
    compile.push(source.to_string_lossy().into_owned());
    let args = value("args:").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let name = test.file_stem()?.to_string_lossy().into_owned();
    let libs = ["-lm", "-lrt", "-ldl"].map(str::to_owned).to_vec();
    Some(Item { name: format!("{part}/{name}"), compile, libs, source_dir: dir.to_path_buf(), args })
}

/// The source of a program: as it is, or generated from a table of instructions by the suite's own script.
fn source_of(dir: &Path, program: &str) -> Option<PathBuf> {
    for extension in ["c", "cpp", "S"] {
        let source = dir.join(format!("{program}.{extension}"));
        if source.exists() {
            return Some(source);
        }
    }
    let (table, made) = (dir.join(format!("{program}.def")), dir.join(format!("{program}.c")));
    let line = format!("perl gen_insn_test.pl < {program}.def > {program}.c");
    (table.exists() && run(&["sh", "-c", &line], dir).is_ok()).then_some(made)
}

fn unpacked(mirror: &str) -> Result<PathBuf, String> {
    let dir = suites_dir().join("valgrind");
    if let Some(found) = find(&dir) {
        return Ok(found);
    }
    let archive = source_archive("valgrind", mirror)?;
    run(&["tar", "-xf", &archive.to_string_lossy()], &dir)?;
    let root = find(&dir).ok_or("the package holds no tests")?;
    // What its configure script would have written; the defaults suit a current Linux.
    std::fs::write(root.join("config.h"), "#define HAVE_PTHREAD_BARRIER 1\n").map_err(|e| e.to_string())?;
    Ok(root)
}

fn find(dir: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(dir).ok()?;
    entries.filter_map(|entry| Some(entry.ok()?.path())).find(|p| p.join("none/tests/amd64").is_dir())
}
