//! Sequences in which a float goes its way through integer instructions: what factor its shadow has at the end.

use super::cells::bytes_of;
use super::check::record;
use super::native::{Machine, Native, WINDOW};
use super::rng::Rng;
use crate::x86::lower::{Lowerer, Lowering};
use crate::x86::state;
use iced_x86::Register::{DH, EAX, ECX, R9, RAX, RBX, RCX, RDX, RSI, XMM0, XMM1, XMM2, XMM3, XMM4, XMM5};
use iced_x86::{Code, Instruction, MemoryOperand};
use shadowgrind_core::format::Format;
use shadowgrind_core::replay::replay;
use shadowgrind_core::shadow::{Cells, Lane, Location, Rule};
use shadowgrind_core::site::Site;
use std::collections::HashMap;

/// Shadows are what the float has been multiplied by.
struct Factors;

impl Rule for Factors {
    type Value = f64;

    fn op(&mut self, _: &Lane<'_, f64>) -> Option<f64> {
        None
    }

    fn scale(&mut self, shadow: &f64, _: Format, negate: bool, power: i32) -> Option<f64> {
        Some(shadow * f64::from(power).exp2() * if negate { -1.0 } else { 1.0 })
    }
}

/// Each byte that belongs to a shadowed float says which byte of which.
#[derive(Default)]
struct Bytes(HashMap<u64, (u8, Format, f64)>);

fn key(location: Location) -> u64 {
    match location {
        Location::State(at) => at.into(),
        Location::Memory(address) => address,
    }
}

impl Cells<f64> for Bytes {
    fn get(&mut self, location: Location, format: Format, _: u128) -> Option<f64> {
        let (_, _, first) = *self.0.get(&key(location))?;
        let whole = (0..format.bytes())
            .all(|i| self.0.get(&(key(location) + i as u64)) == Some(&(i as u8, format, first)));
        whole.then_some(first)
    }

    fn is_double(&mut self, _location: Location, _bits: u128) -> bool {
        false
    }

    fn set(&mut self, location: Location, format: Format, _: u128, shadow: Option<f64>) {
        self.clear(location, format.bytes());
        for i in 0..format.bytes() {
            shadow.map(|factor| self.0.insert(key(location) + i as u64, (i as u8, format, factor)));
        }
    }

    fn permute(&mut self, from: [Location; 2], to: Location, map: &[u8]) {
        let source = |byte: u8| match byte {
            255 => None,
            0..64 => self.0.get(&(key(from[0]) + u64::from(byte))).copied(),
            _ => self.0.get(&(key(from[1]) + u64::from(byte) - 64)).copied(),
        };
        let moved: Vec<_> = map.iter().map(|&byte| source(byte)).collect();
        self.clear(to, map.len());
        for (i, byte) in moved.into_iter().enumerate() {
            byte.map(|byte| self.0.insert(key(to) + i as u64, byte));
        }
    }

    /// Two at once are more than these cells can say.
    fn combine(&mut self, from: [Location; 2], to: Location, bytes: usize) {
        let shadowed = from.map(|from| (0..bytes as u64).any(|i| self.0.contains_key(&(key(from) + i))));
        match shadowed {
            [true, false] => self.copy(from[0], to, bytes),
            [false, true] => self.copy(from[1], to, bytes),
            _ => self.clear(to, bytes),
        }
    }

    fn carries(&mut self, location: Location, bytes: usize) -> u8 {
        let carries = |i: usize| u8::from(self.0.contains_key(&(key(location) + i as u64)));
        (0..bytes).fold(0, |mask, i| mask | carries(i) << i)
    }

    fn change_end(&mut self, from: Location, to: Location, bytes: usize, (turned, by): (bool, i32)) {
        if by != 0 {
            // What is in other places of the same float is not known here.
            return self.clear(to, bytes);
        }
        self.copy(from, to, bytes);
        // What is in other places of the same float is turned over where that is put together.
        let last = self.0.get_mut(&(key(to) + bytes as u64 - 1));
        if let Some((_, _, factor)) = last.filter(|_| turned) {
            *factor = -*factor;
        }
    }

