//! Emitted rules, run on this machine, against the same rules on `Host`.

mod conversions;
mod functions;
mod stage;

use iced_x86::{EncodingKind, Instruction};
use shadowgrind_core::format::Format;
use shadowgrind_core::inline::Given;
use shadowgrind_core::ops::Op;

use super::super::access::has_more_than_sse;
use super::super::vector::{At, Mem, Place};
use super::template::Node;
use super::{Binding, Constants, InlineRule, Job, Rest, emit};
use crate::runtime::InlineCode;
use crate::shadows::ShadowKind;
use stage::{AFTER, BEFORE, OPERANDS, QUIET, SPILL, STATUS, Stage, runs};

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

/// Places that a test uses.
#[derive(Clone, Copy, Debug)]
struct Scene {
    shadow: InlineCode,
    binding: Binding,
    op: Op,
    format: Format,
    width: u8,
    rest: Rest,
    /// A lane mask is at hand.
    lanes: bool,
    /// Operand i is in memory if bit i is set, its shadow if bit 4 + i is.
    memory: u8,
    /// The destination is the shadow of operand `to`, or none.
    onto: Option<usize>,
    /// The second operand is the first.
    same_operands: bool,
    /// Shadows known to be absent.
    absent: u8,
    /// With [`Binding::Evex`], temporaries are many.
    roomy: bool,
}

/// The places of a scene: operands, shadows, result, destination.
struct Places {
    x: Vec<Place>,
    shadows: Vec<Place>,
    r: Place,
    to: u8,
}

impl Scene {
    fn places(&self, stage: &Stage) -> Places {
        let memory = |n: usize| Place::Mem(Mem::rip(stage.at(OPERANDS + 64 * n as u64)));
        let shadow = if self.binding == Binding::Evex { 17 } else { 7 };
        let count = self.op.arity();
        let place = |i: usize, bit: usize, register: usize| match self.memory >> bit & 1 {
            1 => memory(bit),
            _ => Place::Reg((register + i) as u8),
        };
        let mut x: Vec<Place> = (0..count).map(|i| place(i, i, 1)).collect();
        let mut shadows: Vec<Place> = (0..count).map(|i| place(i, 4 + i, shadow)).collect();
        if self.same_operands && count > 1 {
            (x[1], shadows[1]) = (x[0], shadows[0]);
        }
        let onto = self.onto.and_then(|i| match shadows.get(i) {
            Some(Place::Reg(register)) => Some(*register),
            _ => None,
        });
        let r = if self.memory & 8 == 0 { Place::Reg(4) } else { memory(3) };
        Places { x, shadows, r, to: onto.unwrap_or(shadow as u8 + 5) }
    }

    fn assemble(&self, stage: &Stage, places: &Places) -> Vec<Instruction> {
        let spill = [0, 1, 2, 3].map(|n| Mem::rip(stage.at(SPILL + 64 * n)));
        let (of, size) = ((self.shadow.rule, self.op), (self.format, self.width));
        let job = Job {
            absent: self.absent,
            r: places.r,
            rest: self.rest,
            masks: &[1, 2, 3, 4],
            lanes: self.lanes.then_some(7),
            spill: &spill,
            ..Job::of(of, size, [&places.x, &places.shadows], places.to, self.temps())
        };
        stage.assemble(self.binding, |asm| {
            emit(asm, self.binding, &job, &stage.constants());
        })
    }

    fn count(&self) -> usize {
        usize::from(self.width) / self.format.bytes()
    }

    /// Rules of functions are longer, and where they are emitted many registers are free.
    fn temps(&self) -> &'static [u8] {
        match (self.binding, self.op.is_arithmetic() && !self.roomy) {
            (Binding::Evex, true) => &[30, 31],
            (Binding::Evex, false) => &[30, 31, 24, 25, 26, 27],
            (Binding::Vex, _) if self.op.is_arithmetic() => {
                &[13, 14, 15, 5, 6, 11, 0][..self.shadow.rule.temporaries(self.op)]
            }
            (Binding::Vex, _) => &[13, 14, 15, 5, 6],
        }
    }

    fn scratch(&self, register: u8) -> bool {
        self.temps().contains(&register)
    }

    /// Bytes of a register under test.
    fn register_bytes(&self) -> usize {
        if self.binding == Binding::Evex { 64 } else { 32 }
    }
}

/// Offset of a place's bytes on the stage.
fn offset(stage: &Stage, place: Place, registers: u64) -> u64 {
    match place {
        Place::Reg(n) => registers + 64 * u64::from(n),
        Place::Mem(Mem { at: At::Rip(target), .. }) => target - stage.at(0),
        Place::Mem(_) => unreachable!("scenes use rip-relative memory"),
    }
}

fn lanes<'a>(format: Format, bytes: &'a [u8]) -> impl Iterator<Item = u64> + 'a {
    bytes.chunks(format.bytes()).map(move |lane| format.bits_of(lane) as u64)
}

