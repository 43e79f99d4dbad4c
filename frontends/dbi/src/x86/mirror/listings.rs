//! Listings of emitted code, so that a change of code generation is seen when it is reviewed: `frontends/dbi/listings` has a
//! file for each piece of guest code, with what becomes of it under each kind of shadow in each binding. With `BLESS=1` they
//! are written anew. Says nothing of whether the code is right: the oracle of `lower`'s tests and random sequences do.

use super::tests::{CODE, COLD, CONSTANTS, CONTEXT, EXIT, START, emitted_for};
use crate::context::Context;
use crate::mailbox::Mailbox;
use crate::shadows::ShadowKind;
use crate::x86::asm::Asm;
use crate::x86::emit::Emitter;
use crate::x86::mode::Mode;
use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Formatter, GasFormatter, Instruction, SymbolResolver, SymbolResult,
};
use std::fmt::Write;
use std::path::PathBuf;

/// Names of files, and guest code.
const GUESTS: &[(&str, &[&[u8]])] = &[
    ("add", &[b"\xf2\x0f\x58\xc8"]),                             // addsd xmm1, xmm0
    ("add_packed", &[b"\xc5\xed\x58\xd9"]),                      // vaddpd ymm3, ymm2, ymm1
    ("multiply_memory", &[b"\xf2\x0f\x59\x4f\x08"]),             // mulsd xmm1, [rdi+8]
    ("divide_single", &[b"\xf3\x0f\x5e\xca"]),                   // divss xmm1, xmm2
    ("root", &[b"\xf2\x0f\x51\xdb"]),                            // sqrtsd xmm3, xmm3
    ("fused", &[b"\xc4\xe2\xe9\xb8\x0e"]),                       // vfmadd231pd xmm1, xmm2, [rsi]
    ("load_and_store", &[b"\x0f\x28\x06", b"\x66\x0f\x13\x07"]), // movaps xmm0, [rsi]; movlpd [rdi], xmm0
    ("shuffle", &[b"\x0f\xc6\xc1\x4e"]),                         // shufps xmm0, xmm1, 0x4e
    ("magnitude", &[b"\x66\x0f\x54\x06"]),                       // andpd xmm0, [rsi]
    ("zero", &[b"\x0f\x57\xc0"]),                                // xorps xmm0, xmm0
    ("narrow", &[b"\xf2\x0f\x5a\xc1"]),                          // cvtsd2ss xmm0, xmm1
    ("from_integer", &[b"\xf2\x48\x0f\x2a\xe9"]),                // cvtsi2sd xmm5, rcx
    ("horizontal", &[b"\x66\x0f\x7c\xc1"]),                      // haddpd xmm0, xmm1
    ("branch", &[b"\x66\x0f\x2e\xc1", b"\x0f\x87\x00\x01\x00\x00"]), // ucomisd xmm0, xmm1; ja
    ("through_general", &[b"\x66\x48\x0f\x7e\xc0", b"\x48\x89\x06"]), // movq rax, xmm0; mov [rsi], rax
    ("exponent", &[b"\x48\x8b\x06", b"\x48\x01\xc8", b"\x48\x89\x06"]), // mov rax, [rsi]; add rax, rcx; mov [rsi], rax
    ("x87", &[b"\xdb\x2e", b"\xdc\x07", b"\xdb\x3e"]), // fld tbyte [rsi]; fadd qword [rdi]; fstp tbyte [rsi]
    ("sum", &[b"\xf2\x0f\x58\x07", b"\x48\x83\xc7\x08", b"\x75\xf6"]), // addsd xmm0, [rdi]; add rdi, 8; jnz back
];

/// Address up to which constants of rules may lie.
const CONSTANTS_END: u64 = CONSTANTS + 0x3000;

/// Bindings of shadows to the processor: a name, the number of upper registers, and whether upper halves are zero.
const BINDINGS: [(&str, u8, bool); 3] =
    [("upper registers", 14, false), ("memory", 0, false), ("memory, narrow", 0, true)];

/// Shadows of which each annotates in its own way: one whose rule is inline, one that records, one that appends.
fn kinds() -> impl Iterator<Item = ShadowKind> {
    type Is = fn(ShadowKind) -> bool;
    let ways: [Is; 3] = [|kind| kind.inline().is_some(), ShadowKind::records, ShadowKind::appends];
    ways.into_iter().filter_map(|is| ShadowKind::ALL.iter().copied().find(|&kind| is(kind)))
}

#[test]
fn emitted_code_is_as_listed() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("listings");
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut others = Vec::new();
    for (name, guest) in GUESTS {
        let path = directory.join(name).with_extension("txt");
        let listing = listing(guest);
        if bless {
            std::fs::write(&path, &listing).unwrap();
        } else if std::fs::read_to_string(&path).unwrap_or_default() != listing {
            others.push(*name);
        }
    }
    assert!(others.is_empty(), "{others:?} are emitted otherwise: BLESS=1 writes them anew, for review");
}

