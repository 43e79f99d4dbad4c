//! Rows of general registers: floats travel through them, and integer instructions take floats apart.

use super::rows;
use crate::x86::table::General::*;
use crate::x86::table::Row::{self, *};
use iced_x86::Mnemonic;

#[rustfmt::skip] // Families stay together.
rows! {
    Mov Movnti Movdiri => General(Move);
    Movzx Movsx Movsxd => General(Extend);
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
    And Or Xor Andn Btr Bts Btc Bzhi Bextr => General(Bits);
    Add Sub Shl Sal Shr Sar Rol Ror Shlx Shrx Sarx Rorx => General(Bits);
    Not => General(Not);
    Movsb Movsw Movsq => General(MoveString);
    Stosb Stosw Stosd Stosq => General(StoreString);
    Lodsb Lodsw Lodsd Lodsq => General(LoadString);
    Leave => General(Leave);
    Enter => General(Enter);
    Fxsave Fxsave64 Fnsave Fsave Xsave Xsave64 Xsavec Xsavec64 Xsaveopt Xsaveopt64 => State;
    Fxrstor Fxrstor64 Frstor Xrstor Xrstor64 => State;
    Movdir64b => Gap("MOVDIR64B");
}

/// The row of a string instruction whose name a vector instruction has too.
pub(super) fn string_row(mnemonic: Mnemonic) -> Row {
    match mnemonic {
        Mnemonic::Movsd => General(MoveString),
        _ => Integer,
    }
}
