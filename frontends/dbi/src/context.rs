//! The per-thread context: what translated code and the engine leave for each other.
//!
//! Lives in the engine's gigabyte, so translated code addresses its fields rip-relative and needs no register for it.
//! What others touch meanwhile is beside it, in `mailbox`. Knows the fields and their offsets; what they mean in time is
//! told where they are used (`switch`, `signals`).

use crate::x86::state;
use shadowgrind_core::ops::MAX_OPERANDS;
use std::marker::PhantomData;
use std::mem::offset_of;

/// Index of a general register in [`Context::regs`]: its hardware number.
pub(crate) mod reg {
    pub(crate) const RAX: usize = 0;
    pub(crate) const RCX: usize = 1;
    pub(crate) const RDX: usize = 2;
    pub(crate) const RBX: usize = 3;
    pub(crate) const RSP: usize = 4;
    pub(crate) const RBP: usize = 5;
    pub(crate) const RSI: usize = 6;
    pub(crate) const RDI: usize = 7;
    pub(crate) const R8: usize = 8;
    pub(crate) const R9: usize = 9;
    pub(crate) const R10: usize = 10;
    pub(crate) const R11: usize = 11;

    /// General registers that a function may leave anything in (System V ABI, 3.2.1).
    pub(crate) const CALLER_SAVED: [usize; 9] = [RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11];
}

/// RFLAGS.TF: a trap follows each instruction.
pub(crate) const TRAP_FLAG: u64 = 0x100;
/// RFLAGS.DF: string instructions go downwards.
pub(crate) const DIRECTION_FLAG: u64 = 0x400;

/// Bytes for the XSAVE image: legacy area, header, AVX, opmask, ZMM_Hi256 and Hi16_ZMM end at 2688 in the
/// standard format (Intel SDM vol. 1, 13.4).
pub(crate) const XSAVE_BYTES: usize = 2688;

/// State components the engine saves and restores: x87, SSE, AVX and the three of AVX-512. PKRU and AMX are left
/// alone: no engine code touches them.
pub(crate) const XSAVE_MASK: u64 = 0xe7;

/// Number of the state component that has the upper halves of ymm0–15.
pub(crate) const AVX: u32 = 2;
/// Number of the state component that has the upper halves of zmm0–15.
pub(crate) const ZMM: u32 = 6;

/// A synchronous fault in translated code, as the kernel described it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) signal: u64,
    pub(crate) host_pc: u64,
    pub(crate) trap: u64,
    pub(crate) error: u64,
    pub(crate) address: u64,
    pub(crate) eflags: u64,
    pub(crate) info: [u64; 16],
}

/// Functions with a number of their own in [`Context::calls`].
pub(crate) const FUNCTIONS: usize = 1024;

/// Instructions with a number of their own in [`Context::counts`].
pub(crate) const COUNTS: usize = 4096;
/// Events of one kind that translated code counts exactly; it may count no more of them then.
pub(crate) const ENOUGH: u64 = 1 << 20;
/// Calls of a function that are counted where they are made, before translated code counts them for the function.
pub(crate) const ATTRIBUTED: u64 = 1 << 10;
/// Number that counting begins at: it comes to zero when it is [`ENOUGH`], which flags tell.
const FIRST_COUNT: u64 = ENOUGH.wrapping_neg();
/// Number that counting comes to with the last call that is [`ATTRIBUTED`].
pub(crate) const LAST_ATTRIBUTED: i32 = FIRST_COUNT.wrapping_add(ATTRIBUTED) as i32;

/// As much of a vector register as such functions are given.
pub(crate) type CallVector = [u64; 4];

/// A function that runs as one operation: unannotated, from its first instruction to its return.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FunctionCall {
    /// The complement of the stack pointer at its first instruction; 0 while there is no such function.
    pub(crate) not_stack: u64,
    /// Code to go on at after its return: the return address is in rcx then, and rcx in its slot.
    pub(crate) then: u64,
    /// Number of the function (`x86::function`), once it has returned; 0 for one whose operands the tool keeps
    /// elsewhere.
    pub(crate) function: u64,
    /// Operands, in the low bytes; integers as they are.
    pub(crate) x: [CallVector; MAX_OPERANDS],
    /// The shadows.
    pub(crate) shadows: [CallVector; MAX_OPERANDS],
    /// Addresses of results that are not returned.
    pub(crate) pointers: [u64; 2],
    /// A result.
    pub(crate) result: CallVector,
    /// The shadow of the result.
    pub(crate) shadow: CallVector,
    /// The guest's stack pointer while the shadow is evaluated.
    pub(crate) stack: u64,
    /// Code to go on at when the shadow is known.
    pub(crate) resume: u64,
    /// Numbers under which the operations of its results are appended, if they are (`x86::mirror::append`).
    pub(crate) kinds: [u64; 2],
    /// The place of the present result among the results.
    pub(crate) present: u64,
    /// Not 0 if a part of the shadow is not known yet.
    pub(crate) is_unknown: u64,
}

