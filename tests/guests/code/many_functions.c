// Thirty thousand small generated functions, all called, some thrown away and made anew.
#include "jit.h"

#define COUNT 30000

int main(void)
{
    unsigned char *code = pages(COUNT * 16, RWX);
    long sum = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) write_add(code + 16 * i, i * (round + 1));
        for (int i = 0; i < COUNT; i++) sum += call(code + 16 * i, round);
        for (int i = 0; i < COUNT; i += 7) write_add(code + 16 * i, -i);
        for (int i = 0; i < COUNT; i += 3) sum -= call(code + 16 * i, 0);
    }
    printf("%ld\n", sum);
    return 0;
}
