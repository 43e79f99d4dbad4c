// Functions that V8 brings along, which take floats apart: their results are those of the functions, to the last printed digit.
for (let i = 1; i <= 50; i++) {
    const x = i / 16;
    const results = [
        Math.sin(x), Math.cos(x), Math.tan(x), Math.asin(x / 4), Math.acos(x / 4), Math.atan(x), Math.atan2(x, 2),
        Math.sinh(x), Math.cosh(x), Math.tanh(x), Math.asinh(x), Math.acosh(x + 1), Math.atanh(x / 4),
        Math.exp(-x), Math.expm1(-x), Math.log(x), Math.log1p(x), Math.log2(x), Math.log10(x), Math.pow(x, 0.3), Math.cbrt(x),
    ];
    console.log(results.map((result) => result.toPrecision(12)).join(" "));
}
