//! Functions that are one operation: at the entry operands and shadows are noted, the function runs unannotated, and at its
//! return the shadows of its results are computed, here or, where that takes more than arithmetic, by the evaluator.
//!
//! Which return is the function's is decided by the stack pointer. A function may leave anything in flags, vector
//! registers and most general ones, and so may this. Shadows of vector registers are left as they are, but for the result's: a
//! caller that reads another register knows that the function leaves it alone. So are those of general registers that all
//! functions preserve.

mod result;

use super::Watched;
use super::descriptor::{RecordDescriptor, What};
use super::encode::{self, EQUAL, NO_SIGN};
use crate::context::{CallVector, Context, FunctionCall, LAST_ATTRIBUTED, reg};
use crate::mailbox::Mailbox;
use crate::x86::asm::{Asm, Gpr, R11, RAX, RCX, RDI, RSI};
use crate::x86::branch_table::table_jump;
use crate::x86::code::{ExitKind, Spilled};
use crate::x86::emit::Emitter;
use crate::x86::exits::pop_into_rcx;
use crate::x86::function::{Counted, Function, Shape};
use crate::x86::insn::Insn;
use crate::x86::mode::Mode;
use crate::x86::state;
use crate::x86::superblock::Superblock;
use crate::x86::vector::{At, Length, Mem, Place, Vector, forms};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use std::mem::offset_of;

/// Mask of [`reg::CALLER_SAVED`].
fn caller_saved() -> u16 {
    reg::CALLER_SAVED.iter().fold(0, |mask, &n| mask | 1 << n)
}

/// Vector registers a rule may change: with AVX-512 temporaries and shadows, which are cleared afterwards.
const UPPER: [u8; 12] = [31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20];
const LOWER: [u8; 12] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
const MASKS: [u8; 3] = [1, 2, 3];

impl Emitter {
    pub(super) fn call_field(&self, offset: usize) -> u64 {
        self.frame.field(Context::OFFSET_CALL + offset as u32)
    }

    pub(super) fn operand_of_call(&self, i: usize) -> Mem {
        Mem::rip(self.call_field(offset_of!(FunctionCall, x) + size_of::<CallVector>() * i))
    }

    pub(super) fn shadow_of_call(&self, i: usize) -> Mem {
        Mem::rip(self.call_field(offset_of!(FunctionCall, shadows) + size_of::<CallVector>() * i))
    }

    pub(super) fn pointer_of_call(&self, i: usize) -> u64 {
        self.call_field(offset_of!(FunctionCall, pointers) + 8 * i)
    }

    /// The function at the start of `block`, if its calls can be seen to without the engine.
    pub(in crate::x86) fn own_function(&mut self, block: &Superblock) -> Option<Counted> {
        let function = block.function?;
        let mode = self.mode;
        if mode.is_bare() {
            // Nothing has a shadow, and where none is born of such operands, the function is to be counted only.
            let settings = self.mirror.as_ref()?.settings;
            return (!settings.slow && !settings.policy.is_born).then_some(function);
        }
        let settled = mode.is_annotated() && !mode.is_off();
        let settings = self.mirror().settings;
        // Roundings are of places, and a function is called from many.
        let appends = settings.appends && !settings.roundings;
        let is_ours = settings.rule.is_some() || appends;
        let takes_long = !settings.policy.is_born || function.function.format != Format::F80;
        let binds = (self.has_upper() || !settings.wide) && takes_long;
        let inline = is_ours && !settings.slow && binds;
        let results = || function.function.results();
        let is_ruled = |(op, _)| settings.rule.is_some_and(|rule| rule.is_arithmetic(op));
        // Where roundings count, the evaluator may have to ask the engine, which sees to all results then.
        let is_evaluated = |(op, _)| settings.policy.evaluated.contains(&op);
        let doubted = self.doubted_rounding(function.function);
        let is_asked = |(op, _)| doubted == Some(op);
        let suffices = !settings.policy.is_born
            || results().all(|result| is_ruled(result) || is_evaluated(result) || is_asked(result));
        let converts = settings.policy.conversions && function.function.converts().is_some();
        let suffices = suffices && (!converts || doubted.is_some());
        let is_seen = settings.policy.watch.is_none() || self.watches(block.start) != Watched::Always;
        (settled && inline && suffices && is_seen).then_some(function)
    }

