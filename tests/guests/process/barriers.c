// membarrier: what was not asked for is refused, also to a child; what was asked for is inherited.
#include "guest.h"
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static long barrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

int main(void)
{
    printf("%d\n", barrier(MEMBARRIER_CMD_QUERY) > 0);
    CHECK_ERRNO(barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED), EPERM);
    CHECK_ERRNO(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 77, 0), EINVAL);
    CHECK_ERRNO(barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED), EPERM);
    CHECK_ERRNO(barrier(1 << 30), EINVAL);
    CHECK(barrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0);
    CHECK(barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0);
    pid_t child = fork();
    if (!child) _exit(barrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0 ? 0 : errno);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}
