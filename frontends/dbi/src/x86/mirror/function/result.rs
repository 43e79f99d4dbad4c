//! The return of a function that is one operation, and the shadows of its results: by its rule, or by the evaluator where that takes more than arithmetic.

use super::super::arith::lanes_mask;
use super::super::encode::{self, EQUAL, NOT_EQUAL};
use super::{LOWER, MASKS, UPPER, through};
use crate::context::{Context, FunctionCall};
use crate::x86::asm::{R11, RAX, RCX, Rel32};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::function::{Function, Goes, Shape};
use crate::x86::rules::{self, Constants, InlineRule, WrappedCall};
use crate::x86::vector::{Length, Mem, Place, Vector, forms};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use std::mem::offset_of;

/// A result whose shadow may take the evaluator.
struct PendingShadow {
    /// With the operation.
    function: Function,
    goes: Goes,
    /// The register for the shadow.
    to: u8,
    /// The jump that is taken with an unknown shadow.
    unknown: Rel32,
    /// Registers whose shadow is expected to be known.
    known: u64,
    /// The jump of those for which the whole rule is needed, and where it goes on after that.
    whole: Option<(Rel32, u64)>,
}

impl Emitter {
    /// Cold code for the return from `function`. Its calls that make whole numbers of floats with shadows are counted under `rounds`.
    pub(super) fn function_returns(&mut self, function: Function, rounds: Option<u16>) -> u64 {
        let left = self.out.cold.here();
        self.keep_integer_result(function, false);
        self.out.cold.jmp(self.frame.function_returned);
        let begin = self.out.cold.here();
        self.keep_integer_result(function, true);
        rounds.into_iter().for_each(|number| self.count_call(function, number, left));
        let doubted = self.doubted_rounding(function);
        doubted.into_iter().for_each(|op| self.ask_of_call(Function { op, ..function }, left));
        self.forget_function();
        if function.shape == Shape::Frexp {
            self.keep_exponent(function);
        }
        self.clear_int(function);
        let results: Vec<(usize, PendingShadow)> = function
            .results()
            .enumerate()
            .filter_map(|(n, (op, goes))| {
                if doubted == Some(op) || self.is_constant(op) {
                    self.put_no_shadow(goes, function.width);
                    return None;
                }
                Some((n, self.shadow_of_result(Function { op, ..function }, goes)))
            })
            .collect();
        self.keep_integer_result(function, false);
        self.on_after_function(0);
        for (n, result) in results {
            if let Some((field, onwards)) = result.whole {
                let here = self.out.cold.here();
                self.out.cold.patch(field, here);
                let rule = self.begin_cold_rule(false);
                let written = self.function_rule(result.function, result.to, 0);
                self.end_cold_rule(rule, false);
                self.clear_shadows(written & !(1 << result.to));
                self.out.cold.jmp(onwards);
            }
            let here = self.out.cold.here();
            self.out.cold.patch(result.unknown, here);
            self.say_present(n);
            self.evaluate(&result);
            if self.mirror().settings.policy.is_born || self.mirror().settings.appends {
                self.exit_if_unknown(left);
            }
            self.out.cold.jmp(result.known);
        }
        begin
    }

    /// Gives one result its shadow.
    fn shadow_of_result(&mut self, function: Function, goes: Goes) -> PendingShadow {
        let result = Mem::rip(self.call_field(offset_of!(FunctionCall, result)));
        // A register that is no result.
        let value = if self.has_upper() { UPPER[0] } else { LOWER[0] };
        let to = self.register_of_shadow(goes);
        let width = function.width;
        match goes {
            Goes::Register => self.out.cold.vector_store(result, 0, width.max(16)),
            Goes::Through(i) => {
                let pointer = self.pointer_of_call(i);
                let cold = &mut self.out.cold;
                cold.load(RAX, pointer);
                // The function has just written there.
                cold.vector_load(value, through(RAX, false), width);
                cold.vector_store(result, value, width);
            }
        }
        let ruled = self.mirror().settings.rule.is_some_and(|rule| rule.is_arithmetic(function.op));
        let rule = ruled.then(|| self.begin_cold_rule(true));
        let mut whole = None;
        let written = if ruled && function.op.arity() == 2 && function.lanes() == 1 {
            // Powers of constant exponents are the rule, and most of this one is about others.
            const SECOND: u8 = 2;
            let shadow = self.shadow_of_call(1);
            encode::compare_zero(&mut self.out.cold, shadow, width.into());
            let field = self.out.cold.jcc_open(NOT_EQUAL);
            let written = self.function_rule(function, to, SECOND);
            whole = Some((field, self.out.cold.here()));
            written
        } else if ruled {
            self.function_rule(function, to, 0)
        } else if self.mirror().settings.policy.is_born {
            1 << to
        } else {
            self.look_for_shadows(function, to)
        };
        if let Some(rule) = rule {
            self.look_for_unknown(function, to);
            self.end_cold_rule(rule, true);
        }
        let always = !ruled && self.mirror().settings.policy.is_born;
        let cold = &mut self.out.cold;
        let unknown = if always { cold.jmp_open() } else { cold.jcc_open(NOT_EQUAL) };
        let known = self.out.cold.here();
        self.put_result_shadow(goes, to, width);
        self.clear_shadows(if goes == Goes::Register { written & !(1 << to) } else { written });
        PendingShadow { function, goes, to, unknown, known, whole }
    }