    fn turn_sign(&mut self, location: Location, format: Format) {
        for i in 0..format.bytes() as u64 {
            self.0.entry(key(location) + i).and_modify(|(_, _, factor)| *factor = -*factor);
        }
    }

    fn copy(&mut self, from: Location, to: Location, bytes: usize) {
        let map: Vec<u8> = (0..bytes as u8).collect();
        self.permute([from; 2], to, &map);
    }

    fn clear(&mut self, location: Location, bytes: usize) {
        (0..bytes as u64).for_each(|i| {
            self.0.remove(&(key(location) + i));
        });
    }
}

/// A machine with shadows.
struct Run {
    native: Native,
    lowerer: Lowerer,
    machine: Machine,
    cells: Bytes,
}

impl Run {
    /// Random registers, `[rbx]` the window; the low double of xmm0 is `x` and has factor 1.
    fn new(x: f64) -> Run {
        let (native, mut rng) = (Native::new(), Rng(3));
        let mut general = std::array::from_fn(|_| rng.next());
        general[3] = native.memory();
        general[4] = native.memory() + 0x800;
        let vectors = native.vectors(|vector| rng.fill(vector));
        let memory = vec![0; WINDOW];
        let machine = Machine {
            general,
            flags: 0x202,
            vectors,
            masks: [0; 8],
            x87: [[0; 10]; 8],
            top: 0,
            in_use: 0,
            memory,
        };
        let mut run = Run { native, lowerer: Lowerer::new(true), machine, cells: Bytes::default() };
        run.set(0, 0, x, 1.0);
        run
    }

    /// Double `lane` of vector register `number` is `x`, with a factor.
    fn set(&mut self, number: usize, lane: usize, x: f64, factor: f64) {
        self.machine.vectors[number][8 * lane..8 * lane + 8].copy_from_slice(&x.to_le_bytes());
        let place = Location::State(state::vector(number) + 8 * lane as u16);
        self.cells.set(place, Format::F64, 0, Some(factor));
    }

    fn bits(&mut self, number: usize, lane: usize, bits: u64) {
        self.machine.vectors[number][8 * lane..8 * lane + 8].copy_from_slice(&bits.to_le_bytes());
    }

    fn step(&mut self, insn: Result<Instruction, iced_x86::IcedError>) -> &mut Run {
        let insn = insn.expect("a valid instruction");
        let after = self.native.run(&insn, &self.machine).expect("encodes");
        if let Lowering::Steps(steps) = self.lowerer.lower(&insn, self.machine.top, None) {
            let mut record = record(&steps, &self.machine, &after, self.native.memory());
            self.lowerer.complete(&steps, &mut record);
            replay(&steps.lowered, Site::default(), &record, &mut Factors, &mut self.cells);
        }
        self.machine = after;
        self
    }

    /// The float of `format` at the byte `at` of the state, and its factor.
    fn float(&mut self, at: u16, format: Format) -> (f64, Option<f64>) {
        let bits = format.bits_of(&bytes_of(&self.machine)[usize::from(at)..]);
        (format.to_f64(bits), self.cells.get(Location::State(at), format, bits))
    }

    fn double(&mut self, number: usize) -> (f64, Option<f64>) {
        self.float(state::vector(number), Format::F64)
    }
}

fn at(offset: i64) -> MemoryOperand {
    MemoryOperand::with_base_displ(RBX, offset)
}

#[test]
fn signs_change_in_vector_registers() {
    let mut run = Run::new(-1.25);
    run.bits(1, 0, 1 << 63);
    run.bits(2, 0, !(1 << 63));
    assert_eq!(
        run.step(Instruction::with2(Code::Xorpd_xmm_xmmm128, XMM0, XMM1)).double(0),
        (1.25, Some(-1.0))
    );
    assert_eq!(
        run.step(Instruction::with2(Code::Orpd_xmm_xmmm128, XMM0, XMM1)).double(0),
        (-1.25, Some(1.0))
    );
    assert_eq!(
        run.step(Instruction::with2(Code::Andpd_xmm_xmmm128, XMM0, XMM2)).double(0),
        (1.25, Some(-1.0))
    );
    assert_eq!(run.step(Instruction::with2(Code::Xorpd_xmm_xmmm128, XMM0, XMM0)).double(0), (0.0, None));
}

