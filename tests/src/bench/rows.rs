//! The rows of the benchmark: which program, what is measured, and which figure it must and should reach.

/// Meaning of a row's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Ratio of CPU times.
    Cpu,
    /// Ratio of CPU times, each without that of a trivial run of the same program.
    CpuWithoutStart,
    /// Ratio of elapsed times.
    Wall,
    /// Additional CPU nanoseconds for each of so many operations, each run without a trivial one of the same program.
    Nanoseconds(u64),
    /// Additional CPU milliseconds.
    Milliseconds,
    /// Additional resident megabytes.
    Megabytes,
}

impl Figure {
    /// The unit as printed.
    pub fn unit(self) -> &'static str {
        match self {
            Figure::Cpu | Figure::CpuWithoutStart => "×",
            Figure::Wall => "× wall",
            Figure::Nanoseconds(_) => "ns",
            Figure::Milliseconds => "ms",
            Figure::Megabytes => "MB",
        }
    }
}

/// Program of a row.
#[derive(Clone, Copy, Debug)]
pub enum Program {
    /// A source in `guests/bench`, compiled with these flags.
    Guest(&'static str, &'static [&'static str]),
    /// A Python script in `guests/bench`.
    Python(&'static str),
    /// An installed program.
    Installed(&'static str),
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name, for the table and `--filter`.
    pub name: &'static str,
    /// The program that is run.
    pub program: Program,
    /// The arguments; `{gzip}` and `{xz}` are the prepared inputs.
    pub args: &'static [&'static str],
    /// The arguments of the trivial run that `CpuWithoutStart` and `Nanoseconds` subtract.
    pub start: &'static [&'static str],
    /// Options of the tool: what is seeded, how precise.
    pub options: &'static [&'static str],
    /// Number of native runs that make one sample, where one would be too short to measure.
    pub repeat: u32,
    /// The meaning of the figure.
    pub figure: Figure,
    /// The limit that must hold, with AVX-512 and without.
    pub must: [f64; 2],
    /// The figure to aim at.
    pub want: Option<f64>,
}

const BASE: Row = Row {
    name: "",
    program: Program::Installed("true"),
    args: &[],
    start: &[],
    options: &[],
    repeat: 1,
    figure: Figure::Cpu,
    must: [1.0, 1.0],
    want: None,
};

const fn guest(
    name: &'static str,
    source: &'static str,
    flags: &'static [&'static str],
    args: &'static [&'static str],
) -> Row {
    Row { name, program: Program::Guest(source, flags), args, ..BASE }
}

/// A guest whose trivial run has the arguments `start`.
const fn steady(
    name: &'static str,
    source: &'static str,
    args: &'static [&'static str],
    start: &'static [&'static str],
) -> Row {
    Row { start, figure: Figure::CpuWithoutStart, ..guest(name, source, O2, args) }
}

const fn installed(name: &'static str, program: &'static str, args: &'static [&'static str]) -> Row {
    Row { name, program: Program::Installed(program), args, ..BASE }
}

const fn python(
    name: &'static str,
    script: &'static str,
    args: &'static [&'static str],
    start: &'static [&'static str],
) -> Row {
    Row { name, program: Program::Python(script), args, start, figure: Figure::CpuWithoutStart, ..BASE }
}

impl Row {
    const fn limits(self, must: [f64; 2], want: f64) -> Row {
        Row { must, want: Some(want), ..self }
    }

    const fn must(self, must: f64) -> Row {
        Row { must: [must, must], ..self }
    }

    const fn want(self, want: f64) -> Row {
        Row { want: Some(want), ..self }
    }

    const fn figure(self, figure: Figure) -> Row {
        Row { figure, ..self }
    }

    const fn with(self, options: &'static [&'static str]) -> Row {
        Row { options, ..self }
    }

    const fn times(self, repeat: u32) -> Row {
        Row { repeat, ..self }
    }
}

const O3: &[&str] = &["-O3"];
const O3_AVX2: &[&str] = &["-O3", "-mavx2", "-mfma"];
const O2: &[&str] = &["-O2"];
const O0: &[&str] = &["-O0"];
const O2_FLOAT: &[&str] = &["-O2", "-DREAL=float"];
// Without debug information nobody knows that an input has ten bytes.
const O2_LONG: &[&str] = &["-O2", "-g", "-DREAL=long double"];
const O3_FLOAT: &[&str] = &["-O3", "-ffast-math", "-DREAL=float"];

