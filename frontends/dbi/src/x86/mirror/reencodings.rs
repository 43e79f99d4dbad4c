//! Reencodings: the EVEX instruction that does to upper vector registers what another one does to lower ones, or the VEX
//! instruction that does what a legacy one does.
//!
//! Found by name and operand kinds in the decoder's tables, once per code.

use crate::x86::rows;
use hashbrown::HashMap;
use iced_x86::{Code, EncodingKind, Mnemonic, OpCodeOperandKind};

/// Table of instructions and those that do the same to shadows.
pub(super) struct Reencodings {
    encoding: EncodingKind,
    by_name: HashMap<String, Vec<Code>>,
    found: HashMap<Code, Option<Code>>,
}

impl Reencodings {
    /// Reencodings in `encoding`, EVEX or VEX.
    pub(super) fn new(encoding: EncodingKind) -> Self {
        Reencodings { encoding, by_name: HashMap::new(), found: HashMap::new() }
    }

    /// The code that moves the same bytes as `code` does.
    pub(super) fn of(&mut self, code: Code) -> Option<Code> {
        if let Some(&reencoded) = self.found.get(&code) {
            return reencoded;
        }
        let reencoded = self.search(code);
        self.found.insert(code, reencoded);
        reencoded
    }

    fn search(&mut self, code: Code) -> Option<Code> {
        if self.by_name.is_empty() {
            let encoding = self.encoding;
            for code in Code::values().filter(|code| code.encoding() == encoding) {
                self.by_name.entry(format!("{:?}", code.mnemonic())).or_default().push(code);
            }
        }
        let wanted = kinds(code);
        let name = name(code.mnemonic());
        let candidates = self.by_name.get(&name)?;
        let exact = candidates.iter().copied().find(|&candidate| {
            let have = kinds(candidate);
            have == wanted
                || with_source(&wanted).is_some_and(|wanted| have == wanted)
                || is_gather(&wanted) && have[..] == wanted[..2]
        });
        // Broadcasts of a register and of memory are two instructions in VEX, and one in EVEX; shifts of bytes take memory there, too.
        let covers = |candidate: &Code| {
            let have = kinds(*candidate);
            covers(&have, &wanted) || with_source(&wanted).is_some_and(|wanted| covers(&have, &wanted))
        };
        exact.or_else(|| candidates.iter().copied().find(covers))
    }
}

/// The re-encoded instruction's name: with a V, and in EVEX spelt with lanes where VEX has none.
fn name(mnemonic: Mnemonic) -> String {
    let name = format!("{:?}", rows::lane_name(mnemonic).unwrap_or(mnemonic));
    if name.starts_with('V') { name } else { format!("V{}", name.to_lowercase()) }
}

/// Operand kinds, those that differ only in which field of the encoding they are in alike.
fn kinds(code: Code) -> Vec<OpCodeOperandKind> {
    use OpCodeOperandKind::*;
    code.op_code()
        .op_kinds()
        .iter()
        .map(|&kind| match kind {
            xmm_rm | xmm_vvvv | xmm_reg => xmm_reg,
            ymm_rm | ymm_vvvv | ymm_reg => ymm_reg,
            other => other,
        })
        .collect()
}

/// Tells whether an instruction with operands of these kinds does what one with the `wanted` ones does: some may be memory as well.
fn covers(have: &[OpCodeOperandKind], wanted: &[OpCodeOperandKind]) -> bool {
    use OpCodeOperandKind::*;
    let covers = |(&have, &wanted): (&OpCodeOperandKind, &OpCodeOperandKind)| {
        have == wanted
            || have == xmm_or_mem && matches!(wanted, xmm_reg | mem)
            || have == ymm_or_mem && wanted == ymm_reg
    };
    have.len() == wanted.len() && have.iter().zip(wanted).all(covers)
}

/// Tells whether what selects is named, which is a mask register in EVEX and is not.
fn is_gather(kinds: &[OpCodeOperandKind]) -> bool {
    use OpCodeOperandKind::*;
    let lanes = [mem_vsib32x, mem_vsib64x, mem_vsib32y, mem_vsib64y];
    kinds.len() == 3 && lanes.contains(&kinds[1])
}

/// The kinds with the destination named as first source too.
fn with_source(kinds: &[OpCodeOperandKind]) -> Option<Vec<OpCodeOperandKind>> {
    let (&first, rest) = kinds.split_first()?;
    Some([first, first].into_iter().chain(rest.iter().copied()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasts_of_registers_and_of_memory_have_one_code_in_evex() {
        let mut reencodings = Reencodings::new(EncodingKind::EVEX);
        for (codes, expected) in [
            (
                [Code::VEX_Vbroadcastsd_ymm_m64, Code::VEX_Vbroadcastsd_ymm_xmm],
                Code::EVEX_Vbroadcastsd_ymm_k1z_xmmm64,
            ),
            (
                [Code::VEX_Vbroadcastss_ymm_m32, Code::VEX_Vbroadcastss_ymm_xmm],
                Code::EVEX_Vbroadcastss_ymm_k1z_xmmm32,
            ),
            (
                [Code::VEX_Vbroadcastss_xmm_m32, Code::VEX_Vbroadcastss_xmm_xmm],
                Code::EVEX_Vbroadcastss_xmm_k1z_xmmm32,
            ),
        ] {
            assert_eq!(codes.map(|code| reencodings.of(code)), [Some(expected); 2]);
        }
    }

    #[test]
    fn shifts_of_bytes_take_memory_in_evex_alone() {
        let mut reencodings = Reencodings::new(EncodingKind::EVEX);
        for (code, expected) in [
            (Code::Psrldq_xmm_imm8, Code::EVEX_Vpsrldq_xmm_xmmm128_imm8),
            (Code::VEX_Vpsrldq_xmm_xmm_imm8, Code::EVEX_Vpsrldq_xmm_xmmm128_imm8),
            (Code::VEX_Vpslldq_ymm_ymm_imm8, Code::EVEX_Vpslldq_ymm_ymmm256_imm8),
        ] {
            assert_eq!(reencodings.of(code), Some(expected));
        }
    }
}
