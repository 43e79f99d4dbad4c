! Prints what it knows of its own variables, as variables.c does. Addresses are decimal here.
module phys
  implicit none
  real(8) :: nu = 0.1d0
  real(4) :: single = 2
  real(10) :: wide = 3
  real(8) :: a(0:3, -1:2)
  real(8) :: plain(5)
  complex(8) :: z
  real(8), allocatable :: later(:)
  integer :: count = 1
  type point
    real(8) :: x
    real(4) :: y(2)
  end type
  type(point) :: p
contains
  subroutine say(need, spec, form, at)
    character(*), intent(in) :: need, spec, form
    integer(8), intent(in) :: at(:)
    character(3000) :: line
    integer :: i
    line = need // char(9) // spec // char(9) // form
    do i = 1, size(at)
      write (line(len_trim(line) + 1:), '(a, i0)') char(9), at(i)
    end do
    write (*, '(a)') trim(line)
  end subroutine
  subroutine step(x)
    real(8), intent(inout) :: x
    real(8), save :: calls = 1d0
    real(8) :: c1, c2(3)
    common /blk/ c1, c2
    calls = calls + x * nu
    x = calls + c1 + c2(1)
    call say('s', 'calls', 'f64', [loc(calls)])
    call say('d', 'phys::step::calls', 'f64', [loc(calls)])
    call say('d', 'c1', 'f64', [loc(c1)])
    call say('d', 'blk::c2(2:3)', 'f64', [loc(c2(2)), loc(c2(3))])
    call say('s', 'blk_[1]', 'f64', [loc(c2(1))])
  end subroutine
end module

program burgers
  use phys
  implicit none
  real(8) :: y = 2
  integer :: i
  a = 0
  allocate(later(3))
  call say('s', 'phys::nu', 'f64', [loc(nu)])
  call say('s', 'PHYS::NU', 'f64', [loc(nu)])
  call say('s', '__phys_MOD_nu', 'f64', [loc(nu)])
  call say('d', 'nu', 'f64', [loc(nu)])
  call say('d', 'Nu', 'f64', [loc(nu)])
  call say('s', 'phys::single', 'f32', [loc(single)])
  call say('d', 'phys::wide', 'f80', [loc(wide)])
  call say('d', 'phys::a(0,-1)', 'f64', [loc(a(0, -1))])
  call say('d', 'phys::a(3,2)', 'f64', [loc(a(3, 2))])
  call say('d', 'phys::a[1][0]', 'f64', [loc(a(1, 0))])
  call say('d', 'phys::a(1:2,:)', 'f64', [(loc(a(1, i)), loc(a(2, i)), i = -1, 2)])
  call say('s', 'phys::plain(1)', 'f64', [loc(plain(1))])
  call say('s', 'phys::plain(4:)', 'f64', [loc(plain(4)), loc(plain(5))])
  call say('s', 'phys::plain[4..6]', 'f64', [loc(plain(4)), loc(plain(5))])
  call say('d', 'phys::z.im', 'f64', [loc(z) + 8])
  call say('d', 'phys::p%y(2)', 'f32', [loc(p%y(2))])
  call say('d', 'burgers::y', 'f64', [loc(y)])
  call step(y)
  if (y + later(1) * 0 + count < 0) stop 1
end program