/// Fills registers and memory, operands with lanes worth computing, and some shadows with nothing.
fn fill(stage: &mut Stage, scene: &Scene, places: &Places) {
    let format = scene.format;
    let absent = stage.random.below(4);
    let starts = (0..32).map(|n| BEFORE + 64 * n).chain((0..8).map(|n| OPERANDS + 64 * n));
    for start in starts.collect::<Vec<_>>() {
        for lane in 0..64 / format.bytes() {
            let bits = stage.random.lane(format).to_le_bytes();
            stage.write(start + (lane * format.bytes()) as u64, &bits[..format.bytes()]);
        }
    }
    for &shadow in &places.shadows {
        let start = offset(stage, shadow, BEFORE);
        for lane in 0..64 / format.bytes() {
            if absent == 3 || absent != 0 && stage.random.below(2) == 0 {
                stage.write(start + (lane * format.bytes()) as u64, &[0; 8][..format.bytes()]);
            }
        }
    }
    let mask = (1u64 << scene.count()) - 1;
    stage.write(STATUS + 8, &mask.to_le_bytes());
}

/// Bits of the expected shadow in one lane.
fn expected(scene: &Scene, x: &[u64], r: u64, shadows: &[u64]) -> u64 {
    let wide = |bits: &[u64]| bits.iter().map(|&b| scene.format.to_f64(b.into())).collect::<Vec<_>>();
    let given = Given { x: &wide(x), r: wide(&[r])[0], shadows: &wide(shadows) };
    let shadow = (scene.shadow.eval)(scene.format, scene.op, given);
    scene.format.from_f64(shadow) as u64
}

fn check(stage: &Stage, scene: &Scene, places: &Places, before: &[[u8; 64]; 32], code: &[Instruction]) {
    let format = scene.format;
    let image = |place: Place| match place {
        Place::Reg(n) => before[usize::from(n)],
        place => stage.read::<64>(offset(stage, place, BEFORE)),
    };
    let lane = |place: Place, n: usize| lanes(format, &image(place)).nth(n).expect("a lane");
    let text = || {
        let code: Vec<String> = code.iter().map(|i| i.to_string()).collect();
        format!("{scene:?} to {}\n{}", places.to, code.join("\n"))
    };
    let got = stage.read::<64>(AFTER + 64 * u64::from(places.to));
    for (n, got) in lanes(format, &got[..usize::from(scene.width)]).enumerate() {
        let x: Vec<u64> = places.x.iter().map(|&place| lane(place, n)).collect();
        let known = |i: usize| scene.absent >> i & 1 == 1;
        let first = |place| places.shadows.iter().position(|shadow| *shadow == place).expect("itself");
        let shadow = |place| if known(first(place)) { 0 } else { lane(place, n) };
        let shadows: Vec<u64> = places.shadows.iter().map(|&place| shadow(place)).collect();
        let want = expected(scene, &x, lane(places.r, n), &shadows);
        let nan = |bits: u64| format.to_f64(bits.into()).is_nan();
        let zero = |bits: u64| bits == 0 || bits == 1 << (format.width() - 1);
        let infinite = |bits: u64| format.to_f64(bits.into()).is_infinite();
        // Adding nothing to −0 leaves it, and makes an infinity of it that is a quotient's divisor.
        let both = |is: &dyn Fn(u64) -> bool| scene.absent != 0 && is(got) && is(want);
        let zeros = both(&zero) || both(&infinite);
        assert!(
            got == want || nan(got) && (nan(want) || !scene.op.is_arithmetic()) || zeros,
            "lane {n}: {got:x}, not {want:x}, from {x:x?} with {shadows:x?}; {}",
            text()
        );
    }
    let kept = match scene.rest {
        Rest::Zero => [0; 64],
        Rest::Keep | Rest::Low => before[usize::from(places.to)],
    };
    let above = if scene.rest == Rest::Low { 16 } else { scene.register_bytes() };
    let may = |i: usize| got[i] == kept[i] || got[i] == 0;
    assert!((above..scene.register_bytes()).all(may), "above 16 bytes; {}", text());
    let rest = usize::from(scene.width)..above;
    assert_eq!(got[rest.clone()], kept[rest], "beyond the width; {}", text());
    for n in (0..if scene.binding == Binding::Evex { 32 } else { 16 })
        .filter(|&n| n != places.to && !scene.scratch(n))
    {
        let bytes = scene.register_bytes();
        let after = stage.read::<64>(AFTER + 64 * u64::from(n));
        assert_eq!(after[..bytes], before[usize::from(n)][..bytes], "register {n}; {}", text());
    }
}

/// Emits a scene once and runs it with many values.
fn play(stage: &mut Stage, scene: &Scene, times: usize) {
    let places = scene.places(stage);
    let code = scene.assemble(stage, &places);
    if scene.binding == Binding::Vex {
        assert!(code.iter().all(|i| i.code().encoding() == EncodingKind::VEX), "{scene:?}");
    }
    // Narrow annotations rely on it.
    if scene.binding == Binding::Vex && scene.width <= 16 && scene.rest != Rest::Keep {
        assert!(!code.iter().any(has_more_than_sse), "upper halves used by {scene:?}: {code:?}");
    }
    for _ in 0..times {
        fill(stage, scene, &places);
        let before: [[u8; 64]; 32] = std::array::from_fn(|n| stage.read(BEFORE + 64 * n as u64));
        let status = stage.run();
        if scene.binding == Binding::Evex {
            assert_eq!(status, QUIET, "flags raised by {scene:?}: {code:?}");
        }
        check(stage, scene, &places, &before, &code);
    }
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
        };
        let cost = scene.assemble(&stage, &scene.places(&stage)).len();
        assert!(cost <= most, "{} takes {cost}", op.name());
    }
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
