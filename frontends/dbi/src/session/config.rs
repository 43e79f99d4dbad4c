//! What the user asks of a session.

use crate::shadows::ShadowKind;
use shadowgrind_core::spec::{InputSpec, OutputSpec};
use shadowgrind_reports::Destinations;
use shadowgrind_reports::verdict::Concern;
use std::path::PathBuf;

/// Everything about a run but the engine's own settings.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// What is carried.
    pub shadow: ShadowKind,
    /// What is seeded.
    pub inputs: Vec<InputSpec>,
    /// What is sampled; if nothing, every float the program prints.
    pub outputs: Vec<OutputSpec>,
    /// Where reports go.
    pub reports: Destinations,
    /// The command, as it is to be shown.
    pub argv: Vec<String>,
    /// Precision of high-precision shadows, in bits.
    pub precision: u32,
    /// Whether numbers for which that is not enough are found with more.
    pub settles: bool,
    /// Error bits up to which a value or an operation counts as clean.
    pub error_threshold: f64,
    /// Depth of the expressions kept for explanations.
    pub expression_depth: u32,
    /// The exit status where any of that was found which the run may fail on.
    pub error_exitcode: Option<i32>,
    /// See `error_exitcode`.
    pub fail_on: Vec<Concern>,
    /// Whether a warning decides the exit status.
    pub strict: bool,
    /// Files of findings that are not to be reported.
    pub suppressions: Vec<PathBuf>,
    /// Whether the report is followed by suppressions for what it reports.
    pub gen_suppressions: bool,
    /// Whether the program is told that it runs under Valgrind, if it asks.
    pub valgrind_compat: bool,
    /// Whether shadows use AVX-512 where the processor has it.
    pub avx512: bool,
    /// Whether shadows are carried before there is a seed.
    pub annotate: bool,
    /// Whether every instruction that meets a shadow is left to the engine: for tests.
    pub slow: bool,
}

impl Default for SessionConfig {
    fn default() -> Self {
        SessionConfig {
            shadow: ShadowKind::default(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            reports: Destinations { terminal: None, files: Vec::new(), forked: false },
            argv: Vec::new(),
            precision: 256,
            settles: true,
            error_threshold: 5.0,
            expression_depth: 5,
            error_exitcode: None,
            fail_on: Concern::ALL.to_vec(),
            strict: false,
            suppressions: Vec::new(),
            gen_suppressions: false,
            valgrind_compat: false,
            avx512: true,
            annotate: false,
            slow: false,
        }
    }
}

impl SessionConfig {
    /// Whether there is anything to do for a session.
    pub fn is_active(&self) -> bool {
        self.shadow.is_carried() || !self.reports.files.is_empty()
    }
}