#[test]
fn masks_select() {
    let mut run = Run::new(3.5);
    run.set(1, 0, 7.5, 10.0);
    run.bits(2, 0, u64::MAX);
    run.step(Instruction::with2(Code::Pand_xmm_xmmm128, XMM0, XMM2));
    run.step(Instruction::with2(Code::Pandn_xmm_xmmm128, XMM2, XMM1));
    assert_eq!(run.double(2), (0.0, None));
    assert_eq!(run.step(Instruction::with2(Code::Por_xmm_xmmm128, XMM0, XMM2)).double(0), (3.5, Some(1.0)));
}

#[test]
fn a_sign_changes_in_a_general_register() {
    let mut run = Run::new(2.5);
    run.step(Instruction::with2(Code::Movq_rm64_xmm, RAX, XMM0));
    run.step(Instruction::with2(Code::Btc_rm64_imm8, RAX, 63));
    assert_eq!(run.step(Instruction::with2(Code::Movq_xmm_rm64, XMM3, RAX)).double(3), (-2.5, Some(-1.0)));
}

#[test]
fn exponents_are_added_to() {
    let mut run = Run::new(2.5);
    run.machine.general[1] = 3 << 52;
    run.step(Instruction::with2(Code::Movq_rm64_xmm, RAX, XMM0));
    run.step(Instruction::with2(Code::Add_rm64_r64, RAX, RCX));
    assert_eq!(run.step(Instruction::with2(Code::Movq_xmm_rm64, XMM0, RAX)).double(0), (20.0, Some(8.0)));
    run.bits(1, 0, 1 << 52);
    assert_eq!(
        run.step(Instruction::with2(Code::Psubq_xmm_xmmm128, XMM0, XMM1)).double(0),
        (10.0, Some(4.0))
    );
}

#[test]
fn a_significand_is_cut_out_and_put_back() {
    let mut run = Run::new(44.0);
    run.machine.general[1] = 0x000f_ffff_ffff_ffff;
    run.machine.general[2] = 0x3ff0_0000_0000_0000;
    run.step(Instruction::with2(Code::Movq_rm64_xmm, RAX, XMM0));
    run.step(Instruction::with2(Code::And_rm64_r64, RAX, RCX));
    run.step(Instruction::with2(Code::Or_rm64_r64, RAX, RDX));
    assert_eq!(
        run.step(Instruction::with2(Code::Movq_xmm_rm64, XMM0, RAX)).double(0),
        (1.375, Some(1.0 / 32.0))
    );
}

#[test]
fn a_power_of_two_is_all_exponent() {
    let mut run = Run::new(8.0);
    run.bits(1, 0, 0x000f_ffff_ffff_ffff);
    run.bits(2, 0, 0x3fe0_0000_0000_0000);
    run.step(Instruction::with2(Code::Andpd_xmm_xmmm128, XMM0, XMM1));
    assert_eq!(
        run.step(Instruction::with2(Code::Orpd_xmm_xmmm128, XMM0, XMM2)).double(0),
        (0.5, Some(0.0625))
    );
}

#[test]
fn sums_are_made_as_addresses() {
    let mut run = Run::new(2.5);
    run.machine.general[1] = 3 << 52;
    run.step(Instruction::with2(Code::Movq_rm64_xmm, RAX, XMM0));
    let sum = MemoryOperand::with_base_index(RAX, RCX);
    run.step(Instruction::with2(Code::Lea_r64_m, RDX, sum));
    assert_eq!(run.float(state::general(2), Format::F64), (20.0, Some(8.0)));
    run.cells.set(Location::State(state::general(0)), Format::F32, 0, Some(1.0));
    run.machine.general[0] = 2.5_f32.to_bits().into();
    let turned = MemoryOperand::with_base_displ(RAX, -0x8000_0000);
    run.step(Instruction::with2(Code::Lea_r32_m, ECX, turned));
    assert_eq!(run.float(state::general(1), Format::F32), (-2.5, Some(-1.0)));
}

