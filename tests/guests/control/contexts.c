// makecontext and swapcontext: two coroutines and a generator that pass control to and fro.
#include "guest.h"
#include <ucontext.h>

static ucontext_t scheduler, coroutine[2];
static char stack[2][65536];
static int finished;

static void body(int id, int rounds)
{
    double sum = id;
    for (int i = 0; i < rounds; i++) {
        sum += 1.0 / (i + 1);
        if (i % 250 == 0) printf("%d: %.12f\n", id, sum);
        CHECK(swapcontext(&coroutine[id], &scheduler) == 0);
    }
    finished++;
}

int main(void)
{
    for (int id = 0; id < 2; id++) {
        CHECK(getcontext(&coroutine[id]) == 0);
        coroutine[id].uc_stack.ss_sp = stack[id];
        coroutine[id].uc_stack.ss_size = sizeof stack[id];
        coroutine[id].uc_link = &scheduler;
        makecontext(&coroutine[id], (void (*)(void))body, 2, id, 1000 + id);
    }
    int switches = 0;
    for (int live[2] = {1000 + 1, 1001 + 1}; live[0] || live[1];)
        for (int id = 0; id < 2; id++)
            if (live[id]) {
                live[id]--;
                switches++;
                CHECK(swapcontext(&scheduler, &coroutine[id]) == 0);
            }
    printf("%d finished after %d switches\n", finished, switches);
    return 0;
}
