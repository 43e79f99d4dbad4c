//! Uses on ways that are written down: a function that writes a part, and its caller.

use super::*;

/// Addresses of the function, of where it returns to, of the stack, and of the float.
const FUNCTION: u64 = 0x1000;
const CALLER: u64 = 0x2000;
const STACK: u64 = 0x8000;
const FLOAT: u64 = 0x8010;

/// `ret`; `movsd xmm0, [rsp+8]`, which is the float once the function has returned; `addsd xmm0, xmm0`; `ucomiss xmm0, xmm0`;
/// `syscall`
const RET: &[u8] = b"\xc3";
const LOAD: &[u8] = b"\xf2\x0f\x10\x44\x24\x08";
const ADD: &[u8] = b"\xf2\x0f\x58\xc0";
const COMPARE_SINGLE: &[u8] = b"\x0f\x2e\xc0";
const SYSCALL: &[u8] = b"\x0f\x05";

fn general() -> [u64; 16] {
    let mut general = [0; 16];
    // rsp, rdi; all others are 0.
    (general[4], general[7]) = (STACK, FLOAT);
    general
}

/// The use of what the function's first instruction writes, `at` bytes from the float's start on.
fn used(function: &[&[u8]], caller: &[&[u8]], at: u64) -> Use {
    used_from(&general(), function, caller, at)
}

/// The use from a state in which these are the general registers.
fn used_from(general: &[u64; 16], function: &[&[u8]], caller: &[&[u8]], at: u64) -> Use {
    used_at(general, function, caller, FLOAT + at)
}

/// The use of what the function's first instruction writes at `address`.
fn used_at(general: &[u64; 16], function: &[&[u8]], caller: &[&[u8]], address: u64) -> Use {
    let (function, caller) = (function.concat(), caller.concat());
    let read = |address: u64, into: &mut [u8]| {
        let back = CALLER.to_le_bytes();
        let parts: [(u64, &[u8]); 3] = [(FUNCTION, &function), (CALLER, &caller), (STACK, &back)];
        let known =
            parts.iter().find(|(start, bytes)| (*start..start + bytes.len() as u64).contains(&address));
        let Some((start, bytes)) = known else { return 0 };
        let bytes = &bytes[(address - start) as usize..];
        let count = bytes.len().min(into.len());
        into[..count].copy_from_slice(&bytes[..count]);
        count
    };
    let store = Decoder::with_ip(64, &function, FUNCTION, DecoderOptions::NONE).decode();
    let bytes = store.memory_size().size() as u64;
    next_use(&store, Target::Memory { address, bytes, is_shadowed: false }, general, &read)
}

/// `mov [rdi+4], esi`; `mov [rdi], esi`
const HIGH: &[u8] = b"\x89\x77\x04";
const LOW: &[u8] = b"\x89\x37";

#[test]
fn a_caller_uses_the_whole() {
    let part = |at: u8| Use::Part { format: Format::F64, at, written: 0xf << at };
    assert_eq!(used(&[HIGH, RET], &[LOAD, ADD], 4), part(4));
    assert_eq!(used(&[LOW, RET], &[LOAD, ADD], 0), part(0));
    assert_eq!(used(&[LOW, RET], &[LOAD, COMPARE_SINGLE], 0), Use::Alone);
    assert_eq!(used(&[LOW, RET], &[LOAD, SYSCALL], 0), Use::Moved { at: 0 });
    assert_eq!(used(&[LOW, RET], &[SYSCALL], 0), Use::Unseen);
}

#[test]
fn a_caller_puts_halves_together_again() {
    let part = |at: u8| Use::Part { format: Format::F64, at, written: 0xf << at };
    // mov eax, [rsp+8]; mov [rsp+0x18], eax; mov eax, [rsp+12]; mov [rsp+0x1c], eax; movsd xmm0, [rsp+0x18]
    let copied = b"\x8b\x44\x24\x08\x89\x44\x24\x18\x8b\x44\x24\x0c\x89\x44\x24\x1c\xf2\x0f\x10\x44\x24\x18";
    assert_eq!(used(&[LOW, RET], &[copied, ADD], 0), part(0));
    assert_eq!(used(&[HIGH, RET], &[copied, ADD], 4), part(4));
    // mov eax, [rsp+12]; mov ecx, [rsp+8]; shl rax, 32; or rax, rcx; movq xmm0, rax
    let joined = b"\x8b\x44\x24\x0c\x8b\x4c\x24\x08\x48\xc1\xe0\x20\x48\x09\xc8\x66\x48\x0f\x6e\xc0";
    assert_eq!(used(&[LOW, RET], &[joined, ADD], 0), part(0));
    assert_eq!(used(&[HIGH, RET], &[joined, ADD], 4), part(4));
    assert_eq!(used(&[LOW, RET], &[joined, COMPARE_SINGLE], 0), Use::Alone);
}

#[test]
fn what_is_written_throughout_is_new() {
    let new = |at| Use::New { format: Format::F64, at };
    assert_eq!(used(&[LOW, HIGH, RET], &[LOAD, ADD], 0), new(0));
    // A loop: mov [rdi+4*rax], esi; inc rax; cmp rax, 2; jne back
    let body = b"\x89\x34\x87\x48\xff\xc0\x48\x83\xf8\x02\x75\xf4";
    assert_eq!(used(&[body, RET], &[LOAD, ADD], 0), new(0));
    // mov eax, [rdi+4]; add eax, 0x100000; mov [rdi+4], eax: of its own digits it is no other.
    let changed = b"\x8b\x47\x04\x05\0\0\x10\0\x89\x47\x04";
    assert_eq!(
        used(&[LOW, changed, RET], &[LOAD, ADD], 0),
        Use::Part { format: Format::F64, at: 0, written: 0xf }
    );
}

