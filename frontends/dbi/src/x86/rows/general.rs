//! Rows of general registers: floats travel through them, and integer instructions take floats apart.

use super::rows;
use crate::x86::table::Direction::*;
use crate::x86::table::General::*;
use crate::x86::table::Image::*;
use crate::x86::table::Row::{self, Digits, Flags, Gap, Hint, Integer, Mxcsr, Nothing, State};
use crate::x86::table::{Fill, Integral};
use iced_x86::{Instruction, Mnemonic, Register};

#[rustfmt::skip] // Families stay together.
rows! {
    Mov Movnti Movdiri => Row::General(Move);
    Movzx => Row::General(Extend(Fill::Zeros));
    Movsx Movsxd => Row::General(Extend(Fill::Sign));
    Cwde => Row::General(ExtendInPlace(2));
    Cdqe => Row::General(ExtendInPlace(4));
    Cmova Cmovae Cmovb Cmovbe Cmove Cmovg Cmovge Cmovl Cmovle Cmovne Cmovno Cmovnp Cmovns Cmovo Cmovp Cmovs
        => Row::General(ConditionalMove);
    Push Pushf Pushfq => Row::General(Push);
    Pop => Row::General(Pop);
    Xchg => Row::General(Exchange);
    Cmpxchg => Row::General(CompareExchange);
    Cmpxchg8b Cmpxchg16b => Row::General(CompareExchangeWide);
    Xadd => Row::General(ExchangeAdd);
    Bswap => Row::General(ByteSwap);
    Movbe => Row::General(MoveReversed);
    And => Row::General(Bits(Integral::And));
    Andn => Row::General(Bits(Integral::AndNot));
    Or => Row::General(Bits(Integral::Or));
    Xor => Row::General(Bits(Integral::Xor));
    Add => Row::General(Bits(Integral::Add));
    Adc => Row::General(Bits(Integral::AddCarry));
    Sub => Row::General(Bits(Integral::Subtract));
    Sbb => Row::General(Bits(Integral::SubtractBorrow));
    Inc => Row::General(Bits(Integral::Increment));
    Dec => Row::General(Bits(Integral::Decrement));
    Shl Sal Shlx => Row::General(Bits(Integral::ShiftLeft));
    Shr Shrx => Row::General(Bits(Integral::ShiftRight));
    Sar Sarx => Row::General(Bits(Integral::ShiftRightSigned));
    Rol => Row::General(Bits(Integral::RotateLeft));
    Ror Rorx => Row::General(Bits(Integral::RotateRight));
    Shld => Row::General(Bits(Integral::ShiftLeftDouble));
    Shrd => Row::General(Bits(Integral::ShiftRightDouble));
    Bzhi => Row::General(Bits(Integral::Low));
    Bextr => Row::General(Bits(Integral::Field));
    Pdep => Row::General(Bits(Integral::Deposit));
    Pext => Row::General(Bits(Integral::Extract));
    Btr Bts Btc => Row::General(Bits(Integral::Bit));
    Not Neg => Row::General(Not);
    Movsb Movsw Movsq => Row::General(MoveString);
    Stosb Stosw Stosd Stosq => Row::General(StoreString);
    Lodsb Lodsw Lodsd Lodsq => Row::General(LoadString);
    Leave => Row::General(Leave);
    Enter => Row::General(Enter);
    Cmp => Flags(Integral::Subtract);
    Test => Flags(Integral::And);
    Fnsave Fsave => State(Floats, Save);
    Frstor => State(Floats, Restore);
    Fxsave Fxsave64 => State(Fixed, Save);
    Fxrstor Fxrstor64 => State(Fixed, Restore);
    Xsave Xsave64 Xsavec Xsavec64 Xsaveopt Xsaveopt64 => State(Components, Save);
    Xrstor Xrstor64 => State(Components, Restore);
    Stmxcsr Vstmxcsr => Mxcsr(Save);
    Ldmxcsr Vldmxcsr => Mxcsr(Restore);
    Mul Mulx Div Idiv Adcx Adox Rcl Rcr Crc32 Blsi Blsr Blsmsk => Digits;
    Nop Reservednop Prefetch Prefetchnta Prefetcht0 Prefetcht1 Prefetcht2 Prefetchw => Hint;
    Endbr32 Endbr64 => Nothing;
    Movdir64b => Gap("MOVDIR64B");
}

/// The row of an address that is computed and not used as one: copies, sums of exponents and of signs that were taken
/// from two numbers are computed so, shifts to the left of what was cut out of one, its product with 3, 5 or 9, and sums
/// with a multiple.
pub(super) fn address_row(insn: &Instruction) -> Row {
    let (result, base, index) = (insn.op0_register(), insn.memory_base(), insn.memory_index());
    let is_general = |r: Register| r.is_gpr() && r.full_register() != Register::RSP;
    let parts = match base {
        Register::None => is_general(index),
        _ => is_general(base) && (is_general(index) || index == Register::None),
    };
    if parts && (result.is_gpr32() || result.is_gpr64()) { Row::General(Address) } else { Integer }
}

/// The row of a product: what is wider than its operands is no float.
pub(super) fn product_row(insn: &Instruction) -> Row {
    if insn.op_count() > 1 { Row::General(Bits(Integral::Multiply)) } else { Digits }
}

/// The row of a string instruction whose name a vector instruction has too.
pub(super) fn string_row(mnemonic: Mnemonic) -> Row {
    match mnemonic {
        Mnemonic::Movsd => Row::General(MoveString),
        _ => Integer,
    }
}
