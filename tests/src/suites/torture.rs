//! GCC's c-torture/execute: about 1650 small programs that end with status 0 if they were compiled and run correctly.

use super::fetch::{run, source_archive, suites_dir};
use super::runner::Item;
use std::path::{Path, PathBuf};

/// The source package that holds the suite.
const PACKAGE: &str = "gcc-12";

/// The programs, each at this level of optimisation.
pub fn items(level: &str, mirror: &str) -> Result<Vec<Item>, String> {
    let root = unpacked(mirror)?;
    let mut items = Vec::new();
    // The builtins directory replaces parts of the C library and needs its own harness.
    for dir in [root.clone(), root.join("ieee")] {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&dir)
            .map_err(|e| format!("{}: {e}", dir.display()))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|p| p.extension().is_some_and(|e| e == "c"))
            .collect();
        files.sort();
        items.extend(files.iter().map(|file| item(&root, &dir, file, level)));
    }
    Ok(items)
}

fn item(root: &Path, dir: &Path, file: &Path, level: &str) -> Item {
    let text = std::fs::read(file).unwrap_or_default();
    let mut compile: Vec<String> = ["gcc", level, "-w"].map(str::to_owned).to_vec();
    compile.extend(options_in(&String::from_utf8_lossy(&text)));
    compile.push(file.to_string_lossy().into_owned());
    let name = file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned();
    Item {
        name: format!("{name} {level}"),
        compile,
        libs: vec!["-lm".to_owned()],
        source_dir: dir.to_path_buf(),
        args: Vec::new(),
    }
}

/// The compiler options that a test asks for in its `dg-options` and `dg-additional-options` comments.
fn options_in(text: &str) -> Vec<String> {
    let asks = |line: &&str| line.contains("dg-options") || line.contains("dg-additional-options");
    // Conditional ones are for other machines, mostly.
    let lines = text.lines().filter(asks).filter(|l| !l.contains("target"));
    let quoted = lines.filter_map(|l| l.split('"').nth(1));
    quoted.flat_map(str::split_whitespace).map(str::to_owned).collect()
}

fn unpacked(mirror: &str) -> Result<PathBuf, String> {
    let dir = suites_dir().join(PACKAGE);
    if let Some(found) = find(&dir) {
        return Ok(found);
    }
    let archive = source_archive(PACKAGE, mirror)?;
    let archive = archive.to_string_lossy();
    // The package's archive holds GCC's own archive; only this suite is taken out of it.
    let line = format!(
        "tar -xOf '{archive}' --wildcards '*/gcc-*.tar.*' | tar -xJf - --wildcards '*/gcc.c-torture/execute/*'"
    );
    run(&["sh", "-c", &line], &dir)?;
    find(&dir).ok_or_else(|| "the package holds no c-torture".to_owned())
}

fn find(dir: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(dir).ok()?;
    let suite = |path: PathBuf| path.join("gcc/testsuite/gcc.c-torture/execute");
    entries.filter_map(|entry| Some(suite(entry.ok()?.path()))).find(|p| p.is_dir())
}

#[cfg(test)]
mod tests {
    use super::options_in;

    #[test]
    fn options_are_read_from_the_comments() {
        let text =
            "/* { dg-options \"-fwrapv -O2\" } */\n/* { dg-additional-options \"-m32\" { target x } } */\n";
        assert_eq!(options_in(text), ["-fwrapv", "-O2"]);
    }
}
