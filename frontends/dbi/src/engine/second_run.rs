//! The second run of a program, in the process that stands by for it: what it was told of the first, the run itself, and the
//! comparison of what both have written.
//!
//! Standard input is given again: a file is read once more from where it stood, whatever else is what the first run has read.
//! What is written goes to files that are compared by their length and a hash, and removed. Knows nothing of reports.

use super::{descriptors, sys};
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::thread::JoinHandle;

/// Bytes of a packet, at most. The first says what it is.
pub(super) const PACKET: usize = 1 << 16;

/// The program has read this from standard input.
pub(super) const READ: u8 = b'i';
/// Bytes that it has written to standard output, or to standard error.
pub(super) const WRITTEN: u8 = b'o';
pub(super) const WRITTEN_AS_ERROR: u8 = b'e';
/// The program is to be run again.
pub(super) const GO: u8 = b'g';
/// Part of the report of the second run.
pub(super) const REPORT: u8 = b'r';
/// The second run has written the same as the first, or not; its processor time in seconds.
pub(super) const DONE_ALIKE: u8 = b'd';
const DONE_OTHERWISE: u8 = b'D';
/// There was no second run: why.
pub(super) const FAILED: u8 = b'x';

/// Bytes of standard input that are kept.
const KEPT: usize = 1 << 30;

/// Command of the second run.
#[derive(Clone, Debug)]
pub struct SecondRun {
    /// Options of the tool.
    pub options: Vec<OsString>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

impl SecondRun {
    /// The outputs that are named among these arguments, each as it was typed, in one word or two.
    pub fn outputs_in(arguments: &[OsString]) -> Vec<OsString> {
        let mut outputs = Vec::new();
        let mut typed = arguments.iter();
        while let Some(word) = typed.next() {
            match word.as_encoded_bytes().strip_prefix(b"--output") {
                Some([]) => {
                    outputs.push(word.clone());
                    outputs.extend(typed.next().cloned());
                }
                Some([b'=', ..]) => outputs.push(word.clone()),
                _ => {}
            }
        }
        outputs
    }
}

/// Standard input of the second run.
#[derive(Debug)]
pub(super) enum Input {
    /// Input of the process as it is: closed, or the null device.
    Own,
    /// The file that it is, from this offset on.
    File(u64),
    /// Bytes that the first run has read.
    Recorded(Vec<u8>),
}

impl Input {
    /// The stream that the second run is given.
    fn stream(&self) -> io::Result<Stdio> {
        Ok(match *self {
            Input::Own => Stdio::inherit(),
            Input::File(offset) => {
                let mut file = File::open(descriptors::path(libc::STDIN_FILENO))?;
                file.seek(SeekFrom::Start(offset))?;
                file.into()
            }
            Input::Recorded(_) => Stdio::piped(),
        })
    }

    /// Writes what was recorded into the `pipe` that the second run reads, in a thread of its own: the program need not read
    /// all of it.
    fn feed(self, pipe: Option<ChildStdin>) -> Option<JoinHandle<()>> {
        let (Some(mut pipe), Input::Recorded(bytes)) = (pipe, self) else { return None };
        Some(std::thread::spawn(move || drop(pipe.write_all(&bytes))))
    }

    /// Standard input of this process.
    pub(super) fn of_process() -> Input {
        const NULL_DEVICE: u64 = libc::makedev(1, 3);
        match std::fs::metadata(descriptors::path(libc::STDIN_FILENO)) {
            Ok(data) if data.is_file() => {
                Input::File(descriptors::offset(libc::STDIN_FILENO as u64).unwrap_or(0))
            }
            Ok(data) if !(data.file_type().is_char_device() && data.rdev() == NULL_DEVICE) => {
                Input::Recorded(Vec::new())
            }
            _ => Input::Own,
        }
    }
}

/// Facts about the first run.
pub(super) struct Record {
    input: Input,
    /// True if more was read than is kept.
    is_cut: bool,
    /// Digests of standard output and standard error.
    written: [Digest; 2],
    /// Standard error is the file that standard output is.
    errors_with_output: bool,
}

/// Length and hash of what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Digest {
    length: u64,
    hash: u64,
}

impl Digest {
    const EMPTY: Digest = Digest { length: 0, hash: 0xcbf2_9ce4_8422_2325 };

    /// Goes on with these bytes (Fowler, Noll and Vo's hash 1a of 64 bits).
    fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        self.hash = bytes.iter().fold(self.hash, step);
    }

    fn of(path: &Path) -> io::Result<Digest> {
        let (mut file, mut digest) = (File::open(path)?, Digest::EMPTY);
        let mut bytes = vec![0; PACKET];
        loop {
            match file.read(&mut bytes)? {
                0 => return Ok(digest),
                count => digest.add(&bytes[..count]),
            }
        }
    }
}

impl Record {
    /// Nothing is read or written yet. `errors_with_output`: standard error is the file that standard output is.
    pub(super) fn new(input: Input, errors_with_output: bool) -> Record {
        Record { input, is_cut: false, written: [Digest::EMPTY; 2], errors_with_output }
    }

    /// Notes a packet.
    fn note(&mut self, kind: u8, bytes: &[u8]) {
        match (kind, &mut self.input) {
            (READ, Input::Recorded(known)) if known.len() + bytes.len() <= KEPT => {
                known.extend_from_slice(bytes)
            }
            (READ, Input::Recorded(_)) => self.is_cut = true,
            (WRITTEN, _) => self.written[0].add(bytes),
            (WRITTEN_AS_ERROR, _) => self.written[1].add(bytes),
            _ => {}
        }
    }
}

