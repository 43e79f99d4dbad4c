//! Kinds of the files that symbols are in, as far as that decides whether a name can be believed.
//!
//! `y0`, `error` and `round` are good names for functions of a program's own. They mean the C library's only in the C
//! library, or in a program that is linked statically with it.

use hashbrown::HashSet;
use shadowgrind_symbols::{OpenError, Symbol, SymbolFile};

/// Kind of a file, for the hooks.
#[derive(Debug, Default)]
pub(crate) struct Library {
    /// The C library itself.
    c: bool,
    /// A mathematical library.
    math: bool,
    /// In a program that holds the C library: addresses of functions that have a name of the implementation's too,
    /// as all that glibc may be asked to give up for a program's own have (`sin` is `__sin`), and those that Zig brings along
    /// (`exp` is `compiler_rt.exp.exp`).
    aliased: HashSet<u64>,
}

/// File names of mathematical libraries begin so: glibc's and musl's, Intel's, AMD's, openlibm.
const MATH: [&str; 8] =
    ["libm.so", "libm-", "libmvec.so", "libmvec-", "libimf.", "libsvml.", "libopenlibm.", "libalm."];

/// Names of C libraries.
const C: [&str; 4] = ["libc.so", "libc-", "libc.musl-", "ld-musl-"];

/// Beginnings of names that are the implementation's: C's, and Zig's.
const RESERVED: [&str; 2] = ["__", "compiler_rt."];

/// A function that only musl's start-up has.
const MUSL: &str = "__init_libc";

impl Library {
    /// Kind of `file`; `is_static`: a program that is loaded without an interpreter.
    pub(crate) fn of(file: &SymbolFile, is_static: bool) -> Result<Library, OpenError> {
        let name = file.path().file_name().unwrap_or_default().to_string_lossy();
        let named = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
        let musl = named(&C[2..]) || is_static && file.symbols()?.any(|s| s.name == MUSL);
        if musl {
            return Ok(Library { c: true, math: true, aliased: HashSet::new() });
        }
        let is_reserved = |name: &str| RESERVED.iter().any(|start| name.starts_with(start));
        let reserved = |s: &Symbol<'_>| is_reserved(s.name) && s.address != 0;
        let aliased = match is_static {
            true => file.symbols()?.filter(reserved).map(|s| s.address).collect(),
            false => HashSet::new(),
        };
        Ok(Library { c: named(&C), math: named(&MATH), aliased })
    }

    /// Tells whether all of the file is the C library.
    pub(crate) fn is_c_library(&self) -> bool {
        self.c
    }

    /// Tells whether `symbol`, named like a function of the C library, is that.
    pub(super) fn is_c(&self, symbol: &Symbol<'_>) -> bool {
        self.c || self.aliased.contains(&symbol.address)
    }

    /// Tells whether `symbol`, named like a function of the mathematical library, is that. The C library has some of
    /// them too: `frexp`, `copysign`.
    pub(super) fn is_math(&self, symbol: &Symbol<'_>) -> bool {
        self.math || self.c || self.aliased.contains(&symbol.address)
    }
}
