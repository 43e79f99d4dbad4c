// Code in shared memory changed by another process, and code changed by a child that must not change the parent's.
#include "jit.h"
#include <sys/wait.h>

int main(void)
{
    unsigned char *shared = (unsigned char *)mmap(NULL, 4096, RWX, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned char *own = pages(4096, RWX);
    CHECK(shared != MAP_FAILED);
    write_add(shared, 1);
    write_add(own, 1);
    CHECK(call(shared, 0) == 1 && call(own, 0) == 1);
    for (int i = 2; i < 40; i++) {
        pid_t pid = fork();
        if (!pid) {
            write_add(shared, i);
            write_add(own, -i);
            _exit(call(shared, 0) == i && call(own, 0) == -i ? 0 : 1);
        }
        int status;
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
        CHECK(call(shared, 0) == i && call(own, 0) == 1);
    }
    puts("ok");
    return 0;
}
