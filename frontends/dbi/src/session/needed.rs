//! The libraries a program will be loaded with, found before it runs where `ld.so` will look for them.
//!
//! Only for names: what is really loaded, and where, the session hears from the engine. A library this misses (an audit
//! module, `LD_PRELOAD`, a `dlopen`) is looked at when it is loaded.

use object::LittleEndian as LE;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64, SHT_DYNSYM};
use object::read::elf::{Dyn, FileHeader, SectionTable, Sym};
use shadowgrind_symbols::SymbolFile;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Files that a program is loaded with.
#[derive(Default)]
pub(super) struct Needed {
    /// The files of all libraries that it needs, by itself or through others, nearest first.
    pub(super) files: Vec<SymbolFile>,
    /// True if it may load modules or execute programs beyond these.
    pub(super) more_may_come: bool,
}

impl Needed {
    /// Files that `program` needs.
    pub(super) fn by(program: &Path) -> Needed {
        let (paths, more_may_come) = libraries(program);
        let files = paths.iter().filter_map(|path| SymbolFile::open(path).ok()).collect();
        Needed { files, more_may_come }
    }
}

/// Functions of the C library that load modules or execute programs.
const BRINGS_MORE: [&[u8]; 15] = [
    b"dlopen",
    b"dlmopen",
    b"system",
    b"popen",
    b"posix_spawn",
    b"posix_spawnp",
    b"execl",
    b"execle",
    b"execlp",
    b"execv",
    b"execve",
    b"execveat",
    b"execvp",
    b"execvpe",
    b"fexecve",
];

/// Paths of all libraries that `program` needs, by itself or through others, nearest first; and whether more may come: a
/// program without libraries may do what it likes, another needs a function of the C library for that.
fn libraries(program: &Path) -> (Vec<PathBuf>, bool) {
    let cache = std::fs::read("/etc/ld.so.cache").unwrap_or_default();
    let mut found: Vec<PathBuf> = Vec::new();
    let mut more_may_come = false;
    let mut next = 0;
    let mut file = program.to_owned();
    loop {
        let dynamic = Dynamic::read(&file).unwrap_or_default();
        more_may_come |= dynamic.brings_more || next == 0 && dynamic.needed.is_empty();
        for name in &dynamic.needed {
            if let Some(path) = find(name, &dynamic, &file, &cache)
                && !found.contains(&path)
            {
                found.push(path);
            }
        }
        match found.get(next) {
            Some(path) => file = path.clone(),
            None => return (found, more_may_come),
        }
        next += 1;
    }
}

/// Statements of a file about the libraries it needs.
#[derive(Default)]
struct Dynamic {
    needed: Vec<Vec<u8>>,
    /// Folders to look for them in, before the usual ones.
    folders: Vec<Vec<u8>>,
    /// True if it uses functions that load modules or execute programs.
    brings_more: bool,
}

impl Dynamic {
    fn read(path: &Path) -> Option<Dynamic> {
        let data = std::fs::read(path).ok()?;
        let data = data.as_slice();
        let sections = FileHeader64::<LE>::parse(data).ok()?.sections(LE, data).ok()?;
        let (entries, strings) = sections.dynamic(LE, data).ok()??;
        let strings = sections.strings(LE, data, strings).ok()?;
        let brings_more = brings_more(&sections, data).unwrap_or(true);
        let mut dynamic = Dynamic { brings_more, ..Dynamic::default() };
        for entry in entries {
            let text = || entry.string(LE, strings).ok().map(<[u8]>::to_vec);
            match entry.d_tag(LE) {
                DT_NEEDED => dynamic.needed.extend(text()),
                DT_RPATH | DT_RUNPATH => {
                    let folders = text().unwrap_or_default();
                    dynamic.folders.extend(folders.split(|&c| c == b':').map(<[u8]>::to_vec));
                }
                _ => {}
            }
        }
        Some(dynamic)
    }
}

/// Tells whether a file has others give it one of those functions.
fn brings_more(sections: &SectionTable<'_, FileHeader64<LE>>, data: &[u8]) -> Option<bool> {
    let symbols = sections.symbols(LE, data, SHT_DYNSYM).ok()?;
    let uses = |name: &[u8]| BRINGS_MORE.contains(&name);
    let mut undefined = symbols.iter().filter(|symbol| symbol.is_undefined(LE));
    Some(undefined.any(|symbol| symbol.name(LE, symbols.strings()).is_ok_and(uses)))
}

