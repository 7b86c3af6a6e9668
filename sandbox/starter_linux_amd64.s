#include "textflag.h"

// starter is a program of its own, see starter_linux_amd64.go. At its entry, SP leads to the
// number of its arguments, the arguments and the environment.
TEXT ·starter(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ SP, R12
	SUBQ $64, SP       // room for what a call writes
	XORL R8, R8
	XORL R9, R9
	XORL R10, R10
	MOVQ $0x400b00, BX // calls: number, three arguments, what to say of errors

next:
	MOVQ 0(BX), AX
	MOVQ 8(BX), DI
	MOVQ 16(BX), SI
	MOVQ 24(BX), DX
	CMPQ AX, $-1
	JEQ  mask
	CMPQ DI, $-1
	JNE  second
	MOVQ R14, DI // the last result that is not 0

second:
	CMPQ SI, $-1
	JNE  third
	MOVQ SP, SI

third:
	CMPQ SI, $-2
	JNE  call
	MOVQ 0(R12), DX
	LEAQ 16(R12)(DX*8), DX // the environment
	LEAQ 24(R12), SI       // the arguments behind jp and its word

call:
	SYSCALL
	TESTQ AX, AX
	JLT  failed
	JEQ  done
	MOVQ AX, R14

done:
	ADDQ $40, BX
	JMP  next

mask:
	ANDQ SI, (SP)(DI*1)
	JMP  done

failed:
	NEGQ AX
	MOVQ 32(BX), BX // error or 0 for all, text, length, exit code

find:
	CMPQ 0(BX), $0
	JEQ  say
	CMPQ 0(BX), AX
	JEQ  say
	ADDQ $32, BX
	JMP  find

say:
	MOVQ AX, R12
	MOVQ $1, AX // write
	MOVQ $2, DI
	MOVQ 8(BX), SI
	MOVQ 16(BX), DX
	SYSCALL
	CMPQ R12, $134
	JLT  known
	XORL R12, R12

known:
	SHLQ $4, R12
	MOVQ $1, AX
	MOVQ $2, DI
	MOVQ 0x400280(R12), SI // the text of each error
	MOVQ 0x400288(R12), DX
	SYSCALL
	MOVQ $231, AX // exit_group
	MOVQ 24(BX), DI
	SYSCALL
	INT  $3

DATA ·starterText(SB)/8, $·starter(SB)
GLOBL ·starterText(SB), RODATA, $8