const NONE: &[Row] = &[
    guest("stencil -O3 SSE2", "stencil.c", O3, &["20000"]).must(1.08).want(1.01),
    guest("stencil -O3 AVX2", "stencil.c", O3_AVX2, &["20000"]).must(1.08).want(1.01),
    guest("burgers -O3", "burgers.cpp", O3, &["200", "1200"]).must(1.08).want(1.01),
    guest("stencil -O0", "stencil.c", O0, &["2500"]).must(1.20).want(1.05),
    guest("burgers -O0", "burgers.cpp", O0, &["200", "150"]).must(1.20).want(1.05),
    guest("virtual, pointer, switch calls", "calls.cpp", O2, &["20000000"]).must(1.40).want(1.20),
    guest("libm through the PLT", "libm.c", O2, &["12000000"]).must(1.45).want(1.20),
    python("CPython float loop, start subtracted", "float_loop.py", &["5000000"], &["1"]).must(1.6).want(1.3),
    installed("gzip", "gzip", &["-6", "-c", "{gzip}"]).must(1.35).want(1.2),
    installed("xz", "xz", &["-0", "-c", "{xz}"]).must(1.35).want(1.2),
    guest("1 M getppid", "getppid.c", O2, &["1000000"]).must(4.0).want(3.0),
    steady("clearing and reading exception flags", "fenv.c", &["300000"], &["1"]).must(2.0),
    guest("2 threads, independent work", "threads.c", O2, &["20000000"])
        .figure(Figure::Wall)
        .must(1.15)
        .want(1.05),
    installed("/bin/true over native", "/bin/true", &[])
        .times(20)
        .figure(Figure::Milliseconds)
        .must(12.0)
        .want(6.0),
    installed("python3 -c pass over native", "/usr/bin/python3", &["-c", "pass"])
        .times(5)
        .figure(Figure::Milliseconds)
        .must(90.0)
        .want(45.0),
    installed("python3 -I -S -c pass over native", "/usr/bin/python3", &["-I", "-S", "-c", "pass"])
        .times(5)
        .figure(Figure::Milliseconds)
        .must(60.0)
        .want(35.0),
    installed("resident over native: /bin/true", "/bin/true", &[])
        .figure(Figure::Megabytes)
        .must(40.0)
        .want(20.0),
    installed("resident over native: python3", "/usr/bin/python3", &["-c", "pass"])
        .figure(Figure::Megabytes)
        .must(40.0)
        .want(20.0),
    installed("resident over native: xz", "xz", &["-0", "-c", "{xz}"])
        .figure(Figure::Megabytes)
        .must(40.0)
        .want(20.0),
];

/// Every bench guest adds `shift` to its data, so that everything it computes depends on it.
const SHIFT: &[&str] = &["--input=shift"];
/// CPython has no variable to name: the shift is what it parses from the command line.
const PARSED: &[&str] = &["--input=PyOS_string_to_double#ret"];

/// Time for a call of a function of long doubles, half a million of them.
const fn long_function(
    name: &'static str,
    args: &'static [&'static str],
    start: &'static [&'static str],
) -> Row {
    steady(name, "libm_long.c", args, start).with(SHIFT).figure(Figure::Nanoseconds(500_000)).must(200.0)
}

