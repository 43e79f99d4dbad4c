//! Options of the command: those that can be typed. What they make together is in [`settings`], the forms of their values in [`values`].

mod settings;
mod values;

use clap::{ArgAction, Parser, value_parser};
use shadowgrind_core::findings::Listed;
use shadowgrind_core::moves::Along;
use shadowgrind_core::spec::{InputSpec, OutputSpec};
use shadowgrind_dbi::{ShadowKind, StandBy};
use shadowgrind_reports::target::ReportTarget;
use std::ffi::OsString;
use std::path::PathBuf;
use values::{FailOn, Isa, Precision, bits, bytes, listed, precision, shadows, yes_no};

const INPUTS: &str = "Inputs and outputs";
const REPORTS: &str = "Reports";
const ERRORS: &str = "Errors (--shadow=error, mpfr)";
const TAPES: &str = "Gradients (--shadow=adjoint)";
const ENGINE: &str = "Engine";
const TESTS: &str = "Engine, for tests";

const AFTER_HELP: &str = "\
SPEC names floats of the program:
  name, name[i], name[i..j], a.b   a global or static variable, as its language writes it
  name@f, *p@f, p[0..n]@f, p->x@f  the same, a parameter of f, or what these lead to: each time f
                                   is entered (input) or returns (output)
  f#2, f#*3, f#*3[0..n], f#ret     f's second floating-point argument, what its third argument
                                   points to, its result
  f#ret[14], f#ret~2.5             only in some of the calls (from 0), or where it is 2.5
  module+0x1234#ret                a function of a stripped file
  arg:2, env:NAME, stdin:12:3      the number that the program reads there (input): a word of the
  file:in.dat:12-40:2, parsed:7    command line, a variable, lines and numbers of a text, by order
  printed, last, label:energy      every float the program prints, the last, those after energy=
  site:main.c:57, stdout:12:1      those that this line prints; where they stand (output)

  shadowgrind check --input=SPEC PROG compares derivatives with differences.
  shadowgrind inputs PROG, shadowgrind outputs PROG run a program and list what can be named so;
  shadowgrind symbols PROG [PATTERN] lists its variables and functions (a program of such a name
  is ./inputs).

Examples:
  shadowgrind --shadow=dot --input=nu ./burgers 200
  shadowgrind --shadow=mpfr --report=json:run.json ./prog
  shadowgrind --shadow=mpfr --error-exitcode=1 -q ./test

Output and exit status are the program's own. Otherwise: 2 for wrong options or SPECs,
126 and 127 for a program that cannot be run or found, 125 for an error of the tool.";

