/* An array that the HDF5 library writes: its buffer is the sixth argument of the call. */
#include <hdf5.h>
#include <math.h>

double x = 0.5;

int main(void) {
    double values[6];
    for (int i = 0; i < 6; i++)
        values[i] = sin(x * i) * (i + 1);
    hsize_t count = 6;
    hid_t file = H5Fcreate("out.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &count, NULL);
    /* Without the time, two runs write the same. */
    hid_t made = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(made, 0);
    hid_t set = H5Dcreate2(file, "values", H5T_IEEE_F64LE, space, H5P_DEFAULT, made, H5P_DEFAULT);
    herr_t status = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    return status < 0 || H5Dclose(set) < 0 || H5Sclose(space) < 0 || H5Pclose(made) < 0 || H5Fclose(file) < 0;
}
