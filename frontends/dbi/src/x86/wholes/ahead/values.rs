//! Values of general registers and of memory along a way that code may take, as far as they are known.

use super::Read;
use crate::context::reg;
use crate::x86::access;
use crate::x86::rows;
use crate::x86::table::{Fill, General, Integral, Row};
use iced_x86::{Code, FlowControl, Instruction, OpKind, Register};

/// Values of general registers, and of memory that has been written on the way.
#[derive(Clone)]
pub(super) struct Values {
    general: [Option<u64>; 16],
    /// The lowest byte of rax, of which code may know no more.
    al: Option<u64>,
    /// Address, bytes, and value.
    stored: Vec<(u64, u64, Option<u64>)>,
    /// Numbers of which flags were made last.
    compared: Option<Compared>,
}

/// Numbers that flags were made of.
#[derive(Clone, Copy)]
struct Compared {
    a: u64,
    b: u64,
    bytes: usize,
    /// True if flags tell no more than whether they are the same, and the sign of their difference.
    is_result: bool,
}

impl Values {
    pub(super) fn new(general: &[u64; 16]) -> Values {
        Values {
            general: general.map(Some),
            al: Some(low(general[reg::RAX], 1)),
            stored: Vec::new(),
            compared: None,
        }
    }

    /// Forgets al unless the code before `pc` seems to have set it: otherwise it may be what a function has returned.
    pub(super) fn forget_al_unless_set_before(&mut self, pc: u64, read: Read<'_>) {
        const BYTES: usize = 64;
        let mut code = [0; BYTES];
        let len = read(pc.wrapping_sub(BYTES as u64), &mut code);
        // mov al, count; mov eax, count
        let sets = |count: u8| {
            let code = &code[..len];
            code.windows(2).any(|bytes| bytes == [0xb0, count])
                || code.windows(5).any(|bytes| bytes == [0xb8, count, 0, 0, 0])
        };
        self.al = self.al.filter(|&count| sets(count as u8));
    }

    /// The address of the explicit memory operand.
    pub(super) fn address(&self, insn: &Instruction) -> Option<u64> {
        let register = |register: Register| match register {
            Register::None => Some(0),
            _ if register.is_gpr64() => self.general[register.number()],
            _ => None,
        };
        if !matches!(insn.segment_prefix(), Register::None | Register::DS | Register::SS) {
            return None;
        }
        if insn.is_ip_rel_memory_operand() {
            return Some(insn.ip_rel_memory_address());
        }
        let index = register(insn.memory_index())?.wrapping_mul(insn.memory_index_scale().into());
        Some(register(insn.memory_base())?.wrapping_add(index).wrapping_add(insn.memory_displacement64()))
    }

    /// Memory that a string instruction writes, upwards: address and number of bytes.
    pub(super) fn string(&self, insn: &Instruction) -> Option<(u64, u64)> {
        let element = match rows::row(insn) {
            Row::General(General::MoveString | General::StoreString) => insn.memory_size().size() as u64,
            _ => return None,
        };
        let repeats = access::repeats(insn);
        let count = if repeats { self.general[reg::RCX]? } else { 1 };
        Some((self.general[reg::RDI]?, count.saturating_mul(element)))
    }

    /// The value of operand `n`.
    pub(super) fn operand(&self, insn: &Instruction, n: u32, read: Read<'_>) -> Option<u64> {
        match insn.op_kind(n) {
            OpKind::Register => {
                let register = insn.op_register(n);
                // Not ah and its kin.
                let is_low = register.is_gpr() && register.full_register().number() == register.number();
                is_low.then(|| self.general[register.number()])?.map(|value| low(value, register.size()))
            }
            OpKind::Memory => self.load(self.address(insn)?, insn.memory_size().size() as u64, read),
            OpKind::Immediate8
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate32to64
            | OpKind::Immediate64 => Some(insn.immediate(n)),
            _ => None,
        }
    }

