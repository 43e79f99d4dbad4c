//! Formats that ask for arguments, and calls that have them.

use super::*;
use crate::hooks::fake::{Fake, f80};
use crate::hooks::machine::read_u64;
use shadowgrind_core::shadow::Location;

const TEXT: u64 = 0x5000_0f80;
const RSP: u64 = 0x7000_0000;

fn conversions(format: &str) -> Vec<Conversion> {
    format::parse(format.as_bytes()).iter().flat_map(|directive| directive.conversions()).flatten().collect()
}

fn kinds(format: &str) -> Vec<Kind> {
    conversions(format).into_iter().map(|c| c.kind).collect()
}

#[test]
fn formats_ask_for_arguments() {
    use Kind::{Decimal, Double, Integer, LongDouble};
    assert_eq!(kinds("no %% directive, a percent sign too much %"), []);
    assert_eq!(kinds("%g %-+ #012.3lf%Le|%5a"), [Double, Double, LongDouble, Double]);
    assert_eq!(
        kinds("%*.*G %s %hhd %lld %zu %p %n %lc %m"),
        [Integer, Integer, Double, Integer, Integer, Integer, Integer, Integer, Integer, Integer]
    );
    assert_eq!(
        kinds("%'I.5f %DDf %Hg %llf %w32d %!.15g"),
        [Double, Decimal, Decimal, LongDouble, Integer, Double]
    );
    let positions: Vec<_> = conversions("%3$g %1$*2$.*4$d").into_iter().map(|c| c.position).collect();
    assert_eq!(positions, [Some(3), Some(2), Some(4), Some(1)]);
}

fn values(m: &Fake, function: &str) -> Vec<(f64, Location)> {
    let floats = floats(m, of(function).unwrap()).unwrap();
    floats.into_iter().map(|x| (x.float.format.to_f64(x.float.bits), x.float.location)).collect()
}

fn vector(number: usize) -> Location {
    Location::State(crate::x86::state::vector(number))
}

/// Arguments as gcc passes them for `fprintf(f, TEXT, a…)`: vector registers first, then the stack, eight bytes
/// each, `long double` aligned to sixteen; integers have registers of their own.
fn call(format: &str) -> Fake {
    let mut m = Fake::called(0x1234);
    m.poke(TEXT, format.as_bytes());
    m.poke(TEXT + format.len() as u64, &[0]);
    m.poke(TEXT + format.len() as u64 + 1, &[b'x'; 300]);
    m.general[crate::hooks::fake::RSI] = TEXT;
    m
}

#[test]
fn doubles_beyond_eight_are_on_the_stack() {
    let mut m = call("%f%f%f%f %d %f%f%f%f%f%Lf%f");
    (0..8).for_each(|i| m.set_double(i, i as f64));
    m.poke(RSP + 8, &8.0f64.to_le_bytes());
    m.poke(RSP + 16, &f80(9.0));
    m.poke(RSP + 32, &10.0f64.to_le_bytes());
    let found = values(&m, "fprintf");
    assert_eq!(found.iter().map(|x| x.0).collect::<Vec<_>>(), (0..11).map(f64::from).collect::<Vec<_>>());
    assert_eq!(found[7].1, vector(7));
    assert_eq!(found[8].1, Location::Memory(RSP + 8));
    assert_eq!(found[9].1, Location::Memory(RSP + 16));
}

#[test]
fn integers_that_overflow_share_the_stack_with_floats() {
    // Two fixed arguments leave four registers for %d.
    let mut m = call("%d%d%d%d%d %Lg %d %g");
    m.poke_words(RSP + 8, &[5]);
    m.poke(RSP + 16, &f80(1.5));
    m.poke_words(RSP + 32, &[6]);
    m.set_double(0, 2.5);
    let found = values(&m, "fprintf");
    assert_eq!(found, [(1.5, Location::Memory(RSP + 16)), (2.5, vector(0))]);
}

