// rseq: registered by libc or refused; a second registration and a bad one fail as they should, nothing crashes.
#include "guest.h"
#include <sys/syscall.h>

int main(void)
{
    static char area[64] __attribute__((aligned(64)));
    long result = syscall(SYS_rseq, area, 1, 0, 0x53053053);
    CHECK(result == -1 && (errno == EINVAL || errno == EBUSY || errno == EPERM || errno == ENOSYS));
    puts("ok");
    return 0;
}
