//! The matrix of the derivative tests: guest × language and compiler × number type × level. The facts stand in three
//! tables; which cells a normal run takes is decided here too.

use super::build::Recipe;
use crate::host;

/// Asks for every cell instead of a sample: `full`.
pub const MATRIX: &str = "SHADOWGRIND_MATRIX";

/// A source, and where it makes sense.
struct Guest {
    file: &'static str,
    /// Of `c c++ fortran`.
    languages: &'static [&'static str],
    /// Of 4 8 10.
    kinds: &'static [u32],
    flags: &'static str,
    libs: &'static str,
}

const BOTH: &[&str] = &["c", "c++"];
const ALL_KINDS: &[u32] = &[4, 8, 10];

#[rustfmt::skip]
const GUESTS: [Guest; 34] = [
    Guest { file: "elementary.c",    languages: BOTH,         kinds: ALL_KINDS, flags: "", libs: "-lm" },
    Guest { file: "functions.c",     languages: BOTH,         kinds: ALL_KINDS, flags: "", libs: "-lm" },
    Guest { file: "control.c",       languages: BOTH,         kinds: ALL_KINDS, flags: "", libs: "-lm" },
    Guest { file: "interrupted.c",   languages: BOTH,         kinds: ALL_KINDS, flags: "", libs: "-lm" },
    Guest { file: "vectors.c",       languages: BOTH,         kinds: ALL_KINDS, flags: "", libs: "-lm" },
    Guest { file: "memory.c",        languages: BOTH,         kinds: ALL_KINDS, flags: "", libs: "-lm" },
    Guest { file: "registers.c",     languages: &["c"],       kinds: &[8],      flags: "-mcx16 -pthread", libs: "-lm" },
    Guest { file: "atomics.c",       languages: &["c"],       kinds: &[8],      flags: "", libs: "-lm" },
    Guest { file: "tricks.c",        languages: BOTH,         kinds: &[4, 8],   flags: "", libs: "-lm" },
    Guest { file: "fields.c",        languages: &["c"],       kinds: &[4, 8],   flags: "", libs: "-lm" },
    Guest { file: "field_forms.c",   languages: &["c"],       kinds: &[8],      flags: "-mavx2", libs: "-lm" },
    Guest { file: "carried.c",       languages: &["c"],       kinds: &[4, 8],   flags: "-mmovbe", libs: "-lm" },
    Guest { file: "addends.c",       languages: &["c"],       kinds: &[4, 8],   flags: "", libs: "-lm" },
    Guest { file: "fractions.c",     languages: &["c"],       kinds: &[4, 8],   flags: "", libs: "-lm" },
    Guest { file: "identities.c",    languages: &["c"],       kinds: &[8],      flags: "", libs: "-lm" },
    Guest { file: "pieces.c",        languages: &["c"],       kinds: &[8],      flags: "-fno-strict-aliasing", libs: "-lm" },
    Guest { file: "elsewhere.c",     languages: &["c"],       kinds: &[8],      flags: "-fno-strict-aliasing", libs: "-lm" },
    Guest { file: "words.c",         languages: &["c"],       kinds: &[8],      flags: "-fno-strict-aliasing", libs: "-lm" },
    Guest { file: "x87.c",           languages: &["c"],       kinds: &[10],     flags: "", libs: "-lm" },
    Guest { file: "x87_functions.c", languages: &["c"],       kinds: &[10],     flags: "", libs: "-lm" },
    Guest { file: "far_code.c",      languages: &["c"],       kinds: &[8],      flags: "", libs: "-lm" },
    Guest { file: "lanes.c",         languages: BOTH,         kinds: &[8],      flags: "-mavx2 -mfma -mf16c", libs: "-lm" },
    Guest { file: "masked.c",        languages: &["c"],       kinds: &[4, 8],   flags: "-march=x86-64-v4", libs: "-lm" },
    Guest { file: "kinds.c",         languages: &["c"],       kinds: &[4, 8],   flags: "-march=x86-64-v4", libs: "-lm" },
    Guest { file: "half.c",          languages: &["c"],       kinds: &[4],      flags: "-mavx2 -mf16c", libs: "-lm" },
    Guest { file: "formatted.c",   languages: &["c"],       kinds: ALL_KINDS, flags: "", libs: "-lm" },
    Guest { file: "turns.c",       languages: &["c"],       kinds: ALL_KINDS, flags: "", libs: "-lm" },
    Guest { file: "complex.c",       languages: &["c"],       kinds: ALL_KINDS, flags: "", libs: "-lm" },
    Guest { file: "complex_cpp.cpp", languages: &["c++"],     kinds: ALL_KINDS, flags: "", libs: "-lm" },
    Guest { file: "classes.cpp",     languages: &["c++"],     kinds: ALL_KINDS, flags: "", libs: "-lm" },
    Guest { file: "openmp.c",        languages: BOTH,         kinds: ALL_KINDS, flags: "-fopenmp", libs: "-lm -latomic" },
    Guest { file: "fortran.F90",     languages: &["fortran"], kinds: ALL_KINDS, flags: "-fopenmp", libs: "" },
    Guest { file: "beside.c",        languages: &["c"],       kinds: &[8],      flags: "-fno-strict-aliasing", libs: "-lm" },
    Guest { file: "widened.c",       languages: &["c"],       kinds: &[4],      flags: "", libs: "-lm" },
];

