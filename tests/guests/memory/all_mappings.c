// A program that has used up all mappings a process may have goes on: code that has not run before, signals, more memory.
//@ libs: -lm
#include <math.h>
#include <regex.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, MOST = 100000 };

static volatile sig_atomic_t signals;

static void count(int signal)
{
    (void)signal;
    signals++;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

int main(void)
{
    static void *pages[MOST];
    int mapped = 0;
    /* No two neighbours are alike, so that the kernel cannot make one mapping of them. */
    while (mapped < MOST) {
        void *page = mmap(NULL, PAGE, mapped % 2 ? PROT_READ : PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) break;
        pages[mapped++] = page;
    }
    signal(SIGUSR1, count);
    for (int i = 0; i < 100; i++) raise(SIGUSR1);
    static uint32_t numbers[1000];
    for (int i = 0; i < 1000; i++) numbers[i] = (uint32_t)i * 2654435761u;
    qsort(numbers, 1000, sizeof numbers[0], by_value);
    char text[200];
    snprintf(text, sizeof text, "%d %.10f %u %s", (int)signals, sin(1) + pow(2, 0.5), numbers[500], strerror(2));
    puts(text);
    regex_t expression;
    if (regcomp(&expression, "[0-9]+ [0-9.]+", REG_EXTENDED | REG_NOSUB) == 0) puts(regexec(&expression, text, 0, NULL, 0) ? "no" : "yes");
    int wrong = 0;
    for (int i = 0; i < mapped; i++) wrong += munmap(pages[i], PAGE) != 0;
    printf("%d\n", wrong);
    return 0;
}