#[test]
fn what_is_selected_by_exclusive_disjunction_comes_back() {
    let mut run = Run::new(3.5);
    run.machine.general[1] = 7.25_f64.to_bits();
    run.step(Instruction::with2(Code::Movq_rm64_xmm, RAX, XMM0));
    run.step(Instruction::with2(Code::Xor_rm64_r64, RAX, RCX));
    run.step(Instruction::with2(Code::And_rm64_imm8, RAX, -1));
    run.step(Instruction::with2(Code::Xor_rm64_r64, RAX, RCX));
    assert_eq!(run.float(state::general(0), Format::F64), (3.5, Some(1.0)));
    run.step(Instruction::with2(Code::Xor_rm64_imm8, RAX, -1));
    run.step(Instruction::with2(Code::Xor_rm64_imm8, RAX, -1));
    assert_eq!(run.float(state::general(0), Format::F64), (3.5, Some(1.0)));
}

#[test]
fn a_sign_changes_in_the_end_of_a_float() {
    let mut run = Run::new(0.0);
    let end = Location::State(state::general(2));
    run.cells.0.insert(key(end), (8, Format::F80, 1.0));
    run.cells.0.insert(key(end) + 1, (9, Format::F80, 1.0));
    run.step(Instruction::with2(Code::Xor_rm8_imm8, DH, 0x80));
    assert_eq!(run.cells.0.get(&key(end)), Some(&(8, Format::F80, 1.0)));
    assert_eq!(run.cells.0.get(&(key(end) + 1)), Some(&(9, Format::F80, -1.0)));
    // Joined with what is no float, it stays what it is.
    run.machine.general[2] &= 0xffff;
    run.machine.general[1] = 0x1234_5678_9abc_0000;
    run.step(Instruction::with2(Code::Or_rm64_r64, RDX, RCX));
    assert_eq!(run.cells.0.get(&(key(end) + 1)), Some(&(9, Format::F80, -1.0)));
    run.step(Instruction::with2(Code::Add_rm8_imm8, DH, 1));
    assert_eq!(run.cells.0.get(&(key(end) + 1)), None);
}

#[test]
fn two_narrow_floats_are_packed_by_shifting() {
    let mut run = Run::new(0.0);
    run.cells.set(Location::State(state::vector(0)), Format::F32, 0, Some(5.0));
    run.machine.vectors[0][..4].copy_from_slice(&1.5_f32.to_le_bytes());
    run.step(Instruction::with2(Code::Movd_rm32_xmm, EAX, XMM0));
    run.step(Instruction::with2(Code::Mov_rm32_r32, ECX, EAX));
    run.step(Instruction::with2(Code::Shl_rm64_imm8, RCX, 32));
    run.step(Instruction::with2(Code::Or_rm64_r64, RCX, RAX));
    let low = state::general(1);
    assert_eq!(run.float(low, Format::F32), (1.5, Some(5.0)));
    assert_eq!(run.float(low + 4, Format::F32), (1.5, Some(5.0)));
    run.step(Instruction::with2(Code::Rol_rm64_imm8, RCX, 32));
    run.step(Instruction::with2(Code::Sar_rm64_imm8, RCX, 32));
    assert_eq!(run.float(low, Format::F32), (1.5, Some(5.0)));
    assert_eq!(run.float(low + 4, Format::F32), (0.0, None));
}

