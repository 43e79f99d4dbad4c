//! Functions of long doubles that are one operation: operands are on the stack, the result on that of x87. Their shadows are
//! computed by the evaluator, as what is there as ten bytes has to be made doubles first.
//!
//! At the return the result is taken off the x87 stack and loaded again, which raises no exception. Where one waits to be raised, the
//! engine sees to the return.

use super::encode::{self, EQUAL, NOT_EQUAL};
use super::function::through;
use super::x87_stack::NUMBER;
use crate::context::{Context, FunctionCall};
use crate::x86::asm::{R11, RAX, RSP, Rel32};
use crate::x86::emit::Emitter;
use crate::x86::function::{Function, Goes, Shape};
use crate::x86::state;
use crate::x86::vector::{At, Mem, Place};
use shadowgrind_core::ops::Op;
use std::mem::offset_of;

/// Bytes of a return address, and of each long double after it.
const RETURN: i32 = 8;
const EACH: i32 = 16;

impl Emitter {
    /// Notes operand `i`, the long double number `n` on the stack, and its shadow.
    pub(super) fn keep_long(&mut self, i: usize, n: u8) {
        let displacement = RETURN + EACH * i32::from(n);
        let at = At::Base { base: Some(RSP), index: None, displacement };
        let [value, cell] = [false, true].map(|gs| Mem { gs, fs: false, address32: false, at });
        let (x, shadow) = (self.operand_of_call(i), self.shadow_of_call(i));
        let hot = &mut self.out.hot;
        encode::store_zero(hot, shadow.plus(8), 8);
        // As a store by x87, and by annotations, has left them: a processor waits where a load takes parts of two.
        for (from, to, at, bytes) in
            [(value, x, 0, 8), (value, x, 8, 2), (cell, shadow, 0, 2), (cell, shadow, NUMBER, 8)]
        {
            encode::load(hot, R11, from.plus(at), bytes);
            encode::store(hot, to.plus(at), R11, bytes);
        }
    }

    /// Cold code for the return from `function`. Its calls that make whole numbers of floats with shadows are counted under `rounds`.
    pub(super) fn long_returns(&mut self, function: Function, rounds: Option<u16>) -> u64 {
        let left = self.out.cold.here();
        self.keep_integer_result(function, false);
        self.out.cold.jmp(self.frame.function_returned);
        let begin = self.out.cold.here();
        self.keep_integer_result(function, true);
        self.exit_if_exception_waits(left);
        rounds.into_iter().for_each(|number| self.count_call(function, number, left));
        self.forget_function();
        let results: Vec<(Op, Goes)> = function.results().collect();
        let pushed = results.iter().filter(|(_, goes)| *goes == Goes::Register).count() as u8;
        for &(_, goes) in &results {
            if let Goes::Through(i) = goes {
                self.clear_through(i);
            }
        }
        self.clear_int(function);
        let absent = self.without_shadows(function);
        if function.shape == Shape::Frexp {
            self.keep_exponent(function);
        }
        for (n, (op, goes)) in results.into_iter().enumerate() {
            if self.is_constant(op) {
                continue;
            }
            let function = Function { op, ..function };
            self.say_present(n);
            match goes {
                Goes::Register => self.evaluate_top(function, left),
                Goes::Through(i) => self.evaluate_through(function, i, left),
            }
        }
        let here = self.out.cold.here();
        self.out.cold.patch(absent, here);
        self.keep_integer_result(function, false);
        self.on_after_function(pushed);
        begin
    }

    fn result_of_call(&self) -> Mem {
        Mem::rip(self.call_field(offset_of!(FunctionCall, result)))
    }

    /// Has the evaluator compute the shadow of a result. What it cannot is left to the engine, at `left`.
    fn evaluate_long(&mut self, function: Function, left: u64) {
        self.call_evaluator(function);
        if self.mirror().settings.appends {
            self.exit_if_unknown(left);
        }
    }

