//! Compare-and-exchange of floats: it succeeds only if value *and* shadow are the expected ones.
//!
//! The program has read the value at one moment and its shadow at another, and may have computed from a shadow that is no
//! longer there. Then the exchange fails, as it may whenever another thread was faster, and the program sees the value
//! with the shadow it has by now. Does not know how an exchange that succeeds is replayed.

use super::shadowed::Shadowed;
use crate::context::{Context, reg};
use crate::engine::guest;
use crate::engine::planes;
use crate::registers::RegisterShadows;
use crate::x86::rows;
use crate::x86::state;
use crate::x86::table::{General, Integral, Row};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind, Register, RflagsBits};
use shadowgrind_core::format::Format;

/// Instructions that are looked at for the question whether the exchange has succeeded, and their bytes at most.
const LOOKED_AT: usize = 8;
const WINDOW: usize = 15 * LOOKED_AT;

/// Refuses a compare-and-exchange that is about to run, if its shadow is not there yet; its address is in the record. Returns
/// where the program goes on then; nothing if it is not refused.
pub(super) fn refuse(
    shadowed: &mut Shadowed,
    context: &mut Context,
    insn: &Instruction,
    catches_up: bool,
) -> Option<u64> {
    /// A program that insists has lost the shadow on its way: it is let through.
    const PATIENCE: u32 = 16;
    let (expected, bytes) = expected(insn).filter(|_| shadowed.out_of_line.record.len() >= 8)?;
    let address = u64::from_le_bytes(shadowed.out_of_line.record[..8].try_into().expect("eight bytes"));
    let (mut value, mut mirror) = ([0; 16], [0; 16]);
    let all = expected.len() * bytes;
    if guest::read_some(address, &mut value[..all]) < all {
        return None;
    }
    planes::read(address, &mut mirror[..all]);
    let parts = || expected.iter().zip((0..all).step_by(bytes).map(|at| at..at + bytes));
    let equal = parts().all(|(&n, part)| value[part] == context.regs[n].to_le_bytes()[..bytes]);
    let mut registers = shadowed.registers(context);
    let same = parts().all(|(&n, part)| registers.bytes(state::general(n), bytes) == &mirror[part]);
    if !equal || same || shadowed.out_of_line.refused == PATIENCE {
        shadowed.out_of_line.refused = 0;
        return None;
    }
    let question = question(insn, bytes);
    if let Question::Unasked = question {
        if catches_up && is_single(insn) {
            catch_up(&mut registers, insn.op1_register(), bytes, &mirror);
        }
        return None;
    }
    for (&n, part) in parts() {
        let cell = registers.bytes(state::general(n), 8);
        cell.fill(0);
        cell[..bytes].copy_from_slice(&mirror[part]);
    }
    shadowed.out_of_line.refused += 1;
    Some(deny(shadowed, context, insn, &question))
}

/// The general registers that have the value a compare-and-exchange expects, from its low bytes on, and how many bytes of
/// it each has.
fn expected(insn: &Instruction) -> Option<(&'static [usize], usize)> {
    match (rows::row(insn), insn.memory_size().size()) {
        (Row::General(General::CompareExchange), bytes @ (4 | 8)) => Some((&[reg::RAX], bytes)),
        (Row::General(General::CompareExchangeWide), both) => Some((&[reg::RAX, reg::RDX], both / 2)),
        _ => None,
    }
}

/// Tells whether what is compared and exchanged is one register.
fn is_single(insn: &Instruction) -> bool {
    rows::row(insn) == Row::General(General::CompareExchange)
}

/// Question by which a program finds out whether its exchange has succeeded.
#[derive(Debug, PartialEq, Eq)]
enum Question {
    /// By the zero flag.
    Flag,
    /// By comparing the value it got with the one it expected, up to `end`, with these effects. A failure that gives the
    /// very value expected would be taken for success: the comparison itself has to come out unequal.
    Comparison { effects: Vec<Effect>, end: u64 },
    /// Not at all, or not so that it is seen.
    Unasked,
}

