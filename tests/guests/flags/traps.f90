! Fortran's own ways to ask for exceptions: traps, the intrinsic modules, and the note of STOP.
!
! Traps are asked for on the compiler's command line; the note says which exceptions are signalling. Rules for
! derivatives raise all of them here, the program itself inexact alone.
module values
  implicit none
  real(8), save :: shift = 0d0
end module values

program traps
  use values
  use, intrinsic :: ieee_arithmetic
  use, intrinsic :: ieee_exceptions
  implicit none
  real(8) :: root, big, small, sums
  logical :: flags(5)
  integer :: i
  big = shift * 2d0**600
  small = shift * 2d0**(-600)
  sums = 0d0
  do i = 1, 100
    root = sqrt(shift)
    root = root * root - root
    sums = sums + root + big * 2d0**600 + small * 2d0**(-600) + shift**0.5d0 + shift / 3d0
  end do
  call ieee_get_flag(ieee_all, flags)
  print *, flags
  sums = sums + inner(shift)
  call ieee_get_flag(ieee_all, flags)
  print *, flags
  print *, shift / 3d0 + 1d0 / 3d0, shift * 7d0
  stop
contains
  function inner(x) result(y)
    real(8), intent(in) :: x
    real(8) :: y
    type(ieee_status_type) :: status
    logical :: zero
    call ieee_get_status(status)
    call ieee_set_flag(ieee_all, .false.)
    y = exp(x) - 1d0 + x / 3d0
    call ieee_get_flag(ieee_divide_by_zero, zero)
    if (zero) print *, 'zero'
    call ieee_set_status(status)
  end function inner
end program traps
