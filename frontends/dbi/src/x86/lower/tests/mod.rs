//! Lowering against the processor: every instruction it has is run natively on random registers and memory, and what
//! its steps say happened to each byte is compared with what did.

mod arithmetic;
mod cells;
mod check;
mod image;
mod native;
pub(in crate::x86) mod operands;
mod oracle;
pub(in crate::x86) mod rng;
mod tricks;

use check::Checker;
use iced_x86::Code;
use native::WITHOUT_AVX512;

/// Runs the checks on all codes that `wanted` accepts, with as much of this processor as has state in `components`, and
/// reports every difference, a few per code.
fn check_codes(components: u64, wanted: impl Fn(Code) -> bool) {
    let mut checker = Checker::new(components);
    let mut problems = Vec::new();
    let mut instructions = 0;
    for code in Code::values().filter(|&code| wanted(code) && operands::can_run(code)) {
        for round in 0..12 {
            let found = checker.check(code, round);
            instructions += found.is_some() as usize;
            if let Some(found) = found.filter(|found| !found.is_empty()) {
                problems.push(found);
                break;
            }
        }
    }
    println!("{instructions} instructions");
    assert!(instructions > 0);
    assert!(problems.is_empty(), "{} codes differ:\n{}", problems.len(), problems.join("\n"));
}

fn is_vex(code: Code) -> bool {
    code.op_code().encoding() == iced_x86::EncodingKind::VEX
}

fn is_evex(code: Code) -> bool {
    code.op_code().encoding() == iced_x86::EncodingKind::EVEX
}

fn is_legacy(code: Code) -> bool {
    !is_vex(code) && !is_evex(code)
}

#[test]
fn legacy_instructions_do_what_their_steps_say() {
    check_codes(u64::MAX, is_legacy);
}

#[test]
fn vex_instructions_do_what_their_steps_say() {
    check_codes(u64::MAX, is_vex);
}

#[test]
fn and_on_processors_without_avx512() {
    check_codes(WITHOUT_AVX512, |code| !is_evex(code));
}

#[test]
fn evex_instructions_do_what_their_steps_say() {
    if !std::arch::is_x86_feature_detected!("avx512f") {
        return println!("SKIPPED: EVEX instructions: this processor lacks AVX-512");
    }
    check_codes(u64::MAX, is_evex);
}
