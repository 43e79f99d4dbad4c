//! Functions that are one operation: at the entry operands and dots are noted, the function runs unannotated, and at its
//! return the dot of the result is computed, here or, where that takes more than arithmetic, by the evaluator.
//!
//! Which return is the function's is decided by the stack pointer. A function may leave anything in flags, vector
//! registers and most general ones, and so may this.

use super::encode::{self, NO_SIGN, NOT_EQUAL};
use crate::context::{Context, FunctionCall, reg};
use crate::x86::asm::{R11, RAX, RCX};
use crate::x86::code::{Displaced, ExitKind, Slot};
use crate::x86::emit::Emitter;
use crate::x86::function::Function;
use crate::x86::leave::pop_into_rcx;
use crate::x86::mode::Mode;
use crate::x86::rules::{self, Constants, Job, Rest};
use crate::x86::superblock::{Insn, Superblock};
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use shadowgrind_core::format::Format;
use std::mem::offset_of;

/// General registers that a function may leave anything in (System V ABI, 3.2.1).
pub(crate) const CALLER_SAVED: [usize; 9] =
    [reg::RAX, reg::RCX, reg::RDX, reg::RSI, reg::RDI, reg::R8, reg::R9, reg::R10, reg::R11];

/// Vector registers a rule may change: with AVX-512 temporaries and shadows, which are all cleared afterwards.
const UPPER: [u8; 8] = [31, 30, 17, 18, 19, 20, 21, 22];
const LOWER: [u8; 12] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
const MASKS: [u8; 3] = [1, 2, 3];
/// The mask register whose lowest bit alone is set.
const LOWEST_LANE: u8 = 4;

const JMP_BYTES: u8 = 5;
const SHORT_JMP_BYTES: u8 = 2;

impl Emitter {
    fn call_field(&self, offset: usize) -> u64 {
        self.frame.field(Context::OFFSET_CALL + offset as u32)
    }

    /// The function at the start of `block`, if its calls can be seen to without the engine.
    pub(in crate::x86) fn own_function(&mut self, block: &Superblock) -> Option<Function> {
        let may_carry = CALLER_SAVED.iter().fold(0, |mask, &n| mask | 1 << n);
        let function = block.function?;
        let mode = self.mode;
        let settled = mode.is_annotated() && !mode.is_off() && mode.mask() & !may_carry == 0;
        let settings = self.mirror().settings;
        let inline = !settings.records && !settings.slow && (self.has_upper() || !settings.wide);
        (settled && inline).then_some(function)
    }

    /// Enters the function at `start`.
    pub(in crate::x86) fn enter_function(&mut self, start: u64, function: Function) {
        let rcx = self.frame.slot(Slot::Rcx);
        self.out.hot.store(rcx, RCX);
        self.note(0, Displaced { rcx: true, ..Displaced::default() });
        for i in 0..function.op.arity() {
            let x = Mem::rip(self.call_field(offset_of!(FunctionCall, x) + 8 * i));
            let dot = self.call_field(offset_of!(FunctionCall, dots) + 8 * i);
            self.out.hot.vector_store(x, i as u8, 8);
            match self.shadow(i as u8) {
                Place::Reg(register) => self.out.hot.vector_store(Mem::rip(dot), register, 8),
                Place::Mem(mem) => {
                    encode::load_rcx(&mut self.out.hot, mem, 8);
                    self.out.hot.store(dot, RCX);
                }
            }
        }
        let returns = self.function_returns(function);
        let hot = &mut self.out.hot;
        let call = self.frame.field(Context::OFFSET_CALL);
        let field = |offset: usize| call + offset as u64;
        hot.store_imm32(field(offset_of!(FunctionCall, function)), function.bits() as i32);
        hot.store_imm32(
            field(offset_of!(FunctionCall, then)),
            i32::try_from(returns).expect("code below 2^31"),
        );
        // mov rcx, rsp; not rcx
        hot.raw(&[0x48, 0x89, 0xe1, 0x48, 0xf7, 0xd1]);
        hot.store(field(offset_of!(FunctionCall, not_stack)), RCX);
        let count = self.frame.field(Context::OFFSET_CALLS + 8 * u32::from(function.number));
        hot.load(RCX, count);
        hot.add_rcx(1);
        hot.store(count, RCX);
        hot.load(RCX, rcx);
        self.clear_cells(u16::MAX);
        self.on_inside(start);
    }

