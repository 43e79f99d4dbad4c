//! The rows of TABLE 2, by family, and the one question asked of them: which row an instruction has.
//!
//! A mnemonic without a row touches general registers and memory only and has [`Row::Integer`] by default; whatever
//! touches vector, MMX or x87 registers has a row of its own (a test walks all codes). AVX-512 forms share the rows of
//! their VEX forms; those without one, and foreign extensions, are named gaps by encoding.

mod float;
mod fused;
mod general;
mod moves;
mod operand_size;
mod system;
mod vector_integer;
mod x87;

pub(crate) use float::makes_wide_integers;
pub(crate) use moves::{Halves, beside, inserted, lane_name, moves_halves, moves_parts};
pub(crate) use operand_size::operand_bits;
pub(crate) use system::{System, names_gs_base, results, system};

use super::table::{General, Moved, Row};
use iced_x86::{Code, CpuidFeature, EncodingKind, Instruction, Mnemonic, OpKind, Register};
use std::sync::LazyLock;

/// Makes `row`, which finds a mnemonic's row, from lines `Mnemonic Mnemonic … => row;`.
macro_rules! rows {
    ($($($mnemonic:ident)+ => $row:expr;)+) => {
        pub(super) fn row(mnemonic: iced_x86::Mnemonic) -> Option<$crate::x86::table::Row> {
            Some(match mnemonic {
                $($(iced_x86::Mnemonic::$mnemonic)|+ => $row,)+
                _ => return None,
            })
        }
    };
}
use rows;

/// The row of `insn`.
pub(crate) fn row(insn: &Instruction) -> Row {
    let (code, mnemonic) = (insn.code(), insn.mnemonic());
    match mnemonic {
        // Names that strings and vectors share.
        Mnemonic::Movsd | Mnemonic::Cmpsd if insn.is_string_instruction() => {
            return general::string_row(mnemonic);
        }
        _ if computes_address(insn) => return general::address_row(insn),
        Mnemonic::Imul => return general::product_row(insn),
        _ => {}
    }
    BY_CODE[code as usize].unwrap_or(Row::Integer)
}

/// The general register of which nothing is a float once `insn` has written `written`, all of it or a part. What has no row of its
/// own makes an integer: where that is a byte, as a condition is, the program uses the byte alone or masks the rest away, and what
/// was beside it in the register has been used up.
pub(crate) fn no_float_after(insn: &Instruction, written: Register) -> Register {
    let is_integer = written.is_gpr() && row(insn) == Row::Integer;
    if is_integer { written.full_register() } else { written }
}

/// Rows by code: each instruction that is translated is asked for its own several times. Made when the first block is, while the
/// process has one thread.
static BY_CODE: LazyLock<Vec<Option<Row>>> = LazyLock::new(|| Code::values().map(listed).collect());

/// The row of instructions with this code, if there is one.
fn listed(code: Code) -> Option<Row> {
    of_code(code).or_else(|| of_mnemonic(code.mnemonic())).or_else(|| gap(code))
}

/// Tells whether `insn` computes the address of a memory operand, and does not go there.
pub(crate) fn computes_address(insn: &Instruction) -> bool {
    insn.mnemonic() == Mnemonic::Lea
}

/// Tells whether the result of `insn` is zero, whatever was in the register that it names twice: x ⊕ x and its kin.
pub(crate) fn clears(insn: &Instruction) -> bool {
    let by = match row(insn) {
        Row::General(General::Bits(by)) | Row::Logic(by, _) | Row::Trick(by, _) => by,
        _ => return false,
    };
    let last = insn.op_count() - 1;
    let is_register = |operand| insn.op_kind(operand) == OpKind::Register;
    by.clears_equals()
        && last > 0
        && [last - 1, last].into_iter().all(is_register)
        && insn.op_register(last - 1) == insn.op_register(last)
}

/// Tells whether `insn` does nothing with the memory that it names but compute its address, or ask for it early. What fills the
/// space before a loop names some, too.
pub(crate) fn only_names_memory(insn: &Instruction) -> bool {
    computes_address(insn) || row(insn) == Row::Hint
}

