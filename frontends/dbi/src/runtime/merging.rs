//! Lists of roundings merged by vector instructions: what the shadow's portable code does, all places at once.

use shadowgrind_shadows::merging::{Both, Few, Merging, Roundings};
use std::arch::is_x86_feature_detected;
use std::arch::x86_64::*;

/// Merging by AVX2, and the proof that the processor has what shadows need: only [`detect`](Vectors::detect) makes one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vectors(());

impl Vectors {
    /// Nothing where the processor lacks AVX2, FMA, BMI or LZCNT.
    pub(super) fn detect() -> Option<Vectors> {
        let vectors = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let bits = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
        (vectors && bits && is_x86_feature_detected!("lzcnt")).then_some(Vectors(()))
    }
}

impl Merging for Vectors {
    #[inline(always)]
    fn merge(self, lists: [(&Roundings, f32); 2], rounding: (u32, f32)) -> Roundings {
        // SAFETY: `self` exists, so `detect` has found AVX2.
        unsafe { merge(lists, rounding) }
    }

    #[inline(always)]
    fn join(self, both: Both<'_>, place: &mut Few) -> bool {
        // SAFETY: `self` exists, so `detect` has found AVX2.
        unsafe { join(both, place) }
    }
}

/// Bits of a key that say where an coefficient is; the first place has the largest number.
const PLACE: i32 = 0xf;
/// The last lane of four.
const LAST: i32 = 0b1000;

#[inline(always)]
fn integers(words: [u32; 4]) -> __m128i {
    // SAFETY: both are sixteen bytes, any of which are fine.
    unsafe { std::mem::transmute(words) }
}

#[inline(always)]
fn words(vector: __m128i) -> [u32; 4] {
    // SAFETY: both are sixteen bytes, any of which are fine.
    unsafe { std::mem::transmute(vector) }
}

/// Coefficients times their factor; nothing in the last lane stays nothing, of whatever sign.
#[inline]
#[target_feature(enable = "avx2")]
fn scaled(coefficients: [u32; 4], scale: f32) -> __m128 {
    _mm_mul_ps(_mm_castsi128_ps(integers(coefficients)), _mm_set1_ps(scale))
}

#[inline]
#[target_feature(enable = "avx2")]
fn kept(coefficients: __m128, mask: __m128i) -> __m128 {
    _mm_and_ps(coefficients, _mm_castsi128_ps(mask))
}

#[inline]
#[target_feature(enable = "avx2")]
fn dropped(coefficients: __m128, mask: __m128i) -> __m128 {
    _mm_andnot_ps(_mm_castsi128_ps(mask), coefficients)
}

/// Keys that order coefficients by size, and then by place.
#[inline]
#[target_feature(enable = "avx2")]
fn keys(coefficients: __m128, first: i32) -> __m128i {
    let size = _mm_and_si128(_mm_castps_si128(coefficients), _mm_set1_epi32(i32::MAX & !PLACE));
    _mm_or_si128(size, _mm_setr_epi32(first, first - 1, first - 2, first - 3))
}

/// The largest of eight, in all lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn largest(first: __m128i, second: __m128i) -> __m128i {
    let most = _mm_max_epi32(first, second);
    let most = _mm_max_epi32(most, _mm_shuffle_epi32::<0b01_00_11_10>(most));
    _mm_max_epi32(most, _mm_shuffle_epi32::<0b10_11_00_01>(most))
}

/// Keys other than this one.
#[inline]
#[target_feature(enable = "avx2")]
fn without(keys: __m128i, one: __m128i) -> __m128i {
    _mm_andnot_si128(_mm_cmpeq_epi32(keys, one), keys)
}

#[inline]
#[target_feature(enable = "avx2")]
fn merge(
    [(first, scale), (second, other_scale)]: [(&Roundings, f32); 2],
    (operation, coefficient): (u32, f32),
) -> Roundings {
    let (mine, others) = (integers(first.operations), integers(second.operations));
    let (sums, coefficients) = (scaled(first.coefficients, scale), scaled(second.coefficients, other_scale));
    // The new one: where its operation is in the first list, or in the last lane.
    let (operation, coefficient) = (_mm_set1_epi32(operation as i32), _mm_set1_ps(coefficient));
    let same = _mm_cmpeq_epi32(mine, operation);
    let sums = _mm_add_ps(sums, kept(coefficient, same));
    if are_alike(mine, others) {
        let sums = _mm_add_ps(sums, coefficients);
        if is_ordered(sums, coefficient, same) {
            return list(mine, _mm_castps_si128(sums));
        }
    }
    let (mine, sums) = with_new((mine, sums), (operation, coefficient), same);
    let (found, added) = matched(mine, others, coefficients);
    let (others, coefficients) = (_mm_or_si128(others, found), dropped(coefficients, found));
    three_largest([mine, others], [_mm_add_ps(sums, added), coefficients])
}

