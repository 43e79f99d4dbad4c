// Thread and process names, identity calls, and the small settings of prctl.
#include "guest.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

static void *named(void *unused)
{
    (void)unused;
    char name[16];
    pthread_setname_np(pthread_self(), "worker");
    CHECK(prctl(PR_GET_NAME, name) == 0 && !strcmp(name, "worker"));
    CHECK(syscall(SYS_gettid) != getpid());
    return NULL;
}

int main(void)
{
    char name[16];
    pthread_t thread;
    CHECK(prctl(PR_GET_NAME, name) == 0);
    puts(name);
    CHECK(pthread_create(&thread, NULL, named, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(prctl(PR_SET_NAME, "a name longer than fifteen bytes") == 0 && prctl(PR_GET_NAME, name) == 0);
    puts(name);
    CHECK(getpid() == (int)syscall(SYS_getpid) && gettid() == getpid() && (int)syscall(SYS_set_tid_address, NULL) == getpid());
    CHECK(prctl(PR_SET_PDEATHSIG, SIGTERM) == 0);
    int value = 0;
    CHECK(prctl(PR_GET_PDEATHSIG, &value) == 0 && value == SIGTERM && prctl(PR_SET_PDEATHSIG, 0) == 0);
    printf("dumpable %d\n", prctl(PR_GET_DUMPABLE));
    CHECK(prctl(PR_SET_DUMPABLE, 0) == 0 && prctl(PR_GET_DUMPABLE) == 0);
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    CHECK_ERRNO(prctl(123456), EINVAL);
    struct utsname system;
    CHECK(uname(&system) == 0);
    printf("%s %s\n", system.sysname, system.machine);
    cpu_set_t cpus;
    CHECK(sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) == sysconf(_SC_NPROCESSORS_ONLN));
    CHECK(sched_getcpu() >= 0);
    CHECK_ERRNO(syscall(1000), ENOSYS);
    CHECK_ERRNO(syscall(0x40000000 | 39), ENOSYS);
    return 0;
}
