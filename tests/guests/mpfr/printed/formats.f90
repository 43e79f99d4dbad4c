! The same by Fortran: with a format, and list-directed, where each kind has a field of its own.
program formats
  implicit none
  character(*), parameter :: hows(18) = [character(12) :: 'f12.4', 'f0.4', 'f4.2', 'f12.0', 'e15.7', 'e12.6', 'e15.7e3', &
    'd15.7', 'es15.7', 'en15.7', 'g15.7', 'g15.7e3', 'g0', 'g0.5', '1pe15.7', '2pf15.3', '-2pe15.7', 'sp,f12.3']
  real(8) :: large(8) = [1d16, 1d16, 1d16, 1.152921504606846976d18, 1d40, 1d12, 1d16, 1d16]
  real(8) :: small(8) = [1.2345d0, -0.75d0, 999.9996d0, 0.0009765625d0, 1.5d20, 1d-7, 0.1d0, -0.05d0]
  real(4) :: parts(8) = [1.2345, -0.75, 999.9996, 0.0009765625, 1.5e20, 1e-7, 0.1, -0.05]
  real(8) :: wrong, right
  real(4) :: lost, part
  character(80) :: text
  integer :: i, j
  do i = 1, size(large)
    right = small(i)
    wrong = (large(i) + right) - large(i)
    do j = 1, size(hows)
      text = '(a,'//trim(hows(j))//',a,'//trim(hows(j))//',a)'
      write (*, text) 'w=[', wrong, '] r={', right, '}'
    end do
    write (*, '(3(a,f9.3))', advance='no') 'w=[', wrong, '] r={', right, '}'
    print '()'
    call listed(wrong, right)
    part = parts(i)
    lost = (2e30 + part) - 2e30
    call listed_singles(lost, part)
    call listed_pairs(cmplx(wrong, right, 8))
    call listed_longs(real(wrong, 10) / 4, real(right, 10) / 4)
  end do
contains
  subroutine listed(a, b)
    real(8) :: a, b
    character(40) :: left, other
    write (left, *) a
    write (other, *) b
    print '(5a)', 'w=[', left(2:26), '] r={', other(2:26), '}'
  end subroutine
  subroutine listed_singles(a, b)
    real(4) :: a, b
    character(40) :: left, other
    write (left, *) a
    write (other, *) b
    print '(5a)', 'w=[', left(2:17), '] r={', other(2:17), '}'
  end subroutine
  subroutine listed_longs(a, b)
    real(10) :: a, b
    character(40) :: left, other
    write (left, *) a
    write (other, *) b
    print '(5a)', 'w=[', left(2:31), '] r={', other(2:31), '}'
  end subroutine
  subroutine listed_pairs(z)
    complex(8) :: z
    character(80) :: both
    integer :: comma
    write (both, *) z
    both = adjustl(both)
    comma = index(both, ',')
    print '(5a)', 'w=[', both(2:comma - 1), '] r={', both(comma + 1:index(both, ')') - 1), '}'
  end subroutine
end program
