// Part of code/dlopen: the same function, other code.
static int counter = 5;
static int table[4096] = {7, 8, 9};
int compute(int x)
{
    int sum = 0;
    for (int i = 0; i < x; i++) sum += table[(counter + i) % 3];
    return sum;
}
