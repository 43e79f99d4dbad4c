//! Every guest program, in every variant, in the configuration the environment asks for (normally the default).

#![forbid(unsafe_code)]

use shadowgrind_tests::{suite, tool::Engine};

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    libtest_mimic::run(&arguments, suite::guest_trials(&[Engine::from_env()])).exit_code()
}