/// Effect of an instruction on a general register.
#[derive(Debug, PartialEq, Eq)]
enum Effect {
    /// Copies one register to another.
    Move(Register, Register),
    /// Sets a register to a number.
    Constant(Register, u64),
    /// The bits that differ from another register's are left of it.
    Xor(Register, Register),
    /// The bits of another register are added to it.
    Or(Register, Register),
}

fn question(insn: &Instruction, bytes: usize) -> Question {
    let pc = insn.next_ip();
    let mut code = [0; WINDOW];
    let known = guest::read_some(pc, &mut code);
    let asked = asked(&code[..known], pc, is_single(insn).then_some(bytes));
    let both = (!is_single(insn) && bytes == 8 && asked == Question::Unasked)
        .then(|| asked_of_both(&code[..known], pc));
    both.flatten().unwrap_or(asked)
}

/// A comparison of two words at once, as libatomic has it: what differs in one of them or in the other.
fn asked_of_both(code: &[u8], pc: u64) -> Option<Question> {
    // Registers with what was found, and those with what differs.
    let (mut got, mut different) = (1 << reg::RAX | 1 << reg::RDX, 0_u16);
    let (mut effects, mut is_asked) = (Vec::new(), false);
    for insn in Decoder::with_ip(64, code, pc, DecoderOptions::NONE).into_iter().take(LOOKED_AT) {
        if insn.is_invalid() || insn.rflags_read() & RflagsBits::ZF != 0 {
            let end = insn.ip();
            return (is_asked && !insn.is_invalid()).then_some(Question::Comparison { effects, end });
        }
        let (to, from) = (insn.op0_register(), insn.op1_register());
        if !to.is_gpr() || to.size() < 4 {
            return None;
        }
        let wide = from.is_gpr() && to.size() == 8;
        match rows::row(&insn) {
            Row::General(General::Move) if insn.op1_kind() == OpKind::Immediate32 => {
                (got, different) = (got & !bit(to), different & !bit(to));
                effects.push(Effect::Constant(to, insn.immediate32().into()));
            }
            Row::General(General::Move) if wide && different & bit(from) == 0 => {
                got = followed(got, to, from);
                different &= !bit(to);
                effects.push(Effect::Move(to, from));
            }
            Row::General(General::Bits(Integral::Xor))
                if wide && (got & bit(to) == 0) != (got & bit(from) == 0) =>
            {
                (got, different) = (got & !bit(to), different | bit(to));
                effects.push(Effect::Xor(to, from));
            }
            Row::General(General::Bits(Integral::Or))
                if wide && to != from && different & bit(to) != 0 && different & bit(from) != 0 =>
            {
                is_asked = true;
                effects.push(Effect::Or(to, from));
            }
            _ => return None,
        }
    }
    None
}

/// The question that `code` at `pc` asks; it may be a comparison if the value is in rax, `single` bytes of it.
fn asked(code: &[u8], pc: u64, single: Option<usize>) -> Question {
    let mut effects = Vec::new();
    // Registers that have the value that was found in memory; none once something else has been done than moving it.
    let mut got = single.map_or(0_u16, |_| 1 << reg::RAX);
    let mut code = Decoder::with_ip(64, code, pc, DecoderOptions::NONE).into_iter().take(LOOKED_AT);
    while let Some(insn) = code.next().filter(|insn| !insn.is_invalid()) {
        if insn.rflags_read() & RflagsBits::ZF != 0 {
            return Question::Flag;
        }
        if compares(&insn, got, single)
            && code.next().is_some_and(|next| next.rflags_read() == RflagsBits::ZF)
        {
            return Question::Comparison { effects, end: insn.next_ip() };
        }
        if insn.rflags_modified() & RflagsBits::ZF != 0 || insn.flow_control() != FlowControl::Next {
            break;
        }
        match moved(&insn).filter(|_| got != 0) {
            Some((to, from)) => {
                got = followed(got, to, from);
                effects.push(Effect::Move(to, from));
            }
            None => got = 0,
        }
    }
    Question::Unasked
}

/// The bit of a general register, in sets of them.
fn bit(register: Register) -> u16 {
    1 << register.full_register().number()
}

/// Registers that have a value which those of `got` had before `from` was moved to `to`.
fn followed(got: u16, to: Register, from: Register) -> u16 {
    if got & bit(from) == 0 { got & !bit(to) } else { got | bit(to) }
}

