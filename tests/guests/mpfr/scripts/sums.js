// V8 and ICU ask whether a number is an integer, and how many digits it has, before they write it.
let sum = 0;
for (let i = 0; i < 10; i++) sum += 0.1;
console.log(sum, sum + "", `${sum}`, "sum=" + sum, String(sum * 1e5));
console.log(sum.toString(2), (sum / 3).toString(36));
console.log(sum.toFixed(3), sum.toPrecision(9), JSON.stringify([sum, sum * 3]));
console.log(new Intl.NumberFormat("en").format(sum * 1234), (sum * 7).toLocaleString("de"));
