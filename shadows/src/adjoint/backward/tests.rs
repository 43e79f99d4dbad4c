//! Each way to evaluate loops agrees with that term by term: loops at random, of few kinds each, with partial derivatives among which
//! are zeros, infinities and others that are no numbers.

use super::super::cells::Extent;
use super::super::columns::Columns;
use super::super::distances::NOTHING;
use super::super::loops::Numbers as Those;
use super::super::sweep::Numbers;
use super::super::sweep::tests::Words;
use super::*;

/// A loop begins at each multiple of this. Numbers below are of no loop, or of one that is only an operand.
const APART: u64 = 20_000;
/// Numbers from each multiple on at which something may come to cells.
const USED: u64 = 6000;
const LOOPS: u64 = 6;
const MOST_ITERATIONS: u64 = 400;

/// Numbers at random, by Vigna's xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) % limit
    }

    fn one_of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len() as u64) as usize]
    }
}

/// Numbers of an operand in a made-up loop.
#[derive(Clone, Copy)]
enum At {
    Own {
        place: u64,
        before: u64,
    },
    /// Of results of the loop before, or of what is in none.
    Regular {
        back: u64,
        step: i32,
    },
    Irregular,
}

/// An operand of a result, and whether its partial derivatives vary.
#[derive(Clone, Copy)]
struct Made {
    result: u64,
    at: At,
    varies: bool,
}

/// Operands of loops of a kind with so many results.
fn made(random: &mut Random, numbers: u64) -> Vec<Made> {
    let shape = random.below(4);
    let mut all = Vec::new();
    for result in 0..numbers {
        for _ in 0..random.below(3) + 1 {
            let at = match random.below(8) {
                0..4 if result > 0 => At::Own { place: random.below(result), before: 0 },
                4 if shape == 1 => At::Own { place: random.below(numbers), before: 1 + random.below(90) },
                4 if shape == 2 && result > 0 => {
                    At::Own { place: random.below(result), before: random.below(90) }
                }
                4 if shape == 3 && random.below(2) == 0 => {
                    At::Own { place: result, before: 1 + random.below(3) }
                }
                5 if shape == 2 => At::Irregular,
                _ => {
                    let step = random.one_of(&[0, 1, -2, numbers as i32, numbers as i32]);
                    let least = if step < 0 { 2 * MOST_ITERATIONS } else { 1 };
                    At::Regular { back: APART - least - random.below(30 * numbers), step }
                }
            };
            all.push(Made { result, at, varies: random.below(2) == 0 });
        }
    }
    all
}

/// Adds a loop with these operands. The partial derivatives are all finite if that is `plain`.
fn add(columns: &mut Columns, random: &mut Random, made: &[Made], extent: Extent, plain: bool) {
    const FACTORS: [f64; 8] = [0.5, 1.0, 0.25, 0.0, 0.75, 0.125, f64::INFINITY, f64::NAN];
    let (count, number) = (extent.iterations as usize, extent.number);
    columns.begin_loop(number, count, extent.numbers as usize);
    for &Made { result, at, varies } in made {
        // What is not finite comes seldom, so that something else comes out.
        let mut factor = || {
            let is_plain = plain || random.below(40) > 0;
            FACTORS[random.below(if is_plain { 6 } else { 8 }) as usize]
        };
        let constant = factor();
        let partials: Vec<f64> = (0..count).map(|_| if varies { factor() } else { constant }).collect();
        let before = |n: usize| i64::from(extent.numbers) * n as i64;
        let numbers = match at {
            At::Own { place, before } => {
                let first = number + place - before * u64::from(extent.numbers);
                Those { first, step: Some(extent.numbers as i32) }
            }
            At::Regular { back, step } => {
                Those { first: number - back + 2 * MOST_ITERATIONS, step: Some(step) }
            }
            At::Irregular => Those { first: number - 5, step: None },
        };
        let distances: Vec<i32> = (0..count)
            .map(|n| {
                let distance = (before(n) + 1 + random.below(900) as i64) as i32;
                if n > 0 && random.below(5) == 0 { NOTHING } else { distance }
            })
            .collect();
        columns.loops.add(result as usize, numbers, distances.into_iter(), |into| into.extend(partials));
    }
}

