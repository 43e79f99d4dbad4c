//! A process that stands by from before the program's first instruction, as the user had started the tool: it can run the
//! program again when that has ended.
//!
//! It is no child of the program's process, so that the program waits for none that it has not made. Over a socket it is told
//! what the program reads from its standard input and writes to its standard output and error, whichever process of the tree
//! does so and by whichever descriptor; at the end it is asked for the second run ([`super::second_run`]).

use super::descriptors::{self, Use};
use super::second_run::{self, Input, Record, SecondRun, processor_time};
use super::{guest, sys};
use std::ffi::CString;
use std::os::fd::RawFd;
use std::str::FromStr;
use std::sync::OnceLock;

/// Device and number of a file.
type Identity = (u64, u64);

/// The files that standard input, output and error are when the tool starts; nothing for those that are closed.
type Streams = [Option<Identity>; 3];

/// Files that standard streams are when the tool starts; set if somebody stands by.
static STREAMS: OnceLock<Streams> = OnceLock::new();

/// The process that stands by, as the tool is told of it when a program of the tree executes another: `900:5:7:5:8:5:8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandBy {
    socket: RawFd,
    streams: Streams,
}

impl FromStr for StandBy {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<StandBy, Self::Err> {
        let numbers: Result<Vec<u64>, _> = text.split(':').map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[socket, a, b, c, d, e, f]) => {
                let stream = |a, b| Some((a, b)).filter(|&identity| identity != CLOSED);
                Ok(StandBy { socket: socket as RawFd, streams: [stream(a, b), stream(c, d), stream(e, f)] })
            }
            _ => Err("expected seven numbers"),
        }
    }
}

/// Device and number that no file has.
const CLOSED: Identity = (0, 0);

/// Option that tells the tool of the process that stands by, if `socket` is open.
pub(super) fn argument(socket: RawFd) -> Option<CString> {
    let streams = STREAMS.get().filter(|_| socket != descriptors::CLOSED)?;
    let streams =
        streams.map(|stream| stream.unwrap_or(CLOSED)).map(|(device, file)| format!(":{device}:{file}"));
    CString::new(format!("--stand-by={socket}{}", streams.concat())).ok()
}

impl StandBy {
    /// Starts the process. Called before there is any other thread.
    pub(super) fn begin(command: &SecondRun) -> std::io::Result<StandBy> {
        let streams = [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO].map(identity);
        let mut pair = [0; 2];
        // SAFETY: the array has room for the two descriptors.
        let failed = unsafe {
            libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, pair.as_mut_ptr())
        };
        if failed != 0 {
            return Err(std::io::Error::last_os_error());
        }
        let [own, other] = pair;
        // SAFETY: there is one thread, which goes on in both processes.
        match unsafe { libc::fork() } {
            -1 => return Err(std::io::Error::last_os_error()),
            // SAFETY: as above; whoever made this process waits for its end only.
            0 => match unsafe { libc::fork() } {
                0 => {
                    descriptors::close(own);
                    let errors_with_output = streams[1].is_some() && streams[1] == streams[2];
                    second_run::stand_by(other, command, Record::new(Input::of_process(), errors_with_output))
                }
                _ => sys::exit_group(0),
            },
            child => {
                let mut status = 0;
                // SAFETY: waits for the child that was just made.
                unsafe { libc::waitpid(child, &raw mut status, 0) };
            }
        }
        descriptors::close(other);
        let socket = descriptors::duplicate(own, true).map_err(std::io::Error::from_raw_os_error);
        descriptors::close(own);
        Ok(StandBy { socket: socket?, streams })
    }

    /// The process that stands by is this one from now on; its socket.
    pub(super) fn make_that_of_process(self) -> RawFd {
        let _ = STREAMS.set(self.streams);
        self.socket
    }
}

/// The file that `descriptor` is open for.
fn identity(descriptor: RawFd) -> Option<Identity> {
    // SAFETY: all zeros are a value of this structure of integers.
    let mut data: libc::stat = unsafe { std::mem::zeroed() };
    let args = [descriptor as u64, std::ptr::from_mut(&mut data) as u64, 0, 0, 0, 0];
    // SAFETY: the kernel fills the structure.
    sys::check(unsafe { sys::syscall(libc::SYS_fstat as u64, args) }).ok()?;
    Some((data.st_dev, data.st_ino))
}

/// Passes on what the program has read from `descriptor`, in pieces of address and length, if that is its standard input.
pub(super) fn note_read(descriptor: RawFd, pieces: &[(u64, u64)]) {
    let Some(streams) = STREAMS.get() else { return };
    if streams[0].is_some() && streams[0] == identity(descriptor) {
        pieces.iter().for_each(|&piece| pass_on(second_run::READ, piece));
    }
}

