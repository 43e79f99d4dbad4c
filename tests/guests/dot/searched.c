// Bytes of floats that are read and are of no account: behind a string that is searched, and around a status word.
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double x = 3;

__attribute__((noinline)) static double leave_on_stack(void) {
    volatile float narrow[64];
    volatile double wide[32];
    for (int i = 0; i < 64; i++) {
        narrow[i] = (float)(x / (i + 3));
        wide[i / 2] = x / (i + 7);
    }
    return narrow[2] + wide[1];
}

static size_t search(int length) {
    double *block = aligned_alloc(64, 1024);
    for (int i = 0; i < 128; i++)
        block[i] = x / (i + 7);
    char *text = (char *)block;
    memset(text, 'a', length);
    text[length] = 0;
    size_t found = strlen(text) + (strchr(text, 'b') != NULL) + (strrchr(text, 'b') != NULL);
    free(block);
    return found;
}

int main(void) {
    size_t found = 0;
    for (int length = 300; length < 400; length++)
        found += search(length);
    int raised = 0;
    for (int i = 0; i < 40; i++) {
        leave_on_stack();
        raised += fetestexcept(FE_ALL_EXCEPT) == FE_INEXACT;
    }
    printf("%zu %d %.17g\n", found, raised, x * x);
    return 0;
}