/// Cells when the loops have been evaluated, from the last to the first: in the way of each, or term by term.
fn swept<F: Flow>(
    columns: &Columns,
    extents: &[Extent],
    (seeds, cell): (&[u64], F::Cell),
    by_terms: bool,
    ways: &mut [usize; 2],
) -> Vec<F::Cell> {
    let mut cells = Cells::<F::Cell>::new(extents);
    seeds.iter().for_each(|&number| *cells.at(number) = cell);
    let mut room = Room::<F>::new();
    let loops = &columns.loops;
    for head in loops.heads.iter().rev() {
        if by_terms {
            let known = Kind::new::<F>(loops, head, Vec::new()).known;
            let of = cells.loop_at(head.number);
            one_by_one::<F>(&mut room.own, &known, (loops, head), of, &mut cells);
            cells.forget_loop(of);
            continue;
        }
        room.backward(loops, head, &mut cells);
        match room.kinds.get(room.last).map(|kind| &kind.way) {
            Some(Way::Abreast(_)) => ways[0] += 1,
            Some(Way::Windowed(_)) => ways[1] += 1,
            _ => (),
        }
    }
    (0..=LOOPS).flat_map(|n| n * APART..n * APART + USED).map(|number| *cells.at(number)).collect()
}

fn is_near(a: f64, b: f64) -> bool {
    // All terms have one sign.
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= 1e-12 * a.abs() + 1e-280
}

#[test]
fn each_way_agrees_with_term_by_term() {
    let (mut ways, mut finite, mut others) = ([0; 2], 0, 0);
    for seed in 1..300 {
        let mut random = Random(seed);
        let numbers = 1 + random.below(9);
        let made = made(&mut random, numbers);
        let mut extents = vec![Extent { number: 100, iterations: 700, numbers: 3 }];
        let mut columns = Columns::new(100);
        for n in 0..LOOPS {
            let most = random.one_of(&[20, 90, MOST_ITERATIONS]);
            let iterations = 1 + random.below(most) as u32;
            let extent = Extent { number: (n + 1) * APART, iterations, numbers: numbers as u32 };
            extents.push(extent);
            add(&mut columns, &mut random, &made, extent, seed % 3 == 0);
        }
        let last = extents[LOOPS as usize];
        let count = u64::from(last.iterations) * numbers;
        let seeds: Vec<u64> = (0..60).map(|_| last.number + random.below(count)).collect();
        let mut both = |by_terms| swept::<Words>(&columns, &extents, (&seeds, 1), by_terms, &mut ways);
        assert_eq!(both(false), both(true), "seed {seed}");
        let mut both =
            |by_terms| swept::<Numbers<1>>(&columns, &extents, (&seeds, [1.0]), by_terms, &mut ways);
        for (number, (a, b)) in (1..).zip(both(false).iter().zip(&both(true))) {
            assert!(is_near(a[0], b[0]), "seed {seed}, number {number}: {a:?}, {b:?}");
            if a[0].is_finite() { finite += usize::from(a[0] != 0.0) } else { others += 1 }
        }
        let cell = [0.0, 2.0, 0.5, 1.0];
        let mut both =
            |by_terms| swept::<Numbers<4>>(&columns, &extents, (&seeds, cell), by_terms, &mut ways);
        for (a, b) in both(false).iter().zip(&both(true)) {
            assert!(a.iter().zip(b).all(|(&a, &b)| is_near(a, b)), "seed {seed}: {a:?}, {b:?}");
        }
    }
    assert!(ways.iter().all(|count| *count > 100), "{ways:?}");
    assert!(finite > 5000 && others > 500, "{finite} and {others}");
}
