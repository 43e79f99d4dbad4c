//! The shadow rule of an op as a list of verbs: TABLE 1 run on an arithmetic that writes down what it is asked for.
//!
//! Equal values are written down once, dead ones are left out, and a selection becomes part of the instruction whose
//! result it selects, as a guard. Knows neither registers nor encodings.

mod recorder;

use recorder::Recorder;
use shadowgrind_core::inline::{Given, Inline};
use shadowgrind_core::ops::{InParts, MAX_OPERANDS, Op, Parts};

/// A value, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct V(pub(super) u8);

/// A truth value per lane, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct M(pub(super) u8);

/// Origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// Operand of the guest's instruction.
    Operand(u8),
    /// The result.
    Result,
    /// Second part of an operand, or after those of all operands of the result.
    Low(u8),
    /// Shadow of an operand.
    Shadow(u8),
    /// A constant, in every lane.
    Constant(Constant),
    /// Computed.
    Verb(Verb),
    /// `1` where the mask holds, else `2`.
    Select(M, V, V),
}

impl Node {
    /// Nothing: +0 in every lane.
    pub(super) const ZERO: Node = Node::Constant(Constant::Literal(0));
    /// NaN: what functions would have to say.
    pub(super) const UNKNOWN: Node = Node::Constant(Constant::Literal(f64::NAN.to_bits()));
}

/// A value from the pool of constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Constant {
    /// A number, by its bits as an `f64`: zeros differ.
    Literal(u64),
    /// So many units in the last place of 1, by the bits of their number as an `f64`.
    Ulps(u64),
    /// The sign bit.
    Sign,
    /// All bits but the sign.
    Magnitude,
    /// The last bits, in which an error has traces of what was lost in it.
    Trace,
    /// 2^(p−1) for precision p.
    Whole,
    /// All bits but the sign and the first of the fraction.
    WholeBits,
    /// The bits that numbers which round to fractions have alike.
    Fractional,
    /// A mask of the bits of [`Constant::Fractional`].
    FractionalBits,
    /// All bits of the fraction.
    Fraction,
    /// The last byte, with the sign and most of the exponent.
    LastByte,
    /// The byte before the last.
    LastByteButOne,
    /// The lower half of the bits.
    LowHalf,
    /// The mark of a shadow that was widened.
    Widened,
    /// An integer of eight bytes.
    Integer(i64),
}

/// Computation of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Add(V, V),
    Sub(V, V),
    Mul(V, V),
    Div(V, V),
    Sqrt(V),
    /// `0 · 1 + 2`.
    Fma(V, V, V),
    /// `2 − 0 · 1`.
    Fnma(V, V, V),
    /// Bitwise.
    Xor(V, V),
    /// Bitwise.
    And(V, V),
    /// `0` with the bits turned over that `1` and `2` have in common.
    Flip(V, V, V),
    /// The value itself: a selection between values that are there already.
    Copy(V),
}

impl Verb {
    /// The operands it is computed from.
    pub(super) fn operands(self) -> impl Iterator<Item = V> + Clone {
        let (operands, count) = match self {
            Verb::Add(a, b) | Verb::Sub(a, b) | Verb::Mul(a, b) | Verb::Div(a, b) => ([a, b, a], 2),
            Verb::Xor(a, b) | Verb::And(a, b) => ([a, b, a], 2),
            Verb::Fma(a, b, c) | Verb::Fnma(a, b, c) | Verb::Flip(a, b, c) => ([a, b, c], 3),
            Verb::Sqrt(a) | Verb::Copy(a) => ([a; 3], 1),
        };
        operands.into_iter().take(count)
    }
}

/// Condition that decides a selection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Test {
    /// a < b.
    Less(V, V),
    /// a = b.
    Equal(V, V),
    /// No bit is set.
    Absent(V),
    /// Holds everywhere.
    Always,
    /// Tests something unknown.
    Unknown,
}

impl Test {
    /// The operands that are tested.
    pub(super) fn operands(self) -> impl Iterator<Item = V> {
        let operands = match self {
            Test::Less(a, b) | Test::Equal(a, b) => [Some(a), Some(b)],
            Test::Absent(a) => [Some(a), None],
            Test::Always | Test::Unknown => [None; 2],
        };
        operands.into_iter().flatten()
    }
}

/// Lanes in which an instruction's result counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Guard {
    /// The mask that decides.
    pub(super) mask: M,
    /// Value of the mask where the result counts.
    pub(super) holds: bool,
    /// The value elsewhere.
    pub(super) otherwise: V,
}

/// One instruction, or the few that it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    /// The value it makes.
    pub(super) value: V,
    /// The computation.
    pub(super) verb: Verb,
    /// The lanes it counts in; all if `None`.
    pub(super) guard: Option<Guard>,
}

/// A rule as straight-line code over values.
#[derive(Debug)]
pub(super) struct Template {
    /// All values, also those that are not needed.
    pub(super) nodes: Vec<Node>,
    /// All tests.
    pub(super) tests: Vec<Test>,
    /// In order.
    pub(super) steps: Vec<Step>,
    /// The result of the rule.
    pub(super) result: V,
}

