//! Compiles the guests of the shadows' tests, once per content, and installs the Python package likewise. Knows
//! compilers and files, not what the programs are for.

use crate::host;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// One way to compile a program.
#[derive(Clone, Debug, Hash)]
pub struct Recipe {
    /// The compiler's command, e.g. `g++`.
    pub compiler: String,
    /// Options before the sources.
    pub flags: Vec<String>,
    /// The sources; the program is called by the first one's stem.
    pub sources: Vec<PathBuf>,
    /// Libraries, after the sources.
    pub libs: Vec<String>,
}

impl Recipe {
    /// `source` by `compiler`, with flags and libraries in words as on a command line.
    pub fn new(compiler: &str, flags: &str, source: &Path, libs: &str) -> Recipe {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        Recipe {
            compiler: compiler.to_owned(),
            flags: words(flags),
            sources: vec![source.to_path_buf()],
            libs: words(libs),
        }
    }

    /// The executable; `None` where there is no such compiler.
    pub fn build(&self) -> Result<Option<PathBuf>, String> {
        let Some(version) = version_of(&self.compiler) else { return Ok(None) };
        let stem = self.sources[0].file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut hasher = DefaultHasher::new();
        (self, version).hash(&mut hasher);
        self.hash_inputs(&mut hasher)?;
        let home = built_dir().join(format!("{stem}-{:016x}", hasher.finish()));
        if !home.join(&stem).exists() {
            self.build_in(&home, &stem)?;
        }
        Ok(Some(home.join(stem)))
    }

    /// The sources and every header that they might include.
    fn hash_inputs(&self, hasher: &mut DefaultHasher) -> Result<(), String> {
        let mut inputs = self.sources.clone();
        inputs.push(client_dir().join("shadowgrind.h"));
        for source in &self.sources {
            let dir = source.parent().unwrap_or(Path::new("."));
            let entries = std::fs::read_dir(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
            let headers = entries.filter_map(|e| Some(e.ok()?.path()));
            inputs.extend(headers.filter(|p| p.extension().is_some_and(|e| e == "h")));
        }
        inputs.sort();
        for path in inputs {
            std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?.hash(hasher);
        }
        Ok(())
    }

    /// Builds beside the final place and renames, so that a killed or a parallel run leaves nothing half made.
    fn build_in(&self, home: &Path, stem: &str) -> Result<(), String> {
        let scratch = host::fresh_work_dir();
        std::fs::create_dir_all(&scratch).map_err(|e| format!("{}: {e}", scratch.display()))?;
        let mut command = Command::new(&self.compiler);
        command.args(&self.flags).args(self.options_for(&scratch.join(stem)));
        command.args(&self.sources).args(&self.libs);
        // Fortran leaves module files where it is called.
        run(command.current_dir(&scratch))?;
        settle(&scratch, home)
    }
}

impl Recipe {
    /// Options that have the compiler write `exe`.
    fn options_for(&self, exe: &Path) -> Vec<String> {
        let exe = exe.to_string_lossy().into_owned();
        match self.compiler.as_str() {
            "fpc" => vec![format!("-o{exe}")],
            "nim" => vec![format!("-o:{exe}")],
            _ => vec!["-o".to_owned(), exe],
        }
    }
}

/// The executable of `recipe` for the test `name`; `None`, with a word of why, without its compiler.
pub fn built(name: &str, recipe: &Recipe) -> Result<Option<PathBuf>, String> {
    let exe = recipe.build()?;
    if exe.is_none() {
        host::skipped(name, &format!("{} is not installed", recipe.compiler));
    }
    Ok(exe)
}

/// Directory of the client headers and bindings.
pub fn client_dir() -> PathBuf {
    host::workspace_dir().join("frontends/client")
}

/// The directory that `PYTHONPATH` must name for `import shadowgrind`; `None` where it cannot be built.
pub fn python_package(python: &Path) -> Result<Option<PathBuf>, String> {
    static LOCK: Mutex<()> = Mutex::new(());
    let _one_at_a_time = LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut hasher = DefaultHasher::new();
    let package = client_dir().join("python");
    for file in ["shadowgrind/_requests.c", "shadowgrind/__init__.py", "setup.py", "../shadowgrind.h"] {
        std::fs::read(package.join(file)).map_err(|e| format!("{file}: {e}"))?.hash(&mut hasher);
    }
    let home = built_dir().join(format!("python-{:016x}", hasher.finish()));
    if home.exists() {
        return Ok(Some(home));
    }
    let usable = |probe: &str| {
        Command::new(python).args(["-c", probe]).output().is_ok_and(|output| output.status.success())
    };
    if !usable("import setuptools, pip, sysconfig, os; os.stat(sysconfig.get_path('include') + '/Python.h')")
    {
        return Ok(None);
    }
    // A copy: the build leaves files beside the sources.
    let scratch = host::fresh_work_dir();
    std::fs::create_dir_all(&scratch).map_err(|e| e.to_string())?;
    run(Command::new("cp").arg("-r").arg(client_dir()).arg(scratch.join("client")))?;
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps"]);
    run(install.arg("--target").arg(scratch.join("site")).arg(scratch.join("client/python")))?;
    settle(&scratch.join("site"), &home)?;
    Ok(Some(home))
}

/// A directory for `PYTHONPATH` with these packages from the package index; `None` where they cannot be had.
pub fn python_with(python: &Path, packages: &[&str]) -> Result<Option<PathBuf>, String> {
    let mut hasher = DefaultHasher::new();
    packages.hash(&mut hasher);
    let home = built_dir().join(format!("packages-{:016x}", hasher.finish()));
    if home.exists() {
        return Ok(Some(home));
    }
    let scratch = host::fresh_work_dir();
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet", "--target"]).arg(&scratch).args(packages);
    if !install.output().is_ok_and(|output| output.status.success()) {
        return Ok(None);
    }
    settle(&scratch, &home)?;
    Ok(Some(home))
}

fn built_dir() -> PathBuf {
    host::target_dir().join("guests/shadowed")
}

/// Rename fails if a parallel test was faster; its result is the same.
fn settle(scratch: &Path, home: &Path) -> Result<(), String> {
    std::fs::create_dir_all(built_dir()).map_err(|e| e.to_string())?;
    if std::fs::rename(scratch, home).is_err() {
        std::fs::remove_dir_all(scratch).ok();
    }
    if home.exists() { Ok(()) } else { Err(format!("{} was not made", home.display())) }
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("fails: {command:?}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// `--version` of a compiler, `None` if it is not installed. Asked once per process.
fn version_of(compiler: &str) -> Option<String> {
    static KNOWN: Mutex<Option<HashMap<String, Option<String>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let ask = || {
        let version = match compiler {
            "go" => "version",
            "fpc" => "-iV",
            _ => "--version",
        };
        let output = Command::new(compiler).arg(version).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    known.get_or_insert_default().entry(compiler.to_owned()).or_insert_with(ask).clone()
}
