//! x87 instructions whose rule takes more than arithmetic: sines, logarithms, remainders and their kin.
//!
//! Operands are kept as they are, the guest's instruction runs, its results are kept likewise, and the evaluator computes their
//! shadows, with all registers as they were afterwards. Only where exceptions are masked: one that waits to be raised would be by
//! the first instruction of ours. Does not know what a shadow means.

use super::At;
use super::encode;
use super::x87_stack::{NUMBER, STATUS};
use super::x87_values::IMAGES;
use crate::context::{CallVector, Context, FunctionCall};
use crate::x86::asm::{R11, RCX, Rel32};
use crate::x86::code::Slot;
use crate::x86::emit::Emitter;
use crate::x86::function::{Function, Shape};
use crate::x86::rules::Constants;
use crate::x86::table::X87;
use crate::x86::vector::Mem;
use shadowgrind_core::appended::{Operation, Step};
use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;
use shadowgrind_core::site::Site;
use std::mem::offset_of;

/// Bytes in which a long double is stored.
const STORED: u8 = 16;
/// Register that a push makes the top.
const PUSHED: u8 = 7;

/// Operation of an instruction: which registers are its operands, as the rule has them, and where its results are, from the top
/// down as it leaves the stack, each with its operation if it has one.
struct Evaluated {
    operands: &'static [u8],
    results: [Option<(Option<Op>, u8)>; 2],
    /// With an operand that is out of range the instruction does nothing and says so.
    has_range: bool,
}

impl Evaluated {
    fn of(row: X87) -> Option<Evaluated> {
        let one = |operands, op, to| Evaluated {
            operands,
            results: [Some((Some(op), to)), None],
            has_range: matches!(op, Op::Sin | Op::Cos),
        };
        let pushes = |first, second| Evaluated {
            operands: &[0],
            results: [Some((first, PUSHED)), Some((Some(second), 0))],
            has_range: true,
        };
        Some(match row {
            X87::Unary(op) => one(&[0], op, 0),
            X87::Binary(op) => one(&[1, 0], op, 1),
            X87::Scale(op) => one(&[0, 1], op, 0),
            X87::SinCos => pushes(Some(Op::Cos), Op::Sin),
            X87::Tangent => pushes(None, Op::Tan),
            _ => return None,
        })
    }
}

/// Tells whether the evaluator sees to instructions of this row.
pub(super) fn is_evaluated(row: X87) -> bool {
    Evaluated::of(row).is_some()
}

impl Emitter {
    /// An instruction of x87 that the evaluator sees to if an operand has a shadow; false if it is none.
    pub(super) fn x87_evaluated(&mut self, at: At<'_>, row: X87) -> bool {
        let Some(Evaluated { operands, results, has_range }) = Evaluated::of(row) else { return false };
        if self.mirror().settings.appends && !self.takes_room() {
            self.out_of_line(at);
            return true;
        }
        // What is spilled for the copies is so on both ways.
        let number = self.temporary(0);
        let cells: Vec<(Mem, usize)> = operands.iter().map(|&n| (self.x87_cell(n).plus(NUMBER), 8)).collect();
        let inactive = self.skip_if_zero(at, &cells);
        self.check_masked(at);
        let images: Vec<(u8, Mem)> =
            (0..).zip(operands).map(|(i, &n)| (n, self.operand_between(i))).collect();
        self.x87_images(&images);
        for (i, &(cell, bytes)) in cells.iter().enumerate() {
            let shadow = self.shadow_between(i);
            self.out.hot.vector_load(number, cell, bytes as u8);
            self.put_x87(shadow, number);
        }
        self.guest(at);
        let out_of_range = has_range.then(|| self.jump_if_out_of_range(at));
        let results: Vec<(Option<Op>, u8, Mem)> = (0..)
            .zip(results.into_iter().flatten())
            .map(|(i, (op, to)): (usize, _)| (op, to, self.x87_slot(IMAGES[i])))
            .collect();
        let [load, store] = [5, 7];
        results.iter().for_each(|&(.., image)| self.x87_tbyte(store, image));
        results.iter().rev().for_each(|&(.., image)| self.x87_tbyte(load, image));
        for (n, (op, to, image)) in (0..).zip(results) {
            if let Some(op) = op {
                self.say_kind(at.insn().pc() + n, op);
                self.evaluate_between(op, image, number);
                let cell = self.x87_cell(to);
                self.put_x87(cell, number);
            }
        }
        let done = self.out.hot.jmp_open();
        let here = self.out.hot.here();
        self.out.hot.patch(inactive, here);
        self.guest(at);
        let here = self.out.hot.here();
        self.out.hot.patch(done, here);
        out_of_range.into_iter().for_each(|field| self.out.cold.patch(field, here));
        self.forget_x87();
        true
    }

