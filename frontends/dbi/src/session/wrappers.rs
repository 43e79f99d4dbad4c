//! Wrappers: functions of the mathematical library that check their operand and jump on to the function proper.
//!
//! Other functions of the library, those of complex numbers above all, call that one past the wrapper, and a stripped
//! library has no name for it: `clog` calls what `log1p` jumps to. Which code it is may be chosen at start, by a
//! function whose address a relocation has.

use super::layout::Layout;
use crate::x86::rows;
use crate::x86::table::{Integral, Row};
use hashbrown::HashMap;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, OpAccess, Register,
};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Function that a wrapper jumps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wrapped {
    /// Link-time address.
    pub(super) address: u64,
    /// There is a function that returns the address of the one to be called.
    pub(super) is_resolver: bool,
}

/// A file's code, by link-time address.
pub(super) struct Code<'a> {
    file: &'a File,
    layout: &'a Layout,
    /// Functions that choose, by the place of the address they return.
    choices: HashMap<u64, u64>,
}

/// Length, in bytes, of the beginning of a function in which its jump is looked for.
const WINDOW: usize = 64;

impl<'a> Code<'a> {
    pub(super) fn new(file: &'a File, layout: &'a Layout) -> Self {
        let code = Code { file, layout, choices: HashMap::new() };
        Code { choices: code.choices().unwrap_or_default(), ..code }
    }

    fn bytes<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact_at(&mut bytes, self.layout.offset(address)?).ok()?;
        Some(bytes)
    }

    fn word(&self, address: u64) -> Option<u64> {
        self.bytes(address).map(u64::from_le_bytes)
    }

    /// Address and size of the two tables of relocations, those of calls (DT_JMPREL) and all others (DT_RELA).
    fn relocations(&self) -> Option<[[u64; 2]; 2]> {
        let mut tables = [[0; 2]; 2];
        for at in (self.layout.dynamic?..).step_by(16) {
            let value = self.word(at + 8)?;
            match self.word(at)? {
                0 => break,
                2 => tables[0][1] = value,
                23 => tables[0][0] = value,
                7 => tables[1][0] = value,
                8 => tables[1][1] = value,
                _ => {}
            }
        }
        Some(tables)
    }

    /// All relocations of the kind that calls a function to choose one (x86-64 ABI, R_X86_64_IRELATIVE).
    fn choices(&self) -> Option<HashMap<u64, u64>> {
        const IRELATIVE: u64 = 37;
        const ENTRY: u64 = 24;
        let mut choices = HashMap::new();
        for [table, size] in self.relocations()? {
            for at in (table..table + size).step_by(ENTRY as usize) {
                if self.word(at + 8)? & 0xffff_ffff == IRELATIVE {
                    choices.insert(self.word(at)?, self.word(at + 16)?);
                }
            }
        }
        Some(choices)
    }

    /// Address in the function at `address` where its stack is known to be large enough: it begins with a comparison and a
    /// branch to where the stack is moved, and is begun again from there.
    pub(super) fn past_stack_check(&self, address: u64) -> Option<u64> {
        const MOST: usize = 4;
        let bytes = self.bytes::<WINDOW>(address)?;
        let mut decoder = Decoder::with_ip(64, &bytes, address, DecoderOptions::NONE);
        let beginning: Vec<Instruction> = decoder.iter().take(MOST).collect();
        let branch = beginning.iter().position(|i| i.flow_control() == FlowControl::ConditionalBranch)?;
        let compares = branch > 0 && rows::row(&beginning[branch - 1]) == Row::Flags(Integral::Subtract);
        compares.then(|| beginning[branch].next_ip())
    }

    /// Function that the one at `address` jumps to, with its stack and its `operands` in vector registers as they were.
    pub(super) fn wrapped(&self, address: u64, operands: u32) -> Option<Wrapped> {
        let target = tail_jump(&self.bytes::<WINDOW>(address)?, address, operands)?;
        let through = self.bytes::<16>(target).and_then(|bytes| slot(&bytes, target));
        match through {
            Some(slot) => {
                let address = *self.choices.get(&slot)?;
                Some(Wrapped { address, is_resolver: true })
            }
            None => Some(Wrapped { address: target, is_resolver: false }),
        }
    }
}

/// Target of the jump out of a function that begins with `bytes`, if nothing but branches, comparisons and constants
/// comes before.
fn tail_jump(bytes: &[u8], address: u64, operands: u32) -> Option<u64> {
    let mut facts = InstructionInfoFactory::new();
    let own = address..address + bytes.len() as u64;
    for insn in Decoder::with_ip(64, bytes, address, DecoderOptions::NONE) {
        match insn.flow_control() {
            FlowControl::UnconditionalBranch => {
                let target = insn.near_branch_target();
                return (!own.contains(&target)).then_some(target);
            }
            FlowControl::Next | FlowControl::ConditionalBranch => {}
            _ => return None,
        }
        if insn.is_invalid() || disturbs(&insn, operands, &mut facts) {
            return None;
        }
    }
    None
}

/// Tells whether the instruction writes memory, the stack pointer or an operand.
fn disturbs(insn: &Instruction, operands: u32, facts: &mut InstructionInfoFactory) -> bool {
    let writes = |access| {
        !matches!(access, OpAccess::None | OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess)
    };
    let info = facts.info(insn);
    let is_operand = |r: Register| {
        r.full_register() == Register::RSP || r.is_vector_register() && (r.number() as u32) < operands
    };
    info.used_memory().iter().any(|used| writes(used.access()))
        || info.used_registers().iter().any(|used| writes(used.access()) && is_operand(used.register()))
}

/// The place of the address that the code at `address`, an entry of a procedure linkage table, jumps to.
pub(super) fn slot(bytes: &[u8], address: u64) -> Option<u64> {
    let mut entry = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE).into_iter();
    let jump = entry.find(|insn| rows::row(insn) != Row::Nothing)?;
    let through = jump.flow_control() == FlowControl::IndirectBranch && jump.is_ip_rel_memory_operand();
    through.then(|| jump.ip_rel_memory_address())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ucomisd xmm0, xmm1; jae +5; jmp …
    const CHECKED: &[u8] = b"\x66\x0f\x2e\xc1\x73\x05\xe9\xf5\x0f\x00\x00\xc3";

    #[test]
    fn a_jump_behind_a_check_is_followed() {
        assert_eq!(tail_jump(CHECKED, 0x1000, 1), Some(0x2000));
    }

    #[test]
    fn nothing_is_followed_that_computes() {
        // addsd xmm0, xmm0; sub rsp, 8; call; ret
        for before in [&b"\xf2\x0f\x58\xc0"[..], b"\x48\x83\xec\x08", b"\xe8\0\0\0\0", b"\xc3"] {
            assert_eq!(tail_jump(&[before, CHECKED].concat(), 0x1000, 1), None);
        }
    }

    #[test]
    fn a_loop_is_no_way_out() {
        assert_eq!(tail_jump(b"\x90\x90\xeb\xfc", 0x1000, 1), None);
    }

    #[test]
    fn entries_of_a_linkage_table_say_where_the_address_is() {
        assert_eq!(slot(b"\xff\x25\xfa\x0f\x00\x00\x90", 0x1000), Some(0x2000));
        assert_eq!(slot(b"\xf3\x0f\x1e\xfa\xff\x25\xf6\x0f\x00\x00", 0x1000), Some(0x2000));
        assert_eq!(slot(CHECKED, 0x1000), None);
    }
}
