/* An array that the netCDF library writes: its buffer is an argument of the call. */
#include <math.h>
#include <netcdf.h>

double x = 0.5;

int main(void) {
    double values[6];
    for (int i = 0; i < 6; i++)
        values[i] = sin(x * i) * (i + 1);
    int file, dimension, variable;
    if (nc_create("out.nc", NC_CLOBBER, &file) || nc_def_dim(file, "n", 6, &dimension)
        || nc_def_var(file, "values", NC_DOUBLE, 1, &dimension, &variable) || nc_enddef(file)
        || nc_put_var_double(file, variable, values))
        return 1;
    return nc_close(file);
}
