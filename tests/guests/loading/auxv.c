// The auxiliary vector is complete, and each entry is true of this very process.
//@ link: pie nopie static static-pie
#include "guest.h"
#include <cpuid.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

extern char **environ;
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern char _start[];

static unsigned long value[64];
static int seen[64];

static void read_vector(void)
{
    char **end = environ;
    while (*end) end++;
    for (ElfW(auxv_t) *aux = (ElfW(auxv_t) *)(end + 1); aux->a_type != AT_NULL; aux++) {
        CHECK(aux->a_type < 64);
        CHECK(!seen[aux->a_type]);
        seen[aux->a_type] = 1;
        value[aux->a_type] = aux->a_un.a_val;
    }
}

static void check_image(void)
{
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)__ehdr_start;
    CHECK(value[AT_PHDR] == (unsigned long)__ehdr_start + header->e_phoff);
    CHECK(value[AT_PHENT] == sizeof(ElfW(Phdr)));
    CHECK(value[AT_PHNUM] == header->e_phnum);
    CHECK(value[AT_ENTRY] == (unsigned long)_start);
    int is_dynamic = getenv("GUEST_LINK")[0] == 'p' || getenv("GUEST_LINK")[0] == 'n';
    CHECK((value[AT_BASE] != 0) == is_dynamic);
    if (is_dynamic) CHECK(!memcmp((void *)value[AT_BASE], ELFMAG, SELFMAG));
    CHECK(!memcmp((void *)value[AT_SYSINFO_EHDR], ELFMAG, SELFMAG));
}

int main(int argc, char **argv)
{
    static const int needed[] = {AT_PHDR, AT_PHENT, AT_PHNUM, AT_PAGESZ, AT_BASE, AT_FLAGS, AT_ENTRY, AT_UID,
                                 AT_EUID, AT_GID, AT_EGID, AT_PLATFORM, AT_HWCAP, AT_CLKTCK, AT_SECURE, AT_RANDOM,
                                 AT_HWCAP2, AT_EXECFN, AT_SYSINFO_EHDR, AT_MINSIGSTKSZ};
    (void)argc;
    read_vector();
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (!seen[needed[i]]) printf("no entry of type %d\n", needed[i]);
        // glibc puts names of its own into AT_HWCAP and AT_PLATFORM.
        if (needed[i] != AT_HWCAP && needed[i] != AT_PLATFORM)
            CHECK(getauxval((unsigned long)needed[i]) == value[needed[i]]);
    }
    check_image();
    CHECK(value[AT_PAGESZ] == (unsigned long)sysconf(_SC_PAGESIZE));
    CHECK(value[AT_CLKTCK] == (unsigned long)sysconf(_SC_CLK_TCK));
    CHECK(value[AT_UID] == getuid() && value[AT_EUID] == geteuid());
    CHECK(value[AT_GID] == getgid() && value[AT_EGID] == getegid());
    CHECK(value[AT_SECURE] == 0 && value[AT_FLAGS] == 0);
    CHECK(!strcmp((char *)value[AT_PLATFORM], "x86_64"));
    CHECK(!strcmp((char *)value[AT_EXECFN], argv[0]));
    unsigned a, b, c, d;
    __cpuid(1, a, b, c, d);
    // The kernel may leave some of CPUID's bits out.
    CHECK((value[AT_HWCAP] & ~(unsigned long)d) == 0);
    printf("%lx %lx\n", value[AT_HWCAP], value[AT_HWCAP2]);
    CHECK(value[AT_MINSIGSTKSZ] >= 1024 && value[AT_MINSIGSTKSZ] <= 65536);
    const char *random = (const char *)value[AT_RANDOM];
    int nonzero = 0;
    for (int i = 0; i < 16; i++) nonzero += random[i] != 0;
    CHECK(nonzero > 4);
    puts("sane");
    return 0;
}
