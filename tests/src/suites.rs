//! Other people's test suites, run natively and under the tool: GCC's c-torture/execute, Valgrind's none/tests and
//! the Open POSIX Test Suite.
//!
//! Nothing of them is kept here: the distribution's source packages are fetched into cargo's target directory when
//! the runner is called. No suite's own expectations are used: the native run is the expectation.

pub mod fetch;
pub mod posix;
pub mod runner;
pub mod torture;
pub mod valgrind;
