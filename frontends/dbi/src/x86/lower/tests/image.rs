//! Saving and restoring registers: what the transfers say against what the processor did.

use super::cells::Origins;
use super::check::{address, float80, wrong};
use super::native::{Machine, Native, WINDOW};
use super::rng::Rng;
use crate::x86::lower::{ImageRun, Lowerer, Lowering, StateOp, Transfer};
use iced_x86::{Code, Instruction, MemoryOperand, Register};
use shadowgrind_core::shadow::Cells;

/// Components that programs ask for: all, and what ld.so saves around its resolver.
const REQUESTS: [u64; 4] = [0xe7, 0xee, 0x07, 0x02];

fn random_machine(native: &Native, rng: &mut Rng, requested: u64) -> Machine {
    let mut general = std::array::from_fn(|_| rng.next());
    general[0] = requested;
    general[2] = 0;
    general[3] = native.memory();
    let vectors = native.vectors(|vector| rng.fill(vector));
    let x87 = std::array::from_fn(|_| float80(rng));
    let top = rng.below(8) as u8;
    Machine { general, flags: 0x202, vectors, masks: [0; 8], x87, top, in_use: 0xff, memory: vec![0; WINDOW] }
}

/// Runs `code` on `before` and compares with its transfers.
fn check(native: &mut Native, code: Code, before: &Machine) -> Machine {
    let memory = MemoryOperand::with_base_displ(Register::RBX, 64);
    let insn = Instruction::with1(code, memory).expect("takes memory");
    let after = native.run(&insn, before).expect("encodes");
    let Lowering::State(op) = Lowerer::new(true).lower(&insn, before.top, None) else {
        panic!("{code:?} is not a state op")
    };
    let image = if op.restores { &before.memory } else { &after.memory };
    let run = ImageRun {
        address: address(&op.image, before),
        top: before.top,
        requested: before.general[0],
        enabled: native.components(),
        header: &image[64..64 + StateOp::HEADER],
    };
    let mut origins = Origins::new(before, &after, native.memory());
    for transfer in op.transfers(&run) {
        match transfer {
            Transfer::Copy(from, to, bytes) => origins.copy(from, to, bytes.into()),
            Transfer::Clear(at, bytes) => origins.clear(at, bytes.into()),
        }
    }
    assert_eq!(wrong(&origins), [""; 0], "{code:?}");
    after
}

/// Saves random registers, then restores them over others.
fn there_and_back(save: Code, restore: Code) {
    let (mut native, mut rng) = (Native::new(), Rng(7));
    for requested in REQUESTS {
        for _ in 0..4 {
            let before = random_machine(&native, &mut rng, requested);
            let saved = check(&mut native, save, &before);
            let mut other = random_machine(&native, &mut rng, requested);
            other.memory = saved.memory;
            check(&mut native, restore, &other);
        }
    }
}

#[test]
fn floats_of_fnsave() {
    there_and_back(Code::Fnsave_m108byte, Code::Frstor_m108byte);
    there_and_back(Code::Fnsave_m94byte, Code::Frstor_m94byte);
}

#[test]
fn fixed_image_of_fxsave() {
    there_and_back(Code::Fxsave64_m512byte, Code::Fxrstor64_m512byte);
}

#[test]
fn components_of_xsave() {
    there_and_back(Code::Xsave64_mem, Code::Xrstor64_mem);
}

#[test]
fn components_of_xsavec() {
    if !std::arch::is_x86_feature_detected!("xsavec") {
        return;
    }
    there_and_back(Code::Xsavec64_mem, Code::Xrstor64_mem);
}

#[test]
fn a_component_that_was_not_saved_is_restored_as_zero() {
    let (mut native, mut rng) = (Native::new(), Rng(9));
    let before = random_machine(&native, &mut rng, 0x03);
    let saved = check(&mut native, Code::Xsave64_mem, &before);
    let mut other = random_machine(&native, &mut rng, 0x07);
    other.memory = saved.memory;
    check(&mut native, Code::Xrstor64_mem, &other);
}
