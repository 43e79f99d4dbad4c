//! Addresses of memory operands, as far as the code of a superblock tells how they lie to each other.
//!
//! Follows pointers through moves, sums with constants, and memory. Knows nothing of floats.

use crate::x86::access::is_write;
use crate::x86::insn::Insn;
use crate::x86::rows;
use crate::x86::table::{General, Integral, Row};
use iced_x86::{Instruction, OpKind, Register};

/// An address, as so many bytes from what is not known but the same wherever it has the same number.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Address {
    root: u32,
    offset: i64,
}

impl Address {
    /// Bytes from `other`; nothing if that cannot be told.
    pub(super) fn distance_from(self, other: Address) -> Option<i64> {
        (self.root == other.root).then(|| self.offset.wrapping_sub(other.offset))
    }

    /// The address so many bytes further on.
    pub(super) fn plus(self, bytes: i64) -> Address {
        Address { offset: self.offset.wrapping_add(bytes), ..self }
    }
}

/// Addresses of the explicit memory operands.
pub(super) fn addresses_of(insns: &[Insn]) -> Vec<Option<Address>> {
    let mut registers = Registers::new();
    let address = |insn: &Insn| {
        let address = registers.address(&insn.decoded);
        registers.step(&insn.decoded);
        address
    };
    insns.iter().map(address).collect()
}

/// General registers as addresses, and pointers that were stored.
struct Registers {
    of: [Address; 16],
    stored: Vec<(Address, Address)>,
    roots: u32,
    info: iced_x86::InstructionInfoFactory,
}

/// The root of addresses that are known.
const ABSOLUTE: u32 = 16;

impl Registers {
    fn new() -> Self {
        let of = std::array::from_fn(|n| Address { root: n as u32, offset: 0 });
        let info = iced_x86::InstructionInfoFactory::new();
        Registers { of, stored: Vec::new(), roots: ABSOLUTE, info }
    }

    fn fresh(&mut self) -> Address {
        self.roots += 1;
        Address { root: self.roots, offset: 0 }
    }

    /// Address of the explicit memory operand, if it is a register and a displacement.
    fn address(&self, insn: &Instruction) -> Option<Address> {
        let displacement = insn.memory_displacement64().cast_signed();
        let has_memory = (0..insn.op_count()).any(|n| insn.op_kind(n) == OpKind::Memory);
        if !has_memory || insn.memory_index() != Register::None || insn.segment_prefix() != Register::None {
            return None;
        }
        match insn.memory_base() {
            Register::None | Register::RIP => Some(Address { root: ABSOLUTE, offset: displacement }),
            base if base.is_gpr64() => Some(self.of[base.number()].plus(displacement)),
            _ => None,
        }
    }

    fn step(&mut self, insn: &Instruction) {
        use General::{Bits, Move};
        use Integral::{Add, Subtract};
        let address = self.address(insn);
        let is_pointer = insn.op0_kind() == OpKind::Register && insn.op0_register().is_gpr64();
        let to = is_pointer.then(|| insn.op0_register().number());
        let constant = matches!(insn.op1_kind(), OpKind::Immediate8to64 | OpKind::Immediate32to64);
        let of_register = insn.op1_kind() == OpKind::Register && insn.op1_register().is_gpr64();
        let general = match rows::row(insn) {
            Row::General(general) => Some(general),
            _ => None,
        };
        let known = match (general, to) {
            (_, Some(_)) if rows::computes_address(insn) => address,
            (Some(Move), Some(_)) if of_register => Some(self.of[insn.op1_register().number()]),
            (Some(Move), Some(_)) => address.map(|at| self.pointer_at(at)),
            (Some(Bits(Add)), Some(to)) if constant => {
                Some(self.of[to].plus(insn.immediate(1).cast_signed()))
            }
            (Some(Bits(Subtract)), Some(to)) if constant => {
                Some(self.of[to].plus(-insn.immediate(1).cast_signed()))
            }
            _ => None,
        };
        if let (Some(Move), None, Some(at)) = (general, to, address) {
            self.stored.retain(|&(place, _)| place != at);
            if of_register {
                self.stored.push((at, self.of[insn.op1_register().number()]));
            }
        }
        let used = self.info.info(insn).used_registers();
        let is_written = |used: &&iced_x86::UsedRegister| is_write(used.access());
        let written: Vec<usize> = used
            .iter()
            .filter(is_written)
            .filter(|used| used.register().is_gpr())
            .map(|used| used.register().full_register().number())
            .collect();
        const RSP: usize = 4;
        for n in written {
            self.of[n] = match known {
                Some(address) if to == Some(n) => address,
                _ if n == RSP && insn.stack_pointer_increment() != 0 => {
                    self.of[RSP].plus(insn.stack_pointer_increment().into())
                }
                _ => self.fresh(),
            };
        }
    }

    /// The pointer that is stored at `at`.
    fn pointer_at(&mut self, at: Address) -> Address {
        if let Some(&(_, pointer)) = self.stored.iter().find(|(place, _)| *place == at) {
            return pointer;
        }
        let pointer = self.fresh();
        self.stored.push((at, pointer));
        pointer
    }
}
