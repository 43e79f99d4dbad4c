//! The frame a handler is entered with, and what `rt_sigreturn` makes of it: Linux's `struct rt_sigframe` with a full
//! XSAVE image, on the guest's stack.
//!
//! Knows layouts (arch/x86/include/uapi/asm/sigcontext.h and ucontext.h describe them), not policies.

use super::{AltStack, Info};
use crate::context::{Context, XSAVE_BYTES, XSAVE_MASK, reg};
use crate::engine::cpuid;
use crate::engine::guest::{self, Fault};

/// Registers in the order of `struct sigcontext`, by index in `Context::regs`; rip and the rest follow.
const SIGCONTEXT_ORDER: [usize; 16] = [
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    reg::RDI,
    reg::RSI,
    reg::RBP,
    reg::RBX,
    reg::RDX,
    reg::RAX,
    reg::RCX,
    reg::RSP,
];

/// Peculiarity of the instruction that a signal interrupts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trap {
    pub(crate) error: u64,
    pub(crate) trap: u64,
    pub(crate) address: u64,
}

/// `struct ucontext` as the kernel has it.
#[repr(C)]
#[derive(Clone, Copy)]
struct UContext {
    flags: u64,
    link: u64,
    stack_base: u64,
    /// Low half: flags; high half: padding.
    stack_flags: u64,
    stack_size: u64,
    registers: [u64; 16],
    rip: u64,
    eflags: u64,
    /// cs, gs, fs, ss: 16 bits each.
    segments: u64,
    error: u64,
    trap: u64,
    old_mask: u64,
    cr2: u64,
    fpstate: u64,
    reserved: [u64; 8],
    mask: u64,
}

// SAFETY: 64-bit words without padding.
unsafe impl guest::Plain for UContext {}

const UC_FP_XSTATE: u64 = 1;
const UC_SIGCONTEXT_SS: u64 = 2;
const UC_STRICT_RESTORE_SS: u64 = 4;
const USER_SEGMENTS: u64 = 0x33 | 0x2b << 48;

const PRETCODE_BYTES: u64 = 8;
const UCONTEXT_BYTES: u64 = size_of::<UContext>() as u64;
const INFO_BYTES: u64 = size_of::<Info>() as u64;
const FRAME_BYTES: u64 = PRETCODE_BYTES + UCONTEXT_BYTES + INFO_BYTES;

/// Offset of the software-reserved bytes in the legacy area, and what they hold.
const SW_RESERVED: usize = 464;
const MAGIC1: u32 = 0x4650_5853;
const MAGIC2: u32 = 0x4650_5845;
const XSTATE_BV: usize = 512;
const XSTATE_HEADER_REST: std::ops::Range<usize> = 520..576;
const LEGACY_BYTES: usize = 512;
const MXCSR: usize = 24;
const MXCSR_MASK: usize = 28;

/// Address of a frame, and of its parts.
pub(crate) struct Placed {
    pub(crate) frame: u64,
    pub(crate) info: u64,
    pub(crate) ucontext: u64,
    fpstate: u64,
}

/// Content of a frame.
pub(crate) struct Contents<'a> {
    pub(crate) info: &'a Info,
    pub(crate) pc: u64,
    pub(crate) eflags: u64,
    pub(crate) trap: Trap,
    pub(crate) mask: u64,
    pub(crate) altstack: AltStack,
    pub(crate) restorer: u64,
}

/// Address of a frame below `stack_top`.
pub(crate) fn place(stack_top: u64) -> Placed {
    let image_bytes = XSAVE_BYTES as u64 + 4;
    let fpstate = stack_top.wrapping_sub(image_bytes) & !63;
    // The ABI wants rsp + 8 to be a multiple of 16 on entry to the handler.
    let frame = (fpstate.wrapping_sub(FRAME_BYTES) & !15).wrapping_sub(8);
    let ucontext = frame.wrapping_add(PRETCODE_BYTES);
    Placed { frame, info: ucontext.wrapping_add(UCONTEXT_BYTES), ucontext, fpstate }
}

/// Writes a frame.
pub(crate) fn write(context: &Context, placed: &Placed, contents: &Contents<'_>) -> Result<(), Fault> {
    let Placed { frame, info, ucontext, fpstate } = *placed;
    guest::write_bytes(fpstate, &xsave_image(context))?;
    let registers = SIGCONTEXT_ORDER.map(|index| context.regs[index]);
    let saved = UContext {
        flags: UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS,
        link: 0,
        stack_base: contents.altstack.base,
        stack_flags: u64::from(contents.altstack.flags as u32),
        stack_size: contents.altstack.size,
        registers,
        rip: contents.pc,
        eflags: contents.eflags,
        segments: USER_SEGMENTS,
        error: contents.trap.error,
        trap: contents.trap.trap,
        old_mask: contents.mask,
        cr2: contents.trap.address,
        fpstate,
        reserved: [0; 8],
        mask: contents.mask,
    };
    guest::write(info, *contents.info)?;
    guest::write(ucontext, saved)?;
    guest::write(frame, contents.restorer)?;
    Ok(())
}

