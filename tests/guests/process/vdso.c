// Time through the vDSO, the system calls and the old vsyscall page: all tell the same time.
//@ link: pie static
#include "guest.h"
#include <sched.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

static long ns(struct timespec t) { return t.tv_sec * 1000000000l + t.tv_nsec; }

static int has_vsyscall_page(void)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) found |= strstr(line, "[vsyscall]") != NULL;
    fclose(maps);
    return found;
}

int main(void)
{
    static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_MONOTONIC_COARSE,
                                       CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
    for (int i = 0; i < 6; i++) {
        struct timespec a, b, c;
        for (int k = 0; k < 1000; k++) {
            CHECK(clock_gettime(clocks[i], &a) == 0);
            CHECK(syscall(SYS_clock_gettime, clocks[i], &b) == 0);
            CHECK(clock_gettime(clocks[i], &c) == 0);
            CHECK(ns(a) <= ns(b) && ns(b) <= ns(c));
        }
    }
    struct timeval tv;
    CHECK(gettimeofday(&tv, NULL) == 0 && labs(tv.tv_sec - time(NULL)) <= 1);
    unsigned cpu, node;
    CHECK(getcpu(&cpu, &node) == 0 && cpu < 4096);
    if (has_vsyscall_page()) {
        long (*volatile old_time)(long *) = (long (*)(long *))0xffffffffff600400;
        CHECK(labs(old_time(NULL) - time(NULL)) <= 1);
        int (*volatile old_gettimeofday)(struct timeval *, void *) = (int (*)(struct timeval *, void *))0xffffffffff600000;
        CHECK(old_gettimeofday(&tv, NULL) == 0 && labs(tv.tv_sec - time(NULL)) <= 1);
    }
    puts("the same time");
    return 0;
}
