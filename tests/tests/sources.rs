//! Rules of the sources that no compiler checks: who may name a shadow, what the engine may know, how many modules may know each
//! other, and how a doc comment begins.

#![forbid(unsafe_code)]

use shadowgrind_tests::host;
use shadowgrind_tests::modules::Modules;
use std::path::{Path, PathBuf};

/// Rust files below `dir`.
fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.expect("the tree is readable").path();
        match path.extension() {
            _ if path.is_dir() => files.extend(rust_files(&path)),
            Some(extension) if extension == "rs" => files.push(path),
            _ => {}
        }
    }
    files
}

/// Lines of the files below the directories of the workspace for which `is_wrong` holds, with their places.
fn wrong_lines(directories: &[&str], is_wrong: impl Fn(&Path, &str) -> bool) -> Vec<String> {
    let workspace = host::workspace_dir();
    let mut wrong = Vec::new();
    for path in directories.iter().flat_map(|dir| rust_files(&workspace.join(dir))) {
        let text = std::fs::read_to_string(&path).expect("sources are UTF-8");
        let inside = path.strip_prefix(&workspace).expect("it was found there");
        for (number, line) in text.lines().enumerate().filter(|(_, line)| is_wrong(inside, line)) {
            wrong.push(format!("{}:{}: {}", inside.display(), number + 1, line.trim()));
        }
    }
    wrong
}

/// Tells whether a file has nothing but tests.
fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests.rs" || part.as_os_str() == "tests")
}

/// The engine and the run time serve any shadow: one list names those that there are.
#[test]
fn the_front_end_names_no_shadow() {
    // Ordinary words are left out, and plurals of the others named.
    let ordinary = |name: &String| !["none", "error"].contains(&&name[..]);
    let mut banned: Vec<String> = shadows().into_iter().filter(ordinary).collect();
    banned.extend(["dots", "reals", "adjoints"].map(str::to_owned));
    let is_list = |path: &Path| path.starts_with("frontends/dbi/src/shadows.rs");
    let names = |line: &str| {
        let words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.into_iter().any(|word| banned.iter().any(|name| word.eq_ignore_ascii_case(name)))
    };
    let wrong = wrong_lines(&["frontends/dbi/src"], |path, line| !is_list(path) && names(line));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The engine runs programs for any client: it imports nothing of those that there are, nor of the place that puts both together.
#[test]
fn the_engine_knows_no_client() {
    const ABOVE: [&str; 5] = ["runtime", "session", "hooks", "shadows", "launch"];
    let imports = |line: &str| {
        line.match_indices("crate::").any(|(at, prefix)| {
            let path = &line[at + prefix.len()..];
            let name =
                path.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
            name.is_empty() || ABOVE.contains(&name)
        })
    };
    let wrong = wrong_lines(&["frontends/dbi/src/engine"], |_, line| imports(line));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// TABLE 2 is the whole truth about instructions: no other place asks for one by its name.
#[test]
fn only_the_table_names_instructions() {
    let may = |path: &Path| path.starts_with("frontends/dbi/src/x86/rows") || is_test(path);
    let names = |line: &str| line.contains("Mnemonic::") || line.contains(".mnemonic() ==");
    let wrong = wrong_lines(&["frontends/dbi/src"], |path, line| !may(path) && names(line));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Modules of the shadows that there are, by the front end's list.
fn shadows() -> Vec<String> {
    let path = host::workspace_dir().join("frontends/dbi/src/shadows.rs");
    let text = std::fs::read_to_string(path).expect("the list is UTF-8");
    let rows = text.lines().filter_map(|line| line.trim().split_once(": shadowgrind_shadows::"));
    let modules = rows.filter_map(|(_, path)| path.split_once("::"));
    let shadows: Vec<String> = modules.map(|(module, _)| module.to_owned()).collect();
    assert!(shadows.len() >= 5, "{shadows:?}");
    shadows
}

/// Each shadow is a module that stands by itself: what two have in common is a module of its own. Tests may compare them.
#[test]
fn shadows_do_not_import_one_another() {
    let shadows = shadows();
    let own =
        |path: &Path| path.components().nth(2).map(|part| part.as_os_str().to_string_lossy().into_owned());
    let imports = |path: &Path, line: &str| {
        let own = own(path).unwrap_or_default();
        !is_test(path)
            && line.match_indices("crate::").any(|(at, prefix)| {
                let path = &line[at + prefix.len()..];
                let name = path.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
                name.is_some_and(|name| {
                    shadows.iter().any(|shadow| shadow == name) && own.trim_end_matches(".rs") != name
                })
            })
    };
    let wrong = wrong_lines(&["shadows/src"], imports);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Modules of the crate at `root`, in the files where the compiler finds them.
fn modules(root: &Path) -> Modules {
    Modules::read(|path| {
        let stem = path.iter().fold(root.to_owned(), |at, name| at.join(name));
        let named = if path.is_empty() { ["lib.rs", "main.rs"] } else { ["", "mod.rs"] };
        let beside = if path.is_empty() { stem.join(named[0]) } else { stem.with_extension("rs") };
        let file = if beside.exists() { beside } else { stem.join(named[1]) };
        std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
    })
}

/// Sources of the crates.
const CRATES: [&str; 7] = [
    "core/src",
    "shadows/src",
    "symbols/src",
    "reports/src",
    "frontends/dbi/src",
    "frontends/cli/src",
    "tests/src",
];

/// Who reads a module has to read those that it knows; where these know it in turn, all of them at once.
#[test]
fn circles_of_modules_are_small() {
    const MOST: usize = 8;
    let workspace = host::workspace_dir();
    let mut large = Vec::new();
    for root in CRATES {
        let circles = modules(&workspace.join(root)).circles();
        let sizes: Vec<usize> = circles.iter().map(Vec::len).collect();
        println!("{root}: {sizes:?}");
        large.extend(circles.into_iter().filter(|circle| circle.len() > MOST));
    }
    assert!(large.is_empty(), "more than {MOST} modules know each other: {large:#?}");
}

/// A doc comment says what its item is, or does: it begins with a noun or a verb.
#[test]
fn doc_comments_begin_with_a_noun_or_a_verb() {
    const UNFIT: [&str; 19] = [
        "What ",
        "Whether ",
        "How ",
        "Where ",
        "Which ",
        "When ",
        "Why ",
        "See ",
        "The same ",
        "It ",
        "Its ",
        "This ",
        "That ",
        "These ",
        "Those ",
        "They ",
        "Their ",
        "Likewise",
        "Does so ",
    ];
    let begins = |line: &str| {
        let text = line.trim_start();
        let text = text.strip_prefix("/// ").or_else(|| text.strip_prefix("//! ")).unwrap_or_default();
        UNFIT.iter().any(|question| text.starts_with(question))
    };
    let workspace = host::workspace_dir();
    let mut wrong = Vec::new();
    for path in CRATES.iter().chain(&["tests/tests"]).flat_map(|dir| rust_files(&workspace.join(dir))) {
        let text = std::fs::read_to_string(&path).expect("sources are UTF-8");
        let mut before = "";
        for (number, line) in text.lines().enumerate() {
            let is_first = !before.trim_start().starts_with("//");
            if is_first && begins(line) {
                wrong.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
            before = line;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