    fn load(&self, address: u64, bytes: u64, read: Read<'_>) -> Option<u64> {
        let overlaps = |&&(at, size, _): &&(u64, u64, Option<u64>)| {
            at.wrapping_sub(address) < bytes || address.wrapping_sub(at) < size
        };
        if let Some(&(at, size, value)) = self.stored.iter().rev().find(overlaps) {
            return value.filter(|_| (at, size) == (address, bytes));
        }
        let mut value = [0; 8];
        let into = value.get_mut(..bytes as usize)?;
        (read(address, into) == into.len()).then(|| u64::from_le_bytes(value))
    }

    /// Memory has this value from now on.
    pub(super) fn store(&mut self, address: u64, bytes: u64, value: Option<u64>) {
        self.stored.push((address, bytes, value));
    }

    /// Nothing is known of what a called function may change.
    pub(super) fn forget_registers(&mut self) {
        reg::CALLER_SAVED.iter().for_each(|&n| self.general[n] = None);
        self.al = None;
    }

    /// Tells whether al, as a call from here finds it, says that floats are passed in vector registers.
    pub(super) fn passes_floats(&self) -> bool {
        self.al.is_some_and(|count| (1..=8).contains(&count))
    }

    /// Address of the top of the stack.
    pub(super) fn stack(&self) -> Option<u64> {
        self.general[reg::RSP]
    }

    pub(super) fn push(&mut self, value: Option<u64>) {
        self.move_stack(-8);
        if let Some(top) = self.general[reg::RSP] {
            self.stored.push((top, 8, value));
        }
    }

    pub(super) fn pop(&mut self, read: Read<'_>) -> Option<u64> {
        let value = self.general[reg::RSP].and_then(|top| self.load(top, 8, read));
        self.move_stack(8);
        value
    }

    pub(super) fn move_stack(&mut self, bytes: i32) {
        self.general[reg::RSP] = self.general[reg::RSP].map(|top| top.wrapping_add_signed(bytes.into()));
    }

    /// The effect of an instruction, other than on the control flow, that writes these registers, and memory at `target`.
    pub(super) fn step(
        &mut self,
        insn: &Instruction,
        target: Option<u64>,
        written: &[Register],
        read: Read<'_>,
    ) {
        let register = |n| (insn.op_kind(n) == OpKind::Register).then(|| insn.op_register(n));
        match rows::row(insn) {
            _ if insn.flow_control() != FlowControl::Next => return,
            Row::General(General::Push) => return self.push(self.operand(insn, 0, read)),
            Row::General(General::Pop) => {
                let value = self.pop(read);
                if register(0) == Some(Register::RAX) {
                    self.al = value.map(|value| low(value, 1));
                }
                if let Some(to) = register(0).filter(|to| to.is_gpr64()) {
                    self.general[to.number()] = value;
                }
                return;
            }
            Row::General(General::Leave) => {
                self.general[reg::RSP] = self.general[reg::RBP];
                self.general[reg::RBP] = self.pop(read);
                return;
            }
            _ if insn.code() == Code::Cdqe => {
                self.general[reg::RAX] = self.general[reg::RAX].map(sign_extended);
                return;
            }
            _ => {}
        }
        if insn.rflags_modified() != 0 {
            self.compared = self.comparison(insn, read);
        }
        let value = self.result(insn, read);
        if let Some(to) = target {
            self.stored.push((to, insn.memory_size().size() as u64, value));
        }
        for register in written.iter().filter(|register| register.is_gpr()) {
            self.general[register.number()] = None;
        }
        if written.contains(&Register::RAX) {
            let is_low =
                register(0).is_some_and(|to| to != Register::AH && to.full_register() == Register::RAX);
            self.al = value.filter(|_| is_low).map(|value| low(value, 1));
        }
        let wide = register(0).filter(|to| to.is_gpr64() || to.is_gpr32());
        if let Some(to) = wide.filter(|to| written.contains(&to.full_register())) {
            self.general[to.number()] = value.map(|value| low(value, to.size()));
        }
    }