const DOT: &[Row] = &[
    guest("burgers -O3", "burgers.cpp", O3, &["200", "1200"]).with(SHIFT).limits([3.3, 3.5], 2.3),
    guest("burgers -O0", "burgers.cpp", O0, &["200", "150"]).with(SHIFT).limits([3.3, 6.0], 2.3),
    guest("n-body", "nbody.c", O2, &["5000000"]).with(SHIFT).limits([4.0, 3.5], 2.5),
    guest("LU", "lu.c", O2, &["6000"]).with(SHIFT).limits([4.0, 3.5], 2.5),
    guest("Gram-Schmidt", "gram_schmidt.c", O2, &["5000"]).with(SHIFT).limits([4.0, 3.5], 2.5),
    guest("mandelbrot", "mandelbrot.c", O2, &["1800"]).with(SHIFT).limits([4.0, 3.5], 2.5),
    guest("mandelbrot float", "mandelbrot.c", O2_FLOAT, &["1800"]).with(SHIFT).limits([4.0, 3.5], 2.5),
    guest("sums", "sums.c", O2, &["50000"]).with(SHIFT).limits([4.0, 3.5], 2.5),
    guest("sums float", "sums.c", O2_FLOAT, &["50000"]).with(SHIFT).limits([4.0, 3.5], 2.5),
    guest("sums float, vectorised", "sums.c", O3_FLOAT, &["300000"]).with(SHIFT).limits([4.0, 3.5], 2.5),
    guest("sums of long doubles", "sums.c", O2_LONG, &["12000"]).with(SHIFT).must(8.0).want(4.0),
    python("burgers in Python", "burgers.py", &["40", "300", "0.0"], &["2", "0", "0.0"])
        .with(PARSED)
        .must(6.0)
        .want(3.5),
    guest("libm-heavy loop", "libm.c", O2, &["12000000"]).with(SHIFT).must(3.0).want(2.0),
    steady("haddpd", "horizontal.c", &["haddpd", "20000000"], &["haddpd", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("dppd", "horizontal.c", &["dppd", "20000000"], &["dppd", "1"]).with(SHIFT).must(20.0).want(8.0),
    steady("dpps", "horizontal.c", &["dpps", "20000000"], &["dpps", "1"]).with(SHIFT).must(20.0).want(8.0),
    steady("addsubpd", "horizontal.c", &["addsub", "20000000"], &["addsub", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("sign cleared by and", "bit_tricks.c", &["and", "2000000"], &["and", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("sign set by or", "bit_tricks.c", &["or", "2000000"], &["or", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("sign turned by xor", "bit_tricks.c", &["xor", "2000000"], &["xor", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("exponent by add", "bit_tricks.c", &["add", "2000000"], &["add", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("sign shifted out", "bit_tricks.c", &["shift", "2000000"], &["shift", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("float chosen by cmov", "bit_tricks.c", &["choice", "2000000"], &["choice", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("next float by inc", "bit_tricks.c", &["next", "2000000"], &["next", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("bytes reversed", "bit_tricks.c", &["reversed", "2000000"], &["reversed", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("bytes copied one by one", "bit_tricks.c", &["bytes", "1000000"], &["bytes", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("digits multiplied", "bit_tricks.c", &["product", "5000000"], &["product", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("exponent cut out and put in", "bit_tricks.c", &["ldexp", "1000000"], &["ldexp", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("qsort of doubles", "qsort.c", &["500"], &["1"]).with(SHIFT).must(8.0),
    long_function("sine of a long double", &["sin", "500000"], &["sin", "1"]),
    long_function("exponential of a long double", &["exp", "500000"], &["exp", "1"]),
    long_function("logarithm of a long double", &["log", "500000"], &["log", "1"]),
    long_function("power of a long double", &["pow", "500000"], &["pow", "1"]),
    // Two results.
    long_function("sine and cosine of a long double", &["sincos", "500000"], &["sincos", "1"]).must(400.0),
    steady("integers on the x87 stack", "libm_long.c", &["integers", "2000000"], &["integers", "1"])
        .with(SHIFT)
        .must(20.0)
        .want(8.0),
    steady("atomic exchange", "atomics.c", &["xchg", "3000000"], &["xchg", "1"])
        .with(SHIFT)
        .figure(Figure::Nanoseconds(3_000_000))
        .must(150.0),
    steady("atomic compare-and-exchange", "atomics.c", &["cmpxchg", "3000000"], &["cmpxchg", "1"])
        .with(SHIFT)
        .figure(Figure::Nanoseconds(3_000_000))
        .must(150.0),
    steady("printf of a double", "printf.c", &["20000"], &["10"])
        .with(SHIFT)
        .figure(Figure::Nanoseconds(20_000))
        .must(1500.0),
    steady("libm, nothing seeded", "libm.c", &["3000000"], &["1"]).must(1.6),
    installed("gzip, nothing seeded", "gzip", &["-6", "-c", "{gzip}"]).must(2.0).want(1.5),
    installed("xz, nothing seeded", "xz", &["-0", "-c", "{xz}"]).must(2.0).want(1.5),
    python("CPython loop, nothing seeded", "float_loop.py", &["5000000"], &["1"]).must(2.8).want(2.0),
    installed("/bin/true over native", "/bin/true", &[])
        .times(20)
        .figure(Figure::Milliseconds)
        .must(40.0)
        .want(20.0),
    guest("resident over native: burgers", "burgers.cpp", O3, &["1000", "3"])
        .with(SHIFT)
        .figure(Figure::Megabytes)
        .must(60.0 + 1.1 * 34.0),
];

const BITS_256: &[&str] = &["--precision=256"];
const BITS_1000: &[&str] = &["--precision=1000"];

/// Time for an operation of a recurrence: 20 operations in each of 100,000 turns, fused ones counted twice.
const fn per_operation(
    name: &'static str,
    flags: &'static [&'static str],
    args: &'static [&'static str],
) -> Row {
    Row { start: &["10"], ..guest(name, "decay.c", flags, args) }
        .with(BITS_256)
        .figure(Figure::Nanoseconds(2_000_000))
}

// Programs a hundred times slower under the tool have to be short: ten native runs make a sample.
const MPFR: &[Row] = &[
    guest("n-body", "nbody.c", O2, &["100000"]).times(10).with(BITS_256).must(250.0).want(100.0),
    guest("LU", "lu.c", O2, &["100"]).times(10).with(BITS_256).must(250.0).want(100.0),
    guest("Gram-Schmidt", "gram_schmidt.c", O2, &["80"]).times(10).with(BITS_256).must(250.0).want(100.0),
    guest("burgers", "burgers.cpp", O2, &["60", "100"]).times(10).with(BITS_256).must(250.0).want(100.0),
    guest("PID", "pid.c", O2, &["500000"]).times(10).with(BITS_256).must(250.0).want(100.0),
    guest("n-body, 1000 bits", "nbody.c", O2, &["50000"]).times(20).with(BITS_1000).must(1200.0),
    guest("LU, 1000 bits", "lu.c", O2, &["50"]).times(20).with(BITS_1000).must(1200.0),
    guest("Gram-Schmidt, 1000 bits", "gram_schmidt.c", O2, &["40"]).times(20).with(BITS_1000).must(1200.0),
    guest("burgers, 1000 bits", "burgers.cpp", O2, &["60", "50"]).times(20).with(BITS_1000).must(1200.0),
    guest("PID, 1000 bits", "pid.c", O2, &["250000"]).times(20).with(BITS_1000).must(1200.0),
    per_operation("recurrence of doubles", O2, &["100000"]).must(120.0),
    per_operation("recurrence of floats", O2_FLOAT, &["100000"]).must(180.0),
    per_operation("recurrence with FMA", &["-O2", "-mfma", "-ffp-contract=fast"], &["100000"]).must(180.0),
    per_operation("recurrence that dies out", O2, &["100000", "dies"]).must(240.0),
    guest("sums of long doubles", "sums.c", O2_LONG, &["100"])
        .times(10)
        .with(BITS_256)
        .must(600.0)
        .want(400.0),
    // Seven operations at each of 62 by 62 points.
    steady("an operation on smooth data", "smooth.c", &["40"], &["1"])
        .with(BITS_256)
        .figure(Figure::Nanoseconds(39 * 62 * 62 * 7))
        .must(120.0)
        .want(60.0),
    steady("printf of a double", "printf.c", &["20000"], &["10"])
        .with(BITS_256)
        .figure(Figure::Nanoseconds(20_000))
        .must(3000.0),
    python("CPython float loop, start subtracted", "float_loop.py", &["500000"], &["1"]).must(60.0),
    installed("no floats: gzip", "gzip", &["-6", "-c", "{gzip}"]).must(2.5),
    installed("no floats: xz", "xz", &["-0", "-c", "{xz}"]).must(2.5),
    python("no floats: CPython", "integer_loop.py", &["2000000"], &["1"]).must(3.5),
    installed("/bin/true over native", "/bin/true", &[]).times(20).figure(Figure::Milliseconds).must(60.0),
    guest("resident over native: PID", "pid.c", O2, &["500000"]).figure(Figure::Megabytes).must(100.0),
    // Beside the engine's 20 MB, as many bytes for each as there are MB.
    guest("resident over native: a million floats", "live.c", O2, &["1000000"])
        .with(BITS_256)
        .figure(Figure::Megabytes)
        .must(220.0)
        .want(116.0),
];

const ERROR: &[Row] = &[
    guest("burgers -O3", "burgers.cpp", O3, &["200", "600"]).limits([10.0, 14.0], 6.0),
    guest("burgers -O0", "burgers.cpp", O0, &["200", "100"]).must(8.0),
    guest("n-body", "nbody.c", O2, &["2000000"]).limits([10.0, 14.0], 6.0),
    guest("LU", "lu.c", O2, &["2500"]).limits([10.0, 14.0], 6.0),
    guest("Gram-Schmidt", "gram_schmidt.c", O2, &["2000"]).limits([10.0, 14.0], 6.0),
    guest("mandelbrot", "mandelbrot.c", O2, &["900"]).limits([10.0, 14.0], 6.0),
    guest("sums", "sums.c", O2, &["20000"]).limits([10.0, 14.0], 6.0),
    guest("sums float", "sums.c", O2_FLOAT, &["20000"]).must(10.0),
    guest("sums float, vectorised", "sums.c", O3_FLOAT, &["100000"]).must(10.0),
    guest("sums of long doubles", "sums.c", O2_LONG, &["300"]).must(30.0),
    python("CPython float loop, start subtracted", "float_loop.py", &["3000000"], &["1"]).must(6.0),
    python("numpy matmul, start subtracted", "numpy_matmul.py", &["4000"], &["1"]).must(12.0),
    python("numpy sums, start subtracted", "numpy_sums.py", &["3000"], &["1"]).must(12.0),
    guest("libm-heavy loop", "libm.c", O2, &["1000000"]).must(10.0),
    installed("no floats: gzip", "gzip", &["-6", "-c", "{gzip}"]).must(2.0),
    installed("no floats: xz", "xz", &["-0", "-c", "{xz}"]).must(2.0),
    python("no floats: CPython", "integer_loop.py", &["2000000"], &["1"]).must(2.0),
    installed("/bin/true over native", "/bin/true", &[]).times(20).figure(Figure::Milliseconds).must(40.0),
    guest("resident over native: burgers", "burgers.cpp", O3, &["1000", "3"])
        .figure(Figure::Megabytes)
        .must(60.0 + 1.1 * 34.0),
];

// A record of every operation: programs as short as the tape is long.
const ADJOINT: &[Row] = &[
    guest("burgers -O3", "burgers.cpp", O3, &["200", "100"]).with(SHIFT).must(6.0).want(3.5),
    guest("burgers -O0", "burgers.cpp", O0, &["200", "60"]).with(SHIFT).must(8.0).want(5.0),
    guest("n-body", "nbody.c", O2, &["300000"]).with(SHIFT).must(10.0).want(5.0),
    guest("LU", "lu.c", O2, &["400"]).with(SHIFT).must(10.0).want(5.0),
    guest("Gram-Schmidt", "gram_schmidt.c", O2, &["300"]).with(SHIFT).must(10.0).want(5.0),
    guest("mandelbrot", "mandelbrot.c", O2, &["300"]).with(SHIFT).must(10.0).want(5.0),
    guest("sums", "sums.c", O2, &["3000"]).with(SHIFT).must(10.0).want(5.0),
    guest("sums float, vectorised", "sums.c", O3_FLOAT, &["10000"]).with(SHIFT).must(10.0).want(5.0),
    guest("libm-heavy loop", "libm.c", O2, &["300000"]).with(SHIFT).must(10.0).want(5.0),
    installed("gzip, nothing seeded", "gzip", &["-6", "-c", "{gzip}"]).must(2.0).want(1.5),
    installed("/bin/true over native", "/bin/true", &[])
        .times(20)
        .figure(Figure::Milliseconds)
        .must(40.0)
        .want(20.0),
];

/// The shadows that have rows.
pub const SHADOWS: [&str; 5] = ["none", "dot", "adjoint", "error", "mpfr"];

/// The rows of a shadow.
pub fn rows(shadow: &str) -> Option<&'static [Row]> {
    let all = [NONE, DOT, ADJOINT, ERROR, MPFR];
    SHADOWS.iter().position(|s| *s == shadow).map(|at| all[at])
}
