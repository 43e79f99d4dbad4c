//! Numbers that are zero in exact arithmetic, found by computing modulo primes.
//!
//! No number of bits tells two numbers that are equal from two that are merely very near. But a fraction of integers that is
//! zero is so modulo any prime, and the numerator of one that is not is divided by few of the primes with 61 bits. What is no
//! rational operation stands for any number there, the same one wherever it is the same function of the same operands: a
//! result that is zero then is zero whatever that number is (Schwartz 1980, Zippel 1979). Knows no size and no order of numbers.

use std::hash::{DefaultHasher, Hash, Hasher};

use shadowgrind_core::format::{Format, Number};
use shadowgrind_core::ops::Op;

use super::{Bounded, Derivation, Mpfr, Operand, apply, covers};

/// Primes that leave 3 when divided by 4: chosen at random, so that no number of a program's has to do with them.
const PRIMES: [u64; 12] = [
    0x137c979f49b64a0b,
    0x1257a959faecbd3b,
    0x15475e9a6b0a18eb,
    0x127e8916a5aa3c83,
    0x176250fff52ddf5f,
    0x149c9c4b15fc899f,
    0x1fc4de6d8483f8bb,
    0x1d1828e87abec53b,
    0x1b021ac1a72991bb,
    0x14fcca53ce76e9f7,
    0x1f2dee95faf55497,
    0x1c19f569eaefc4d3,
];

/// Bits to which signs of numbers are looked at.
const SIGN_BITS: u32 = 512;

/// Meaning of a root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Roots {
    /// Any number: what is zero so is zero.
    Any,
    /// One of the two numbers whose square is the operand, where there are any: what is zero so is zero for some choice of
    /// the roots' signs, so that its size has to tell the rest.
    Either,
}

impl Derivation {
    /// Tells whether the result is known to be zero in exact arithmetic.
    pub(in super::super) fn is_zero(&self, reals: &Mpfr, roots: Roots) -> bool {
        let Some(signs) = self.signs(reals) else { return false };
        let tried = if roots == Roots::Any { 1 } else { PRIMES.len() };
        PRIMES[..tried].iter().any(|&prime| {
            let result = Residues { prime, roots, derivation: self, signs: &signs }.result();
            result == Some(0)
        })
    }

    /// Sign of what each node's choice depends on, where that is sure; nothing if a float's derivation is not known.
    fn signs(&self, reals: &Mpfr) -> Option<Vec<[Option<bool>; 2]>> {
        if !self.nodes.iter().any(|node| chooses(node.op)) {
            return Some(vec![[None; 2]; self.nodes.len()]);
        }
        if self.given.iter().any(|given| given.serial != 0) {
            return None;
        }
        let reals = Mpfr { precision: SIGN_BITS, ..reals.clone() };
        let (given, made) = self.all(&reals, self.floats())?;
        let of = |node: &super::Node| {
            let x = |n: usize| node.operands[n].of(&given, &made);
            match node.op {
                Op::Abs => [sign(&x(0)), None],
                Op::CopySign => [sign(&x(0)), sign(&x(1))],
                op if chooses(op) => [apply(&reals, Op::Sub, &[x(0), x(1)]).and_then(|off| sign(&off)), None],
                _ => [None; 2],
            }
        };
        Some(self.nodes.iter().map(of).collect())
    }
}

/// Tells whether a number is negative, if that is sure.
fn sign(number: &Bounded) -> Option<bool> {
    let is_sure = number.value.get_exp().is_some_and(|exponent| !covers(number.bound as f32, exponent));
    is_sure.then(|| number.value.is_sign_negative())
}

/// Tells whether the result is an operand, chosen by order or turned by a sign.
fn chooses(op: Op) -> bool {
    matches!(op, Op::Abs | Op::CopySign | Op::Min | Op::Max | Op::Fmin | Op::Fmax)
}

/// A derivation modulo a prime.
struct Residues<'a> {
    prime: u64,
    roots: Roots,
    derivation: &'a Derivation,
    /// Of each node, what is negative of what it chooses by.
    signs: &'a [[Option<bool>; 2]],
}