/// Stands by until the program's processes have ended, or ask for the second run: makes it then.
pub(super) fn stand_by(socket: RawFd, command: &SecondRun, mut record: Record) -> ! {
    release_streams(matches!(record.input, Input::Recorded(_)));
    // SAFETY: nobody else knows the descriptor.
    let mut socket = unsafe { File::from_raw_fd(socket) };
    let mut packet = vec![0; PACKET];
    loop {
        match socket.read(&mut packet) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(1..) if packet[0] == GO => break,
            Ok(count @ 1..) => record.note(packet[0], &packet[1..count]),
            _ => sys::exit_group(0),
        }
    }
    answer(&mut socket, run(command, record));
    sys::exit_group(0)
}

/// Lets go of streams that others may be waiting for, and of signals that come of that.
fn release_streams(input: bool) {
    let Ok(null) = OpenOptions::new().read(true).write(true).open("/dev/null") else { return };
    let first = if input { libc::STDIN_FILENO } else { libc::STDOUT_FILENO };
    for stream in first..=libc::STDERR_FILENO {
        // SAFETY: the standard streams of this process are used by nobody but those it starts.
        unsafe { libc::dup2(null.as_raw_fd(), stream) };
    }
    // SAFETY: a pipe whose reader has gone is an error of writing, and no more.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// Outcome of the second run.
struct Outcome {
    report: Vec<u8>,
    same_output: bool,
    seconds: f64,
}

/// Sends the outcome; if nobody takes it, nobody wants it.
fn answer(socket: &mut File, outcome: Result<Outcome, String>) {
    let mut send = |kind: u8, bytes: &[u8]| socket.write_all(&[&[kind], bytes].concat());
    let _ = match outcome {
        Err(text) => send(FAILED, text.as_bytes()),
        Ok(Outcome { report, same_output, seconds }) => {
            report.chunks(PACKET - 1).try_for_each(|part| send(REPORT, part)).and_then(|()| {
                send(if same_output { DONE_ALIKE } else { DONE_OTHERWISE }, &seconds.to_le_bytes())
            })
        }
    };
}

fn run(command: &SecondRun, record: Record) -> Result<Outcome, String> {
    if record.is_cut {
        return Err("more than 1 GiB was read from standard input, and is not kept".to_owned());
    }
    let directory = std::env::temp_dir().join(format!("shadowgrind-second-{}", std::process::id()));
    let made = DirBuilder::new().mode(0o700).create(&directory);
    let outcome = made.and_then(|()| run_in(&directory, command, record));
    let _ = std::fs::remove_dir_all(&directory);
    outcome.map_err(|error| error.to_string())
}

/// Command of the second run, which writes its report to a file.
fn command(second: &SecondRun, report: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    let mut report_option = std::ffi::OsString::from("--report=json:");
    report_option.push(report);
    // Nobody reads messages of the second run.
    command.arg0("shadowgrind").args(&second.options).arg(report_option).arg("--messages=-1").arg("--");
    command.args(&second.command);
    command
}

/// Runs the program, with files for what it writes in `directory`.
fn run_in(directory: &Path, second: &SecondRun, record: Record) -> io::Result<Outcome> {
    let [report, output, errors] = ["report.json", "stdout", "stderr"].map(|name| directory.join(name));
    let file = |path: &PathBuf| OpenOptions::new().create(true).append(true).open(path);
    let mut command = command(second, &report);
    command.stdin(record.input.stream()?).stdout(file(&output)?);
    command.stderr(file(if record.errors_with_output { &output } else { &errors })?);
    let mut child = command.spawn()?;
    let feeder = record.input.feed(child.stdin.take());
    child.wait()?;
    drop(feeder.map(std::thread::JoinHandle::join));
    let mut digests = [Digest::of(&output)?, Digest::EMPTY];
    if !record.errors_with_output {
        digests[1] = Digest::of(&errors)?;
    }
    let report = std::fs::read(report).map_err(|_| io::Error::other("the second run has left no report"))?;
    let same_output = digests == record.written;
    Ok(Outcome { report, same_output, seconds: processor_time(libc::RUSAGE_CHILDREN) })
}

/// Processor time that this process has used, or its children that have ended, in seconds.
pub(super) fn processor_time(who: i32) -> f64 {
    // SAFETY: all zeros are a value of this structure of integers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let args = [who as u64, std::ptr::from_mut(&mut usage) as u64, 0, 0, 0, 0];
    // SAFETY: the kernel fills the structure.
    unsafe { sys::syscall(libc::SYS_getrusage as u64, args) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digests do not depend on the pieces; the value is the published one of "foobar".
    #[test]
    fn digests_of_pieces() {
        let (mut whole, mut parts) = (Digest::EMPTY, Digest::EMPTY);
        whole.add(b"foobar");
        b"foobar".chunks(4).for_each(|part| parts.add(part));
        assert_eq!((whole, parts.hash), (parts, 0x8594_4171_f739_67e8));
    }

    #[test]
    fn all_outputs_are_named_to_the_second_run() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let typed = words("--output=a --output=b --confirm --output c --report=html:f --output-array=g");
        assert_eq!(SecondRun::outputs_in(&typed), words("--output=a --output=b --output c"));
    }
}
