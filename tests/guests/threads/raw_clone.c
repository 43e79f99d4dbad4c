// A thread by the bare clone call: SETTLS, PARENT_SETTID, CHILD_CLEARTID and the futex wake at its end.
#include "guest.h"
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

static char stack[65536] __attribute__((aligned(16)));
static long tls_block[8];
static volatile int tid_cell, ran, seen_tls;

static int body(void *argument)
{
    // The thread's fs is the block given to it: no libc in here.
    long self;
    __asm__ volatile("mov %%fs:16, %0" : "=r"(self));
    seen_tls = self == 0x1234;
    ran = (int)(long)argument;
    __asm__ volatile("syscall" : : "a"(SYS_exit), "D"(0) : "rcx", "r11", "memory");
    return 0;
}

int main(void)
{
    for (int round = 0; round < 50; round++) {
        int parent_tid = 0;
        tls_block[0] = (long)tls_block;
        tls_block[2] = 0x1234;
        // Our own canary lives at fs:28h; the code above must not fail its check.
        __asm__ volatile("mov %%fs:0x28, %0" : "=r"(tls_block[5]));
        tid_cell = -1, ran = 0;
        int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS
                    | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID;
        int tid = clone(body, stack + sizeof stack, flags, (void *)(long)(round + 1), &parent_tid, tls_block, (int *)&tid_cell);
        CHECK(tid > 0 && parent_tid == tid);
        int value;
        while ((value = tid_cell) != 0) syscall(SYS_futex, &tid_cell, FUTEX_WAIT, value, NULL, NULL, 0);
        CHECK(ran == round + 1 && seen_tls);
    }
    puts("cleared and woken");
    return 0;
}
