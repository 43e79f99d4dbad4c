! sqrt(x + 1) − sqrt(x) in Fortran, printed by write.
program main
   implicit none
   character(40) :: text
   real(8) :: x
   call get_command_argument(1, text)
   read (text, *) x
   write (*, '(es24.16)') sqrt(x + 1) - sqrt(x) ! PRINTED
end program