/// Derivatives and rounding errors of compiled programs.
///
/// Runs a program as it is, and carries a shadow beside every floating-point number it computes.
#[derive(Parser)]
#[command(name = "shadowgrind", bin_name = "shadowgrind", version, about, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    /// Shadow to carry beside every float
    #[arg(long, value_name = "NAME", value_parser = shadows(), default_value = ShadowKind::default().name())]
    pub(crate) shadow: ShadowKind,

    /// Seed this input with its weight (1 by default); several are one direction
    #[arg(long = "input", value_name = "SPEC[=WEIGHT]", help_heading = INPUTS)]
    inputs: Vec<InputSpec>,

    /// Sample this output instead of every float the program prints
    #[arg(long = "output", value_name = "SPEC", help_heading = INPUTS)]
    outputs: Vec<OutputSpec>,

    /// Answer 1 when the program asks whether it runs on Valgrind
    #[arg(long, help_heading = INPUTS)]
    valgrind_compat: bool,

    /// Write the report to a file as well: json:FILE or html:FILE, %p is the process
    #[arg(long = "report", value_name = "FORMAT:FILE", help_heading = REPORTS)]
    reports: Vec<ReportTarget>,

    /// Copy the text that the program writes to DIR, or standard output's to the terminal, with each number's derivative
    /// or right digits behind it
    #[arg(long, value_name = "DIR|-", help_heading = REPORTS)]
    annotate: Option<PathBuf>,

    /// No report on the terminal
    #[arg(short, long, help_heading = REPORTS)]
    quiet: bool,

    /// Report causes that reached no output, and whole tables
    #[arg(short, long, help_heading = REPORTS)]
    verbose: bool,

    /// Callers of a finding that are reported, at most
    #[arg(long, value_name = "N", default_value_t = 12, help_heading = REPORTS)]
    num_callers: usize,

    /// Exit with N if an output is wrong, a decision is not that of the reals, or NaN was born
    #[arg(long, value_name = "N", value_parser = value_parser!(i32).range(0..=255), help_heading = REPORTS)]
    error_exitcode: Option<i32>,

    /// Findings that --error-exitcode counts: output, decision, nan
    #[arg(long, value_enum, value_name = "WHAT,…", value_delimiter = ',',
        default_value = "output,decision,nan", hide_possible_values = true, help_heading = REPORTS)]
    fail_on: Vec<FailOn>,

    /// Exit with 2 if there is a warning: the report says less than it seems to
    #[arg(long, help_heading = REPORTS)]
    strict: bool,

    /// Leave out the findings that this file describes
    #[arg(long, value_name = "FILE", help_heading = REPORTS)]
    suppressions: Vec<PathBuf>,

    /// Print a suppression for each finding
    #[arg(long, value_name = "yes|no", value_parser = yes_no, default_value = "no", action = ArgAction::Set,
        hide_default_value = true, help_heading = REPORTS)]
    gen_suppressions: bool,

    /// Bits of reals, 64 to 16384; auto: 256, and more where that is not enough
    #[arg(long, value_name = "auto|BITS", default_value = "auto", value_parser = precision, help_heading = ERRORS)]
    precision: Precision,

    /// Error bits up to which an operation or output is clean
    #[arg(long, value_name = "BITS", default_value_t = 5.0, value_parser = bits, help_heading = ERRORS)]
    error_threshold: f64,

    /// Depth of the expressions that explain an error
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(1..=100),
        help_heading = ERRORS)]
    expr_depth: u32,

    /// Look for better ways to compute what went wrong, and try them
    #[arg(long, value_name = "yes|no", value_parser = yes_no, default_value = "yes", action = ArgAction::Set,
        hide_default_value = true, help_heading = ERRORS)]
    remedies: bool,

    /// Run the program a second time when it has ended, under mpfr, and say which findings are right. All that it does to
    /// files and elsewhere is done twice
    #[arg(long, help_heading = ERRORS)]
    confirm: bool,

    /// Write all outputs, with the derivative or the error of each, to a file for numpy
    #[arg(long, value_name = "FILE.npy")]
    output_array: Option<PathBuf>,

    /// Write all gradients to a file for numpy: outputs × components
    #[arg(long, value_name = "FILE.npy", help_heading = TAPES)]
    gradient: Option<PathBuf>,

    /// Write the derivatives other than zero to a Matrix Market file: outputs × components
    #[arg(long, value_name = "FILE.mtx", help_heading = TAPES)]
    jacobian: Option<PathBuf>,

    /// Write which derivatives are other than zero
    #[arg(long, value_name = "FILE.mtx", conflicts_with = "jacobian", help_heading = TAPES)]
    sparsity: Option<PathBuf>,

    /// Report derivatives in the directions that are the columns of this array
    #[arg(long, value_name = "FILE.npy", help_heading = TAPES)]
    direction: Option<PathBuf>,

    /// Report how much of each output's rounding error each line has contributed
    #[arg(long, help_heading = TAPES)]
    budget: bool,

    /// Memory for the record of the run, e.g. 4G; a quarter of the machine's by default
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = TAPES)]
    tape_memory: Option<u64>,

    /// Directory for what of the record does not fit; $TMPDIR or /var/tmp by default
    #[arg(long, value_name = "DIR", help_heading = TAPES)]
    tape_dir: Option<PathBuf>,

    /// Instruction-set level that the program sees
    #[arg(long, value_enum, default_value_t = Isa::V3, help_heading = ENGINE)]
    isa: Isa,

    /// Keep shadows in memory, not in AVX-512 registers
    #[arg(long, help_heading = ENGINE, overrides_with = "no_avx512")]
    no_avx512: bool,

    /// Follow programs that child processes execute
    #[arg(long, value_name = "yes|no", value_parser = yes_no, default_value = "no", action = ArgAction::Set,
        hide_default_value = true, help_heading = ENGINE)]
    trace_children: bool,

    /// Print the engine's counters when the program ends
    #[arg(long, help_heading = ENGINE)]
    stats: bool,

    /// Guest instructions per superblock
    #[arg(long, value_name = "N", default_value_t = 128, help_heading = TESTS)]
    superblock_limit: usize,

    /// Never link translated blocks
    #[arg(long, help_heading = TESTS)]
    no_link: bool,

    /// Flush the code cache after every N blocks
    #[arg(long, value_name = "N", help_heading = TESTS)]
    flush_every: Option<usize>,

    /// Translate a block again, with more effort, when it has run N times
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..),
        help_heading = TESTS)]
    hot_after: u32,

    /// List the numbers that can be named, and nothing else: inputs or outputs
    #[arg(long, value_name = "WHAT", hide = true, value_parser = listed)]
    list: Option<Listed>,

    /// Delay births and deaths of threads at random, by this seed; 0 for not at all
    #[arg(long, value_name = "SEED", default_value_t = 0, hide_default_value = true, help_heading = TESTS)]
    chaos: u64,

    /// Set the base of FS by system calls, as where there are no instructions for that
    #[arg(long, help_heading = TESTS)]
    no_fsgsbase: bool,

    /// Leave every instruction that meets a shadow to the engine
    #[arg(long, hide = true)]
    reference_path: bool,

    /// Carry shadows from the program's first instruction on, not from the first seed
    #[arg(long, hide = true)]
    from_start: bool,

    /// Direction of seeds: all, signs:N or one:INPUT:NUMBER
    #[arg(long, value_name = "WHICH", hide = true, default_value_t)]
    along: Along,

    /// Steps by which inputs are moved
    #[arg(long, value_name = "H,…", value_delimiter = ',', hide = true, allow_negative_numbers = true)]
    steps: Option<Vec<f64>>,

    /// Count every printed number among the outputs, so that it has the same number in each run
    #[arg(long, hide = true)]
    all_printed: bool,

    /// File for what each operation with a derivative has computed
    #[arg(long, value_name = "FILE", hide = true)]
    trace: Option<PathBuf>,

    /// Name the program is told it was called by
    #[arg(long, value_name = "NAME", hide = true)]
    argv0: Option<OsString>,

    /// Descriptor of the program's file, which PROG then only names
    #[arg(long, value_name = "N", hide = true)]
    descriptor: Option<i32>,

    /// Descriptor that messages go to, if not to standard error
    #[arg(long, value_name = "N", hide = true, allow_negative_numbers = true)]
    messages: Option<i32>,

    /// Descriptor of what the processes of one command write for each other
    #[arg(long, value_name = "N", hide = true)]
    book: Option<i32>,

    /// Process that stands by for a second run, and the files that the standard streams are
    #[arg(long, value_name = "N:…", hide = true)]
    stand_by: Option<StandBy>,

    /// The process that the user started, if another program has executed this one
    #[arg(long, value_name = "PID", hide = true)]
    first_process: Option<u32>,

    /// Limit on the stack's size that the program is to have
    #[arg(long, value_name = "BYTES", hide = true)]
    stack_limit: Option<u64>,

    /// Program and arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROG [ARGS]")]
    command: Vec<OsString>,
}
