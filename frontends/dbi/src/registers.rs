//! A stopped thread's registers and their shadows, as bytes of the state (`x86::state`).
//!
//! Knows where the context keeps what: values in its register file and XSAVE image, shadows in the upper vector
//! registers of that image or in memory of their own.

use crate::context::{AVX, Context, Xsave, ZMM};
use crate::x86::code::SpilledVector;
use crate::x86::state;
use shadowgrind_core::rounding::Rounding;
use shadowgrind_core::shadow::Policy;
use std::arch::x86_64::__cpuid_count;
use std::sync::OnceLock;

/// Number of guest vector registers, from the first on, whose shadows are in upper vector registers; the rest of those is for
/// the values of rules.
pub(crate) const fn in_registers(policy: &Policy) -> u8 {
    if policy.long_rules { 12 } else { 14 }
}

const XMM: usize = 160;
const MXCSR: usize = 24;
const FCW: usize = 0;
const FSW: usize = 2;
const ST: usize = 32;
const STATUS_WORD: usize = 2;
const XSTATE_BV: usize = 512;

/// Offsets of state components in a standard XSAVE image (Intel SDM vol. 1, 13.4; CPUID leaf 0DH).
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// Upper halves of ymm0–15.
    ymm: usize,
    /// Upper halves of zmm0–15; 0 without AVX-512.
    zmm: usize,
    /// zmm16–31; 0 without AVX-512.
    upper: usize,
    /// Mask registers; 0 without AVX-512.
    masks: usize,
}

fn layout() -> Layout {
    static LAYOUT: OnceLock<Layout> = OnceLock::new();
    *LAYOUT.get_or_init(|| {
        let offset = |component: u32| __cpuid_count(0xd, component).ebx as usize;
        Layout { ymm: offset(2), zmm: offset(6), upper: offset(7), masks: offset(5) }
    })
}

/// Gives absent components of the thread's XSAVE image their initial values and marks them present, so that the image
/// can be read and written at will.
pub(crate) fn complete_image(context: &mut Context) {
    const FCW_INITIAL: [u8; 2] = 0x37f_u16.to_le_bytes();
    let Layout { ymm, zmm, upper, masks } = layout();
    let mask = context.xsave_mask;
    let image = &mut context.xsave.0;
    let present = u64::from_le_bytes(image[XSTATE_BV..XSTATE_BV + 8].try_into().expect("eight bytes"));
    let absent = |component: u32| present >> component & 1 == 0 && mask >> component & 1 == 1;
    if absent(0) {
        image[..24].fill(0);
        image[..2].copy_from_slice(&FCW_INITIAL);
        image[ST..XMM].fill(0);
    }
    if absent(1) {
        image[XMM..XMM + 256].fill(0);
    }
    if absent(AVX) {
        image[ymm..ymm + 256].fill(0);
    }
    if absent(5) {
        image[masks..masks + 64].fill(0);
    }
    if absent(ZMM) {
        image[zmm..zmm + 512].fill(0);
    }
    if absent(7) {
        image[upper..upper + 1024].fill(0);
    }
    image[XSTATE_BV..XSTATE_BV + 8].copy_from_slice(&(present | mask).to_le_bytes());
}

/// Has upper halves of vector registers that are zero count as not in use: see `engine::switch` for what it would cost
/// an SSE program, whose instructions alternate with annotations by AVX ones, if they did.
pub(crate) fn release_uppers(context: &mut Context) {
    release(&mut context.xsave.0, layout());
}

fn release(image: &mut [u8], Layout { ymm, zmm, .. }: Layout) {
    let mut present = u64::from_le_bytes(image[XSTATE_BV..XSTATE_BV + 8].try_into().expect("eight bytes"));
    for (component, uppers) in [(AVX, ymm..ymm + 256), (ZMM, zmm..zmm + 512)] {
        if present >> component & 1 == 1 && is_zero(&image[uppers]) {
            present &= !(1 << component);
        }
    }
    image[XSTATE_BV..XSTATE_BV + 8].copy_from_slice(&present.to_le_bytes());
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.as_chunks::<64>().0.iter().all(|line| *line == [0; 64])
}

