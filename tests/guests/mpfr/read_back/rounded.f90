! As rounded.c.
program rounded
  real(8), volatile :: tenth = 0.1d0
  real(8) :: total, number
  character(20) :: text
  integer :: i
  total = 0
  do i = 1, 10
     total = total + tenth
  end do
  write (text, '(f6.2)') total * 0.015d0
  read (text, *) number
  print '(f5.3)', number * 1.5d0
end program
