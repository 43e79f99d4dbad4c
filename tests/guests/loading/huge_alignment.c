// A segment aligned to 2 MB is loaded at such an address.
//@ link: pie nopie static
//@ flags: -Wl,-z,max-page-size=0x200000
#include "guest.h"

static char data[100] __attribute__((aligned(0x200000))) = "aligned to two megabytes";

int main(void)
{
    CHECK((uintptr_t)data % 0x200000 == 0);
    puts(data);
    return 0;
}
