//! Conditions that a program asks of a comparison that sets flags: the instructions that follow read them.
//!
//! The processor tells less, equal, greater and unordered apart, a branch on `>=` does not: a float that is equal, for a
//! real that is greater, takes the same way. Looks along the way on which no branch is taken; knows no shadow.

use super::guest;
use iced_x86::{ConditionCode, Decoder, DecoderOptions, FlowControl, Instruction, RflagsBits};
use shadowgrind_core::step::Predicate;

/// Instructions that are looked at.
const MOST: usize = 32;
/// Bytes of the longest.
const LONGEST: usize = 15;
/// The flags that tell relations apart.
const RELATION: u32 = RflagsBits::CF | RflagsBits::PF | RflagsBits::ZF;

/// Condition asked of the comparison at `pc`, which may say so itself; its order where that is not seen.
pub(crate) fn consumed(predicate: Predicate, pc: u64) -> Predicate {
    if predicate != Predicate::ORDER {
        return predicate;
    }
    let read = |pc| {
        let mut bytes = [0; LONGEST];
        let count = guest::read_some(pc, &mut bytes);
        Decoder::with_ip(64, &bytes[..count], pc, DecoderOptions::NONE).decode()
    };
    relations(pc, read).map_or(Predicate::ORDER, Predicate)
}

/// Relations that the instructions from `pc` on ask for; `None` where that is not seen.
fn relations(pc: u64, read: impl Fn(u64) -> Instruction) -> Option<u8> {
    let compare = read(pc);
    if compare.rflags_modified() & RELATION != RELATION {
        return None;
    }
    let (mut asked, mut asks_for_nan) = (None, false);
    let mut next = compare.next_ip();
    for _ in 0..MOST {
        let instruction = read(next);
        if instruction.is_invalid() {
            break;
        }
        if instruction.rflags_read() & RELATION != 0 {
            match holds_for(instruction.condition_code())? {
                Predicate::UNORDERED => asks_for_nan = true,
                relations if asked.is_none_or(|asked| asked == relations) => asked = Some(relations),
                _ => return None,
            }
        }
        next = match instruction.flow_control() {
            FlowControl::Next | FlowControl::ConditionalBranch => instruction.next_ip(),
            FlowControl::UnconditionalBranch => instruction.near_branch_target(),
            _ => break,
        };
        if instruction.rflags_modified() & RELATION != 0 {
            break;
        }
    }
    // Where there is one, a question for NaN goes before that for equality.
    match asked {
        Some(Predicate::EQUAL) if !asks_for_nan => Some(Predicate::EQUAL | Predicate::UNORDERED),
        None if asks_for_nan => Some(Predicate::UNORDERED),
        asked => asked,
    }
}

/// The relations for which a condition holds, or those for which it does not: whichever are fewer to say.
fn holds_for(condition: ConditionCode) -> Option<u8> {
    match condition {
        ConditionCode::a | ConditionCode::be => Some(Predicate::GREATER),
        ConditionCode::ae | ConditionCode::b => Some(Predicate::GREATER | Predicate::EQUAL),
        ConditionCode::e | ConditionCode::ne => Some(Predicate::EQUAL),
        ConditionCode::p | ConditionCode::np => Some(Predicate::UNORDERED),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked_by(code: &[u8]) -> Option<u8> {
        relations(0, |pc| Decoder::with_ip(64, &code[pc as usize..], pc, DecoderOptions::NONE).decode())
    }

    const UCOMISD: [u8; 4] = [0x66, 0x0f, 0x2e, 0xc1];
    const JA: [u8; 2] = [0x77, 0x10];
    const JB: [u8; 2] = [0x72, 0x10];
    const JNE: [u8; 2] = [0x75, 0x10];
    const JP: [u8; 2] = [0x7a, 0x10];
    const MOV: [u8; 2] = [0x89, 0xd8];
    const ADD: [u8; 2] = [0x01, 0xd8];
    const RET: [u8; 1] = [0xc3];

    /// By the manual's table of what the comparison sets, and what conditions read.
    #[test]
    fn conditions_ask_for_relations() {
        const EQUAL: u8 = Predicate::EQUAL;
        const GREATER: u8 = Predicate::GREATER;
        let cases: [(&[&[u8]], Option<u8>); 8] = [
            (&[&UCOMISD, &JA, &RET], Some(GREATER)),
            (&[&UCOMISD, &MOV, &JB, &RET], Some(GREATER | EQUAL)),
            (&[&UCOMISD, &JNE, &RET], Some(EQUAL | Predicate::UNORDERED)),
            (&[&UCOMISD, &JP, &JNE, &RET], Some(EQUAL)),
            (&[&UCOMISD, &JP, &RET], Some(Predicate::UNORDERED)),
            (&[&UCOMISD, &JA, &JB, &RET], None),
            (&[&UCOMISD, &ADD, &JA, &RET], None),
            (&[&MOV, &JA, &RET], None),
        ];
        for (code, expected) in cases {
            assert_eq!(asked_by(&code.concat()), expected, "{code:x?}");
        }
    }
}
