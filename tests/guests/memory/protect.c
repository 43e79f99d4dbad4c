// mprotect to and fro: what is allowed works, what is not faults, on part of a mapping and across two.
#include "guest.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#define PAGE 4096ul
static sigjmp_buf back;
static void handler(int signal) { siglongjmp(back, signal); }

static int can_read(volatile char *p) { return sigsetjmp(back, 1) ? 0 : ((void)*p, 1); }
static int can_write(volatile char *p) { return sigsetjmp(back, 1) ? 0 : (*p = 1, 1); }

int main(void)
{
    signal(SIGSEGV, handler);
    char *p = (char *)mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    static const int protections[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE, PROT_WRITE, PROT_READ | PROT_EXEC};
    for (int i = 0; i < 5; i++) {
        CHECK(mprotect(p + PAGE, 2 * PAGE, protections[i]) == 0);
        for (int page = 0; page < 4; page++) printf("%d%d ", can_read(p + page * PAGE), can_write(p + page * PAGE + 5));
        puts("");
    }
    for (int i = 0; i < 500; i++) {
        CHECK(mprotect(p, PAGE, PROT_READ | PROT_WRITE) == 0);
        p[i] = (char)i;
        CHECK(mprotect(p, PAGE, PROT_READ) == 0);
        CHECK(p[i] == (char)i);
    }
    CHECK(!can_write(p));
    return 0;
}
