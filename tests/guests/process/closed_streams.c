// Started with its standard streams closed, a program gets 0, 1 and 2 for the first files it opens.
//@ wrap: exec "$@" <&- >&- 2>&-
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    int numbers[3];
    for (int i = 0; i < 3; i++) {
        char name[] = "file0";
        name[4] = (char)('0' + i);
        numbers[i] = open(name, O_RDWR | O_CREAT, 0600);
    }
    dprintf(numbers[2], "%d %d %d\n", numbers[0], numbers[1], numbers[2]);
    // Code not run before, so that whoever has to read something reads it now.
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    fprintf(memory, "%.3f %s", 1.5, "done");
    fclose(memory);
    dprintf(numbers[1], "%s\n", text);
    free(text);
    return 0;
}
