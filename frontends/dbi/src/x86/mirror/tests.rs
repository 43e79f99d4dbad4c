//! Instructions of annotated code, in each binding, decoded again.

use super::{Mirror, Settings};
use crate::shadows::ShadowKind;
use crate::x86::access;
use crate::x86::asm::Asm;
use crate::x86::code::{Frame, Placement, RuleCode};
use crate::x86::discover::discovered;
use crate::x86::emit::Emitter;
use crate::x86::mode::Mode;
use iced_x86::{Decoder, DecoderOptions, EncodingKind, FlowControl, Instruction, Mnemonic, OpKind};

pub(super) const START: u64 = 0x1000_0000;
pub(super) const CONTEXT: u64 = 0x4000_0000;
pub(super) const CODE: u64 = 0x4100_0000;
pub(super) const COLD: u64 = CODE + 0x10_0000;
pub(super) const EXIT: u64 = CONTEXT + 0x2_8000;
pub(super) const CONSTANTS: u64 = CONTEXT + 0x2_9000;

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
fn annotated(guest: &[&[u8]], mode: Mode, in_registers: u8) -> Vec<Instruction> {
    let emitter = emitted(guest, mode, in_registers);
    let out = &emitter.out;
    [decode(&out.hot), decode(&out.cold)].concat()
}

fn decode(code: &Asm) -> Vec<Instruction> {
    Decoder::with_ip(64, code.code(), code.base(), DecoderOptions::NONE).into_iter().collect()
}

/// The emitter that has just emitted it, under the first shadow whose rule is inline.
fn emitted(guest: &[&[u8]], mode: Mode, in_registers: u8) -> Emitter {
    let kind = ShadowKind::ALL.iter().copied().find(|kind| kind.inline().is_some()).unwrap();
    emitted_for(kind, guest, mode, in_registers)
}

/// Frame and settings of a shadow with so many registers.
pub(super) fn settings_for(kind: ShadowKind, in_registers: u8) -> (Frame, Settings) {
    let frame = Frame {
        context: CONTEXT,
        branch_tables: std::array::from_fn(|n| CONTEXT + 0x10_0000 * (n as u64 + 1)),
        index_bits: CONTEXT + 0x2_7000,
        exit: EXIT,
        ib_misses: std::array::from_fn(|n| CONTEXT + 0x2_8100 + 0x40 * n as u64),
        syscall: CONTEXT + 0x2_8300,
        function_returned: CONTEXT + 0x2_8400,
        evaluate: CONTEXT + 0x2_8480,
        evaluate_between: [CONTEXT + 0x2_8500, CONTEXT + 0x2_8580],
    };
    let settings = Settings {
        in_registers,
        records: kind.records(),
        appends: kind.appends(),
        roundings: false,
        policy: kind.policy(),
        rule: kind.inline().map(|inline| inline.rule),
        doubt: None,
        suspicion: None,
        constants: CONSTANTS,
        atomics: CONTEXT + 0x2_a000,
        turned: 0,
        guest_end: 1 << 45,
        vdso: (0, 0),
        has_avx512: in_registers > 0,
        wide: false,
        slow: false,
    };
    (frame, settings)
}

/// The emitter that has just emitted `guest` for this shadow.
pub(super) fn emitted_for(kind: ShadowKind, guest: &[&[u8]], mode: Mode, in_registers: u8) -> Emitter {
    let (frame, settings) = settings_for(kind, in_registers);
    let mut emitter = Emitter::new(frame, Some(Mirror::new(settings)));
    let block = discovered(START, &guest.concat(), 0);
    assert_eq!(block.insns.len(), guest.len(), "all of the code is one superblock");
    let place = Placement { hot: CODE, cold: COLD, first_exit: 0, runs: None };
    emitter.emit(&block, place, mode, false);
    emitter
}

/// Tells whether a processor without AVX-512 has the instruction.
fn is_older(insn: &Instruction) -> bool {
    let registers =
        (0..insn.op_count()).filter(|&n| insn.op_kind(n) == OpKind::Register).map(|n| insn.op_register(n));
    let newer =
        registers.into_iter().any(|r| r.is_zmm() || r.is_k() || (r.is_vector_register() && r.number() >= 16));
    !insn.is_invalid() && insn.encoding() != EncodingKind::EVEX && !newer
}

#[test]
fn without_avx512_annotations_use_none() {
    for isolated in [false, true] {
        let code = annotated(GUEST, Mode::cells(0).isolated(isolated), 0);
        assert!(code.len() > 10 * GUEST.len() / 2, "annotations are there");
        let newer: Vec<String> =
            code.iter().filter(|insn| !is_older(insn)).map(|insn| format!("{insn:?}")).collect();
        assert!(newer.is_empty(), "{newer:#?}");
    }
}

