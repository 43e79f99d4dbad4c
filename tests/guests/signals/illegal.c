// SIGILL by ud2 and by bytes that are no instruction, with code and address, skipped over.
#include "signals.h"

extern char ill_0[], ill_1[], ill_2[], ill_3[];
static volatile int hits[4], bad;

static void handler(int s, siginfo_t *info, void *c)
{
    static char *const places[] = {ill_0, ill_1, ill_2, ill_3};
    static const int lengths[] = {2, 1, 3, 3};
    (void)s;
    for (int i = 0; i < 4; i++)
        if (REG(c, RIP) == (greg_t)places[i]) {
            hits[i]++;
            bad += info->si_code != ILL_ILLOPN || info->si_addr != places[i] || REG(c, TRAPNO) != 6;
            REG(c, RIP) += lengths[i];
            return;
        }
    CHECK(!"known place");
}

int main(void)
{
    on_signal(SIGILL, handler, 0);
    for (int i = 0; i < 200; i++)
        __asm__ volatile(".globl ill_0, ill_1, ill_2, ill_3\n"
                         "ill_0: ud2\n"
                         "ill_1: .byte 0x06\n"                  // push es: none in 64-bit mode
                         "ill_2: .byte 0x0f, 0xff, 0xc0\n"      // ud0
                         "ill_3: .byte 0xf0, 0x89, 0xc0\n"      // lock mov
                         "jmp 1f\n 1:");
    printf("%d %d %d %d bad %d\n", hits[0], hits[1], hits[2], hits[3], bad);
    return 0;
}
