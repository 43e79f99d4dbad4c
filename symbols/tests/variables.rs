//! SPECs against programs that print the addresses of their own variables.

mod common;

use std::path::Path;
use std::process::Command;

use common::{compile, run};
use shadowgrind_core::format::Format;
use shadowgrind_core::spec::{InputSpec, InputTarget, Target, Variable as Wanted};
use shadowgrind_symbols::{Integer, LookupError, Memory, Storage, SymbolFile, Variable};

/// A program that has not begun: what it holds is not known.
struct NoMemory;

impl Memory for NoMemory {
    fn load(&self, _: u64, _: u8) -> Option<u64> {
        None
    }

    fn integer(&self, _: &Integer) -> Option<i64> {
        None
    }
}

fn wanted(spec: &str) -> Wanted {
    match spec.parse::<InputSpec>().unwrap_or_else(|e| panic!("{e}")).target {
        InputTarget::Place(Target::Variable { variable, .. }) => variable,
        other => panic!("{spec}: {other:?}"),
    }
}

fn find(binary: &Path, spec: &str) -> Result<Variable, LookupError> {
    SymbolFile::open(binary).unwrap().variable(&wanted(spec), None)
}

fn error(binary: &Path, spec: &str) -> String {
    find(binary, spec).expect_err(spec).to_string().replace(&*binary.to_string_lossy(), "PROG")
}

/// Checks every line the program prints; those that need debug information only if it has some.
fn check(binary: &Path, has_debug: bool) {
    let truth = run(&mut Command::new(binary));
    let mut checked = 0;
    for line in truth.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [need, spec, format, addresses @ ..] = fields.as_slice() else { panic!("{line}") };
        if *need == "d" && !has_debug {
            continue;
        }
        let format = match *format {
            "f32" => Format::F32,
            "f64" => Format::F64,
            _ => Format::F80,
        };
        let expected: Vec<u64> = addresses.iter().map(|a| address(a)).collect();
        let found = find(binary, spec).unwrap_or_else(|e| panic!("{binary:?} {spec}: {e}"));
        let Storage::Static(start) = found.storage else { panic!("{spec}: {found:?}") };
        let addresses = found.addresses(start, &NoMemory).unwrap();
        assert_eq!(found.format, format, "{binary:?} {spec}");
        assert_eq!(addresses, expected, "{binary:?} {spec}");
        assert!(found.is_one() || expected.len() > 1, "{binary:?} {spec}");
        checked += 1;
    }
    assert!(checked > 5, "{binary:?} printed too little: {truth}");
}

fn address(text: &str) -> u64 {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).unwrap(),
        None => text.parse().unwrap(),
    }
}

/// Compiles without position independence, so that link-time addresses are those the program prints.
fn check_all(tag: &str, compilers: &[&str], source: &str, common: &[&str], variants: &[(&str, bool)]) {
    for compiler in compilers {
        for (variant, has_debug) in variants {
            let options: Vec<&str> = common.iter().copied().chain(variant.split_whitespace()).collect();
            let name = format!("{tag}-{compiler}{}", variant.replace([' ', '-', '=', '.'], "_"));
            check(&compile(&name, compiler, source, &options), *has_debug);
        }
    }
}

#[test]
fn c() {
    let variants = [("-O0 -g", true), ("-O2 -g", true), ("-O1 -gdwarf-4 -gz", true), ("-O2", false)];
    check_all("vars-c", &["gcc", "clang"], "variables.c", &["-no-pie", "-fno-pie"], &variants);
    check_all("vars-c-lto", &["gcc"], "variables.c", &["-no-pie"], &[("-O2 -g -flto", true)]);
}

#[test]
fn cpp() {
    let variants = [("-O0 -g", true), ("-O2 -g", true), ("-O2", false)];
    check_all(
        "vars-cpp",
        &["g++", "clang++"],
        "variables.cpp",
        &["-std=c++17", "-no-pie", "-fno-pie"],
        &variants,
    );
    // Types in units of their own, in a section of their own before version 5.
    let types = ["-std=c++17", "-no-pie", "-fdebug-types-section"];
    check_all(
        "vars-cpp-types",
        &["g++"],
        "variables.cpp",
        &types,
        &[("-gdwarf-5", true), ("-gdwarf-4", true)],
    );
}