/// A move from one general register to another, of 4 or 8 bytes.
fn moved(insn: &Instruction) -> Option<(Register, Register)> {
    let (to, from) = (insn.op0_register(), insn.op1_register());
    let moves =
        rows::row(insn) == Row::General(General::Move) && to.is_gpr() && from.is_gpr() && to.size() >= 4;
    moves.then_some((to, from))
}

/// Tells whether one side is the value that was found, of `bytes` bytes, and the other side is not.
fn compares(insn: &Instruction, got: u16, bytes: Option<usize>) -> bool {
    let whole = |n| match insn.op_kind(n) {
        OpKind::Memory => Some(insn.memory_size().size()) == bytes,
        OpKind::Register => Some(insn.op_register(n).size()) == bytes,
        _ => false,
    };
    let has = |n| insn.op_kind(n) == OpKind::Register && got & bit(insn.op_register(n)) != 0;
    rows::row(insn) == Row::Flags(Integral::Subtract) && whole(0) && whole(1) && has(0) != has(1)
}

/// Has the exchange fail for who asks `question`; where the program goes on.
fn deny(shadowed: &mut Shadowed, context: &mut Context, insn: &Instruction, question: &Question) -> u64 {
    /// Carry, parity, adjust, zero, sign and overflow: a comparison sets all of them.
    const ARITHMETIC: u64 = 0x8d5;
    const ZERO_FLAG: u64 = 1 << 6;
    match question {
        Question::Comparison { effects, end } => {
            // All at once: a signal in between would show the program two equal values.
            effects.iter().for_each(|effect| effect.take(shadowed, context));
            context.rflags &= !ARITHMETIC;
            *end
        }
        Question::Flag | Question::Unasked => {
            context.rflags &= !ZERO_FLAG;
            insn.next_ip()
        }
    }
}

impl Effect {
    /// Takes effect, on the values and on shadows, of which computed bits have none.
    fn take(&self, shadowed: &mut Shadowed, context: &mut Context) {
        let number = |register: Register| register.full_register().number();
        let (to, value) = match *self {
            Effect::Move(to, from) => return copy(shadowed, context, to, from),
            Effect::Constant(to, value) => (number(to), value),
            Effect::Xor(to, from) => (number(to), context.regs[number(to)] ^ context.regs[number(from)]),
            Effect::Or(to, from) => (number(to), context.regs[number(to)] | context.regs[number(from)]),
        };
        context.regs[to] = value;
        shadowed.registers(context).bytes(state::general(to), 8).fill(0);
    }
}

/// Effect of moving `from` to `to`, on values and on shadows: 4 bytes clear the upper half.
fn copy(shadowed: &mut Shadowed, context: &mut Context, to: Register, from: Register) {
    let bytes = to.size();
    let [to, from] = [to, from].map(|register| register.full_register().number());
    let mut value = [0; 8];
    value[..bytes].copy_from_slice(&context.regs[from].to_le_bytes()[..bytes]);
    context.regs[to] = u64::from_le_bytes(value);
    let mut registers = shadowed.registers(context);
    let mut cell = [0; 8];
    cell[..bytes].copy_from_slice(&registers.bytes(state::general(from), 8)[..bytes]);
    registers.bytes(state::general(to), 8).copy_from_slice(&cell);
}