impl Template {
    /// The rule of shadow `S` for an op; NaN where it takes functions. Operands that are the same place are the same value: `same` maps each operand,
    /// and each shadow, to the first that is like it. Shadows with a bit in `absent` are known to be absent.
    pub(super) fn of<S: Inline>(op: Op, same: [[u8; MAX_OPERANDS]; 2], absent: u8) -> Template {
        Template::record(Recorder::default(), op.arity(), same, absent, |k, given| {
            S::arithmetic(k, op, given).unwrap_or_else(|| S::with_functions(k, op, given))
        })
    }

    /// The rule of shadow `S` for an arithmetic op, with products that are added unasked: what it computes counts unless it is NaN.
    /// Nothing for shadows whose rules are [none of that kind](Inline::ADDS_PRODUCTS); parameters as of [`of`](Template::of).
    pub(super) fn speculative<S: Inline>(
        op: Op,
        same: [[u8; MAX_OPERANDS]; 2],
        absent: u8,
    ) -> Option<Template> {
        let recorder = Recorder { speculates: true, ..Recorder::default() };
        let rule =
            |k: &Recorder, given: Given<'_, V>| S::arithmetic(k, op, given).expect("an arithmetic row");
        let speculates = S::ADDS_PRODUCTS && op.is_arithmetic();
        speculates.then(|| Template::record(recorder, op.arity(), same, absent, rule))
    }

    /// Question of shadow `S` beside a comparison; parameters as of [`of`](Template::of).
    pub(super) fn of_doubt<S: Inline>(op: Op, same: [[u8; MAX_OPERANDS]; 2], absent: u8) -> Template {
        Template::record(Recorder::default(), op.arity(), same, absent, |k, given| S::doubt(k, op, given))
    }

    /// Question of shadow `S` before an operation; parameters as of [`of`](Template::of).
    pub(super) fn of_suspicion<S: Inline>(op: Op, same: [[u8; MAX_OPERANDS]; 2], absent: u8) -> Template {
        Template::record(Recorder::default(), op.arity(), same, absent, |k, given| S::suspicion(k, op, given))
    }

    /// The rule of shadow `S` for an op on long doubles, each in two parts; parameters as of [`of`](Template::of).
    pub(super) fn of_parts<S: Inline>(op: Op, same: [[u8; MAX_OPERANDS]; 2], absent: u8) -> Template {
        Template::record_parts(op.arity(), same, absent, |k, given| S::in_parts(k, op, given))
    }

    /// Question of shadow `S` beside a comparison of long doubles; parameters as of [`of`](Template::of).
    pub(super) fn of_parts_doubt<S: Inline>(op: Op, same: [[u8; MAX_OPERANDS]; 2], absent: u8) -> Template {
        Template::record_parts(op.arity(), same, absent, S::doubt_in_parts)
    }

    /// Question of shadow `S` before an operation on long doubles; parameters as of [`of`](Template::of).
    pub(super) fn of_parts_suspicion<S: Inline>(
        op: Op,
        same: [[u8; MAX_OPERANDS]; 2],
        absent: u8,
    ) -> Template {
        Template::record_parts(op.arity(), same, absent, |k, given| S::suspicion_in_parts(k, op, given))
    }