/// The XSAVE image as the kernel leaves it in a frame: sizes and features in the software-reserved bytes, a second
/// magic number after the end.
fn xsave_image(context: &Context) -> Vec<u8> {
    let features = XSAVE_MASK & cpuid::host_xgetbv(0);
    let mut image = context.xsave.0.to_vec();
    let words =
        [MAGIC1, XSAVE_BYTES as u32 + 4, features as u32, (features >> 32) as u32, XSAVE_BYTES as u32];
    let reserved: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    image[SW_RESERVED..SW_RESERVED + reserved.len()].copy_from_slice(&reserved);
    initialise_absent_legacy(&mut image);
    image.extend(MAGIC2.to_le_bytes());
    image
}

/// The legacy area is meaningful to handlers whatever XSTATE_BV says, so absent components get their initial values.
fn initialise_absent_legacy(image: &mut [u8]) {
    const X87: u8 = 1;
    const SSE: u8 = 2;
    let present = image[XSTATE_BV];
    if present & X87 == 0 {
        image[0..24].fill(0);
        image[0..2].copy_from_slice(&0x37f_u16.to_le_bytes());
        image[32..160].fill(0);
    }
    if present & SSE == 0 {
        image[160..416].fill(0);
    }
    image[XSTATE_BV] |= X87 | SSE;
}

/// State that `rt_sigreturn` restores besides the context.
pub(crate) struct Restored {
    pub(crate) pc: u64,
    pub(crate) mask: u64,
    pub(crate) altstack: AltStack,
}

/// Restores `context` from the frame whose `ucontext` is at `stack_pointer`.
pub(crate) fn pop(context: &mut Context, stack_pointer: u64) -> Result<Restored, Fault> {
    /// Flags that user mode may set; the rest keep their values (Linux, FIX_EFLAGS).
    const USER_FLAGS: u64 = 0x0005_0dd5;
    let saved: UContext = guest::read(stack_pointer)?;
    restore_vector_state(context, saved.fpstate)?;
    for (value, index) in saved.registers.iter().zip(SIGCONTEXT_ORDER) {
        context.regs[index] = *value;
    }
    context.rflags = context.rflags & !USER_FLAGS | saved.eflags & USER_FLAGS;
    let altstack =
        AltStack { base: saved.stack_base, flags: saved.stack_flags as i32, size: saved.stack_size };
    Ok(Restored { pc: saved.rip, mask: saved.mask, altstack })
}

fn restore_vector_state(context: &mut Context, fpstate: u64) -> Result<(), Fault> {
    if fpstate == 0 {
        // No state: everything to its initial value.
        let rip_independent = [0u8; XSAVE_BYTES];
        context.xsave.0 = rip_independent;
        return Ok(());
    }
    let legacy: [u8; LEGACY_BYTES] = guest::read(fpstate)?;
    let word = |at: usize| u32::from_le_bytes([legacy[at], legacy[at + 1], legacy[at + 2], legacy[at + 3]]);
    let extended = word(SW_RESERVED) == MAGIC1
        && word(SW_RESERVED + 16) == XSAVE_BYTES as u32
        && guest::read::<u32>(fpstate + XSAVE_BYTES as u64) == Ok(MAGIC2);
    if extended {
        let full = guest::read_bytes(fpstate, XSAVE_BYTES)?;
        context.xsave.0.copy_from_slice(&full);
        let features = XSAVE_MASK & cpuid::host_xgetbv(0);
        let wanted = u64::from(word(SW_RESERVED + 8)) | u64::from(word(SW_RESERVED + 12)) << 32;
        let mut present = [0; 8];
        present.copy_from_slice(&full[XSTATE_BV..XSTATE_BV + 8]);
        let present = u64::from_le_bytes(present) & features & wanted;
        context.xsave.0[XSTATE_BV..XSTATE_BV + 8].copy_from_slice(&present.to_le_bytes());
    } else {
        context.xsave.0[..LEGACY_BYTES].copy_from_slice(&legacy);
        context.xsave.0[XSTATE_BV..XSTATE_BV + 8].copy_from_slice(&3_u64.to_le_bytes());
    }
    sanitise(context);
    Ok(())
}

/// Keeps XRSTOR from faulting on what the guest wrote.
fn sanitise(context: &mut Context) {
    let image = &mut context.xsave.0;
    image[XSTATE_HEADER_REST].fill(0);
    let mask = u32::from_le_bytes([
        image[MXCSR_MASK],
        image[MXCSR_MASK + 1],
        image[MXCSR_MASK + 2],
        image[MXCSR_MASK + 3],
    ]);
    let mask = if mask == 0 { 0xffbf } else { mask };
    let control = u32::from_le_bytes([image[MXCSR], image[MXCSR + 1], image[MXCSR + 2], image[MXCSR + 3]])
        & mask
        & 0xffff;
    image[MXCSR..MXCSR + 4].copy_from_slice(&control.to_le_bytes());
}
