//! Makes a case that differs as small as it still differs: items first, then the steps within their bodies.

use super::op::{Case, Op};

/// Greedy: takes away what can go, in ever smaller portions, as long as `differs` says so and `budget` lasts.
pub fn minimise(case: &Case, mut differs: impl FnMut(&Case) -> bool, budget: usize) -> Case {
    let mut best = case.clone();
    let mut tries = 0;
    for part in [|op: &Op| (op.item, 0), |op: &Op| (op.item, op.unit)] {
        let mut portion = parts(&best, part).len().div_ceil(2);
        while portion > 0 && tries < budget {
            let before = best.ops.len();
            for chunk in parts(&best, part).chunks(portion) {
                let candidate = without(&best, |op| chunk.contains(&part(op)));
                if candidate.ops.len() == best.ops.len() || tries >= budget {
                    continue;
                }
                tries += 1;
                if differs(&candidate) {
                    best = candidate;
                }
            }
            portion = if best.ops.len() < before && portion == 1 { 1 } else { portion / 2 };
        }
    }
    best
}

/// Parts that can be removed on their own; the frame of an item (unit 0) only goes with the whole item.
fn parts(case: &Case, part: impl Fn(&Op) -> (u32, u32)) -> Vec<(u32, u32)> {
    let mut all: Vec<_> = case.ops.iter().map(&part).collect();
    let by_unit = case.ops.iter().any(|op| part(op).1 != 0);
    if by_unit {
        all.retain(|(_, unit)| *unit != 0);
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn without(case: &Case, gone: impl Fn(&Op) -> bool) -> Case {
    let mut smaller = case.clone();
    smaller.ops.retain(|op| !gone(op));
    smaller
}

#[cfg(test)]
mod tests {
    use super::super::op::{Case, Fix, Op, Piece};
    use super::super::rng::Rng;
    use super::super::state::State;
    use super::minimise;

    /// Twelve items of three steps each, with a frame around them.
    fn case() -> Case {
        let op = |n: u32| Op {
            piece: Piece::Raw(vec![n as u8]),
            fix: Fix::None,
            item: n / 4,
            unit: n % 4,
            section: 0,
        };
        let (seed, index, addr, mem_seed) = (0, 0, 0, 0);
        let state = State::random(&mut Rng::new(0));
        let ops = (0..48).map(op).collect();
        Case { seed, index, addr, mem_seed, state, ops, resumes: Vec::new(), edit_context: false }
    }

    #[test]
    fn keeps_only_what_matters() {
        let needed = [17u8, 35];
        let has = |c: &Case, byte: u8| c.ops.iter().any(|op| op.piece == Piece::Raw(vec![byte]));
        let small = minimise(&case(), |c| needed.iter().all(|b| has(c, *b)), 200);
        let left: Vec<_> = small.ops.iter().map(|op| op.piece.clone()).collect();
        // The steps and the frames of the items they lie in.
        assert_eq!(left, [16, 17, 32, 35].map(|b| Piece::Raw(vec![b])));
    }

    #[test]
    fn respects_the_budget() {
        let mut tries = 0;
        let count = |_: &Case| {
            tries += 1;
            false
        };
        minimise(&case(), count, 3);
        assert_eq!(tries, 3);
    }
}
