// Libraries loaded, called and unloaded in turn, so that one's code takes the place of another's.
//@ aux: one.c
//@ aux: two.c
//@ aux: three.cpp
#include "guest.h"
#include <dlfcn.h>

int main(void)
{
    static const char *const names[] = {"one", "two", "three"};
    char path[4096];
    long sum = 0;
    for (int i = 0; i < 60; i++) {
        snprintf(path, sizeof path, "%s/lib%s.so", getenv("GUEST_DIR"), names[i % 3]);
        void *library = dlopen(path, i % 2 ? RTLD_NOW : RTLD_LAZY);
        if (!library) puts(dlerror());
        CHECK(library);
        int (*compute)(int) = (int (*)(int))dlsym(library, "compute");
        for (int x = 0; x < 10; x++) sum += compute(x);
        CHECK(dlclose(library) == 0);
    }
    CHECK(!dlopen("/nonexistent/library.so", RTLD_NOW) && dlerror());
    printf("%ld\n", sum);
    return 0;
}
