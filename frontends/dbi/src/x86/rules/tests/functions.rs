//! Rules of functions on memory operands, in both formats and all widths, against `Host`.

use shadowgrind_core::format::Format;
use shadowgrind_core::inline::Given;
use shadowgrind_core::ops::Op;

use super::super::super::vector::{Length, Mem, Place, Vector, forms};
use super::super::{Binding, WrappedCall, emit_function};
use super::stage::{AFTER, BEFORE, OPERANDS, QUIET, SPILL, STATUS, Stage, runs};
use super::{inline, lanes, rule};

const UPPER: [u8; 12] = [31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20];
const LOWER: [u8; 12] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];

/// Places in memory: operands, shadows, result, room.
fn place(stage: &Stage, n: usize) -> Mem {
    Mem::rip(stage.at(OPERANDS + 64 * n as u64))
}

/// Emits the rule; returns the register of the shadow and those that were written.
fn assemble(stage: &Stage, binding: Binding, op: Op, format: Format, width: u8) -> (u8, u32) {
    let to = if binding == Binding::Evex { 16 } else { 1 };
    let applied = WrappedCall {
        rule: rule(),
        op,
        format,
        width,
        x: [0, 1, 2].map(|i| place(stage, i)),
        shadows: [3, 4, 5].map(|i| place(stage, i)),
        absent: 0,
        r: place(stage, 6),
        spill: Mem::rip(stage.at(SPILL)),
        to,
        temps: if binding == Binding::Evex { &UPPER } else { &LOWER },
        masks: if binding == Binding::Evex { &[1, 2, 3] } else { &[] },
        lanes: |_| Some(7),
    };
    let mut written = 0;
    stage.assemble(binding, |asm| {
        if binding == Binding::Evex {
            let mem = Place::Mem(Mem::rip(stage.at(STATUS + 8)));
            asm.vector(Vector::unary(forms::MASK_LOAD, Format::F32, Length::B16, 7, mem));
        }
        written = emit_function(asm, binding, &applied, &stage.constants());
    });
    (to, written)
}

/// Runs the rule with many values; how many lanes it had no answer for though the host had.
fn play(stage: &mut Stage, binding: Binding, op: Op, format: Format, width: u8, ordinary: bool) -> usize {
    let bytes = format.bytes();
    let count = usize::from(width) / bytes;
    let (to, written) = assemble(stage, binding, op, format, width);
    let mut unknown = 0;
    for _ in 0..20 {
        stage.write(STATUS + 8, &((1u64 << count) - 1).to_le_bytes());
        for n in 0..7 * 64 / bytes {
            let bits = if ordinary {
                format.from_f64(stage.random.below(1 << 20) as f64 / f64::from(1 << 18) + 0.01) as u64
            } else {
                stage.random.lane(format)
            };
            stage.write(OPERANDS + (n * bytes) as u64, &bits.to_le_bytes()[..bytes]);
        }
        let status = stage.run();
        let context = format!("{binding:?} {op:?} {format:?} {width}");
        assert!(binding == Binding::Vex || status == QUIET, "flags raised: {context}");
        let operand = |n: usize, lane: usize| {
            let image = stage.read::<64>(OPERANDS + 64 * n as u64);
            format.to_f64(lanes(format, &image).nth(lane).expect("a lane").into())
        };
        let got = stage.read::<64>(AFTER + 64 * u64::from(to));
        for (lane, got) in lanes(format, &got[..usize::from(width)]).enumerate() {
            let x: Vec<f64> = (0..op.arity()).map(|i| operand(i, lane)).collect();
            let shadows: Vec<f64> = (0..op.arity()).map(|i| operand(3 + i, lane)).collect();
            let want = (inline().eval)(format, op, Given { x: &x, r: operand(6, lane), shadows: &shadows });
            let got = format.to_f64(got.into());
            assert!(
                got.to_bits() == want.to_bits() || got.is_nan(),
                "{got:e}, not {want:e}, at {x:?}: {context}"
            );
            unknown += usize::from(got.is_nan() && !want.is_nan());
        }
        let all = if binding == Binding::Evex { 0..32 } else { 0..16 };
        let (rest, bytes) = (usize::from(width), if binding == Binding::Evex { 64 } else { 32 });
        assert_eq!(got[rest..bytes], [0; 64][rest..bytes], "beyond the width: {context}");
        for n in all.filter(|n| written >> n & 1 == 0) {
            let [before, after] = [BEFORE, AFTER].map(|at| stage.read::<64>(at + 64 * n));
            assert_eq!(before[..bytes], after[..bytes], "register {n}: {context}");
        }
    }
    unknown
}

fn every(binding: Binding, mut with: impl FnMut(&mut Stage, Op, Format, u8)) {
    if !runs(binding) {
        return;
    }
    let mut stage = Stage::new(23);
    for &op in Op::ALL.iter().filter(|&&op| rule().is_arithmetic(op)) {
        for (format, width) in [
            (Format::F64, 8),
            (Format::F64, 16),
            (Format::F64, 32),
            (Format::F32, 4),
            (Format::F32, 16),
            (Format::F32, 32),
        ] {
            with(&mut stage, op, format, width);
        }
    }
}

#[test]
fn functions_are_the_hosts_in_all_formats_and_widths() {
    for binding in [Binding::Evex, Binding::Vex] {
        every(binding, |stage, op, format, width| {
            play(stage, binding, op, format, width, false);
        });
    }
}

/// Ordinary operands have an answer: what the evaluator would take is many times as much.
#[test]
fn ordinary_operands_have_an_answer() {
    const KNOWN: [Op; 10] =
        [Op::Sin, Op::Cos, Op::Tan, Op::Exp, Op::Exp2, Op::Log, Op::Log10, Op::Cbrt, Op::Hypot, Op::Atan];
    for binding in [Binding::Evex, Binding::Vex] {
        every(binding, |stage, op, format, width| {
            let unknown = play(stage, binding, op, format, width, true);
            assert!(unknown == 0 || !KNOWN.contains(&op), "{binding:?} {op:?} {format:?} {width}: {unknown}");
        });
    }
}
