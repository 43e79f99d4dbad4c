//! Emitted rules, run on this machine, against the same rules on `Host`.

mod conversions;
mod functions;
mod scene;
mod stage;

use shadowgrind_core::format::Format;
use shadowgrind_core::ops::Op;

use super::super::vector::Place;
use super::template::Node;
use super::{Binding, Constants, InlineRule, Job, Rest};
use crate::runtime::InlineCode;
use crate::shadows::ShadowKind;
use scene::{Scene, lanes, play};
use stage::{Stage, runs};

/// All rules that are emitted.
fn inlines() -> impl Iterator<Item = InlineCode> {
    ShadowKind::ALL.iter().filter_map(|kind| kind.inline())
}

/// The first of them, on which operands without shadows have no effect at all.
fn inline() -> InlineCode {
    inlines().next().expect("a shadow of numbers in place")
}

fn rule() -> InlineRule {
    inline().rule
}

fn arithmetic() -> impl Iterator<Item = Op> + Clone {
    Op::ALL.iter().copied().filter(|op| op.is_arithmetic())
}

fn every_op(binding: Binding, widths: &[u8], times: usize) {
    if !runs(binding) {
        return;
    }
    let mut stage = Stage::new(7);
    let rows = arithmetic().flat_map(|op| [(op, Format::F32), (op, Format::F64)]);
    for (shadow, (op, format)) in inlines().flat_map(|shadow| rows.clone().map(move |row| (shadow, row))) {
        for &width in [format.bytes() as u8].iter().chain(widths) {
            let rests = [Rest::Zero, Rest::Keep, Rest::Low];
            let scalar = usize::from(width) == format.bytes();
            let rests = rests.into_iter().filter(|&rest| scalar || rest != Rest::Low);
            for (rest, lanes) in rests.flat_map(|rest| [(rest, false), (rest, true)]) {
                for placement in 0..24 {
                    let scene = Scene {
                        shadow,
                        binding,
                        op,
                        format,
                        width,
                        rest,
                        lanes: lanes && binding == Binding::Evex,
                        memory: if placement < 8 { 0 } else { stage.random.next() as u8 },
                        onto: [None, Some(0), Some(1), Some(2)][placement % 4],
                        same_operands: placement % 8 > 3,
                        absent: if placement < 16 { 0 } else { stage.random.below(8) as u8 },
                        roomy: stage.random.below(2) == 0,
                        copies: stage.random.below(8) as u8,
                        speculates: binding == Binding::Vex && placement % 2 == 1,
                    };
                    play(&mut stage, &scene, times);
                }
            }
        }
    }
}

#[test]
fn evex_rules_are_the_hosts_and_quiet() {
    every_op(Binding::Evex, &[16, 32, 64], 6);
}

#[test]
fn vex_rules_are_the_hosts() {
    every_op(Binding::Vex, &[16, 32], 6);
}

/// Comparisons are asked about as the host asks.
#[test]
fn doubts_are_the_hosts() {
    for binding in [Binding::Evex, Binding::Vex].into_iter().filter(|&binding| runs(binding)) {
        let mut stage = Stage::new(13);
        let widths = [(Format::F32, 4), (Format::F32, 32), (Format::F64, 8), (Format::F64, 16)];
        for (inline, (format, width)) in inlines().flat_map(|inline| widths.map(|width| (inline, width))) {
            for memory in [0, 0x11, 0x22, 0x33] {
                let scene = Scene {
                    shadow: InlineCode { rule: inline.doubt, eval: inline.eval_doubt, ..inline },
                    binding,
                    op: Op::Sub,
                    format,
                    width,
                    rest: Rest::Zero,
                    lanes: binding == Binding::Evex,
                    memory,
                    onto: None,
                    same_operands: false,
                    absent: 0,
                    roomy: memory != 0,
                    copies: 0,
                    speculates: false,
                };
                play(&mut stage, &scene, 200);
            }
        }
    }
}

