!> Heat conduction in a rod: how does its middle's temperature depend on the conductivity?
module rod
   implicit none
   real(8) :: conductivity = 0.8d0
contains
   subroutine advance(temperature, steps)
      real(8), intent(inout) :: temperature(:)
      integer, intent(in) :: steps
      real(8) :: before(size(temperature))
      integer :: n, s
      n = size(temperature)
      do s = 1, steps
         before = temperature
         temperature(2:n - 1) = before(2:n - 1) &
            + 0.25d0*conductivity*(before(1:n - 2) - 2*before(2:n - 1) + before(3:n))
      end do
   end subroutine
end module

program heat
   use rod
   implicit none
   real(8) :: temperature(21)
   temperature = 20
   temperature(1) = 100
   call advance(temperature, 400)
   write (*, '(a, f10.5)') 'middle:', temperature(11)
end program
