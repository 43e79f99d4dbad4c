//! The Open POSIX Test Suite: what the standard says of threads, signals, timers, memory maps, semaphores, message queues
//! and scheduling, assertion by assertion; each program ends with status 0 if it holds.

use super::fetch::{run, source_archive, suites_dir};
use super::runner::Item;
use std::path::{Path, PathBuf};

/// The source package that holds the suite.
const PACKAGE: &str = "posixtestsuite";

/// The programs that can be run alone: one for each assertion, named by its number.
pub fn items(mirror: &str) -> Result<Vec<Item>, String> {
    let root = unpacked(mirror)?;
    let mut sources = Vec::new();
    for part in ["conformance/interfaces", "conformance/behavior", "functional"] {
        collect(&root.join(part), &mut sources);
    }
    sources.retain(|source| !sets_the_clock(source));
    sources.sort();
    Ok(sources.iter().filter_map(|source| item(&root, source)).collect())
}

/// Adds the C files below `dir` whose names begin with a number.
fn collect(dir: &Path, sources: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, sources);
        } else if name.ends_with(".c") && name.starts_with(|c: char| c.is_ascii_digit()) {
            sources.push(path);
        }
    }
}

/// Tells whether a program sets the machine's clock: nobody else on the machine could rely on it meanwhile.
fn sets_the_clock(source: &Path) -> bool {
    let text = std::fs::read(source).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    ["clock_settime(", "settimeofday(", "stime("].iter().any(|call| text.contains(call))
}

fn item(root: &Path, source: &Path) -> Option<Item> {
    let dir = source.parent()?;
    let mut compile: Vec<String> = ["gcc", "-w", "-O1", "-D_GNU_SOURCE"].map(str::to_owned).to_vec();
    compile.extend([format!("-I{}/include", root.display()), format!("-I{}", dir.display())]);
    compile.push(source.to_string_lossy().into_owned());
    Some(Item {
        name: source.strip_prefix(root).ok()?.with_extension("").to_string_lossy().into_owned(),
        compile,
        libs: ["-lpthread", "-lrt", "-lm"].map(str::to_owned).to_vec(),
        source_dir: dir.to_path_buf(),
        args: Vec::new(),
    })
}

fn unpacked(mirror: &str) -> Result<PathBuf, String> {
    let dir = suites_dir().join(PACKAGE);
    if let Some(found) = find(&dir) {
        return Ok(found);
    }
    let archive = source_archive(PACKAGE, mirror)?;
    run(&["tar", "-xf", &archive.to_string_lossy()], &dir)?;
    find(&dir).ok_or_else(|| "the package holds no tests".to_owned())
}

fn find(dir: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(dir).ok()?;
    entries.filter_map(|entry| Some(entry.ok()?.path())).find(|p| p.join("conformance/interfaces").is_dir())
}