/// The operation of no rounding.
#[inline]
#[target_feature(enable = "avx2")]
fn nobody() -> __m128i {
    _mm_set1_epi32(-1)
}

/// Tells whether the one list has nothing that the other has not at the same place: there is nothing to look for then, and
/// mostly nothing to sort.
#[inline]
#[target_feature(enable = "avx2")]
fn are_alike(mine: __m128i, others: __m128i) -> bool {
    let alike = _mm_or_si128(_mm_cmpeq_epi32(others, mine), _mm_cmpeq_epi32(others, nobody()));
    _mm_movemask_epi8(alike) == 0xffff
}

/// Operations and sums with the new rounding in the last lane, unless its operation is among them: where they are the `same`.
#[inline]
#[target_feature(enable = "avx2")]
fn with_new(
    (mine, sums): (__m128i, __m128),
    (operation, coefficient): (__m128i, __m128),
    same: __m128i,
) -> (__m128i, __m128) {
    let known = _mm_or_si128(same, _mm_shuffle_epi32::<0b01_00_11_10>(same));
    let known = _mm_or_si128(known, _mm_shuffle_epi32::<0b10_11_00_01>(known));
    let mine = _mm_blend_epi32::<LAST>(mine, _mm_or_si128(operation, known));
    (mine, _mm_blend_ps::<LAST>(sums, dropped(coefficient, known)))
}

/// The lanes of `others` whose operations are in `mine` too, and what their coefficients add to each lane of `mine`. Each of
/// the one list is looked for among the other: the second is turned round, and what is found turned back.
#[inline]
#[target_feature(enable = "avx2")]
fn matched(mine: __m128i, others: __m128i, coefficients: __m128) -> (__m128i, __m128) {
    let (mut found, mut added) = (_mm_setzero_si128(), _mm_setzero_ps());
    macro_rules! join {
        ($turn:literal, $back:literal) => {
            let same = _mm_cmpeq_epi32(mine, _mm_shuffle_epi32::<$turn>(others));
            // No operation is twice in a list.
            added = _mm_or_ps(added, kept(_mm_permute_ps::<$turn>(coefficients), same));
            found = _mm_or_si128(found, _mm_shuffle_epi32::<$back>(same));
        };
    }
    join!(0b11_10_01_00, 0b11_10_01_00);
    join!(0b00_11_10_01, 0b10_01_00_11);
    join!(0b01_00_11_10, 0b01_00_11_10);
    join!(0b10_01_00_11, 0b00_11_10_01);
    (found, added)
}

/// The list of the three largest of the roundings in two vectors, found one after the other.
#[inline]
#[target_feature(enable = "avx2")]
fn three_largest([mine, others]: [__m128i; 2], [sums, coefficients]: [__m128; 2]) -> Roundings {
    let (near, far) = (keys(sums, PLACE), keys(coefficients, PLACE - 4));
    let most = largest(near, far);
    let (near, far) = (without(near, most), without(far, most));
    let next = largest(near, far);
    let (near, far) = (without(near, next), without(far, next));
    let last = largest(near, far);
    let places = _mm_blend_epi32::<0b0100>(_mm_blend_epi32::<0b0010>(most, next), last);
    // A permutation looks at three bits.
    let places = _mm256_castsi128_si256(_mm_xor_si128(places, _mm_set1_epi32(PLACE)));
    let operations = _mm256_permutevar8x32_epi32(_mm256_set_m128i(others, mine), places);
    let coefficients = _mm256_castps_si256(_mm256_set_m128(coefficients, sums));
    let coefficients = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(coefficients, places));
    list(_mm_blend_epi32::<LAST>(_mm256_castsi256_si128(operations), nobody()), coefficients)
}

/// A list of these roundings; what is in the last lane of their coefficients is of no account.
#[inline]
#[target_feature(enable = "avx2")]
fn list(operations: __m128i, coefficients: __m128i) -> Roundings {
    let coefficients = _mm_blend_epi32::<LAST>(coefficients, _mm_setzero_si128());
    Roundings { operations: words(operations), coefficients: words(coefficients) }
}

/// Tells whether the largest comes first as it is, and a new coefficient is not larger than the last; unless it is among
/// these.
#[inline]
#[target_feature(enable = "avx2")]
fn is_ordered(sums: __m128, new: __m128, among: __m128i) -> bool {
    const NEW: i32 = 0b100;
    let with_new = _mm_blend_ps::<0b1000>(sums, new);
    let sizes = _mm_and_si128(_mm_castps_si128(with_new), _mm_set1_epi32(i32::MAX & !PLACE));
    let larger = _mm_cmpgt_epi32(_mm_shuffle_epi32::<0b11_11_10_01>(sizes), sizes);
    let among = _mm_movemask_ps(_mm_castsi128_ps(among));
    let ignored = if among != 0 { NEW } else { 0 };
    _mm_movemask_ps(_mm_castsi128_ps(larger)) & !ignored == 0
}

