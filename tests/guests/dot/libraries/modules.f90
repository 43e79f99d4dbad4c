! A chain of springs in two modules: positions after some steps, by stiffness and initial positions.
module springs
   implicit none
   real(8), allocatable :: stiffness(:)
contains
   pure function force(x) result(f)
      real(8), intent(in) :: x(:)
      real(8) :: f(size(x))
      integer :: i
      f = -x**3
      do i = 1, size(x) - 1
         f(i) = f(i) + stiffness(i)*sin(x(i + 1) - x(i))
         f(i + 1) = f(i + 1) - stiffness(i)*sin(x(i + 1) - x(i))
      end do
   end function
end module

module leapfrog
   use springs, only: force
   implicit none
contains
   subroutine advance(x, v, dt, steps)
      real(8), intent(inout) :: x(:), v(:)
      real(8), intent(in) :: dt
      integer, intent(in) :: steps
      integer :: s
      do s = 1, steps
         v = v + dt*force(x)
         x = x + dt*v
      end do
   end subroutine
end module

program chain
   use springs
   use leapfrog
   implicit none
   real(8) :: x(4), v(4)
   allocate (stiffness(3))
   read (*, *) stiffness, x
   v = 0
   call advance(x, v, 0.05d0, 20)
   write (*, '(es24.16e3)') x
end program