    /// Goes on at `start`, inside a function that runs as one operation.
    fn on_inside(&mut self, start: u64) {
        let onwards = self.out.hot.jmp_open();
        let stub = self.stub(ExitKind::Jump(start, Mode::WRAPPED.past_hook()), onwards.0);
        self.out.hot.patch(onwards, stub);
    }

    /// At `start`, which is hooked, while a function runs as one operation: nothing is to be done unless that was left by
    /// a jump or an exception.
    pub(in crate::x86) fn inside_function(&mut self, start: u64) {
        let left = self.stub(ExitKind::Hook(start), 0);
        let rcx = self.frame.slot(Slot::Rcx);
        let hot = &mut self.out.hot;
        hot.store(rcx, RCX);
        hot.load(RCX, self.frame.field(Context::OFFSET_CALL) + offset_of!(FunctionCall, not_stack) as u64);
        self.note(0, Displaced { rcx: true, ..Displaced::default() });
        let hot = &mut self.out.hot;
        // add rcx, rsp
        hot.raw(&[0x48, 0x01, 0xe1]);
        hot.load(RCX, rcx);
        let field = hot.jcc_open(NO_SIGN);
        hot.patch(field, left);
        self.on_inside(start);
    }

    /// Cold code for the return from `function`.
    fn function_returns(&mut self, function: Function) -> u64 {
        let start = self.out.cold.here();
        let call = self.frame.field(Context::OFFSET_CALL);
        let field = |offset: usize| call + offset as u64;
        let cold = &mut self.out.cold;
        cold.store(self.frame.field(Context::OFFSET_IB_TARGET), RCX);
        cold.load(RCX, self.frame.field(Context::OFFSET_X87_SHADOWED));
        cold.jrcxz_over(JMP_BYTES);
        cold.jmp(self.frame.function_left);
        cold.store(self.frame.slot(Slot::Rax), RAX);
        cold.mov_imm(RAX, 0);
        cold.store(field(offset_of!(FunctionCall, not_stack)), RAX);
        let to = if self.has_upper() { 16 } else { 1 };
        if function.format == Format::F64 && rules::is_arithmetic(function.op) {
            self.function_rule(function, to);
        } else {
            self.look_for_dots(function, to);
        }
        let evaluated = self.out.cold.jcc_open(NOT_EQUAL);
        let after = self.out.cold.here();
        self.leave_shadow_of_result(to);
        self.out.cold.jmp(self.frame.function_done);
        let here = self.out.cold.here();
        self.out.cold.patch(evaluated, here);
        const LEA_AND_JMP: u64 = 7 + 5;
        let resume = self.out.cold.here() + LEA_AND_JMP;
        self.out.cold.lea_rip(R11, resume);
        self.out.cold.jmp(self.frame.evaluate);
        let dot = Mem::rip(self.call_field(offset_of!(FunctionCall, dot)));
        self.out.cold.vector_load(to, dot, 8);
        self.out.cold.jmp(after);
        start
    }