    /// The operation by which the function makes a whole number of its operand, if the shadow asks whether that may come out
    /// otherwise.
    pub(super) fn doubted_rounding(&mut self, function: Function) -> Option<Op> {
        let asks = self.mirror().settings.doubt.is_some() && function.lanes() == 1;
        function.rounds_by().filter(|_| asks)
    }

    /// Enters the function at `start`.
    pub(in crate::x86) fn enter_function(&mut self, start: u64, counted: Counted) {
        let Counted { function, number, rounds } = counted;
        if function.width > 16 {
            // It leaves upper halves in use, though it may have met none.
            self.mode = self.mode.narrow(false);
        }
        let (mut vector, mut general) = (0, RDI);
        for i in 0..function.given() {
            if function.op.operands()[i].integer {
                self.keep_integer(i, function);
                general = RSI;
            } else if function.format == Format::F80 {
                self.keep_long(i, vector);
                vector += 1;
            } else {
                self.keep_operand(i, vector, function.width);
                vector += 1;
            }
        }
        for i in 0..function.pointers() {
            let pointer = self.pointer_of_call(i);
            self.out.hot.store(pointer, general);
            general = RSI;
        }
        let returns = match function.format {
            Format::F80 => self.long_returns(function, rounds),
            _ => self.function_returns(function, rounds),
        };
        let call = self.frame.field(Context::OFFSET_CALL);
        let field = |offset: usize| call + offset as u64;
        let count = self.frame.field(Context::OFFSET_CALLS + 8 * u32::from(number));
        if self.mirror().settings.appends {
            for (n, (op, _)) in function.results().enumerate().filter(|(_, (op, _))| !op.makes_whole()) {
                let id = self.kind(start + u64::from(op == Op::Cos), Function { op, ..function });
                let kind = field(offset_of!(FunctionCall, kinds) + size_of::<u64>() * n);
                self.out.hot.store_imm32(kind, id as i32);
            }
        }
        let hot = &mut self.out.hot;
        hot.store_imm64(field(offset_of!(FunctionCall, function)), function.bits() as i32);
        let then = i32::try_from(returns).expect("code below 2^31");
        hot.store_imm64(field(offset_of!(FunctionCall, then)), then);
        // mov r11, rsp; not r11
        hot.raw(&[0x49, 0x89, 0xe3, 0x49, 0xf7, 0xd3]);
        hot.store(field(offset_of!(FunctionCall, not_stack)), R11);
        encode::increment(hot, Mem::rip(count));
        self.clear_cells(caller_saved());
        self.on_inside(start);
    }

    /// Goes on at `start`, in the function that begins there: while nothing has a shadow, its calls are counted only.
    pub(in crate::x86) fn pass_function(&mut self, start: u64, counted: Counted) {
        let count = self.frame.field(Context::OFFSET_CALLS + 8 * u32::from(counted.number));
        encode::increment(&mut self.out.hot, Mem::rip(count));
        let onwards = self.out.hot.jmp_open();
        let stub = self.stub(ExitKind::Jump(start, self.mode.past_hook()), onwards.0);
        self.out.hot.patch(onwards, stub);
    }

    /// Notes operand `i`, in vector register `register`, and its shadow.
    fn keep_operand(&mut self, i: usize, register: u8, width: u8) {
        let (x, shadow) = (self.operand_of_call(i), self.shadow_of_call(i));
        self.out.hot.vector_store(x, register, width);
        match self.shadow(register) {
            Place::Reg(register) => self.out.hot.vector_store(shadow, register, width),
            Place::Mem(mem) => {
                for at in (0..i32::from(width)).step_by(8) {
                    encode::load(&mut self.out.hot, R11, mem.plus(at), width.min(8).into());
                    encode::store(&mut self.out.hot, shadow.plus(at), R11, width.min(8).into());
                }
            }
        }
    }

