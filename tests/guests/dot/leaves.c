// Floats with derivatives leave by ways on which nobody looks at single calls, or do not: mapped files, programs, queues, messages.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

double x = 1.1;

static void must(int holds)
{
    if (!holds)
        abort();
}

/* Two floats with derivatives in a file, and one without. */
static void fill(int file)
{
    must(file >= 0 && ftruncate(file, 4096) == 0);
    double *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    must(mapped != MAP_FAILED);
    mapped[0] = x * x;
    mapped[1] = 5;
    mapped[2] = 1 / x;
    must(munmap(mapped, 4096) == 0);
}

static void execute(char *argument)
{
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        execl("/bin/true", "true", argument, (char *)NULL);
        _exit(1);
    }
    int status;
    must(waitpid(child, &status, 0) == child && status == 0);
}

static struct io_uring_params params;
static char *ring;
static struct io_uring_sqe *entries;

static void *map_ring(int file, size_t bytes, off_t offset)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, offset);
    must(at != MAP_FAILED);
    return at;
}

static void submit(int queue, int operation, int file, double *floats, size_t bytes)
{
    unsigned *tail = (unsigned *)(ring + params.sq_off.tail), mask = *(unsigned *)(ring + params.sq_off.ring_mask);
    unsigned slot = *tail & mask;
    entries[slot] = (struct io_uring_sqe){.opcode = operation, .fd = file, .addr = (uintptr_t)floats, .len = bytes};
    ((unsigned *)(ring + params.sq_off.array))[slot] = slot;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_SEQ_CST);
    if (!(params.flags & IORING_SETUP_SQPOLL))
        must(syscall(SYS_io_uring_enter, queue, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
    else if (__atomic_load_n((unsigned *)(ring + params.sq_off.flags), __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP)
        must(syscall(SYS_io_uring_enter, queue, 1, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0) == 1);
    /* Nothing is taken from the queue of results: its end says how many there are. */
    while (__atomic_load_n((unsigned *)(ring + params.cq_off.tail), __ATOMIC_ACQUIRE) != *tail)
        ;
}

/* Two leave by a ring; where plain ones are read, there are none any more. */
static void by_ring(unsigned flags)
{
    params.flags = flags;
    params.sq_thread_idle = 1000;
    int queue = (int)syscall(SYS_io_uring_setup, 4, &params);
    must(queue >= 0);
    ring = map_ring(queue, params.sq_off.array + params.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    entries = map_ring(queue, params.sq_entries * sizeof *entries, IORING_OFF_SQES);
    int file = open("ring.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
    double floats[3] = {x, 7, x * x};
    submit(queue, IORING_OP_WRITE, file, floats, sizeof floats);
    double plain = 4, there = x * x;
    must(pwrite(file, &plain, sizeof plain, 0) == sizeof plain);
    submit(queue, IORING_OP_READ, file, &there, sizeof there);
    printf("%g\n", there);
    must(unlink("ring.tmp") == 0);
}

static void asynchronously(void)
{
    aio_context_t context = 0;
    must(syscall(SYS_io_setup, 4, &context) == 0);
    int file = open("queue.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
    double floats[2] = {x * x, 3};
    struct iocb block = {.aio_lio_opcode = IOCB_CMD_PWRITE, .aio_fildes = file, .aio_buf = (uintptr_t)floats, .aio_nbytes = sizeof floats};
    struct iocb *blocks = &block;
    must(syscall(SYS_io_submit, context, 1, &blocks) == 1);
    struct io_event event;
    must(syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1);
    must(unlink("queue.tmp") == 0);
}

static void by_message(void)
{
    char name[32];
    snprintf(name, sizeof name, "/leaves.%d", (int)getpid());
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = sizeof x};
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
    must(queue >= 0 && mq_unlink(name) == 0);
    double sent = x * x;
    must(mq_send(queue, (char *)&sent, sizeof sent, 0) == 0);
}

/* A child fetches two from its parent. */
static void by_the_reader(void)
{
    static double floats[3];
    floats[0] = x;
    floats[2] = 2 * x;
    pid_t parent = getpid(), child = fork();
    must(child >= 0);
    if (child == 0) {
        double fetched[3];
        struct iovec here = {fetched, sizeof fetched}, there = {floats, sizeof floats};
        must(process_vm_readv(parent, &here, 1, &there, 1, 0) == sizeof fetched);
        printf("%g\n", fetched[2]);
        exit(0);
    }
    must(waitpid(child, NULL, 0) == child);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 4096);
    const char *how = argv[argc - 1];
    if (strcmp(how, "file") == 0 || strcmp(how, "gone") == 0 || strcmp(how, "read") == 0) {
        fill(open("mapped.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600));
        if (strcmp(how, "read") == 0)
            execute(NULL);
        if (strcmp(how, "file") != 0)
            must(unlink("mapped.tmp") == 0);
    } else if (strcmp(how, "inherited") == 0) {
        fill(memfd_create("inherited", 0));
        execute(NULL);
    } else if (strcmp(how, "kept") == 0) {
        fill(memfd_create("kept", MFD_CLOEXEC));
        execute(NULL);
    } else if (strcmp(how, "argument") == 0) {
        double raw = x * x;
        char text[9] = "";
        memcpy(text, &raw, sizeof raw);
        execute(text);
    } else if (strcmp(how, "replaced") == 0) {
        int file = open("replaced.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
        double left = x * x;
        must(write(file, &left, sizeof left) == sizeof left);
        execl(argv[0], argv[0], "again", (char *)NULL);
    } else if (strcmp(how, "ring") == 0) {
        by_ring(0);
    } else if (strcmp(how, "polled") == 0) {
        by_ring(IORING_SETUP_SQPOLL);
    } else if (strcmp(how, "queue") == 0) {
        asynchronously();
    } else if (strcmp(how, "message") == 0) {
        by_message();
    } else if (strcmp(how, "reader") == 0) {
        by_the_reader();
    }
    printf("%g\n", x * x);
    return 0;
}
