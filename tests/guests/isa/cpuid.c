// CPUID and XGETBV agree with each other, touch only their registers, and name the same CPU as ever.
#include "guest.h"
#include <cpuid.h>

static uint64_t xgetbv(uint32_t index)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(index));
    return (uint64_t)high << 32 | low;
}

static void check_registers(void)
{
    uint64_t a = 0xffffffff00000000, b = ~0ull, c = ~0ull << 32, d = ~0ull;
    uint64_t others[4];
    __asm__ volatile("mov $0x1111, %%rsi\n mov $0x2222, %%rdi\n mov $0x3333, %%r8\n mov $0x4444, %%r15\n"
                     "stc\n"
                     "cpuid\n"
                     "jc 1f\n ud2\n 1:"
                     "mov %%rsi, %4\n mov %%rdi, %5\n mov %%r8, %6\n mov %%r15, %7"
                     : "+a"(a), "+b"(b), "+c"(c), "+d"(d), "=m"(others[0]), "=m"(others[1]), "=m"(others[2]),
                       "=m"(others[3])
                     :
                     : "rsi", "rdi", "r8", "r15", "cc");
    CHECK(!(a >> 32) && !(b >> 32) && !(c >> 32) && !(d >> 32));
    CHECK(others[0] == 0x1111 && others[1] == 0x2222 && others[2] == 0x3333 && others[3] == 0x4444);
}

static void check_features(void)
{
    unsigned a, b, c, d, b7, c7, d7;
    CHECK(__get_cpuid_max(0, NULL) >= 0xd);
    __cpuid(1, a, b, c, d);
    CHECK(d & bit_SSE2 && d & bit_FXSAVE && d & bit_CMPXCHG8B);
    int osxsave = (c & bit_OSXSAVE) != 0, avx = (c & bit_AVX) != 0, fma = (c & bit_FMA) != 0;
    __cpuid_count(7, 0, a, b7, c7, d7);
    int avx2 = (b7 & bit_AVX2) != 0, avx512 = (b7 & bit_AVX512F) != 0;
    uint64_t enabled = osxsave ? xgetbv(0) : 3;
    CHECK((enabled & 3) == 3);
    // A feature is offered only with what it stands on.
    CHECK(!avx || (osxsave && (enabled & 4)));
    CHECK(!avx2 || avx);
    CHECK(!fma || avx);
    CHECK(!avx512 || (avx2 && (enabled & 0xe0) == 0xe0));
    CHECK(avx512 || !(b7 & (bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL | bit_AVX512CD)));
    CHECK(avx512 || !(c7 & (bit_AVX512VBMI | bit_AVX512VNNI)));
    if (!osxsave) return;
    // The area that xsave needs is at least as large as the enabled parts.
    __cpuid_count(0xd, 0, a, b, c, d);
    CHECK(b >= 576 && c >= b);
    if (enabled & 4) CHECK(b >= 832);
    CHECK(((uint64_t)d << 32 | a) & enabled);
}

static void print_identity(void)
{
    unsigned words[13] = {0}, a, b, c, d;
    __cpuid(0, a, words[0], words[2], words[1]);
    printf("%s\n", (char *)words);
    for (unsigned i = 0; i < 3; i++)
        __cpuid(0x80000002 + i, words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
    printf("%s\n", (char *)words);
    __cpuid(1, a, b, c, d);
    printf("%08x\n", a);
}

int main(void)
{
    check_registers();
    check_features();
    print_identity();
    return 0;
}
