// Tenths of a second, counted for hours in a 32-bit float, as the Patriot's clock was.
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int hours = argc > 1 ? atoi(argv[1]) : 100;
    float seconds = 0;
    for (int tick = 0; tick < hours * 3600 * 10; tick++)
        seconds += 0.1f;
    printf("after %d hours the clock shows %.1f s\n", hours, seconds);
}
