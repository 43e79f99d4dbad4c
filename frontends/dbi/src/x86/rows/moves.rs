//! Rows of moves: what rearranges bytes without looking at them.
//!
//! A control operand selects; bit n of a row's control is operand n, [`XMM0`] the implicit operand of legacy blends.

use super::rows;
use crate::x86::table::Moved::*;
use crate::x86::table::Row::*;
use crate::x86::table::XMM0;
use iced_x86::{Code, Instruction, Mnemonic, OpKind};
use shadowgrind_core::format::Format::*;

/// No operand selects, or only an immediate.
const FIXED: u8 = 0;

#[rustfmt::skip] // Families stay together.
rows! {
    Movaps Movapd Movups Movupd Movdqa Movdqu Lddqu Movntps Movntpd Movntdq Movntdqa
    Vmovaps Vmovapd Vmovups Vmovupd Vmovdqa Vmovdqu Vlddqu Vmovntps Vmovntpd Vmovntdq Vmovntdqa
    Vmovdqa32 Vmovdqa64 Vmovdqu8 Vmovdqu16 Vmovdqu32 Vmovdqu64 => Move(Whole, FIXED);
    Movd Vmovd => Move(Lowest(F32), FIXED);
    Movq Vmovq => Move(Lowest(F64), FIXED);
    Movss Vmovss => Move(Lane(F32), FIXED);
    Movsd Vmovsd => Move(Lane(F64), FIXED);
    Movq2dq Movdq2q Movntq Movntsd Movntss => Move(Rearranged, FIXED);
    Movlps Movhps Movlpd Movhpd Movlhps Movhlps Vmovlps Vmovhps Vmovlpd Vmovhpd Vmovlhps Vmovhlps
    Movddup Movshdup Movsldup Vmovddup Vmovshdup Vmovsldup => Move(Rearranged, FIXED);

    Shufps Shufpd Vshufps Vshufpd Pshufd Pshufhw Pshuflw Pshufw Vpshufd Vpshufhw Vpshuflw
    Unpcklps Unpckhps Unpcklpd Unpckhpd Vunpcklps Vunpckhps Vunpcklpd Vunpckhpd
    Punpcklbw Punpcklwd Punpckldq Punpcklqdq Punpckhbw Punpckhwd Punpckhdq Punpckhqdq
    Vpunpcklbw Vpunpcklwd Vpunpckldq Vpunpcklqdq Vpunpckhbw Vpunpckhwd Vpunpckhdq Vpunpckhqdq
    Palignr Vpalignr Pslldq Psrldq Vpslldq Vpsrldq Valignd Valignq => Move(Rearranged, FIXED);
    Insertps Vinsertps => Move(Rearranged, FIXED);
    Extractps Vextractps Pinsrb Pinsrw Pinsrd Pinsrq Vpinsrb Vpinsrw Vpinsrd Vpinsrq
    Pextrb Pextrw Pextrd Pextrq Vpextrb Vpextrw Vpextrd Vpextrq => Move(Element, FIXED);
    Blendps Vblendps Vpblendd => Move(Blend(F32), FIXED);
    Blendpd Vblendpd => Move(Blend(F64), FIXED);
    Pblendw Vpblendw => Move(Blend(F16), FIXED);
    // Extension puts floats into wider elements and leaves them what they are; signs of narrower ones are no digits of any.
    Pmovsxdq Vpmovsxdq
    Pmovzxbw Pmovzxbd Pmovzxbq Pmovzxwd Pmovzxwq Pmovzxdq
    Vpmovzxbw Vpmovzxbd Vpmovzxbq Vpmovzxwd Vpmovzxwq Vpmovzxdq
    Vpmovdb Vpmovdw Vpmovqb Vpmovqw Vpmovqd Vpmovwb => Move(Rearranged, FIXED);

    Vbroadcastss Vbroadcastsd Vbroadcastf128 Vbroadcasti128 Vpbroadcastb Vpbroadcastw Vpbroadcastd Vpbroadcastq
    Vbroadcastf32x2 Vbroadcastf32x4 Vbroadcastf32x8 Vbroadcastf64x2 Vbroadcastf64x4
    Vbroadcasti32x2 Vbroadcasti32x4 Vbroadcasti32x8 Vbroadcasti64x2 Vbroadcasti64x4
    Vinsertf128 Vinserti128 Vextractf128 Vextracti128
    Vinsertf32x4 Vinsertf32x8 Vinsertf64x2 Vinsertf64x4 Vinserti32x4 Vinserti32x8 Vinserti64x2 Vinserti64x4
    Vextractf32x4 Vextractf32x8 Vextractf64x2 Vextractf64x4
    Vextracti32x4 Vextracti32x8 Vextracti64x2 Vextracti64x4
    Vshuff32x4 Vshuff64x2 Vshufi32x4 Vshufi64x2 Vpermpd Vpermq => Move(Rearranged, FIXED);
    Vperm2f128 Vperm2i128 => Move(Halves, FIXED);

    Pshufb => Move(Rearranged, 1 << 1);
    Vpshufb Vpermilps Vpermilpd => Move(Rearranged, 1 << 2);
    Vpermd Vpermps Vpermw Vpermb => Move(Rearranged, 1 << 1);
    Vpermt2b Vpermt2w Vpermt2d Vpermt2q Vpermt2ps Vpermt2pd => Move(Rearranged, 1 << 1);
    Vpermi2b Vpermi2w Vpermi2d Vpermi2q Vpermi2ps Vpermi2pd => Move(Rearranged, 1 << 0);
    Vcompressps Vcompresspd Vpcompressb Vpcompressw Vpcompressd Vpcompressq
    Vexpandps Vexpandpd Vpexpandb Vpexpandw Vpexpandd Vpexpandq => Move(Rearranged, FIXED);
    Vblendmps Vblendmpd Vpblendmb Vpblendmw Vpblendmd Vpblendmq => Move(Chosen, FIXED);
    Blendvps => Move(Select(F32), XMM0);
    Blendvpd => Move(Select(F64), XMM0);
    Pblendvb => Move(SelectBytes, XMM0);
    Vblendvps => Move(Select(F32), 1 << 3);
    Vblendvpd => Move(Select(F64), 1 << 3);
    Vpblendvb => Move(SelectBytes, 1 << 3);
    Vmaskmovps Vpmaskmovd => Move(Masked(F32), 1 << 1);
    Vmaskmovpd Vpmaskmovq => Move(Masked(F64), 1 << 1);
    Maskmovq Maskmovdqu Vmaskmovdqu => Move(Rearranged, 1 << 2);

    Vgatherdps Vgatherqps Vpgatherdd Vpgatherqd => Gather(F32);
    Vgatherdpd Vgatherqpd Vpgatherdq Vpgatherqq => Gather(F64);
    Vscatterdps Vscatterqps Vpscatterdd Vpscatterqd => Scatter(F32);
    Vscatterdpd Vscatterqpd Vpscatterdq Vpscatterqq => Scatter(F64);
    Vzeroupper => ZeroUpper;
    Vzeroall => ZeroAll;
}

