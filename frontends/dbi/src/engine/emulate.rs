//! Guest instructions that the engine carries out itself, and what it puts right after some that ran.
//!
//! One function per family; everything is done on the context, at a safe point.

use super::guest_code::GuestCode;
use super::signals::Pending;
use super::signals::frame::Trap;
use super::thread::{Next, Thread};
use super::{cpuid, guest, syscalls};
use crate::context::reg;
use crate::x86::code_source::CodeSource;
use crate::x86::discover;
use crate::x86::rows::{self, System};
use crate::x86::table::{Image, Row};
use iced_x86::{Decoder, DecoderOptions, Instruction, Register};

const USER_CODE_SEGMENT: u64 = 0x33;

/// Carries out the instruction at `pc`.
pub(crate) fn instruction(thread: &mut Thread, pc: u64) -> Next {
    thread.pc = pc;
    let Some(insn) = decode(thread, pc) else {
        // The code changed since it was translated: look again.
        return Next::Run;
    };
    if thread.process.has_mirror() && discover::uses_gs(&insn) {
        thread.client().begin(thread);
        return Next::Run;
    }
    thread.pc = insn.next_ip();
    match rows::system(&insn) {
        Some(System::Cpuid) => cpuid_instruction(thread),
        Some(System::Xgetbv) => xgetbv(thread, pc),
        Some(System::Call32) => return syscalls::call32(thread, pc),
        Some(System::Transaction) => xbegin(thread, &insn),
        Some(System::InterruptReturn) => iretq(thread, pc),
        // Far transfers within the one code segment user programs have; others would enter 32-bit mode.
        Some(System::FarReturn) => retf(thread, pc, &insn),
        Some(System::FarJump) => far_transfer(thread, pc, &insn, false),
        Some(System::FarCall) => far_transfer(thread, pc, &insn, true),
        // System calls have a way of their own; the code has changed since.
        Some(System::Privileged | System::Call) | None => general_protection(thread, pc),
    }
    Next::Run
}

fn decode(thread: &Thread, pc: u64) -> Option<Instruction> {
    let mut bytes = [0; 15];
    let len = GuestCode::new(thread.process, pc).fetch(pc, &mut bytes);
    let insn = Decoder::with_ip(64, &bytes[..len], pc, DecoderOptions::NONE).decode();
    (!insn.is_invalid()).then_some(insn)
}

fn cpuid_instruction(thread: &mut Thread) {
    let regs = &mut thread.context.regs;
    let (leaf, subleaf) = (regs[reg::RAX] as u32, regs[reg::RCX] as u32);
    let [eax, ebx, ecx, edx] = cpuid::cpuid(leaf, subleaf, thread.process.options.isa);
    regs[reg::RAX] = u64::from(eax);
    regs[reg::RBX] = u64::from(ebx);
    regs[reg::RCX] = u64::from(ecx);
    regs[reg::RDX] = u64::from(edx);
}

fn xgetbv(thread: &mut Thread, pc: u64) {
    let register = thread.context.regs[reg::RCX] as u32;
    let Some(value) = cpuid::xgetbv(register, thread.process.options.isa) else {
        return general_protection(thread, pc);
    };
    thread.context.regs[reg::RAX] = value & 0xffff_ffff;
    thread.context.regs[reg::RDX] = value >> 32;
}

/// A transaction that aborts at once, for a reason that does not suggest a retry.
fn xbegin(thread: &mut Thread, insn: &Instruction) {
    thread.context.regs[reg::RAX] = 0;
    thread.pc = insn.near_branch_target();
}

fn iretq(thread: &mut Thread, pc: u64) {
    /// Flags that `iretq` changes in user mode.
    const USER_FLAGS: u64 = 0x0025_4dd5;
    let stack = thread.context.regs[reg::RSP];
    match guest::read::<[u64; 5]>(stack) {
        Ok([rip, cs, flags, rsp, _ss]) if cs & 0xffff == USER_CODE_SEGMENT => {
            thread.pc = rip;
            thread.context.rflags = thread.context.rflags & !USER_FLAGS | flags & USER_FLAGS;
            thread.context.regs[reg::RSP] = rsp;
        }
        Ok(_) => other_mode(thread, pc),
        Err(_) => general_protection(thread, pc),
    }
}

fn retf(thread: &mut Thread, pc: u64, insn: &Instruction) {
    let stack = thread.context.regs[reg::RSP];
    let operand = rows::operand_bits(insn.code()) as usize / 8;
    let frame = guest::read_bytes(stack, 2 * operand);
    let Ok(frame) = frame else { return general_protection(thread, pc) };
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |acc, &b| acc << 8 | u64::from(b));
    let (rip, cs) = (word(&frame[..operand]), word(&frame[operand..]) & 0xffff);
    if cs != USER_CODE_SEGMENT {
        return other_mode(thread, pc);
    }
    thread.pc = rip;
    thread.context.regs[reg::RSP] = stack.wrapping_add(insn.stack_pointer_increment() as u64);
}