/// Operations are asked about as the host asks.
#[test]
fn suspicions_are_the_hosts() {
    let asked = |inline: &InlineCode, op| inline.suspicion.is_arithmetic(op);
    let rows = || inlines().flat_map(|inline| arithmetic().map(move |op| (inline, op)));
    let rows: Vec<_> = rows().filter(|(inline, op)| asked(inline, *op)).collect();
    let ops: Vec<Op> = rows.iter().map(|&(_, op)| op).collect();
    assert_eq!(ops, [Op::Add, Op::Sub, Op::Fmadd, Op::Fmsub, Op::Fnmadd, Op::Fnmsub]);
    for binding in [Binding::Evex, Binding::Vex].into_iter().filter(|&binding| runs(binding)) {
        let mut stage = Stage::new(17);
        let widths = [(Format::F32, 4), (Format::F32, 32), (Format::F64, 8), (Format::F64, 16)];
        for (&(inline, op), (format, width)) in rows.iter().flat_map(|row| widths.map(|width| (row, width))) {
            for (memory, absent) in [(0, 0), (0x22, 0), (0, 1), (0, 2)] {
                let scene = Scene {
                    shadow: InlineCode { rule: inline.suspicion, eval: inline.eval_suspicion, ..inline },
                    binding,
                    op,
                    format,
                    width,
                    rest: Rest::Zero,
                    lanes: binding == Binding::Evex,
                    memory,
                    onto: None,
                    same_operands: false,
                    absent,
                    roomy: absent != 1,
                    copies: 0,
                    speculates: false,
                };
                play(&mut stage, &scene, 100);
            }
        }
    }
}

/// Rules of functions say the same as the host does; for what they do not know they say NaN.
#[test]
fn function_rules_are_the_hosts_as_far_as_they_go() {
    let functions: Vec<Op> =
        Op::ALL.iter().copied().filter(|&op| !op.is_arithmetic() && rule().is_arithmetic(op)).collect();
    for op in [Op::Exp, Op::Log, Op::Pow, Op::Tan, Op::Hypot, Op::Cbrt, Op::Sin, Op::Cos] {
        assert!(functions.contains(&op), "{}", op.name());
    }
    assert!(!functions.contains(&Op::Erf));
    for binding in [Binding::Evex, Binding::Vex].into_iter().filter(|&binding| runs(binding)) {
        let mut stage = Stage::new(11);
        for &op in &functions {
            for memory in [0, 0x77] {
                let scene = Scene {
                    shadow: inline(),
                    binding,
                    op,
                    format: Format::F64,
                    width: 8,
                    rest: Rest::Zero,
                    lanes: binding == Binding::Evex,
                    memory,
                    onto: None,
                    same_operands: false,
                    absent: 0,
                    roomy: memory != 0,
                    copies: 0,
                    speculates: false,
                };
                play(&mut stage, &scene, 50);
            }
        }
    }
}

/// Number of instructions of a rule, everything in registers: the destination apart, and each shadow's own.
fn cost(stage: &Stage, scene: Scene) -> Vec<usize> {
    let onto = (0..scene.op.arity()).map(Some).chain([None]);
    onto.map(|onto| {
        let scene = Scene { onto, ..scene };
        scene.assemble(stage, &scene.places(stage)).len()
    })
    .collect()
}

