//! The registers a case starts from: values that find boundary cases, in the layout of struct state in wire.h.

use super::rng::Rng;

pub const RFLAGS: usize = 128;
pub const FS_BASE: usize = 136;
pub const GS_BASE: usize = 144;
pub const K: usize = 192;
pub const FX: usize = 256;
pub const ZMM: usize = 768;
pub const SIZE: usize = 2816;

/// Offsets within the FXSAVE image.
pub const FX_MXCSR: usize = 24;
pub const FX_ST: usize = 32;
pub const FX_XMM: usize = 160;

#[derive(Clone, PartialEq, Eq)]
pub struct State(Box<[u8]>);

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "State(rsp={:#x}, …)", self.word(8 * 4))
    }
}

impl State {
    pub fn from_bytes(bytes: &[u8]) -> State {
        assert_eq!(bytes.len(), SIZE, "a register image");
        State(bytes.into())
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn word(&self, offset: usize) -> u64 {
        u64::from_le_bytes(self.0[offset..offset + 8].try_into().expect("eight bytes"))
    }

    pub fn set_word(&mut self, offset: usize, value: u64) {
        self.0[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
    }

    pub fn gpr(&self, number: usize) -> u64 {
        self.word(8 * number)
    }

    pub fn set_gpr(&mut self, number: usize, value: u64) {
        self.set_word(8 * number, value);
    }

    pub fn random(rng: &mut Rng) -> State {
        let mut s = State(vec![0; SIZE].into());
        for i in 0..16 {
            s.set_gpr(i, rng.interesting());
        }
        s.set_word(RFLAGS, random_flags(rng));
        for i in 0..8 {
            s.set_word(K + 8 * i, rng.interesting());
        }
        s.random_fx(rng);
        for i in 0..32 {
            s.random_vector(rng, ZMM + 64 * i);
        }
        for i in 0..16 {
            let from = ZMM + 64 * i;
            s.0.copy_within(from..from + 16, FX + FX_XMM + 16 * i);
        }
        s
    }

    /// Lanes of one register have one kind, most of the time.
    fn random_vector(&mut self, rng: &mut Rng, at: usize) {
        let kind = rng.below(6);
        for i in 0..8 {
            let kind = if rng.one_in(8) { rng.below(6) } else { kind };
            let word = match kind {
                0 | 1 => rng.double().to_bits(),
                2 | 3 => u64::from(rng.float().to_bits()) | u64::from(rng.float().to_bits()) << 32,
                4 => rng.interesting(),
                _ => rng.next() & rng.pick(&[u64::MAX, 0x0f0f_0f0f_0f0f_0f0f, 0x8000_0000_8000_0000, 0]),
            };
            self.set_word(at + 8 * i, word);
        }
    }

    /// x87 and MXCSR: all exceptions masked, everything else as it may be.
    fn random_fx(&mut self, rng: &mut Rng) {
        let control = 0x7f | (rng.below(16) << 8);
        let status = rng.below(64) | rng.below(8) << 8 | rng.below(8) << 11 | rng.below(2) << 14;
        let tags = rng.pick(&[0, 0xff, 0x0f, rng.clone().next() & 0xff]);
        self.set_word(FX, control | status << 16 | tags << 32);
        self.set_word(FX + FX_MXCSR, random_mxcsr(rng));
        for i in 0..8 {
            let (mantissa, top) = random_extended(rng);
            self.set_word(FX + FX_ST + 16 * i, mantissa);
            self.set_word(FX + FX_ST + 16 * i + 8, u64::from(top));
        }
    }
}

/// Status and direction flags, ID; never TF, NT or AC. Interrupts are enabled as always.
fn random_flags(rng: &mut Rng) -> u64 {
    let status = rng.next() & 0x8d5;
    let direction = if rng.one_in(6) { 0x400 } else { 0 };
    let id = if rng.one_in(8) { 0x20_0000 } else { 0 };
    0x202 | status | direction | id
}

/// All exceptions masked; rounding, flush modes and sticky flags vary.
pub(super) fn random_mxcsr(rng: &mut Rng) -> u64 {
    let plain = 0x1f80 | (rng.next() & 0x3f);
    match rng.below(4) {
        0 | 1 => plain,
        2 => plain | rng.below(4) << 13,
        _ => plain | rng.below(4) << 13 | (rng.next() & 0x8040),
    }
}

/// Significand, and sign with exponent: mostly a double widened, otherwise what only the 80-bit format has.
pub(super) fn random_extended(rng: &mut Rng) -> (u64, u16) {
    let sign = (rng.below(2) as u16) << 15;
    match rng.below(10) {
        0 => (0, sign),
        1 => (1 << 63, sign | 0x7fff),
        2 => (rng.next() | 1 << 63, sign | 0x7fff),
        3 => (rng.next() >> 1, sign),
        4 => (rng.next(), rng.next() as u16),
        _ => (rng.next() | 1 << 63, sign | (0x3fff - 16 + rng.below(32) as u16)),
    }
}
