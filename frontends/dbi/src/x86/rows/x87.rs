//! Rows of x87.

use super::rows;
use crate::x86::table::Row::X87;
use crate::x86::table::X87::*;
use shadowgrind_core::ops::Op;
use shadowgrind_core::step::ToInteger::*;

#[rustfmt::skip] // Families stay together.
rows! {
    Fld => X87(Load);
    Fild Fbld Fldz Fld1 Fldpi Fldl2e Fldl2t Fldlg2 Fldln2 => X87(LoadExact);
    Fst Fstp Fstpnce => X87(Store);
    Fist Fistp Fbstp => X87(StoreInteger(Round));
    Fisttp => X87(StoreInteger(Truncate));

    Fadd Faddp Fiadd => X87(Arith(Op::Add, false));
    Fmul Fmulp Fimul => X87(Arith(Op::Mul, false));
    Fsub Fsubp Fisub => X87(Arith(Op::Sub, false));
    Fdiv Fdivp Fidiv => X87(Arith(Op::Div, false));
    Fsubr Fsubrp Fisubr => X87(Arith(Op::Sub, true));
    Fdivr Fdivrp Fidivr => X87(Arith(Op::Div, true));

    Fabs => X87(Unary(Op::Abs));
    Fchs => X87(Unary(Op::Neg));
    Fsqrt => X87(Unary(Op::Sqrt));
    Frndint => X87(Unary(Op::Rint));
    Fsin => X87(Unary(Op::Sin));
    Fcos => X87(Unary(Op::Cos));
    F2xm1 => X87(Unary(Op::Exp2m1));
    Fyl2x => X87(Binary(Op::YLog2));
    Fyl2xp1 => X87(Binary(Op::YLog2p1));
    Fpatan => X87(Binary(Op::Atan2));
    Fscale => X87(Scale(Op::Ldexp));
    Fprem => X87(Scale(Op::Fmod));
    Fprem1 => X87(Scale(Op::Remainder));
    Fsincos => X87(SinCos);
    Fptan => X87(Tangent);
    Fxtract => X87(Extract);

    Fxch => X87(Exchange);
    // Below, equal, below or equal, unordered are the integer conditions b, e, be, p.
    Fcmovb => X87(ConditionalMove(2));
    Fcmovnb => X87(ConditionalMove(3));
    Fcmove => X87(ConditionalMove(4));
    Fcmovne => X87(ConditionalMove(5));
    Fcmovbe => X87(ConditionalMove(6));
    Fcmovnbe => X87(ConditionalMove(7));
    Fcmovu => X87(ConditionalMove(10));
    Fcmovnu => X87(ConditionalMove(11));
    Fcom Fcomp Fcompp Fucom Fucomp Fucompp Fcomi Fcomip Fucomi Fucomip Ficom Ficomp => X87(Compare);
    Ftst => X87(CompareZero);
    Ffree Ffreep => X87(Free);
    Finit Fninit Emms Femms => X87(Reset);
    Fincstp Fdecstp => X87(Rotate);
    Fnstsw Fstsw => X87(Status);
    Fxam Fnop Wait Fldcw Fnstcw Fstcw => X87(Control);
    Fnstenv Fstenv => X87(SaveEnvironment);
    Fldenv Fnclex Fclex
    Feni Fneni Fdisi Fndisi Fsetpm Fnsetpm Frstpm Fstdw Fnstdw Fstsg Fnstsg => X87(Environment);
    Frint2 Frichop Frinear Ftstp => crate::x86::table::Row::Gap("Cyrix FPU");
}
