//! What annotated code is made of, in each binding, decoded again.

use super::{Mirror, Settings};
use crate::x86::access;
use crate::x86::code::{Frame, Placement};
use crate::x86::discover::discovered;
use crate::x86::emit::Emitter;
use crate::x86::mode::Mode;
use iced_x86::{Decoder, DecoderOptions, EncodingKind, Instruction, Mnemonic, OpKind};

const START: u64 = 0x1000_0000;
const CONTEXT: u64 = 0x4000_0000;
const CODE: u64 = 0x4100_0000;

/// Guest code of all kinds that annotations see to: moves, arithmetic, conversions, comparisons, shuffles, stores,
/// general registers, clears, and a way out in between.
const GUEST: &[&[u8]] = &[
    b"\x0f\x28\x06",             // movaps xmm0, [rsi]
    b"\xf2\x0f\x58\xc8",         // addsd xmm1, xmm0
    b"\xf2\x0f\x5e\xca",         // divsd xmm1, xmm2
    b"\xf2\x0f\x51\xdb",         // sqrtsd xmm3, xmm3
    b"\xc5\xed\x59\xd9",         // vmulpd ymm3, ymm2, ymm1
    b"\xc4\xe2\xe9\xb8\x0e",     // vfmadd231pd xmm1, xmm2, [rsi]
    b"\xf3\x0f\x5d\x46\x04",     // minss xmm0, [rsi+4]
    b"\xf2\x0f\x5a\xc1",         // cvtsd2ss xmm0, xmm1
    b"\xc5\xfc\x5a\xe3",         // vcvtps2pd ymm4, xmm3
    b"\x66\x0f\x2e\xc1",         // ucomisd xmm0, xmm1
    b"\x0f\x87\x00\x01\x00\x00", // ja
    b"\x0f\xc6\xc1\x1b",         // shufps xmm0, xmm1, 0x1b
    b"\xc4\xe3\x7d\x19\xc1\x01", // vextractf128 xmm1, ymm0, 1
    b"\xc4\xe2\x7d\x19\x06",     // vbroadcastsd ymm0, [rsi]
    b"\x66\x0f\x14\xca",         // unpcklpd xmm1, xmm2
    b"\x0f\x57\xdc",             // xorps xmm3, xmm4
    b"\x66\x48\x0f\x7e\xc0",     // movq rax, xmm0
    b"\x48\x89\x06",             // mov [rsi], rax
    b"\x48\x8b\x4e\x08",         // mov rcx, [rsi+8]
    b"\x66\x48\x0f\x6e\xe9",     // movq xmm5, rcx
    b"\xc5\xfd\x11\x2e",         // vmovupd [rsi], ymm5
    b"\xf2\x0f\x10\xec",         // movsd xmm5, xmm4
    b"\xf2\x48\x0f\x2a\xe9",     // cvtsi2sd xmm5, rcx
    b"\x66\x0f\xef\xc1",         // pxor xmm0, xmm1
    b"\x66\x0f\xd4\xc1",         // paddq xmm0, xmm1
    b"\xc5\xf8\x77",             // vzeroupper
    b"\xf2\x45\x0f\x58\xff",     // addsd xmm15, xmm15
    b"\x66\x41\x0f\xd6\x3e",     // movq [r14], xmm7
    b"\xc3",                     // ret
];