#[test]
fn a_va_list_is_read_where_it_stands() {
    let mut m = call("%g %g %d %g %g");
    // gp_offset 16 (two used), fp_offset 48 + 6 · 16: two vector registers left.
    let (list, area, overflow) = (0x6000_0000, 0x6000_0100, 0x6000_0200);
    m.poke_words(list, &[16 | (48 + 96) << 32, overflow, area]);
    m.poke_words(area + 16, &[77]);
    m.poke(area + 48 + 96, &1.0f64.to_le_bytes());
    m.poke(area + 48 + 112, &2.0f64.to_le_bytes());
    m.poke(overflow, &3.0f64.to_le_bytes());
    m.poke(overflow + 8, &4.0f64.to_le_bytes());
    m.general[2] = list;
    let found = values(&m, "vfprintf");
    assert_eq!(found.iter().map(|x| x.0).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(found[0].1, Location::Memory(area + 48 + 96));
    assert_eq!(read_u64(&m, list).unwrap(), 16 | (48 + 96) << 32);
}

#[test]
fn positions_decide_the_order() {
    let mut m = call("%3$g %1$Lg %3$g %2$d");
    m.poke(RSP + 16, &f80(1.0));
    m.set_double(0, 3.0);
    assert_eq!(values(&m, "fprintf").iter().map(|x| x.0).collect::<Vec<_>>(), [3.0, 1.0, 3.0]);
}

/// Labels and texts of the floats of `fprintf`.
fn texts(m: &Fake) -> Vec<(String, String)> {
    let floats = floats(m, of("fprintf").unwrap()).unwrap();
    let text = |x: Formatted| {
        let Float { format, bits, .. } = x.float;
        let text = x.notation.map(|n| n.write(&shadowgrind_core::text::Float { format, bits }));
        (x.label.unwrap_or_default(), text.unwrap_or_default())
    };
    floats.into_iter().map(text).collect()
}

#[test]
fn what_is_printed_and_what_it_is_called() {
    let mut m = call("step %d of 100%%:\n  E = %+.*e J, n[%d] = %-*.2f|(%08.3G) %.f");
    for (i, x) in [-1.5, 2.25, 1e-9, 2.5].into_iter().enumerate() {
        m.set_double(i, x);
    }
    // Step, precision, index, width.
    (m.general[2], m.general[1], m.general[8], m.general[9]) = (7, 3, 1, (-9i32) as u32 as u64);
    let pair = |label: &str, text: &str| (label.to_owned(), text.to_owned());
    assert_eq!(
        texts(&m),
        [pair("E =", "-1.500e+00"), pair("J, n[…] =", "2.25     "), pair("", "0001E-09"), pair("", "2")]
    );
}

#[test]
fn strings_are_part_of_a_label() {
    let mut m = call("%-6s[%d] = %g, %.3s: %g %%s");
    let (name, unit) = (0x7000_0000, 0x7000_0100);
    // What is mapped, is whole pages.
    m.poke(name, &[0; 512]);
    m.poke(name, b"drag");
    m.poke(unit, b"Newton");
    (m.general[2], m.general[1], m.general[8]) = (name, 3, unit);
    m.set_double(0, 1.5);
    m.set_double(1, 2.5);
    let labels: Vec<String> = texts(&m).into_iter().map(|(label, _)| label).collect();
    assert_eq!(labels, ["drag[…] =", "New:"]);
}

#[test]
fn wide_formats_and_ends_of_pages() {
    let mut m = Fake::called(0x1234);
    // The terminator is the last character of the page; the next page does not exist.
    let text: Vec<u8> = "π = %g\0".chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
    let start = 0x5000_1000 - text.len() as u64;
    m.poke(start, &text);
    m.general[crate::hooks::fake::RDI] = start;
    m.set_double(0, 3.25);
    assert_eq!(values(&m, "wprintf"), [(3.25, vector(0))]);
    m.general[crate::hooks::fake::RDI] = 0x9000_0000;
    assert!(floats(&m, of("wprintf").unwrap()).is_err());
}

#[test]
fn fortified_functions_have_their_format_elsewhere() {
    let mut m = call("%g");
    m.general[8] = TEXT;
    m.general[crate::hooks::fake::RSI] = 0;
    m.set_double(0, 6.5);
    assert_eq!(values(&m, "__snprintf_chk"), [(6.5, vector(0))]);
    assert_eq!(of("vsnprintf").unwrap(), printf("", 2, [Some(1), Some(0)], [false, true]));
    assert_eq!(of("printk"), None);
}

#[test]
fn a_text_may_be_asked_for_its_length_alone() {
    let mut m = call("%g");
    for (size, measures) in [(0, true), (1, false), (64, false)] {
        m.general[crate::hooks::fake::RSI] = size;
        for function in ["snprintf", "__vsnprintf_chk", "swprintf"] {
            assert_eq!(only_measures(&m, of(function).unwrap()), measures, "{function}");
        }
        assert!(!only_measures(&m, of("fprintf").unwrap()));
    }
}
