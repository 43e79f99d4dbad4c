//! Registers of the x87 stack of which a block knows something: that they are not empty, where their value is, or that it is a double.
//!
//! What is loaded from memory and multiplied or divided later in the block is kept as it was loaded, so that a rule need not ask the
//! stack for it. Nothing is known at a block's beginning. Knows which instruction reads and writes which register.

use super::At;
use super::operand::has_memory;
use super::x87_stack::{register, word};
use crate::x86::emit::Emitter;
use crate::x86::rows;
use crate::x86::table::{Row, X87};
use crate::x86::vector::{Mem, forms};
use iced_x86::MemorySize;

/// First of the eight places in `Context::x87_values` where values are kept.
const KEPT: u32 = 6;
/// Word of 16 bytes that sign and exponent of a long double are in.
const END: u8 = 4;

/// A value that is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::x86) struct Known {
    place: u32,
    /// True for a double, false for a long double with six bytes of zero.
    pub(super) double: bool,
}

impl Emitter {
    /// Number of the physical register that is `index` below the top.
    pub(super) fn physical(&self, index: u8) -> usize {
        usize::from((self.mode.top() + index) & 7)
    }

    /// Tells whether the register `index` below the top was written in this block, and is not empty for that.
    pub(super) fn x87_is_full(&mut self, index: u8) -> bool {
        let n = self.physical(index);
        self.mirror().x87_full >> n & 1 == 1
    }

    /// The value of the register `index` below the top, if it is kept.
    pub(super) fn x87_known(&mut self, index: u8) -> Option<Known> {
        let n = self.physical(index);
        self.mirror().x87_known[n]
    }

    /// The place of a value that is kept.
    pub(super) fn x87_kept(&self, known: Known) -> Mem {
        self.x87_slot(KEPT + known.place)
    }

    /// Tells whether the register `index` below the top was loaded as a double, as far as the block knows.
    pub(super) fn x87_is_double(&mut self, index: u8) -> bool {
        let n = self.physical(index);
        self.mirror().x87_doubles >> n & 1 == 1
    }

    /// Notes whether the register `index` below the top, as it was before the guest's instruction, was loaded as a double.
    pub(super) fn x87_set_double(&mut self, index: u8, is_double: bool) {
        let n = self.physical(index);
        let doubles = &mut self.mirror().x87_doubles;
        *doubles = *doubles & !(1 << n) | u8::from(is_double) << n;
    }

    /// The guest's instruction has written the register `index` below the top as it was before; `known` is its value.
    pub(super) fn x87_written(&mut self, index: u8, known: Option<Known>) {
        let n = self.physical(index);
        let mirror = self.mirror();
        mirror.x87_full |= 1 << n;
        mirror.x87_doubles &= !(1 << n);
        mirror.x87_known[n] = known;
        mirror.open_record.known_x87[n] = Default::default();
    }

    /// The guest's instruction has copied one register to another, as they are numbered before.
    pub(super) fn x87_copied(&mut self, from: u8, to: u8) {
        let (known, in_record) = (self.x87_known(from), *self.x87_in_record_mut(from));
        let is_double = self.x87_is_double(from);
        self.x87_written(to, known);
        self.x87_set_double(to, is_double);
        *self.x87_in_record_mut(to) = in_record;
    }

    /// A place where another value can be kept.
    pub(super) fn x87_place(&mut self) -> Option<Known> {
        let kept = self.mirror().x87_known;
        let is_free = |&place: &u32| kept.iter().flatten().all(|known| known.place != place);
        (0..8).find(is_free).map(|place| Known { place, double: false })
    }

    /// The guest's instruction has emptied the register `index` below the top as it was before.
    pub(super) fn x87_emptied(&mut self, index: u8) {
        let n = self.physical(index);
        let mirror = self.mirror();
        mirror.x87_full &= !(1 << n);
        mirror.x87_doubles &= !(1 << n);
        mirror.x87_known[n] = None;
        mirror.open_record.known_x87[n] = Default::default();
    }

    /// Nothing is known of any register.
    pub(super) fn forget_x87(&mut self) {
        let mirror = self.mirror();
        mirror.x87_full = 0;
        mirror.x87_doubles = 0;
        mirror.x87_known = [None; 8];
        mirror.open_record.known_x87 = Default::default();
    }

    /// Keeps what the guest has just pushed from memory, if a rule will read it.
    pub(super) fn keep_loaded(&mut self, at: At<'_>) {
        self.x87_written(7, None);
        let insn = &at.insn().decoded;
        let double = match insn.memory_size() {
            MemorySize::Float80 => false,
            MemorySize::Float64 => true,
            _ => return,
        };
        // What rules take in parts is looked at as it is on the stack.
        let is_other = double && self.mirror().settings.policy.is_born;
        if is_other || !self.is_wanted(at) {
            return;
        }
        let free = self.x87_place().expect("one of eight registers is without, and so is a place");
        let known = Known { double, ..free };
        let (from, to, value) = (self.guest_operand(insn), self.x87_kept(known), self.temporary(0));
        self.note_spilled(at.index);
        let hot = &mut self.out.hot;
        hot.vector_load(value, from, 8);
        if double {
            hot.vector_store(to, value, 8);
        } else {
            hot.vector(word(forms::INSERT_16, [value, value], from.plus(8), END));
            hot.vector_store(to, value, 16);
        }
        self.x87_written(7, Some(known));
    }

    /// Tells whether a rule of the block reads what the present instruction pushes.
    fn is_wanted(&mut self, at: At<'_>) -> bool {
        let mut depth = 0;
        for insn in at.block.insns[at.index + 1..].iter().map(|insn| &insn.decoded) {
            let Row::X87(row) = rows::row(insn) else { continue };
            match row {
                X87::Arith(op, _) => {
                    let registers = if has_memory(insn) {
                        [0, 0]
                    } else {
                        [insn.op0_register(), insn.op1_register()].map(|name| i32::from(register(name)))
                    };
                    if registers.contains(&depth) && self.x87_is_read(op) {
                        return true;
                    }
                    if registers[0] == depth {
                        return false;
                    }
                }
                X87::Unary(op) if depth == 0 => return op.is_arithmetic() && self.x87_is_read(op),
                X87::Exchange => {
                    let other = i32::from(register(insn.op_register(insn.op_count() - 1)));
                    depth = if depth == 0 {
                        other
                    } else if depth == other {
                        0
                    } else {
                        depth
                    };
                }
                X87::Store if !has_memory(insn) && depth == i32::from(register(insn.op0_register())) => {
                    return false;
                }
                X87::Rotate | X87::Environment if insn.fpu_stack_increment_info().writes_top() => {
                    return false;
                }
                X87::Free
                | X87::Reset
                | X87::ConditionalMove(_)
                | X87::SinCos
                | X87::Tangent
                | X87::Extract => {
                    return false;
                }
                _ => {}
            }
            let increment = if row.keeps_floats() { 0 } else { insn.fpu_stack_increment_info().increment() };
            depth -= increment;
            if depth < 0 {
                return false;
            }
        }
        false
    }
}
