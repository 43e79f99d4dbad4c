//! Rows of floating-point arithmetic, conversions and comparisons: SSE … SSE4.1, AVX, FMA3, FMA4, F16C, and the
//! AVX-512 forms of the same names.

use super::rows;
use crate::x86::table::Row::*;
use crate::x86::table::Shape::*;
use iced_x86::{Instruction, Mnemonic};
use shadowgrind_core::format::Format::*;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::ToInteger as How;

#[rustfmt::skip] // One line per family member, aligned.
rows! {
    Addss Vaddss => Arith(Op::Add, F32, Scalar);
    Addsd Vaddsd => Arith(Op::Add, F64, Scalar);
    Addps Vaddps => Arith(Op::Add, F32, Packed);
    Addpd Vaddpd => Arith(Op::Add, F64, Packed);
    Subss Vsubss => Arith(Op::Sub, F32, Scalar);
    Subsd Vsubsd => Arith(Op::Sub, F64, Scalar);
    Subps Vsubps => Arith(Op::Sub, F32, Packed);
    Subpd Vsubpd => Arith(Op::Sub, F64, Packed);
    Mulss Vmulss => Arith(Op::Mul, F32, Scalar);
    Mulsd Vmulsd => Arith(Op::Mul, F64, Scalar);
    Mulps Vmulps => Arith(Op::Mul, F32, Packed);
    Mulpd Vmulpd => Arith(Op::Mul, F64, Packed);
    Divss Vdivss => Arith(Op::Div, F32, Scalar);
    Divsd Vdivsd => Arith(Op::Div, F64, Scalar);
    Divps Vdivps => Arith(Op::Div, F32, Packed);
    Divpd Vdivpd => Arith(Op::Div, F64, Packed);
    Minss Vminss => Arith(Op::Min, F32, Scalar);
    Minsd Vminsd => Arith(Op::Min, F64, Scalar);
    Minps Vminps => Arith(Op::Min, F32, Packed);
    Minpd Vminpd => Arith(Op::Min, F64, Packed);
    Maxss Vmaxss => Arith(Op::Max, F32, Scalar);
    Maxsd Vmaxsd => Arith(Op::Max, F64, Scalar);
    Maxps Vmaxps => Arith(Op::Max, F32, Packed);
    Maxpd Vmaxpd => Arith(Op::Max, F64, Packed);
    Sqrtss Vsqrtss => Unary(Op::Sqrt, F32, Scalar);
    Sqrtsd Vsqrtsd => Unary(Op::Sqrt, F64, Scalar);
    Sqrtps Vsqrtps => Unary(Op::Sqrt, F32, Packed);
    Sqrtpd Vsqrtpd => Unary(Op::Sqrt, F64, Packed);
    Rcpss Vrcpss Vrcp14ss Vrcp28ss => Unary(Op::Rcp, F32, Scalar);
    Rcpps Vrcpps Vrcp14ps Vrcp28ps => Unary(Op::Rcp, F32, Packed);
    Vrcp14sd Vrcp28sd => Unary(Op::Rcp, F64, Scalar);
    Vrcp14pd Vrcp28pd => Unary(Op::Rcp, F64, Packed);
    Rsqrtss Vrsqrtss Vrsqrt14ss Vrsqrt28ss => Unary(Op::Rsqrt, F32, Scalar);
    Rsqrtps Vrsqrtps Vrsqrt14ps Vrsqrt28ps => Unary(Op::Rsqrt, F32, Packed);
    Vrsqrt14sd Vrsqrt28sd => Unary(Op::Rsqrt, F64, Scalar);
    Vrsqrt14pd Vrsqrt28pd => Unary(Op::Rsqrt, F64, Packed);
    Vgetexpss => Unary(Op::Logb, F32, Scalar);
    Vgetexpsd => Unary(Op::Logb, F64, Scalar);
    Vgetexpps => Unary(Op::Logb, F32, Packed);
    Vgetexppd => Unary(Op::Logb, F64, Packed);

    Vscalefss => Scale(F32, Scalar);
    Vscalefsd => Scale(F64, Scalar);
    Vscalefps => Scale(F32, Packed);
    Vscalefpd => Scale(F64, Packed);

    Vreducess => Reduce(F32, Scalar);
    Vreducesd => Reduce(F64, Scalar);
    Vreduceps => Reduce(F32, Packed);
    Vreducepd => Reduce(F64, Packed);
    Vrangess => Range(F32, Scalar);
    Vrangesd => Range(F64, Scalar);
    Vrangeps => Range(F32, Packed);
    Vrangepd => Range(F64, Packed);
    Vgetmantss => Significand(F32, Scalar);
    Vgetmantsd => Significand(F64, Scalar);
    Vgetmantps => Significand(F32, Packed);
    Vgetmantpd => Significand(F64, Packed);
    Vfixupimmss => FixUp(F32, Scalar);
    Vfixupimmsd => FixUp(F64, Scalar);
    Vfixupimmps => FixUp(F32, Packed);
    Vfixupimmpd => FixUp(F64, Packed);

    Addsubps Vaddsubps => AddSub(F32);
    Addsubpd Vaddsubpd => AddSub(F64);
    Haddps Vhaddps => Horizontal(Op::Add, F32);
    Haddpd Vhaddpd => Horizontal(Op::Add, F64);
    Hsubps Vhsubps => Horizontal(Op::Sub, F32);
    Hsubpd Vhsubpd => Horizontal(Op::Sub, F64);
    Dpps Vdpps => DotProduct(F32);
    Dppd Vdppd => DotProduct(F64);
    Roundss Vroundss Vrndscaless => Round(F32, Scalar);
    Roundsd Vroundsd Vrndscalesd => Round(F64, Scalar);
    Roundps Vroundps Vrndscaleps => Round(F32, Packed);
    Roundpd Vroundpd Vrndscalepd => Round(F64, Packed);

    Cvtsd2ss Vcvtsd2ss => Narrow(Scalar);
    Cvtpd2ps Vcvtpd2ps => Narrow(Packed);
    Cvtss2sd Vcvtss2sd => Widen(Scalar);
    Cvtps2pd Vcvtps2pd => Widen(Packed);
    Cvtsi2ss Vcvtsi2ss Vcvtusi2ss => FromInteger(F32, Scalar);
    Cvtsi2sd Vcvtsi2sd Vcvtusi2sd => FromInteger(F64, Scalar);
    Cvtdq2ps Vcvtdq2ps Vcvtudq2ps Vcvtqq2ps Vcvtuqq2ps Cvtpi2ps => FromInteger(F32, Packed);
    Cvtdq2pd Vcvtdq2pd Vcvtudq2pd Vcvtqq2pd Vcvtuqq2pd Cvtpi2pd => FromInteger(F64, Packed);
    Vcvtph2ps => FromHalf;
    Vcvtps2ph => ToHalf;
    Cvtss2si Vcvtss2si Vcvtss2usi => ToInteger(F32, How::Round, Scalar);
    Cvtsd2si Vcvtsd2si Vcvtsd2usi => ToInteger(F64, How::Round, Scalar);
    Cvttss2si Vcvttss2si Vcvttss2usi => ToInteger(F32, How::Truncate, Scalar);
    Cvttsd2si Vcvttsd2si Vcvttsd2usi => ToInteger(F64, How::Truncate, Scalar);
    Cvtps2dq Vcvtps2dq Vcvtps2udq Vcvtps2qq Vcvtps2uqq Cvtps2pi => ToInteger(F32, How::Round, Packed);
    Cvtpd2dq Vcvtpd2dq Vcvtpd2udq Vcvtpd2qq Vcvtpd2uqq Cvtpd2pi => ToInteger(F64, How::Round, Packed);
    Cvttps2dq Vcvttps2dq Vcvttps2udq Vcvttps2qq Vcvttps2uqq Cvttps2pi => ToInteger(F32, How::Truncate, Packed);
    Cvttpd2dq Vcvttpd2dq Vcvttpd2udq Vcvttpd2qq Vcvttpd2uqq Cvttpd2pi => ToInteger(F64, How::Truncate, Packed);

    Cmpss Vcmpss => Compare(F32, Scalar);
    Cmpsd Vcmpsd => Compare(F64, Scalar);
    Cmpps Vcmpps => Compare(F32, Packed);
    Cmppd Vcmppd => Compare(F64, Packed);
    Vfpclassss => Classify(F32, Scalar);
    Vfpclasssd => Classify(F64, Scalar);
    Vfpclassps => Classify(F32, Packed);
    Vfpclasspd => Classify(F64, Packed);
    Comiss Vcomiss Ucomiss Vucomiss => CompareFlags(F32);
    Comisd Vcomisd Ucomisd Vucomisd => CompareFlags(F64);
}

/// Tells whether the instruction makes integers of eight bytes of its floats.
pub(crate) fn makes_wide_integers(insn: &Instruction) -> bool {
    use Mnemonic::*;
    matches!(
        insn.mnemonic(),
        Vcvtps2qq | Vcvtps2uqq | Vcvtpd2qq | Vcvtpd2uqq | Vcvttps2qq | Vcvttps2uqq | Vcvttpd2qq | Vcvttpd2uqq
    )
}