/// Every listing belongs to a piece of guest code.
#[test]
fn no_listing_is_left_over() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("listings");
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        assert!(GUESTS.iter().any(|(guest, _)| *guest == name), "{}", path.display());
    }
}

fn listing(guest: &[&[u8]]) -> String {
    let mut text = String::new();
    for kind in kinds() {
        // Narrow code matters to rules.
        for (binding, in_registers, narrow) in
            BINDINGS.into_iter().filter(|(.., narrow)| !narrow || kind.inline().is_some())
        {
            let emitter = emitted_for(kind, guest, Mode::cells(0).narrow(narrow), in_registers);
            let _ = writeln!(text, "== {}, {binding}", kind.name());
            write_code(&mut text, &emitter, guest);
        }
    }
    text
}

fn decode(code: &Asm) -> Vec<Instruction> {
    Decoder::with_ip(64, code.code(), code.base(), DecoderOptions::NONE).into_iter().collect()
}

/// Hot code under the guest instructions that it is for, then cold code.
fn write_code(text: &mut String, emitter: &Emitter, guest: &[&[u8]]) {
    let [hot, cold] = [decode(&emitter.out.hot), decode(&emitter.out.cold)];
    let is_near = |insn: &&Instruction| {
        matches!(insn.flow_control(), FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch)
    };
    let targets = hot.iter().chain(&cold).filter(is_near).map(Instruction::near_branch64);
    let mut labels: Vec<u64> = targets.filter(|&to| is_code(to)).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut formatter = GasFormatter::with_options(Some(Box::new(Names { labels: labels.clone() })), None);
    formatter.options_mut().set_rip_relative_addresses(true);
    let mut line = |text: &mut String, insn: &Instruction| {
        if let Ok(n) = labels.binary_search(&insn.ip()) {
            let _ = writeln!(text, "L{n}:");
        }
        let mut written = String::new();
        formatter.format(insn, &mut written);
        let _ = writeln!(text, "    {written}");
    };
    let begins = |ip: u64| emitter.out.map.iter().find(|entry| entry.host == ip && entry.begins);
    // What stands before the first guest instruction is every block's.
    let first = emitter.out.map.iter().find(|entry| entry.begins).map_or(0, |entry| entry.host);
    for insn in hot.iter().filter(|insn| insn.ip() >= first) {
        if let Some(entry) = begins(insn.ip()).filter(|entry| entry.insn < guest.len()) {
            let ip = START + guest[..entry.insn].iter().map(|bytes| bytes.len() as u64).sum::<u64>();
            let guest = Decoder::with_ip(64, guest[entry.insn], ip, DecoderOptions::NONE).decode();
            let mut written = String::new();
            GasFormatter::new().format(&guest, &mut written);
            let _ = writeln!(text, "  # {written}");
        }
        line(text, insn);
    }
    text.push_str("  # cold\n");
    cold.iter().for_each(|insn| line(text, insn));
}

fn is_code(address: u64) -> bool {
    (CODE..COLD + 0x10_0000).contains(&address)
}

/// Names of addresses, so that a listing does not change with the layout of anything.
struct Names {
    labels: Vec<u64>,
}

impl SymbolResolver for Names {
    fn symbol(
        &mut self,
        _insn: &Instruction,
        _operand: u32,
        _instruction_operand: Option<u32>,
        address: u64,
        _bytes: u32,
    ) -> Option<SymbolResult<'_>> {
        let fields = [
            ("slots", Context::OFFSET_SLOTS),
            ("x87_shadowed", Context::OFFSET_X87_SHADOWED),
            ("call", Context::OFFSET_CALL),
            ("calls", Context::OFFSET_CALLS),
            ("counts", Context::OFFSET_COUNTS),
            ("shadows", Context::OFFSET_SHADOWS),
            ("spills", Context::OFFSET_SPILLS),
            ("anew", Context::OFFSET_ANEW),
            ("quiet", Mailbox::OFFSET_NO_REQUEST),
            ("record", Mailbox::OFFSET_RECORD),
            ("number", Mailbox::OFFSET_NUMBER),
        ];
        let name = match address {
            _ if is_code(address) => format!("L{}", self.labels.binary_search(&address).ok()?),
            EXIT => "exit".to_owned(),
            CONSTANTS..CONSTANTS_END => format!("constants+{:#x}", address - CONSTANTS),
            CONTEXT..EXIT => {
                let offset = address - CONTEXT;
                let before = fields.iter().filter(|(_, at)| u64::from(*at) <= offset);
                match before.max_by_key(|(_, at)| *at) {
                    Some((field, at)) => format!("{field}+{:#x}", offset - u64::from(*at)),
                    None => format!("context+{offset:#x}"),
                }
            }
            _ => return None,
        };
        Some(SymbolResult::with_string(address, name))
    }
}