/// The name that a move of 16 bytes has in EVEX, where that says its lanes and VEX's does not.
#[rustfmt::skip] // Aligned.
pub(crate) fn lane_name(mnemonic: Mnemonic) -> Option<Mnemonic> {
    use Mnemonic::*;
    Some(match mnemonic {
        Vinsertf128    => Vinsertf32x4,
        Vinserti128    => Vinserti32x4,
        Vextractf128   => Vextractf32x4,
        Vextracti128   => Vextracti32x4,
        Vbroadcastf128 => Vbroadcastf32x4,
        Vbroadcasti128 => Vbroadcasti32x4,
        _ => return None,
    })
}

/// The code that does to shadows what `code` does to what is beside them: beside a copy of a sign is none.
pub(crate) fn beside(code: Code) -> Code {
    use Code::*;
    match code {
        Pmovsxdq_xmm_xmmm64 => Pmovzxdq_xmm_xmmm64,
        VEX_Vpmovsxdq_xmm_xmmm64 => VEX_Vpmovzxdq_xmm_xmmm64,
        VEX_Vpmovsxdq_ymm_xmmm128 => VEX_Vpmovzxdq_ymm_xmmm128,
        EVEX_Vpmovsxdq_xmm_k1z_xmmm64 => EVEX_Vpmovzxdq_xmm_k1z_xmmm64,
        EVEX_Vpmovsxdq_ymm_k1z_xmmm128 => EVEX_Vpmovzxdq_ymm_k1z_xmmm128,
        EVEX_Vpmovsxdq_zmm_k1z_ymmm256 => EVEX_Vpmovzxdq_zmm_k1z_ymmm256,
        _ => code,
    }
}