impl Residues<'_> {
    /// The result, unless it is not a number for the prime.
    fn result(&self) -> Option<u64> {
        let given = self.derivation.given.iter().enumerate().map(|(place, given)| match given.serial {
            0 => self.float(given.format, given.bits),
            _ => Some(self.any(("given", place))),
        });
        let given: Vec<u64> = given.collect::<Option<_>>()?;
        let mut made: Vec<u64> = Vec::with_capacity(self.derivation.nodes.len());
        for (index, node) in self.derivation.nodes.iter().enumerate() {
            let operand = |n: usize| match node.operands[n] {
                Operand::Given { place } => given[place],
                Operand::Made { step, turned: false } => made[step],
                Operand::Made { step, turned: true } => self.negated(made[step]),
            };
            if node.rounds.is_some() {
                return None;
            }
            let x = [operand(0), operand(1), operand(2)];
            let result = match chooses(node.op) {
                true => self.chosen(node.op, x, self.signs[index]),
                false => self.apply(node.op, &x[..node.arity]),
            };
            made.push(result?);
        }
        made.pop()
    }

    /// The float that is `bits`.
    fn float(&self, format: Format, bits: u128) -> Option<u64> {
        let Number::Finite { negative, significand, exponent } = format.decode(bits) else { return None };
        // By Fermat, 2^(p−1) is 1.
        let power = self.power(2, i64::from(exponent).rem_euclid(self.prime as i64 - 1) as u64);
        let size = self.product(significand % self.prime, power);
        Some(if negative { self.negated(size) } else { size })
    }

    fn chosen(&self, op: Op, [a, b, _]: [u64; 3], signs: [Option<bool>; 2]) -> Option<u64> {
        match (op, signs) {
            (Op::Abs, [Some(negative), _]) => Some(if negative { self.negated(a) } else { a }),
            (Op::CopySign, [Some(from), Some(to)]) => Some(if from == to { a } else { self.negated(a) }),
            (Op::Min | Op::Fmin, [Some(is_less), _]) => Some(if is_less { a } else { b }),
            (Op::Max | Op::Fmax, [Some(is_less), _]) => Some(if is_less { b } else { a }),
            _ => (op != Op::Abs && op != Op::CopySign && a == b || op == Op::Abs && a == 0).then_some(a),
        }
    }

    fn apply(&self, op: Op, x: &[u64]) -> Option<u64> {
        let a = x[0];
        Some(match op {
            Op::Add => self.sum(a, x[1]),
            Op::Sub => self.sum(a, self.negated(x[1])),
            Op::Mul => self.product(a, x[1]),
            Op::Div => self.product(a, self.inverse(x[1])?),
            Op::Fmadd => self.sum(self.product(a, x[1]), x[2]),
            Op::Fmsub => self.sum(self.product(a, x[1]), self.negated(x[2])),
            Op::Fnmadd => self.sum(self.negated(self.product(a, x[1])), x[2]),
            Op::Fnmsub => self.negated(self.sum(self.product(a, x[1]), x[2])),
            Op::Neg => self.negated(a),
            Op::Narrow | Op::Widen => a,
            Op::Sqrt => self.root(a),
            Op::Hypot => self.root(self.sum(self.product(a, a), self.product(x[1], x[1]))),
            Op::Cos | Op::Cosh => self.any((op as u32, a.min(self.negated(a)))),
            Op::Sin | Op::Tan | Op::Asin | Op::Atan | Op::Sinh | Op::Tanh | Op::Cbrt | Op::Erf => {
                self.odd(op, a)
            }
            _ => self.any((op as u32, x)),
        })
    }

    /// A function whose sign turns with that of its operand.
    fn odd(&self, op: Op, a: u64) -> u64 {
        let turned = self.negated(a);
        match a <= turned {
            _ if a == 0 => 0,
            true => self.any((op as u32, a)),
            false => self.negated(self.any((op as u32, turned))),
        }
    }

    fn root(&self, a: u64) -> u64 {
        let root = self.power(a, self.prime.div_ceil(4));
        let is_root = self.roots == Roots::Either && self.product(root, root) == a;
        if is_root { root } else { self.any(("root", a)) }
    }

    /// A number that depends on nothing but the key.
    fn any(&self, key: impl Hash) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.prime, key).hash(&mut hasher);
        hasher.finish() % self.prime
    }

    fn negated(&self, a: u64) -> u64 {
        if a == 0 { 0 } else { self.prime - a }
    }

    fn sum(&self, a: u64, b: u64) -> u64 {
        (a + b) % self.prime
    }

    fn product(&self, a: u64, b: u64) -> u64 {
        (u128::from(a) * u128::from(b) % u128::from(self.prime)) as u64
    }

    fn power(&self, mut a: u64, mut exponent: u64) -> u64 {
        let mut result = 1;
        while exponent != 0 {
            if exponent & 1 != 0 {
                result = self.product(result, a);
            }
            a = self.product(a, a);
            exponent >>= 1;
        }
        result
    }

    fn inverse(&self, a: u64) -> Option<u64> {
        (a != 0).then(|| self.power(a, self.prime - 2))
    }
}
