//! Rows of general registers: floats travel through them, and integer instructions take floats apart.

use super::rows;
use crate::x86::table::General::*;
use crate::x86::table::Integral;
use crate::x86::table::Row::{self, *};
use iced_x86::{Instruction, Mnemonic, Register};

#[rustfmt::skip] // Families stay together.
rows! {
    Mov Movnti Movdiri => General(Move);
    Movzx Movsx Movsxd => General(Extend);
    Cwde => General(ExtendHalf);
    Cmova Cmovae Cmovb Cmovbe Cmove Cmovg Cmovge Cmovl Cmovle Cmovne Cmovno Cmovnp Cmovns Cmovo Cmovp Cmovs
        => General(ConditionalMove);
    Push => General(Push);
    Pop => General(Pop);
    Xchg => General(Exchange);
    Cmpxchg => General(CompareExchange);
    Cmpxchg8b Cmpxchg16b => General(CompareExchangeWide);
    Xadd => General(ExchangeAdd);
    Bswap => General(ByteSwap);
    Movbe => General(MoveReversed);
    And => General(Bits(Integral::And));
    Andn => General(Bits(Integral::AndNot));
    Or => General(Bits(Integral::Or));
    Xor => General(Bits(Integral::Xor));
    Add => General(Bits(Integral::Add));
    Adc => General(Bits(Integral::AddCarry));
    Sub => General(Bits(Integral::Subtract));
    Sbb => General(Bits(Integral::SubtractBorrow));
    Inc => General(Bits(Integral::Increment));
    Dec => General(Bits(Integral::Decrement));
    Shl Sal Shlx => General(Bits(Integral::ShiftLeft));
    Shr Shrx => General(Bits(Integral::ShiftRight));
    Sar Sarx => General(Bits(Integral::ShiftRightSigned));
    Rol => General(Bits(Integral::RotateLeft));
    Ror Rorx => General(Bits(Integral::RotateRight));
    Shld => General(Bits(Integral::ShiftLeftDouble));
    Shrd => General(Bits(Integral::ShiftRightDouble));
    Bzhi => General(Bits(Integral::Low));
    Bextr => General(Bits(Integral::Field));
    Pdep => General(Bits(Integral::Deposit));
    Pext => General(Bits(Integral::Extract));
    Btr Bts Btc => General(Bits(Integral::Bit));
    Not Neg => General(Not);
    Movsb Movsw Movsq => General(MoveString);
    Stosb Stosw Stosd Stosq => General(StoreString);
    Lodsb Lodsw Lodsd Lodsq => General(LoadString);
    Leave => General(Leave);
    Enter => General(Enter);
    Fxsave Fxsave64 Fnsave Fsave Xsave Xsave64 Xsavec Xsavec64 Xsaveopt Xsaveopt64 => State;
    Fxrstor Fxrstor64 Frstor Xrstor Xrstor64 => State;
    Mul Mulx Div Idiv Adcx Adox Rcl Rcr Crc32 Blsi Blsr Blsmsk => Digits;
    Movdir64b => Gap("MOVDIR64B");
}

/// The row of an address that is computed and not used as one: copies, sums of exponents and of signs that were taken
/// from two numbers are computed so, and shifts to the left of what was cut out of one.
pub(super) fn address_row(insn: &Instruction) -> Row {
    let (result, base, index) = (insn.op0_register(), insn.memory_base(), insn.memory_index());
    let is_general = |r: Register| r.is_gpr() && r.full_register() != Register::RSP;
    let sum = is_general(index) && insn.memory_index_scale() == 1;
    let parts = match base {
        Register::None => is_general(index),
        _ => is_general(base) && (sum || index == Register::None),
    };
    if parts && (result.is_gpr32() || result.is_gpr64()) { General(Address) } else { Integer }
}

/// The row of a product: what is wider than its operands is no float.
pub(super) fn product_row(insn: &Instruction) -> Row {
    if insn.op_count() > 1 { General(Bits(Integral::Multiply)) } else { Digits }
}

/// The row of a string instruction whose name a vector instruction has too.
pub(super) fn string_row(mnemonic: Mnemonic) -> Row {
    match mnemonic {
        Mnemonic::Movsd => General(MoveString),
        _ => Integer,
    }
}
