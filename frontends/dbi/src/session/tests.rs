//! Sessions on small compiled programs, with threads that a test makes up: what is seeded, recorded and refused.

mod calls;
mod requests;

use super::*;
use crate::engine::ProgramEnd;
use crate::hooks::fake::{Fake, RDI, RSI};
use crate::hooks::machine::Machine;
use crate::shadows::ShadowKind;
use shadowgrind_core::findings::{OutputKind, Value};
use shadowgrind_core::format::Format;
use shadowgrind_core::shadow::{Derivatives, Location, Settings};
use shadowgrind_core::site::Site;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

const SOURCE: &str = r#"
double nu = 0.25, u[4] = {1, 2, 3, 4};
int steps = 3;
static float half = 0.5f;
__thread double local = 7;
__attribute__((noinline)) double f(double x, double *p) { local += x; return x * *p * half; }
int main(void) { nu += f(nu, u); return steps; }
"#;

/// A program compiled by a test, removed at its end.
struct Program(PathBuf);

impl Program {
    fn new(name: &str, options: &[&str]) -> Program {
        let stem = std::env::temp_dir().join(format!("shadowgrind-{name}-{}", std::process::id()));
        let source = stem.with_extension("c");
        std::fs::write(&source, SOURCE).unwrap();
        let status = Command::new("cc").args(options).arg("-o").arg(&stem).arg(&source).status().unwrap();
        assert!(status.success());
        std::fs::remove_file(source).unwrap();
        Program(stem)
    }

    /// Address of a symbol, by `nm`.
    fn address(&self, symbol: &str) -> u64 {
        let nm = Command::new("nm").arg(&self.0).output().unwrap();
        let text = String::from_utf8(nm.stdout).unwrap();
        let line = text.lines().find(|line| line.ends_with(&format!(" {symbol}"))).expect("a symbol");
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    }

