//! Calls that return to an address: x86 instructions cannot be read backwards, but calls have few forms.

use crate::hooks::machine::{Machine, read_bytes};

/// Address of the call instruction before the return address `at`; `is_code` tells whether a direct call may lead to an
/// address.
pub(super) fn call_before(m: &dyn Machine, at: u64, is_code: impl Fn(u64) -> bool) -> u64 {
    // The longest call has seven bytes without prefixes that mean nothing: FF /2 with SIB and disp32 has REX before it.
    const LONGEST: usize = 8;
    let Ok(bytes) = read_bytes::<LONGEST>(m, at.wrapping_sub(LONGEST as u64)) else {
        return at.wrapping_sub(1);
    };
    let before = |length: usize| &bytes[LONGEST - length..];
    if let [0xe8, rel @ ..] = before(5) {
        let target = at.wrapping_add_signed(i32::from_le_bytes([rel[0], rel[1], rel[2], rel[3]]).into());
        if is_code(target) {
            // `addr32 call`, which linkers pad relaxed calls with; `bnd call`.
            let prefixed = matches!(before(6)[0], 0x67 | 0xf2);
            return at.wrapping_sub(if prefixed { 6 } else { 5 });
        }
    }
    let is_call = |length: &usize| is_indirect_call(before(*length));
    let Some(length) = [6, 2, 3, 4, 5, 7].into_iter().find(is_call) else { return at.wrapping_sub(1) };
    // Without its REX prefix, a call by r8 … r15 is one by another register.
    let prefixed = matches!(before(length + 1)[0], 0x40..=0x4f) && is_call(&(length + 1));
    at.wrapping_sub((length + usize::from(prefixed)) as u64)
}

fn is_indirect_call(bytes: &[u8]) -> bool {
    use iced_x86::{Decoder, DecoderOptions, FlowControl};
    let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
    instruction.len() == bytes.len() && instruction.flow_control() == FlowControl::IndirectCall
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::fake::Fake;

    /// Bytes before the return address, and how many of them are the call. Encodings are those of GNU as.
    #[test]
    fn forms_of_calls() {
        const CALLS: &[(&[u8], u64)] = &[
            // nop; call 0x5000 + 16
            (&[0x90, 0x90, 0x90, 0xe8, 0x10, 0, 0, 0], 5),
            // addr32 call, bnd call
            (&[0x90, 0x90, 0x67, 0xe8, 0x10, 0, 0, 0], 6),
            (&[0x90, 0x90, 0xf2, 0xe8, 0x10, 0, 0, 0], 6),
            // call *0x2e00(%rip)
            (&[0x90, 0x90, 0xff, 0x15, 0x00, 0x2e, 0, 0], 6),
            // call *%rax, call *%r11
            (&[0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0], 2),
            (&[0x90, 0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0xd3], 3),
            // call *0x18(%rax), call *0x8(%r12), call *0x118(%rax), call *(%r12,%rbx,8)
            (&[0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x18], 3),
            (&[0x90, 0x90, 0x90, 0x41, 0xff, 0x54, 0x24, 0x08], 5),
            (&[0x90, 0x90, 0xff, 0x90, 0x18, 0x01, 0, 0], 6),
            (&[0x90, 0x90, 0x90, 0x90, 0x41, 0xff, 0x14, 0xdc], 4),
            // mov %rax,%rbx: no call at all, somebody pushed the address
            (&[0x90, 0x90, 0x90, 0x90, 0x90, 0x48, 0x89, 0xc3], 1),
        ];
        for (bytes, length) in CALLS {
            let mut m = Fake::default();
            m.poke(0x5000 - 8, bytes);
            assert_eq!(call_before(&m, 0x5000, |target| target == 0x5010), 0x5000 - length, "{bytes:x?}");
        }
        // What looks like a direct call of no code is the tail of something else.
        let mut m = Fake::default();
        m.poke(0x5000 - 8, &[0x90, 0x90, 0x90, 0xe8, 0x10, 0, 0xff, 0xd0]);
        assert_eq!(call_before(&m, 0x5000, |target| target == 0x5010), 0x5000 - 2);
        assert_eq!(call_before(&Fake::default(), 0x5000, |_| true), 0x4fff);
    }
}
