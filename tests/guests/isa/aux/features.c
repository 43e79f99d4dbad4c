// Part of the tests of the command: prints which levels of the instruction set CPUID offers. With an argument a
// forked child does.
#include <cpuid.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    unsigned a, b, c, d, low = 0, high;
    (void)argv;
    if (argc > 1 && fork()) return wait(NULL) < 0;
    __cpuid(1, a, b, c, d);
    int sse42 = (c & bit_SSE4_2) != 0, avx = (c & bit_AVX) != 0, fma = (c & bit_FMA) != 0, f16c = (c & bit_F16C) != 0;
    int xsave = (c & bit_OSXSAVE) != 0;
    __cpuid_count(7, 0, a, b, c, d);
    int avx2 = (b & bit_AVX2) != 0, bmi2 = (b & bit_BMI2) != 0, avx512 = (b & bit_AVX512F) != 0, vl = (b & bit_AVX512VL) != 0;
    if (xsave) __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    printf("sse42=%d avx=%d fma=%d f16c=%d avx2=%d bmi2=%d avx512f=%d avx512vl=%d ymm=%d zmm=%d\n", sse42, avx, fma, f16c, avx2,
           bmi2, avx512, vl, (low & 4) != 0, (low & 0xe0) == 0xe0);
    return 0;
}
