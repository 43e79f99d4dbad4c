//! Origins of numbers that are parsed where they were given, in copies of their lines, and on their own.

use super::*;
use crate::hooks::fake::Fake;

const FILE: &str = "# a b c\n1 0.5 0.0\n2 0.5 0.0\n3 0.25 7.5\n";

fn file() -> TextSource {
    TextSource::File("in.dat".to_owned())
}

fn texts() -> (Texts, Fake) {
    let (mut texts, mut m) = (Texts::default(), Fake::called(0x10));
    m.poke(0x1000, FILE.as_bytes());
    texts.read(file(), 0, FILE.as_bytes(), 0x1000);
    (texts, m)
}

fn origin(texts: &mut Texts, m: &Fake, address: u64, text: &str) -> Option<String> {
    match texts.origin(m, address, text.as_bytes(), text.parse().unwrap()) {
        Origin::Known(place) => Some(texts.spec(place)),
        Origin::Ambiguous(_) => Some("ambiguous".to_owned()),
        Origin::Unknown => None,
    }
}

/// Tells whether the number at `address`, parsed as `text`, is one with a minus sign that is not in `text`.
fn is_negated(texts: &mut Texts, m: &Fake, address: u64, text: &str) -> Option<bool> {
    let origin = texts.origin(m, address, text.as_bytes(), text.parse().unwrap());
    origin.known().map(|place| texts.is_negated(place, text.as_bytes()))
}

/// Puts a text into memory of its own.
fn copied(m: &mut Fake, text: &str) -> u64 {
    m.poke(0x8000, &[0; 1024]);
    m.poke(0x8010, text.as_bytes());
    0x8010
}

#[test]
fn where_it_was_given() {
    let (mut texts, m) = texts();
    let second = FILE.find("2 0.5").unwrap() as u64 + 2;
    assert_eq!(origin(&mut texts, &m, 0x1000 + second, "0.5").unwrap(), "file:in.dat:3:2");
}

#[test]
fn memory_that_was_written_since_holds_it_no_more() {
    let (mut texts, mut m) = texts();
    m.poke(0x1000, b"7.5");
    assert_eq!(origin(&mut texts, &m, 0x1000, "7.5").unwrap(), "file:in.dat:4:3");
}

#[test]
fn in_a_copy_of_its_line() {
    let (mut texts, mut m) = texts();
    let at = copied(&mut m, "2 0.5 0.0\n");
    assert_eq!(origin(&mut texts, &m, at + 6, "0.0").unwrap(), "file:in.dat:3:3");
}

#[test]
fn on_its_own_in_order() {
    let (mut texts, mut m) = texts();
    let mut seen = Vec::new();
    for text in ["0.5", "0.0", "0.5", "0.0", "0.25"] {
        let at = copied(&mut m, text);
        seen.push(origin(&mut texts, &m, at, text).unwrap());
    }
    let expected = ["2:2", "2:3", "3:2", "3:3", "4:2"].map(|place| format!("file:in.dat:{place}"));
    assert_eq!(seen, expected);
    let at = copied(&mut m, "0.5");
    assert_eq!(origin(&mut texts, &m, at, "0.5").unwrap(), "ambiguous", "out of order");
    texts.read(file(), 0, FILE.as_bytes(), 0x1000);
    m.poke(0x1000, &[0; 64]);
    assert_eq!(origin(&mut texts, &m, at, "0.5").unwrap(), "file:in.dat:2:2", "read again");
}

/// By two functions, the second of which is given a copy of the line or of the number alone.
#[test]
fn integers_that_are_read_twice() {
    const LINES: &str = "2 10 0.5\n2 20 0.25\n";
    let (mut texts, mut m) = (Texts::default(), Fake::called(0x10));
    m.poke(0x1000, LINES.as_bytes());
    texts.read(file(), 0, LINES.as_bytes(), 0x1000);
    m.poke(0x1000, &[0; 64]);
    let integer = |texts: &mut Texts, m: &Fake, at: u64, text: &str| {
        let place = texts.integer(m, at, text.as_bytes(), text.parse().unwrap());
        place.map(|place| texts.spec(place))
    };
    let expected = |place: &str| Some(format!("file:in.dat:{place}"));
    for _ in 0..2 {
        let at = copied(&mut m, "2 10 0.5\n");
        assert_eq!(integer(&mut texts, &m, at, "2"), expected("1:1"));
    }
    for _ in 0..2 {
        let at = copied(&mut m, "20");
        assert_eq!(integer(&mut texts, &m, at, "20"), expected("2:2"));
    }
    let at = copied(&mut m, "0.25");
    assert_eq!(origin(&mut texts, &m, at, "0.25"), expected("2:3"));
    texts.read(file(), 0, LINES.as_bytes(), 0x1000);
    m.poke(0x1000, &[0; 64]);
    let at = copied(&mut m, "2");
    assert_eq!(integer(&mut texts, &m, at, "2"), expected("1:1"), "the file is read again");
}