    /// Notes operand `i`, the first integer.
    fn keep_integer(&mut self, i: usize, function: Function) {
        let (x, shadow) = (self.operand_of_call(i), self.shadow_of_call(i));
        let hot = &mut self.out.hot;
        if function.shape == Shape::Int {
            // movsxd r11, edi
            hot.raw(&[0x4c, 0x63, 0xdf]);
            encode::store(hot, x, R11, 8);
        } else {
            encode::store(hot, x, RDI, 8);
        }
        clear_operand(hot, shadow, function);
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
        let not_stack = self.call_field(offset_of!(FunctionCall, not_stack));
        let hot = &mut self.out.hot;
        hot.load(R11, not_stack);
        // add r11, rsp
        hot.raw(&[0x49, 0x01, 0xe3]);
        let field = hot.jcc_open(NO_SIGN);
        hot.patch(field, left);
        self.on_inside(start);
    }

    /// There is no such function any more, and on the x87 stack nothing that is known of.
    pub(super) fn forget_function(&mut self) {
        const CLEARED: u8 = 1;
        let x87 = Mem::rip(self.frame.field(Context::OFFSET_X87_SHADOWED));
        let not_stack = Mem::rip(self.call_field(offset_of!(FunctionCall, not_stack)));
        let cells: Vec<Mem> = (0..8)
            .map(|n| Mem::rip(self.frame.field(Context::OFFSET_SHADOWS + u32::from(state::x87(n, 0)))))
            .collect();
        let cold = &mut self.out.cold;
        encode::store_zero(cold, not_stack, 8);
        encode::compare_zero(cold, x87, 8);
        let none = cold.jcc_open(EQUAL);
        encode::store_zero(cold, x87, 8);
        let operands = [CLEARED; 2];
        cold.vector(Vector::new(forms::XOR, Format::F64, Length::B16, operands, Place::Reg(CLEARED)));
        cells.into_iter().for_each(|cell| cold.vector_store(cell, CLEARED, 16));
        let here = cold.here();
        cold.patch(none, here);
    }

    /// Goes on at the return address in rcx, after a function that has put `pushed` results on the x87 stack. A request that came
    /// since the return was noted only.
    pub(super) fn on_after_function(&mut self, pushed: u8) {
        let top = self.mode.top().wrapping_sub(pushed);
        let kept = Mode::cells(self.mode.mask() & !caller_saved()).with_top(top);
        let mode = kept.narrow(self.mode.is_narrow()).isolated(self.mode.may_settle());
        let table = mode.table().expect("the commonest modes have tables");
        let no_request = Mem::rip(self.frame.field(Mailbox::OFFSET_NO_REQUEST));
        let cold = &mut self.out.cold;
        encode::compare_zero(cold, no_request, 4);
        let asked = cold.jcc_open(EQUAL);
        let site = table_jump(cold, &self.frame, table, mode);
        self.out.exits.push(site);
        let cold = &mut self.out.cold;
        let here = cold.here();
        cold.patch(asked, here);
        cold.store(self.frame.field(Context::OFFSET_IB_TARGET), RCX);
        cold.jmp(self.frame.ib_misses[table]);
    }

    /// Notes the second operand of the scaling that `frexp` has done: the exponent's opposite.
    pub(super) fn keep_exponent(&mut self, function: Function) {
        let (x, shadow, pointer) = (self.operand_of_call(1), self.shadow_of_call(1), self.pointer_of_call(0));
        let cold = &mut self.out.cold;
        cold.load(RAX, pointer);
        // The function has just written there. movsxd rax, dword ptr [rax]; neg rax
        cold.raw(&[0x48, 0x63, 0x00, 0x48, 0xf7, 0xd8]);
        encode::store(cold, x, RAX, 8);
        clear_operand(cold, shadow, function);
    }

