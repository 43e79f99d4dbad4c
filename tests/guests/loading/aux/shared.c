// Part of loading/shared: data to copy, functions to interpose, an IFUNC and thread-local storage.
#include <stdio.h>

int copied[4] = {1, 2, 3, 4};
__thread int library_tls = 11;

int overridden(void) { return 1; }
int call_overridden(void) { return overridden(); }
int *own_view_of_copied(void) { return copied; }

static int picked_variant(int x) { return x * 3; }
static int (*pick(void))(int) { return picked_variant; }
int by_ifunc(int x) __attribute__((ifunc("pick")));

int weak_one(void) { return 5; }

__attribute__((constructor)) static void loaded(void) { puts("library loaded"); }
__attribute__((destructor)) static void unloaded(void) { puts("library unloaded"); }
