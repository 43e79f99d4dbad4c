//! The fixed code at the head of each cache: the way in, the ways out, and system calls that need no engine.
//!
//! Knows where a thread's context is and what its fields mean; blocks reach these stubs through [`Frame`].

use crate::context::Context;
use crate::mailbox::Mailbox;
use crate::x86::asm::{Asm, R11, RAX, RCX, RDI};
use crate::x86::branch_table::INDEX_BITS;
use crate::x86::code::{Frame, Slot};
use crate::x86::function;
use crate::x86::mode::TABLES;

/// Number of an exit in its cache; below [`FIRST_EXIT`] are those of stubs.
pub(crate) type ExitId = u32;

/// A system call the engine must see, or a request seen before one.
pub(crate) const EXIT_SYSCALL: ExitId = 1;
/// A request seen after a system call was made.
pub(crate) const EXIT_AFTER_SYSCALL: ExitId = 2;
/// A fault, described in `Context::fault`.
pub(crate) const EXIT_FAULT: ExitId = 3;
/// A function that runs as one operation has returned to `Context::ib_target`.
pub(crate) const EXIT_FUNCTION_RETURNED: ExitId = 4;
/// An indirect branch missed the first branch table; the others' follow.
pub(crate) const EXIT_IB_MISS: ExitId = 5;
/// Exit of a miss of the last table.
pub(crate) const EXIT_LAST_IB_MISS: ExitId = EXIT_IB_MISS + TABLES as ExitId - 1;

/// Number of the first exit that belongs to a block.
pub(crate) const FIRST_EXIT: ExitId = 16;

/// Code at the head of a cache that belongs to no block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stubs {
    /// Loads rdi from the context and jumps to `Context::entry`.
    pub(crate) enter: u64,
    /// Exits as [`EXIT_FAULT`], all registers being the guest's.
    pub(crate) fault: u64,
    /// A system call before the kernel has acted: this range rewinds to `syscall_slow`.
    pub(crate) syscall_before: (u64, u64),
    /// A system call after the kernel has acted: this range goes on at `syscall_after_slow`.
    pub(crate) syscall_after: (u64, u64),
    /// Exits as [`EXIT_SYSCALL`].
    pub(crate) syscall_slow: u64,
    /// Exits as [`EXIT_AFTER_SYSCALL`].
    pub(crate) syscall_after_slow: u64,
    pub(super) end: u64,
}

impl Stubs {
    /// The range of the entering stub: interrupted there, a thread is not in its block yet.
    pub(crate) fn entering(&self) -> (u64, u64) {
        (self.enter, self.fault)
    }
}

/// The stubs of the thread whose context is at `context`, to be placed at `at`. `plain_calls` is the table, by system
/// call number, of calls that translated code makes by itself; `evaluator` is the address of what computes the shadows
/// of functions' results.
pub(crate) fn build(
    context: u64,
    branch_tables: [u64; TABLES],
    at: u64,
    [plain_calls, evaluator]: [u64; 2],
) -> (Frame, Stubs, Asm) {
    let mut code = Asm::new(at);
    let mut frame = Frame::new(context, branch_tables, at);
    let field = |offset: u32| context + u64::from(offset);
    let exit_by = |code: &mut Asm, exit: ExitId| {
        code.store(field(Context::OFFSET_RAX), RAX);
        code.mov_imm(RAX, u64::from(exit));
        code.jmp(at);
    };

    emit_common_exit(&mut code, &field, context);

    frame.index_bits = code.here();
    code.raw(&INDEX_BITS.to_le_bytes());

    let rcx = frame.slot(Slot::Rcx);
    for (miss, exit) in frame.ib_misses.iter_mut().zip(EXIT_IB_MISS..) {
        *miss = code.here();
        code.load(RCX, rcx);
        exit_by(&mut code, exit);
    }

    let enter = code.here();
    code.load(RDI, field(Context::OFFSET_RDI));
    code.jmp_slot(field(Context::OFFSET_ENTRY));

    let [fault, syscall_slow, syscall_after_slow] =
        [EXIT_FAULT, EXIT_SYSCALL, EXIT_AFTER_SYSCALL].map(|exit| {
            let stub = code.here();
            exit_by(&mut code, exit);
            stub
        });

    frame.function_returned = code.here();
    code.store(field(Context::OFFSET_IB_TARGET), RCX);
    code.load(RCX, rcx);
    exit_by(&mut code, EXIT_FUNCTION_RETURNED);
    frame.evaluate = code.here();
    function::emit_evaluate(&mut code, &frame, evaluator);
    frame.evaluate_between = [false, true].map(|is_narrow| {
        let stub = code.here();
        function::emit_evaluate_between(&mut code, &frame, evaluator, is_narrow);
        stub
    });

    frame.syscall = code.here();
    let (before, after) = emit_syscall(&mut code, &field, plain_calls, syscall_slow, syscall_after_slow);
    let stubs = Stubs {
        enter,
        fault,
        syscall_before: (before, after),
        syscall_after: (after, code.here()),
        syscall_slow,
        syscall_after_slow,
        end: code.here(),
    };
    (frame, stubs, code)
}