    /// Computes the dot into register `to`; "not equal" if that takes more than the rule.
    fn function_rule(&mut self, function: Function, to: u8) {
        let place = |offset: usize| Place::Mem(Mem::rip(self.call_field(offset)));
        let x: [Place; 3] = std::array::from_fn(|i| place(offset_of!(FunctionCall, x) + 8 * i));
        let dots: [Place; 3] = std::array::from_fn(|i| place(offset_of!(FunctionCall, dots) + 8 * i));
        let count = function.op.arity();
        let upper = self.has_upper();
        let job = Job {
            op: function.op,
            format: function.format,
            width: 8,
            x: &x[..count],
            dots: &dots[..count],
            absent: 0,
            r: Place::Reg(0),
            to,
            rest: Rest::Zero,
            temps: if upper { &UPPER } else { &LOWER },
            masks: if upper { &MASKS } else { &[] },
            lanes: upper.then_some(LOWEST_LANE),
            spill: &[],
        };
        let constants = Constants::at(self.mirror().settings.constants);
        let binding = self.binding();
        rules::emit(&mut self.out.cold, binding, &job, &constants);
        // A rule says NaN for what it does not know.
        const UNORDERED: u8 = 3;
        let cold = &mut self.out.cold;
        if upper {
            let compare = Vector::new(forms::COMPARE_MASK, Format::F64, Length::B64, [1, to], Place::Reg(to));
            cold.vector(compare.suppressed().immediate(UNORDERED));
            encode::test_mask(cold);
        } else {
            let nan = LOWER[0];
            let compare = Vector::new(forms::COMPARE, Format::F64, Length::B16, [nan, to], Place::Reg(to));
            cold.vector(compare.immediate(UNORDERED));
            let test = Vector::unary(forms::TEST_FLAGS, Format::F64, Length::B16, nan, Place::Reg(nan));
            cold.vector(test);
        }
    }

    /// Clears register `to`; "not equal" if an operand has a dot.
    fn look_for_dots(&mut self, function: Function, to: u8) {
        let dot = |i: usize| Mem::rip(self.call_field(offset_of!(FunctionCall, dots) + 8 * i));
        let dots = [dot(0), dot(1), dot(2)];
        let zero = Vector::new(forms::XOR, Format::F64, Length::B16, [to; 2], Place::Reg(to));
        let cold = &mut self.out.cold;
        cold.vector(zero);
        for (i, &dot) in dots[..function.op.arity()].iter().enumerate() {
            encode::gather_rcx(cold, dot, i == 0);
        }
        encode::test_rcx(cold);
    }

    /// Vector register 0 has the shadow in `to`, the others have none.
    fn leave_shadow_of_result(&mut self, to: u8) {
        let zero = |register: u8| {
            Vector::new(forms::XOR, Format::F64, Length::B16, [register; 2], Place::Reg(register))
        };
        let upper = self.has_upper();
        let none = if upper { 31 } else { LOWER[0] };
        self.out.cold.vector(zero(none));
        let bytes = self.shadow_bytes();
        for n in 0..16 {
            let register = if n == 0 { to } else { none };
            match self.shadow(n) {
                Place::Reg(place) if place == register => {}
                Place::Reg(place) => self.out.cold.vector(zero(place)),
                Place::Mem(mem) => self.out.cold.vector_store(mem, register, bytes),
            }
        }
    }

    /// A return in a function that runs as one operation: perhaps its own. rcx is in its slot.
    pub(in crate::x86) fn function_return(&mut self, index: usize, insn: &Insn) {
        let call = self.frame.field(Context::OFFSET_CALL);
        let own = self.out.cold.here();
        // The return address is there: the function was called.
        pop_into_rcx(&mut self.out.cold, insn);
        self.out.cold.jmp_slot(call + offset_of!(FunctionCall, then) as u64);
        self.out.hot.load(RCX, call + offset_of!(FunctionCall, not_stack) as u64);
        self.note(index, Displaced { rcx: true, ..Displaced::default() });
        let hot = &mut self.out.hot;
        // lea rcx, [rsp + rcx + 1]
        hot.raw(&[0x48, 0x8d, 0x4c, 0x0c, 0x01]);
        hot.jrcxz_over(SHORT_JMP_BYTES);
        hot.raw(&[0xeb, JMP_BYTES]);
        hot.jmp(own);
    }
}
