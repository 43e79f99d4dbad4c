! The same by list-directed reads.
program integers
  implicit none
  integer :: a, n, m
  integer(8) :: s
  double precision :: p, q
  character(len=100) :: word
  call get_command_argument(1, word)
  read (word, *) a
  read (*, *) s
  call get_command_argument(2, word)
  open (10, file=word, status='old')
  read (10, *) n, m
  read (10, *) p, q
  print '(es24.16)', a * p + n * m * q * q + s
end program