#[test]
fn what_is_written_in_turns_has_been_before() {
    // mov [rdi+rax], sil; inc rax; cmp rax, 8; jne back
    let body = b"\x40\x88\x34\x07\x48\xff\xc0\x48\x83\xf8\x08\x75\xf3";
    let turn = |at| {
        let mut general = general();
        general[0] = at;
        used_from(&general, &[body, RET], &[LOAD, ADD], at)
    };
    assert_eq!(turn(3), Use::New { format: Format::F64, at: 3 });
    // The last one of turns is like one on its own.
    assert_eq!(turn(7), Use::Part { format: Format::F64, at: 7, written: 0x80 });
}

#[test]
fn loops_that_count_down_end() {
    // mov [rdi+rax], sil; inc rax; dec rdx; jne back. No more: not rdx; cmp rdx, -1; je over the rest.
    let body = b"\x40\x88\x34\x07\x48\xff\xc0\x48\xff\xca\x75\xf4";
    let others = b"\x48\xf7\xd2\x48\x83\xfa\xff\x74\x03";
    let left = |count| {
        let mut general = general();
        (general[0], general[2]) = (0, count);
        used_from(&general, &[body, others, HIGH, RET], &[LOAD, ADD], 0)
    };
    assert_eq!(left(5), Use::Part { format: Format::F64, at: 0, written: 0x1f });
    assert_eq!(left(8), Use::New { format: Format::F64, at: 0 });
}

#[test]
fn both_ways_of_a_branch_are_gone() {
    // jz +6, over the load.
    let branch = b"\x74\x06";
    assert_eq!(
        used(&[HIGH, RET], &[branch, LOAD, ADD], 4),
        Use::Part { format: Format::F64, at: 4, written: 0xf0 }
    );
}

#[test]
fn a_loop_of_which_the_end_is_not_known_may_write_the_others() {
    // Back to its start: mov [rdi+4], esi behind it, or nothing.
    let back = b"\x75\xfb";
    assert_eq!(used(&[HIGH, back, LOW, RET], &[LOAD, ADD], 4), Use::New { format: Format::F64, at: 4 });
}

#[test]
fn registers_hold_floats_as_well() {
    // pinsrw xmm0, eax, 3; addsd xmm0, xmm0
    let code: &[u8] = b"\x66\x0f\xc4\xc0\x03\xf2\x0f\x58\xc0";
    let read = |address: u64, into: &mut [u8]| {
        let from = address.checked_sub(FUNCTION).and_then(|at| code.get(at as usize..));
        let bytes = from.unwrap_or_default();
        let count = bytes.len().min(into.len());
        into[..count].copy_from_slice(&bytes[..count]);
        count
    };
    let insert = Decoder::with_ip(64, code, FUNCTION, DecoderOptions::NONE).decode();
    let target = Target::Inserted { register: Register::XMM0, at: 6, bytes: 2 };
    let part = Use::Part { format: Format::F64, at: 6, written: 0xc0 };
    assert_eq!(next_use(&insert, target, &general(), &read), part);
}

/// `jmp [rip+0x100]`, as the stub of a function of another file; `mov al, 1`
const STUB: &[u8] = b"\xff\x25\x00\x01\0\0";
const ONE_FLOAT: &[u8] = b"\xb0\x01";

#[test]
fn floats_go_through_an_ellipsis_by_calls_and_jumps() {
    let part = Use::Part { format: Format::F64, at: 0, written: 0xf };
    // call 0x2000, which reads the number of floats that it is given from al.
    let call: &[u8] = b"\xe8\xf3\xff\xff\xff";
    assert_eq!(used(&[LOW, RET], &[LOAD, ONE_FLOAT, call], 0), part);
    assert_eq!(used(&[LOW, RET], &[LOAD, ONE_FLOAT, STUB], 0), part);
    // xor eax, eax: none is.
    assert_eq!(used(&[LOW, RET], &[LOAD, b"\x31\xc0", STUB], 0), Use::Moved { at: 0 });
    // What a function has returned says nothing.
    let mut general = general();
    general[0] = 1;
    assert_eq!(used_from(&general, &[LOW, RET], &[LOAD, STUB], 0), Use::Moved { at: 0 });
}

#[test]
fn the_number_of_floats_may_have_been_set_before() {
    let insn = Decoder::with_ip(64, LOW, FUNCTION, DecoderOptions::NONE).decode();
    let mut general = general();
    general[0] = 2;
    for (set, passes) in [(&b"\xb0\x02"[..], true), (b"\xb8\x02\0\0\0", true), (b"\xb0\x01", false)] {
        let read = |address: u64, into: &mut [u8]| {
            let count = set.len().min(into.len());
            into[..count].copy_from_slice(&set[..count]);
            if address < FUNCTION { count } else { 0 }
        };
        let mut values = Values::new(&general);
        values.forget_al_unless_set_before(insn.ip(), &read);
        assert_eq!(values.passes_floats(), passes, "{set:x?}");
    }
}

#[test]
fn the_frame_of_a_function_that_has_returned_is_nothing() {
    // The return address is popped from above it: movsd xmm0, [rsp-16]; addsd xmm0, xmm0
    let below: &[u8] = b"\xf2\x0f\x10\x44\x24\xf0";
    let mut general = general();
    general[7] = STACK - 8;
    let code = [LOW, RET];
    assert_eq!(used_at(&general, &code, &[below, ADD], STACK - 8), Use::Unseen);
    // Before it returns: movsd xmm0, [rsp-8]
    let inside = [LOW, b"\xf2\x0f\x10\x44\x24\xf8", ADD];
    let part = Use::Part { format: Format::F64, at: 0, written: 0xf };
    assert_eq!(used_at(&general, &inside, &[], STACK - 8), part);
}
