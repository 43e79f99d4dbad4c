//! Statements of a guest program about itself: the `//@ key: value` lines at its head.
//!
//! | key | meaning | default |
//! |---|---|---|
//! | `cc` | compilers | `gcc clang` (C, C++); `gcc` (assembly); `gfortran`; `rustc` |
//! | `opt` | optimisation levels | `-O0 -O2` |
//! | `link` | `pie nopie static static-pie raw`; the first for all, the others for one compiler and level only | `pie` |
//! | `flags`, `libs` | for the compiler, before and after the source; `{dir}` is where the guest is put | |
//! | `aux` | a source in `aux/` made a shared library `lib<stem>.so` beside the guest, and flags for it; repeatable | |
//! | `needs` | CPU flags (as in `/proc/cpuinfo`), or programs as `program:NAME`; the guest is skipped without them | |
//! | `args`, `env`, `stdin` | of the guest; `{dir}` and `{exe}` are replaced | |
//! | `wrap` | a shell line that ends by running `"$@"`, for limits and closed descriptors | |
//! | `exit` | how it ends natively: a status, or a signal by name | `0` |
//! | `timeout` | seconds | 60 |
//!
//! Deliberately absent: conditions on the tool or its configuration. A guest does not know who runs it.

use std::path::{Path, PathBuf};

/// One guest program: a source file and what it asks for.
#[derive(Clone, Debug)]
pub struct Guest {
    /// `topic/stem`, the first part of the test's name.
    pub name: String,
    /// The source file.
    pub source: PathBuf,
    /// The directives.
    pub spec: Spec,
}

/// The directives of a guest. Fields are named after the keys.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "the table at the head of this file documents the keys")]
pub struct Spec {
    pub cc: Vec<String>,
    pub opt: Vec<String>,
    pub link: Vec<Link>,
    pub flags: Vec<String>,
    pub libs: Vec<String>,
    pub aux: Vec<Vec<String>>,
    pub needs: Vec<String>,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub stdin: String,
    pub wrap: Option<String>,
    pub exit: String,
    pub timeout: u64,
}

/// Linking of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Dynamic, position independent.
    Pie,
    /// Dynamic, at a fixed address.
    NoPie,
    /// Static, at a fixed address.
    Static,
    /// Static, position independent.
    StaticPie,
    /// Static, without libc and its start-up code.
    Raw,
}

impl Link {
    const ALL: [(&str, Link); 5] = [
        ("pie", Link::Pie),
        ("nopie", Link::NoPie),
        ("static", Link::Static),
        ("static-pie", Link::StaticPie),
        ("raw", Link::Raw),
    ];

    fn parse(word: &str) -> Option<Link> {
        Link::ALL.iter().find(|(name, _)| *name == word).map(|(_, link)| *link)
    }

    /// The word that names it in directives and test names.
    pub fn name(self) -> &'static str {
        Link::ALL.iter().find(|(_, link)| *link == self).expect("all are listed").0
    }
}

/// One way to build a guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Compiler as named in the directive (`gcc` stands for `g++` in C++).
    pub cc: String,
    /// Optimisation level.
    pub opt: String,
    /// The way it is linked.
    pub link: Link,
}

impl Variant {
    /// `gcc-O2-static`, the second part of the test's name.
    pub fn name(&self) -> String {
        format!("{}{}-{}", self.cc, self.opt, self.link.name())
    }
}

impl Guest {
    /// Reads one source file; `None` if the file is not a guest (a header, a data file).
    pub fn read(root: &Path, source: &Path) -> Result<Option<Guest>, String> {
        let language = Language::of(source);
        let Some(language) = language else { return Ok(None) };
        let text = std::fs::read_to_string(source).map_err(|e| format!("{}: {e}", source.display()))?;
        let name = source.strip_prefix(root).unwrap_or(source).with_extension("");
        let name = name.to_string_lossy().into_owned();
        let spec = Spec::parse(&text, language).map_err(|e| format!("{name}: {e}"))?;
        Ok(Some(Guest { name, source: source.to_path_buf(), spec }))
    }

