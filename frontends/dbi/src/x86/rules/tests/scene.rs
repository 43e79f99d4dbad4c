//! Scene of a test of rules: an operation and where its operands are, emitted, run, and compared with the host.

use super::super::super::access::has_more_than_sse;
use super::super::super::vector::{At, Length, Mem, Place, Vector, forms};
use super::super::{Binding, Job, Rest, Written, emit, emit_anew, emit_speculative};
use super::stage::{AFTER, BEFORE, OPERANDS, QUIET, SPILL, STATUS, Stage};
use crate::runtime::InlineCode;
use iced_x86::{EncodingKind, FlowControl, Instruction};
use shadowgrind_core::format::Format;
use shadowgrind_core::inline::Given;
use shadowgrind_core::ops::Op;

/// Places that a test uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scene {
    pub(super) shadow: InlineCode,
    pub(super) binding: Binding,
    pub(super) op: Op,
    pub(super) format: Format,
    pub(super) width: u8,
    pub(super) rest: Rest,
    /// A lane mask is at hand.
    pub(super) lanes: bool,
    /// Operand i is in memory if bit i is set, its shadow if bit 4 + i is.
    pub(super) memory: u8,
    /// The destination is the shadow of operand `to`, or none.
    pub(super) onto: Option<usize>,
    /// The second operand is the first.
    pub(super) same_operands: bool,
    /// Shadows known to be absent.
    pub(super) absent: u8,
    /// With [`Binding::Evex`], temporaries are many.
    pub(super) roomy: bool,
    /// Operand i is a copy if bit i is set.
    pub(super) copies: u8,
    /// Products are added unasked, where that pays.
    pub(super) speculates: bool,
}

/// The places of a scene: operands, shadows, result, destination.
pub(super) struct Places {
    pub(super) x: Vec<Place>,
    pub(super) shadows: Vec<Place>,
    pub(super) r: Place,
    pub(super) to: u8,
}

impl Scene {
    pub(super) fn places(&self, stage: &Stage) -> Places {
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

    pub(super) fn assemble(&self, stage: &Stage, places: &Places) -> Vec<Instruction> {
        let spill = [0, 1, 2, 3].map(|n| Mem::rip(stage.at(SPILL + 64 * n)));
        let (of, size) = ((self.shadow.rule, self.op), (self.format, self.width));
        let job = Job {
            absent: self.absent,
            copies: self.copies_of(places),
            r: places.r,
            rest: self.rest,
            masks: &[1, 2, 3, 4],
            lanes: self.lanes.then_some(7),
            spill: &spill,
            ..Job::of(of, size, [&places.x, &places.shadows], places.to, self.temps())
        };
        stage.assemble(self.binding, |asm| {
            let constants = stage.constants();
            if !(self.speculates && self.binding == Binding::Vex && job.speculates()) {
                emit(asm, self.binding, &job, &constants);
                return;
            }
            let Written { result, question, .. } = emit_speculative(asm, &job, &constants);
            let question = question.expect("a question");
            // Elsewhere than in the destination it is zero beyond the width.
            if result != job.to {
                asm.vector(Vector::unary(forms::MOVE, Format::F64, Length::B16, job.to, Place::Reg(result)));
            }
            let end = asm.jmp_open();
            let here = asm.here();
            asm.patch(question.jump, here);
            let slots: Vec<Mem> = (0..8).map(|n| Mem::rip(stage.at(SPILL + 64 * n))).collect();
            emit_anew(asm, &job, question, &constants, &slots, 32);
            asm.jmp(question.onwards());
            let here = asm.here();
            asm.patch(end, here);
        })
    }

    pub(super) fn count(&self) -> usize {
        usize::from(self.width) / self.format.bytes()
    }

    /// Rules of functions are longer, and where they are emitted many registers are free.
    pub(super) fn temps(&self) -> &'static [u8] {
        match (self.binding, self.op.is_arithmetic() && !self.roomy) {
            (Binding::Evex, true) => &[30, 31],
            (Binding::Evex, false) => &[30, 31, 24, 25, 26, 27],
            (Binding::Vex, _) if self.op.is_arithmetic() => {
                &[13, 14, 15, 5, 6, 11, 0][..self.shadow.rule.temporaries(self.op)]
            }
            (Binding::Vex, _) => &[13, 14, 15, 5, 6],
        }
    }