    /// File offset, address and size of the executable segment, by `readelf`.
    fn code(&self) -> [u64; 3] {
        let readelf = Command::new("readelf").args(["-lW"]).arg(&self.0).output().unwrap();
        let text = String::from_utf8(readelf.stdout).unwrap();
        let line = text.lines().find(|line| line.contains("LOAD") && line.contains(" R E ")).unwrap();
        let words: Vec<_> = line.split_whitespace().collect();
        [1, 2, 4].map(|i| u64::from_str_radix(words[i].trim_start_matches("0x"), 16).unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A tree of processes in which nothing is shared but the test's own memory.
struct Book {
    is_first_program: bool,
    lines: &'static Mutex<String>,
}

impl Tree for Book {
    fn is_first_program(&self) -> bool {
        self.is_first_program
    }

    fn is_first_process(&self) -> bool {
        true
    }

    fn write(&self, line: &str) {
        self.lines.lock().unwrap().push_str(line);
    }

    fn read(&self) -> String {
        self.lines.lock().unwrap().clone()
    }
}

/// The tree of a program that the user named.
fn first() -> Box<dyn Tree> {
    Box::new(Book { is_first_program: true, lines: Box::leak(Box::default()) })
}

fn config(inputs: &[&str], outputs: &[&str]) -> SessionConfig {
    SessionConfig {
        shadow: derivatives(),
        inputs: inputs.iter().map(|spec| spec.parse().unwrap()).collect(),
        outputs: outputs.iter().map(|spec| spec.parse().unwrap()).collect(),
        argv: vec!["prog".into()],
        ..SessionConfig::default()
    }
}

/// The shadow that is a derivative.
fn derivatives() -> ShadowKind {
    *ShadowKind::ALL.iter().find(|kind| kind.policy().derivatives == Some(Derivatives::InPlace)).unwrap()
}

/// The observer of a run that carries derivatives.
fn observer() -> Box<dyn Observer + Send> {
    derivatives().carry(&Settings::default(), None).observer()
}

const BIAS: u64 = 0x1000_0000;

/// A session for `program`, loaded [`BIAS`] above its link-time addresses.
fn session(program: &Program, config: SessionConfig) -> (Session, Vec<u64>) {
    let session = Session::new(config, &program.0, first()).unwrap_or_else(|e| panic!("{e}"));
    let [offset, address, size] = program.code();
    let hooked = session.mapped(&program.0, None, offset, address + BIAS, address + BIAS + size);
    (session, hooked)
}

fn outputs(session: &Session) -> Vec<(OutputKind, f64, f64, Option<String>, Site)> {
    let state = session.state.lock();
    let mut all = Vec::new();
    for (_, output) in state.report.outputs.iter() {
        let Some(derivative) = output.said.derivative() else { panic!("{output:?}") };
        let label = state.report.outputs.label_text(output.label).map(str::to_owned);
        all.push((output.kind, output.value.to_f64(), derivative.to_f64(), label, output.site));
    }
    all
}

#[test]
fn inputs_are_seeded_and_outputs_sampled_at_start_and_end() {
    let program = Program::new("static", &["-g"]);
    let (session, hooked) = session(&program, config(&["nu=2", "u[1..3]"], &["u", "half"]));
    assert!(hooked.is_empty());
    let mut m = Fake::default();
    let [nu, u, half] = ["nu", "u", "half"].map(|name| BIAS + program.address(name));
    m.poke(nu, &0.25f64.to_le_bytes());
    (0..4).for_each(|i| m.poke(u + 8 * i, &(i as f64 + 1.0).to_le_bytes()));
    m.poke(half, &0.5f32.to_le_bytes());
    session.begin(&mut *observer(), &mut m);
    assert_eq!(m.double_shadow_at(Location::Memory(nu)), 2.0);
    assert_eq!([0, 8, 16, 24].map(|i| m.double_shadow_at(Location::Memory(u + i))), [0.0, 1.0, 1.0, 0.0]);
    let mut text = Vec::new();
    let status = session.finish(ProgramEnd::Exited(0), &mut *observer(), Some(&mut m), &mut text);
    assert_eq!(status, None);
    let seen: Vec<_> = outputs(&session).into_iter().map(|o| (o.1, o.2, o.3.unwrap())).collect();
    let row = |x: f64, derivative: f64, label: &str| (x, derivative, label.to_owned());
    assert_eq!(
        seen,
        [
            row(1.0, 0.0, "u"),
            row(2.0, 1.0, "u"),
            row(3.0, 1.0, "u"),
            row(4.0, 0.0, "u"),
            row(0.5, 0.0, "half")
        ]
    );
    let state = session.state.lock();
    let inputs: Vec<_> = state.report.inputs.iter().map(|i| (i.spec.as_str(), i.seed, i.count)).collect();
    assert_eq!(inputs, [("nu", 2.0, 1), ("u[1..3]", 1.0, 2)]);
    assert_eq!(state.report.inputs[1].value, Some(Value::from(2.0)));
}

#[test]
fn calls_of_a_function_are_seeded_on_entry_and_sampled_on_return() {
    let program = Program::new("calls", &["-g", "-O1"]);
    let specs = (["f#1", "f#*2=3", "local@f"], ["f#ret", "nu@f"]);
    let (session, hooked) = session(&program, config(&specs.0, &specs.1));
    let f = BIAS + program.address("f");
    assert_eq!(hooked, [f; 5][..hooked.len()]);
    assert!(session.is_hooked(f) && !session.is_hooked(f + 4));
    let at = BIAS + program.address("main") + 9;
    let (mut m, mut calls) = (Fake::called(at), Calls::new());
    // The bytes before the return address: a direct call of f.
    let rel = (f as i64 - at as i64) as i32;
    m.poke(at - 8, &[0x90, 0x90, 0x90, 0xe8]);
    m.poke(at - 4, &rel.to_le_bytes());
    m.set_double(0, 0.25);
    m.general[RDI] = 0x5000;
    m.poke(0x5000, &1.0f64.to_le_bytes());
    m.poke(BIAS + program.address("nu"), &0.25f64.to_le_bytes());
    m.thread_pointer = 0x7f00_0000;
    let local = 0x7f00_0000 - 8;
    m.poke(local, &7.0f64.to_le_bytes());
    assert_eq!(session.arrived(f, &mut calls, &mut *observer(), &mut m), Arrival::Watch(at));
    assert!(session.is_hooked(at));
    assert_eq!(m.double_shadow_at(Location::State(crate::x86::state::vector(0))), 1.0);
    assert_eq!(m.double_shadow_at(Location::Memory(0x5000)), 3.0);
    assert_eq!(m.double_shadow_at(Location::Memory(local)), 1.0);
    // A deeper frame returns to the same place first: not this call.
    m.general[4] -= 64;
    assert_eq!(session.arrived(at, &mut calls, &mut *observer(), &mut m), Arrival::Go);
    m.general[4] += 64;
    assert_eq!(m.ret(), at);
    m.set_double(0, 0.125);
    m.set_double_shadow(0, 0.875);
    assert_eq!(session.arrived(at, &mut calls, &mut *observer(), &mut m), Arrival::Go);
    let mut seen = outputs(&session);
    seen.sort_by(|a, b| a.1.total_cmp(&b.1));
    let sites: Vec<_> = seen.iter().map(|o| session.state.lock().report.sites.get(o.4).unwrap().1).collect();
    assert_eq!(sites, [program.address("main") + 4; 2], "the call itself");
    let seen: Vec<_> = seen.into_iter().map(|o| (o.1, o.2, o.3.unwrap())).collect();
    assert_eq!(seen, [(0.125, 0.875, "f#ret".to_owned()), (0.25, 0.0, "nu@f".to_owned())]);
}

fn refused(program: &Program, inputs: &[&str], outputs: &[&str]) -> String {
    let error =
        Session::new(config(inputs, outputs), &program.0, first()).err().expect("a failure").to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    error
}

#[test]
fn what_cannot_be_seeded_is_refused_in_one_line() {
    let program = Program::new("refused", &["-g"]);
    let error = refused(&program, &["nux"], &[]);
    assert!(error.starts_with("--input=nux: no variable `nux`") && error.contains("`nu`"), "{error}");
    let error = refused(&program, &[], &["u[4]"]);
    assert!(error.contains("index 4 of `u` is out of range 0 to 3"), "{error}");
    let error = refused(&program, &["steps"], &[]);
    assert!(error.contains("`steps` is not a float"), "{error}");
    let error = refused(&program, &["nu@g"], &[]);
    assert!(error.contains("no function `g`"), "{error}");
    let error = refused(&program, &["f#2"], &[]);
    assert_eq!(error, "--input=f#2: the function has only one floating-point argument");
    let error = refused(&program, &[], &["main#ret"]);
    assert_eq!(error, "--output=main#ret: the function returns no float");
    let stripped = Program::new("stripped", &["-s"]);
    let error = refused(&stripped, &["nu"], &[]);
    assert!(error.contains("stripped"), "{error}");
}

/// A program and a library of its own, which has the variable and the function.
#[test]
fn libraries_are_searched_where_the_program_has_nothing() {
    let folder = std::env::temp_dir().join(format!("shadowgrind-needed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let cc = |options: &[&str], text: &str| {
        std::fs::write(folder.join("source.c"), text).unwrap();
        let mut cc = Command::new("cc");
        assert!(
            cc.args(options)
                .arg("source.c")
                .args(["-L.", "-lown"])
                .current_dir(&folder)
                .status()
                .unwrap()
                .success()
        );
    };
    let text = "double gamma_ = 1.5; float scale(float x) { return x * (float)gamma_; }";
    std::fs::write(folder.join("source.c"), text).unwrap();
    let library = ["-g", "-O1", "-shared", "-fPIC", "-o", "libown.so", "source.c"];
    assert!(Command::new("cc").args(library).current_dir(&folder).status().unwrap().success());
    let text = "double nu = 2; float scale(float); int main(void) { return scale(nu); }";
    cc(&["-g", "-Wl,-rpath,$ORIGIN", "-o", "prog"], text);
    let config = config(&["nu", "gamma_"], &["scale#ret"]);
    let session = Session::new(config, &folder.join("prog"), first()).unwrap_or_else(|e| panic!("{e}"));
    let library = Program(folder.join("libown.so"));
    let [offset, address, size] = library.code();
    let start = BIAS + address;
    let hooked = session.mapped(&library.0, None, offset, start, start + size);
    assert_eq!(hooked, [BIAS + library.address("scale")]);
    let mut m = Fake::default();
    let gamma = BIAS + library.address("gamma_");
    m.poke(gamma, &1.5f64.to_le_bytes());
    session.begin(&mut *observer(), &mut m);
    assert_eq!(m.double_shadow_at(Location::Memory(gamma)), 1.0);
    let error =
        Session::new(self::config(&["nv"], &[]), &folder.join("prog"), first()).err().unwrap().to_string();
    assert!(error.contains("did you mean `nu`"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_the_program_has_not_may_be_in_a_module_that_is_loaded_later() {
    let module = Program::new("module", &["-g", "-O1", "-shared", "-fPIC"]);
    let config = config(&["nu=2", "f#1"], &["u[0]", "absent"]);
    let shell = Path::new("/bin/sh");
    let session = Session::new(config, shell, first()).unwrap_or_else(|e| panic!("{e}"));
    let mut m = Fake::default();
    session.begin(&mut *observer(), &mut m);
    let [offset, address, size] = module.code();
    let start = BIAS + address;
    let hooked = session.mapped(&module.0, None, offset, start, start + size);
    assert_eq!(hooked, [BIAS + module.address("f")]);
    // Its variables are there before its code runs, but not yet when that is mapped.
    let [nu, u] = ["nu", "u"].map(|name| BIAS + module.address(name));
    m.poke(nu, &0.25f64.to_le_bytes());
    m.poke(u, &1.0f64.to_le_bytes());
    assert_eq!(m.double_shadow_at(Location::Memory(nu)), 0.0);
    assert!(session.awaits_run(start) && !session.awaits_run(start - 1));
    session.first_run(start + 5, &mut *observer(), &mut m);
    assert_eq!(m.double_shadow_at(Location::Memory(nu)), 2.0);
    assert!(!session.awaits_run(start));
    let mut text = Vec::new();
    session.finish(ProgramEnd::Exited(0), &mut *observer(), Some(&mut m), &mut text);
    assert_eq!(outputs(&session).iter().filter_map(|o| o.3.clone()).collect::<Vec<_>>(), ["u[0]"]);
    let said = String::from_utf8(text).unwrap();
    let said: Vec<_> = said.lines().collect();
    assert_eq!(said[0], "shadowgrind: warning: --input=f#1 was never reached: nothing was seeded");
    assert!(said[1].starts_with("shadowgrind: --output=absent: no variable `absent` in /"), "{said:?}");
    assert_eq!(said.len(), 2, "{said:?}");
}

#[test]
fn a_name_need_be_found_in_one_program_of_the_tree() {
    let program = Program::new("tree", &["-g"]);
    let lines: &'static Mutex<String> = Box::leak(Box::default());
    let specs = || config(&["nu", "nux"], &[]);
    let book = |is_first_program| Box::new(Book { is_first_program, lines });
    let first = Session::new(specs(), Path::new("/bin/sh"), book(true)).unwrap_or_else(|e| panic!("{e}"));
    let second = Session::new(specs(), &program.0, book(false)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(second.state.lock().jobs.missing.len(), 1);
    let mut text = Vec::new();
    first.finish(ProgramEnd::Exited(0), &mut *observer(), None, &mut text);
    let said = String::from_utf8(text).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("--input=nux: no variable `nux`") && said.contains("did you mean `nu`?"), "{said}");
    assert!(said.contains("nor in 1 other program"), "{said}");
}
