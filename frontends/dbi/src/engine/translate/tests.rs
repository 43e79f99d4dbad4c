//! A block is made again with the facts that it was made with, whatever other blocks have told by then.

use super::*;
use crate::x86::code::Frame;
use crate::x86::code_source::Bytes;
use crate::x86::mode::TABLES;
use shadowgrind_core::format::Format;

/// mov dword [rbp-8], 0; the same with rbp-4; movsd xmm0, [rbp-8]; addsd xmm0, xmm0
const LOW: &[u8] = b"\xc7\x45\xf8\0\0\0\0";
const HIGH: &[u8] = b"\xc7\x45\xfc\0\0\0\0";
const LOAD: &[u8] = b"\xf2\x0f\x10\x45\xf8";
const ADD: &[u8] = b"\xf2\x0f\x58\xc0";
/// movzx ecx, word [rdi+8]; xor ecx, 0x8000
const CHANGE: &[u8] = b"\x0f\xb7\x4f\x08\x81\xf1\0\x80\0\0";
/// mov [rdi+8], cx; fld tbyte [rdi]; ret
const PUT_BACK: &[u8] = b"\x66\x89\x4f\x08\xdb\x2f\xc3";

const LIMITS: Limits = Limits {
    instructions: 16,
    side_exits: 0,
    jumps: 0,
    call_depth: 0,
    back: None,
    hooks: Hooks::None,
    ends_at_stores: false,
};

fn translator() -> Translator {
    Translator {
        block: Superblock::new(),
        emitter: Emitter::new(Frame::new(0x1000, [0; TABLES], 0x2000), None),
        limits: LIMITS,
        hot_after: u32::MAX,
        instructions: 0,
        sums: HashMap::new(),
        wholes: HashMap::new(),
        takes_digits: HashMap::new(),
        lately: Vec::new(),
    }
}

#[test]
fn what_other_blocks_tell_is_kept() {
    let start = 0x40_0000;
    let store = start + CHANGE.len() as u64;
    let mut source = Bytes { start, code: [CHANGE, PUT_BACK].concat() };
    let mut translator = translator();
    for pc in [start, store] {
        translator.block.discover(pc, LIMITS, &mut source);
        translator.find_facts(&mut source, false);
    }
    let (facts, instructions) = (translator.block.facts.clone(), translator.block.insns.len());
    assert_eq!(translator.block.whole(store), Some(Whole::End { restored: true }));
    for writable in [false, true] {
        let kept = translator.to_keep(writable);
        translator.wholes.clear();
        let mode = Mode::cells(0);
        let made_of =
            MadeOf { pc: store, mode, instructions, compare: false, hot: false, back: None, onward: false };
        translator.discover_again(&mut source, &made_of, &kept);
        assert_eq!(translator.block.facts, facts, "writable: {writable}");
    }
}

/// A double that is written by halves: where a block begins with the other half, that is a part of what was there, unless the first half
/// has just been written.
#[test]
fn what_was_written_before_tells_only_behind_it() {
    let (start, high) = (0x40_0000, 0x40_0000 + LOW.len() as u64);
    let mut source = Bytes { start, code: [LOW, HIGH, LOAD, ADD].concat() };
    let mut translator = translator();
    let mut whole = |pc, onward| {
        translator.block.discover(pc, LIMITS, &mut source);
        translator.find_facts(&mut source, onward);
        translator.block.whole(high)
    };
    assert_eq!(whole(start, false), Some(Whole::Alone));
    assert_eq!(whole(high, true), Some(Whole::Alone));
    assert_eq!(whole(high, false), Some(Whole::Part { format: Format::F64, at: 4 }));
    assert_eq!(whole(high, true), Some(Whole::Part { format: Format::F64, at: 4 }));
}
