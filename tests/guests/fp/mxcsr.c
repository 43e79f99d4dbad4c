// MXCSR: flush to zero and denormals-are-zero are honoured and kept; all writable bits come back.
#include "guest.h"
#include <sys/syscall.h>
#include <xmmintrin.h>

static volatile double tiny = 1e-310, small = 1e-300, factor = 1e-10;
static volatile float tinyf = 1e-40f;

int main(void)
{
    for (unsigned bits = 0; bits < 4; bits++) {
        unsigned word = 0x1f80 | (bits & 1 ? 0x8000 : 0) | (bits & 2 ? 0x40 : 0);
        _mm_setcsr(word);
        double flushed = small * factor, treated = tiny * 4;
        float single = tinyf + tinyf;
        syscall(SYS_getppid);
        unsigned after = _mm_getcsr();
        _mm_setcsr(0x1f80);
        printf("%u: %a %a %a %04x\n", bits, flushed, treated, single, after);
    }
    for (unsigned word = 0; word < 0x10000; word += 0x40) {
        // Unmasked exceptions are not raised by setting masks alone.
        _mm_setcsr(word);
        syscall(SYS_getppid);
        unsigned back = _mm_getcsr();
        _mm_setcsr(0x1f80);
        CHECK(back == word);
    }
    puts("all kept");
    return 0;
}
