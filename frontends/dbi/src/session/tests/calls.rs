//! Calls of library functions: one operation, or an output.

use super::*;

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
