// clang compiles this file in its own process.
//@ needs: clang
//@ follow: yes
//@ run compile: clang -O2 -c {file} -o clang.o
//@ run assembly: clang -O3 -S -mavx2 -ffast-math {file} -o clang.s
//@ run ir: clang -O1 -S -emit-llvm {file} -o clang.ll
double dot(const double *a, const double *b, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}
int main(void) { return (int)dot((double[]){1, 2}, (double[]){3, 4}, 2) - 11; }