#[test]
fn rules_are_short() {
    let stage = Stage::new(0);
    let scene = |op, binding, width, rest| Scene {
        shadow: inline(),
        binding,
        op,
        format: Format::F64,
        width,
        rest,
        lanes: true,
        memory: 0,
        onto: None,
        same_operands: false,
        absent: 0,
        roomy: false,
        copies: 0,
        speculates: false,
    };
    println!("instructions onto shadow 0, 1 ..., and elsewhere");
    let kinds = [(8, Rest::Keep), (8, Rest::Zero), (16, Rest::Keep), (32, Rest::Zero)];
    println!("{:11} {:?}, Evex then Vex", "", kinds);
    for op in arithmetic() {
        let costs = |binding| {
            kinds.map(|(width, rest)| format!("{:?}", cost(&stage, scene(op, binding, width, rest))))
        };
        println!("{:11} {:60} {}", op.name(), costs(Binding::Evex).join(" "), costs(Binding::Vex).join(" "));
    }
    let most = [
        (Op::Add, 1),
        (Op::Sub, 1),
        (Op::Mul, 5),
        (Op::Div, 6),
        (Op::Sqrt, 5),
        (Op::Fmadd, 6),
        (Op::Fmsub, 6),
        (Op::Fnmsub, 7),
        (Op::Min, 3),
        (Op::Max, 3),
        (Op::Abs, 4),
        (Op::Neg, 3),
    ];
    for (op, most) in most {
        for (width, rest) in kinds {
            let costs = cost(&stage, scene(op, Binding::Evex, width, rest));
            assert!(costs.iter().all(|&cost| cost <= most), "{} takes {costs:?}", op.name());
        }
    }
}

/// A constant operand, known as such, halves a rule or removes it.
#[test]
fn known_absence_pays() {
    let stage = Stage::new(0);
    for (op, most) in [(Op::Add, 0), (Op::Sub, 0), (Op::Mul, 2), (Op::Div, 3), (Op::Fmadd, 2)] {
        let scene = Scene {
            shadow: inline(),
            binding: Binding::Evex,
            op,
            format: Format::F64,
            width: 8,
            rest: Rest::Keep,
            lanes: true,
            memory: 0,
            onto: Some(if op == Op::Fmadd { 2 } else { 0 }),
            same_operands: false,
            absent: 2,
            roomy: false,
            copies: 0,
            speculates: false,
        };
        let cost = scene.assemble(&stage, &scene.places(&stage)).len();
        assert!(cost <= most, "{} takes {cost}", op.name());
    }
}

/// Sums of products and quotients speculate, and nothing that would not save instructions by it.
#[test]
fn products_speculate() {
    let (x, shadows) = ([1, 2, 3].map(Place::Reg), [4, 5, 6].map(Place::Reg));
    let speculates = |op: Op, width| {
        let places = [&x[..op.arity()], &shadows[..op.arity()]];
        Job::of((rule(), op), (Format::F64, width), places, 7, &[]).speculates()
    };
    for op in [Op::Mul, Op::Div, Op::Fmadd, Op::Fnmsub] {
        assert!(speculates(op, 8) && !speculates(op, 16), "{}", op.name());
    }
    assert!(![Op::Add, Op::Sqrt, Op::Max, Op::Abs].into_iter().any(|op| speculates(op, 8)));
}

#[test]
fn guest_values_are_asked_for_where_they_are_read() {
    let results: Vec<Op> = arithmetic().filter(|&op| rule().needs_result(op)).collect();
    assert_eq!(results, [Op::Div, Op::Sqrt]);
    assert!(rule().needs_operand(Op::Div, 1) && !rule().needs_operand(Op::Div, 0));
    assert!(
        !rule().needs_operand(Op::Add, 0)
            && rule().needs_operand(Op::Mul, 0)
            && !rule().needs_operand(Op::Fmadd, 2)
    );
}

/// Every constant that a row mentions, or a question, is in the pool.
#[test]
fn the_pool_suffices() {
    let constants = Constants::at(0);
    let rules = inlines().flat_map(|inline| [inline.rule, inline.suspicion]);
    let rules = rules.flat_map(|rule| Op::ALL.iter().map(move |&op| (rule, op)));
    for (rule, op) in rules.filter(|(rule, op)| rule.is_arithmetic(*op)) {
        for node in rule.plain(op).nodes {
            if let Node::Constant(constant) = node {
                let _ = constants.vector(constant, Format::F64);
            }
        }
    }
}