fn far_transfer(thread: &mut Thread, pc: u64, insn: &Instruction, calls: bool) {
    let Some(address) = memory_operand(thread, insn) else { return general_protection(thread, pc) };
    let offset_bytes = insn.memory_size().size() - 2;
    let Ok(pointer) = guest::read_bytes(address, offset_bytes + 2) else {
        return general_protection(thread, pc);
    };
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |acc, &b| acc << 8 | u64::from(b));
    let (target, cs) = (word(&pointer[..offset_bytes]), word(&pointer[offset_bytes..]));
    if cs != USER_CODE_SEGMENT {
        return other_mode(thread, pc);
    }
    if calls {
        let stack = thread.context.regs[reg::RSP].wrapping_sub(2 * offset_bytes as u64);
        let mut frame = insn.next_ip().to_le_bytes()[..offset_bytes].to_vec();
        frame.extend_from_slice(&cs.to_le_bytes()[..offset_bytes]);
        if guest::write_bytes(stack, &frame).is_err() {
            return general_protection(thread, pc);
        }
        thread.context.regs[reg::RSP] = stack;
    }
    thread.pc = target;
}

/// Effective linear address of the instruction's memory operand.
pub(crate) fn memory_operand(thread: &Thread, insn: &Instruction) -> Option<u64> {
    let context = &thread.context;
    insn.virtual_address(memory_index(insn), 0, |register, _, _| match register {
        Register::FS => Some(context.guest_fs),
        Register::GS => Some(thread.guest_gs()),
        Register::CS | Register::DS | Register::ES | Register::SS => Some(0),
        register if register.is_gpr64() => Some(context.regs[register.number()]),
        register if register.is_gpr32() => Some(context.regs[register.number()] & 0xffff_ffff),
        _ => None,
    })
}

fn memory_index(insn: &Instruction) -> u32 {
    (0..insn.op_count()).find(|&index| insn.op_kind(index) == iced_x86::OpKind::Memory).unwrap_or(0)
}

/// Replaces the engine's values that the instruction at `pc`, which has just run, left behind by the guest's.
pub(crate) fn after(thread: &mut Thread, pc: u64) -> Next {
    let Some(insn) = decode(thread, pc) else { return Next::Run };
    thread.pc = insn.next_ip();
    if let Some(field) = instruction_pointer_field(thread, &insn) {
        put_guest_address(thread, field);
    }
    Next::Run
}

/// Address of the 64-bit (or, for the FNSTENV family, 32-bit) field that holds the last x87 instruction's address,
/// and its width in bytes.
fn instruction_pointer_field(thread: &Thread, insn: &Instruction) -> Option<(u64, usize)> {
    const ENVIRONMENT_OFFSET: u64 = 12;
    const FXSAVE_OFFSET: u64 = 8;
    // The 16-bit forms keep too little of the address to tell whose it is.
    let operand_bits = rows::operand_bits(insn.code());
    if operand_bits == 16 {
        return None;
    }
    let image = memory_operand(thread, insn)?;
    Some(match rows::row(insn) {
        Row::State(Image::Fixed | Image::Components, _) => {
            (image + FXSAVE_OFFSET, if operand_bits == 64 { 8 } else { 4 })
        }
        _ => (image + ENVIRONMENT_OFFSET, 4),
    })
}

fn put_guest_address(thread: &mut Thread, (field, width): (u64, usize)) {
    let Ok(bytes) = guest::read_bytes(field, width) else { return };
    let host = bytes.iter().rev().fold(0_u64, |acc, &b| acc << 8 | u64::from(b));
    let Some(id) = thread.cache.block_at(host) else { return };
    let mut source = GuestCode::new(thread.process, thread.cache.block(id).made_of.pc);
    if let Some(located) = thread.translator.locate(&thread.cache, &mut source, id, host) {
        // The field was just written by the guest's own instruction.
        let _ = guest::write_bytes(field, &located.insn.pc().to_le_bytes()[..width]);
    }
}

fn general_protection(thread: &mut Thread, pc: u64) {
    const TRAP_GENERAL_PROTECTION: u64 = 13;
    const SI_KERNEL: u64 = 0x80;
    thread.pc = pc;
    let mut info = [0; 16];
    info[0] = libc::SIGSEGV as u64;
    info[1] = SI_KERNEL;
    let trap = Trap { trap: TRAP_GENERAL_PROTECTION, ..Trap::default() };
    let eflags = thread.context.rflags;
    thread.raise(&Pending { signal: libc::SIGSEGV as u32, info }, trap, eflags);
}

fn other_mode(thread: &mut Thread, pc: u64) {
    thread.pc = pc;
    thread.say("the program switches to 32-bit mode, which is not supported");
    thread.end_by(libc::SIGILL as u32)
}