#[test]
fn bytes_are_reversed_and_inverted_twice() {
    let mut run = Run::new(6.5);
    run.step(Instruction::with2(Code::Movq_rm64_xmm, R9, XMM0));
    run.step(Instruction::with1(Code::Bswap_r64, R9));
    run.step(Instruction::with2(Code::Movbe_m64_r64, at(8), R9));
    run.step(Instruction::with2(Code::Mov_r64_rm64, RAX, at(8)));
    run.step(Instruction::with1(Code::Not_rm64, RAX));
    run.step(Instruction::with1(Code::Not_rm64, RAX));
    assert_eq!(run.step(Instruction::with2(Code::Movq_xmm_rm64, XMM5, RAX)).double(5), (6.5, Some(1.0)));
    // All bits but the sign are turned back.
    run.step(Instruction::with1(Code::Not_rm64, RAX));
    run.step(Instruction::with2(Code::Mov_r64_imm64, RCX, i64::MAX));
    run.step(Instruction::with2(Code::Xor_rm64_r64, RAX, RCX));
    assert_eq!(run.step(Instruction::with2(Code::Movq_xmm_rm64, XMM5, RAX)).double(5), (-6.5, Some(-1.0)));
}

#[test]
fn floats_go_through_the_stack_and_exchanges() {
    let mut run = Run::new(9.0);
    run.step(Instruction::with2(Code::Movq_rm64_xmm, RAX, XMM0));
    run.step(Instruction::with1(Code::Push_r64, RAX));
    run.step(Instruction::with1(Code::Pop_r64, RSI));
    run.step(Instruction::with2(Code::Xchg_rm64_r64, at(16), RSI));
    run.step(Instruction::with2(Code::Xadd_rm64_r64, at(16), RDX));
    assert_eq!(run.step(Instruction::with2(Code::Movq_xmm_rm64, XMM1, RDX)).double(1), (9.0, Some(1.0)));
    run.step(Instruction::with2(Code::Movq_xmm_xmmm64, XMM2, at(16)));
    assert_eq!(run.double(2).1, None);
}

#[test]
fn compare_and_exchange_moves_one_way_or_the_other() {
    let mut run = Run::new(4.0);
    run.machine.general[0] = 0;
    run.step(Instruction::with2(Code::Movq_rm64_xmm, RCX, XMM0));
    run.step(Instruction::with2(Code::Cmpxchg_rm64_r64, at(0), RCX));
    run.step(Instruction::with2(Code::Movq_xmm_xmmm64, XMM1, at(0)));
    assert_eq!(run.double(1), (4.0, Some(1.0)), "success stores");
    run.step(Instruction::with2(Code::Cmpxchg_rm64_r64, at(0), RDX));
    assert_eq!(run.float(state::general(0), Format::F64), (4.0, Some(1.0)), "failure loads");
}

#[test]
fn eight_bytes_travel_as_an_integer_of_x87() {
    let mut run = Run::new(-0.7);
    run.step(Instruction::with2(Code::Movq_xmmm64_xmm, at(0), XMM0));
    run.step(Instruction::with1(Code::Fild_m64int, at(0)));
    run.step(Instruction::with1(Code::Fistp_m64int, at(32)));
    run.step(Instruction::with2(Code::Movq_xmm_xmmm64, XMM1, at(32)));
    assert_eq!(run.double(1), (-0.7, Some(1.0)));
}

#[test]
fn gathers_and_masked_moves_take_shadows_along() {
    let mut run = Run::new(8.25);
    run.step(Instruction::with2(Code::Movq_xmmm64_xmm, at(64), XMM0));
    run.bits(1, 0, 0);
    run.bits(1, 1, 8);
    run.bits(2, 0, 0);
    run.bits(2, 1, u64::MAX);
    let vector_indexed = MemoryOperand::new(RBX, XMM1, 8, 0, 1, false, iced_x86::Register::None);
    run.step(Instruction::with3(Code::VEX_Vgatherqpd_xmm_vm64x_xmm, XMM3, vector_indexed, XMM2));
    let upper = state::vector(3) + 8;
    assert_eq!(run.float(upper, Format::F64), (8.25, Some(1.0)));
    run.bits(2, 0, 0);
    run.bits(2, 1, u64::MAX);
    run.step(Instruction::with3(Code::VEX_Vmaskmovpd_m128_xmm_xmm, at(128), XMM2, XMM3));
    run.step(Instruction::with2(Code::Movq_xmm_xmmm64, XMM4, at(136)));
    assert_eq!(run.double(4), (8.25, Some(1.0)));
}
