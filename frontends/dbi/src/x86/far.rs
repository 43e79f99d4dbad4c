//! Rip-relative operands that the code cache cannot reach: the address goes through a scratch register.
//!
//! Rare by the address layout's design: the guest's vDSO data and code in high JIT regions. Chooses registers and
//! re-encodes; does not emit the spill.

use super::asm::Gpr;
use iced_x86::{Encoder, Instruction, InstructionInfoFactory, Register};

/// Candidates for a scratch register: those that need no REX prefix, which `ah` … `dh` operands could not stand.
const CANDIDATES: [(Register, Gpr); 6] = [
    (Register::RAX, 0),
    (Register::RCX, 1),
    (Register::RDX, 2),
    (Register::RBX, 3),
    (Register::RSI, 6),
    (Register::RDI, 7),
];

/// A register that `insn` neither reads nor writes.
///
/// # Panics
/// When there is none: no x86 instruction with a memory operand names all six.
pub(crate) fn scratch(insn: &Instruction, facts: &mut InstructionInfoFactory) -> (Register, Gpr) {
    first_free(insn, facts, CANDIDATES, |_| true)
}

/// A register that `insn` neither reads nor writes, other than `taken`; rcx if it will do.
///
/// # Panics
/// When there is none: no instruction with floats as operands names five.
pub(crate) fn scratch_but(
    insn: &Instruction,
    taken: &[Option<Gpr>],
    facts: &mut InstructionInfoFactory,
) -> Gpr {
    let mut candidates = CANDIDATES;
    candidates.swap(0, 1);
    first_free(insn, facts, candidates, |gpr| !taken.contains(&Some(gpr))).1
}

fn first_free(
    insn: &Instruction,
    facts: &mut InstructionInfoFactory,
    candidates: [(Register, Gpr); 6],
    will_do: impl Fn(Gpr) -> bool,
) -> (Register, Gpr) {
    let used = facts.info(insn).used_registers();
    let is_used = |register| used.iter().any(|used| used.register().full_register() == register);
    let found = candidates.into_iter().find(|&(register, gpr)| will_do(gpr) && !is_used(register));
    found.expect("an instruction leaves one of six registers alone")
}

/// `insn` with its memory operand replaced by `[base]`, encoded.
pub(crate) fn with_base(insn: &Instruction, base: Register, encoder: &mut Encoder, at: u64) -> Vec<u8> {
    let mut changed = *insn;
    changed.set_memory_base(base);
    changed.set_memory_displacement64(0);
    changed.set_memory_displ_size(0);
    encode(&changed, encoder, at)
}

/// The encoding of `insn` for address `at`.
///
/// # Panics
/// When it has none: callers only ask for variations of instructions that were decoded.
pub(crate) fn encode(insn: &Instruction, encoder: &mut Encoder, at: u64) -> Vec<u8> {
    if let Err(error) = encoder.encode(insn, at) {
        panic!("re-encoding {insn:?} at {at:#x}: {error}");
    }
    encoder.take_buffer()
}