impl FunctionCall {
    /// The stack pointer at its first instruction: there is its return address.
    pub(crate) fn stack(&self) -> u64 {
        !self.not_stack
    }

    /// Tells whether there is one.
    pub(crate) fn is_active(&self) -> bool {
        self.not_stack != 0
    }
}

/// MXCSR while translated code runs, where the processor's is not the guest's (`runtime::exceptions`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mxcsr {
    /// The guest's less the processor's: masks that the guest has set and the processor has not.
    pub(crate) hidden: u32,
    /// The guest's as it was when translated code was entered.
    pub(crate) entered: u32,
    /// MXCSR of isolated rules.
    pub(crate) rules: u32,
    /// The flags of which one is set once isolated code can go on without isolation.
    pub(crate) settles: u32,
    /// Number of isolated blocks that may still begin until they go on without isolation anyway.
    pub(crate) patience: u32,
}

/// The context of a thread that stays where it is, as far as signal handlers do not write to it.
pub(crate) struct Still<'a> {
    context: *const Context,
    lasts: PhantomData<&'a Context>,
}

impl<'a> Still<'a> {
    /// Of this context.
    ///
    /// # Safety
    /// The context stays mapped, and its thread writes to nothing that is shown here, as long as `'a` lasts.
    pub(crate) unsafe fn new(context: *const Context) -> Still<'a> {
        Still { context, lasts: PhantomData }
    }

    pub(crate) fn calls(&self) -> &'a [u64; FUNCTIONS] {
        // SAFETY: what `new` asks for.
        unsafe { &(*self.context).calls }
    }

    pub(crate) fn counts(&self) -> Counts<'a> {
        // SAFETY: what `new` asks for.
        Counts(unsafe { &(*self.context).counts })
    }

    pub(crate) fn shadows(&self) -> &'a Shadows {
        // SAFETY: what `new` asks for.
        unsafe { &(*self.context).shadows }
    }

    pub(crate) fn xsave(&self) -> &'a Xsave {
        // SAFETY: what `new` asks for.
        unsafe { &(*self.context).xsave }
    }

    /// Address of the owning `Thread`, as [`Context::thread`].
    pub(crate) fn thread(&self) -> u64 {
        // SAFETY: what `new` asks for.
        unsafe { (*self.context).thread }
    }
}

