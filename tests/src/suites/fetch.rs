//! Fetches a Debian source package without touching the machine's apt configuration. Knows no suite.

use crate::host;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Directory of fetched packages and their unpacked parts.
pub fn suites_dir() -> PathBuf {
    host::target_dir().join("suites")
}

/// Runs a command, with its output to be seen only if it fails.
pub fn run(argv: &[&str], dir: &Path) -> Result<(), String> {
    let output = Command::new(argv[0]).args(&argv[1..]).current_dir(dir).output();
    let output = output.map_err(|e| format!("{}: {e}", argv[0]))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{} failed: {}", argv.join(" "), String::from_utf8_lossy(&output.stderr)))
}

/// The upstream archive of a source package, e.g. `gcc-12`, downloaded unless it already was.
pub fn source_archive(package: &str, mirror: &str) -> Result<PathBuf, String> {
    let dir = suites_dir().join(package);
    std::fs::create_dir_all(&dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    if let Some(found) = archive_in(&dir)? {
        return Ok(found);
    }
    eprintln!("fetching the source package {package}");
    let options = private_apt(mirror)?;
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    run(&[&["apt-get"], &options[..], &["update"]].concat(), &dir)?;
    run(&[&["apt-get"], &options[..], &["source", "--download-only", package]].concat(), &dir)?;
    archive_in(&dir)?.ok_or_else(|| format!("{package} came without an .orig archive"))
}

fn archive_in(dir: &Path) -> Result<Option<PathBuf>, String> {
    let entries = std::fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<_> =
        paths.filter(|p| p.to_string_lossy().contains(".orig.tar.") && !ends_in(p, ".asc")).collect();
    found.sort();
    Ok(found.into_iter().next())
}

fn ends_in(path: &Path, end: &str) -> bool {
    path.to_string_lossy().ends_with(end)
}

/// Options that give apt sources, lists and cache of its own: most machines have no `deb-src` entries, and adding some
/// to a user's configuration is not a test's business.
fn private_apt(mirror: &str) -> Result<Vec<String>, String> {
    let dir = suites_dir().join("apt");
    for part in ["lists/partial", "cache/archives/partial"] {
        std::fs::create_dir_all(dir.join(part)).map_err(|e| format!("{}: {e}", dir.display()))?;
    }
    let release = std::fs::read_to_string("/etc/os-release").map_err(|e| e.to_string())?;
    let codename = release
        .lines()
        .find_map(|l| l.strip_prefix("VERSION_CODENAME="))
        .ok_or("no codename in os-release")?;
    let keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let sources = dir.join("sources.list");
    std::fs::write(&sources, format!("deb-src [signed-by={keys}] {mirror} {codename} main\n"))
        .map_err(|e| e.to_string())?;
    let at = |key: &str, path: PathBuf| format!("{key}={}", path.display());
    let settings = [
        at("Dir::Etc::sourcelist", sources),
        "Dir::Etc::sourceparts=-".to_owned(),
        at("Dir::State::lists", dir.join("lists")),
        at("Dir::Cache", dir.join("cache")),
        // The files belong to whoever runs the tests; apt's own user cannot write there.
        "APT::Sandbox::User=root".to_owned(),
    ];
    Ok(settings.into_iter().flat_map(|s| ["-o".to_owned(), s]).collect())
}
