//! A difference as a person wants to see it: how to repeat it, the code, the registers that matter.

use super::compare::Difference;
use super::op::{Assembled, Case};
use super::profile::Profile;
use iced_x86::{Decoder, DecoderOptions, Formatter, GasFormatter, Instruction};
use std::fmt::Write;

/// Environment that repeats one case.
pub fn repeat(profile: &Profile, case: &Case) -> String {
    format!(
        "RANDSEQ_SEED={:#x} RANDSEQ_CASE={} cargo test -p shadowgrind-tests --test randseq {}",
        case.seed, case.index, profile.name
    )
}

/// The machine code of a case with addresses and bytes.
pub fn listing(case: &Case, code: &Assembled) -> String {
    let mut text = String::new();
    let mut decoder = Decoder::with_ip(64, &code.bytes, case.addr, DecoderOptions::NONE);
    let mut formatter = GasFormatter::new();
    formatter.options_mut().set_rip_relative_addresses(true);
    let mut instr = Instruction::default();
    while decoder.can_decode() {
        let from = decoder.position();
        if let Some(table) = code.data.iter().find(|range| range.start == from) {
            let hex: String = code.bytes[table.clone()].iter().map(|b| format!(" {b:02x}")).collect();
            writeln!(text, "  {:x}: .byte{hex}", case.addr + from as u64).expect("writing to a string");
            decoder.set_position(table.end).expect("within the code");
            decoder.set_ip(case.addr + table.end as u64);
            continue;
        }
        decoder.decode_out(&mut instr);
        let bytes = &code.bytes[from..decoder.position()];
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        let mut line = String::new();
        formatter.format(&instr, &mut line);
        writeln!(text, "  {:x}: {hex:<24} {line}", instr.ip()).expect("writing to a string");
    }
    text
}

/// General registers and control words at the start.
pub fn start(case: &Case) -> String {
    const NAMES: [&str; 16] = [
        "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
        "r14", "r15",
    ];
    let mut text = String::new();
    for (i, name) in NAMES.iter().enumerate() {
        let separator = if i % 4 == 3 { '\n' } else { ' ' };
        write!(text, "  {name:>3}={:#018x}{separator}", case.state.gpr(i)).expect("writing to a string");
    }
    let flags = case.state.word(super::state::RFLAGS);
    let mxcsr = case.state.word(super::state::FX + super::state::FX_MXCSR) as u32;
    writeln!(text, "  rflags={flags:#x} mxcsr={mxcsr:#x}").expect("writing to a string");
    text
}

pub fn differences(all: &[Difference]) -> String {
    const MOST: usize = 40;
    let mut lines: Vec<String> =
        all.iter().take(MOST).map(|d| format!("  {d}").replace('\n', "\n  ")).collect();
    if all.len() > MOST {
        lines.push(format!("  … and {} more", all.len() - MOST));
    }
    lines.join("\n")
}
