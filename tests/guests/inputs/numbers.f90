! The same by list-directed reads, from units and from character variables.
program numbers
    implicit none
    real(8) :: a, w, s, t, p, total
    real(4) :: q
    integer :: i, rows
    character(len=200) :: text
    call get_command_argument(command_argument_count() - 1, text)
    read (text, *) a
    call get_environment_variable("SG_W", text)
    read (text, *) w
    read (*, *) s, t
    call get_command_argument(command_argument_count(), text)
    open (10, file=text, status="old")
    read (10, *)
    read (10, *) rows
    total = a * a + w * s * t
    do i = 1, rows
        read (10, *) p, q
        total = total + i * p * p * q
    end do
    print '(ES24.17)', total
end program numbers
