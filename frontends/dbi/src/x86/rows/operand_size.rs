//! Operand sizes that only an instruction's code tells: those of frames, of far returns, and of images of floating-point state.
//!
//! The decoder has them too, among descriptions of all instructions. These take a millisecond and a megabyte to make when the
//! first one is asked for, which is a seventh of the time in which a short program runs.

use iced_x86::Code;

/// Operand size of `code` in bits: 16, 32 or 64. For instructions that make or leave a frame, far returns, and those that store or
/// load images of floating-point state.
pub(crate) fn operand_bits(code: Code) -> u32 {
    use Code::*;
    match code {
        Leavew | Enterw_imm16_imm8 | Retfw | Retfw_imm16 => 16,
        Fnstenv_m14byte | Fstenv_m14byte | Fldenv_m14byte => 16,
        Fnsave_m94byte | Fsave_m94byte | Frstor_m94byte => 16,
        Leaveq | Enterq_imm16_imm8 | Retfq | Retfq_imm16 => 64,
        Fxsave64_m512byte | Fxrstor64_m512byte => 64,
        Xsave64_mem | Xsaveopt64_mem | Xsavec64_mem | Xsaves64_mem | Xrstor64_mem | Xrstors64_mem => 64,
        _ => 32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::Mnemonic;

    /// The decoder's operand sizes; it gives none to images of which there is one form only.
    #[test]
    fn operand_sizes_are_those_of_the_decoder() {
        use Mnemonic::*;
        let asked = [
            Leave, Enter, Retf, Fnstenv, Fstenv, Fldenv, Fnsave, Fsave, Frstor, Fxsave, Fxsave64, Fxrstor,
            Fxrstor64, Xsave, Xsave64, Xsaveopt, Xsaveopt64, Xsavec, Xsavec64, Xsaves, Xsaves64, Xrstor,
            Xrstor64, Xrstors, Xrstors64,
        ];
        let mut count = 0;
        for code in Code::values().filter(|code| code.op_code().mode64() && asked.contains(&code.mnemonic()))
        {
            let size = code.op_code().operand_size();
            assert_eq!(operand_bits(code), if size == 0 { 32 } else { size }, "{code:?}");
            count += 1;
        }
        assert!(count >= asked.len());
    }
}