    fn between(&self, offset: usize) -> Mem {
        Mem::rip(self.frame.field(Context::OFFSET_BETWEEN + offset as u32))
    }

    fn operand_between(&self, i: usize) -> Mem {
        self.between(offset_of!(FunctionCall, x) + size_of::<CallVector>() * i)
    }

    fn shadow_between(&self, i: usize) -> Mem {
        self.between(offset_of!(FunctionCall, shadows) + size_of::<CallVector>() * i)
    }

    /// Leaves the instruction to the engine unless exceptions are masked, and rounding is to the nearest.
    fn check_masked(&mut self, at: At<'_>) {
        let scratch = self.frame.slot(Slot::Scratch);
        self.out.hot.store(scratch, RCX);
        self.exit_unless_masked(at);
        self.out.hot.load(RCX, scratch);
        self.note_spilled(at.index);
    }

    /// A jump in cold code that is taken if the instruction has said that its operand was out of range.
    fn jump_if_out_of_range(&mut self, at: At<'_>) -> Rel32 {
        /// Condition code 2.
        const INCOMPLETE: i64 = 1 << 10;
        let (status, scratch) = (self.x87_slot(STATUS), self.frame.slot(Slot::Scratch));
        let bits = Constants::at(self.mirror().settings.constants).integer(INCOMPLETE);
        self.store_x87_status();
        let spilled = self.spilled(Some(RCX));
        self.out.hot.store(scratch, RCX);
        self.note(at.index, spilled);
        encode::load_rcx(&mut self.out.hot, status, 2);
        encode::extract_rcx(&mut self.out.hot, bits);
        let out_of_range = self.out.cold.here();
        self.out.hot.jmp_unless_rcx_is_zero(out_of_range);
        self.out.hot.load(RCX, scratch);
        self.note_spilled(at.index);
        self.out.cold.load(RCX, scratch);
        self.out.cold.jmp_open()
    }

    /// Says under which number the operation is appended next, if it is: the result of `op` at `pc`, a byte for each of an instruction.
    fn say_kind(&mut self, pc: u64, op: Op) {
        if !self.mirror().settings.appends {
            return;
        }
        let operation = Operation { site: Site::NONE, op, from: Format::F80, to: Format::F80 };
        self.mirror().appended_bytes += Step::alone(operation, 1, op.arity()).record_bytes() as u64;
        let kind = self.kind(pc, on_stack(op));
        let field = self.frame.field(Context::OFFSET_BETWEEN + offset_of!(FunctionCall, kinds) as u32);
        self.out.hot.store_imm32(field, kind as i32);
    }

    /// The shadow of a result of `op`, which is in `image`, in vector register `number`.
    fn evaluate_between(&mut self, op: Op, image: Mem, number: u8) {
        const LEA_AND_JMP: u64 = 7 + 5;
        let function = on_stack(op);
        let [result, shadow] =
            [offset_of!(FunctionCall, result), offset_of!(FunctionCall, shadow)].map(|at| self.between(at));
        let bits = self.frame.field(Context::OFFSET_BETWEEN + offset_of!(FunctionCall, function) as u32);
        let kept = self.frame.slot(Slot::ThirdScratch);
        let stub = self.frame.evaluate_between[usize::from(self.mode.is_narrow())];
        let hot = &mut self.out.hot;
        hot.vector_load(number, image, STORED);
        hot.vector_store(result, number, STORED);
        hot.store_imm64(bits, function.bits() as i32);
        hot.store(kept, R11);
        let resume = hot.here() + LEA_AND_JMP;
        hot.lea_rip(R11, resume);
        hot.jmp(stub);
        hot.load(R11, kept);
        hot.vector_load(number, shadow.plus(NUMBER), 8);
    }
}

/// The operation as the evaluator is called for it.
fn on_stack(op: Op) -> Function {
    Function { op, format: Format::F80, width: STORED, shape: Shape::Instruction }
}
