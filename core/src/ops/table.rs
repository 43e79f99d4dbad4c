//! The rows of TABLE 1.
//!
//! Reading a row:
//!
//! ```text
//! Op "name" (operands) = result, "formula", |arithmetic, reals| {
//!     primal:   the operation itself in floats, over `Arith`, where that has verbs for it
//!     gradient: partial derivatives, from operands and result, over `Arith` (arithmetic rows) or `Functions`
//!     residual: real result − floating-point result, over `Arith`
//!     moved:    the same where the operands of the real result are off by `e`, if first order does not do
//!     real:     the real function, over `Reals`
//! }
//! ```
//!
//! *Arithmetic* rows are straight-line over [`Arith`], so that a front end can emit them as machine code. *Function*
//! rows are evaluated on the host only. Where a derivative does not exist, or C leaves a choice, the row says what was
//! chosen. An operand marked `: int` is an integer in C.
//!
//! Not rows, but made of rows by whoever knows instructions and functions: horizontal, dot-product and add-subtract
//! forms; `sincos` (Sin and Cos); `frexp`'s fraction and x87 `fxtract`'s significand (Ldexp with n = −e, e the exponent
//! the program got, so that significand · 2ᵉ remains what it was); `modf` (Modf and Trunc); `fptan` (Tan, then a
//! constant); `lrint` and its kin (integers have no derivative; the real is that of Rint, Round …); `ilogb`.
//!
//! [`Arith`]: crate::arith::Arith