    /// The register that the shadow of a result that `goes` there is computed in.
    fn register_of_shadow(&mut self, goes: Goes) -> u8 {
        match self.has_upper() {
            true => 16 + u8::from(goes != Goes::Register),
            false => 1,
        }
    }

    /// Tells whether a result of this operation depends on nothing, so that nothing is appended for it.
    pub(in crate::x86::mirror) fn is_constant(&mut self, op: Op) -> bool {
        self.mirror().settings.appends && op.makes_whole()
    }

    /// Says of which result the shadow is evaluated next, by its place among the results.
    pub(in crate::x86::mirror) fn say_present(&mut self, n: usize) {
        if self.mirror().settings.appends {
            let present = self.call_field(offset_of!(FunctionCall, present));
            self.out.cold.store_imm64(present, n as i32);
        }
    }

    /// The result that `goes` there has no shadow.
    fn put_no_shadow(&mut self, goes: Goes, width: u8) {
        let to = self.register_of_shadow(goes);
        let zero = Vector::new(forms::XOR, Format::F64, Length::B16, [to; 2], Place::Reg(to));
        self.out.cold.vector(zero);
        self.put_result_shadow(goes, to, width);
    }

    /// Leaves the return of a function that rounds its operand to an integer to the engine, at `left`, if that may come out otherwise by
    /// the shadow.
    fn ask_of_call(&mut self, function: Function, left: u64) {
        let absent = self.without_shadows(function);
        if function.op == Op::Rint {
            self.exit_unless_to_nearest(left);
        }
        let doubt = self.mirror().settings.doubt.expect("a shadow that asks");
        let (to, answer) =
            (self.register_of_shadow(Goes::Register), self.call_field(offset_of!(FunctionCall, shadow)));
        let rule = self.begin_cold_rule(true);
        let written = self.applied_rule(doubt, function, to, 0);
        self.end_cold_rule(rule, true);
        let cold = &mut self.out.cold;
        cold.vector_store(Mem::rip(answer), to, function.width);
        encode::compare_zero(cold, Mem::rip(answer), function.width.into());
        let differs = cold.jcc_open(NOT_EQUAL);
        cold.patch(differs, left);
        self.clear_shadows(written);
        let here = self.out.cold.here();
        self.out.cold.patch(absent, here);
    }

    /// Goes to `left` if the program's operations round otherwise than to the nearest.
    fn exit_unless_to_nearest(&mut self, left: u64) {
        let mxcsr = self.frame.slot(Slot::Mxcsr);
        let cold = &mut self.out.cold;
        cold.store_mxcsr(mxcsr);
        encode::test_bits(cold, Mem::rip(mxcsr), encode::ROUNDING);
        let differs = cold.jcc_open(NOT_EQUAL);
        cold.patch(differs, left);
    }

    /// Has the evaluator compute a shadow, of which nothing but rcx is left as it was.
    pub(in crate::x86::mirror) fn call_evaluator(&mut self, function: Function) {
        const LEA_AND_JMP: u64 = 7 + 5;
        let bits = self.call_field(offset_of!(FunctionCall, function));
        let target = self.frame.field(Context::OFFSET_IB_TARGET);
        let cold = &mut self.out.cold;
        cold.store(target, RCX);
        cold.store_imm64(bits, function.bits() as i32);
        let resume = cold.here() + LEA_AND_JMP;
        cold.lea_rip(R11, resume);
        cold.jmp(self.frame.evaluate);
        cold.load(RCX, target);
    }

    /// Has the evaluator compute a shadow.
    fn evaluate(&mut self, result: &PendingShadow) {
        let PendingShadow { function, goes, to, .. } = *result;
        self.call_evaluator(function);
        let (result, shadow) = (offset_of!(FunctionCall, result), offset_of!(FunctionCall, shadow));
        let (result, shadow) = (Mem::rip(self.call_field(result)), Mem::rip(self.call_field(shadow)));
        let cold = &mut self.out.cold;
        if goes == Goes::Register {
            cold.vector_load(0, result, function.width.max(16));
        }
        cold.vector_load(to, shadow, function.width);
    }