    /// Leaves no shadow beside the `int` that the function has written, if it writes one: a float may have been there, and the function's
    /// own code was not annotated.
    pub(super) fn clear_int(&mut self, function: Function) {
        if !function.writes_int() {
            return;
        }
        const INT: usize = size_of::<i32>();
        let pointer = self.pointer_of_call(0);
        let cold = &mut self.out.cold;
        cold.load(RAX, pointer);
        encode::store_zero(cold, through(RAX, true), INT);
    }

    /// Sets the flags to "not equal" if one of these operands of the call, of `width` bytes each, has a shadow.
    pub(super) fn test_shadows(&mut self, operands: impl Iterator<Item = usize>, width: u8) {
        let shadows = operands.map(|i| self.shadow_of_call(i));
        let words =
            shadows.flat_map(|shadow| (0..i32::from(width)).step_by(8).map(move |at| shadow.plus(at)));
        let words: Vec<Mem> = words.collect();
        let cold = &mut self.out.cold;
        for (i, &word) in words.iter().enumerate() {
            encode::gather(cold, RAX, word, width.min(8).into(), i == 0);
        }
        encode::test_rax(cold);
    }

    /// Counts under `number` that the function, which is about to return, has made whole numbers of floats with shadows. The first of
    /// its calls that do so are left to the engine, at `left`, which knows who has called it.
    pub(super) fn count_call(&mut self, function: Function, number: u16, left: u64) {
        const NOT_GREATER: u8 = 14;
        let counter = self.counter(number);
        self.test_shadows(0..function.given(), function.width);
        let cold = &mut self.out.cold;
        let none = cold.jcc_open(EQUAL);
        encode::increment(cold, counter);
        encode::compare_number(cold, counter, LAST_ATTRIBUTED);
        let attributed = cold.jcc_open(NOT_GREATER);
        cold.patch(attributed, left);
        let here = cold.here();
        cold.patch(none, here);
    }

    /// Keeps the integer that `function`, which is about to return, has made, if it has made one, or has it where it was again.
    pub(super) fn keep_integer_result(&mut self, function: Function, stores: bool) {
        if !function.returns_integer() {
            return;
        }
        let result = self.call_field(offset_of!(FunctionCall, result));
        let cold = &mut self.out.cold;
        if stores { cold.store(result, RAX) } else { cold.load(RAX, result) }
    }

    /// Number under which an operation that the evaluator sees to is appended, at `pc`: a byte for each result that has a shadow, so that
    /// one does not take the other's place.
    pub(super) fn kind(&mut self, pc: u64, Function { op, format, width, .. }: Function) -> u32 {
        self.recorded(RecordDescriptor {
            lanes: width / format.bytes() as u8,
            ..RecordDescriptor::new(pc, What::Op(op), op.arity() as u8, [format; 2])
        })
    }

    /// A return in a function that runs as one operation: perhaps its own. rcx is in its slot.
    pub(in crate::x86) fn function_return(&mut self, index: usize, insn: &Insn) {
        let call = self.frame.field(Context::OFFSET_CALL);
        let own = self.out.cold.here();
        // The return address is there: the function was called.
        pop_into_rcx(&mut self.out.cold, insn);
        self.out.cold.jmp_slot(call + offset_of!(FunctionCall, then) as u64);
        self.out.hot.load(RCX, call + offset_of!(FunctionCall, not_stack) as u64);
        self.note(index, Spilled { rcx: true, ..Spilled::default() });
        let hot = &mut self.out.hot;
        // lea rcx, [rsp + rcx + 1]
        hot.raw(&[0x48, 0x8d, 0x4c, 0x0c, 0x01]);
        let jump = hot.jump_if_rcx_is_zero();
        hot.patch(jump, own);
    }
}

/// Memory that general register `base` points to, or the mirror of that.
pub(super) fn through(base: Gpr, gs: bool) -> Mem {
    let at = At::Base { base: Some(base), index: None, displacement: 0 };
    Mem { gs, fs: false, address32: false, at }
}

/// Clears the shadow of an operand of the call of `function`.
fn clear_operand(code: &mut Asm, shadow: Mem, function: Function) {
    for at in (0..i32::from(function.width)).step_by(8) {
        encode::store_zero(code, shadow.plus(at), 8);
    }
}
