// node: a CPU-bound script that its compiler optimises, regular expressions, JSON, timers, typed arrays, workers.
//@ needs: node
//@ run default: node {file}
//@ run baseline: node --no-opt {file}
//@ run turbo: node --always-turbofan {file}
//@ timeout: 300
const { Worker, isMainThread, parentPort } = require("worker_threads");
if (!isMainThread) {
    let s = 0;
    for (let i = 1; i < 1e6; i++) s += 1 / i;
    parentPort.postMessage(s);
} else {
    function matmul(n) {
        const a = new Float64Array(n * n).map((_, i) => Math.sin(i)), b = a.map((x) => x * 0.5), c = new Float64Array(n * n);
        for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) {
            let s = 0;
            for (let k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
            c[i * n + j] = s;
        }
        return c.reduce((x, y) => x + y, 0);
    }
    class Point { constructor(x, y) { this.x = x; this.y = y; } norm() { return Math.hypot(this.x, this.y); } }
    let total = 0;
    for (let i = 0; i < 300000; i++) total += new Point(i % 10, i % 7).norm();
    console.log(matmul(120), total);
    const words = "the quick brown fox".repeat(500).replace(/[aeiou](\w)/g, (m, c) => c.toUpperCase());
    console.log(words.length, JSON.stringify({ a: [1.5, null, "x"], b: { c: 0.1 + 0.2 } }));
    const sieve = new Uint8Array(300000);
    let primes = 0;
    for (let i = 2; i < sieve.length; i++) if (!sieve[i]) { primes++; for (let j = i * 2; j < sieve.length; j += i) sieve[j] = 1; }
    console.log(primes, 2n ** 200n, [3, 1, 2].sort(), new Map([[1, 2]]).get(1));
    try { null.x; } catch (e) { console.log(e.constructor.name); }
    function* numbers() { for (let i = 0; i < 5; i++) yield i * i; }
    console.log([...numbers()], eval("((x) => x + 1)(41)"), new Function("a", "b", "return a * b")(6, 7));
    setTimeout(() => new Worker(__filename).on("message", (s) => console.log(s)), 5);
    Promise.all([1, 2, 3].map(async (x) => x * 2)).then((r) => console.log(r));
}
