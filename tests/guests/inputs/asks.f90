! Numbers of standard input whose values are the lines that ask for them, by Fortran's read of a list, with a format, and of a string.
program asks
  double precision :: a, c
  real :: b, d(1)
  character(20) :: text
  namelist /given/ c
  read *, a                   ! 7.5
  read '(f6.2)', b            ! 8.5
  read '(a)', text
  read (text, *) d            ! 10.5
  read (*, nml=given)         ! 11.5
  print '(es24.16)', a * b + c * d(1)
end program asks
