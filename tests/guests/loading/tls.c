// Thread-local variables of the program: initial values, zeroes, alignment, and a fresh set per thread.
//@ link: pie nopie static static-pie
#include "guest.h"
#include <pthread.h>

static __thread int number = 42;
static __thread char zeroes[1000];
static __thread char aligned[64] __attribute__((aligned(256))) = "aligned";
__thread long visible = 7;

static void *check(void *unused)
{
    (void)unused;
    CHECK(number == 42 && visible == 7);
    for (int i = 0; i < 1000; i++) CHECK(zeroes[i] == 0);
    CHECK((uintptr_t)aligned % 256 == 0 && !strcmp(aligned, "aligned"));
    number = 1;
    visible = 2;
    zeroes[999] = 3;
    aligned[0] = 'A';
    return NULL;
}

int main(void)
{
    check(NULL);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, check, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(number == 1 && visible == 2 && zeroes[999] == 3);
    puts(aligned);
    return 0;
}
