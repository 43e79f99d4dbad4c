//! The guests and the shorter real programs once more in every other configuration of the engine: no superblocks, no links,
//! constant flushes, other instruction sets, shadows. What is rare in the default configuration happens all the time in these.
//! By default one build of each guest and a sixth of the programs, in turn; `SHADOWGRIND_CONFIGURATIONS=full` runs all.

#![forbid(unsafe_code)]

use shadowgrind_tests::{programs, suite, tool::Engine};

fn main() -> std::process::ExitCode {
    let arguments = libtest_mimic::Arguments::from_args();
    let mut trials = suite::guest_trials(&Engine::others());
    trials.extend(programs::program_trials(&Engine::others(), false));
    libtest_mimic::run(&arguments, trials).exit_code()
}
