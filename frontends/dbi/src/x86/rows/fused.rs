//! Rows of fused multiplications and additions: FMA3, FMA4, and the AVX-512 forms of the same names.

use crate::x86::table::Row::{self, Fused, FusedAlternating};
use crate::x86::table::Shape::*;
use iced_x86::Mnemonic;
use shadowgrind_core::format::Format::*;
use shadowgrind_core::ops::Op;

/// Operand numbers of a, b and c in a·b + c. The digits of a form say them, counted from one: the two that are multiplied, then
/// the one that is added.
const FORM_132: [u8; 3] = [0, 2, 1];
const FORM_213: [u8; 3] = [1, 0, 2];
const FORM_231: [u8; 3] = [1, 2, 0];
/// Of the form with four operands, which overwrites none of them.
const FOUR_OPERANDS: [u8; 3] = [1, 2, 3];

/// Makes `row`, which finds a mnemonic's row, from lines of the mnemonics of each form and what they have in common.
macro_rules! fused_rows {
    ($($m132:ident $m213:ident $m231:ident $four:ident => |$terms:ident| $row:expr;)+) => {
        pub(super) fn row(mnemonic: Mnemonic) -> Option<Row> {
            let form = match mnemonic {
                $(Mnemonic::$m132)|+ => FORM_132,
                $(Mnemonic::$m213)|+ => FORM_213,
                $(Mnemonic::$m231)|+ => FORM_231,
                $(Mnemonic::$four)|+ => FOUR_OPERANDS,
                _ => return None,
            };
            match mnemonic {
                $(Mnemonic::$m132 | Mnemonic::$m213 | Mnemonic::$m231 | Mnemonic::$four => {
                    let $terms = form;
                    Some($row)
                })+
                _ => None,
            }
        }
    };
}

#[rustfmt::skip] // One line per family member, aligned.
fused_rows! {
    Vfmadd132ss Vfmadd213ss Vfmadd231ss Vfmaddss => |terms| Fused(Op::Fmadd, terms, F32, Scalar);
    Vfmadd132sd Vfmadd213sd Vfmadd231sd Vfmaddsd => |terms| Fused(Op::Fmadd, terms, F64, Scalar);
    Vfmadd132ps Vfmadd213ps Vfmadd231ps Vfmaddps => |terms| Fused(Op::Fmadd, terms, F32, Packed);
    Vfmadd132pd Vfmadd213pd Vfmadd231pd Vfmaddpd => |terms| Fused(Op::Fmadd, terms, F64, Packed);
    Vfmsub132ss Vfmsub213ss Vfmsub231ss Vfmsubss => |terms| Fused(Op::Fmsub, terms, F32, Scalar);
    Vfmsub132sd Vfmsub213sd Vfmsub231sd Vfmsubsd => |terms| Fused(Op::Fmsub, terms, F64, Scalar);
    Vfmsub132ps Vfmsub213ps Vfmsub231ps Vfmsubps => |terms| Fused(Op::Fmsub, terms, F32, Packed);
    Vfmsub132pd Vfmsub213pd Vfmsub231pd Vfmsubpd => |terms| Fused(Op::Fmsub, terms, F64, Packed);
    Vfnmadd132ss Vfnmadd213ss Vfnmadd231ss Vfnmaddss => |terms| Fused(Op::Fnmadd, terms, F32, Scalar);
    Vfnmadd132sd Vfnmadd213sd Vfnmadd231sd Vfnmaddsd => |terms| Fused(Op::Fnmadd, terms, F64, Scalar);
    Vfnmadd132ps Vfnmadd213ps Vfnmadd231ps Vfnmaddps => |terms| Fused(Op::Fnmadd, terms, F32, Packed);
    Vfnmadd132pd Vfnmadd213pd Vfnmadd231pd Vfnmaddpd => |terms| Fused(Op::Fnmadd, terms, F64, Packed);
    Vfnmsub132ss Vfnmsub213ss Vfnmsub231ss Vfnmsubss => |terms| Fused(Op::Fnmsub, terms, F32, Scalar);
    Vfnmsub132sd Vfnmsub213sd Vfnmsub231sd Vfnmsubsd => |terms| Fused(Op::Fnmsub, terms, F64, Scalar);
    Vfnmsub132ps Vfnmsub213ps Vfnmsub231ps Vfnmsubps => |terms| Fused(Op::Fnmsub, terms, F32, Packed);
    Vfnmsub132pd Vfnmsub213pd Vfnmsub231pd Vfnmsubpd => |terms| Fused(Op::Fnmsub, terms, F64, Packed);
    Vfmaddsub132ps Vfmaddsub213ps Vfmaddsub231ps Vfmaddsubps => |terms| FusedAlternating { even: Op::Fmsub, odd: Op::Fmadd, terms, format: F32 };
    Vfmaddsub132pd Vfmaddsub213pd Vfmaddsub231pd Vfmaddsubpd => |terms| FusedAlternating { even: Op::Fmsub, odd: Op::Fmadd, terms, format: F64 };
    Vfmsubadd132ps Vfmsubadd213ps Vfmsubadd231ps Vfmsubaddps => |terms| FusedAlternating { even: Op::Fmadd, odd: Op::Fmsub, terms, format: F32 };
    Vfmsubadd132pd Vfmsubadd213pd Vfmsubadd231pd Vfmsubaddpd => |terms| FusedAlternating { even: Op::Fmadd, odd: Op::Fmsub, terms, format: F64 };
}
