//! Inputs and outputs by every name they have: derivatives with respect to what a SPEC names against central differences
//! of native runs in which just that is changed, and what is said of SPECs that lead nowhere.

#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use shadowgrind_tests::host;
use shadowgrind_tests::shadowed::build::{Recipe, built};
use shadowgrind_tests::shadowed::differences;
use shadowgrind_tests::shadowed::observe::Case;
use std::path::PathBuf;
use std::process::Command;
use std::process::ExitCode;

/// Test of a name: its check.
type Check = Box<dyn FnOnce(&str) -> Result<(), Failed> + Send>;

fn main() -> ExitCode {
    let mut trials = Vec::new();
    let mut add = |name: String, check: Check| {
        trials.push(Trial::test(name.clone(), move || check(&name)));
    };
    for level in ["-O0", "-O2"] {
        for (file, compiler, places) in LANGUAGES {
            for place in *places {
                let check = move |name: &str| check_place(name, file, compiler, level, *place);
                add(format!("{file}/{level}/{}", place.0), Box::new(check));
            }
        }
    }
    add("stripped".to_owned(), Box::new(check_stripped));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn guest(file: &str) -> PathBuf {
    host::tests_dir().join("guests/inputs").join(file)
}

/// A SPEC, the case of a guest that moves what it names, and how many floats that are.
type Place = (&'static str, &'static str, u64);

/// A guest, its compiler, and what can be named in it.
const LANGUAGES: &[(&str, &str, &[Place])] = &[
    ("places.c", "gcc", PLACES_C),
    ("places.cpp", "g++", PLACES_CPP),
    ("places.f90", "gfortran", PLACES_F90),
];

const PLACES_CPP: &[Place] = &[
    ("this->values@Grid::norm", "values", 3),
    ("this->values[1]@Grid::norm", "value1", 1),
    ("this->values[0..3]@Grid::norm", "values", 3),
    ("this->children[0].values[1]@Grid::norm", "child", 1),
    ("this->spacing@Grid::norm", "spacing", 1),
    ("factor@Grid::norm", "factor", 1),
    ("weights@solver::solve", "weights", 2),
    ("solver::grid->spacing@solver::solve", "grid", 1),
];

const PLACES_F90: &[Place] = &[
    ("x@step", "x", 1),
    ("field::step#*2", "x", 1),
    ("field::step#*3(2)", "a2", 1),
    ("a(1:n)@step", "a", 3),
    ("a(1:3)@field::step", "a", 3),
    ("field::u(1:3)@step", "u1-3", 3),
    ("field::u@step", "u", 5),
    ("field::w(2,3)@step", "w23", 1),
    ("field::cells(2)%depth@step", "depth", 1),
    ("field::cells(1)%flux(2)@step", "flux", 1),
];

const PLACES_C: &[Place] = &[
    ("*line@globals", "line0", 1),
    ("line[1]@globals", "line1", 1),
    ("line[0..=2]@globals", "line0-2", 3),
    ("line[0..n]@globals", "line0-2", 3),
    ("line[0..count]@globals", "line0-2", 3),
    ("line[0..#1]@globals", "line0-2", 3),
    ("**rows@globals", "rows00", 1),
    ("points[0]->z[2]@globals", "points0z2", 1),
    ("points[1]->x@globals", "points1x", 1),
    ("origin.next->y@globals", "next.y", 1),
    ("*v@norm", "v0", 1),
    ("v[0..n]@norm", "v0-2", 3),
    ("p->z[1]@norm", "z1", 1),
    ("p->next->x@norm", "second.x", 1),
    ("f@norm", "f", 1),
    ("norm#*1", "v0", 1),
    ("norm#*1[0..3]", "v0-2", 3),
    ("norm#*1[0..#2]", "v0-2", 3),
    ("norm#*3.x", "x", 1),
    ("norm#*3->next->x", "second.x", 1),
    ("each#1[2]", "each2", 1),
    ("each#1~-1.5", "negative", 2),
    ("x@fill", "fill", 1),
    // Functions that are chosen when the program starts: one of its own, and one of the library.
    ("chosen#1", "chosen", 1),
    ("sin#1", "f", 1),
];

fn check_place(
    name: &str,
    file: &str,
    compiler: &str,
    level: &str,
    (spec, moved, floats): Place,
) -> Result<(), Failed> {
    let recipe = Recipe::new(compiler, &format!("{level} -g"), &guest(file), "-lm");
    let Some(exe) = built(name, &recipe)? else { return Ok(()) };
    let input = format!("--input={spec}");
    let case = Case::new("dot", &[&input], &exe).arg(moved);
    // A power of two, so that floats move by just as much as doubles.
    let seen = differences::against_argument(&case, 0.5f64.powi(12), 1e-6)?;
    match seen.report.document["inputs"][0]["count"].as_u64() {
        Some(count) if count == floats => Ok(()),
        count => Err(format!("{count:?} floats were seeded").into()),
    }
}

/// A function without a name, by its place: the argument of one call is the input, the results of some are outputs.
fn check_stripped(name: &str) -> Result<(), Failed> {
    let Some(exe) = built(name, &Recipe::new("gcc", "-O1 -fPIE -pie", &guest("places.c"), "-lm"))? else {
        return Ok(());
    };
    let symbols = Command::new("nm").arg(&exe).output().map_err(|e| format!("nm: {e}"))?.stdout;
    let symbols = String::from_utf8_lossy(&symbols).into_owned();
    let address = symbols.lines().find_map(|line| line.strip_suffix(" T each")).ok_or("no such symbol")?;
    let stripped = exe.with_file_name("stripped");
    let status = Command::new("strip").arg("-o").arg(&stripped).arg(&exe).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err("strip fails".into());
    }
    let at = format!("stripped+0x{}", address.trim_start_matches('0'));
    let (input, output) = (format!("--input={at}#1[2]"), format!("--output={at}#ret[1..4]"));
    let seen = Case::new("dot", &[&input, &output], &stripped).arg("none").observe()?;
    let dots: Vec<_> = seen.report.outputs.iter().map(|output| output.dot).collect();
    if dots == [Some(0.0), Some(3.0), Some(0.0)] { Ok(()) } else { Err(format!("{dots:?}").into()) }
}