    /// Template of `rule` for `count` operands in parts; the other parameters as of [`of`](Template::of).
    fn record_parts(
        count: usize,
        same: [[u8; MAX_OPERANDS]; 2],
        absent: u8,
        rule: impl FnOnce(&Recorder, InParts<'_, V>) -> V,
    ) -> Template {
        Template::record(Recorder::default(), count, same, absent, |k, given| {
            let parts = |high: V, i: u8| Parts { high, low: k.node(Node::Low(i)) };
            let x: Vec<Parts<V>> = given.x.iter().zip(same[0]).map(|(&high, i)| parts(high, i)).collect();
            let r = parts(given.r, count as u8);
            rule(k, InParts { x: &x, r, errors: given.shadows })
        })
    }

    /// Template of `rule` for `count` operands, as `recorder` writes it down; the other parameters as of [`of`](Template::of).
    fn record(
        recorder: Recorder,
        count: usize,
        same: [[u8; MAX_OPERANDS]; 2],
        absent: u8,
        rule: impl FnOnce(&Recorder, Given<'_, V>) -> V,
    ) -> Template {
        let x: Vec<V> = same[0][..count].iter().map(|&i| recorder.node(Node::Operand(i))).collect();
        let shadow = |&i: &u8| if absent >> i & 1 == 1 { Node::ZERO } else { Node::Shadow(i) };
        let shadows: Vec<V> = same[1][..count].iter().map(|i| recorder.node(shadow(i))).collect();
        let result = recorder.node(Node::Result);
        let given = Given { x: &x, r: result, shadows: &shadows };
        let shadow = rule(&recorder, given);
        let (nodes, tests) = (recorder.nodes.into_inner(), recorder.tests.into_inner());
        let steps = fused(&nodes, &tests, shadow);
        Template { nodes, tests, steps, result: shadow }
    }

    /// Number of instructions with [`Binding::Vex`](super::Binding::Vex), nearly.
    pub(super) fn instructions(&self) -> usize {
        let is_zero = |v: V| self.nodes[usize::from(v.0)] == Node::ZERO;
        let instructions = |step: &Step| {
            // A guard takes a comparison and a mask, a sum that starts from nothing a register that is cleared.
            let guard = if step.guard.is_some() { 2 } else { 0 };
            1 + guard + usize::from(matches!(step.verb, Verb::Fma(.., c) if is_zero(c)))
        };
        self.steps.iter().map(instructions).sum()
    }

    /// Tells whether something other than NaN is computed.
    pub(super) fn is_known(&self) -> bool {
        let computes = |step: &Step| !matches!(step.verb, Verb::Copy(_));
        !self.nodes.contains(&Node::UNKNOWN) || self.steps.iter().any(computes)
    }

    /// The largest number of computed values that are read later, at any point of the rule.
    pub(super) fn most_live(&self) -> usize {
        let later = |v: V, from: usize| {
            let mut reads = self.steps[from..].iter().flat_map(|step| operands(&self.tests, step));
            v == self.result || reads.any(|read| read == v)
        };
        let live = |at: usize| self.steps[..at].iter().filter(|step| later(step.value, at)).count();
        (0..=self.steps.len()).map(live).max().unwrap_or(0)
    }

    /// Tells whether the rule reads a value of the guest or of a shadow.
    pub(super) fn reads(&self, node: Node) -> bool {
        let is = |v: V| self.nodes[usize::from(v.0)] == node;
        is(self.result) || self.steps.iter().any(|step| operands(&self.tests, step).any(is))
    }
}

/// All that a step reads: operands, what it is elsewhere, and what its guard tests.
pub(super) fn operands(tests: &[Test], step: &Step) -> impl Iterator<Item = V> {
    let guard = step.guard.map(|guard| (guard.otherwise, tests[usize::from(guard.mask.0)]));
    let guard = guard.into_iter().flat_map(|(otherwise, test)| test.operands().chain([otherwise]));
    step.verb.operands().chain(guard)
}

/// Selections become guards of what they select, where nobody else wants that; dead values are left out.
fn fused(nodes: &[Node], tests: &[Test], result: V) -> Vec<Step> {
    let uses = uses(nodes, tests, result);
    let zero = |v: V| nodes[usize::from(v.0)] == Node::ZERO;
    // Nobody else wants `v`, and lanes that do not count can be had with it: zeros, or what a product is added to.
    let alone = |v: V, otherwise: V| match nodes[usize::from(v.0)] {
        Node::Verb(verb) if uses[usize::from(v.0)] == 1 => {
            let adds = matches!(verb, Verb::Fma(.., c) | Verb::Fnma(.., c) if c == otherwise);
            (adds || zero(otherwise)).then_some(verb)
        }
        _ => None,
    };
    let mut inside = vec![false; nodes.len()];
    let mut steps = Vec::new();
    for (i, &node) in nodes.iter().enumerate() {
        let value = V(i as u8);
        match node {
            _ if uses[i] == 0 => {}
            Node::Verb(verb) => steps.push(Step { value, verb, guard: None }),
            Node::Select(mask, yes, no) => {
                let guard = |holds, otherwise| Some(Guard { mask, holds, otherwise });
                let (verb, guard) = match (alone(yes, no), alone(no, yes)) {
                    (_, Some(verb)) => {
                        inside[usize::from(no.0)] = true;
                        (verb, guard(false, yes))
                    }
                    (Some(verb), None) => {
                        inside[usize::from(yes.0)] = true;
                        (verb, guard(true, no))
                    }
                    (None, None) if zero(yes) => (Verb::Copy(no), guard(false, yes)),
                    (None, None) => (Verb::Copy(yes), guard(true, no)),
                };
                steps.push(Step { value, verb, guard });
            }
            _ => {}
        }
    }
    steps.retain(|step| !inside[usize::from(step.value.0)]);
    steps
}

/// Number of times each value is read by values that are needed.
fn uses(nodes: &[Node], tests: &[Test], result: V) -> Vec<u8> {
    let mut uses = vec![0; nodes.len()];
    uses[usize::from(result.0)] = 1;
    // Values are made of earlier ones only.
    for (i, &node) in nodes.iter().enumerate().rev() {
        if uses[i] == 0 {
            continue;
        }
        let mut read = |v: V| uses[usize::from(v.0)] += 1;
        match node {
            Node::Verb(verb) => verb.operands().for_each(read),
            Node::Select(mask, yes, no) => {
                tests[usize::from(mask.0)].operands().for_each(&mut read);
                [yes, no].into_iter().for_each(read);
            }
            Node::Operand(_) | Node::Result | Node::Low(_) | Node::Shadow(_) | Node::Constant(_) => {}
        }
    }
    uses
}