#[test]
fn fortran() {
    let variants = [("-O0 -g", true), ("-O2 -g", true), ("-O2", false)];
    check_all(
        "vars-f90",
        &["gfortran"],
        "variables.f90",
        &["-no-pie", "-J", env!("CARGO_TARGET_TMPDIR")],
        &variants,
    );
}

#[test]
fn rust() {
    let variants = [("-g", true), ("-O -g", true), ("-O", false)];
    check_all("vars-rs", &["rustc"], "variables.rs", &["-Crelocation-model=static"], &variants);
    let v0 = ["-Crelocation-model=static", "-Csymbol-mangling-version=v0"];
    check_all("vars-rs-v0", &["rustc"], "variables.rs", &v0, &[("-O -g", true), ("-O", false)]);
}

#[test]
fn what_is_no_float_or_not_there() {
    let c = compile("errors-c", "gcc", "variables.c", &["-g"]);
    let cases = [
        ("nv", "no variable `nv` in PROG; did you mean `nu`?"),
        ("hiden", "no variable `hiden` in PROG; did you mean `hidden`?"),
        ("phys::nu", "no variable `phys::nu` in PROG; did you mean `nu`?"),
        ("twice", "`twice` is not a float but a function"),
        ("count", "`count` is not a float but of type int"),
        ("pointer", "`pointer` is a pointer; name what it leads to: `*pointer`, or `pointer[0..n]`"),
        (
            "pointer[1..]",
            "nothing says where `pointer` ends; write the end of the range, a number or a variable",
        ),
        ("**pointer", "`*pointer` is not a pointer"),
        ("*nu", "`nu` is not a pointer"),
        ("pointer[0..nu]", "`nu` is not an integer"),
        ("pointer[0..nowhere]", "no variable `nowhere` in PROG"),
        ("halves[1]", "`halves[…]` is not a float but of type short int"),
        ("open[3]", "index 3 of `open` is out of range 0 to 2"),
        ("open[-1]", "index -1 of `open` is out of range 0 to 2"),
        ("open[1..4]", "index 3 of `open` is out of range 0 to 2"),
        ("a[0][5]", "index 5 of `a` is out of range 0 to 4"),
        ("a[0][0][0]", "`a` has 2 dimensions, not 3"),
        ("nu[0]", "`nu` is not an array"),
        ("nu.x", "`nu` is not a float but without members"),
        ("p", "`p` is a structure; name one of its members `x`, `y`, `arr`"),
        ("p.w", "`p` has no member `w`, only `x`, `y`, `arr`"),
        ("NU", "no variable `NU` in PROG; did you mean `nu`?"),
        ("x", "no variable `x` in PROG"),
    ];
    for (spec, expected) in cases {
        assert_eq!(error(&c, spec), expected, "{spec}");
    }
}

#[test]
fn fortran_errors() {
    let f = compile("errors-f90", "gfortran", "variables.f90", &["-g", "-J", env!("CARGO_TARGET_TMPDIR")]);
    let cases = [
        ("phys::later(1,2)", "`phys::later` has 1 dimension, not 2"),
        ("phys::a(4,0)", "index 4 of `phys::a` is out of range 0 to 3"),
        ("phys::a(0,-2)", "index -2 of `phys::a` is out of range -1 to 2"),
        ("phys::a(1)", "`phys::a` has 2 dimensions, not 1"),
        ("phys::plain(0)", "index 0 of `phys::plain` is out of range 1 to 5"),
        ("phys::count", "`phys::count` is not a float but of type integer(kind=4)"),
    ];
    for (spec, expected) in cases {
        assert_eq!(error(&f, spec), expected, "{spec}");
    }
}

/// Places behind a pointer or a descriptor are found while the program runs.
#[test]
fn ways_through_pointers() {
    let c = compile("errors-c", "gcc", "variables.c", &["-g"]);
    let f = compile("errors-f90", "gfortran", "variables.f90", &["-g", "-J", env!("CARGO_TARGET_TMPDIR")]);
    let cases = [
        (&c, "*pointer", true),
        (&c, "pointer[2]", true),
        (&c, "pointer[0..count]", false),
        (&f, "phys::later", false),
        (&f, "phys::later(2)", true),
    ];
    for (binary, spec, is_one) in cases {
        let found = find(binary, spec).unwrap_or_else(|e| panic!("{e}"));
        assert!(found.is_through_pointers() && found.is_one() == is_one, "{spec}: {found:?}");
        assert_eq!(found.format, Format::F64);
    }
    assert!(!find(&c, "nu").unwrap().is_through_pointers());
}