/// Language, name in a test, command, flags.
const COMPILERS: [(&str, &str, &str, &str); 5] = [
    ("c", "c-gcc", "gcc", "-std=gnu17 -D_GNU_SOURCE"),
    ("c", "c-clang", "clang", "-std=gnu17 -D_GNU_SOURCE"),
    ("c++", "c++-gcc", "g++", "-x c++ -std=gnu++20"),
    ("c++", "c++-clang", "clang++", "-x c++ -std=gnu++20"),
    ("fortran", "fortran", "gfortran", ""),
];

const LEVELS: [(&str, &str); 5] = [
    ("O0", "-O0"),
    ("O3", "-O3"),
    ("v3", "-O3 -march=x86-64-v3"),
    ("fast", "-O3 -ffast-math"),
    ("static", "-O2 -static"),
];

/// One cell.
#[derive(Clone)]
pub struct Cell {
    /// `functions/c-gcc/double/O3`.
    pub name: String,
    /// The recipe by which it is compiled.
    pub recipe: Recipe,
    /// 4, 8 or 10.
    pub kind: u32,
    /// The `--input` of the guest.
    pub input: &'static str,
}

impl Cell {
    /// Relative distance that a derivative may have from its closed form.
    pub fn tolerance(&self) -> f64 {
        if self.kind == 4 { 1e-6 } else { 1e-14 }
    }
}

/// The cells of this run of two levels, without optimisation and with much: for ways of running them that are slow.
pub fn cells_of_two_levels() -> Vec<Cell> {
    let is_chosen = |cell: &Cell| ["/O0", "/v3"].iter().any(|level| cell.name.ends_with(level));
    cells().into_iter().filter(is_chosen).collect()
}

/// The cells of this run: all of them if the environment says so; else, for each guest, level and type, one compiler,
/// such that every pair of a compiler with a level, and with a type, occurs.
pub fn cells() -> Vec<Cell> {
    let full = std::env::var(MATRIX).is_ok_and(|value| value == "full");
    let mut cells = Vec::new();
    for (g, guest) in GUESTS.iter().enumerate() {
        let compilers: Vec<_> = COMPILERS.iter().filter(|c| guest.languages.contains(&c.0)).collect();
        for (k, kind) in guest.kinds.iter().enumerate() {
            for (l, level) in LEVELS.iter().enumerate() {
                let chosen = (g + k + l) % compilers.len();
                let taken = compilers
                    .iter()
                    .enumerate()
                    .filter(|(c, compiler)| (full || *c == chosen) && exists(guest, compiler.1, level.0));
                cells.extend(taken.map(|(_, compiler)| cell(guest, *kind, compiler, *level)));
            }
        }
    }
    cells
}

/// Tells whether the processor has the instructions that the guest is about.
fn can_run(guest: &Guest) -> bool {
    !guest.flags.contains("-v4") || host::has_cpu_flag("avx512vl")
}

/// Tells whether a combination can be built: LLVM's OpenMP library has no static form, and a static Fortran program
/// with OpenMP crashes natively. And whether it can be run.
fn exists(guest: &Guest, compiler: &str, level: &str) -> bool {
    can_run(guest)
        && !(guest.flags.contains("-fopenmp")
            && level == "static"
            && (compiler.contains("clang") || compiler == "fortran"))
}

/// Cells by which the closed forms themselves are checked: one for each guest, in double and long double.
pub fn cells_for_differences() -> Vec<Cell> {
    let mut cells = Vec::new();
    for guest in GUESTS.iter().filter(|guest| can_run(guest)) {
        let compiler = COMPILERS.iter().find(|c| guest.languages.contains(&c.0)).expect("each has one");
        let kinds = guest.kinds.iter().filter(|k| **k != 4);
        cells.extend(kinds.map(|kind| cell(guest, *kind, compiler, ("O1", "-O1"))));
    }
    cells
}

fn cell(
    guest: &Guest,
    kind: u32,
    compiler: &(&str, &str, &'static str, &str),
    level: (&str, &'static str),
) -> Cell {
    let (language, compiler_name, command, base) = compiler;
    let source = host::tests_dir().join("guests/dot").join(guest.file);
    let flags = format!("{base} {} -g -DKIND={kind} {}", level.1, guest.flags);
    let stem = guest.file.split('.').next().unwrap_or_default();
    let type_name = match kind {
        4 => "float",
        8 => "double",
        _ => "long-double",
    };
    Cell {
        name: format!("{stem}/{compiler_name}/{type_name}/{}", level.0),
        recipe: Recipe::new(command, &flags, &source, guest.libs),
        kind,
        input: if *language == "fortran" { "shifted::shift" } else { "shift" },
    }
}
