// LD_PRELOAD replaces a function of libc, LD_BIND_NOW binds at once.
//@ aux: preload.c
//@ env: LD_PRELOAD={dir}/libpreload.so
//@ env: LD_BIND_NOW=1
#include "guest.h"
#include <time.h>

int main(void)
{
    printf("%ld\n", (long)time(NULL));
    return 0;
}