/// Ways in which an immediate says where halves of doubles go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halves {
    /// One half is put into another register, and some are cleared.
    Inserted,
    /// Each half of the result is chosen.
    Chosen,
}

/// The way in which `insn` moves halves of doubles by its immediate, if it does.
pub(crate) fn moves_halves(insn: &Instruction) -> Option<Halves> {
    use Mnemonic::{Insertps, Pshufd, Shufps, Vinsertps, Vpermilps, Vpshufd, Vshufps};
    match insn.mnemonic() {
        Insertps | Vinsertps => Some(Halves::Inserted),
        Shufps | Vshufps | Pshufd | Vpshufd => Some(Halves::Chosen),
        Vpermilps if insn.op2_kind() == OpKind::Immediate8 => Some(Halves::Chosen),
        _ => None,
    }
}

/// Tells whether `insn`, a rearrangement, may move parts of a double away from each other, whatever an immediate says.
pub(crate) fn moves_parts(insn: &Instruction) -> bool {
    use Mnemonic::*;
    /// Bytes of a double, and halves of it.
    const DOUBLE: [u8; 2] = [8, 2];
    let divides = |by: u8| !insn.immediate8().is_multiple_of(by);
    match insn.mnemonic() {
        Palignr | Vpalignr | Pslldq | Psrldq | Vpslldq | Vpsrldq => divides(DOUBLE[0]),
        Valignd => divides(DOUBLE[1]),
        Pshufb | Vpshufb | Pshufhw | Pshuflw | Vpshufhw | Vpshuflw | Vpermilps | Movshdup | Movsldup
        | Vmovshdup | Vmovsldup | Unpcklps | Unpckhps | Vunpcklps | Vunpckhps => true,
        Punpcklbw | Punpcklwd | Punpckldq | Punpckhbw | Punpckhwd | Punpckhdq | Vpunpcklbw | Vpunpcklwd
        | Vpunpckldq | Vpunpckhbw | Vpunpckhwd | Vpunpckhdq => true,
        Vpermd | Vpermps | Vpermw | Vpermb | Vpermt2b | Vpermt2w | Vpermt2d | Vpermt2ps | Vpermi2b
        | Vpermi2w | Vpermi2d | Vpermi2ps => true,
        _ => false,
    }
}

/// The bytes that `insn` inserts into a vector register, if these are less than eight: the first one's number, and how many.
pub(crate) fn inserted(insn: &Instruction) -> Option<(u8, u8)> {
    use Mnemonic::{Pinsrb, Pinsrd, Pinsrw, Vpinsrb, Vpinsrd, Vpinsrw};
    let bytes = match insn.mnemonic() {
        Pinsrb | Vpinsrb => 1,
        Pinsrw | Vpinsrw => 2,
        Pinsrd | Vpinsrd => 4,
        _ => return None,
    };
    let is_vector = insn.op0_register().is_xmm();
    is_vector.then(|| ((insn.immediate8() & (16 / bytes - 1)) * bytes, bytes))
}
