// A tiny program whose code and writable data share one segment, as hand-written loaders and packers make them.
//@ link: raw
//@ flags: -Wl,-N -Wl,--build-id=none -s
        .text
        .globl  _start
_start:
        incl    number(%rip)
        mov     number(%rip), %edi
        sub     $7, %edi
        mov     $231, %eax
        syscall
number: .long   6
        .section .note.GNU-stack,"",@progbits
