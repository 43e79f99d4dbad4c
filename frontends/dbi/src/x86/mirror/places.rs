//! Shadows of registers as operands of emitted code: in upper vector registers or in the context.

use super::encode;
use crate::context::Context;
use crate::x86::asm::Gpr;
use crate::x86::emit::Emitter;
use crate::x86::state;
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use iced_x86::{EncodingKind, Instruction, Register};
use shadowgrind_core::format::Format;

/// Tells whether a legacy instruction leaves the upper part of its vector registers alone.
pub(super) fn keeps_upper(insn: &Instruction) -> bool {
    insn.encoding() == EncodingKind::Legacy
}

/// First byte of `register` in its general register.
pub(super) fn first_byte(register: Register) -> i32 {
    i32::from(matches!(register, Register::AH | Register::BH | Register::CH | Register::DH))
}

impl Emitter {
    /// The cell of general register `n`.
    pub(super) fn cell(&self, n: Gpr) -> Mem {
        Mem::rip(self.frame.field(Context::OFFSET_SHADOWS + u32::from(state::general(usize::from(n)))))
    }

    /// The shadow of vector register `n`: memory has it, if that is its place.
    pub(super) fn shadow(&mut self, n: u8) -> Place {
        let place = self.shadow_place(n);
        if matches!(place, Place::Mem(_)) && n < 16 {
            self.save_shadows(1 << n);
        }
        place
    }

    /// The place of the shadow of vector register `n`, which may not be there yet.
    pub(super) fn shadow_place(&mut self, n: u8) -> Place {
        if n < self.mirror().settings.in_registers {
            Place::Reg(16 + n)
        } else {
            Place::Mem(self.shadow_memory(n))
        }
    }

    /// Best place to read the shadow of vector register `n` from: a register that holds it, if one does.
    pub(super) fn shadow_value(&mut self, n: u8) -> Place {
        match self.held(n) {
            Some(register) => Place::Reg(register),
            None => self.shadow(n),
        }
    }

    pub(super) fn shadow_memory(&self, n: u8) -> Mem {
        Mem::rip(self.frame.field(Context::OFFSET_SHADOWS + u32::from(state::vector(usize::from(n)))))
    }

    /// The shadow of vector register `n` in a register: its own, or loaded into temporary `i`.
    pub(super) fn shadow_in_register(&mut self, n: u8, i: usize) -> u8 {
        let bytes = self.shadow_bytes();
        self.low_in_register(n, bytes, i)
    }

    /// The low `bytes` of the shadow of vector register `n` in a register: its own, or loaded into temporary `i`.
    pub(super) fn low_in_register(&mut self, n: u8, bytes: u8, i: usize) -> u8 {
        match self.shadow_value(n) {
            Place::Reg(register) => register,
            Place::Mem(mem) => {
                let temporary = self.temporary(i);
                self.out.hot.vector_load(temporary, mem, bytes);
                temporary
            }
        }
    }

    /// A register to compute the new shadow of vector register `n` in, temporary `i` if it has none of its own;
    /// [`Emitter::put_shadow`] puts it in its place.
    pub(super) fn shadow_target(&mut self, n: u8, i: usize) -> u8 {
        match self.shadow_place(n) {
            Place::Reg(register) => register,
            Place::Mem(_) => self.temporary(i),
        }
    }

    /// Makes `register` the shadow of vector register `n`. No fault of the present instruction may come after.
    pub(super) fn put_shadow(&mut self, n: u8, register: u8) {
        match self.shadow_place(n) {
            Place::Reg(place) if place == register => {}
            Place::Reg(place) => self.move_shadow(place, register, 64),
            Place::Mem(mem) => {
                if !self.hold(n, register, false) {
                    let bytes = self.shadow_bytes();
                    self.out.hot.vector_store(mem, register, bytes);
                    self.hold(n, register, true);
                }
            }
        }
        self.set_extent(n, u8::MAX);
    }

    /// Copies the low `bytes` of a register; the rest of the target becomes zero.
    pub(super) fn move_shadow(&mut self, to: u8, from: u8, bytes: u8) {
        let form = if bytes < 16 { forms::MOVE_64 } else { forms::MOVE };
        let format = if bytes < 16 { Format::F64 } else { Format::F32 };
        let length = if bytes < 16 { Length::B16 } else { Length::of(bytes) };
        self.out.hot.vector(Vector::unary(form, format, length, to, Place::Reg(from)));
    }

    /// Clears a register.
    pub(super) fn zero(&mut self, register: u8) {
        let zero = Vector::new(forms::XOR, Format::F64, Length::B16, [register; 2], Place::Reg(register));
        self.out.hot.vector(zero);
    }

    /// Clears the shadow of vector register `n`: all of it, after a legacy instruction too, since what that leaves in upper
    /// halves is not looked at by code that keeps to the calling convention.
    pub(super) fn clear_vector(&mut self, n: u8) {
        let target = self.shadow_target(n, 0);
        self.zero(target);
        self.put_shadow(n, target);
        self.set_extent(n, 0);
    }

    /// Clears `bytes` of the mirror at `mem`.
    pub(super) fn kill(&mut self, mem: Mem, bytes: usize) {
        match bytes {
            0 => {}
            1 | 2 | 4 | 8 => encode::store_zero(&mut self.out.hot, mem, bytes),
            16 | 32 | 64 => {
                let zero = self.temporary(0);
                self.zero(zero);
                let widest = usize::from(self.shadow_bytes());
                for at in (0..bytes).step_by(widest) {
                    self.out.hot.vector_store(mem.plus(at as i32), zero, bytes.min(widest) as u8);
                }
            }
            _ => {
                let mut left = bytes;
                let mut at = mem;
                while left > 0 {
                    let part = [8, 4, 2, 1].into_iter().find(|&part| part <= left).unwrap_or(1);
                    encode::store_zero(&mut self.out.hot, at, part);
                    at = at.plus(part as i32);
                    left -= part;
                }
            }
        }
    }

    /// Copies `bytes` (4 or 8) of shadow from memory to the cell of register `n`, which then holds nothing else.
    pub(super) fn load_cell(&mut self, n: Gpr, from: Mem, bytes: u8) {
        let cell = self.cell(n);
        let temporary = self.temporary(0);
        self.out.hot.vector_load(temporary, from, bytes);
        self.out.hot.vector_store(cell, temporary, 8);
        self.set_carries(n, true);
    }

    /// Clears the cell of general register `n`.
    pub(super) fn clear_cell(&mut self, n: Gpr) {
        let cell = self.cell(n);
        encode::store_zero(&mut self.out.hot, cell, 8);
        self.set_carries(n, false);
    }

    /// Clears what of the cell of register `n` belongs to `register`, a part of it that is written.
    pub(super) fn clear_part(&mut self, register: Register, n: Gpr, mask: u16) {
        if mask >> n & 1 == 0 {
            return;
        }
        match register.size() {
            4 | 8 => self.clear_cell(n),
            bytes => {
                let cell = self.cell(n).plus(first_byte(register));
                encode::store_zero(&mut self.out.hot, cell, bytes);
            }
        }
    }
}
