// A least-squares problem by Eigen's Householder QR, and the eigenvalues of its normal matrix.
#include "read.h"
#include <Eigen/Dense>

int main()
{
    double given[12];
    if (read_all(given, 12) != 12) return 1;
    Eigen::Matrix<double, 4, 2> a;
    Eigen::Matrix<double, 4, 1> b;
    for (int i = 0; i < 4; i++) {
        a(i, 0) = given[3 * i];
        a(i, 1) = given[3 * i + 1] + i;
        b(i) = given[3 * i + 2];
    }
    Eigen::Vector2d x = a.householderQr().solve(b);
    Eigen::Matrix2d normal = a.transpose() * a;
    Eigen::Vector2d values = Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d>(normal).eigenvalues();
    std::printf("%.17g %.17g %.17g %.17g\n", x(0), x(1), values(0), values(1));
}
