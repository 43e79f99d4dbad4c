//! Signatures in debug information, in the languages that pass floats differently.

use std::path::PathBuf;
use std::process::Command;

use shadowgrind_core::format::Format::{F32, F64, F80};
use shadowgrind_symbols::{Passed, Signature, SymbolFile};

/// Compiles `text`, and gives the signature of `function`; nothing if the compiler is missing, which is said.
fn signature(compiler: &str, extension: &str, text: &str, function: &str) -> Option<Signature> {
    let stem =
        std::env::temp_dir().join(format!("shadowgrind-{extension}-{function}-{}", std::process::id()));
    let source = stem.with_extension(extension);
    std::fs::write(&source, text).unwrap();
    let built =
        Command::new(compiler).args(["-g", "-O1", "-shared", "-fPIC", "-o"]).arg(&stem).arg(&source).status();
    let found = match built {
        Ok(status) => {
            assert!(status.success());
            let file = SymbolFile::open(&PathBuf::from(&stem)).unwrap();
            let address = file.function(function).unwrap()[0].address;
            assert_eq!(file.signature(address + 1), None);
            Some(file.signature(address).expect("a signature"))
        }
        Err(_) => {
            eprintln!("SKIPPED: {compiler} is not installed");
            None
        }
    };
    let _ = (std::fs::remove_file(&stem), std::fs::remove_file(&source));
    found
}

fn plain(parameters: &[Passed]) -> Vec<(Passed, bool)> {
    parameters.iter().map(|&passed| (passed, false)).collect()
}

#[test]
fn c() {
    let text = "
        typedef const double number;
        struct pair { double a; long b; };
        long double f(int n, float x, number *p, float v[4], struct pair s, double _Complex z, void *q)
        { return n + x + *p + v[0] + s.a + __real__ z + (q != 0); }";
    let Some(found) = signature("gcc", "c", text, "f") else { return };
    let pointers = [Passed::Pointer(Some(F64)), Passed::Pointer(Some(F32))];
    let parameters = [
        Passed::Integer,
        Passed::Float(F32),
        pointers[0],
        pointers[1],
        Passed::Structure(16),
        Passed::Complex(F64),
        Passed::Pointer(None),
    ];
    assert_eq!(found, Signature { parameters: plain(&parameters), result: Some(Passed::Float(F80)) });
}

#[test]
fn cpp() {
    let text = "
        struct Solver { double state; float step(const double &dt, bool last); };
        float Solver::step(const double &dt, bool last) { state += dt; return last ? 1.0f : (float)state; }";
    let Some(found) = signature("g++", "cpp", text, "Solver::step") else { return };
    let this = (Passed::Pointer(Some(F64)), true);
    let parameters = [vec![this], plain(&[Passed::Pointer(Some(F64)), Passed::Integer])].concat();
    assert_eq!(found, Signature { parameters, result: Some(Passed::Float(F32)) });
}

#[test]
fn fortran() {
    let text = "
        real(8) function f(x, n, a, shaped, y)
          interface
            subroutine g(shaped, y)
              real(8) :: shaped(:), y
            end subroutine
          end interface
          real(4) :: x
          integer :: n
          real(8) :: a(n), shaped(:)
          real(8), value :: y
          call g(shaped, y)
          f = x + sum(a) + y
        end function
        subroutine g(shaped, y)
          real(8) :: shaped(:), y
          shaped = y
        end subroutine";
    let Some(found) = signature("gfortran", "f90", text, "f") else { return };
    let parameters = [
        Passed::Pointer(Some(F32)),
        Passed::Pointer(None),
        Passed::Pointer(Some(F64)),
        Passed::Pointer(None),
        Passed::Float(F64),
    ];
    assert_eq!(found, Signature { parameters: plain(&parameters), result: Some(Passed::Float(F64)) });
}
