// The C library at large: sorting, searching, strings, locale, time, wide characters, files, temporary files, globs.
//@ link: pie static
//@ libs: -lm
#include "guest.h"
#include <dirent.h>
#include <fnmatch.h>
#include <glob.h>
#include <locale.h>
#include <math.h>
#include <regex.h>
#include <search.h>
#include <sys/stat.h>
#include <time.h>
#include <wchar.h>

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void strings(void)
{
    static char a[5000], b[5000];
    uint64_t hash = HASH_START;
    // Every length and alignment: the variants for each CPU differ most there.
    for (size_t length = 0; length < 300; length++)
        for (size_t shift = 0; shift < 5; shift++) {
            memset(a, 'x', sizeof a);
            a[shift * 7 + length] = 0;
            memcpy(b + shift, a + shift * 7, length + 1);
            size_t found[4] = {strlen(a + shift * 7), (size_t)(strchr(b + shift, 'y') != NULL), (size_t)strcmp(a + shift * 7, b + shift), strnlen(b, 50)};
            memmove(b + shift + 3, b + shift, length + 1);
            hash = hash_bytes(hash_bytes(hash, found, sizeof found), b, 400);
        }
    printf("%016lx\n", hash);
}

int main(void)
{
    const char *words[] = {"pear", "apple", "fig", "orange", "kiwi"};
    qsort(words, 5, sizeof *words, compare);
    const char *key = "kiwi";
    printf("%s %s\n", words[0], *(char **)bsearch(&key, words, 5, sizeof *words, compare));
    strings();
    CHECK(setlocale(LC_ALL, "C.UTF-8"));
    wchar_t wide[20];
    printf("%zu %lc\n", mbstowcs(wide, "größe", 20), (wint_t)0x263a);
    struct tm date = {.tm_year = 100, .tm_mon = 1, .tm_mday = 29, .tm_hour = 12};
    char text[100];
    time_t when = timegm(&date);
    strftime(text, sizeof text, "%A %F %j %V", gmtime(&when));
    puts(text);
    regex_t regex;
    regmatch_t match[2];
    CHECK(regcomp(&regex, "([0-9]+)px", REG_EXTENDED) == 0 && regexec(&regex, "width: 120px", 2, match, 0) == 0);
    printf("%d %d %d\n", (int)match[1].rm_so, (int)match[1].rm_eo, fnmatch("*.[ch]", "file.c", 0));
    regfree(&regex);
    for (int i = 0; i < 5; i++) {
        snprintf(text, sizeof text, "file%d.txt", i);
        FILE *file = fopen(text, "w");
        for (int k = 0; k < 1000 * i; k++) fprintf(file, "%d %g\n", k, sqrt(k));
        fclose(file);
    }
    glob_t found;
    CHECK(glob("file*.txt", 0, NULL, &found) == 0);
    struct stat info;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        CHECK(stat(found.gl_pathv[i], &info) == 0);
        printf("%s %ld\n", found.gl_pathv[i], (long)info.st_size);
    }
    globfree(&found);
    int a, b;
    float c;
    CHECK(sscanf("12 0x1f 3.5", "%d %i %f", &a, &b, &c) == 3);
    printf("%d %d %g %s\n", a, b, c, strerror(ENOENT));
    return 0;
}
