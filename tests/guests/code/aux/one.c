// Part of code/dlopen: one of three libraries that are loaded at the same address in turn.
static int counter;
static int table[4096] = {1, 2, 3};
int compute(int x) { return x * 3 + table[counter++ % 3]; }