/// The upper vector registers of a thread that is not in translated code; nothing if they are in their initial state.
pub(crate) fn upper_vectors(image: &Xsave) -> &[u8] {
    const UPPER: u32 = 7;
    let image = &image.0;
    let present = u64::from_le_bytes(image[XSTATE_BV..XSTATE_BV + 8].try_into().expect("eight bytes"));
    let upper = layout().upper;
    if present >> UPPER & 1 == 1 && upper != 0 { &image[upper..upper + 1024] } else { &[] }
}

/// Rounding modes of x87's instructions, and of all others. The image must be complete.
pub(crate) fn rounding(context: &Context) -> [Rounding; 2] {
    rounding_control(context).map(rounding_of)
}

/// Rounding modes of x87 and SSE, each as the two bits that the processor has for it.
pub(crate) fn rounding_control(context: &Context) -> [u8; 2] {
    let half = |at: usize| u16::from_le_bytes([context.xsave.0[at], context.xsave.0[at + 1]]);
    // Intel's manual, volume 1, 8.1.5 and 10.2.3: bits 10 and 11 of the control word, 13 and 14 of MXCSR.
    [half(FCW) >> 10, half(MXCSR) >> 13].map(|control| control as u8 & 3)
}

/// The rounding mode of these two bits.
pub(crate) fn rounding_of(control: u8) -> Rounding {
    match control & 3 {
        0 => Rounding::NearestEven,
        1 => Rounding::Down,
        2 => Rounding::Up,
        _ => Rounding::Zero,
    }
}

/// Tells whether the underflow exception is noted, by x87 or others. The image must be complete.
pub(crate) fn has_underflowed(context: &Context) -> bool {
    /// Bit 4 of either status (Intel's manual, volume 1, 8.1.3 and 10.2.3).
    const UNDERFLOW: u32 = 1 << 4;
    let status = u32::from(context.xsave.0[FSW]);
    (status | mxcsr(context)) & UNDERFLOW != 0
}

/// MXCSR.
pub(crate) fn mxcsr(context: &Context) -> u32 {
    u32::from_le_bytes(context.xsave.0[MXCSR..MXCSR + 4].try_into().expect("four bytes"))
}

/// Sets MXCSR: an image has it whatever else is in it.
pub(crate) fn set_mxcsr(context: &mut Context, value: u32) {
    context.xsave.0[MXCSR..MXCSR + 4].copy_from_slice(&value.to_le_bytes());
}

/// Makes what is in vector register `register`, of 32 bytes, the shadow of vector register `n`. The image must be complete.
pub(crate) fn save_shadow(context: &mut Context, n: usize, register: u8) {
    let Layout { ymm, .. } = layout();
    let (register, shadow) = (usize::from(register), usize::from(state::vector(n)));
    let image = &context.xsave.0;
    let shadows = &mut context.shadows.0;
    shadows[shadow..][..16].copy_from_slice(&image[XMM + 16 * register..][..16]);
    shadows[shadow + 16..][..16].copy_from_slice(&image[ymm + 16 * register..][..16]);
}

/// Puts back a vector register from place `place` of [`Context::spills`]. The image must be complete.
pub(crate) fn put_back(context: &mut Context, vector: SpilledVector, place: usize) {
    let Layout { ymm, zmm, .. } = layout();
    let n = usize::from(vector.register);
    let mut value = context.spills[place];
    value[usize::from(vector.bytes)..].fill(0);
    let image = &mut context.xsave.0;
    image[XMM + 16 * n..][..16].copy_from_slice(&value[..16]);
    image[ymm + 16 * n..][..16].copy_from_slice(&value[16..32]);
    if zmm != 0 {
        image[zmm + 32 * n..][..32].copy_from_slice(&value[32..]);
    }
}

/// Gives the upper vector registers and the mask registers the values they have when a program begins. The image must
/// be complete.
pub(crate) fn clear_upper(context: &mut Context) {
    let Layout { upper, masks, .. } = layout();
    context.xsave.0[masks..masks + 64].fill(0);
    context.xsave.0[upper..upper + 1024].fill(0);
}

/// Number of the physical x87 register on top.
pub(crate) fn x87_top(context: &Context) -> u8 {
    context.xsave.0[STATUS_WORD + 1] >> 3 & 7
}