#[test]
fn with_avx512_they_do() {
    let code = annotated(GUEST, Mode::cells(0), 14);
    assert!(code.iter().any(|insn| insn.encoding() == EncodingKind::EVEX));
}

/// Upper halves are in use from the first instruction that asks for them to the next that clears them, and not without.
#[test]
fn narrow_code_leaves_upper_halves_alone() {
    let uses_them = |guest: &[&[u8]]| {
        let code = annotated(guest, Mode::cells(0).narrow(true), 0);
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
    let code = annotated(CLEARED, Mode::cells(0).narrow(true), 0);
    let cleared = code.iter().position(|insn| insn.mnemonic() == Mnemonic::Vzeroupper);
    let after = &code[cleared.expect("it is there")..];
    let fills = |insn: &&Instruction| insn.op_count() > 0 && insn.op0_register().is_ymm();
    assert_eq!(after.iter().find(fills), None);
}

/// True of instructions that the processor's MXCSR has a part in: arithmetic, conversions and comparisons of floats.
fn is_arithmetic(insn: &Instruction) -> bool {
    let name = format!("{:?}", insn.mnemonic()).to_lowercase();
    let families = [
        "add", "sub", "mul", "div", "sqrt", "min", "max", "cmp", "comis", "cvt", "fma", "fnma", "fms", "fnms",
    ];
    let float = ["ps", "pd", "ss", "sd"].iter().any(|end| name.ends_with(end));
    let is = |family: &&str| name.trim_start_matches('v').trim_start_matches('u').starts_with(*family);
    (float || name.contains("cvt")) && families.iter().any(is)
}

/// Annotations compute nowhere but in rules; the guest's own instructions, of which there are as many, compute nowhere else.
#[test]
fn what_may_raise_exceptions_is_in_rules() {
    let guests = GUEST.concat();
    let decoder = Decoder::with_ip(64, &guests, START, DecoderOptions::NONE);
    let own = decoder.into_iter().filter(is_arithmetic).count();
    assert!(own > 8);
    for mode in [Mode::cells(0), Mode::cells(0).isolated(true), Mode::cells(3).narrow(true)] {
        let emitter = emitted(GUEST, mode, 0);
        let out = &emitter.out;
        let in_rules = |insn: &Instruction| out.rules.iter().any(|r| (r.start..r.end).contains(&insn.ip()));
        let code = [decode(&out.hot), decode(&out.cold)].concat();
        let (rules, others): (Vec<Instruction>, Vec<Instruction>) =
            code.into_iter().filter(is_arithmetic).partition(in_rules);
        assert!(rules.len() >= own - 2, "{} rules", rules.len());
        assert_eq!(others.len(), own, "{mode:?}: {others:?}");
    }
}

/// The isolated version of a block has the same rules.
#[test]
fn isolation_is_all_that_differs() {
    let code = |emitter: &Emitter| -> Vec<Vec<Instruction>> {
        let rules = &emitter.out.rules;
        let hot = decode(&emitter.out.hot);
        // A question's jump leads to cold code, which is elsewhere.
        let bare = |mut insn: Instruction| {
            if insn.flow_control() != FlowControl::Next {
                insn.set_near_branch64(0);
            }
            insn
        };
        let within = |start, end| {
            hot.iter().filter(move |i| (start..end).contains(&i.ip())).copied().map(bare).collect()
        };
        rules.iter().map(|rule| within(rule.start, rule.end)).collect()
    };
    for mode in [Mode::cells(0), Mode::cells(3), Mode::cells(0).narrow(true)] {
        let (shared, isolated) = (emitted(GUEST, mode, 0), emitted(GUEST, mode.isolated(true), 0));
        assert_eq!(code(&shared), code(&isolated));
        assert!(shared.out.rules.len() > 5);
        let loads = |emitter: &Emitter| {
            decode(&emitter.out.hot).iter().filter(|i| i.mnemonic() == Mnemonic::Vldmxcsr).count()
        };
        // What is computed anew in cold code goes on with the MXCSR of the rule that asked.
        let hot = |rule: &&RuleCode| (CODE..isolated.out.hot.here()).contains(&rule.start);
        let rules = isolated.out.rules.iter().filter(hot).count();
        assert_eq!((loads(&shared), loads(&isolated)), (0, 2 * rules));
    }
}
