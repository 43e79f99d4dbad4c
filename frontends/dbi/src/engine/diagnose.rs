//! The engine's last words about itself: an internal error says what, where, and stops. It never carries on.

use super::descriptors::{self, Use};
use super::thread::Thread;
use super::{guest, sys};
use std::fmt::Write;

/// Exit status after an internal error.
const STATUS: i32 = 125;

impl Thread {
    /// Writes one line for the user.
    pub(crate) fn say(&self, line: &str) {
        say(self.descriptors.get(Use::Messages), line);
    }

    /// Terminal that messages go to.
    pub(crate) fn terminal(&self) -> Terminal {
        Terminal { descriptor: self.descriptors.get(Use::Messages), text: Vec::new() }
    }
}

/// Writes one line for the user to `descriptor`. Control characters, which names of files may have, are replaced: it is one
/// line, and does nothing to a terminal.
pub(crate) fn say(descriptor: i32, line: &str) {
    let visible = |c: char| if c.is_control() { c.escape_default().collect() } else { vec![c] };
    let line: String = line.chars().flat_map(visible).collect();
    sys::write_all(descriptor, format!("shadowgrind: {line}\n").as_bytes());
}

/// Destination of messages, as something to write to. Text comes out when it is flushed, in one piece: other processes
/// may write there as well.
pub(crate) struct Terminal {
    descriptor: i32,
    text: Vec<u8>,
}

impl std::io::Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        sys::write_all(self.descriptor, &std::mem::take(&mut self.text));
        Ok(())
    }
}

/// Text on the stack: a signal handler must not allocate.
struct Line {
    bytes: [u8; 512],
    len: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = self.bytes.len() - self.len;
        let n = text.len().min(room);
        self.bytes[self.len..self.len + n].copy_from_slice(&text.as_bytes()[..n]);
        self.len += n;
        Ok(())
    }
}

/// Makes a panic an internal error like the others.
pub(crate) fn install_panic_hook() {
    std::panic::set_hook(Box::new(|panic| {
        let line = format!("internal error: {panic}. Please report this with the program that shows it.");
        say(descriptors::of_process(Use::Messages), &line);
        sys::exit_group(STATUS)
    }));
}

/// A fault in the engine's own code. Called from the signal handler.
pub(crate) fn crash(thread: &Thread, signal: i32, host_pc: u64, address: u64) -> ! {
    let base = crash as *const () as u64;
    let mut line = Line { bytes: [0; 512], len: 0 };
    // Offsets from a known function survive address randomisation.
    let _ = writeln!(
        line,
        "shadowgrind: internal error: signal {signal} in the engine at crash{:+#x} accessing {address:#x}, guest \
         pc {:#x}. Please report this with the program that shows it.",
        thread.pc,
        host_pc.wrapping_sub(base) as i64
    );
    sys::write_all(thread.descriptors.get(Use::Messages), &line.bytes[..line.len]);
    sys::exit_group(STATUS)
}

/// An address in the code cache that belongs to no guest instruction.
pub(crate) fn lost(thread: &Thread, host_pc: u64) -> ! {
    fatal(thread, &format!("fault at {host_pc:#x} in the code cache, which belongs to no instruction"))
}

/// The engine's gigabyte does not hold even one block more.
pub(crate) fn out_of_code_space(thread: &Thread) -> ! {
    fatal(thread, "no space left for translated code")
}

/// Stops with a description of the guest's position.
pub(crate) fn fatal(thread: &Thread, what: &str) -> ! {
    let mut bytes = [0; 15];
    let readable = guest::read_some(thread.pc, &mut bytes);
    let place = describe(thread, thread.pc);
    thread.say(&format!(
        "internal error: {what}; guest pc {:#x} ({place}), bytes {:02x?}. Please report this with the program \
         that shows it.",
        thread.pc,
        &bytes[..readable]
    ));
    sys::exit_group(STATUS)
}

/// Module and offset of a guest address, as far as the kernel's map tells.
fn describe(thread: &Thread, pc: u64) -> String {
    let maps = std::fs::read("/proc/self/maps").unwrap_or_default();
    let maps = String::from_utf8_lossy(&maps);
    for line in maps.lines() {
        let Some((start, rest)) = line.split_once('-') else { continue };
        let Some((end, rest)) = rest.split_once(' ') else { continue };
        let (Ok(start), Ok(end)) = (u64::from_str_radix(start, 16), u64::from_str_radix(end, 16)) else {
            continue;
        };
        if start <= pc && pc < end {
            // Access, offset, device, inode; then the path, which may have blanks.
            let path = rest.splitn(5, ' ').last().unwrap_or_default().trim_start();
            return format!("{}+{:#x}", if path.is_empty() { "anonymous memory" } else { path }, pc - start);
        }
    }
    format!("unmapped, program {}", thread.process.path.display())
}
