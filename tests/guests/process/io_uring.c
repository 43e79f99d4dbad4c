// io_uring: its rings are mapped where the kernel alone decides, and can be used and unmapped.
#include "guest.h"
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static char *map(int ring, size_t size, off_t offset)
{
    char *p = (char *)mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, offset);
    CHECK(p != MAP_FAILED);
    return p;
}

int main(void)
{
    struct io_uring_params params = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 4, &params);
    if (ring < 0) {
        // Not on this system.
        printf("%d\n", errno);
        return 0;
    }
    size_t sq_size = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    size_t cq_size = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
    size_t sqe_size = params.sq_entries * sizeof(struct io_uring_sqe);
    char *sq = map(ring, sq_size, IORING_OFF_SQ_RING), *cq = map(ring, cq_size, IORING_OFF_CQ_RING);
    struct io_uring_sqe *sqes = (struct io_uring_sqe *)map(ring, sqe_size, IORING_OFF_SQES);
    char buffer[16] = {0};
    int file = open("file", O_RDWR | O_CREAT, 0600);
    CHECK(write(file, "written", 7) == 7);
    for (int i = 0; i < 10; i++) {
        unsigned *tail = (unsigned *)(sq + params.sq_off.tail), slot = *tail & *(unsigned *)(sq + params.sq_off.ring_mask);
        sqes[slot] = (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = file, .addr = (uintptr_t)buffer, .len = 7 - i % 3,
                                           .user_data = 40 + i};
        ((unsigned *)(sq + params.sq_off.array))[slot] = slot;
        __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        CHECK(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
        unsigned *head = (unsigned *)(cq + params.cq_off.head);
        CHECK(__atomic_load_n((unsigned *)(cq + params.cq_off.tail), __ATOMIC_ACQUIRE) == *head + 1);
        struct io_uring_cqe *cqe = (struct io_uring_cqe *)(cq + params.cq_off.cqes)
                                   + (*head & *(unsigned *)(cq + params.cq_off.ring_mask));
        printf("%d %d %s\n", (int)cqe->user_data, cqe->res, buffer);
        __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    }
    CHECK(munmap(sq, sq_size) == 0 && munmap(cq, cq_size) == 0 && munmap(sqes, sqe_size) == 0);
    return 0;
}
