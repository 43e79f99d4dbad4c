// An interpreter with computed gotos: one indirect jump per instruction, many sources, many targets.
#include "guest.h"

static long run(const unsigned char *code)
{
    static void *const table[] = {&&add, &&sub, &&mul, &&dup, &&swap, &&loop, &&end};
    long stack[16] = {0}, top = 1, counter = 20000;
    const unsigned char *pc = code;
#define NEXT goto *table[*pc++]
    stack[1] = 3;
    stack[0] = 5;
    NEXT;
add: stack[top - 1] += stack[top]; top--; NEXT;
sub: stack[top - 1] -= stack[top]; top--; NEXT;
mul: stack[top - 1] = (stack[top - 1] * stack[top]) % 1000003; top--; NEXT;
dup: stack[top + 1] = stack[top]; top++; NEXT;
swap: { long x = stack[top]; stack[top] = stack[top - 1]; stack[top - 1] = x; } NEXT;
loop: if (--counter > 0) pc = code; NEXT;
end: return stack[0] * 1000003 + stack[top];
}

int main(void)
{
    static const unsigned char code[] = {3, 0, 4, 3, 2, 4, 3, 1, 3, 0, 0, 3, 5, 6};
    printf("%ld\n", run(code));
    return 0;
}
