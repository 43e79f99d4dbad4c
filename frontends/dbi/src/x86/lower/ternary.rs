//! Bitwise functions of three operands, as conjunctions and disjunctions of two. What these mean for floats is known.
//!
//! A function is a truth table of eight bits, one for each combination of bits of the operands (Intel SDM, VPTERNLOG).

use super::build::{Build, Lanes, Why};
use super::complete::Completion;
use crate::x86::state;
use shadowgrind_core::format::Format;
use shadowgrind_core::step::{Bitwise, Operand, Place, Step};

/// Truth tables of the operands themselves: the destination, the first source, the second.
const OPERANDS: [u8; 3] = [0xf0, 0xcc, 0xaa];

/// A function of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    /// The complement of the first, and the second.
    AndNot,
    Or,
    Xor,
}

impl Logic {
    const ALL: [Logic; 4] = [Logic::And, Logic::AndNot, Logic::Or, Logic::Xor];

    /// The function of the bits of two bytes.
    pub(super) fn of(self, a: u8, b: u8) -> u8 {
        match self {
            Logic::And => a & b,
            Logic::AndNot => !a & b,
            Logic::Or => a | b,
            Logic::Xor => a ^ b,
        }
    }

    fn bitwise(self) -> Bitwise {
        match self {
            Logic::And => Bitwise::And,
            Logic::AndNot => Bitwise::AndNot,
            Logic::Or => Bitwise::Other,
            Logic::Xor => Bitwise::Xor,
        }
    }
}

/// A function of two terms: numbers 0 to 2 are the operands, others what terms before it have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Term {
    by: Logic,
    of: [usize; 2],
}

/// Functions of two operands, by one of `logic`, with their truth tables.
fn pairs(logic: &[Logic]) -> impl Iterator<Item = (Term, u8)> + Clone {
    let of = (0..9).map(|n| [n / 3, n % 3]);
    of.flat_map(move |of| {
        logic.iter().map(move |&by| (Term { by, of }, by.of(OPERANDS[of[0]], OPERANDS[of[1]])))
    })
}

/// As few terms as make the function `table`, the last of which is it; nothing if that takes more than three. No float is left by
/// functions that make ones of zeros, which are not among these. Where two floats are chosen from, an exclusive disjunction of both
/// would be of no use.
fn terms(table: u8) -> Option<Vec<Term>> {
    let without = &Logic::ALL[..3];
    [without, &Logic::ALL].into_iter().find_map(|logic| {
        let one = pairs(logic).find(|&(_, made)| made == table).map(|(term, _)| vec![term]);
        one.or_else(|| two_terms(table, logic)).or_else(|| three_terms(table, logic))
    })
}

/// Number of the first term.
const FIRST: usize = OPERANDS.len();

/// A function of two operands, and one of that and an operand.
fn two_terms(table: u8, logic: &[Logic]) -> Option<Vec<Term>> {
    pairs(logic).find_map(|(first, made)| {
        let others = (0..OPERANDS.len()).flat_map(|n| logic.iter().map(move |&by| (n, by)));
        let last = others.into_iter().find_map(|(n, by)| {
            match [by.of(made, OPERANDS[n]), by.of(OPERANDS[n], made)].map(|made| made == table) {
                [true, _] => Some(Term { by, of: [FIRST, n] }),
                [_, true] => Some(Term { by, of: [n, FIRST] }),
                _ => None,
            }
        })?;
        Some(vec![first, last])
    })
}

/// Two functions of two operands, and one of both.
fn three_terms(table: u8, logic: &[Logic]) -> Option<Vec<Term>> {
    pairs(logic).find_map(|(first, one)| {
        let (second, by) = pairs(logic).find_map(|(second, other)| {
            logic.iter().find(|by| by.of(one, other) == table).map(|&by| (second, by))
        })?;
        Some(vec![first, second, Term { by, of: [FIRST, FIRST + 1] }])
    })
}

/// Any function of the three operands, on lanes of `lane`.
pub(super) fn ternary(build: &mut Build<'_>, lane: Format) -> Result<(), Why> {
    let (table, bytes, to) = (build.insn.immediate8(), build.width(0), build.place(0)?);
    if matches!(table, 0 | u8::MAX) {
        build.clear(to, bytes);
        return build.finish_vector(bytes);
    }
    let terms = terms(table).ok_or("a function of three operands")?;
    let width = lane.bytes() as u16;
    let mut operands = Vec::new();
    for n in 0..OPERANDS.len() as u32 {
        operands.push(build.source(n, lane, bytes / width)?);
    }
    let r = build.result(lane, bytes / width)?;
    // A lane for all has to be taken for each.
    let step = if build.insn.is_broadcast() { width } else { bytes };
    for at in (0..bytes).step_by(step.into()) {
        made(build, &terms, &operands, r.lane(at / width), [at, step], lane);
    }
    build.finish_vector(bytes)
}

/// Steps that make `bytes` bytes of the result from byte `at` on.
fn made(
    build: &mut Build<'_>,
    terms: &[Term],
    operands: &[Lanes],
    r: Operand,
    [at, bytes]: [u16; 2],
    lane: Format,
) {
    let mut values: Vec<Operand> =
        operands.iter().map(|operand| operand.lane(at / lane.bytes() as u16)).collect();
    for (n, term) in terms.iter().enumerate() {
        let x = term.of.map(|n| values[n]);
        let result = if n + 1 == terms.len() {
            r
        } else {
            let place = Place::State(state::SCRATCH + state::VECTOR_BYTES * n as u16 + at);
            let made = build.computed(place, bytes);
            let x = x.map(|x| x.value);
            build.complete(Completion::Logic { by: term.by, x, r: made.value, bytes });
            made
        };
        build.step(Step::Bits { by: term.by.bitwise(), x, r: result, bytes, lane });
        values.push(result);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The truth table that terms make.
    fn table(terms: &[Term]) -> u8 {
        let mut values = OPERANDS.to_vec();
        for term in terms {
            let [a, b] = term.of.map(|n| values[n]);
            values.push(term.by.of(a, b));
        }
        *values.last().unwrap()
    }

    #[test]
    fn terms_make_what_they_are_for() {
        let all: Vec<u8> = (1..u8::MAX).filter(|&wanted| terms(wanted).is_some()).collect();
        assert!(all.iter().all(|&wanted| table(&terms(wanted).unwrap()) == wanted));
        // Selections, significands with an exponent, sums of bits, the destination.
        let usual = [0xca, 0xd8, 0xea, 0xf8, 0x6a, 0x78, 0x96, 0xf0];
        assert!(usual.iter().all(|table| all.contains(table)));
        assert!(all.len() >= 115, "{}", all.len());
    }
}
