//! Tests of names and signatures of the mathematical library.

use super::*;
use crate::hooks::fake::{Fake, RDI, RSI, f80};
use shadowgrind_core::step::ToInteger;

fn math(name: &str) -> Math {
    let (op, format, shape) = scalar(body(name)).unwrap_or_else(|| panic!("{name}"));
    Math { op, format, shape }
}

fn given(m: &Fake, math: Math) -> Given {
    let mut given = Given::default();
    arguments(m, math, &mut given).unwrap();
    given
}

fn operands(given: &Given) -> Vec<f64> {
    let value = |x: &Argument| match x {
        Argument::Float(x) => x.format.to_f64(x.bits),
        Argument::Integer(n) => *n as f64,
    };
    given.arguments.iter().map(value).collect()
}

/// Operation and result.
fn float(outcome: &Outcome) -> (Op, Float) {
    let Made::Float(op, result) = outcome.made else { panic!("{outcome:?} is no float") };
    (op, result)
}

fn double(outcome: &Outcome) -> (Op, f64) {
    let (op, result) = float(outcome);
    (op, f64::from_bits(result.bits as u64))
}

#[test]
fn integers_are_made_in_general_registers() {
    let mut m = Fake::called(1);
    m.set_double(0, 2.5);
    let llround = math("llround");
    assert_eq!((llround, operands(&given(&m, math("lround")))), (math("lround"), vec![2.5]));
    let made = outcome(&m, llround, &[], 0).unwrap().unwrap().made;
    assert_eq!(made, Made::Integer(ToInteger::Away));
    assert_eq!(outcome(&m, llround, &[], 1).unwrap(), None);
    assert_eq!([math("lroundf").format, math("llroundl").format], [Format::F32, Format::F80]);
}

#[test]
fn names_of_variants() {
    for (name, op, format) in [
        ("sin", Op::Sin, Format::F64),
        ("sinf", Op::Sin, Format::F32),
        ("sinl", Op::Sin, Format::F80),
        ("modf", Op::Modf, Format::F64),
        ("modff", Op::Modf, Format::F32),
        ("erff", Op::Erf, Format::F32),
        ("ceil", Op::Ceil, Format::F64),
        ("ceill", Op::Ceil, Format::F80),
        ("sinpif", Op::SinPi, Format::F32),
        ("atan2pi", Op::Atan2Pi, Format::F64),
        ("log10p1l", Op::Log10p1, Format::F80),
        ("__exp_finite", Op::Exp, Format::F64),
        ("__powl_finite", Op::Pow, Format::F80),
        ("__ieee754_y0f", Op::Y0, Format::F32),
        ("lgamma_r", Op::Lgamma, Format::F64),
        ("lgammaf_r", Op::Lgamma, Format::F32),
        ("__lgamma_r_finite", Op::Lgamma, Format::F64),
        ("fmaf", Op::Fmadd, Format::F32),
        ("scalblnl", Op::Ldexp, Format::F80),
    ] {
        let found = math(name);
        assert_eq!((found.op, found.format), (op, format), "{name}");
    }
    for (symbol, name) in [("5log10Ed", Some("log10")), ("5atan2Edd", Some("atan2")), ("3tanEf", None)] {
        assert_eq!(of_v8(&format!("_ZN2v84base7ieee754{symbol}")), name);
    }
    for (symbol, name) in [
        ("_ZN4libm4math5log1p5log1p17h0123456789abcdefE", Some("log1p")),
        ("_ZN4libm4math2j03y0f17h0123456789abcdefE", Some("y0f")),
        ("_ZN4libm4math7generic5floor17h0123456789abcdefE", None),
        ("_ZN4libm4math5k_tan5k_tan17h0123456789abcdefE", Some("k_tan")),
        ("_ZN4core3f645log1p17h0123456789abcdefE", None),
    ] {
        assert_eq!(of_rust(symbol), name);
    }
    assert_eq!(of_java("__j__ieee754_atan2"), Some("atan2"));
    assert_eq!(of_java("Java_java_lang_StrictMath_IEEEremainder"), Some("remainder"));
    assert_eq!(brought_along("_ZN4libm4math6sincos6sincos17h0123456789abcdefE"), None);
    for name in ["sine", "sinff", "ilogb", "__ieee754_rem_pio2", "sinf128", "r", "f", "", "exp_r"] {
        assert_eq!(scalar(body(name)), None, "{name}");
    }
}