/// Hot and cold code of `guest`, annotated in `mode`.
fn annotated(guest: &[&[u8]], mode: Mode, in_registers: u8, keeps_mxcsr: bool) -> Vec<Instruction> {
    let frame = Frame {
        context: CONTEXT,
        branch_tables: [0x10_0000, 0x20_0000, 0x30_0000, 0x40_0000, 0x50_0000].map(|at| CONTEXT + at),
        exit: CONTEXT + 0x8000,
        ib_misses: [0x8100, 0x8140, 0x8180, 0x81c0, 0x8200].map(|at| CONTEXT + at),
        syscall: CONTEXT + 0x8300,
        function_returned: CONTEXT + 0x8400,
        evaluate: CONTEXT + 0x8480,
    };
    let settings = Settings {
        in_registers,
        records: false,
        constants: CONTEXT + 0x9000,
        guest_end: 1 << 44,
        vdso: (0, 0),
        keeps_mxcsr,
        wide: false,
        slow: false,
    };
    let mut emitter = Emitter::new(frame, Some(Mirror::new(settings)));
    let block = discovered(START, &guest.concat(), 0);
    assert_eq!(block.insns.len(), guest.len(), "all of the code is one superblock");
    let place = Placement { hot: CODE, cold: CODE + 0x10_0000, first_exit: 0, runs: None };
    emitter.emit(&block, place, mode, false);
    let decode = |code: &[u8], at| -> Vec<Instruction> {
        Decoder::with_ip(64, code, at, DecoderOptions::NONE).into_iter().collect()
    };
    let out = &emitter.out;
    [decode(out.hot.code(), out.hot.base()), decode(out.cold.code(), out.cold.base())].concat()
}

/// Whether a processor without AVX-512 has the instruction.
fn is_older(insn: &Instruction) -> bool {
    let registers =
        (0..insn.op_count()).filter(|&n| insn.op_kind(n) == OpKind::Register).map(|n| insn.op_register(n));
    let newer =
        registers.into_iter().any(|r| r.is_zmm() || r.is_k() || (r.is_vector_register() && r.number() >= 16));
    !insn.is_invalid() && insn.encoding() != EncodingKind::EVEX && !newer
}

#[test]
fn without_avx512_annotations_use_none() {
    for keeps_mxcsr in [false, true] {
        let code = annotated(GUEST, Mode::cells(0), 0, keeps_mxcsr);
        assert!(code.len() > 10 * GUEST.len() / 2, "annotations are there");
        let newer: Vec<String> =
            code.iter().filter(|insn| !is_older(insn)).map(|insn| format!("{insn:?}")).collect();
        assert!(newer.is_empty(), "{newer:#?}");
    }
}

#[test]
fn with_avx512_they_do() {
    let code = annotated(GUEST, Mode::cells(0), 14, false);
    assert!(code.iter().any(|insn| insn.encoding() == EncodingKind::EVEX));
}

/// Upper halves are in use from the first instruction that asks for them to the next that clears them, and not without.
#[test]
fn narrow_code_leaves_upper_halves_alone() {
    let uses_them = |guest: &[&[u8]]| {
        let code = annotated(guest, Mode::cells(0).narrow(true), 0, false);
        code.iter().any(access::has_more_than_sse)
    };
    let sse = |bytes: &&&[u8]| {
        let insn = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
        !access::has_more_than_sse(&insn)
    };
    let narrow: Vec<&[u8]> = GUEST.iter().filter(sse).copied().collect();
    assert!(narrow.len() > GUEST.len() / 2 && !uses_them(&narrow));
    assert!(uses_them(GUEST));
    const CLEARED: &[&[u8]] = &[
        b"\xc5\xfd\x10\x06",     // vmovupd ymm0, [rsi]
        b"\xc5\xf8\x77",         // vzeroupper
        b"\xf2\x0f\x5e\xca",     // divsd xmm1, xmm2
        b"\xf2\x45\x0f\x58\xff", // addsd xmm15, xmm15
        b"\xc3",                 // ret
    ];
    let code = annotated(CLEARED, Mode::cells(0).narrow(true), 0, false);
    let cleared = code.iter().position(|insn| insn.mnemonic() == Mnemonic::Vzeroupper);
    let after = &code[cleared.expect("it is there")..];
    let fills = |insn: &&Instruction| insn.op_count() > 0 && insn.op0_register().is_ymm();
    assert_eq!(after.iter().find(fills), None);
}
