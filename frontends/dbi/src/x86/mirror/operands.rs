//! Operands of an operation: which they are, and the places of their values and of their shadows.

use crate::x86::emit::Emitter;
use crate::x86::table::Shape;
use crate::x86::vector::Place;
use iced_x86::{EncodingKind, Instruction, OpKind};
use shadowgrind_core::ops::{MAX_OPERANDS, Op};

/// Operands of a rule: places of values and of shadows.
#[derive(Clone, Copy)]
pub(super) struct Operands {
    pub(super) x: [Place; MAX_OPERANDS],
    pub(super) shadows: [Place; MAX_OPERANDS],
    /// Shadows that are known to be absent.
    pub(super) absent: u8,
    /// Number of bytes beyond which each shadow that is in a register is zero, as far as is known.
    pub(super) extents: [u8; MAX_OPERANDS],
    pub(super) count: usize,
    /// The guest's vector registers that they are in.
    pub(super) registers: [Option<u8>; MAX_OPERANDS],
}

impl Operands {
    /// The operands and their shadows.
    pub(super) fn places(&self) -> [&[Place]; 2] {
        [&self.x[..self.count], &self.shadows[..self.count]]
    }

    /// Tells whether all shadows are known to be absent.
    pub(super) fn are_absent(&self) -> bool {
        self.absent.count_ones() as usize == self.count
    }
}

impl Emitter {
    /// Places of the operands of these numbers.
    pub(super) fn operands(&mut self, insn: &Instruction, numbers: &[u32]) -> Operands {
        let nothing = Place::Reg(0);
        let mut operands = Operands {
            x: [nothing; 3],
            shadows: [nothing; 3],
            absent: 0,
            extents: [0; 3],
            count: numbers.len(),
            registers: [None; 3],
        };
        for (i, &n) in numbers.iter().enumerate() {
            if insn.op_kind(n) == OpKind::Register {
                let register = insn.op_register(n).number() as u8;
                operands.x[i] = Place::Reg(register);
                operands.registers[i] = Some(register);
                operands.shadows[i] = self.shadow_value(register);
                operands.extents[i] = self.extent(register);
                continue;
            }
            operands.x[i] = Place::Mem(self.guest_operand(insn));
            match self.mirror_memory(insn) {
                Some(mem) => operands.shadows[i] = Place::Mem(mem),
                None => operands.absent |= 1 << i,
            }
        }
        operands
    }
}

/// Numbers of the operands that are the rule's.
pub(super) fn source_numbers(insn: &Instruction, op: Op, terms: Option<[u8; 3]>) -> Vec<u32> {
    let all = (0..insn.op_count()).filter(|&n| matches!(insn.op_kind(n), OpKind::Register | OpKind::Memory));
    let all: Vec<u32> = all.collect();
    match (terms, op.arity()) {
        (Some(terms), _) => terms.iter().map(|&n| u32::from(n)).collect(),
        (None, 1) => vec![all[all.len() - 1]],
        // A legacy form names its first source as destination.
        (None, _) if all.len() == 2 => vec![0, 1],
        (None, _) => vec![1, 2],
    }
}

/// The register that a scalar operation takes the rest of its result from; nothing for packed ones.
pub(super) fn rest_source(insn: &Instruction, shape: Shape, fused: bool) -> Option<u8> {
    if shape == Shape::Packed {
        return None;
    }
    let own = insn.op0_register().number() as u8;
    let legacy = insn.encoding() == EncodingKind::Legacy;
    let named = insn.op_count() > 2 && insn.op1_kind() == OpKind::Register;
    Some(if legacy || fused || !named { own } else { insn.op1_register().number() as u8 })
}
