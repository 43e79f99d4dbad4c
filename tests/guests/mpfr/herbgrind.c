// Herbgrind's requests, as its header makes them: what is computed between end and begin is not analysed; marks are
// outputs, those that may be are outputs if there is a shadow.
#include <stdint.h>

enum { BASE = 0x48420000, BEGIN = BASE, END = BASE + 1, FORCE_TRACK = BASE + 7, MARK = BASE + 9, MAYBE_MARK = BASE + 10,
       MAYBE_MARK_AT = BASE + 11 };

static void request(uint64_t code, const double *value, uint64_t index)
{
    volatile uint64_t words[6] = {code, (uint64_t)value, index};
    uint64_t result = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "=d"(result)
                     : "a"(&words[0]), "0"(result)
                     : "cc", "memory");
}

volatile double large = 1e16;

int main(void)
{
    request(END, 0, 0);
    double unseen = large + 1.0 - large;
    request(BEGIN, 0, 0);
    double wrong = large + 1.0 - large, half = 0.5;
    request(MAYBE_MARK, &unseen, 0);
    request(MARK, &wrong, 0);
    request(MAYBE_MARK_AT, &wrong, 3);
    request(MAYBE_MARK, &half, 0);
    request(FORCE_TRACK, &half, 0);
    request(MAYBE_MARK, &half, 0);
    return 0;
}