/// Tells whether `insn` may go on with what it finds in the memory that it names: it does not only store there, compare what is there, or
/// change it as an integer.
pub(crate) fn may_look_up(insn: &Instruction) -> bool {
    let is_stored = insn.op_count() > 0 && insn.op0_kind() == OpKind::Memory;
    match row(insn) {
        Row::Flags(_) => false,
        Row::Move(..) | Row::General(General::Move | General::Bits(_) | General::Not) => !is_stored,
        _ => !only_names_memory(insn),
    }
}

/// Rows of single codes whose mnemonic means something else as a rule: permutations by a vector of indices.
fn of_code(code: Code) -> Option<Row> {
    let by_first_source = Row::Move(Moved::Rearranged, 1 << 1);
    match code {
        Code::EVEX_Vpermq_ymm_k1z_ymm_ymmm256b64
        | Code::EVEX_Vpermq_zmm_k1z_zmm_zmmm512b64
        | Code::EVEX_Vpermpd_ymm_k1z_ymm_ymmm256b64
        | Code::EVEX_Vpermpd_zmm_k1z_zmm_zmmm512b64 => Some(by_first_source),
        _ => None,
    }
}

fn of_mnemonic(mnemonic: Mnemonic) -> Option<Row> {
    float::row(mnemonic)
        .or_else(|| fused::row(mnemonic))
        .or_else(|| moves::row(mnemonic))
        .or_else(|| vector_integer::row(mnemonic))
        .or_else(|| x87::row(mnemonic))
        .or_else(|| general::row(mnemonic))
}

/// Row of a code that is not supported as a whole.
fn gap(code: Code) -> Option<Row> {
    use CpuidFeature::{AMX_BF16, AMX_COMPLEX, AMX_FP16, AMX_INT8, AMX_TILE, XOP};
    let is_of = |features: &[CpuidFeature]| code.cpuid_features().iter().any(|f| features.contains(f));
    Some(Row::Gap(match code.encoding() {
        EncodingKind::EVEX => "AVX-512",
        EncodingKind::XOP if is_of(&[XOP]) => "XOP",
        EncodingKind::D3NOW => "3DNow!",
        EncodingKind::MVEX => "Knights Corner",
        EncodingKind::VEX if is_of(&[AMX_TILE, AMX_INT8, AMX_BF16, AMX_FP16, AMX_COMPLEX]) => "AMX",
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::CpuidFeature;

    fn of(code: Code) -> Instruction {
        let mut insn = Instruction::new();
        insn.set_code(code);
        insn
    }

    /// Tells whether the code names, or implies, a register that can hold floats and is no general one.
    fn concerns_floats(code: Code) -> bool {
        let named = code.op_code().op_kinds().iter().any(|kind| {
            let name = format!("{kind:?}");
            let vector = ["xmm", "ymm", "zmm", "tmm", "mm_", "st0", "sti", "vsib"];
            vector.iter().any(|part| name.contains(part)) && !name.starts_with("imm")
        });
        let insn = of(code);
        let x87 = [CpuidFeature::FPU, CpuidFeature::FPU287, CpuidFeature::FPU387];
        named || insn.cpuid_features().iter().any(|feature| x87.contains(feature))
    }

    #[test]
    fn every_code_that_can_concern_floats_has_a_row_or_is_a_named_gap() {
        let missing: Vec<Code> = Code::values()
            .filter(|code| code.op_code().is_instruction() && code.op_code().mode64())
            .filter(|&code| concerns_floats(code) && listed(code).is_none())
            .collect();
        assert_eq!(missing, []);
    }

    #[test]
    fn no_float_instruction_of_a_supported_extension_is_a_gap() {
        use CpuidFeature::*;
        let supported = [
            FPU,
            FPU287,
            FPU387,
            MMX,
            SSE,
            SSE2,
            SSE3,
            SSSE3,
            SSE4_1,
            SSE4_2,
            AVX,
            AVX2,
            FMA,
            FMA4,
            F16C,
            CMOV,
            CX8,
            CMPXCHG16B,
            MOVBE,
            AVX512F,
            AVX512VL,
            AVX512BW,
            AVX512DQ,
            AVX512CD,
            AVX512_VBMI,
            AVX512_VBMI2,
        ];
        let gaps: Vec<Code> = Code::values()
            .filter(|code| code.op_code().is_instruction() && code.op_code().mode64())
            .filter(|&code| of(code).cpuid_features().iter().all(|feature| supported.contains(feature)))
            .filter(|&code| matches!(row(&of(code)), Row::Gap(_)))
            .collect();
        assert_eq!(gaps, []);
    }
}