/// State of a thread that translated code and the engine share.
#[repr(C, align(64))]
pub(crate) struct Context {
    /// Guest general registers while the engine runs.
    pub(crate) regs: [u64; 16],
    /// Guest flags while the engine runs.
    pub(crate) rflags: u64,
    /// Guest FS base while the engine runs.
    pub(crate) guest_fs: u64,
    /// The host's FS base, constant per thread.
    pub(crate) host_fs: u64,
    /// The host's stack pointer while translated code runs.
    pub(crate) host_rsp: u64,
    /// Translated code to enter.
    pub(crate) entry: u64,
    /// The per-thread stub that loads the last register and jumps to `entry`.
    pub(crate) enter_stub: u64,
    /// Number of the exit by which translated code left.
    pub(crate) exit: u64,
    /// Guest target of a missed indirect branch.
    pub(crate) ib_target: u64,
    /// Mode of code that has branched through the shared table, as bits.
    pub(crate) ib_mode: u64,
    /// Guest registers spilled inside a block: see `x86::code::Slot`.
    pub(crate) slots: [u64; 8],
    /// Number of the system call that is being made.
    pub(crate) syscall_number: u64,
    /// Guest address after the system call that is being made.
    pub(crate) syscall_next: u64,
    /// Translated code after the system call that is being made.
    pub(crate) syscall_resume: u64,
    /// Mode of the code that makes the system call (`x86::mode`).
    pub(crate) syscall_mode: u64,
    /// The guest's GS base, where GS is taken for the mirror.
    pub(crate) guest_gs: u64,
    /// Non-zero while an x87 register carries a shadow.
    pub(crate) x87_shadowed: u64,
    /// Values that annotations of x87 instructions keep from one step to the next (`x86::mirror::x87_values`).
    pub(crate) x87_values: [[u64; 2]; 18],
    pub(crate) mxcsr: Mxcsr,
    /// The function that runs as one operation.
    pub(crate) call: FunctionCall,
    /// An instruction that is evaluated as functions are.
    pub(crate) between: FunctionCall,
    /// Number of calls of each function, by its number, since the tool last looked.
    pub(crate) calls: [u64; FUNCTIONS],
    /// Number of times that something happened at an instruction that its number stands for, since the tool last looked.
    pub(crate) counts: [u64; COUNTS],
    /// The record that is being written, until it is appended (`x86::mirror::append`).
    pub(crate) staging: Staging,
    /// Number of floats that translated code has noted in `taken` in all.
    pub(crate) taken_next: u64,
    /// A register that is set aside while it does.
    pub(crate) taken_aside: u64,
    /// For each instruction that copies doubles byte by byte in translated code, the address behind the byte it wrote last.
    pub(crate) copied_to: [u64; COPIERS],
    /// State components to save and restore.
    pub(crate) xsave_mask: u64,
    /// 1 if FS can be read and written by unprivileged instructions.
    pub(crate) fsgsbase: u64,
    /// The owning `Thread`, for signal handlers.
    pub(crate) thread: u64,
    pub(crate) fault: Fault,
    /// Shadows of registers, laid out as `x86::state`: general and x87 registers always, vector registers unless they
    /// are in the upper vector registers.
    pub(crate) shadows: Shadows,
    /// Vector registers and whatever else annotations spill.
    pub(crate) spills: [[u8; 64]; SPILL_SLOTS],
    /// Vector registers that a rule takes which is computed anew.
    pub(crate) anew: [[u8; 64]; ANEW_SLOTS],
    /// Guest vector and x87 state while the engine runs, standard XSAVE format.
    pub(crate) xsave: Xsave,
    /// Floats whose digits integer code took: bits, cell, number of the event, bytes. The oldest are overwritten.
    pub(crate) taken: [[u64; 4]; TAKEN],
}

/// Number of instructions that may copy doubles byte by byte in translated code.
pub(crate) const COPIERS: usize = 32;

/// Most bytes of the cells and of the floats of a record.
pub(crate) const STAGED_CELLS: usize = 1 << 10;
pub(crate) const STAGED_FLOATS: usize = 1 << 11;

/// Record that is being written, before it is appended.
#[repr(C, align(64))]
pub(crate) struct Staging {
    pub(crate) cells: [u8; STAGED_CELLS],
    pub(crate) floats: [u8; STAGED_FLOATS],
    /// Number of its kind so far, and one more; 0 while there is none.
    pub(crate) open: u32,
}

/// Floats in [`Context::taken`].
pub(crate) const TAKEN: usize = 1024;

/// Places in [`Context::spills`].
pub(crate) const SPILL_SLOTS: usize = 13;

/// Places in [`Context::anew`].
pub(crate) const ANEW_SLOTS: usize = 6;

/// Shadows of registers, for [`Context::shadows`].
#[repr(C, align(64))]
pub(crate) struct Shadows(pub(crate) [u8; state::BYTES as usize]);

/// An XSAVE image.
#[repr(C, align(64))]
pub(crate) struct Xsave(pub(crate) [u8; XSAVE_BYTES]);

/// Numbers of times that translated code has counted each event, as it has them.
#[derive(Clone, Copy)]
pub(crate) struct Counts<'a>(&'a [u64; COUNTS]);

impl<'a> Counts<'a> {
    /// Number of times for each event, by its number.
    pub(crate) fn iter(self) -> impl Iterator<Item = u64> + 'a {
        self.0.iter().map(|count| count.wrapping_sub(FIRST_COUNT))
    }
}