/// Directories in which distributions have libraries that are in no cache.
const USUAL: [&str; 6] =
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];

fn find(name: &[u8], from: &Dynamic, file: &Path, cache: &[u8]) -> Option<PathBuf> {
    let name = Path::new(OsStr::from_bytes(name));
    if name.components().count() > 1 {
        return name.canonicalize().ok();
    }
    let origin = file.parent().unwrap_or(Path::new("/")).as_os_str().as_bytes();
    let own = from.folders.iter().map(|folder| {
        let folder = replace(folder, b"${ORIGIN}", origin);
        replace(&folder, b"$ORIGIN", origin)
    });
    let environment = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let environment =
        environment.as_bytes().split(|&c| c == b':').filter(|f| !f.is_empty()).map(<[u8]>::to_vec);
    let mut folders = own.chain(environment).map(|folder| PathBuf::from(OsStr::from_bytes(&folder)));
    let named = folders.find_map(|folder| existing(&folder.join(name)));
    let cached = || in_cache(cache, name.as_os_str().as_bytes()).and_then(|path| existing(&path));
    let usual = || USUAL.iter().find_map(|folder| existing(&Path::new(folder).join(name)));
    named.or_else(cached).or_else(usual)
}

fn existing(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|path| path.is_file())
}

fn replace(text: &[u8], what: &[u8], with: &[u8]) -> Vec<u8> {
    match text.windows(what.len()).position(|window| window == what) {
        Some(at) => [&text[..at], with, &text[at + what.len()..]].concat(),
        None => text.to_vec(),
    }
}

/// The path of a library by `ld.so`'s cache, in the format of glibc since 2.2 (`struct cache_file_new`): 48 bytes of
/// head, then entries of 24 bytes, whose offsets of strings count from the head.
fn in_cache(cache: &[u8], name: &[u8]) -> Option<PathBuf> {
    const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
    /// `FLAG_ELF_LIBC6 | FLAG_X8664_LIB64`.
    const X86_64: u32 = 0x303;
    let start = cache.windows(MAGIC.len()).position(|window| window == MAGIC)?;
    let cache = &cache[start..];
    let word = |at: usize| Some(u32::from_le_bytes(cache.get(at..at + 4)?.try_into().ok()?));
    let string = |at: u32| cache.get(at as usize..)?.split(|&c| c == 0).next();
    let count = word(20)? as usize;
    (0..count).map(|i| 48 + 24 * i).find_map(|at| {
        let matches = word(at)? & 0xffff == X86_64 && string(word(at + 4)?)? == name;
        let path = string(word(at + 8)?).filter(|_| matches)?;
        Some(PathBuf::from(OsStr::from_bytes(path)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::process::Command;

    /// Compares with `ldd`, which runs `ld.so` itself.
    #[test]
    fn as_ldd_says() {
        for program in ["/bin/sh", "/usr/bin/perl", "/usr/bin/gcc", "/usr/bin/git"] {
            let Ok(path) = Path::new(program).canonicalize() else { continue };
            let output = Command::new("ldd").arg(&path).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let paths = text.lines().filter_map(|line| line.split_once(" => ")?.1.split(' ').next());
            let expected: BTreeSet<PathBuf> = paths.filter_map(|path| existing(Path::new(path))).collect();
            let found = libraries(&path).0.into_iter();
            // The interpreter is needed by the C library, and listed by `ldd` without an arrow.
            let found: BTreeSet<_> = found.filter(|p| !p.to_string_lossy().contains("/ld-linux")).collect();
            assert_eq!(found, expected, "{program}");
        }
    }

    #[test]
    fn shells_may_bring_more_and_a_plain_program_may_not() {
        let plain = std::env::temp_dir().join(format!("shadowgrind-plain-{}", std::process::id()));
        let mut cc = Command::new("cc");
        let mut child =
            cc.args(["-xc", "-", "-o"]).arg(&plain).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let source = b"#include <stdio.h>\nint main(void) { return puts(\"x\"); }\n";
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), source).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(!libraries(&plain).1);
        std::fs::remove_file(plain).unwrap();
        assert!(libraries(&Path::new("/bin/sh").canonicalize().unwrap()).1);
    }
}
