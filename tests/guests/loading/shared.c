// A shared library: copy relocations, interposition, weak symbols, IFUNC, lazy and immediate binding, TLS.
//@ link: pie nopie
//@ aux: shared.c
//@ libs: -L{scratch} -lshared -Wl,-rpath,$ORIGIN -Wl,-z,lazy
#include "guest.h"

extern int copied[4];
extern __thread int library_tls;
int call_overridden(void);
int *own_view_of_copied(void);
int by_ifunc(int);
int weak_one(void) __attribute__((weak));
int weak_absent(void) __attribute__((weak));

// The program's own definition wins, for the library's calls too.
int overridden(void) { return 2; }

static int local_variant(int x) { return x + 100; }
static int (*resolve(void))(int) { return local_variant; }
int local_ifunc(int) __attribute__((ifunc("resolve")));

int main(void)
{
    CHECK(own_view_of_copied() == copied);
    copied[1] = 20;
    printf("%d %d\n", own_view_of_copied()[1], call_overridden());
    printf("%d %d\n", by_ifunc(5), local_ifunc(5));
    library_tls++;
    printf("%d %d %d\n", library_tls, weak_one(), weak_absent == NULL);
    return 0;
}
