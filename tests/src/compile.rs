//! Compiles guests, once per content: the result is kept under cargo's target directory and found again by a hash
//! of everything it was made from.

use crate::host;
use crate::spec::{Guest, Language, Link, Variant};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// A compiled guest, or why there is none.
pub enum Compiled {
    /// The executable; its auxiliary libraries lie beside it.
    Ready(PathBuf),
    /// Compiler that this machine has not.
    NoCompiler(String),
}

/// Compiles one variant of a guest, unless an earlier run did.
pub fn compile(guest: &Guest, variant: &Variant) -> Result<Compiled, String> {
    let language = Language::of(&guest.source).expect("only sources become guests");
    let driver = driver(language, &variant.cc);
    let Some(version) = version_of(&driver) else { return Ok(Compiled::NoCompiler(driver)) };
    let stem = guest.source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let dir = host::target_dir().join("guests/bin").join(format!(
        "{}-{}-{:016x}",
        guest.name.replace('/', "-"),
        variant.name(),
        fingerprint(guest, variant, &version)?
    ));
    if !dir.join(&stem).exists() {
        build_in(&dir, guest, variant, language, &stem)?;
    }
    Ok(Compiled::Ready(dir.join(stem)))
}

/// Builds beside the final place and renames, so that a killed or a parallel run leaves nothing half made.
fn build_in(
    dir: &Path,
    guest: &Guest,
    variant: &Variant,
    language: Language,
    stem: &str,
) -> Result<(), String> {
    let scratch = host::fresh_work_dir();
    std::fs::create_dir_all(&scratch).map_err(|e| format!("{}: {e}", scratch.display()))?;
    for aux in &guest.spec.aux {
        run(&aux_command(&scratch, guest, variant, aux), &scratch)?;
    }
    run(&command(&scratch, dir, guest, variant, language, stem), &scratch)?;
    std::fs::create_dir_all(dir.parent().expect("below target")).map_err(|e| e.to_string())?;
    // Rename fails if a parallel test was faster; its result is the same.
    if std::fs::rename(&scratch, dir).is_err() && dir.join(stem).exists() {
        std::fs::remove_dir_all(&scratch).ok();
    }
    if dir.join(stem).exists() { Ok(()) } else { Err(format!("{} was not made", dir.display())) }
}

fn driver(language: Language, cc: &str) -> String {
    match (language, cc) {
        (Language::Cpp, "gcc") => "g++".to_owned(),
        (Language::Cpp, "clang") => "clang++".to_owned(),
        (Language::Cpp, "clang-19") => "clang++-19".to_owned(),
        _ => cc.to_owned(),
    }
}

/// `--version` of a compiler, `None` if it is not installed. Asked once per process.
fn version_of(driver: &str) -> Option<String> {
    static KNOWN: Mutex<Option<HashMap<String, Option<String>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().expect("no holder panics");
    let ask = || {
        let output = Command::new(driver).arg("--version").output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    known.get_or_insert_default().entry(driver.to_owned()).or_insert_with(ask).clone()
}

fn fingerprint(guest: &Guest, variant: &Variant, version: &str) -> Result<u64, String> {
    let mut hasher = DefaultHasher::new();
    let spec = &guest.spec;
    (version, &guest.name, variant.name(), &spec.flags, &spec.libs, &spec.aux).hash(&mut hasher);
    let here = Path::new("x");
    format!("{:?}", command(here, here, guest, variant, Language::C, "x")).hash(&mut hasher);
    let mut inputs = vec![guest.source.clone()];
    inputs.extend(spec.aux.iter().map(|aux| aux_source(guest, aux)));
    let mut headers: Vec<_> = std::fs::read_dir(include_dir())
        .map_err(|e| format!("{}: {e}", include_dir().display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    headers.sort();
    for path in inputs.iter().chain(&headers) {
        std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn include_dir() -> PathBuf {
    host::tests_dir().join("guests/include")
}

fn aux_source(guest: &Guest, aux: &[String]) -> PathBuf {
    guest.source.with_file_name("aux").join(&aux[0])
}

/// The command for the guest itself. `scratch` is where it is made, `home` where it will live.
fn command(
    scratch: &Path,
    home: &Path,
    guest: &Guest,
    variant: &Variant,
    language: Language,
    stem: &str,
) -> Vec<String> {
    let mut argv = vec![driver(language, &variant.cc)];
    let out = scratch.join(stem).to_string_lossy().into_owned();
    let source = guest.source.to_string_lossy().into_owned();
    if language == Language::Rust {
        let level = variant.opt.trim_start_matches("-O");
        argv.extend([
            "--edition=2024".into(),
            "-C".into(),
            format!("opt-level={level}"),
            "-o".into(),
            out,
            source,
        ]);
        if variant.link == Link::Static {
            argv.extend(
                ["-C", "target-feature=+crt-static", "-C", "relocation-model=static"].map(str::to_owned),
            );
        }
        argv.extend(guest.spec.flags.iter().cloned());
        return argv;
    }
    argv.push(variant.opt.clone());
    argv.extend(standard(language).iter().map(|s| (*s).to_owned()));
    argv.extend(link_flags(variant.link).iter().map(|s| (*s).to_owned()));
    argv.push(format!("-I{}", include_dir().display()));
    argv.extend(guest.spec.flags.iter().cloned());
    argv.extend(["-o".to_owned(), out, source]);
    let place = |lib: &String| lib.replace("{scratch}", &scratch.to_string_lossy());
    argv.extend(guest.spec.libs.iter().map(|l| place(l).replace("{dir}", &home.to_string_lossy())));
    argv
}

fn standard(language: Language) -> &'static [&'static str] {
    match language {
        Language::C => &["-std=gnu17", "-D_GNU_SOURCE", "-pthread", "-Wall", "-Wextra"],
        Language::Cpp => &["-std=gnu++20", "-pthread", "-Wall", "-Wextra"],
        _ => &[],
    }
}

fn link_flags(link: Link) -> &'static [&'static str] {
    match link {
        Link::Pie => &["-fPIE", "-pie"],
        Link::NoPie => &["-fno-pie", "-no-pie"],
        Link::Static => &["-static", "-fno-pie", "-no-pie"],
        Link::StaticPie => &["-static-pie", "-fPIE"],
        Link::Raw => &["-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-stack-protector"],
    }
}

fn aux_command(scratch: &Path, guest: &Guest, variant: &Variant, aux: &[String]) -> Vec<String> {
    let source = aux_source(guest, aux);
    let language = Language::of(&source).unwrap_or(Language::C);
    let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut argv = vec![driver(language, &variant.cc), variant.opt.clone()];
    argv.extend(standard(language).iter().map(|s| (*s).to_owned()));
    argv.extend(["-shared", "-fPIC"].map(str::to_owned));
    argv.extend(["-o".to_owned(), scratch.join(format!("lib{stem}.so")).to_string_lossy().into_owned()]);
    argv.push(source.to_string_lossy().into_owned());
    argv.extend(aux[1..].iter().cloned());
    argv
}

/// Some compilers leave module files where they are called.
fn run(argv: &[String], dir: &Path) -> Result<(), String> {
    let shown = argv.join(" ");
    let output = Command::new(&argv[0])
        .args(&argv[1..])
        .current_dir(dir)
        .output()
        .map_err(|e| format!("{shown}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("does not compile: {shown}\n{}", String::from_utf8_lossy(&output.stderr)))
}
