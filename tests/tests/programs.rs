//! Real programs, as installed: shells, interpreters, compilers, compressors, databases, run-time compilers.

#![forbid(unsafe_code)]

use shadowgrind_tests::{programs, tool::Engine};

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    libtest_mimic::run(&arguments, programs::program_trials(&[Engine::from_env()], true)).exit_code()
}
