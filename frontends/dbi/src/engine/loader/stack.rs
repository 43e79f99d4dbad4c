//! The initial stack of a program: arguments, environment and auxiliary vector, as the kernel lays them out.

use super::{Arguments, LoadError, Mapped, Vdso};
use crate::engine::elf::Image;
use crate::engine::guest;
use crate::engine::layout::PAGE;
use std::ffi::CString;

/// Sources of the auxiliary vector.
pub(super) struct Auxv<'a> {
    pub(super) image: &'a Image,
    pub(super) program: &'a Mapped,
    pub(super) interpreter: Option<&'a Mapped>,
    pub(super) vdso: Vdso,
}

impl Auxv<'_> {
    /// The auxiliary vector, in the kernel's order, given the addresses of the strings it points to.
    fn entries(&self, platform: u64, random: u64, filename: u64) -> Vec<(u64, u64)> {
        const AT_MINSIGSTKSZ: u64 = 51;
        // The C library puts values of its own in place of some of the kernel's, so that its getauxval will not do.
        let own = std::fs::read("/proc/self/auxv").unwrap_or_default();
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
        let host = |kind: u64| {
            let pair = own.chunks_exact(16).find(|pair| word(&pair[..8]) == kind);
            (kind, pair.map_or(0, |pair| word(&pair[8..])))
        };
        let mut entries = Vec::new();
        if self.vdso.start != 0 {
            entries.push((libc::AT_SYSINFO_EHDR, self.vdso.start));
        }
        entries.extend([
            host(AT_MINSIGSTKSZ),
            host(libc::AT_HWCAP),
            (libc::AT_PAGESZ, PAGE),
            host(libc::AT_CLKTCK),
            (libc::AT_PHDR, self.program.headers),
            (libc::AT_PHENT, u64::from(self.image.header_size)),
            (libc::AT_PHNUM, u64::from(self.image.header_count)),
            (libc::AT_BASE, self.interpreter.map_or(0, |i| i.bias)),
            (libc::AT_FLAGS, 0),
            (libc::AT_ENTRY, self.program.entry),
            host(libc::AT_UID),
            host(libc::AT_EUID),
            host(libc::AT_GID),
            host(libc::AT_EGID),
            (libc::AT_SECURE, 0),
            (libc::AT_RANDOM, random),
            host(libc::AT_HWCAP2),
            (libc::AT_EXECFN, filename),
            (libc::AT_PLATFORM, platform),
            (libc::AT_NULL, 0),
        ]);
        entries
    }
}

/// Builds the initial stack of the System V ABI (x86-64 psABI 3.4.1) and returns the stack pointer and the range of
/// the auxiliary vector. Strings are laid out as the kernel does, arguments and environment contiguous: programs that
/// retitle themselves rely on it.
pub(super) fn build_stack(
    stack: (u64, u64),
    arguments: &Arguments,
    auxv: &Auxv<'_>,
) -> Result<(u64, (u64, u64)), LoadError> {
    let mut top = Strings { next: stack.1 - 8, low: stack.0 + (128 << 10) };
    let filename = top.push(arguments.filename.as_bytes_with_nul())?;
    let environment = top.push_all(&arguments.environment)?;
    let argv = top.push_all(&arguments.argv)?;
    let platform = top.push(b"x86_64\0")?;
    top.next = (top.next - 16) & !15;
    let random = top.push(&random_bytes())?;

    let mut words = vec![argv.len() as u64];
    words.extend(&argv);
    words.push(0);
    words.extend(&environment);
    words.push(0);
    let auxv_index = words.len() as u64;
    words
        .extend(auxv.entries(platform, random, filename).into_iter().flat_map(|(kind, value)| [kind, value]));
    let stack_pointer = (top.next - 8 * words.len() as u64) & !15;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    guest::write_bytes(stack_pointer, &bytes).map_err(|_| LoadError::TooLong)?;
    Ok((stack_pointer, (stack_pointer + 8 * auxv_index, stack_pointer + bytes.len() as u64)))
}

/// Strings pushed downwards onto the initial stack.
struct Strings {
    next: u64,
    low: u64,
}

impl Strings {
    fn push(&mut self, bytes: &[u8]) -> Result<u64, LoadError> {
        let at = self
            .next
            .checked_sub(bytes.len() as u64)
            .filter(|&at| at >= self.low)
            .ok_or(LoadError::TooLong)?;
        guest::write_bytes(at, bytes).map_err(|_| LoadError::TooLong)?;
        self.next = at;
        Ok(at)
    }

    /// Pushes strings so that the first has the lowest address; returns their addresses in order.
    fn push_all(&mut self, strings: &[CString]) -> Result<Vec<u64>, LoadError> {
        let mut at: Vec<u64> =
            strings.iter().rev().map(|s| self.push(s.as_bytes_with_nul())).collect::<Result<_, _>>()?;
        at.reverse();
        Ok(at)
    }
}

fn random_bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    // SAFETY: the buffer is valid for its length. On failure the bytes stay zero, which is as good as any.
    unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    bytes
}
