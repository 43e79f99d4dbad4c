// /proc/self/maps shows the program's mappings, each at its place with its rights, and its stack, heap and file.
//@ link: pie nopie static
#include "guest.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/auxv.h>
#include <sys/mman.h>

static char text[1 << 20];

static void read_maps(void)
{
    int fd = open("/proc/self/maps", O_RDONLY);
    CHECK(fd >= 0);
    size_t size = 0;
    for (ssize_t n; (n = read(fd, text + size, sizeof text - 1 - size)) > 0;) size += (size_t)n;
    text[size] = 0;
    close(fd);
}

// The rights and the name of the mapping at an address; NULL if there is none.
static const char *find(const void *address, char *name)
{
    static char rights[5];
    char copy[1 << 12];
    for (char *line = text; *line; line = strchr(line, '\n') + 1) {
        unsigned long start, end;
        int used = 0;
        snprintf(copy, sizeof copy, "%.*s", (int)(strchr(line, '\n') - line), line);
        CHECK(sscanf(copy, "%lx-%lx %4s %*x %*s %*u %n", &start, &end, rights, &used) == 3);
        if ((unsigned long)address < start || (unsigned long)address >= end) continue;
        strcpy(name, copy + used);
        return rights;
    }
    return NULL;
}

static int global = 1;

int main(void)
{
    char name[1 << 12], exe[PATH_MAX] = {0};
    CHECK(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
    char *p = (char *)mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(mprotect(p + 4096, 4096, PROT_READ | PROT_EXEC) == 0);
    CHECK(sbrk(4096) != (void *)-1);
    read_maps();
    CHECK(!strcmp(find(p, name), "rw-p") && !*name);
    CHECK(!strcmp(find(p + 4096, name), "r-xp"));
    CHECK(!strcmp(find(p + 2 * 4096, name), "rw-p"));
    CHECK(!strcmp(find((void *)main, name), "r-xp") && !strcmp(name, exe));
    CHECK(!strcmp(find(&global, name), "rw-p") && !strcmp(name, exe));
    CHECK(!strcmp(find(name, name), "rw-p") && !strcmp(name, "[stack]"));
    CHECK(!strcmp(find((char *)sbrk(0) - 1, name), "rw-p") && !strcmp(name, "[heap]"));
    CHECK(!strcmp(find((void *)getauxval(AT_SYSINFO_EHDR), name), "r-xp") && !strcmp(name, "[vdso]"));
    munmap(p, 3 * 4096);
    read_maps();
    CHECK(!find(p, name));
    // In order, without overlap, and none that is writable and executable: this program has no such mapping.
    unsigned long last = 0;
    for (char *line = text; *line; line = strchr(line, '\n') + 1) {
        unsigned long start, end;
        char rights[5];
        CHECK(sscanf(line, "%lx-%lx %4s", &start, &end, rights) == 3);
        CHECK(start >= last && end > start);
        last = end;
        if (!strncmp(rights, "rwx", 3)) printf("rwx: %.*s\n", (int)(strchr(line, '\n') - line), line);
    }
    puts("ok");
    return 0;
}