/// Place of a piece of a thread's registers.
enum Piece {
    /// From this byte of this general register on.
    General(usize, usize),
    /// From this byte of the XSAVE image on.
    Image(usize),
    /// In a register that the processor has not: zeros.
    Absent,
}

/// Runs `each` on the contiguous pieces of the values of `len` bytes at state offset `at`: index into the bytes asked
/// for, their number, and the place of the piece.
fn value_pieces(context: &Context, at: usize, len: usize, mut each: impl FnMut(usize, usize, Piece)) {
    let Layout { ymm, zmm, upper, masks } = layout();
    let top = usize::from(x87_top(context));
    let has_zmm = context.xsave_mask & 0xc0 == 0xc0;
    let if_zmm = |at| if has_zmm { Piece::Image(at) } else { Piece::Absent };
    let mut done = 0;
    while done < len {
        let at = at + done;
        let (place, room) = if at < usize::from(state::VECTOR) {
            (Piece::General(at / 8, at % 8), 8 - at % 8)
        } else if at < usize::from(state::X87) {
            let (n, byte) = ((at - usize::from(state::VECTOR)) / 64, at % 64);
            match (n, byte) {
                (0..16, 0..16) => (Piece::Image(XMM + 16 * n + byte), 16 - byte),
                (0..16, 16..32) => (Piece::Image(ymm + 16 * n + byte - 16), 32 - byte),
                (0..16, _) => (if_zmm(zmm + 32 * n + byte - 32), 64 - byte),
                _ => (if_zmm(upper + 64 * (n - 16) + byte), 64 - byte),
            }
        } else if at >= usize::from(state::MASKS) {
            let at = at - usize::from(state::MASKS);
            (if_zmm(masks + at), 8 - at % 8)
        } else {
            let (physical, byte) = ((at - usize::from(state::X87)) / 16, at % 16);
            (Piece::Image(ST + 16 * ((physical + 8 - top) & 7) + byte), 16 - byte)
        };
        let part = room.min(len - done);
        each(done, part, place);
        done += part;
    }
}

/// Reads values at state offset `at`. The image must be complete.
pub(crate) fn read_value(context: &Context, at: u16, into: &mut [u8]) {
    value_pieces(context, usize::from(at), into.len(), |i, part, place| {
        let into = &mut into[i..i + part];
        match place {
            Piece::General(n, byte) => {
                into.copy_from_slice(&context.regs[n].to_le_bytes()[byte..byte + part]);
            }
            Piece::Image(at) => into.copy_from_slice(&context.xsave.0[at..at + part]),
            Piece::Absent => into.fill(0),
        }
    });
}

/// Overwrites values at state offset `at`; shadows stay. The image must be complete.
pub(crate) fn write_value(context: &mut Context, at: u16, bytes: &[u8]) {
    let mut pieces = Vec::new();
    value_pieces(context, usize::from(at), bytes.len(), |i, part, place| pieces.push((i, part, place)));
    for (i, part, place) in pieces {
        let from = &bytes[i..i + part];
        match place {
            Piece::General(n, byte) => {
                let mut word = context.regs[n].to_le_bytes();
                word[byte..byte + part].copy_from_slice(from);
                context.regs[n] = u64::from_le_bytes(word);
            }
            Piece::Image(at) => context.xsave.0[at..at + part].copy_from_slice(from),
            Piece::Absent => {}
        }
    }
}

/// Shadow of the state bytes from `at` on: in the XSAVE image or in the context's own array.
fn shadow_slice(context: &mut Context, in_registers: u8, at: usize, len: usize) -> &mut [u8] {
    let vector = usize::from(state::VECTOR);
    if (vector..vector + 64 * usize::from(in_registers)).contains(&at) {
        let place = layout().upper + at - vector;
        &mut context.xsave.0[place..place + len]
    } else {
        &mut context.shadows.0[at..at + len]
    }
}

/// Shadows of a stopped thread's registers.
pub(crate) struct RegisterShadows<'a> {
    pub(crate) context: &'a mut Context,
    /// The number of vector registers whose shadows are in the upper ones; 0 without AVX-512.
    pub(crate) in_registers: u8,
}

