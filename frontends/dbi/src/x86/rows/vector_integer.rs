//! Rows of integer instructions on vector and MMX registers: bitwise operations and exponent arithmetic whose results
//! may still be floats, and all others, whose results are not.

use super::rows;
use crate::x86::table::Integral::*;
use crate::x86::table::Lanes::*;
use crate::x86::table::Row::*;
use shadowgrind_core::format::Format::*;

#[rustfmt::skip] // Families stay together.
rows! {
    Andps Vandps Vpandd => Logic(And, Of(F32));
    Andpd Vandpd Vpandq => Logic(And, Of(F64));
    Pand Vpand => Logic(And, Untyped);
    Andnps Vandnps Vpandnd => Logic(AndNot, Of(F32));
    Andnpd Vandnpd Vpandnq => Logic(AndNot, Of(F64));
    Pandn Vpandn => Logic(AndNot, Untyped);
    Orps Vorps Vpord => Logic(Or, Of(F32));
    Orpd Vorpd Vporq => Logic(Or, Of(F64));
    Por Vpor => Logic(Or, Untyped);
    Xorps Vxorps Vpxord => Logic(Xor, Of(F32));
    Xorpd Vxorpd Vpxorq => Logic(Xor, Of(F64));
    Pxor Vpxor => Logic(Xor, Untyped);

    Vpternlogd => Ternary(F32);
    Vpternlogq => Ternary(F64);

    Paddd Vpaddd => Trick(Add, F32);
    Paddq Vpaddq => Trick(Add, F64);
    Psubd Vpsubd => Trick(Subtract, F32);
    Psubq Vpsubq => Trick(Subtract, F64);
    Pmaxsd Pminsd Pmaxud Pminud Vpmaxsd Vpminsd Vpmaxud Vpminud => Trick(Extreme, F32);
    Vpmaxsq Vpminsq Vpmaxuq Vpminuq => Trick(Extreme, F64);
    Pslld Vpslld => Trick(ShiftLeft, F32);
    Psllq Vpsllq => Trick(ShiftLeft, F64);
    Psrld Vpsrld => Trick(ShiftRight, F32);
    Psrlq Vpsrlq => Trick(ShiftRight, F64);
    Psrad Vpsrad => Trick(ShiftRightSigned, F32);
    Vpsraq => Trick(ShiftRightSigned, F64);
    Vpsllvd Vpsrlvd Vpsravd => Trick(ShiftEach, F32);
    Vpsllvq Vpsrlvq Vpsravq => Trick(ShiftEach, F64);

    Paddb Paddw Paddsb Paddsw Paddusb Paddusw Psubb Psubw Psubsb Psubsw Psubusb Psubusw
    Vpaddb Vpaddw Vpaddsb Vpaddsw Vpaddusb Vpaddusw Vpsubb Vpsubw Vpsubsb Vpsubsw Vpsubusb Vpsubusw
    Psllw Psrlw Psraw Vpsllw Vpsrlw Vpsraw
    Pmulhw Pmulhuw Pmullw Pmulld Pmuludq Pmuldq Pmulhrsw Pmaddwd Pmaddubsw Psadbw Mpsadbw
    Vpmulhw Vpmulhuw Vpmullw Vpmulld Vpmullq Vpmuludq Vpmuldq Vpmulhrsw Vpmaddwd Vpmaddubsw Vpsadbw Vmpsadbw
    Phaddw Phaddd Phaddsw Phsubw Phsubd Phsubsw Vphaddw Vphaddd Vphaddsw Vphsubw Vphsubd Vphsubsw
    Pavgb Pavgw Pavgusb Vpavgb Vpavgw Pabsb Pabsw Pabsd Vpabsb Vpabsw Vpabsd Vpabsq
    Psignb Psignw Psignd Vpsignb Vpsignw Vpsignd
    Pmaxsb Pmaxsw Pmaxub Pmaxuw Pminsb Pminsw Pminuw
    Vpmaxsb Vpmaxsw Vpmaxub Vpmaxuw Vpminsb Vpminsw Vpminuw Phminposuw Vphminposuw
    Packsswb Packssdw Packuswb Packusdw Vpacksswb Vpackssdw Vpackuswb Vpackusdw
    Pmovsxbw Pmovsxbd Pmovsxbq Pmovsxwd Pmovsxwq
    Vpmovsxbw Vpmovsxbd Vpmovsxbq Vpmovsxwd Vpmovsxwq
    Aesenc Aesenclast Aesdec Aesdeclast Aesimc Aeskeygenassist
    Vaesenc Vaesenclast Vaesdec Vaesdeclast Vaesimc Vaeskeygenassist
    Aesenc128kl Aesenc256kl Aesdec128kl Aesdec256kl
    Aesencwide128kl Aesencwide256kl Aesdecwide128kl Aesdecwide256kl
    Pclmulqdq Vpclmulqdq Gf2p8mulb Gf2p8affineqb Gf2p8affineinvqb Vgf2p8mulb Vgf2p8affineqb Vgf2p8affineinvqb
    Sha1rnds4 Sha1nexte Sha1msg1 Sha1msg2 Sha256rnds2 Sha256msg1 Sha256msg2
    Vsha512msg1 Vsha512msg2 Vsha512rnds2 Vsm3msg1 Vsm3msg2 Vsm3rnds2 Vsm4key4 Vsm4rnds4
    Vpdpbusd Vpdpbusds Vpdpwssd Vpdpwssds Vpdpbssd Vpdpbssds Vpdpbsud Vpdpbsuds Vpdpbuud Vpdpbuuds
    Vpmovsdb Vpmovsdw Vpmovsqb Vpmovsqw Vpmovsqd Vpmovswb Vpmovusdb Vpmovusdw Vpmovusqb Vpmovusqw Vpmovusqd Vpmovuswb
    Vpsllvw Vpsrlvw Vpsravw Vpmultishiftqb Vdbpsadbw
    Vprold Vprolq Vprord Vprorq Vprolvd Vprolvq Vprorvd Vprorvq
    Vpshldw Vpshldd Vpshldq Vpshrdw Vpshrdd Vpshrdq Vpshldvw Vpshldvd Vpshldvq Vpshrdvw Vpshrdvd Vpshrdvq
    Vpdpwsud Vpdpwsuds Vpdpwusd Vpdpwusds Vpdpwuud Vpdpwuuds Vpmadd52luq Vpmadd52huq => Digits;

    // Masks, signs, positions of bytes, keys: no digits. The least of bytes is how functions for strings look for a zero in several
    // vectors at once, past the end of the string, too; nobody computes with that of a float's.
    Pminub Vpminub
    Pcmpeqb Pcmpeqw Pcmpeqd Pcmpeqq Pcmpgtb Pcmpgtw Pcmpgtd Pcmpgtq
    Vpcmpeqb Vpcmpeqw Vpcmpeqd Vpcmpeqq Vpcmpgtb Vpcmpgtw Vpcmpgtd Vpcmpgtq
    Vpcmpb Vpcmpub Vpcmpw Vpcmpuw Vpcmpd Vpcmpud Vpcmpq Vpcmpuq
    Vptestmb Vptestmw Vptestmd Vptestmq Vptestnmb Vptestnmw Vptestnmd Vptestnmq
    Vpmovb2m Vpmovw2m Vpmovd2m Vpmovq2m Vpmovm2b Vpmovm2w Vpmovm2d Vpmovm2q
    Vpconflictd Vpconflictq Vplzcntd Vplzcntq Vpbroadcastmb2q Vpbroadcastmw2d
    Pmovmskb Vpmovmskb Movmskps Movmskpd Vmovmskps Vmovmskpd
    Pcmpestri Pcmpestri64 Pcmpestrm Pcmpestrm64 Pcmpistri Pcmpistrm
    Vpcmpestri Vpcmpestri64 Vpcmpestrm Vpcmpestrm64 Vpcmpistri Vpcmpistrm Loadiwkey Encodekey128 Encodekey256 => Integer;

    // Only flags are written.
    Ptest Vptest Vtestps Vtestpd => Nothing;

    Extrq Insertq => Gap("SSE4a");
    Vpermil2ps Vpermil2pd => Gap("XOP");
    Vbcstnebf162ps Vbcstnesh2ps Vcvtneebf162ps Vcvtneeph2ps Vcvtneobf162ps Vcvtneoph2ps => FromInteger(F32, crate::x86::table::Shape::Packed);
    Vcvtneps2bf16 => Gap("half precision");
    Paddsiw Paveb Pdistib Pmachriw Pmagw Pmulhriw Pmvgezb Pmvlzb Pmvnzb Pmvzb Psubsiw => Gap("Cyrix MMX");
}
