//! The libraries a program will be loaded with, found before it runs where `ld.so` will look for them.
//!
//! Only for names: what is really loaded, and where, the session hears from the engine. A library this misses (an audit
//! module, `LD_PRELOAD`, a `dlopen`) is one whose variables cannot be named.

use object::LittleEndian as LE;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64};
use object::read::elf::{Dyn, FileHeader};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Paths of all libraries that `program` needs, by itself or through others, nearest first.
pub(super) fn libraries(program: &Path) -> Vec<PathBuf> {
    let cache = std::fs::read("/etc/ld.so.cache").unwrap_or_default();
    let mut found: Vec<PathBuf> = Vec::new();
    let mut next = 0;
    let mut file = program.to_owned();
    loop {
        let dynamic = Dynamic::read(&file).unwrap_or_default();
        for name in &dynamic.needed {
            if let Some(path) = find(name, &dynamic, &file, &cache)
                && !found.contains(&path)
            {
                found.push(path);
            }
        }
        match found.get(next) {
            Some(path) => file = path.clone(),
            None => return found,
        }
        next += 1;
    }
}

/// What a file says about the libraries it needs.
#[derive(Default)]
struct Dynamic {
    needed: Vec<Vec<u8>>,
    /// Folders to look for them in, before the usual ones.
    folders: Vec<Vec<u8>>,
}

impl Dynamic {
    fn read(path: &Path) -> Option<Dynamic> {
        let data = std::fs::read(path).ok()?;
        let data = data.as_slice();
        let sections = FileHeader64::<LE>::parse(data).ok()?.sections(LE, data).ok()?;
        let (entries, strings) = sections.dynamic(LE, data).ok()??;
        let strings = sections.strings(LE, data, strings).ok()?;
        let mut dynamic = Dynamic::default();
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

/// Where distributions have libraries that are in no cache.
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

    /// The same as `ldd`, which runs `ld.so` itself.
    #[test]
    fn as_ldd_says() {
        for program in ["/bin/sh", "/usr/bin/perl", "/usr/bin/gcc", "/usr/bin/git"] {
            let Ok(path) = Path::new(program).canonicalize() else { continue };
            let output = Command::new("ldd").arg(&path).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let paths = text.lines().filter_map(|line| line.split_once(" => ")?.1.split(' ').next());
            let expected: BTreeSet<PathBuf> = paths.filter_map(|path| existing(Path::new(path))).collect();
            let found = libraries(&path).into_iter();
            // The interpreter is needed by the C library, and listed by `ldd` without an arrow.
            let found: BTreeSet<_> = found.filter(|p| !p.to_string_lossy().contains("/ld-linux")).collect();
            assert_eq!(found, expected, "{program}");
        }
    }
}
