//! Expected texts are glibc 2.36's, CPython 3.11's and rustc 1.95's.

use super::*;

fn double(x: f64) -> Float {
    Float { format: Format::F64, bits: x.to_bits().into() }
}

fn fixed(x: f64, precision: u32) -> String {
    Notation::new(Style::Fixed, Some(precision)).write(&double(x))
}

#[test]
fn fixed_notation() {
    assert_eq!(fixed(0.1, 30), "0.100000000000000005551115123126");
    assert_eq!(fixed(2.5, 0), "2");
    assert_eq!(fixed(3.5, 0), "4");
    assert_eq!(fixed(0.5, 0), "0");
    assert_eq!(fixed(0.996, 2), "1.00");
    assert_eq!(fixed(0.0004, 2), "0.00");
    assert_eq!(fixed(0.006, 2), "0.01");
    assert_eq!(fixed(-1234.5, 1), "-1234.5");
    assert_eq!(fixed(1e22, 1), "10000000000000000000000.0");
    assert_eq!(fixed(0.0, 3), "0.000");
    assert_eq!(fixed(f64::NEG_INFINITY, 3), "-inf");
}

#[test]
fn scientific_and_general_notation() {
    let e = |x, p| Notation::new(Style::Scientific, Some(p)).write(&double(x));
    assert_eq!(e(9.9996e-5, 3), "1.000e-04");
    assert_eq!(e(0.0, 2), "0.00e+00");
    assert_eq!(e(1e300, 0), "1e+300");
    let g = |x, p| Notation::new(Style::General, Some(p)).write(&double(x));
    assert_eq!(g(0.0001, 6), "0.0001");
    assert_eq!(g(0.00001, 6), "1e-05");
    assert_eq!(g(123456.0, 6), "123456");
    assert_eq!(g(1234567.0, 6), "1.23457e+06");
    assert_eq!(g(999999.5, 6), "1e+06");
    assert_eq!(g(0.0, 6), "0");
    assert_eq!(g(100.0, 0), "1e+02");
    assert_eq!(g(0.30000000000000004, 17), "0.30000000000000004");
    let alternate = Notation { alternate: true, ..Notation::new(Style::General, Some(4)) };
    assert_eq!(alternate.write(&double(1.5)), "1.500");
    assert_eq!(alternate.write(&double(1e10)), "1.000e+10");
}

#[test]
fn hexadecimal_notation() {
    let a = |x, p| Notation::new(Style::Hexadecimal(Format::F64), p).write(&double(x));
    assert_eq!(a(0.1, None), "0x1.999999999999ap-4");
    assert_eq!(a(1.0, None), "0x1p+0");
    assert_eq!(a(0.0, None), "0x0p+0");
    assert_eq!(a(0.0, Some(2)), "0x0.00p+0");
    assert_eq!(a(0.1, Some(3)), "0x1.99ap-4");
    assert_eq!(a(5e-324, None), "0x0.0000000000001p-1022");
    assert_eq!(a(-3.75, Some(1)), "-0x1.ep+1");
    let wide = Float { format: Format::F80, bits: Format::F64.convert(1.0f64.to_bits().into(), Format::F80) };
    assert_eq!(Notation::new(Style::Hexadecimal(Format::F80), None).write(&wide), "0x8p-3");
}

#[test]
fn flags_and_widths() {
    let f = Notation { width: 9, ..Notation::new(Style::Fixed, Some(2)) };
    assert_eq!(f.write(&double(-1.5)), "    -1.50");
    assert_eq!(Notation { fill: Fill::After, ..f }.write(&double(-1.5)), "-1.50    ");
    let zeros = Notation { fill: Fill::Inside, with: '0', ..f };
    assert_eq!(zeros.write(&double(-1.5)), "-00001.50");
    assert_eq!(zeros.write(&double(f64::INFINITY)), "      inf");
    let plus = Notation { sign: Sign::Plus, upper: true, ..Notation::new(Style::Scientific, Some(1)) };
    assert_eq!(plus.write(&double(1.5)), "+1.5E+00");
    assert_eq!(plus.write(&double(f64::NAN)), "+NAN");
}

#[test]
fn fewest_digits() {
    let python = Notation {
        point_zero: true,
        ..Notation::new(Style::Shortest(Format::F64, Plain::Between(-3, 16)), None)
    };
    let repr = |x| python.write(&double(x));
    assert_eq!(repr(0.1 + 0.2), "0.30000000000000004");
    assert_eq!(repr(1e16), "1e+16");
    assert_eq!(repr(1e15), "1000000000000000.0");
    assert_eq!(repr(0.0001), "0.0001");
    assert_eq!(repr(0.00001), "1e-05");
    assert_eq!(repr(-0.0), "-0.0");
    let rust = Notation::new(Style::Shortest(Format::F64, Plain::Always), None);
    assert_eq!(rust.write(&double(1e21)), "1000000000000000000000");
    assert_eq!(rust.write(&double(1e-7)), "0.0000001");
}

#[test]
fn differences() {
    assert_eq!(first_difference("1.00", "1.01"), Some(3));
    assert_eq!(first_difference("1.0", "1.05"), Some(3));
    assert_eq!(first_difference("  9.99", " 10.00"), Some(1));
    assert_eq!(first_difference("-0.00", "0.00"), None);
    assert_eq!(first_difference("0.00", "-0.00e+00"), None);
    assert_eq!(first_difference("nan", "inf"), Some(0));
    assert_eq!(first_difference("0x0p+0", "-0x0p+0"), None);
}
