// Data on the same page as code, written all the time while the code runs: allowed, and not ruinously slow.
#include "jit.h"

struct mixed {
    unsigned char code[64];
    long counter;
    double sum;
};

int main(void)
{
    struct mixed *m = (struct mixed *)(void *)pages(4096, RWX);
    write_add(m->code, 3);
    long total = 0;
    for (int i = 0; i < 200000; i++) {
        m->counter++;
        m->sum += 0.5;
        total += call(m->code, i);
    }
    // Now and then the code changes after all.
    for (int i = 0; i < 200; i++) {
        write_add(m->code, i);
        for (int k = 0; k < 20; k++) m->counter += call(m->code, k);
    }
    printf("%ld %ld %g\n", total, m->counter, m->sum);
    return 0;
}