impl Context {
    pub(crate) const OFFSET_RAX: u32 = offset_of!(Context, regs) as u32;
    pub(crate) const OFFSET_RDI: u32 = Self::OFFSET_RAX + 8 * reg::RDI as u32;
    pub(crate) const OFFSET_EXIT: u32 = offset_of!(Context, exit) as u32;
    pub(crate) const OFFSET_ENTRY: u32 = offset_of!(Context, entry) as u32;
    pub(crate) const OFFSET_IB_TARGET: u32 = offset_of!(Context, ib_target) as u32;
    pub(crate) const OFFSET_IB_MODE: u32 = offset_of!(Context, ib_mode) as u32;
    pub(crate) const OFFSET_SLOTS: u32 = offset_of!(Context, slots) as u32;
    pub(crate) const OFFSET_SYSCALL_NUMBER: u32 = offset_of!(Context, syscall_number) as u32;
    pub(crate) const OFFSET_SYSCALL_NEXT: u32 = offset_of!(Context, syscall_next) as u32;
    pub(crate) const OFFSET_SYSCALL_RESUME: u32 = offset_of!(Context, syscall_resume) as u32;
    pub(crate) const OFFSET_SYSCALL_MODE: u32 = offset_of!(Context, syscall_mode) as u32;
    pub(crate) const OFFSET_X87_SHADOWED: u32 = offset_of!(Context, x87_shadowed) as u32;
    pub(crate) const OFFSET_X87_VALUES: u32 = offset_of!(Context, x87_values) as u32;
    pub(crate) const OFFSET_MXCSR_HIDDEN: u32 = offset_of!(Context, mxcsr.hidden) as u32;
    pub(crate) const OFFSET_MXCSR_RULES: u32 = offset_of!(Context, mxcsr.rules) as u32;
    pub(crate) const OFFSET_MXCSR_SETTLES: u32 = offset_of!(Context, mxcsr.settles) as u32;
    pub(crate) const OFFSET_MXCSR_PATIENCE: u32 = offset_of!(Context, mxcsr.patience) as u32;
    pub(crate) const OFFSET_SHADOWS: u32 = offset_of!(Context, shadows) as u32;
    pub(crate) const OFFSET_SPILLS: u32 = offset_of!(Context, spills) as u32;
    pub(crate) const OFFSET_ANEW: u32 = offset_of!(Context, anew) as u32;
    pub(crate) const OFFSET_CALL: u32 = offset_of!(Context, call) as u32;
    pub(crate) const OFFSET_BETWEEN: u32 = offset_of!(Context, between) as u32;
    pub(crate) const OFFSET_CALLS: u32 = offset_of!(Context, calls) as u32;
    pub(crate) const OFFSET_COUNTS: u32 = offset_of!(Context, counts) as u32;
    pub(crate) const OFFSET_STAGED_CELLS: u32 = offset_of!(Context, staging.cells) as u32;
    pub(crate) const OFFSET_STAGED_FLOATS: u32 = offset_of!(Context, staging.floats) as u32;
    pub(crate) const OFFSET_STAGED_OPEN: u32 = offset_of!(Context, staging.open) as u32;
    pub(crate) const OFFSET_TAKEN_NEXT: u32 = offset_of!(Context, taken_next) as u32;
    pub(crate) const OFFSET_TAKEN_ASIDE: u32 = offset_of!(Context, taken_aside) as u32;
    pub(crate) const OFFSET_COPIED_TO: u32 = offset_of!(Context, copied_to) as u32;
    pub(crate) const OFFSET_TAKEN: u32 = offset_of!(Context, taken) as u32;
    pub(crate) const OFFSET_HOST_RSP: u32 = offset_of!(Context, host_rsp) as u32;

    /// Begins to count anew.
    pub(crate) fn forget_counts(&mut self) {
        self.calls.fill(0);
        self.counts.fill(FIRST_COUNT);
    }

    pub(crate) fn counts(&self) -> Counts<'_> {
        Counts(&self.counts)
    }

    /// The state a process starts with: flags, MXCSR and x87 control word of the System V ABI, all else zero.
    pub(crate) fn reset_cpu_state(&mut self) {
        self.regs = [0; 16];
        self.rflags = 0x202;
        self.guest_fs = 0;
        self.reset_vector_state();
    }

    /// The vector and x87 part of that state.
    pub(crate) fn reset_vector_state(&mut self) {
        const MXCSR_DEFAULT: u32 = 0x1f80;
        const X87_CONTROL_DEFAULT: u16 = 0x37f;
        self.xsave.0.fill(0);
        self.xsave.0[0..2].copy_from_slice(&X87_CONTROL_DEFAULT.to_le_bytes());
        self.xsave.0[24..28].copy_from_slice(&MXCSR_DEFAULT.to_le_bytes());
        // XSTATE_BV: x87 and SSE are present, so that the two control words above are loaded.
        self.xsave.0[512] = 3;
    }
}
