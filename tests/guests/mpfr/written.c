// Floats leave in binary form: through write, at two places, one of them many times; and through stdio's buffer.
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

double one = 1;

int main(void)
{
    double wrong[4], right[2];
    float narrow[3];
    for (int i = 0; i < 4; i++) wrong[i] = (one * 1e16 + i / 4.0) - 1e16;
    for (int i = 0; i < 2; i++) right[i] = one / 3 + i;
    for (int i = 0; i < 3; i++) narrow[i] = (float)one / 3 + (float)i;
    for (int i = 0; i < 3; i++) {
        if (write(1, wrong, sizeof wrong) != sizeof wrong) return 1;
    }
    struct iovec pieces[2] = {{"text", 4}, {right, sizeof right}};
    if (writev(1, pieces, 2) != 4 + (int)sizeof right) return 1;
    fwrite(narrow, sizeof narrow[0], 3, stdout);
    return 0;
}
