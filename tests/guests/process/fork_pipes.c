// A pipeline of forked processes passes data through pipes in order.
#include "guest.h"
#include <sys/wait.h>

int main(void)
{
    int in = -1;
    for (int stage = 0; stage < 4; stage++) {
        int pipes[2];
        CHECK(pipe(pipes) == 0);
        if (!fork()) {
            close(pipes[0]);
            for (int i = 0; i < 20000; i++) {
                int x = i;
                if (in >= 0) CHECK(read(in, &x, sizeof x) == sizeof x);
                x = x * 3 + stage;
                CHECK(write(pipes[1], &x, sizeof x) == sizeof x);
            }
            _exit(0);
        }
        close(pipes[1]);
        if (in >= 0) close(in);
        in = pipes[0];
    }
    uint64_t hash = HASH_START;
    int x, count = 0;
    while (read(in, &x, sizeof x) == sizeof x) hash = hash_bytes(hash, &x, sizeof x), count++;
    printf("%d %016lx\n", count, hash);
    for (int i = 0; i < 4; i++) {
        int status;
        CHECK(wait(&status) > 0 && status == 0);
    }
    CHECK_ERRNO(wait(NULL), ECHILD);
    return 0;
}