/// The exit that all others lead to, rax stored, eax = exit number: on to the switch routine with rdi = context.
fn emit_common_exit(code: &mut Asm, field: &dyn Fn(u32) -> u64, context: u64) {
    code.store(field(Context::OFFSET_EXIT), RAX);
    code.store(field(Context::OFFSET_RDI), RDI);
    code.mov_imm(RDI, context);
    code.mov_imm(RAX, super::switch::exit_routine());
    code.raw(&[0xff, 0xe0]);
}

/// The system call path of translated code: ecx = guest address after the call, r11 = code to resume at. Returns the
/// address where all that says which call it is has been stored, and the one just after the `syscall` instruction.
fn emit_syscall(
    code: &mut Asm,
    field: &dyn Fn(u32) -> u64,
    plain_calls: u64,
    slow: u64,
    after_slow: u64,
) -> (u64, u64) {
    let jump_if_rcx_is_zero = |code: &mut Asm, target: u64| {
        let field = code.jump_if_rcx_is_zero();
        code.patch(field, target);
    };
    code.store(field(Context::OFFSET_SYSCALL_NUMBER), RAX);
    code.store(field(Context::OFFSET_SYSCALL_NEXT), RCX);
    code.store(field(Context::OFFSET_SYSCALL_RESUME), R11);
    // Interrupted earlier, the call is noticed to have to wait where that is asked below.
    let before = code.here();
    // movzx ecx, ax; movzx ecx, byte ptr [rcx + plain_calls]
    code.raw(&[0x0f, 0xb7, 0xc8]);
    code.raw(&[0x0f, 0xb6, 0x89]);
    code.imm32(i32::try_from(plain_calls).expect("call table below 2^31"));
    jump_if_rcx_is_zero(code, slow);
    code.store_imm32(field(Mailbox::OFFSET_PLACE), crate::mailbox::place::SYSCALL as i32);
    code.load32(RCX, field(Mailbox::OFFSET_NO_REQUEST));
    jump_if_rcx_is_zero(code, slow);
    code.raw(&[0x0f, 0x05]);
    let after = code.here();
    code.store_imm32(field(Mailbox::OFFSET_PLACE), crate::mailbox::place::CACHE as i32);
    code.load32(RCX, field(Mailbox::OFFSET_NO_REQUEST));
    jump_if_rcx_is_zero(code, after_slow);
    // lea rcx, [rax + EFAULT]: the page that the call failed on may be protected by us.
    code.raw(&[0x48, 0x8d, 0x48, libc::EFAULT as u8]);
    jump_if_rcx_is_zero(code, after_slow);
    code.load(RCX, field(Context::OFFSET_SYSCALL_NEXT));
    code.jmp_slot(field(Context::OFFSET_SYSCALL_RESUME));
    (before, after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Code, Decoder, DecoderOptions};

    /// Whoever interrupts the range has the engine make the call that is stored.
    #[test]
    fn a_call_can_be_rewound_once_it_is_stored() {
        const CONTEXT: u64 = 0x4001_0000;
        let (frame, stubs, code) = build(CONTEXT, [0x4001_4000; TABLES], 0x4006_4000, [0x4000_0000, 0]);
        let fields =
            [Context::OFFSET_SYSCALL_NUMBER, Context::OFFSET_SYSCALL_NEXT, Context::OFFSET_SYSCALL_RESUME];
        let at = (frame.syscall - code.base()) as usize;
        let decoder = Decoder::with_ip(64, &code.code()[at..], frame.syscall, DecoderOptions::NONE);
        let instructions: Vec<_> = decoder.into_iter().collect();
        for field in fields {
            let stored = instructions.iter().find(|insn| {
                insn.code() == Code::Mov_rm64_r64
                    && insn.memory_displacement64() == CONTEXT + u64::from(field)
            });
            assert!(stored.expect("a store").ip() < stubs.syscall_before.0);
        }
        let asked = instructions.iter().find(|insn| {
            insn.code() == Code::Mov_r32_rm32
                && insn.memory_displacement64() == CONTEXT + u64::from(Mailbox::OFFSET_NO_REQUEST)
        });
        assert!(stubs.syscall_before.0 <= asked.expect("a look at what was asked").ip());
        let call = instructions.iter().find(|insn| insn.code() == Code::Syscall).expect("a call");
        assert_eq!(stubs.syscall_before.1, call.next_ip());
    }
}
