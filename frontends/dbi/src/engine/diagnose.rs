//! The engine's last words about itself: an internal error says what, where, and stops. It never carries on.

use super::thread::Thread;
use super::{guest, sys};
use std::fmt::Write;

/// Exit status after an internal error.
const STATUS: i32 = 125;
/// Where messages go; survives the guest closing its standard streams.
static STDERR: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(2);

/// Tells which descriptor to write messages to.
pub(crate) fn set_stderr(fd: i32) {
    STDERR.store(fd, std::sync::atomic::Ordering::Relaxed);
}

/// Writes one line for the user.
pub(crate) fn say(line: &str) {
    sys::write_all(
        STDERR.load(std::sync::atomic::Ordering::Relaxed),
        format!("shadowgrind: {line}\n").as_bytes(),
    );
}

/// Where messages go, as something to write to.
pub(crate) struct Terminal;

impl std::io::Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        sys::write_all(STDERR.load(std::sync::atomic::Ordering::Relaxed), bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
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
        say(&format!("internal error: {panic}. Please report this with the program that shows it."));
        sys::exit_group(STATUS)
    }));
}

/// A fault in the engine's own code. Called from the signal handler.
pub(crate) fn crash(signal: i32, host_pc: u64, address: u64, guest_pc: u64) -> ! {
    let base = crash as *const () as u64;
    let mut line = Line { bytes: [0; 512], len: 0 };
    // Offsets from a known function survive address randomisation.
    let _ = writeln!(
        line,
        "shadowgrind: internal error: signal {signal} in the engine at crash{:+#x} accessing {address:#x}, guest \
         pc {guest_pc:#x}. Please report this with the program that shows it.",
        host_pc.wrapping_sub(base) as i64
    );
    sys::write_all(STDERR.load(std::sync::atomic::Ordering::Relaxed), &line.bytes[..line.len]);
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
    say(&format!(
        "internal error: {what}; guest pc {:#x} ({place}), bytes {:02x?}. Please report this with the program \
         that shows it.",
        thread.pc,
        &bytes[..readable]
    ));
    sys::exit_group(STATUS)
}

/// Module and offset of a guest address, as far as the kernel's map tells.
fn describe(thread: &Thread, pc: u64) -> String {
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return "unknown module".into() };
    for line in maps.lines() {
        let mut fields = line.split_whitespace();
        let Some((start, end)) = fields.next().and_then(|range| range.split_once('-')) else { continue };
        let (Ok(start), Ok(end)) = (u64::from_str_radix(start, 16), u64::from_str_radix(end, 16)) else {
            continue;
        };
        if start <= pc && pc < end {
            let path = fields.nth(4).unwrap_or("anonymous memory");
            return format!("{path}+{:#x}", pc - start);
        }
    }
    format!("unmapped, program {}", thread.process.path.display())
}