    /// After the evaluator: leaves the rest, with the function's return, to the engine if there is something that it does not know.
    pub(in crate::x86::mirror) fn exit_if_unknown(&mut self, left: u64) {
        let [not_stack, is_unknown] =
            [offset_of!(FunctionCall, not_stack), offset_of!(FunctionCall, is_unknown)]
                .map(|at| self.call_field(at));
        let cold = &mut self.out.cold;
        encode::compare_zero(cold, Mem::rip(is_unknown), 8);
        let known = cold.jcc_open(EQUAL);
        // There is such a function still: lea r11, [rsp-8]; not r11
        cold.raw(&[0x4c, 0x8d, 0x5c, 0x24, 0xf8, 0x49, 0xf7, 0xd3]);
        cold.store(not_stack, R11);
        cold.jmp(left);
        let here = cold.here();
        cold.patch(known, here);
    }

    /// Computes the shadow into register `to`, as far as that takes no more than the rule; shadows with a bit in `absent` are known
    /// to be absent. Returns the registers written.
    fn function_rule(&mut self, function: Function, to: u8, absent: u8) -> u32 {
        let rule = self.inline_rule();
        self.applied_rule(rule, function, to, absent)
    }

    /// Emits what [`function_rule`](Emitter::function_rule) does, of this rule.
    fn applied_rule(&mut self, rule: InlineRule, function: Function, to: u8, absent: u8) -> u32 {
        let Function { op, format, width, .. } = function;
        let upper = self.has_upper();
        let applied = WrappedCall {
            rule,
            op,
            format,
            width,
            x: [0, 1, 2].map(|i| self.operand_of_call(i)),
            shadows: [0, 1, 2].map(|i| self.shadow_of_call(i)),
            absent,
            r: Mem::rip(self.call_field(offset_of!(FunctionCall, result))),
            spill: Mem::rip(self.call_field(offset_of!(FunctionCall, shadow))),
            to,
            temps: if upper { &UPPER } else { &LOWER },
            masks: if upper { &MASKS } else { &[] },
            lanes: lanes_mask,
        };
        let constants = Constants::at(self.mirror().settings.constants);
        let binding = self.binding();
        rules::emit_function(&mut self.out.cold, binding, &applied, &constants)
    }

    /// Sets the flags to "not equal" if a rule's result in register `to` is NaN, which stands for an unknown shadow.
    fn look_for_unknown(&mut self, function: Function, to: u8) {
        const UNORDERED: u8 = 3;
        let Function { format, width, .. } = function;
        let upper = self.has_upper();
        let cold = &mut self.out.cold;
        if upper {
            let length = if width <= 8 { Length::Scalar } else { Length::B64 };
            let compare = Vector::new(forms::COMPARE_MASK, format, length, [1, to], Place::Reg(to));
            cold.vector(compare.suppressed().immediate(UNORDERED));
            encode::test_mask(cold);
        } else {
            let nan = LOWER[0];
            let length = Length::of(width.max(16));
            let compare = Vector::new(forms::COMPARE, format, length, [nan, to], Place::Reg(to));
            cold.vector(compare.immediate(UNORDERED));
            cold.vector(Vector::unary(forms::TEST_FLAGS, format, length, nan, Place::Reg(nan)));
        }
    }

    /// Clears register `to`; "not equal" if an operand has a shadow. Returns the registers written.
    fn look_for_shadows(&mut self, function: Function, to: u8) -> u32 {
        let zero = Vector::new(forms::XOR, Format::F64, Length::B16, [to; 2], Place::Reg(to));
        self.out.cold.vector(zero);
        self.test_shadows(0..function.op.arity(), function.width);
        1 << to
    }

    /// The result that `goes` there has the shadow in `to`.
    fn put_result_shadow(&mut self, goes: Goes, to: u8, width: u8) {
        match (goes, self.shadow(0)) {
            (Goes::Through(i), _) => {
                let pointer = self.pointer_of_call(i);
                self.out.cold.load(RAX, pointer);
                self.out.cold.vector_store(through(RAX, true), to, width);
            }
            (Goes::Register, Place::Reg(place)) => assert_eq!(place, to, "computed in its place"),
            (Goes::Register, Place::Mem(mem)) => {
                let bytes = self.shadow_bytes();
                self.out.cold.vector_store(mem, to, bytes);
            }
        }
    }

    /// Shadow registers among `registers` carry nothing.
    fn clear_shadows(&mut self, registers: u32) {
        let shadows = (16..16 + self.mirror().settings.in_registers).filter(|n| registers >> n & 1 == 1);
        for n in shadows {
            let zero = Vector::new(forms::XOR, Format::F64, Length::B16, [n; 2], Place::Reg(n));
            self.out.cold.vector(zero);
        }
    }
}
