//! Takes the samples of a row. Each run is made by a small process of its own (this same program, called with
//! `--measure`), because the kernel reports the use of *all* waited-for children together, and the largest resident
//! size of any of them ever.

use super::rows::{Figure, Program, Row};
use crate::compile::{Compiled, compile};
use crate::host;
use crate::spec::{Guest, Variant};
use crate::tool::Engine;
use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Resources that some runs of a command used, per run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Usage {
    /// User and system time of the process tree, in seconds.
    pub cpu: f64,
    /// Elapsed seconds.
    pub wall: f64,
    /// Largest resident size of any process of the tree, in bytes.
    pub resident: f64,
}

/// Runs a command `times` times with its output thrown away and says what it used. To be called in a process that has
/// waited for no other child.
pub fn measure_here(times: u32, command: &[OsString]) -> Result<Usage, String> {
    let start = Instant::now();
    for _ in 0..times {
        let status = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .map_err(|e| format!("{}: {e}", command[0].display()))?;
        if !status.success() {
            return Err(format!("{command:?} ended with {status}"));
        }
    }
    let wall = start.elapsed().as_secs_f64() / f64::from(times);
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|e| e.to_string())?;
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 * 1e-6;
    let cpu = (seconds(usage.user_time()) + seconds(usage.system_time())) / f64::from(times);
    Ok(Usage { cpu, wall, resident: usage.max_rss() as f64 * 1024.0 })
}

fn measure(times: u32, command: &[OsString]) -> Result<Usage, String> {
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let output = Command::new(own)
        .args(["--measure", &times.to_string(), "--"])
        .args(command)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| e.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|_| format!("{command:?} failed"))
}

/// The commands of a row.
pub struct Commands {
    native: Vec<OsString>,
    start: Vec<OsString>,
    /// The program as [`NSAN_COMPILER`] compiles it, plain and with its sanitizer, where that was asked for.
    sanitized: Option<[Vec<OsString>; 2]>,
}

/// The first compiler with a sanitizer of numerics (Courbet, "NSan: a floating-point numerical sanitizer", 2021).
const NSAN_COMPILER: &str = "clang-19";

/// Compiles and prepares what a row needs; `None`, with a word on stderr, where this machine lacks it. `nsan`: and what is needed to
/// compare with NSan, of a row whose program is compiled for it.
pub fn commands(row: &Row, nsan: bool) -> Result<Option<Commands>, String> {
    let Some(mut head) = program(row, "gcc", &[])? else { return Ok(None) };
    let word = |w: &&str| -> Result<OsString, String> {
        match *w {
            "{gzip}" => Ok(input("gzip", 5 << 20)?.into()),
            "{xz}" => Ok(input("xz", 7 << 20)?.into()),
            plain => Ok(plain.into()),
        }
    };
    let mut start = head.clone();
    for arg in row.args {
        head.push(word(arg)?);
    }
    for arg in row.start {
        start.push(word(arg)?);
    }
    let mut sanitized = None;
    if nsan && matches!(row.program, Program::Guest(..)) {
        // NSan computes what is contracted as if it were not, and tells of the difference.
        const PLAIN: &str = "-ffp-contract=off";
        let with = |flags: &[&str]| -> Result<Option<Vec<OsString>>, String> {
            let program = program(row, NSAN_COMPILER, flags)?;
            Ok(program.map(|program| program.into_iter().chain(head[1..].iter().cloned()).collect()))
        };
        let both = [with(&[PLAIN])?, with(&[PLAIN, "-g", "-fsanitize=numerical"])?];
        sanitized = if let [Some(plain), Some(sanitized)] = both { Some([plain, sanitized]) } else { None };
    }
    Ok(Some(Commands { native: head, start, sanitized }))
}

/// The program of a row as `cc` compiles it, with these flags beside its own.
fn program(row: &Row, cc: &str, more: &[&str]) -> Result<Option<Vec<OsString>>, String> {
    let sources = host::tests_dir().join("guests/bench");
    let installed = |name: &str| {
        if host::find_program(name).is_none() {
            host::skipped(row.name, &format!("{name} is not installed"));
        }
        host::find_program(name).map(OsString::from)
    };
    match row.program {
        Program::Installed(name) => Ok(installed(name).map(|p| vec![p])),
        Program::Python(script) => {
            Ok(installed("/usr/bin/python3").map(|p| vec![p, sources.join(script).into()]))
        }
        Program::Guest(source, flags) => {
            let mut guest = Guest::read(&sources, &sources.join(source))?.ok_or("not a source")?;
            guest.spec.flags = flags[1..].iter().chain(more).map(|f| (*f).to_owned()).collect();
            guest.spec.libs = vec!["-lm".to_owned()];
            let link = guest.spec.link[0];
            match compile(&guest, &Variant { cc: cc.to_owned(), opt: flags[0].to_owned(), link })? {
                Compiled::Ready(exe) => Ok(Some(vec![exe.into()])),
                Compiled::NoCompiler(driver) => {
                    host::skipped(row.name, &format!("{driver} is not installed"));
                    Ok(None)
                }
            }
        }
    }
}