/// Every shell has a variable that holds 1.
#[test]
fn variables_with_the_next_number_of_a_file_are_not_meant() {
    let (mut texts, mut m) = (Texts::default(), Fake::called(0x10));
    texts.read(TextSource::Environment("SHLVL".to_owned()), 0, b"0.5", 0x100);
    texts.read(file(), 0, FILE.as_bytes(), 0x1000);
    m.poke(0x100, b"0.5\0");
    let mut next = |text: &str| {
        let at = copied(&mut m, text);
        origin(&mut texts, &m, at, text).unwrap()
    };
    assert_eq!(
        [next("0.5"), next("0.0"), next("0.5")],
        ["2:2", "2:3", "3:2"].map(|at| format!("file:in.dat:{at}"))
    );
    assert_eq!(next("0.5"), "ambiguous", "the file does not go on so");
    assert_eq!(origin(&mut texts, &m, 0x100, "0.5").unwrap(), "env:SHLVL");
}

/// An interpreter's library may have any number somewhere.
#[test]
fn the_number_behind_the_last_is_meant() {
    let (mut texts, mut m) = texts();
    texts.read(TextSource::File("library".to_owned()), 0, b"a = 4.5;\n% 0.25\n", 0x2000);
    m.poke(0x1000, &[0; 64]);
    let mut next = |text: &str| {
        let at = copied(&mut m, text);
        origin(&mut texts, &m, at, text).unwrap()
    };
    assert_eq!(next("0.25"), "ambiguous", "nothing was parsed before");
    assert_eq!(next("3"), "file:in.dat:4:1");
    assert_eq!(next("0.25"), "file:in.dat:4:2");
    assert_eq!(next("4.5"), "file:library:1:1");
    assert_eq!(next("0.25"), "file:library:2:1");
}

#[test]
fn arguments_that_are_alike() {
    let (mut texts, mut m) = texts();
    for (word, at) in [(1, 0x100), (2, 0x200)] {
        m.poke(at, b"2.5\0");
        texts.read(TextSource::Argument(word), 0, b"2.5", at);
    }
    let at = copied(&mut m, "2.5");
    assert_eq!(origin(&mut texts, &m, at, "2.5").unwrap(), "ambiguous");
    assert_eq!(origin(&mut texts, &m, 0x200, "2.5").unwrap(), "arg:2");
    assert_eq!(origin(&mut texts, &m, at, "2.5").unwrap(), "arg:1", "the second is parsed in place");
    assert_eq!(origin(&mut texts, &m, at, "7.75"), None);
}

#[test]
fn what_is_no_text_has_no_numbers() {
    let (mut texts, mut m) = (Texts::default(), Fake::called(0x10));
    texts.read(file(), 0, b"1.5 \0 2.5", 0x1000);
    let at = copied(&mut m, "1.5");
    assert_eq!(origin(&mut texts, &m, at, "1.5"), None);
}

#[test]
fn a_minus_sign_that_is_read_apart() {
    let (mut texts, mut m) = texts();
    let line = "-7.5 7.5 -0.75\n";
    m.poke(0x4000, line.as_bytes());
    texts.read(TextSource::Stdin, 0, line.as_bytes(), 0x4000);
    assert_eq!(is_negated(&mut texts, &m, 0x4000, "-7.5"), Some(false));
    assert_eq!(is_negated(&mut texts, &m, 0x4001, "7.5"), Some(true));
    assert_eq!(is_negated(&mut texts, &m, 0x4005, "7.5"), Some(false));
    // Of copies the sign may be left behind, or stand before the text that is parsed.
    let at = copied(&mut m, "0.75");
    assert_eq!(is_negated(&mut texts, &m, at, "0.75"), Some(true));
    assert_eq!(origin(&mut texts, &m, at, "0.75").unwrap(), "stdin:1:3");
    let (mut texts, mut m) = (Texts::default(), Fake::called(0x10));
    texts.read(TextSource::Stdin, 0, line.as_bytes(), 0x4000);
    let at = copied(&mut m, "-7.5");
    assert_eq!(is_negated(&mut texts, &m, at + 1, "7.5"), Some(true));
}

#[test]
fn a_literal_whose_sign_is_an_operation() {
    let (mut texts, _) = texts();
    texts.read(file(), FILE.len(), b"x = -0.75\n", 0x9000);
    assert_eq!(texts.literal(-0.75).known().map(|place| texts.is_negated(place, b"-0.75")), Some(false));
    let (mut texts, _) = self::texts();
    texts.read(file(), FILE.len(), b"x = -0.75\n", 0x9000);
    assert_eq!(texts.literal(0.75).known().map(|place| texts.is_negated(place, b"0.75")), Some(true));
    assert_eq!(texts.literal(0.25).known().map(|place| texts.is_negated(place, b"0.25")), Some(false));
}
