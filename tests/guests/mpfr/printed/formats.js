// Wrong floats, and the numbers that they stand for, in the notations of JavaScript.
const large = [1e16, 3e22, 1e16, 2 ** 60, 1e40, 1e12];
const small = [1.2345, -9.5, 999.9996, 0.0009765625, 1.5e20, 1e-7];
for (let at = 0; at < large.length; at++) {
    const right = small[at], wrong = large[at] + right - large[at];
    const show = (write) => console.log("w=[" + write(wrong) + "] r={" + write(right) + "}");
    show((x) => x.toFixed(3));
    show((x) => x.toFixed(12));
    show((x) => x.toExponential(4));
    show((x) => x.toExponential());
}