#[test]
fn without_debug_information() {
    let c = compile("errors-nodebug", "gcc", "variables.c", &[]);
    assert!(find(&c, "nu").unwrap().guessed);
    assert!(!find(&c, "nu:double").unwrap().guessed);
    assert_eq!(error(&c, "halves"), "`halves` is not a float but an object of 6 bytes");
    assert_eq!(
        error(&c, "nv"),
        "no variable `nv` in PROG, which has no debug information; did you mean `nu`?"
    );
    assert_eq!(error(&c, "p.x"), "`p` is not a float but of an unknown type: there is no debug information");
    let stripped = compile("errors-stripped", "gcc", "variables.c", &["-s"]);
    assert_eq!(
        error(&stripped, "nu"),
        "no variable `nu` in PROG, which is stripped: only exported names can be found"
    );
    let exported = compile("errors-exported", "gcc", "variables.c", &["-s", "-rdynamic"]);
    assert_eq!(find(&exported, "nu").unwrap().format, Format::F64);
}

#[test]
fn thread_local_variables_are_offsets() {
    for compiler in ["gcc", "clang"] {
        for debug in ["-g", "-g0"] {
            let c = compile(&format!("tls-{compiler}{debug}"), compiler, "variables.c", &[debug]);
            let variable = find(&c, "local_to_thread").unwrap();
            assert_eq!((variable.storage, variable.format), (Storage::ThreadLocal(0), Format::F64));
        }
    }
}

#[test]
fn one_name_for_several_variables() {
    let options = ["-no-pie", "-g", "-x", "c", "other.c"];
    let binary = compile("ambiguous", "gcc", "variables.c", &options);
    let text = error(&binary, "hidden");
    assert_eq!(
        text,
        "`hidden` is the name of several variables: `'other.c'::hidden`, `'variables.c'::hidden`"
    );
    assert!(
        find(&binary, "'other.c'::hidden").unwrap().storage
            != find(&binary, "'variables.c'::hidden").unwrap().storage
    );
    // A variable that all files share wins over one of the same name that is static in some other file.
    let shared = find(&binary, "nu").unwrap();
    let nm = run(Command::new("nm").arg(&binary));
    let line = nm.lines().find(|line| line.ends_with(" D nu")).unwrap();
    assert_eq!(shared.storage, Storage::Static(address(&format!("0x{}", &line[..16]))));
}

/// SPECs that are listed can be looked up, and are of the type that the list says.
#[test]
fn what_is_listed_is_found() {
    for (compiler, source, expected) in [
        (
            "gcc",
            "variables.c",
            &[
                ("nu", "double"),
                ("cube", "float[2][3][4]"),
                ("p.u", "double"),
                ("p.arr", "double[3]"),
                ("ps[0].x", "double[3]"),
                ("z", "complex double"),
                ("pointer[0]", "double *"),
                ("twice::calls", "double"),
                ("twice#1", "double"),
                ("twice#ret", "double"),
            ][..],
        ),
        ("g++", "variables.cpp", &[]),
        ("gfortran", "variables.f90", &[]),
    ] {
        let binary = compile(&format!("listed-{source}"), compiler, source, &["-g", "-O0"]);
        let file = SymbolFile::open(&binary).unwrap();
        let listed = file.nameable().unwrap();
        let variables: Vec<_> = listed.iter().filter(|nameable| !nameable.spec.contains('#')).collect();
        assert!(variables.len() > 5, "{listed:?}");
        for nameable in variables {
            let found = find(&binary, &nameable.spec).unwrap_or_else(|e| panic!("{}: {e}", nameable.spec));
            let format = match nameable.kind.trim_start_matches("complex ") {
                kind if kind.starts_with("float") => Format::F32,
                kind if kind.starts_with("double") => Format::F64,
                _ => Format::F80,
            };
            assert_eq!(found.format, format, "{nameable:?}");
        }
        for (spec, kind) in expected {
            assert!(listed.iter().any(|n| (&*n.spec, &*n.kind) == (*spec, *kind)), "{spec}: {listed:#?}");
        }
    }
}