    fn comparison(&self, insn: &Instruction, read: Read<'_>) -> Option<Compared> {
        use Integral::{Add, And, Decrement, Increment, Or, Subtract, Xor};
        let bytes = match insn.op0_kind() {
            OpKind::Register => insn.op0_register().size(),
            _ => insn.memory_size().size(),
        };
        let operand = |n| self.operand(insn, n, read);
        let (a, b, is_result) = match rows::row(insn) {
            Row::Flags(Subtract) | Row::General(General::Bits(Subtract)) => (operand(0)?, operand(1)?, false),
            Row::Flags(And) => (operand(0)? & operand(1)?, 0, false),
            Row::General(General::Bits(And | Or | Xor)) => (self.result(insn, read)?, 0, false),
            Row::General(General::Bits(Add | Increment | Decrement)) => (self.result(insn, read)?, 0, true),
            _ => return None,
        };
        Some(Compared { a: low(a, bytes), b: low(b, bytes), bytes, is_result })
    }

    /// Tells whether a conditional branch is taken; nothing if that is not known.
    pub(super) fn is_taken(&self, branch: &Instruction) -> Option<bool> {
        use iced_x86::ConditionCode as Is;
        let Compared { a, b, bytes, is_result } = self.compared?;
        let unused = 64 - 8 * bytes as u32;
        let signed = |value: u64| (value << unused) as i64;
        Some(match branch.condition_code() {
            Is::e => a == b,
            Is::ne => a != b,
            Is::s => signed(a.wrapping_sub(b)) < 0,
            Is::ns => signed(a.wrapping_sub(b)) >= 0,
            _ if is_result => return None,
            Is::l => signed(a) < signed(b),
            Is::ge => signed(a) >= signed(b),
            Is::le => signed(a) <= signed(b),
            Is::g => signed(a) > signed(b),
            Is::b => a < b,
            Is::ae => a >= b,
            Is::be => a <= b,
            Is::a => a > b,
            _ => return None,
        })
    }

    /// The result of the instruction, if that is simple.
    fn result(&self, insn: &Instruction, read: Read<'_>) -> Option<u64> {
        let operand = |n| self.operand(insn, n, read);
        let (a, b) = (|| operand(0), || operand(1));
        let is_cleared = || insn.op1_kind() == OpKind::Register && insn.op0_register() == insn.op1_register();
        let general = match rows::row(insn) {
            _ if rows::computes_address(insn) => return self.address(insn),
            Row::General(general) => general,
            _ => return None,
        };
        match general {
            General::Move | General::Extend(Fill::Zeros) => b(),
            General::Extend(Fill::Sign) if insn.code() == Code::Movsxd_r64_rm32 => b().map(sign_extended),
            General::Bits(Integral::Xor) if is_cleared() => Some(0),
            General::Bits(Integral::Add) => Some(a()?.wrapping_add(b()?)),
            General::Bits(Integral::Subtract) => Some(a()?.wrapping_sub(b()?)),
            General::Bits(Integral::And) => Some(a()? & b()?),
            General::Bits(Integral::Or) => Some(a()? | b()?),
            General::Bits(Integral::Xor) => Some(a()? ^ b()?),
            // The complement leaves flags alone, the opposite does not.
            General::Not if insn.rflags_modified() == 0 => Some(!a()?),
            General::Not => Some(a()?.wrapping_neg()),
            General::Bits(Integral::Increment) => Some(a()?.wrapping_add(1)),
            General::Bits(Integral::Decrement) => Some(a()?.wrapping_sub(1)),
            General::Bits(Integral::ShiftLeft) => Some(a()? << (b()? & 63)),
            _ => None,
        }
    }
}

fn sign_extended(value: u64) -> u64 {
    i64::from(value as i32).cast_unsigned()
}

/// The lowest `bytes` bytes of a value.
fn low(value: u64, bytes: usize) -> u64 {
    value & u64::MAX >> (64 - 8 * bytes.clamp(1, 8))
}
