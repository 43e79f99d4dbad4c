// A large .bss is zero from its first byte, which shares a page with .data, to its last.
//@ link: pie nopie static
#include "guest.h"

static char before[5001] = "initialised";
static char zeroes[64 << 20];
static char small[3];

int main(void)
{
    size_t touched = 0;
    for (size_t i = 0; i < 20000; i++) touched += zeroes[i] != 0;
    for (size_t i = 0; i < sizeof zeroes; i += 4093) touched += zeroes[i] != 0;
    CHECK(touched == 0 && zeroes[sizeof zeroes - 1] == 0 && small[2] == 0);
    memset(zeroes + sizeof zeroes - 70000, 1, 70000);
    CHECK(before[5000] == 0 && !strcmp(before, "initialised"));
    puts("zero");
    return 0;
}
