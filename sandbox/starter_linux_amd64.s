#include "textflag.h"

// starter is a program of its own, see starter_linux_amd64.go. At its entry, SP leads to the
// number of its arguments, the arguments and the environment.
TEXT ·starter(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ $0x400200, BX // calls: number, three arguments
	MOVQ $-1, R13

next:
	MOVQ 0(BX), AX
	CMPQ AX, $-1
	JEQ  become
	MOVQ 8(BX), DI
	CMPQ DI, $-1
	JNE  call
	MOVQ R14, DI // the last result

call:
	MOVQ 16(BX), SI
	MOVQ 24(BX), DX
	SYSCALL
	MOVQ AX, R14
	ADDQ $32, BX
	CMPQ R13, $-1
	JNE  next
	MOVQ AX, R13 // the first result
	JMP  next

become:
	MOVQ $322, AX // execveat
	MOVQ R13, DI
	MOVQ 8(BX), SI
	LEAQ 8(SP), DX
	MOVQ 0(SP), R10
	LEAQ 16(SP)(R10*8), R10
	MOVQ $0x1000, R8 // AT_EMPTY_PATH
	SYSCALL
	MOVQ $231, AX // exit_group
	MOVQ $126, DI
	SYSCALL
	INT  $3

DATA ·starterText(SB)/8, $·starter(SB)
GLOBL ·starterText(SB), RODATA, $8
