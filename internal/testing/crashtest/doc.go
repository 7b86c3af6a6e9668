// Package crashtest runs a program and kills it, or makes its disk fail, at any
// of its system calls that change files, so that a test can enumerate the
// crashes of a program instead of hoping to hit them.
//
// A [Point] is one such call, or the start of a child process, counted over all
// threads of the program. Killed at a point means SIGKILL before the kernel
// performs the call, or right after it has.
//
// With [Run] only the program itself is traced: its children run freely, and go on when the program is
// killed, as they would without a tracer. With [Inject] its children are traced too, and a call can also fail
// without being performed, or write only a part of its data: a disk that is full, or broken, at exactly this
// call. Both return when all of the processes have ended. They need ptrace, without root or a configuration.
// If ptrace is refused they fail with [ErrUnsupported]. So does a fault on arm64.
//
// The threads of a program do not do things in the same order each time, so point 17 of two runs can be two
// different calls. Kills at 1, 2, 3, … until a run ends by itself include a kill at each point of some run.
package crashtest