/// Hands all rows to the macro `$consumer`.
macro_rules! for_each_op {
    ($consumer:ident) => {
        $consumer! {
        arithmetic {
            /// a + b.
            Add "add" (a, b) = r, "(+ a b)", |k, m| {
                primal: k.add(a, b),
                gradient: of([One, One]),
                residual: Exact(sum_error(k, a, b, r)),
                real: m.add(a, b),
            }
            /// a − b.
            Sub "sub" (a, b) = r, "(- a b)", |k, m| {
                primal: k.sub(a, b),
                gradient: of([One, MinusOne]),
                residual: Exact(difference_error(k, a, b, r)),
                real: m.sub(a, b),
            }
            /// a · b.
            Mul "mul" (a, b) = r, "(* a b)", |k, m| {
                primal: k.mul(a, b),
                gradient: of([Factor(b), Factor(a)]),
                residual: Exact(k.fma(a, b, k.neg(r))),
                moved: |e| k.fma(k.add(a, e[0]), e[1], k.fma(b, e[0], k.fma(a, b, k.neg(r)))),
                real: m.mul(a, b),
            }
            /// a / b.
            Div "div" (a, b) = r, "(/ a b)", |k, m| {
                primal: k.div(a, b),
                gradient: over(b, [One, Minus(r)]),
                residual: Rounded(k.over(k.fnma(r, b, a), b)),
                moved: |e| quotient_by(k, [k.fnma(r, b, a), k.fnma(r, e[1], e[0])], b, e[1]),
                real: m.div(a, b),
            }
            /// √a. At 0, also at √−0 = −0, the one-sided derivative is +∞ and the residual 0.
            Sqrt "sqrt" (a) = r, "(sqrt a)", |k, m| {
                primal: k.sqrt(a),
                gradient: over(twice(k, k.abs(r)), [One]),
                residual: Rounded(k.over(k.fnma(r, r, k.abs(a)), twice(k, r))),
                moved: |e| {
                    let a = k.abs(a);
                    error_of_root(k, k.fnma(r, r, a), [a, e[0]], r)
                },
                real: m.sqrt(a),
            }
            /// a · b + c, rounded once.
            Fmadd "fma" (a, b, c) = r, "(fma a b c)", |k, m| {
                primal: k.fma(a, b, c),
                gradient: of([Factor(b), Factor(a), One]),
                residual: Rounded(fma_error(k, Fused::Plus, [a, b, c], r)),
                moved: |e| {
                    let rest = k.add(fma_error(k, Fused::Plus, [a, b, c], r), e[2]);
                    k.fma(k.add(a, e[0]), e[1], k.fma(b, e[0], rest))
                },
                real: m.fma(a, b, c),
            }
            /// a · b − c, rounded once.
            Fmsub "fmsub" (a, b, c) = r, "(fma a b (- c))", |k, m| {
                primal: k.fma(a, b, k.neg(c)),
                gradient: of([Factor(b), Factor(a), MinusOne]),
                residual: Rounded(fma_error(k, Fused::Minus, [a, b, c], r)),
                moved: |e| {
                    let rest = k.sub(fma_error(k, Fused::Minus, [a, b, c], r), e[2]);
                    k.fma(k.add(a, e[0]), e[1], k.fma(b, e[0], rest))
                },
                real: m.fma(a, b, &m.neg(c)),
            }
            /// −(a · b) + c, rounded once.
            Fnmadd "fnmadd" (a, b, c) = r, "(fma (- a) b c)", |k, m| {
                primal: k.fnma(a, b, c),
                gradient: of([Minus(b), Minus(a), One]),
                residual: Rounded(fma_error(k, Fused::From, [a, b, c], r)),
                moved: |e| {
                    let rest = k.add(fma_error(k, Fused::From, [a, b, c], r), e[2]);
                    k.fnma(k.add(a, e[0]), e[1], k.fnma(b, e[0], rest))
                },
                real: m.fma(&m.neg(a), b, c),
            }
            /// −(a · b) − c, rounded once.
            Fnmsub "fnmsub" (a, b, c) = r, "(- (fma a b c))", |k, m| {
                primal: k.fnma(a, b, k.neg(c)),
                gradient: of([Minus(b), Minus(a), MinusOne]),
                residual: Rounded(fma_error(k, Fused::Neither, [a, b, c], r)),
                moved: |e| {
                    let rest = k.sub(fma_error(k, Fused::Neither, [a, b, c], r), e[2]);
                    k.fnma(k.add(a, e[0]), e[1], k.fnma(b, e[0], rest))
                },
                real: m.neg(&m.fma(a, b, c)),
            }
            /// The smaller as x86 has it: a where a < b, else b; so b when they are equal, zeros, or either is NaN.
            Min "min" (a, b) = r, "(if (< a b) a b)", |k, m| {
                primal: k.select(k.lt(a, b), a, b),
                gradient: choice(k.lt(a, b)),
                residual: Never,
                real: if m.less(a, b) { a.clone() } else { b.clone() },
            }
            /// The larger as x86 has it: a where a > b, else b.
            Max "max" (a, b) = r, "(if (> a b) a b)", |k, m| {
                primal: k.select(k.lt(b, a), a, b),
                gradient: choice(k.lt(b, a)),
                residual: Never,
                real: if m.less(b, a) { a.clone() } else { b.clone() },
            }
            /// |a|. At 0 the sign of the zero decides, as for any other number: the result is a or −a, and so is its shadow.
            Abs "fabs" (a) = r, "(fabs a)", |k, m| {
                primal: k.abs(a),
                gradient: of([Sign(a)]),
                residual: Never,
                moved: |e| on_its_side(k, k.abs(a), k.signed(e[0], a)),
                real: m.abs(a),
            }
            /// −a.
            Neg "neg" (a) = r, "(- a)", |k, m| {
                primal: k.neg(a),
                gradient: of([MinusOne]),
                residual: Never,
                real: m.neg(a),
            }
            /// |a| with the sign of b: ±a.
            CopySign "copysign" (a, b) = r, "(copysign a b)", |k, m| {
                primal: k.flip(k.abs(a), b),
                gradient: of([Sign(k.flip(a, b)), Zero]),
                residual: Never,
                real: m.copysign(a, b),
            }
            /// The nearest integer, ties to even.
            RoundEven "roundeven" (a) = r, "(nearbyint a)", |k, m| {
                gradient: of([Zero]),
                residual: Never,
                real: m.round(a, Rounding::NearestEven),
            }
            /// The nearest integer, ties away from zero.
            Round "round" (a) = r, "(round a)", |k, m| {
                gradient: of([Zero]),
                residual: Never,
                real: m.round(a, Rounding::NearestAway),
            }
            /// An integer by the rounding mode of the moment: `rint`, `nearbyint`, x87 `frndint`, `roundsd` of mode 4.
            Rint "rint" (a) = r, "(nearbyint a)", |k, m| {
                gradient: of([Zero]),
                residual: Never,
                real: m.round(a, Rounding::Current),
            }
            /// The largest integer not above a.
            Floor "floor" (a) = r, "(floor a)", |k, m| {
                gradient: of([Zero]),
                residual: Never,
                real: m.round(a, Rounding::Down),
            }
            /// The smallest integer not below a.
            Ceil "ceil" (a) = r, "(ceil a)", |k, m| {
                gradient: of([Zero]),
                residual: Never,
                real: m.round(a, Rounding::Up),
            }
            /// The integer part.
            Trunc "trunc" (a) = r, "(trunc a)", |k, m| {
                gradient: of([Zero]),
                residual: Never,
                real: m.round(a, Rounding::Zero),
            }
            /// 1/a, to the twelve bits or so of the machine's estimate: nothing is computed from the result.
            Rcp "rcp" (a) = r, "(/ 1 a)", |k, m| {
                gradient: of([Minus(square(k, k.div(k.lit(1.0), a)))]),
                residual: Rounded(k.over(k.fnma(a, r, k.lit(1.0)), a)),
                real: m.div(&m.lit(1.0), a),
            }
            /// 1/√a, likewise an estimate.
            Rsqrt "rsqrt" (a) = r, "(/ 1 (sqrt a))", |k, m| {
                gradient: over(k.mul(a, k.sqrt(a)), [Factor(k.lit(-0.5))]),
                residual: Rounded(rsqrt_error(k, a, r)),
                real: m.div(&m.lit(1.0), &m.sqrt(a)),
            }
            /// a rounded to a narrower format.
            Narrow "narrow" (a) = r, "(cast a)", |k, m| {
                gradient: of([One]),
                residual: Exact(k.sub(a, r)),
                real: a.clone(),
            }
            /// a in a wider format.
            Widen "widen" (a) = r, "(cast a)", |k, m| {
                gradient: of([One]),
                residual: Never,
                real: a.clone(),
            }
        }
        functions {
            /// eˣ.
            Exp "exp" (x) = r, "(exp x)", |k, m| {
                gradient: of([Factor(r)]),
                residual: Unknown,
                real: m.exp(x),
            }
            /// 2ˣ.
            Exp2 "exp2" (x) = r, "(exp2 x)", |k, m| {
                gradient: of([Factor(k.mul(k.lit(LN_2), r))]),
                residual: Unknown,
                real: m.exp2(x),
            }
            /// 10ˣ.
            Exp10 "exp10" (x) = r, "(pow 10 x)", |k, m| {
                gradient: of([Factor(k.mul(k.lit(LN_10), r))]),
                residual: Unknown,
                real: m.exp10(x),
            }
            /// eˣ − 1. Not r + 1, which cancels where eˣ is small.
            Expm1 "expm1" (x) = r, "(expm1 x)", |k, m| {
                gradient: of([Factor(k.exp(x))]),
                residual: Unknown,
                real: m.expm1(x),
            }
            /// 2ˣ − 1: x87 `f2xm1`.
            Exp2m1 "exp2m1" (x) = r, "(- (exp2 x) 1)", |k, m| {
                gradient: of([Factor(k.mul(k.lit(LN_2), k.exp2(x)))]),
                residual: Unknown,
                real: m.exp2m1(x),
            }
            /// 10ˣ − 1.
            Exp10m1 "exp10m1" (x) = r, "(- (pow 10 x) 1)", |k, m| {
                gradient: of([Factor(k.mul(k.lit(LN_10), k.pow(k.lit(10.0), x)))]),
                residual: Unknown,
                real: m.exp10m1(x),
            }
            /// ln x. At 0 the derivative is +∞, whatever the sign of the zero.
            Log "log" (x) = r, "(log x)", |k, m| {
                gradient: over(k.abs(x), [One]),
                residual: Unknown,
                real: m.log(x),
            }
            /// log₂ x.
            Log2 "log2" (x) = r, "(log2 x)", |k, m| {
                gradient: over(k.abs(x), [Factor(k.lit(LOG2_E))]),
                residual: Unknown,
                real: m.log2(x),
            }
            /// log₁₀ x.
            Log10 "log10" (x) = r, "(log10 x)", |k, m| {
                gradient: over(k.abs(x), [Factor(k.lit(LOG10_E))]),
                residual: Unknown,
                real: m.log10(x),
            }
            /// ln (1 + x). Near −1, where it matters, 1 + x is exact.
            Log1p "log1p" (x) = r, "(log1p x)", |k, m| {
                gradient: over(k.add(k.lit(1.0), x), [One]),
                residual: Unknown,
                real: m.log1p(x),
            }
            /// log₂ (1 + x).
            Log2p1 "log2p1" (x) = r, "(/ (log1p x) LN2)", |k, m| {
                gradient: over(k.add(k.lit(1.0), x), [Factor(k.lit(LOG2_E))]),
                residual: Unknown,
                real: m.log2p1(x),
            }
            /// log₁₀ (1 + x).
            Log10p1 "log10p1" (x) = r, "(/ (log1p x) LN10)", |k, m| {
                gradient: over(k.add(k.lit(1.0), x), [Factor(k.lit(LOG10_E))]),
                residual: Unknown,
                real: m.log10p1(x),
            }
            /// y · log₂ x: x87 `fyl2x`.
            YLog2 "ylog2" (y, x) = r, "(* y (log2 x))", |k, m| {
                gradient: of([Factor(k.log2(x)), Factor(k.mul(k.lit(LOG2_E), k.div(y, k.abs(x))))]),
                residual: Unknown,
                real: m.mul(y, &m.log2(x)),
            }
            /// y · log₂ (1 + x): x87 `fyl2xp1`.
            YLog2p1 "ylog2p1" (y, x) = r, "(* y (/ (log1p x) LN2))", |k, m| {
                gradient: of([
                    Factor(k.mul(k.lit(LOG2_E), k.ln_1p(x))),
                    Factor(k.mul(k.lit(LOG2_E), k.div(y, k.add(k.lit(1.0), x)))),
                ]),
                residual: Unknown,
                real: m.mul(y, &m.log2p1(x)),
            }
            /// ⌊log₂ |x|⌋ as a float.
            Logb "logb" (x) = r, "(floor (log2 (fabs x)))", |k, m| {
                gradient: of([Zero]),
                residual: Never,
                real: m.logb(x),
            }
            /// x · 2ⁿ, n truncated: `ldexp`, `scalbn`, `scalbln`, x87 `fscale`.
            Ldexp "ldexp" (x, n: int) = r, "(* x (pow 2 n))", |k, m| {
                gradient: power_of_two(k, n),
                residual: Unknown,
                real: m.ldexp(x, &m.round(n, Rounding::Zero)),
            }
            /// xʸ. Derivatives are 0 where a constant function is differentiated (∂x at y = 0, ∂y at x = 0 < y), −∞ for ∂y at
            /// (0, 0), the limit from y > 0, and NaN for ∂y at x < 0, where neighbouring powers are not real.
            Pow "pow" (x, y) = r, "(pow x y)", |k, m| {
                gradient: of([Factor(pow_by_base(k, x, y, r)), Factor(pow_by_exponent(k, x, r))]),
                residual: Unknown,
                real: m.pow(x, y),
            }
            /// ∛x. At 0 the derivative is +∞.
            Cbrt "cbrt" (x) = r, "(cbrt x)", |k, m| {
                gradient: over(k.mul(k.lit(3.0), square(k, r)), [One]),
                residual: Unknown,
                real: m.cbrt(x),
            }
            /// √(x² + y²). At the origin, a cone's tip, both derivatives are 0: of all supporting planes the level one.
            Hypot "hypot" (x, y) = r, "(hypot x y)", |k, m| {
                gradient: of([Factor(cosine(k, x, r)), Factor(cosine(k, y, r))]),
                residual: Unknown,
                real: m.hypot(x, y),
            }
            /// sin x.
            Sin "sin" (x) = r, "(sin x)", |k, m| {
                gradient: of([Factor(k.cos(x))]),
                residual: Unknown,
                real: m.sin(x),
            }
            /// cos x.
            Cos "cos" (x) = r, "(cos x)", |k, m| {
                gradient: of([Minus(k.sin(x))]),
                residual: Unknown,
                real: m.cos(x),
            }
            /// tan x.
            Tan "tan" (x) = r, "(tan x)", |k, m| {
                gradient: of([Factor(k.fma(r, r, k.lit(1.0)))]),
                residual: Unknown,
                real: m.tan(x),
            }
            /// arcsin x. +∞ at ±1.
            Asin "asin" (x) = r, "(asin x)", |k, m| {
                gradient: over(k.sqrt(one_minus_square(k, x)), [One]),
                residual: Unknown,
                real: m.asin(x),
            }
            /// arccos x. −∞ at ±1.
            Acos "acos" (x) = r, "(acos x)", |k, m| {
                gradient: over(k.sqrt(one_minus_square(k, x)), [MinusOne]),
                residual: Unknown,
                real: m.acos(x),
            }
            /// arctan x.
            Atan "atan" (x) = r, "(atan x)", |k, m| {
                gradient: over(k.fma(x, x, k.lit(1.0)), [One]),
                residual: Unknown,
                real: m.atan(x),
            }
            /// The angle of the point (x, y); x87 `fpatan`. NaN at the origin, where no direction has a derivative; 0 at
            /// infinite distance.
            Atan2 "atan2" (y, x) = r, "(atan2 y x)", |k, m| {
                gradient: angle(k, y, x, k.lit(1.0)),
                residual: Unknown,
                real: m.atan2(y, x),
            }
            /// sin πx.
            SinPi "sinpi" (x) = r, "(sin (* PI x))", |k, m| {
                gradient: of([Factor(k.mul(k.lit(PI), cosine_of_turns(k, x)))]),
                residual: Unknown,
                real: m.sinpi(x),
            }
            /// cos πx.
            CosPi "cospi" (x) = r, "(cos (* PI x))", |k, m| {
                gradient: of([Factor(k.mul(k.lit(-PI), sine_of_turns(k, x)))]),
                residual: Unknown,
                real: m.cospi(x),
            }
            /// tan πx. +∞ at its poles, where C has values of either sign.
            TanPi "tanpi" (x) = r, "(tan (* PI x))", |k, m| {
                gradient: of([Factor(k.mul(k.lit(PI), k.fma(r, r, k.lit(1.0))))]),
                residual: Unknown,
                real: m.tanpi(x),
            }
            /// arcsin x / π. +∞ at ±1.
            AsinPi "asinpi" (x) = r, "(/ (asin x) PI)", |k, m| {
                gradient: over(k.mul(k.lit(PI), k.sqrt(one_minus_square(k, x))), [One]),
                residual: Unknown,
                real: m.asinpi(x),
            }
            /// arccos x / π. −∞ at ±1.
            AcosPi "acospi" (x) = r, "(/ (acos x) PI)", |k, m| {
                gradient: over(k.mul(k.lit(PI), k.sqrt(one_minus_square(k, x))), [MinusOne]),
                residual: Unknown,
                real: m.acospi(x),
            }
            /// arctan x / π.
            AtanPi "atanpi" (x) = r, "(/ (atan x) PI)", |k, m| {
                gradient: over(k.mul(k.lit(PI), k.fma(x, x, k.lit(1.0))), [One]),
                residual: Unknown,
                real: m.atanpi(x),
            }
            /// The angle of the point (x, y) in half turns; derivatives as those of Atan2.
            Atan2Pi "atan2pi" (y, x) = r, "(/ (atan2 y x) PI)", |k, m| {
                gradient: angle(k, y, x, k.lit(FRAC_1_PI)),
                residual: Unknown,
                real: m.atan2pi(y, x),
            }
            /// sinh x.
            Sinh "sinh" (x) = r, "(sinh x)", |k, m| {
                gradient: of([Factor(k.cosh(x))]),
                residual: Unknown,
                real: m.sinh(x),
            }
            /// cosh x.
            Cosh "cosh" (x) = r, "(cosh x)", |k, m| {
                gradient: of([Factor(k.sinh(x))]),
                residual: Unknown,
                real: m.cosh(x),
            }
            /// tanh x. Not 1 − r², which cancels where r is near ±1.
            Tanh "tanh" (x) = r, "(tanh x)", |k, m| {
                gradient: of([Factor(square(k, k.div(k.lit(1.0), k.cosh(x))))]),
                residual: Unknown,
                real: m.tanh(x),
            }
            /// arsinh x.
            Asinh "asinh" (x) = r, "(asinh x)", |k, m| {
                gradient: over(k.hypot(x, k.lit(1.0)), [One]),
                residual: Unknown,
                real: m.asinh(x),
            }
            /// arcosh x. +∞ at 1. Two roots, because x² overflows first.
            Acosh "acosh" (x) = r, "(acosh x)", |k, m| {
                gradient: over(k.mul(k.sqrt(k.sub(x, k.lit(1.0))), k.sqrt(k.add(x, k.lit(1.0)))), [One]),
                residual: Unknown,
                real: m.acosh(x),
            }
            /// artanh x. +∞ at ±1.
            Atanh "atanh" (x) = r, "(atanh x)", |k, m| {
                gradient: over(one_minus_square(k, x), [One]),
                residual: Unknown,
                real: m.atanh(x),
            }
            /// erf x.
            Erf "erf" (x) = r, "(erf x)", |k, m| {
                gradient: of([Factor(bell(k, x))]),
                residual: Unknown,
                real: m.erf(x),
            }
            /// 1 − erf x.
            Erfc "erfc" (x) = r, "(erfc x)", |k, m| {
                gradient: of([Minus(bell(k, x))]),
                residual: Unknown,
                real: m.erfc(x),
            }
            /// ln |Γ(x)|. At ±0 the derivative is ∓∞; NaN at negative integers, where it has both signs.
            Lgamma "lgamma" (x) = r, "(lgamma x)", |k, m| {
                gradient: of([Factor(k.digamma(x))]),
                residual: Unknown,
                real: m.lgamma(x),
            }
            /// Γ(x).
            Tgamma "tgamma" (x) = r, "(tgamma x)", |k, m| {
                gradient: of([Factor(k.mul(r, k.digamma(x)))]),
                residual: Unknown,
                real: m.tgamma(x),
            }
            /// J₀(x).
            J0 "j0" (x) = r, "(j0 x)", |k, m| {
                gradient: of([Factor(bessel_j_slope(k, k.lit(0.0), x))]),
                residual: Unknown,
                real: m.jn(&m.lit(0.0), x),
            }
            /// J₁(x).
            J1 "j1" (x) = r, "(j1 x)", |k, m| {
                gradient: of([Factor(bessel_j_slope(k, k.lit(1.0), x))]),
                residual: Unknown,
                real: m.jn(&m.lit(1.0), x),
            }
            /// Jₙ(x).
            Jn "jn" (n: int, x) = r, "(jn n x)", |k, m| {
                gradient: of([Zero, Factor(bessel_j_slope(k, n, x))]),
                residual: Unknown,
                real: m.jn(n, x),
            }
            /// Y₀(x).
            Y0 "y0" (x) = r, "(y0 x)", |k, m| {
                gradient: of([Factor(bessel_y_slope(k, k.lit(0.0), x))]),
                residual: Unknown,
                real: m.yn(&m.lit(0.0), x),
            }
            /// Y₁(x).
            Y1 "y1" (x) = r, "(y1 x)", |k, m| {
                gradient: of([Factor(bessel_y_slope(k, k.lit(1.0), x))]),
                residual: Unknown,
                real: m.yn(&m.lit(1.0), x),
            }
            /// Yₙ(x).
            Yn "yn" (n: int, x) = r, "(yn n x)", |k, m| {
                gradient: of([Zero, Factor(bessel_y_slope(k, n, x))]),
                residual: Unknown,
                real: m.yn(n, x),
            }
            /// x − n y, n = x / y truncated: `fmod`, and x87 `fprem`, whose n may be only a part of that.
            Fmod "fmod" (x, y) = r, "(fmod x y)", |k, m| {
                gradient: of([One, Minus(multiple(k, x, y, r))]),
                residual: Never,
                real: m.fmod(x, y),
            }
            /// x − n y, n = x / y rounded to the nearest: `remainder`, `remquo`, `drem`, x87 `fprem1`.
            Remainder "remainder" (x, y) = r, "(remainder x y)", |k, m| {
                gradient: of([One, Minus(multiple(k, x, y, r))]),
                residual: Never,
                real: m.remainder(x, y),
            }
            /// max(x − y, 0). 0 where x = y.
            Fdim "fdim" (x, y) = r, "(fdim x y)", |k, m| {
                gradient: of([Factor(step(k, y, x)), Minus(step(k, y, x))]),
                residual: Exact(k.select(k.lt(y, x), sum_error(k, x, k.neg(y), r), k.lit(0.0))),
                real: m.fdim(x, y),
            }
            /// The smaller as C has it: a NaN gives way to a number. x when they are equal.
            Fmin "fmin" (x, y) = r, "(fmin x y)", |k, m| {
                gradient: choice(k.eq(r, x)),
                residual: Never,
                real: m.min(x, y),
            }
            /// The larger as C has it.
            Fmax "fmax" (x, y) = r, "(fmax x y)", |k, m| {
                gradient: choice(k.eq(r, x)),
                residual: Never,
                real: m.max(x, y),
            }
            /// The one of smaller size: a NaN gives way to a number, and of two that differ in sign alone it is the lesser.
            Fminmag "fminmag" (x, y) = r, "(if (< (fabs y) (fabs x)) y x)", |k, m| {
                gradient: choice(k.eq(r, x)),
                residual: Never,
                real: match sizes(m, x, y) {
                    Less => x.clone(),
                    Greater => y.clone(),
                    Equal => m.min(x, y),
                },
            }
            /// The one of larger size: a NaN gives way to a number, and of two that differ in sign alone it is the greater.
            Fmaxmag "fmaxmag" (x, y) = r, "(if (< (fabs x) (fabs y)) y x)", |k, m| {
                gradient: choice(k.eq(r, x)),
                residual: Never,
                real: match sizes(m, x, y) {
                    Less => y.clone(),
                    Greater => x.clone(),
                    Equal => m.max(x, y),
                },
            }
            /// The fraction x − trunc x: `modf`'s result; what it stores is Trunc.
            Modf "modf" (x) = r, "(- x (trunc x))", |k, m| {
                gradient: of([One]),
                residual: Never,
                real: m.sub(x, &m.round(x, Rounding::Zero)),
            }
            /// x moved by one float towards y; as a real number it has not moved, so what it moved is its residual.
            Nextafter "nextafter" (x, y) = r, "x", |k, m| {
                gradient: of([One, Zero]),
                residual: Exact(k.sub(x, r)),
                real: x.clone(),
            }
        }
            }
    };
}

pub(super) use for_each_op;
