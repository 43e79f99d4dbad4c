//! A user's wishes for a session.

use crate::shadows::ShadowKind;
use shadowgrind_core::findings::Listed;
use shadowgrind_core::moves::Moves;
use shadowgrind_core::spec::{InputSpec, OutputSpec};
use shadowgrind_reports::Destinations;
use shadowgrind_reports::verdict::Concern;
use std::path::PathBuf;

/// Everything about a run but the engine's own settings.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The shadow that is carried.
    pub shadow: ShadowKind,
    /// The numbers to seed.
    pub inputs: Vec<InputSpec>,
    /// The numbers to sample; if none, every float the program prints.
    pub outputs: Vec<OutputSpec>,
    /// True if what no `outputs` choose has the same numbers in every run: where runs are compared.
    pub all_printed: bool,
    /// The numbers to list, if that is all that is wanted.
    pub list: Option<Listed>,
    /// The destinations of reports.
    pub reports: Destinations,
    /// The direction of seeds, and how far inputs are moved.
    pub moves: Moves,
    /// The file for what each operation with a derivative has computed, if that is wanted.
    pub trace: Option<PathBuf>,
    /// Directions that derivatives are wanted in, as columns of numbers.
    pub directions: Option<Vec<Vec<f64>>>,
    /// True if contributions to rounding errors are wanted.
    pub budget: bool,
    /// Bytes up to which the record of a whole run stays in memory.
    pub tape_memory: u64,
    /// Directory for what of it does not.
    pub tape_dir: PathBuf,
    /// The command, as it is to be shown.
    pub argv: Vec<String>,
    /// Precision of high-precision shadows, in bits.
    pub precision: u32,
    /// True if numbers for which that is not enough are found with more.
    pub settles: bool,
    /// Error bits up to which a value or an operation counts as clean.
    pub error_threshold: f64,
    /// Depth of the expressions kept for explanations.
    pub expression_depth: u32,
    /// True if better ways are looked for to compute what went wrong.
    pub remedies: bool,
    /// True if findings are to be confirmed by a second run.
    pub confirm: bool,
    /// Callers of a place that are reported, at most.
    pub num_callers: usize,
    /// The exit status where any of that was found which the run may fail on.
    pub error_exitcode: Option<i32>,
    /// Concerns that give the run the status `error_exitcode`.
    pub fail_on: Vec<Concern>,
    /// True if a warning decides the exit status.
    pub strict: bool,
    /// Files of findings that are not to be reported.
    pub suppressions: Vec<PathBuf>,
    /// True if the report is followed by suppressions for what it reports.
    pub gen_suppressions: bool,
    /// True if the program is told that it runs under Valgrind, if it asks.
    pub valgrind_compat: bool,
    /// True if shadows use AVX-512 where the processor has it.
    pub avx512: bool,
    /// True if shadows are carried before there is a seed.
    pub annotate: bool,
    /// True if every instruction that meets a shadow is left to the engine: for tests.
    pub slow: bool,
}

impl Default for SessionConfig {
    fn default() -> Self {
        SessionConfig {
            shadow: ShadowKind::default(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            all_printed: false,
            list: None,
            reports: Destinations { terminal: None, files: Vec::new(), forked: false, annotated: false },
            moves: Moves::default(),
            trace: None,
            directions: None,
            budget: false,
            tape_memory: u64::MAX,
            tape_dir: PathBuf::new(),
            argv: Vec::new(),
            precision: 256,
            settles: true,
            error_threshold: 5.0,
            expression_depth: 5,
            remedies: true,
            confirm: false,
            num_callers: 12,
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
    /// Tells whether numbers without a shadow whose text is written nowhere are no outputs: modules of scripting languages make such
    /// text of hundreds when they are loaded.
    pub(super) fn leaves_out_unwritten(&self) -> bool {
        self.shadow.is_carried() && self.outputs.is_empty() && self.list.is_none() && !self.all_printed
    }

    /// Tells whether there is anything to do for a session.
    pub fn is_active(&self) -> bool {
        self.shadow.is_carried() || !self.reports.files.is_empty()
    }
}