    /// Gives the result on top of the x87 stack, if there is one, its shadow.
    fn evaluate_top(&mut self, function: Function, left: u64) {
        let (result, none) = (self.result_of_call(), self.without_result());
        let shadowed = Mem::rip(self.frame.field(Context::OFFSET_X87_SHADOWED));
        let cells = self.frame.field(Context::OFFSET_SHADOWS + u32::from(state::X87));
        let cold = &mut self.out.cold;
        // fstp; fld
        for digit in [7, 5] {
            cold.raw(&[0xdb]);
            cold.operand(digit, Place::Mem(result), 1, 0);
        }
        self.evaluate_long(function, left);
        let cold = &mut self.out.cold;
        // fnstsw ax; shr eax, 7; and eax, 0x70: sixteen bytes for each register below the top. lea r11, [r11 + rax]
        cold.raw(&[0xdf, 0xe0, 0xc1, 0xe8, 0x07, 0x83, 0xe0, 0x70]);
        cold.lea_rip(R11, cells);
        cold.raw(&[0x4d, 0x8d, 0x1c, 0x03]);
        self.put_long(through(R11, false));
        let cold = &mut self.out.cold;
        encode::store_imm32(cold, shadowed, 1);
        let here = cold.here();
        cold.patch(none, here);
    }

    /// Gives the result that pointer `i` leads to, where the function has just written, its shadow.
    fn evaluate_through(&mut self, function: Function, i: usize, left: u64) {
        let (result, pointer) = (self.result_of_call(), self.pointer_of_call(i));
        let cold = &mut self.out.cold;
        cold.load(R11, pointer);
        for (at, bytes) in [(0, 8), (8, 2)] {
            encode::load(cold, RAX, through(R11, false).plus(at), bytes);
            encode::store(cold, result.plus(at), RAX, bytes);
        }
        self.evaluate_long(function, left);
        self.out.cold.load(R11, pointer);
        self.put_long(through(R11, true));
    }

    /// Clears the shadow that pointer `i` leads to.
    fn clear_through(&mut self, i: usize) {
        let pointer = self.pointer_of_call(i);
        let cold = &mut self.out.cold;
        cold.load(R11, pointer);
        for (at, bytes) in [(0, 2), (NUMBER, 8)] {
            encode::store_zero(cold, through(R11, true).plus(at), bytes);
        }
    }

    /// Puts the shadow that was evaluated into the cell of ten bytes, as annotations do: a processor waits where a load takes parts of
    /// two stores.
    fn put_long(&mut self, cell: Mem) {
        let shadow = Mem::rip(self.call_field(offset_of!(FunctionCall, shadow)));
        for (at, bytes) in [(NUMBER, 8), (0, 2)] {
            encode::load(&mut self.out.cold, RAX, shadow.plus(at), bytes);
            encode::store(&mut self.out.cold, cell.plus(at), RAX, bytes);
        }
    }

    /// A jump that is taken if no operand has a shadow.
    pub(super) fn without_shadows(&mut self, function: Function) -> Rel32 {
        let floats = (0..function.given()).filter(|&i| !function.op.operands()[i].integer);
        self.test_shadows(floats, function.width);
        self.out.cold.jcc_open(EQUAL)
    }

    /// Goes to `left` if an exception of x87 waits to be raised by the next instruction.
    fn exit_if_exception_waits(&mut self, left: u64) {
        let cold = &mut self.out.cold;
        // fnstsw ax; test al, 0x80
        cold.raw(&[0xdf, 0xe0, 0xa8, 0x80]);
        let waits = cold.jcc_open(NOT_EQUAL);
        cold.patch(waits, left);
    }

    /// A jump that is taken if there is no result on top of the x87 stack.
    fn without_result(&mut self) -> Rel32 {
        let cold = &mut self.out.cold;
        // fxam; fnstsw ax; and eax, 0x4500; cmp eax, 0x4100: empty
        cold.raw(&[0xd9, 0xe5, 0xdf, 0xe0, 0x25, 0x00, 0x45, 0, 0, 0x3d, 0x00, 0x41, 0, 0]);
        cold.jcc_open(EQUAL)
    }
}
