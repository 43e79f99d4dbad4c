//! The requests a program can make of the tool: their codes, arguments and answers.
//!
//! A request is Valgrind's own instruction sequence for x86-64,
//!
//! ```text
//! rol rdi, 3;  rol rdi, 13;  rol rdi, 61;  rol rdi, 51;  xchg rbx, rbx
//! ```
//!
//! which is a no-op without a tool. `rax` holds the address of six 64-bit words: the code and five arguments (unused
//! ones are 0). `rdx` holds the answer that is given natively, and receives the tool's; all other registers stay.
//! Codes that are not in the table are answered with what `rdx` held. Knows the words, not what is done about them.
//!
//! Our own requests speak of floats in memory by a pointer to four words, `FLOATS`:
//!
//! ```text
//! struct { const void *first; uint64_t format; uint64_t count; int64_t stride; }
//! ```
//!
//! with `format` 4 (`float`), 8 (`double`) or 16 (`long double`, of which ten bytes count), and `stride` the bytes from
//! one float to the next, 0 for the size of the format. Derivatives and weights cross the border as `double`. A
//! request with an unknown format or memory that is not there does nothing and is answered with 0.

/// Base of our own requests: `S`, `G`.
const SHADOWGRIND: u64 = base(b"SG");
/// Base of Derivgrind's requests: `D`, `G`.
const DERIVGRIND: u64 = base(b"DG");
/// Base of Herbgrind's requests: `H`, `B`.
const HERBGRIND: u64 = base(b"HB");

/// Valgrind's `VG_USERREQ_TOOL_BASE`.
const fn base(name: &[u8; 2]) -> u64 {
    (name[0] as u64) << 24 | (name[1] as u64) << 16
}

/// Makes [`Request`] and its codes from rows: name, code, arguments, answer.
macro_rules! requests {
    ($($name:ident = $code:expr, $arguments:literal, $answer:literal;)+) => {
        /// Request of a program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Request {
            $(#[doc = concat!("(", $arguments, ") → ", $answer)] $name,)+
        }

        impl Request {
            /// The request of this code.
            pub(crate) fn of(code: u64) -> Option<Request> {
                $(if code == $code { return Some(Request::$name); })+
                None
            }
        }
    };
}

#[rustfmt::skip]
requests! {
    // Our own: 0x53470000 + …

    // Version of this table; 0 natively, so that a program can tell whether it runs under the tool.
    Version       = SHADOWGRIND,      "",                                    "1";
    // Which shadow is carried.
    Shadow        = SHADOWGRIND +  1, "",                                    "the shadow's number; 0 for none";
    // Reads derivatives; those of constants, and all under other shadows, are 0.
    GetDots       = SHADOWGRIND +  2, "FLOATS*, double derivatives[count]",  "how many were read: count, or 0 if the shadow is no derivative";
    // Sets derivatives without a word in the report.
    SetDots       = SHADOWGRIND +  3, "FLOATS*, const double derivatives[count]", "how many were set: count, or 0 if the shadow is no derivative";
    // Seeds an input: every float's derivative becomes `weight`; the report lists it by name. NULL weight: 1.
    Input         = SHADOWGRIND +  4, "FLOATS*, const char *name, const double *weight", "count; shadows that are no derivatives record name and value only";
    // Marks floats as outputs; the report lists them by name (NULL: none) at the line of the request.
    Output        = SHADOWGRIND +  5, "FLOATS*, const char *name",           "count";
    // From now on this thread's results carry no shadow and its outputs are not recorded. Nests.
    Disable       = SHADOWGRIND +  6, "",                                    "how often it is disabled now";
    // Takes one `Disable` back.
    Enable        = SHADOWGRIND +  7, "",                                    "how often it is disabled now";
    // Writes the real a float stands for in decimal, NUL-terminated, with at most size − 1 characters; under shadows
    // without real numbers, and for a float that was never shadowed, that is the float itself. Digits 0: as many as the
    // precision gives.
    GetReal       = SHADOWGRIND +  8, "const void *float, format, char *text, size, digits", "length of the text, 0 if there is none";
    // Reads the error of a float in bits; 0.0 under shadows without errors.
    GetErrorBits  = SHADOWGRIND +  9, "const void *float, format, double *bits", "1 if the shadow knows errors, else 0";
    // Shadows floats from now on although no operation has touched them.
    Track         = SHADOWGRIND + 10, "FLOATS*",                             "count";

    // Derivgrind: 0x44470000 + …; answered as that tool does.

    DgGetDot      = DERIVGRIND,       "const void *values, void *derivatives, bytes", "1; derivatives have the format of the values";
    DgSetDot      = DERIVGRIND +  1,  "const void *values, const void *derivatives, bytes", "1; derivatives have the format of the values";
    // Adds `plus` and subtracts `minus` from the thread's count of disabling.
    DgDisable     = DERIVGRIND +  2,  "plus, minus",                         "1";
    // Indices are numbers of the record of the run; 0: what depends on no input. Other shadows answer as natively.
    DgGetIndex    = DERIVGRIND +  3,  "const void *float, uint64_t *index",  "1";
    DgSetIndex    = DERIVGRIND +  4,  "void *float, const uint64_t *index",  "1";
    // Two indices and two partial derivatives make a new result; the words as such, or one pointer to them and to its value.
    DgNewIndex    = DERIVGRIND +  5,  "index*, index*, partial*, partial*, new*", "1; the new index is 0 if both are 0";
    // The same, with an index whether or not it depends on anything: how inputs and outputs are made.
    DgNewInput    = DERIVGRIND +  6,  "index*, index*, partial*, partial*, new*", "1";
    // Names an index as an input, or an output, of the program: they are so in the order of these requests.
    DgIndexToFile = DERIVGRIND +  7,  "0 for inputs or 1 for outputs, const uint64_t *index", "1";
    DgGetMode     = DERIVGRIND +  8,  "",                                    "mode as Derivgrind names it: `d` for forward, `b` for recording";

    // Herbgrind: 0x48420000 + …

    // After end nothing is analysed until the next begin.
    HgBegin       = HERBGRIND,        "",                                    "0";
    HgEnd         = HERBGRIND +  1,   "",                                    "0";
    // Shadows the `double` at this address from now on.
    HgForceTrack  = HERBGRIND +  7,   "const double *value",                 "0";
    // Marks the `double` at this address as an output.
    HgMark        = HERBGRIND +  9,   "const double *value",                 "0";
    // The same, if it carries a shadow.
    HgMaybeMark   = HERBGRIND + 10,   "const double *value",                 "0";
    // The same, as number `index` of several.
    HgMaybeMarkAt = HERBGRIND + 11,   "const double *value, index",          "0";

    // Valgrind: answered with 1 under `--valgrind-compat` only.

    RunningOnValgrind = 0x1001,       "",                                    "1 with --valgrind-compat, else what it is natively";
}