/// The list of these, written as one vector: it is read as one soon, for which processors wait if it was written as two.
#[inline]
#[target_feature(enable = "avx2")]
fn few(operations: __m128i, coefficients: __m128i) -> Few {
    let both = _mm256_set_m128i(coefficients, operations);
    // SAFETY: both are thirty-two bytes, any of which are fine; operations come first in either.
    unsafe { std::mem::transmute(both) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn join([(first, scale), (other, other_scale)]: Both<'_>, place: &mut Few) -> bool {
    const ALL: i32 = 0b1111;
    let [_, _, _, count] = first.operations;
    let [_, _, _, other_count] = other.operations;
    let (mine, others) = (integers(first.operations), integers(other.operations));
    let alike = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(mine, others))) == ALL;
    if !((count == 0) | (other_count == 0) | alike) {
        return false;
    }
    let coefficients = _mm_add_ps(scaled(first.coefficients, scale), scaled(other.coefficients, other_scale));
    let coefficients = _mm_castps_si128(coefficients);
    let coefficients = _mm_blend_epi32::<LAST>(coefficients, _mm_setzero_si128());
    let sizes = _mm_and_si128(coefficients, _mm_set1_epi32(i32::MAX));
    let any_above = |bits: u32| {
        let above = _mm_cmpgt_epi32(sizes, _mm_set1_epi32(bits as i32));
        _mm_movemask_ps(_mm_castsi128_ps(above)) != 0
    };
    let is_told = any_above(Few::LEAST - 1) & !any_above(Few::LARGEST);
    if is_told {
        *place = few(if count == 0 { others } else { mine }, coefficients);
    }
    is_told
}

#[cfg(test)]
mod tests {
    use super::*;
    use shadowgrind_shadows::merging::Portable;

    /// Terms of erroneous operations, alike or not, join as the portable code joins them.
    #[test]
    fn parts_join_as_portably() {
        let Some(vectors) = Vectors::detect() else { return };
        let coefficients = [1.0, -2.5e20, 3e-26, 0.0, -1e-20, 7e25, f32::INFINITY].map(f32::to_bits);
        let lists = (0..6000_u32).map(|n| {
            let (count, kind) = (n % 4, n / 4 % 3);
            let operation = |at: u32| if at < count { at + kind / 2 } else { 0 };
            let coefficient =
                |at: u32| if at < count { coefficients[(n / 7 + at * (n % 5)) as usize % 7] } else { 0 };
            let [a, b, c] = [0, 1, 2];
            let operations = [operation(a), operation(b), operation(c), count];
            Few { operations, coefficients: [coefficient(a), coefficient(b), coefficient(c), 0] }
        });
        let lists: Vec<Few> = lists.collect();
        let mut joined = 0;
        for (few, other) in lists.iter().zip(lists.iter().rev().cycle().skip(17)) {
            for (scale, other_scale) in [(1.0, -1.0), (0.0, 2.5), (1e-30, 1e20), (-0.5, 0.0)] {
                let both = [(few, scale), (other, other_scale)];
                let (mut found, mut portable) = (Few::NONE, Few::NONE);
                let are = [vectors.join(both, &mut found), Portable.join(both, &mut portable)];
                assert_eq!((are[0], found), (are[1], portable), "{both:?}");
                joined += u32::from(are[0]);
            }
        }
        assert!(joined > 1000, "{joined}");
    }

    /// Vector instructions find what portable code finds, to the last bit.
    #[test]
    fn lists_merge_as_portably() {
        let Some(vectors) = Vectors::detect() else { return };
        let mut state = 1_u64;
        let mut below = |n: u32| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u32 % n
        };
        let mut any = |kinds: u32| {
            let mut operations = [u32::MAX; 4];
            let mut coefficients = [0; 4];
            for at in 0..below(4) as usize {
                let fresh = below(kinds);
                if !operations.contains(&fresh) {
                    let size = 0x3000_0000 + below(0x1000_0000);
                    let coefficient = [size, size & 0x7f80_0000, 0, 0x7f80_0000][(below(40) / 13) as usize];
                    (operations[at], coefficients[at]) = (fresh, coefficient | below(2) << 31);
                }
            }
            (Roundings { operations, coefficients }, f32::from_bits(0x3f00_0000 + below(0x80_0000)))
        };
        for round in 0..100_000 {
            let kinds = 4 + round % 8;
            let ((a, p), (b, q)) = (any(kinds), any(kinds));
            let rounding = (round % 5, p - q);
            let (found, portable) =
                (vectors.merge([(&a, p), (&b, q)], rounding), Portable.merge([(&a, p), (&b, q)], rounding));
            assert_eq!(found, portable, "{p} {a:?} {q} {b:?} {rounding:?}");
        }
    }
}