impl RegisterShadows<'_> {
    /// The shadow bytes at state offset `at`; they must belong to one register.
    pub(crate) fn bytes(&mut self, at: u16, len: usize) -> &mut [u8] {
        shadow_slice(self.context, self.in_registers, usize::from(at), len)
    }

    /// General registers that carry a shadow, as a mask.
    pub(crate) fn cells(&self) -> u16 {
        let cells = self.context.shadows.0[..usize::from(state::VECTOR)].as_chunks::<8>().0;
        cells.iter().enumerate().fold(0, |mask, (n, cell)| mask | u16::from(*cell != [0; 8]) << n)
    }

    /// Tells whether vector registers 0 to 15 and their shadows, which are not in registers, are zero above their low
    /// 16 bytes.
    pub(crate) fn are_narrow(&self) -> bool {
        let Layout { ymm, zmm, .. } = layout();
        let image = &self.context.xsave.0;
        let present = u64::from_le_bytes(image[XSTATE_BV..XSTATE_BV + 8].try_into().expect("eight bytes"));
        let is_clear =
            |component: u32, at: std::ops::Range<usize>| present >> component & 1 == 0 || is_zero(&image[at]);
        let vector = usize::from(state::VECTOR);
        let shadows = &self.context.shadows.0[vector..vector + 16 * 64];
        self.in_registers == 0
            && is_clear(AVX, ymm..ymm + 256)
            && is_clear(ZMM, zmm..zmm + 512)
            && shadows.as_chunks::<64>().0.iter().all(|shadow| shadow[16..] == [0; 48])
    }

    /// Tells whether an x87 register carries a shadow.
    pub(crate) fn x87(&self) -> bool {
        self.context.shadows.0[usize::from(state::X87)..]
            .as_chunks::<16>()
            .0
            .iter()
            .any(|cell| *cell != [0; 16])
    }

    /// All of it, to be put back later.
    pub(crate) fn save(&mut self) -> Box<[u8; state::BYTES as usize]> {
        let mut all = Box::new(self.context.shadows.0);
        let vector = usize::from(state::VECTOR);
        for n in 0..32 {
            let at = vector + 64 * n;
            all[at..at + 64].copy_from_slice(self.bytes(at as u16, 64));
        }
        all
    }

    /// Puts back what [`RegisterShadows::save`] gave. The image must be complete.
    pub(crate) fn restore(&mut self, all: &[u8; state::BYTES as usize]) {
        self.keep_masks();
        self.context.shadows.0 = *all;
        let vector = usize::from(state::VECTOR);
        for n in 0..32 {
            let at = vector + 64 * n;
            self.bytes(at as u16, 64).copy_from_slice(&all[at..at + 64]);
        }
        self.note_x87();
    }

    /// Gives the mask registers that annotations rely on their values: 4 to 7 have the lowest 1, 2, 4 and 8 bits set.
    pub(crate) fn keep_masks(&mut self) {
        if self.in_registers > 0 {
            let masks = layout().masks;
            for (n, bits) in [(4, 1_u64), (5, 3), (6, 15), (7, 255)] {
                let at = masks + 8 * n;
                self.context.xsave.0[at..at + 8].copy_from_slice(&bits.to_le_bytes());
            }
        }
    }

    /// Forgets all shadows.
    pub(crate) fn clear(&mut self) {
        self.restore(&[0; state::BYTES as usize]);
    }

    /// Tells translated code whether an x87 register carries a shadow.
    pub(crate) fn note_x87(&mut self) {
        self.context.x87_shadowed = u64::from(self.x87());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_halves_are_released_if_they_are_zero() {
        const LAYOUT: Layout = Layout { ymm: 576, zmm: 896, upper: 1408, masks: 832 };
        for (at, value, expected) in [
            (LAYOUT.ymm, 0, 0b1010_0011_u8),
            (LAYOUT.ymm + 255, 1, 0b1010_0111),
            (LAYOUT.zmm + 511, 1, 0b1110_0011),
            (LAYOUT.upper, 1, 0b1010_0011),
        ] {
            let mut image = [0; 2688];
            image[XSTATE_BV] = 0b1110_0111;
            image[at] = value;
            release(&mut image, LAYOUT);
            assert_eq!(image[XSTATE_BV], expected, "{at}");
            assert_eq!(image[at], value, "values stay");
        }
    }
}