/// Passes on what the program has written to `descriptor`, in pieces of address and length, if that is its standard output or
/// error.
pub(super) fn note_written(descriptor: RawFd, pieces: &[(u64, u64)]) {
    let Some(streams) = STREAMS.get() else { return };
    let written = identity(descriptor);
    match [1, 2].iter().find(|&&stream| written.is_some() && streams[stream] == written) {
        Some(1) => pieces.iter().for_each(|&piece| pass_on(second_run::WRITTEN, piece)),
        Some(_) => pieces.iter().for_each(|&piece| pass_on(second_run::WRITTEN_AS_ERROR, piece)),
        None => {}
    }
}

/// Tells whether somebody stands by.
pub(super) fn is_there() -> bool {
    STREAMS.get().is_some()
}

fn pass_on(kind: u8, (mut address, mut left): (u64, u64)) {
    let mut packet = vec![kind];
    while left > 0 {
        let len = left.min(second_run::PACKET as u64 - 1);
        packet.resize(1 + len as usize, 0);
        let known = guest::read_some(address, &mut packet[1..]);
        if known == 0 || !send(&packet[..=known]) {
            return;
        }
        (address, left) = (address + known as u64, left - known as u64);
    }
}

/// Sends a packet; false if nobody is there to take it.
fn send(packet: &[u8]) -> bool {
    let socket = descriptors::of_process(Use::StandBy) as u64;
    let args = [socket, packet.as_ptr() as u64, packet.len() as u64, libc::MSG_NOSIGNAL as u64, 0, 0];
    loop {
        // SAFETY: the kernel reads the packet.
        match sys::check(unsafe { sys::syscall(libc::SYS_sendto as u64, args) }) {
            Err(libc::EINTR | libc::EAGAIN) => {}
            sent => return sent.is_ok(),
        }
    }
}

/// A packet that was sent here; none if nobody is there any more.
fn receive(packet: &mut [u8]) -> Option<&[u8]> {
    let socket = descriptors::of_process(Use::StandBy) as u64;
    let args = [socket, packet.as_mut_ptr() as u64, packet.len() as u64, 0, 0, 0];
    loop {
        // SAFETY: the kernel writes into the packet, no further than to its end.
        match sys::check(unsafe { sys::syscall(libc::SYS_recvfrom as u64, args) }) {
            Err(libc::EINTR | libc::EAGAIN) => {}
            Ok(bytes @ 1..) => return Some(&packet[..bytes as usize]),
            _ => return None,
        }
    }
}

/// Outcome of a second run.
#[derive(Clone, Debug)]
pub(crate) struct Again {
    /// Processor time of the first run and of the second, in seconds.
    pub(crate) seconds: [f64; 2],
    /// True if both have written the same to standard output and standard error, as far as that was seen.
    pub(crate) same_output: bool,
    /// The JSON report of the second run.
    pub(crate) report: Vec<u8>,
}

/// Has the program run again, and waits for its end; the error is a line for people.
pub(crate) fn run_again() -> Result<Again, String> {
    const GONE: &str = "the process that was to run it again is gone";
    let first_s = processor_time(libc::RUSAGE_SELF) + processor_time(libc::RUSAGE_CHILDREN);
    if !is_there() || !send(&[second_run::GO]) {
        return Err(GONE.to_owned());
    }
    let mut packet = vec![0; second_run::PACKET];
    let mut again = Again { seconds: [first_s, 0.0], same_output: true, report: Vec::new() };
    let mut is_done = false;
    while let Some(received) = receive(&mut packet) {
        let (kind, bytes) = (received[0], &received[1..]);
        match kind {
            second_run::FAILED => return Err(String::from_utf8_lossy(bytes).into_owned()),
            second_run::REPORT => again.report.extend_from_slice(bytes),
            _ => {
                is_done = true;
                again.same_output = kind == second_run::DONE_ALIKE;
                let seconds = bytes.first_chunk().map(|bytes| f64::from_le_bytes(*bytes));
                again.seconds[1] = seconds.unwrap_or(0.0);
            }
        }
    }
    if is_done { Ok(again) } else { Err(GONE.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stands_by_is_told_in_one_word() {
        let stand_by: StandBy = "900:5:7:0:0:5:8".parse().unwrap();
        assert_eq!(stand_by, StandBy { socket: 900, streams: [Some((5, 7)), None, Some((5, 8))] });
        for wrong in ["", "900", "900:1:2:3:4:5", "900:1:2:3:4:5:x"] {
            assert!(wrong.parse::<StandBy>().is_err(), "{wrong}");
        }
    }
}
