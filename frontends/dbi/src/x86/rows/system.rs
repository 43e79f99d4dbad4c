//! Rows of instructions whose effect reaches beyond the guest's registers and memory, or that would see the engine: it carries
//! them out itself. Encodings are the decoder's knowledge.

use iced_x86::{Instruction, Mnemonic, OpKind};

/// Instruction that the engine carries out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    /// A system call.
    Call,
    /// A system call of 32-bit programs.
    Call32,
    /// Says what the processor has.
    Cpuid,
    /// Reads an extended control register.
    Xgetbv,
    /// Begins a transaction.
    Transaction,
    /// Returns from an interrupt, with a frame of 64-bit words.
    InterruptReturn,
    /// Returns to another code segment.
    FarReturn,
    /// Jumps to a code segment and an offset in memory.
    FarJump,
    /// A far call.
    FarCall,
    /// Faults in user mode on 64-bit Linux.
    Privileged,
}

/// Number of the interrupt by which 32-bit programs make system calls.
const LINUX: u8 = 0x80;

/// The row of `insn`, if the engine carries it out.
pub(crate) fn system(insn: &Instruction) -> Option<System> {
    use Mnemonic::*;
    let is_far =
        || insn.op0_kind() == OpKind::Memory && (insn.is_jmp_far_indirect() || insn.is_call_far_indirect());
    Some(match insn.mnemonic() {
        Syscall => System::Call,
        Int if insn.immediate8() == LINUX => System::Call32,
        Cpuid => System::Cpuid,
        Xgetbv => System::Xgetbv,
        Xbegin => System::Transaction,
        Iretq => System::InterruptReturn,
        Retf => System::FarReturn,
        Jmp if is_far() => System::FarJump,
        Call if is_far() => System::FarCall,
        Sysenter | Iret | Iretd | Sysret | Sysretq | Sysexit | Sysexitq => System::Privileged,
        _ => return None,
    })
}

/// Numbers of the general registers that the engine gives results in where it carries `insn` out: of others, what they had stays.
pub(crate) fn results(insn: &Instruction) -> &'static [u8] {
    const RAX: u8 = 0;
    const RCX: u8 = 1;
    const RDX: u8 = 2;
    const RBX: u8 = 3;
    const R11: u8 = 11;
    match system(insn) {
        Some(System::Call) => &[RAX, RCX, R11],
        Some(System::Xgetbv) => &[RAX, RDX],
        Some(System::Cpuid) => &[RAX, RCX, RDX, RBX],
        _ => &[RAX, RCX, RDX, RBX, R11],
    }
}

/// Tells whether `insn` reads or writes the base of GS by its name.
pub(crate) fn names_gs_base(insn: &Instruction) -> bool {
    matches!(insn.mnemonic(), Mnemonic::Rdgsbase | Mnemonic::Wrgsbase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn decoded(bytes: &[u8]) -> Instruction {
        Decoder::with_ip(64, bytes, 0x1000, DecoderOptions::NONE).decode()
    }

    #[test]
    fn far_transfers_are_told_from_near_ones() {
        // jmp far [rax]; jmp [rax]; call far [rax]; call [rax]; retf; ret
        assert_eq!(system(&decoded(b"\xff\x28")), Some(System::FarJump));
        assert_eq!(system(&decoded(b"\xff\x20")), None);
        assert_eq!(system(&decoded(b"\xff\x18")), Some(System::FarCall));
        assert_eq!(system(&decoded(b"\xff\x10")), None);
        assert_eq!(system(&decoded(b"\xcb")), Some(System::FarReturn));
        assert_eq!(system(&decoded(b"\xc3")), None);
        // int 0x80; int 0x21
        assert_eq!(system(&decoded(b"\xcd\x80")), Some(System::Call32));
        assert_eq!(system(&decoded(b"\xcd\x21")), None);
    }
}
