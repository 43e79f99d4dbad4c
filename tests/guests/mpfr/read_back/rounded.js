// As rounded.c.
let sum = 0;
for (let i = 0; i < 10; i++) sum += 0.1;
console.log(Number((sum * 0.015).toFixed(2)) * 1.5);