/// The exchange puts `register` where the shadow is `mirror` by now, not the one that rax has: what has been added
/// meanwhile is added to the shadow that is put there, as a sum that had been read later would have it.
fn catch_up(registers: &mut RegisterShadows<'_>, register: Register, bytes: usize, mirror: &[u8; 16]) {
    let format = if bytes == 4 { Format::F32 } else { Format::F64 };
    let number = |cell: &[u8]| format.to_f64(format.bits_of(&cell[..bytes]));
    let expected = number(registers.bytes(state::general(reg::RAX), 8));
    let cell = registers.bytes(state::general(register.full_register().number()), 8);
    let sum = number(cell) + (number(mirror) - expected);
    cell[..bytes].copy_from_slice(&format.from_f64(sum).to_le_bytes()[..bytes]);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOV_RSI_RDX: &[u8] = &[0x48, 0x89, 0xd6];
    const MOV_RDX_RAX: &[u8] = &[0x48, 0x89, 0xc2];
    const MOV_RAX_RDX: &[u8] = &[0x48, 0x89, 0xd0];
    const MOV_RSI_RAX: &[u8] = &[0x48, 0x89, 0xc6];
    const STORE_RAX: &[u8] = &[0x48, 0x89, 0x06];
    const CMP_RAX_RSI: &[u8] = &[0x48, 0x39, 0xf0];
    const CMP_EAX_ESI: &[u8] = &[0x39, 0xf0];
    const CMP_RBX_RSI: &[u8] = &[0x48, 0x39, 0xf3];
    const JNE: &[u8] = &[0x75, 0];
    const JB: &[u8] = &[0x72, 0];
    const SETE: &[u8] = &[0x0f, 0x94, 0xc1];

    fn asked_by(code: &[&[u8]]) -> Question {
        asked(&code.concat(), 0x1000, Some(8))
    }

    #[test]
    fn a_branch_some_moves_later_asks_the_flag() {
        assert_eq!(asked_by(&[MOV_RDX_RAX, STORE_RAX, JNE]), Question::Flag);
        assert_eq!(asked(JNE, 0x1000, None), Question::Flag);
    }

    #[test]
    fn a_comparison_of_what_was_found_asks_by_the_value() {
        let effects =
            vec![Effect::Move(Register::RSI, Register::RDX), Effect::Move(Register::RDX, Register::RAX)];
        let question = asked_by(&[MOV_RSI_RDX, MOV_RDX_RAX, CMP_RAX_RSI, JNE]);
        assert_eq!(question, Question::Comparison { effects, end: 0x1009 });
        let question = asked_by(&[CMP_RAX_RSI, SETE]);
        assert_eq!(question, Question::Comparison { effects: vec![], end: 0x1003 });
    }

    #[test]
    fn what_differs_in_either_word_asks_of_both() {
        use Register::{RAX, RCX, RDI, RDX, RSI};
        const XOR_RSI_RAX: &[u8] = &[0x48, 0x31, 0xc6];
        const MOV_RCX_RDI: &[u8] = &[0x48, 0x89, 0xf9];
        const MOV_EDI_1: &[u8] = &[0xbf, 1, 0, 0, 0];
        const XOR_RCX_RDX: &[u8] = &[0x48, 0x31, 0xd1];
        const OR_RCX_RSI: &[u8] = &[0x48, 0x09, 0xf1];
        let code = [MOV_RCX_RDI, XOR_RSI_RAX, MOV_EDI_1, XOR_RCX_RDX, OR_RCX_RSI, JNE].concat();
        let effects = vec![
            Effect::Move(RCX, RDI),
            Effect::Xor(RSI, RAX),
            Effect::Constant(Register::EDI, 1),
            Effect::Xor(RCX, RDX),
            Effect::Or(RCX, RSI),
        ];
        assert_eq!(asked_of_both(&code, 0x1000), Some(Question::Comparison { effects, end: 0x1011 }));
        assert_eq!(asked_of_both(&[XOR_RSI_RAX, JNE].concat(), 0x1000), None);
        assert_eq!(asked_of_both(&[XOR_RSI_RAX, OR_RCX_RSI, JNE].concat(), 0x1000), None);
    }

    #[test]
    fn other_comparisons_ask_nothing() {
        let unasked: [&[&[u8]]; 6] = [
            &[CMP_RBX_RSI, SETE],
            &[CMP_EAX_ESI, SETE],
            &[MOV_RAX_RDX, CMP_RAX_RSI, SETE],
            &[MOV_RSI_RAX, CMP_RAX_RSI, SETE],
            &[STORE_RAX, CMP_RAX_RSI, SETE],
            &[CMP_RAX_RSI, JB],
        ];
        for code in unasked {
            assert_eq!(asked_by(code), Question::Unasked, "{code:x?}");
        }
        assert_eq!(asked(&[CMP_RAX_RSI, SETE].concat(), 0x1000, None), Question::Unasked);
    }
}
