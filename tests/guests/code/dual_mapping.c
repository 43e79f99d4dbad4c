// The same memory mapped twice, written through one view and run through the other, as JITs under W^X do.
#include "jit.h"

int main(void)
{
    size_t page = 4096;
    int fd = memfd_create("code", 0);
    CHECK(fd >= 0 && ftruncate(fd, 16 * (long)page) == 0);
    unsigned char *write_view = (unsigned char *)mmap(NULL, 16 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    unsigned char *run_view = (unsigned char *)mmap(NULL, 16 * page, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    CHECK(write_view != MAP_FAILED && run_view != MAP_FAILED && write_view != run_view);
    for (int i = 0; i < 2000; i++) {
        size_t place = (size_t)(i % 16) * page + 8 * (size_t)(i % 5);
        write_add(write_view + place, i);
        CHECK(call(run_view + place, 1) == i + 1);
        // Overwritten at once, in part.
        write_view[place + 2] ^= 1;
        CHECK(call(run_view + place, 1) == (i ^ 1) + 1);
    }
    // By the descriptor, without any mapping.
    unsigned char image[ADD_SIZE];
    for (int i = 0; i < 100; i++) {
        write_add(image, 7000 + i);
        CHECK(pwrite(fd, image, ADD_SIZE, 64) == ADD_SIZE);
        CHECK(call(run_view + 64, 0) == 7000 + i);
    }
    // A second executable view at another address, and the first one gone.
    unsigned char *second = (unsigned char *)mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
    CHECK(munmap(run_view, 16 * page) == 0);
    write_add(write_view, 42);
    CHECK(call(second, 0) == 42);
    write_add(write_view, 43);
    CHECK(call(second, 0) == 43);
    puts("ok");
    return 0;
}
