! The same in Fortran: intrinsics, arrays, derived types, commons, complex numbers, pointers, strings of characters.
!@ KIND is 4, 8 or 10; the input is shifted::shift
module shifted
   implicit none
   integer, parameter :: rk = KIND, wk = 10
   real(rk) :: shift = 0
   type pair
      real(rk) :: first, second
      integer :: tag
   end type
   type, extends(pair) :: triple
      real(rk) :: third
   end type
contains
   subroutine check(name, value, derivative)
      character(*), intent(in) :: name
      real(rk), intent(in) :: value
      real(wk), intent(in) :: derivative
#if KIND == 10
      write (*, '(a, 2(1x, es29.20e4))') name, value, derivative
#else
      write (*, '(a, 2(1x, es25.16e3))') name, value, real(derivative, 8)
#endif
   end subroutine

   real(rk) function at(p)
      real(8), intent(in) :: p
      at = real(p, rk) + shift
   end function

   recursive real(rk) function chain(x, n) result(r)
      real(rk), intent(in) :: x
      integer, intent(in) :: n
      if (n == 0) then
         r = 1
      else
         r = x*n*chain(x, n - 1)
      end if
   end function

   subroutine by_reference(x, y)
      real(rk), intent(in) :: x
      real(rk), intent(out), optional :: y
      if (present(y)) y = x*x + 1
   end subroutine

   elemental real(rk) function squared(x)
      real(rk), intent(in) :: x
      squared = x*x
   end function
end module

module checks
   use shifted
   implicit none