/// A text that compresses as text does, the same on every machine.
fn input(name: &str, size: usize) -> Result<PathBuf, String> {
    let path = host::target_dir().join("guests").join(format!("bench-input-{name}"));
    if path.metadata().is_ok_and(|m| m.len() == size as u64) {
        return Ok(path);
    }
    let mut state: u64 = 42;
    let mut text = Vec::with_capacity(size + 64);
    while text.len() < size {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (word, number) = ((state >> 40) % 4000, (state >> 52) % 100);
        text.extend_from_slice(format!("{:x} {number} ", word * word).as_bytes());
    }
    text.truncate(size);
    std::fs::create_dir_all(path.parent().expect("below target")).map_err(|e| e.to_string())?;
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

/// One pair: the row's figure under the tool, and under Valgrind if that is wanted, and the native run's use.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Pair {
    /// The resources of the native run.
    pub native: Usage,
    /// The resources of the run under the tool.
    pub tool: Usage,
    /// The row's figure for the tool.
    pub figure: f64,
    /// The row's figure for `valgrind --tool=none`.
    pub valgrind: Option<f64>,
    /// Ratio for NSan, to the native run of the program that the same compiler makes.
    pub nsan: Option<f64>,
}

/// Runs one pair of a row: native and under the tool; and with `others`, under Valgrind and with NSan.
pub fn pair(row: &Row, commands: &Commands, shadow: &str, others: [bool; 2]) -> Result<Pair, String> {
    let [valgrind, nsan] = others;
    let engine = Engine::from_env();
    let under = |command: &[OsString]| engine.command_for(shadow, row.options, command);
    let native = sample(row, commands, row.repeat, |c| c.to_vec())?;
    // Where one native run is too short, one under the tool is long enough; but milliseconds need all of them.
    let times = if row.figure == Figure::Milliseconds { row.repeat } else { 1 };
    let tool = sample(row, commands, times, under)?;
    let other = if valgrind { Some(sample(row, commands, 1, valgrind_command)?) } else { None };
    let native_usage = native.0;
    let nsan = match &commands.sanitized {
        Some([plain, sanitized]) if nsan => {
            // It is to go on after what it finds, as we do.
            let mut command: Vec<OsString> =
                ["env", "NSAN_OPTIONS=halt_on_error=0"].map(OsString::from).to_vec();
            command.extend(sanitized.iter().cloned());
            let [plain, sanitized] = [(measure(row.repeat, plain)?, None), (measure(1, &command)?, None)];
            Some(figure(row.figure, &plain, &sanitized))
        }
        _ => None,
    };
    Ok(Pair {
        native: native_usage,
        tool: tool.0,
        figure: figure(row.figure, &native, &tool),
        valgrind: other.map(|v| figure(row.figure, &native, &v)),
        nsan,
    })
}

fn valgrind_command(command: &[OsString]) -> Vec<OsString> {
    let mut all: Vec<OsString> = ["valgrind", "-q", "--tool=none"].map(OsString::from).to_vec();
    all.extend(command.iter().cloned());
    all
}

/// The use of the row's command and, where it is to be subtracted, of its trivial run.
type Sample = (Usage, Option<Usage>);

fn sample(
    row: &Row,
    commands: &Commands,
    times: u32,
    wrap: impl Fn(&[OsString]) -> Vec<OsString>,
) -> Result<Sample, String> {
    let usage = measure(times, &wrap(&commands.native))?;
    let subtract = matches!(row.figure, Figure::CpuWithoutStart | Figure::Nanoseconds(_));
    let start = if subtract { Some(measure(1, &wrap(&commands.start))?) } else { None };
    Ok((usage, start))
}

fn figure(figure: Figure, native: &Sample, other: &Sample) -> f64 {
    let steady = |s: &Sample| s.0.cpu - s.1.map_or(0.0, |start| start.cpu);
    match figure {
        Figure::Cpu | Figure::CpuWithoutStart => steady(other) / steady(native),
        Figure::Wall => other.0.wall / native.0.wall,
        Figure::Nanoseconds(operations) => (steady(other) - steady(native)) * 1e9 / operations as f64,
        Figure::Milliseconds => (other.0.cpu - native.0.cpu) * 1e3,
        Figure::Megabytes => (other.0.resident - native.0.resident) / f64::from(1 << 20),
    }
}

/// Runs both once and compares what they print: a fast run of something else would be no achievement.
pub fn check_output(row: &Row, commands: &Commands, shadow: &str) -> Result<(), String> {
    let output = |command: &[OsString]| {
        let output = Command::new(&command[0]).args(&command[1..]).stdin(Stdio::null()).output();
        output.map_err(|e| format!("{}: {e}", command[0].display()))
    };
    let native = output(&commands.native)?;
    let tool = output(&Engine::from_env().command_for(shadow, row.options, &commands.native))?;
    if native.status == tool.status && native.stdout == tool.stdout {
        return Ok(());
    }
    Err(format!(
        "prints something else under the tool ({}): {}",
        tool.status,
        String::from_utf8_lossy(&tool.stderr)
    ))
}
