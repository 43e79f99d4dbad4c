!> Talks to shadowgrind from within a Fortran program: derivatives in and out, names for inputs and outputs, marks.
!! Compile together with shadowgrind_requests.c; without the tool nothing happens.
!!
!! `x` stands for real(4), real(8), real(10) or complex variables: scalars, arrays of any rank, and sections of those.
module shadowgrind
   use, intrinsic :: iso_c_binding, only: c_int, c_double, c_char
   implicit none
   private

   public :: sg_mode, sg_off, sg_on, sg_begin, sg_end
   public :: sg_get_dot, sg_set_dot, sg_input, sg_output, sg_track, sg_get_real, sg_error_bits
   integer(c_int), parameter, public :: sg_native = -1, sg_none = 0, sg_dot = 1, sg_mpfr = 2, sg_error = 3, &
      sg_adjoint = 4

   interface
      !> The shadow in force; sg_native without the tool.
      function sg_mode() bind(c, name="shadowgrind_fortran_mode") result(mode)
         import :: c_int
         integer(c_int) :: mode
      end function

      !> Shadowing off for the calling thread, until the matching sg_on.
      subroutine sg_off() bind(c, name="shadowgrind_fortran_off")
      end subroutine

      subroutine sg_on() bind(c, name="shadowgrind_fortran_on")
      end subroutine

      !> Shadows only what happens up to the matching sg_end (mpfr).
      subroutine sg_begin() bind(c, name="shadowgrind_fortran_begin")
      end subroutine

      subroutine sg_end() bind(c, name="shadowgrind_fortran_end")
      end subroutine

      !> The dot values of `x`, in array order; left as they are without the tool.
      subroutine sg_get_dot(x, dot) bind(c, name="shadowgrind_fortran_get_dot")
         import :: c_double
         type(*), intent(in) :: x(..)
         real(c_double), intent(inout) :: dot(..)
      end subroutine

      !> Gives `x` dot values; `x` itself does not change.
      subroutine sg_set_dot(x, dot) bind(c, name="shadowgrind_fortran_set_dot")
         import :: c_double
         type(*), intent(inout) :: x(..)
         real(c_double), intent(in) :: dot(..)
      end subroutine

      !> `x` is an input called `name`: its dot values become `weight`, or 1.
      subroutine sg_input(name, x, weight) bind(c, name="shadowgrind_fortran_input")
         import :: c_char, c_double
         character(kind=c_char, len=*), intent(in) :: name
         type(*), intent(inout) :: x(..)
         real(c_double), intent(in), optional :: weight
      end subroutine

      !> `x` is reported, as it is now, as an output called `name`.
      subroutine sg_output(name, x) bind(c, name="shadowgrind_fortran_output")
         import :: c_char
         character(kind=c_char, len=*), intent(in) :: name
         type(*), intent(in) :: x(..)
      end subroutine

      !> `x` gets reals now, though no operation touched them yet (mpfr).
      subroutine sg_track(x) bind(c, name="shadowgrind_fortran_track")
         type(*), intent(in) :: x(..)
      end subroutine

      !> The real beside the scalar `x`, as decimal text padded with blanks; blank without the tool.
      subroutine sg_get_real(x, text) bind(c, name="shadowgrind_fortran_get_real")
         import :: c_char
         type(*), intent(in) :: x(..)
         character(kind=c_char, len=*), intent(out) :: text
      end subroutine

      !> The error of the scalar `x` in bits (mpfr, error); 0 without the tool.
      function sg_error_bits(x) bind(c, name="shadowgrind_fortran_error_bits") result(bits)
         import :: c_double
         type(*), intent(in) :: x(..)
         real(c_double) :: bits
      end function
   end interface
end module
