//! Sessions on small compiled programs, with threads that a test makes up: what is seeded, recorded and refused.

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

/// A library of mathematical functions: their names are all that counts.
struct Library(PathBuf);

impl Library {
    fn new(name: &str) -> Library {
        let folder = std::env::temp_dir().join(format!("shadowgrind-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (source, path) = (folder.join("m.c"), folder.join("libm.so.9"));
        let text = "double exp(double x) { return x; } int printf(const char *f, ...) { return *f; }
            static double pow_one(double x, double y) { return x * y; }
            static void *choose(void) { return pow_one; }
            double pow(double x, double y) __attribute__((ifunc(\"choose\")));";
        std::fs::write(&source, text).unwrap();
        let options = ["-shared", "-fPIC", "-fno-builtin", "-w", "-o"];
        let status = Command::new("cc").args(options).arg(&path).arg(&source).status().unwrap();
        assert!(status.success());
        Library(folder)
    }

    fn program(&self) -> Program {
        Program(self.0.join("libm.so.9"))
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A thread that called the function at `pc`.
fn call(
    session: &Session,
    (calls, observer): (&mut Calls, &mut dyn Observer),
    m: &mut Fake,
    pc: u64,
) -> Arrival {
    session.arrived(pc, calls, observer, m)
}

#[test]
fn a_mathematical_function_is_one_operation() {
    let mut watcher = observer();
    let library = Library::new("libm1");
    let file = library.program();
    let (session, hooked) = self::session(&file, config(&[], &[]));
    let [exp, printf, resolver] = ["exp", "printf", "choose"].map(|name| BIAS + file.address(name));
    assert!([exp, printf, resolver].iter().all(|address| hooked.contains(address)), "{hooked:x?}");
    let (mut m, mut calls) = (Fake::called(0x4000), Calls::new());
    m.set_double(0, 0.5);
    m.set_double_shadow(0, 2.0);
    assert_eq!(call(&session, (&mut calls, &mut *watcher), &mut m, exp), Arrival::Wrapped);
    assert!(calls.wrapped());
    // What it calls inside is its own business.
    m.general[4] -= 32;
    m.poke_words(m.general[4], &[exp + 8]);
    assert_eq!(call(&session, (&mut calls, &mut *watcher), &mut m, printf), Arrival::Go);
    m.general[4] += 32;
    m.ret();
    m.set_double(0, 0.5f64.exp());
    m.set_double_shadow(0, 99.0);
    assert_eq!(call(&session, (&mut calls, &mut *watcher), &mut m, 0x4000), Arrival::Go);
    assert!(!calls.wrapped());
    assert_eq!(m.double_shadow_at(Location::State(crate::x86::state::vector(0))), 2.0 * 0.5f64.exp());
    let mut text = Vec::new();
    session.finish(ProgramEnd::Exited(0), &mut *observer(), None, &mut text);
    let wrapped = &session.state.lock().report.coverage.wrapped;
    assert_eq!((wrapped[0].function.as_str(), wrapped[0].calls), ("exp", 1));
    drop(file);
}

#[test]
fn the_choice_of_a_resolver_is_the_function() {
    let mut watcher = observer();
    let library = Library::new("libm2");
    let file = library.program();
    let (session, _) = self::session(&file, config(&[], &[]));
    let [resolver, chosen] = ["choose", "pow_one"].map(|name| BIAS + file.address(name));
    let (mut m, mut calls) = (Fake::called(0x4000), Calls::new());
    assert_eq!(call(&session, (&mut calls, &mut *watcher), &mut m, resolver), Arrival::Watch(0x4000));
    m.ret();
    m.general[0] = chosen;
    assert_eq!(call(&session, (&mut calls, &mut *watcher), &mut m, 0x4000), Arrival::Watch(chosen));
    assert!(session.is_hooked(chosen));
    let mut m = Fake::called(0x4100);
    m.set_double(0, 3.0);
    m.set_double(1, 2.0);
    m.set_double_shadow(1, 1.0);
    assert_eq!(call(&session, (&mut calls, &mut *watcher), &mut m, chosen), Arrival::Wrapped);
    m.ret();
    m.set_double(0, 9.0);
    call(&session, (&mut calls, &mut *watcher), &mut m, 0x4100);
    // d/dy 3^y = 3^y ln 3.
    let derivative = m.double_shadow_at(Location::State(crate::x86::state::vector(0)));
    assert!((derivative - 9.0 * 3.0f64.ln()).abs() < 1e-14, "{derivative}");
}

#[test]
fn what_is_printed_is_an_output_once() {
    let mut watcher = observer();
    let library = Library::new("libm3");
    let file = library.program();
    let (session, _) = self::session(&file, config(&[], &[]));
    let printf = BIAS + file.address("printf");
    let (mut m, mut calls) = (Fake::called(0x4000), Calls::new());
    m.poke(0x5000, b"%g %d %g\n\0");
    m.poke(0x500a, &[0; 256]);
    (m.general[RDI], m.general[RSI]) = (0x5000, 4);
    m.set_double(0, 1.5);
    m.set_double(1, 2.5);
    m.set_double_shadow(1, -1.0);
    assert_eq!(call(&session, (&mut calls, &mut *watcher), &mut m, printf), Arrival::Watch(0x4000));
    // It may jump to another of the family, which returns for both.
    assert_eq!(call(&session, (&mut calls, &mut *watcher), &mut m, printf), Arrival::Go);
    m.ret();
    assert_eq!(call(&session, (&mut calls, &mut *watcher), &mut m, 0x4000), Arrival::Go);
    let seen: Vec<_> = outputs(&session).into_iter().map(|o| (o.0, o.1, o.2)).collect();
    assert_eq!(seen, [(OutputKind::Printf, 1.5, 0.0), (OutputKind::Printf, 2.5, -1.0)]);
    let quiet = SessionConfig { outputs: vec!["printf#ret".parse().unwrap()], ..config(&[], &[]) };
    let (session, hooked) = self::session(&file, quiet);
    assert!(hooked.contains(&printf));
    m.general[4] -= 8;
    assert_eq!(
        call(&session, (&mut calls, &mut *watcher), &mut m, printf),
        Arrival::Watch(0x4000),
        "for its result only"
    );
    assert_eq!(outputs(&session), []);
}

#[test]
fn unmapped_code_is_not_hooked_and_comes_back_elsewhere() {
    let library = Library::new("libm4");
    let file = library.program();
    let (session, _) = self::session(&file, config(&[], &[]));
    let exp = file.address("exp");
    let [offset, address, size] = file.code();
    session.unmapped(BIAS + address, BIAS + address + size);
    assert!(!session.is_hooked(BIAS + exp));
    let start = 0x3000_0000 + address;
    let again = session.mapped(&file.0, None, offset, start, start + size);
    assert!(again.contains(&(0x3000_0000 + exp)));
    assert!(session.mapped(Path::new("[vdso]"), None, 0, 0x6000, 0x7000).is_empty());
    assert_ne!(session.site(0x6010), Site::NONE);
}

/// The words of a request, as a client header writes them.
fn request(session: &Session, calls: &mut Calls, m: &mut Fake, words: [u64; 6]) -> u64 {
    m.poke_words(0x9000, &words);
    m.set_general(0, 0x9000);
    m.set_general(2, 0);
    session.request(0x4010, calls, &mut *observer(), m)
}

#[test]
fn requests_are_answered_as_the_table_says() {
    let session = Session::new(config(&[], &[]), Path::new("/bin/true"), first()).unwrap();
    let (mut m, mut calls) = (Fake::default(), Calls::new());
    m.poke(0x100, &1.5f32.to_le_bytes());
    m.poke(0x108, &2.5f32.to_le_bytes());
    // Two floats, eight bytes apart.
    m.poke_words(0x200, &[0x100, 4, 2, 8]);
    m.poke(0x300, b"nu\0");
    m.poke_words(0x400, &[0.5f64.to_bits(), 4.0f64.to_bits()]);
    m.poke(0x500, &[0; 64]);
    let mut ask =
        |code, args: [u64; 3]| request(&session, &mut calls, &mut m, [code, args[0], args[1], args[2], 0, 0]);
    assert_eq!(ask(0x5347_0000, [0; 3]), 1);
    assert_eq!(ask(0x5347_0001, [0; 3]), derivatives().number());
    assert_eq!(ask(0x5347_0004, [0x200, 0x300, 0x400]), 2, "seeded with 0.5");
    assert_eq!(ask(0x5347_0002, [0x200, 0x500, 0]), 2);
    assert_eq!(ask(0x5347_0003, [0x200, 0x400, 0]), 2);
    assert_eq!(ask(0x5347_0005, [0x200, 0x300, 0]), 2);
    assert_eq!(ask(0x5347_0006, [0; 3]), 1);
    assert_eq!(ask(0x5347_0005, [0x200, 0, 0]), 2, "not recorded now");
    assert_eq!(ask(0x5347_0007, [0; 3]), 0);
    assert_eq!(ask(0x5347_0007, [0; 3]), 0, "never below");
    assert_eq!(ask(0x5347_0002, [0x999, 0x500, 0]), 0, "no such memory");
    assert_eq!(ask(0x1001, [0; 3]), 0, "no Valgrind unless asked to be one");
    assert_eq!(ask(0x4d43_0000, [0; 3]), 0, "another tool's");
    assert_eq!(ask(0x4447_0008, [0; 3]), u64::from(b'd'));
    assert_eq!(ask(0x4447_0002, [1, 0, 0]), 1);
    let mut read = [0; 16];
    m.read(0x500, &mut read).unwrap();
    assert_eq!(read[..8], 0.5f64.to_le_bytes());
    assert_eq!(read[8..], 0.5f64.to_le_bytes());
    assert_eq!(m.shadow_at(Location::Memory(0x108), Format::F32), 4.0);
    assert!(calls.is_disabled());
    let seen: Vec<_> = outputs(&session).into_iter().map(|o| (o.0, o.1, o.2, o.3)).collect();
    let nu = Some("nu".to_owned());
    assert_eq!(seen, [(OutputKind::Mark, 1.5, 0.5, nu.clone()), (OutputKind::Mark, 2.5, 4.0, nu)]);
}

#[test]
fn derivgrinds_requests_copy_bytes() {
    let session = Session::new(config(&[], &[]), Path::new("/bin/true"), first()).unwrap();
    let (mut m, mut calls) = (Fake::default(), Calls::new());
    let bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
    m.poke(0x10000, &bytes);
    m.poke(0x20000, &[0; 5000]);
    assert_eq!(request(&session, &mut calls, &mut m, [0x4447_0001, 0x100, 0x10000, 5000, 0, 0]), 1);
    assert_eq!(request(&session, &mut calls, &mut m, [0x4447_0000, 0x100, 0x20000, 5000, 0, 0]), 1);
    let mut back = vec![0; 5000];
    m.read(0x20000, &mut back).unwrap();
    assert_eq!(back, bytes);
}

#[test]
fn the_real_of_a_float_without_one_is_itself() {
    let session = Session::new(config(&[], &[]), Path::new("/bin/true"), first()).unwrap();
    let (mut m, mut calls) = (Fake::default(), Calls::new());
    m.poke(0x100, &0.1f64.to_le_bytes());
    m.poke(0x200, &[0xff; 16]);
    assert_eq!(request(&session, &mut calls, &mut m, [0x5347_0008, 0x100, 8, 0x200, 16, 0]), 3);
    let mut text = [0; 4];
    m.read(0x200, &mut text).unwrap();
    assert_eq!(&text, b"0.1\0");
    let x = crate::hooks::abi::memory(&m, 0x100, Format::F64).unwrap();
    assert_eq!(x.value(), Value::from(0.1));
}

#[test]
fn a_forked_child_reports_what_comes() {
    let mut watcher = observer();
    let library = Library::new("libm5");
    let file = library.program();
    let (session, _) = self::session(&file, config(&[], &["printf#ret"]));
    let (mut m, mut calls) = (Fake::called(0x4000), Calls::new());
    let printf = BIAS + file.address("printf");
    call(&session, (&mut calls, &mut *watcher), &mut m, printf);
    m.ret();
    call(&session, (&mut calls, &mut *watcher), &mut m, 0x4000);
    assert_eq!(outputs(&session).len(), 1);
    drop(session.hold());
    session.forked();
    assert_eq!(outputs(&session), []);
    assert!(session.state.lock().destinations.forked);
}
