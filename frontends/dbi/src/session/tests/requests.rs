//! Requests of programs that know of the tool.

use super::*;

/// The words of a request, as a client header writes them.
fn request(session: &Session, calls: &mut Calls, m: &mut Fake, words: [u64; 6]) -> u64 {
    m.poke_words(0x9000, &words);
    m.set_general(0, 0x9000);
    m.set_general(2, 0);
    session.request(0x4010, calls, &mut *observer(), m)
}

#[test]
fn requests_are_answered_as_the_table_says() {
    let session = Session::new(config(&[], &[]), Path::new("/bin/true"), first()).unwrap();
    let (mut m, mut calls) = (Fake::default(), Calls::new());
    m.poke(0x100, &1.5f32.to_le_bytes());
    m.poke(0x108, &2.5f32.to_le_bytes());
    // Two floats, eight bytes apart.
    m.poke_words(0x200, &[0x100, 4, 2, 8]);
    m.poke(0x300, b"nu\0");
    m.poke_words(0x400, &[0.5f64.to_bits(), 4.0f64.to_bits()]);
    m.poke(0x500, &[0; 64]);
    let mut ask =
        |code, args: [u64; 3]| request(&session, &mut calls, &mut m, [code, args[0], args[1], args[2], 0, 0]);
    assert_eq!(ask(0x5347_0000, [0; 3]), 1);
    assert_eq!(ask(0x5347_0001, [0; 3]), derivatives().number());
    assert_eq!(ask(0x5347_0004, [0x200, 0x300, 0x400]), 2, "seeded with 0.5");
    assert_eq!(ask(0x5347_0002, [0x200, 0x500, 0]), 2);
    assert_eq!(ask(0x5347_0003, [0x200, 0x400, 0]), 2);
    assert_eq!(ask(0x5347_0005, [0x200, 0x300, 0]), 2);
    assert_eq!(ask(0x5347_0006, [0; 3]), 1);
    assert_eq!(ask(0x5347_0005, [0x200, 0, 0]), 2, "not recorded now");
    assert_eq!(ask(0x5347_0007, [0; 3]), 0);
    assert_eq!(ask(0x5347_0007, [0; 3]), 0, "never below");
    assert_eq!(ask(0x5347_0002, [0x999, 0x500, 0]), 0, "no such memory");
    assert_eq!(ask(0x1001, [0; 3]), 0, "no Valgrind unless asked to be one");
    assert_eq!(ask(0x4d43_0000, [0; 3]), 0, "another tool's");
    assert_eq!(ask(0x4447_0008, [0; 3]), u64::from(b'd'));
    assert_eq!(ask(0x4447_0002, [1, 0, 0]), 1);
    let mut read = [0; 16];
    m.read(0x500, &mut read).unwrap();
    assert_eq!(read[..8], 0.5f64.to_le_bytes());
    assert_eq!(read[8..], 0.5f64.to_le_bytes());
    assert_eq!(m.shadow_at(Location::Memory(0x108), Format::F32), 4.0);
    assert!(calls.is_disabled());
    let seen: Vec<_> = outputs(&session).into_iter().map(|o| (o.0, o.1, o.2, o.3)).collect();
    let nu = Some("nu".to_owned());
    assert_eq!(seen, [(OutputKind::Mark, 1.5, 0.5, nu.clone()), (OutputKind::Mark, 2.5, 4.0, nu)]);
}

#[test]
fn derivgrinds_requests_copy_bytes() {
    let session = Session::new(config(&[], &[]), Path::new("/bin/true"), first()).unwrap();
    let (mut m, mut calls) = (Fake::default(), Calls::new());
    let bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
    m.poke(0x10000, &bytes);
    m.poke(0x20000, &[0; 5000]);
    assert_eq!(request(&session, &mut calls, &mut m, [0x4447_0001, 0x100, 0x10000, 5000, 0, 0]), 1);
    assert_eq!(request(&session, &mut calls, &mut m, [0x4447_0000, 0x100, 0x20000, 5000, 0, 0]), 1);
    let mut back = vec![0; 5000];
    m.read(0x20000, &mut back).unwrap();
    assert_eq!(back, bytes);
}

#[test]
fn the_real_of_a_float_without_one_is_itself() {
    let session = Session::new(config(&[], &[]), Path::new("/bin/true"), first()).unwrap();
    let (mut m, mut calls) = (Fake::default(), Calls::new());
    m.poke(0x100, &0.1f64.to_le_bytes());
    m.poke(0x200, &[0xff; 16]);
    assert_eq!(request(&session, &mut calls, &mut m, [0x5347_0008, 0x100, 8, 0x200, 16, 0]), 3);
    let mut text = [0; 4];
    m.read(0x200, &mut text).unwrap();
    assert_eq!(&text, b"0.1\0");
    let x = crate::hooks::abi::memory(&m, 0x100, Format::F64).unwrap();
    assert_eq!(x.value(), Value::from(0.1));
}
