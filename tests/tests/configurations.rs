//! The guests once more in every other configuration of the engine: no superblocks, no links, constant flushes,
//! other instruction sets. What is rare in the default configuration happens all the time in these.

#![forbid(unsafe_code)]

use shadowgrind_tests::{suite, tool::Engine};

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    libtest_mimic::run(&arguments, suite::guest_trials(&Engine::others())).exit_code()
}
