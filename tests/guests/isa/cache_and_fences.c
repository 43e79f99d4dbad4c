// Non-temporal stores, prefetches, fences, flushes, pause, and time and identity of the processor.
//@ needs: clflush rdtscp rdrand rdseed rdpid
#include "guest.h"
#include <immintrin.h>
#include <sched.h>

int main(void)
{
    static long data[8] __attribute__((aligned(64)));
    __asm__ volatile("movnti %1, %0\n sfence" : "=m"(data[0]) : "r"(5l));
    __asm__ volatile("movntdq %%xmm0, %0\n mfence\n lfence" : "=m"(*(char(*)[16])(data + 2)));
    __asm__ volatile("prefetcht0 (%0)\n prefetchnta (%0)\n prefetchw (%0)\n prefetcht2 (%1)" : : "r"(data), "r"(16l));
    _mm_clflush(data);
    _mm_pause();
    CHECK(data[0] == 5);
    unsigned aux, low, high;
    uint64_t first = __builtin_ia32_rdtsc(), second = __builtin_ia32_rdtscp(&aux);
    __asm__ volatile("lfence\n rdtsc" : "=a"(low), "=d"(high));
    CHECK(first <= second && second <= ((uint64_t)high << 32 | low));
    uint64_t id;
    __asm__ volatile("rdpid %0" : "=r"(id));
    CHECK((id & 0xfff) < 4096 && (aux & 0xfff) < 4096);
    unsigned char random, seed;
    uint64_t a, b;
    __asm__ volatile("rdrand %0\n setc %1" : "=r"(a), "=q"(random) : : "cc");
    __asm__ volatile("rdseed %0\n setc %1" : "=r"(b), "=q"(seed) : : "cc");
    CHECK(!random || a != 0 || b != 0);
    puts("ok");
    return 0;
}
