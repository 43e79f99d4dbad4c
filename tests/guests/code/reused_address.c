// Code unmapped, and other code at the same address: by munmap and mmap, MAP_FIXED over it, mremap, and a file.
#include "jit.h"
#include <fcntl.h>

int main(void)
{
    size_t page = 4096;
    unsigned char *at = pages(page, RWX), image[4096] = {0};
    for (int i = 0; i < 300; i++) {
        write_add(at, i);
        CHECK(call(at, 0) == i);
        CHECK(munmap(at, page) == 0);
        CHECK(mmap(at, page, RWX, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == at);
    }
    for (int i = 0; i < 100; i++) {
        CHECK(mmap(at, page, RWX, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
        write_add(at, -i);
        CHECK(call(at, 0) == -i);
    }
    for (int i = 0; i < 100; i++) {
        unsigned char *other = pages(page, RWX);
        write_add(other, 500 + i);
        CHECK(call(other, 0) == 500 + i);
        CHECK(mremap(other, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at);
        CHECK(call(at, 0) == 500 + i);
    }
    int fd = open("code", O_RDWR | O_CREAT, 0700);
    for (int i = 0; i < 100; i++) {
        write_add(image, 9000 + i);
        CHECK(pwrite(fd, image, page, 0) == (ssize_t)page);
        CHECK(mmap(at, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == at);
        CHECK(call(at, 0) == 9000 + i);
    }
    // Zeroed by advice, then filled again.
    CHECK(mmap(at, page, RWX, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
    for (int i = 0; i < 50; i++) {
        write_add(at, i);
        CHECK(call(at, 3) == i + 3);
        CHECK(madvise(at, page, MADV_DONTNEED) == 0 && at[0] == 0);
    }
    CHECK(unlink("code") == 0);
    puts("ok");
    return 0;
}