contains
   subroutine operators(x, w)
      real(rk), intent(in) :: x
      real(wk), intent(in) :: w
      call check("add", x + 2, 1._wk)
      call check("sub", 2 - x, -1._wk)
      call check("mul", x*3, 3._wk)
      call check("div", 3/x, -3/w**2)
      call check("square", x**2, 2*w)
      call check("cube", x**3, 3*w**2)
      call check("inverse-square", x**(-2), -2*w**(-3))
      call check("abs", abs(x), sign(1._wk, w))
      call check("sign", sign(x, -1._rk), -sign(1._wk, w))
      call check("min", min(x, 1._rk), merge(1._wk, 0._wk, w < 1))
      call check("max", max(x, 1._rk, -x), merge(-1._wk, merge(1._wk, 0._wk, w > 1), w < -1))
      call check("mod", mod(x, 2._rk), 1._wk)
      call check("modulo", modulo(x, 2._rk), 1._wk)
      call check("aint", aint(x)*x, aint(w))
      call check("nint", nint(x)*x, real(nint(w), wk))
      call check("floor", floor(x)*x, real(floor(w), wk))
      call check("dim", dim(x, -9._rk), 1._wk)
      call check("through-double", real(real(x, 8)*2d0, rk), 2._wk)
      call check("merge", merge(x*x, 2*x, x > 0), merge(2*w, 2._wk, w > 0))
      call check("scale", scale(x, 3), 8._wk)
      call check("fraction", fraction(x), 2._wk**(-exponent(w)))
      call check("set-exponent", set_exponent(x, 4), 2._wk**(4 - exponent(w)))
   end subroutine

   subroutine intrinsics(x, w)
      real(rk), intent(in) :: x
      real(wk), intent(in) :: w
      real(wk), parameter :: pi = 3.14159265358979323846264338327950288_wk
      call check("sqrt", sqrt(x), 1/(2*sqrt(w)))
      call check("exp", exp(x), exp(w))
      call check("log", log(x), 1/w)
      call check("log10", log10(x), 1/(w*log(10._wk)))
      call check("sin", sin(x), cos(w))
      call check("cos", cos(x), -sin(w))
      call check("tan", tan(x), 1/cos(w)**2)
      call check("asin", asin(x/4), 1/(4*sqrt(1 - w**2/16)))
      call check("acos", acos(x/4), -1/(4*sqrt(1 - w**2/16)))
      call check("atan", atan(x), 1/(1 + w**2))
      call check("atan2", atan2(x, 3._rk), 3/(w**2 + 9))
      call check("sinh", sinh(x), cosh(w))
      call check("cosh", cosh(x), sinh(w))
      call check("tanh~4", tanh(x), 1/cosh(w)**2)
      call check("asinh", asinh(x), 1/sqrt(1 + w**2))
      call check("atanh", atanh(x/4), 1/(4*(1 - w**2/16)))
      call check("erf~4", erf(x), 2/sqrt(pi)*exp(-w**2))
      call check("erfc~4", erfc(x), -2/sqrt(pi)*exp(-w**2))
      call check("bessel_j0~4", bessel_j0(x), -bessel_j1(w))
      call check("bessel_y0~4", bessel_y0(x), -bessel_y1(w))
      call check("hypot", hypot(x, 3._rk), w/hypot(w, 3._wk))
      call check("power", x**2.5_rk, 2.5_wk*w**1.5_wk)
   end subroutine

   subroutine arrays(x, w)
      real(rk), intent(in) :: x
      real(wk), intent(in) :: w
      integer :: i
      real(rk) :: a(20), b(4, 4), c(4, 4)
      real(rk), allocatable :: grown(:)
      real(rk), pointer :: every_third(:)
      real(rk), target :: t(12)
      real(wk), parameter :: ramp = 210
      a = [(x*i, i=1, 20)]
      call check("sum", sum(a), ramp)
      call check("dot_product", dot_product(a, a), 2*w*2870)
      call check("maxval", maxval(a), merge(20._wk, 1._wk, w > 0))
      call check("where", sum(merge(a, 0._rk, mod([(i, i=1, 20)], 2) == 0)), 110._wk)
      call check("elemental", sum(squared(a)), 2*w*2870)
      call check("norm2~2", norm2(a), sqrt(2870._wk)*sign(1._wk, w))
      b = reshape([(x + i, i=1, 16)], [4, 4])
      c = matmul(b, transpose(b))
      call check("matmul", c(1, 2), sum([(2*w + (4*i + 1) + (4*i + 2), i=0, 3)]))
      call check("product", product(b(1:2, 1)), 2*w + 3)
      allocate (grown(0))
      do i = 1, 10
         grown = [grown, x*i]
      end do
      call check("allocatable", sum(grown(::3)), 22._wk)
      t = [(x*i, i=1, 12)]
      every_third => t(1::3)
      every_third = every_third*2
      call check("pointer", sum(t), 78._wk + 22)
      call check("cshift", sum(cshift(a, 3)*[(real(i, rk), i=1, 20)]), sum([(real((mod(i + 2, 20) + 1)*i, wk), i=1, 20)]))
   end subroutine

   subroutine storage(x, w)
      real(rk), intent(in) :: x
      real(wk), intent(in) :: w
      type(triple) :: s, copy
      real(rk) :: y, z, u, v, shared(3)
      integer :: i
      integer(1) :: bytes(storage_size(x)/8)
      common /block/ u, v
      equivalence (shared(1), y), (shared(2), z)
      s = triple(x, x*x, 7, 3*x)
      copy = s
      call check("type", copy%first + copy%second + copy%third, 4 + 2*w)
      y = x
      z = 2*x
      call check("equivalence", shared(1) + 10*shared(2), 21._wk)
      call set_common(x)
      call check("common", u + 10*v, 1 + 20*w)
      bytes = transfer(x, bytes)
      call check("transfer", transfer(bytes, x), 1._wk)
      call by_reference(x, y)
      call check("optional", y, 2*w)
      call check("recursion", chain(x, 4), 24*4*w**3)
      y = x
      do i = 1, 100
         y = y*1.5_rk
         if (abs(y) > 20) exit
      end do
      call check("exit", y, real(1.5_rk, wk)**i)
   end subroutine

   subroutine set_common(x)
      real(rk), intent(in) :: x
      real(rk) :: u, v
      common /block/ u, v
      u = x
      v = x*x
   end subroutine

   subroutine complexes(x, w)
      real(rk), intent(in) :: x
      real(wk), intent(in) :: w
      complex(rk) :: z
      complex(wk) :: s, dz
      z = cmplx(x, 2 - x/4, rk)
      s = cmplx(w, 2 - w/4, wk)
      dz = (1._wk, -0.25_wk)
      call both("complex-square", z*z, 2*s*dz)
      call both("complex-div~4", (3._rk, -2._rk)/z, -(3._wk, -2._wk)/s**2*dz)
      call both("complex-exp~2", exp(z), exp(s)*dz)
      call both("complex-log~2", log(z), dz/s)
      call both("complex-sqrt~4", sqrt(z), dz/(2*sqrt(s)))
      call check("complex-abs", abs(z), (real(s) - aimag(s)/4)/abs(s))
      call both("conjg", conjg(z), (1._wk, 0.25_wk))
   end subroutine

   subroutine both(name, value, derivative)
      character(*), intent(in) :: name
      complex(rk), intent(in) :: value
      complex(wk), intent(in) :: derivative
      call check(name, real(value), real(derivative))
      call check(name, aimag(value), aimag(derivative))
   end subroutine

   subroutine threads(x)
      real(rk), intent(in) :: x
      real(rk) :: sum_of, atomic
      integer :: i
      sum_of = 0
      atomic = 0
      !$omp parallel do reduction(+:sum_of) num_threads(3)
      do i = 1, 100
         sum_of = sum_of + x*i
         !$omp atomic
         atomic = atomic + x
      end do
      call check("omp-reduction", sum_of, 5050._wk)
      call check("omp-atomic", atomic, 100._wk)
   end subroutine
end module

program main
   use checks
   implicit none
   real(8), parameter :: points(2) = [0.75d0, 2.375d0]
   character(40) :: argument
   real(10) :: given
   integer :: i
   if (command_argument_count() > 0) then
      call get_command_argument(1, argument)
      read (argument, *) given
      shift = real(given, rk)
   end if
   do i = 1, 2
      call operators(at(points(i)), real(points(i), wk))
      call operators(at(-points(i) - 1), real(-points(i) - 1, wk))
      call intrinsics(at(points(i)), real(points(i), wk))
      call arrays(at(points(i)), real(points(i), wk))
      call storage(at(points(i)), real(points(i), wk))
      call complexes(at(points(i)), real(points(i), wk))
      call threads(at(points(i)))
   end do
end program
