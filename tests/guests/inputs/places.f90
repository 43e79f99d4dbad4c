! Allocatable arrays, arrays of known and of assumed shape, and arguments by reference; the last argument moves one of them.
module field
  implicit none
  type cell
    real(8) :: depth
    real(4), allocatable :: flux(:)
  end type
  real(8), allocatable :: u(:), w(:, :)
  type(cell), allocatable :: cells(:)
contains
  subroutine step(n, x, a, b, total)
    integer, intent(in) :: n
    real(8), intent(in) :: x, a(n), b(:)
    real(8), intent(out) :: total
    integer :: i
    total = x * x + sum(sin(u)) + w(2, 3) * w(-1, 1)
    do i = 1, n
      total = total + a(i)**2 * i + b(i)
    end do
    total = total + cells(2)%depth * cells(1)%flux(2)
  end subroutine
end module

program places
  use field
  implicit none
  character(20) :: which, text
  real(8) :: h, a(3), x, total
  integer :: i
  call get_command_argument(1, which)
  h = 0
  if (command_argument_count() > 1) then
    call get_command_argument(2, text)
    read (text, *) h
  end if
  allocate(u(0:4), w(-1:2, 3), cells(2))
  do i = 1, 2
    cells(i)%depth = i
    allocate(cells(i)%flux(3))
    cells(i)%flux = [1, 2, 3]
  end do
  u = [(0.25d0 * i, i = 0, 4)]
  w = 1.5d0
  a = [1, 2, 3]
  x = 3 + moved('x')
  u(1:3) = u(1:3) + moved('u1-3')
  u = u + moved('u')
  w(2, 3) = w(2, 3) + moved('w23')
  a = a + moved('a')
  a(2) = a(2) + moved('a2')
  cells(2)%depth = cells(2)%depth + moved('depth')
  cells(1)%flux(2) = cells(1)%flux(2) + real(moved('flux'), 4)
  call step(3, x, a, [4d0, 5d0, 6d0], total)
  write (*, '(g0)') total
contains
  real(8) function moved(name)
    character(*), intent(in) :: name
    moved = merge(h, 0d0, which == name)
  end function
end program
