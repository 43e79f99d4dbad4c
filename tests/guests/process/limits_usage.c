// Resource usage and limits are plausible: CPU time grows with work, the peak covers what was touched.
#include "guest.h"
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/times.h>

static double cpu(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 + (double)usage.ru_stime.tv_sec
           + (double)usage.ru_stime.tv_usec / 1e6;
}

int main(void)
{
    double before = cpu();
    volatile unsigned long x = 1;
    while (cpu() < before + 0.05)
        for (int i = 0; i < 100000; i++) x = x * 6364136223846793005ul + 1;
    char *p = (char *)malloc(100 << 20);
    memset(p, 1, 100 << 20);
    __asm__ volatile("" : : "r"(p) : "memory");
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss > 100 << 10 && usage.ru_maxrss < 400 << 10);
    free(p);
    struct tms ticks;
    CHECK(times(&ticks) != (clock_t)-1);
    struct sysinfo info;
    CHECK(sysinfo(&info) == 0 && info.totalram > 0);
    struct rlimit limit;
    static const int kinds[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_NOFILE, RLIMIT_CORE, RLIMIT_NPROC};
    for (int i = 0; i < 6; i++) {
        CHECK(getrlimit(kinds[i], &limit) == 0);
        printf("%ld ", (long)limit.rlim_cur);
    }
    puts("");
    return 0;
}