#[test]
fn integers_and_floats_have_their_own_registers() {
    let mut m = Fake::called(1);
    m.set_double(0, 1.5);
    m.general[RDI] = -3i32 as u32 as u64;
    assert_eq!(operands(&given(&m, math("ldexp"))), [1.5, -3.0]);
    assert_eq!(operands(&given(&m, math("jn"))), [-3.0, 1.5]);
    m.general[RDI] = 1 << 40;
    assert_eq!(operands(&given(&m, math("scalbln"))), [1.5, (1u64 << 40) as f64]);
}

#[test]
fn long_doubles_are_on_the_stack_and_come_back_on_the_x87_stack() {
    let mut m = Fake::called(1);
    let sp = m.general[4];
    m.poke(sp + 8, &f80(2.0));
    m.poke(sp + 24, &f80(0.5));
    assert_eq!(operands(&given(&m, math("powl"))), [2.0, 0.5]);
    (m.x87[0], m.top) = (f80(1.25), 6);
    let done = outcome(&m, math("powl"), &[], 0).unwrap().unwrap();
    assert_eq!(
        float(&done).1.location,
        shadowgrind_core::shadow::Location::State(crate::x86::state::x87(6, 0))
    );
    assert_eq!((float(&done).0, done.count), (Op::Pow, 2));
}

#[test]
fn results_through_pointers() {
    let mut m = Fake::called(1);
    m.set_double(0, 0.75);
    (m.general[RDI], m.general[RSI]) = (0x100, 0x200);
    let given = given(&m, math("sincos"));
    m.poke(0x100, &0.5f64.to_le_bytes());
    m.poke(0x200, &0.25f64.to_le_bytes());
    let results: Vec<_> =
        (0..).map_while(|i| outcome(&m, math("sincos"), &given.pointers, i).unwrap()).collect();
    let seen: Vec<_> = results.iter().map(double).collect();
    assert_eq!(seen, [(Op::Sin, 0.5), (Op::Cos, 0.25)]);
    m.poke(0x100, &5i32.to_le_bytes());
    let frexp = outcome(&m, math("frexp"), &given.pointers, 0).unwrap().unwrap();
    assert_eq!((float(&frexp).0, frexp.count, frexp.integer), (Op::Ldexp, 1, Some(-5)));
}

#[test]
fn vectors_lane_by_lane() {
    let vector = |name: &str| {
        let symbol = Symbol {
            name,
            version: None,
            hidden: false,
            address: 0x1000,
            size: 0,
            kind: shadowgrind_symbols::SymbolKind::Function,
            global: true,
        };
        of(&symbol, &Library::default())
    };
    let mut m = Fake::called(1);
    for lane in 0..4 {
        m.set_vector(0, 8 * lane, &(lane as f64 + 2.0).to_le_bytes());
        m.set_vector(1, 8 * lane, &0.5f64.to_le_bytes());
    }
    let pow = vector("_ZGVdN4vv_pow").unwrap();
    assert_eq!(operands(&given(&m, pow)), [2.0, 0.5, 3.0, 0.5, 4.0, 0.5, 5.0, 0.5]);
    let last = outcome(&m, pow, &[], 3).unwrap().unwrap();
    assert_eq!((last.first, last.count), (6, 2));
    assert_eq!(outcome(&m, pow, &[], 4).unwrap(), None);
    assert_eq!(vector("_ZGVbN4v_sinf").unwrap().format, Format::F32);
    for name in ["_ZGVbN2vv_sin", "_ZGVbN4v_sin", "_ZGVbM2v_sin", "_ZGVbN2v_frexp", "_ZGVxN2v_sin"] {
        assert_eq!(vector(name), None, "{name}");
    }
    // _ZGVbN2vvv_sincos: pointers to sines in xmm1, to cosines in xmm2.
    let sincos = vector("_ZGVbN2vvv_sincos").unwrap();
    for (i, address) in [0x100u64, 0x108, 0x200, 0x208].into_iter().enumerate() {
        m.set_vector(1 + i / 2, 8 * (i % 2), &address.to_le_bytes());
        m.poke(address, &(i as f64).to_le_bytes());
    }
    let given = given(&m, sincos);
    let all: Vec<_> = (0..).map_while(|i| outcome(&m, sincos, &given.pointers, i).unwrap()).collect();
    let seen: Vec<_> = all.iter().map(|o| (double(o), o.first)).collect();
    let expected = [((Op::Sin, 0.0), 0), ((Op::Sin, 1.0), 1), ((Op::Cos, 2.0), 0), ((Op::Cos, 3.0), 1)];
    assert_eq!(seen, expected);
}
