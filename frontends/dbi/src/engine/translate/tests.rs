//! A block is made again with the facts that it was made with, whatever other blocks have told by then.

use super::*;
use crate::x86::code::Frame;
use crate::x86::discover::Bytes;
use crate::x86::mode::TABLES;

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
        translator.find_facts(&mut source);
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
