! Fortran: arrays, modules, recursion, formatted and internal I/O, complex numbers, derived types, intrinsics.
!@ opt: -O0 -O2 -O3
!@ link: pie static
module shapes
  implicit none
  type :: point
    real(8) :: x, y
  end type point
contains
  pure real(8) function norm(p)
    type(point), intent(in) :: p
    norm = sqrt(p%x**2 + p%y**2)
  end function norm
  recursive integer function ackermann(m, n) result(r)
    integer, intent(in) :: m, n
    if (m == 0) then
      r = n + 1
    else if (n == 0) then
      r = ackermann(m - 1, 1)
    else
      r = ackermann(m - 1, ackermann(m, n - 1))
    end if
  end function ackermann
end module shapes

program main
  use shapes
  implicit none
  integer, parameter :: n = 40
  real(8) :: a(n, n), b(n, n), c(n, n)
  real(4) :: single(100)
  complex(8) :: z, w
  character(len=40) :: text
  integer :: i, j
  real(8) :: back
  type(point), allocatable :: points(:)
  do j = 1, n
    do i = 1, n
      a(i, j) = 1.0d0 / (i + j - 1)
      b(i, j) = merge(1.0d0, 0.0d0, i == j) + 0.01d0 * i
    end do
  end do
  c = matmul(a, transpose(b))
  ! The library has one product for each instruction set; they differ in the last digits.
  print '(3(es16.9, 1x))', c(1, 1), sum(c), maxval(abs(c))
  single = [(sin(real(i)), i = 1, 100)]
  write (*, '(f12.6, i4)') dot_product(single, single), maxloc(single)
  z = (1.5d0, -2.0d0)
  w = exp(z) * sqrt(z)
  write (*, *) w, abs(w)
  allocate (points(5))
  points = [(point(real(i, 8), 2.0d0 * i), i = 1, 5)]
  print *, (norm(points(i)), i = 1, 5)
  write (text, '(f20.12)') c(3, 4)
  read (text, *) back
  print *, abs(back - c(3, 4)) < 1d-11, ackermann(2, 50)
  open (10, file='numbers.txt')
  write (10, '(10f8.3)') (real(i) / 7, i = 1, 50)
  rewind (10)
  read (10, '(10f8.3)') (single(i), i = 1, 50)
  close (10)
  print '(f10.3)', sum(single(1:50))
  stop 0
end program main
