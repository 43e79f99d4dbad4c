//! A deterministic random number generator: the same seed gives the same cases on every host and toolchain.
//!
//! SplitMix64, because a case must be reproducible from `(seed, index)` alone and its streams may be derived freely.

#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The stream of case `index` of a run: independent of all other cases.
    pub fn for_case(seed: u64, index: u64) -> Rng {
        let mut outer = Rng(seed ^ index.wrapping_mul(0xd134_2543_de82_ef95));
        Rng(outer.next())
    }

    #[expect(clippy::should_implement_trait, reason = "an endless stream, not an iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform enough in `0..n`; `n` is small compared with 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "nothing to choose from");
        self.next() % n
    }

    /// Uniform in `low..=high`.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low) as u64 + 1) as i64
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// An index into `weights`, chosen in proportion.
    pub fn weighted(&mut self, weights: impl Iterator<Item = u32> + Clone) -> usize {
        let mut left = self.below(weights.clone().map(u64::from).sum());
        for (i, w) in weights.enumerate() {
            if left < u64::from(w) {
                return i;
            }
            left -= u64::from(w);
        }
        unreachable!("weights add up to their sum")
    }

    /// A 64-bit integer of a kind that finds boundary cases: small, negative, powers of two, masks, float patterns.
    pub fn interesting(&mut self) -> u64 {
        let r = self.next();
        match self.below(10) {
            0 => r & 0xff,
            1 => (r & 0xff).wrapping_neg(),
            2 => 1 << (r % 64),
            3 => (1u64 << (r % 64)).wrapping_sub(1),
            4 => self.pick(&[0, u64::MAX, 1 << 63, i64::MAX as u64, 0x8000_0000, 0x7fff_ffff, 0xffff_ffff]),
            5 => self.double().to_bits(),
            6 => r as u32 as u64,
            7 => i64::from(r as i32) as u64,
            _ => r,
        }
    }

    /// A double of moderate size, a special value now and then.
    pub fn double(&mut self) -> f64 {
        let r = self.next();
        match self.below(12) {
            0 => f64::from(self.range(-20, 20) as i32),
            1 => f64::from_bits(r),
            2 => self.special_double(),
            3 => f64::from_bits(r & 0x800f_ffff_ffff_ffff),
            _ => f64::from_bits(r & 0x807f_ffff_ffff_ffff | 0x3fc0_0000_0000_0000),
        }
    }

    fn special_double(&mut self) -> f64 {
        let signalling = f64::from_bits(0x7ff0_0000_0000_0000 | (self.next() & 0xffff) | 1);
        let quiet = f64::from_bits(0xfff8_0000_0000_0000 | (self.next() & 0xffff));
        let bounds = [f64::MAX, f64::MIN, f64::MIN_POSITIVE, 9.3e18, -9.3e18, 2147483648.0, 0.5, -1.5];
        let values = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, signalling, quiet];
        if self.one_in(2) { self.pick(&values) } else { self.pick(&bounds) }
    }

    /// As `double`, for single precision.
    pub fn float(&mut self) -> f32 {
        let r = self.next() as u32;
        match self.below(10) {
            0 => f32::from_bits(r),
            1 => self.pick(&[0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE]),
            2 => f32::from_bits(0x7f80_0001 | (r & 0x8040_00ff)),
            3 => f32::from_bits(r & 0x807f_ffff),
            _ => f32::from_bits(r & 0x83ff_ffff | 0x3c00_0000),
        }
    }
}