    /// Every way this guest is to be built. A further way to link multiplies by one, not by every compiler and level:
    /// what differs is the loader's work, not the code.
    pub fn variants(&self) -> Vec<Variant> {
        let spec = &self.spec;
        let mut all = Vec::new();
        for cc in &spec.cc {
            for opt in &spec.opt {
                all.push(Variant { cc: cc.clone(), opt: opt.clone(), link: spec.link[0] });
            }
        }
        let last = spec.opt.last().expect("opt is never empty");
        for link in &spec.link[1..] {
            all.push(Variant { cc: spec.cc[0].clone(), opt: last.clone(), link: *link });
        }
        all
    }
}

/// The source languages, by file extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `.c`
    C,
    /// `.cpp`
    Cpp,
    /// `.f90`
    Fortran,
    /// `.rs`
    Rust,
    /// `.S`
    Assembly,
}

impl Language {
    /// The language of a file, if it is one.
    pub fn of(path: &Path) -> Option<Language> {
        Some(match path.extension()?.to_str()? {
            "c" => Language::C,
            "cpp" => Language::Cpp,
            "f90" => Language::Fortran,
            "rs" => Language::Rust,
            "S" => Language::Assembly,
            _ => return None,
        })
    }

    fn compilers(self) -> &'static [&'static str] {
        match self {
            Language::C | Language::Cpp => &["gcc", "clang"],
            Language::Fortran => &["gfortran"],
            Language::Rust => &["rustc"],
            Language::Assembly => &["gcc"],
        }
    }

    fn levels(self) -> &'static [&'static str] {
        match self {
            // Assembly is what it is: one level.
            Language::Assembly => &["-O0"],
            _ => &["-O0", "-O2"],
        }
    }
}

fn words(value: &str) -> Vec<String> {
    value.split_whitespace().map(str::to_owned).collect()
}

impl Spec {
    fn parse(text: &str, language: Language) -> Result<Spec, String> {
        let mut spec = Spec {
            cc: language.compilers().iter().map(|s| (*s).to_owned()).collect(),
            opt: language.levels().iter().map(|s| (*s).to_owned()).collect(),
            link: vec![Link::Pie],
            exit: "0".to_owned(),
            timeout: 60,
            ..Spec::default()
        };
        for line in text.lines() {
            let Some(directive) = line.strip_prefix("//@ ").or_else(|| line.strip_prefix("!@ ")) else {
                continue;
            };
            let (key, value) = directive.split_once(':').ok_or_else(|| format!("no colon in {line:?}"))?;
            spec.set(key.trim(), value.trim())?;
        }
        Ok(spec)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "cc" => self.cc = words(value),
            "opt" => self.opt = words(value),
            "link" => self.link = parse_links(value)?,
            "flags" => self.flags = words(value),
            "libs" => self.libs = words(value),
            "aux" => self.aux.push(words(value)),
            "needs" => self.needs.extend(words(value)),
            "args" => self.args = words(value),
            "env" => self.env.push(parse_pair(value)?),
            "stdin" => self.stdin = format!("{}\n", value.replace("\\n", "\n")),
            "wrap" => self.wrap = Some(value.to_owned()),
            "exit" => self.exit = value.to_owned(),
            "timeout" => self.timeout = value.parse().map_err(|_| format!("bad timeout {value:?}"))?,
            _ => return Err(format!("unknown directive {key:?}")),
        }
        Ok(())
    }
}

fn parse_links(value: &str) -> Result<Vec<Link>, String> {
    value.split_whitespace().map(|w| Link::parse(w).ok_or_else(|| format!("unknown link {w:?}"))).collect()
}

fn parse_pair(value: &str) -> Result<(String, String), String> {
    let (name, value) = value.split_once('=').ok_or_else(|| format!("no = in env {value:?}"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Every guest below `root`, in the order of their names. `aux` holds parts of guests, `bench` what is timed and not
/// compared, `include` headers, `check`, `dot`, `inputs` and `mpfr` what those are tested with; each `randseq*` belongs to the
/// generator of random sequences.
pub fn all_guests(root: &Path) -> Result<Vec<Guest>, String> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(&dir).map_err(|e| format!("{}: {e}", dir.display()))? {
            let path = entry.map_err(|e| e.to_string())?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("randseq")
                || ["arrays", "aux", "bench", "check", "dot", "include", "inputs", "mpfr"]
                    .contains(&name.as_str())
            {
                continue;
            }
            if path.is_dir() {
                pending.push(path);
            } else {
                found.extend(Guest::read(root, &path)?);
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}