    /// Registers that the rule may leave with anything in them.
    pub(super) fn scratch(&self, places: &Places, register: u8) -> bool {
        self.temps().contains(&register) || self.copies_of(places) >> register & 1 == 1
    }

    /// Registers that hold copies of operands, as a mask.
    fn copies_of(&self, places: &Places) -> u32 {
        let copies = places.x.iter().enumerate().filter(|&(i, _)| self.copies >> i & 1 == 1);
        copies.fold(0, |mask, (_, &place)| match place {
            Place::Reg(register) => mask | 1 << register,
            Place::Mem(_) => mask,
        })
    }

    /// Bytes of a register under test.
    pub(super) fn register_bytes(&self) -> usize {
        if self.binding == Binding::Evex { 64 } else { 32 }
    }
}

/// Offset of a place's bytes on the stage.
pub(super) fn offset(stage: &Stage, place: Place, registers: u64) -> u64 {
    match place {
        Place::Reg(n) => registers + 64 * u64::from(n),
        Place::Mem(Mem { at: At::Rip(target), .. }) => target - stage.at(0),
        Place::Mem(_) => unreachable!("scenes use rip-relative memory"),
    }
}

pub(super) fn lanes<'a>(format: Format, bytes: &'a [u8]) -> impl Iterator<Item = u64> + 'a {
    bytes.chunks(format.bytes()).map(move |lane| format.bits_of(lane) as u64)
}

/// Fills registers and memory, operands with lanes worth computing, and some shadows with nothing.
pub(super) fn fill(stage: &mut Stage, scene: &Scene, places: &Places) {
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
pub(super) fn expected(scene: &Scene, x: &[u64], r: u64, shadows: &[u64]) -> u64 {
    let wide = |bits: &[u64]| bits.iter().map(|&b| scene.format.to_f64(b.into())).collect::<Vec<_>>();
    let given = Given { x: &wide(x), r: wide(&[r])[0], shadows: &wide(shadows) };
    let shadow = (scene.shadow.eval)(scene.format, scene.op, given);
    scene.format.from_f64(shadow) as u64
}

pub(super) fn check(
    stage: &Stage,
    scene: &Scene,
    places: &Places,
    before: &[[u8; 64]; 32],
    code: &[Instruction],
) {
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
        let zeros = both(&zero) || both(&infinite) || scene.speculates && zero(got) && zero(want);
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
        .filter(|&n| n != places.to && !scene.scratch(places, n))
    {
        let bytes = scene.register_bytes();
        let after = stage.read::<64>(AFTER + 64 * u64::from(n));
        assert_eq!(after[..bytes], before[usize::from(n)][..bytes], "register {n}; {}", text());
    }
}

/// Emits a scene once and runs it with many values.
pub(super) fn play(stage: &mut Stage, scene: &Scene, times: usize) {
    let places = scene.places(stage);
    let code = scene.assemble(stage, &places);
    if scene.binding == Binding::Vex {
        let jumps = |i: &Instruction| scene.speculates && i.flow_control() != FlowControl::Next;
        assert!(code.iter().all(|i| i.code().encoding() == EncodingKind::VEX || jumps(i)), "{scene:?}");
    }
    // Narrow annotations rely on it.
    if scene.binding == Binding::Vex && scene.width <= 16 && scene.rest != Rest::Keep {
        // What is computed anew, behind a jump, saves as much of registers as it is told to.
        let mut rule = code.iter().take_while(|i| i.flow_control() != FlowControl::UnconditionalBranch);
        assert!(!rule.any(has_more_than_sse), "upper halves used by {scene:?}: {code:?}");
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
