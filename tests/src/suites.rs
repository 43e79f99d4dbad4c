//! Other people's test suites, run natively and under the tool: GCC's c-torture/execute and Valgrind's none/tests.
//!
//! Nothing of them is kept here: the distribution's source packages are fetched into cargo's target directory when
//! the runner is called. Neither suite's own expectations are used: the native run is the expectation.

pub mod fetch;
pub mod runner;
pub mod torture;
pub mod valgrind;
