// The same by parseFloat and Number, in V8.
const fs = require('fs');
const [name, argument] = process.argv.slice().reverse();
const a = parseFloat(argument), w = Number(process.env.SG_W);
const [s, t] = fs.readFileSync(0, 'utf8').trim().split(' ').map(Number);
let total = a * a + w * s * t;
const lines = fs.readFileSync(name, 'utf8').split('\n');
for (let i = 0; i < parseInt(lines[1]); i++) {
    const [p, q] = lines[i + 2].split(' ').map(parseFloat);
    total += (i + 1) * p * p * q;
}
console.log(total);
