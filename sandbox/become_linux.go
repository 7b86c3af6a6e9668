package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// lastDescriptor is the highest number that the file with the rules can have.
const lastDescriptor = 9

// maxOrder is how many bytes of rules are read.
const maxOrder = 1 << 20

// How a process ends that became nothing, as shells have it.
const (
	exitUsage      = 2
	exitNotRun     = 126
	exitNoProgram  = 127
	withoutProgram = 2 // args that are not the program's
)

// RunChild makes this process the program of its arguments, if that is what it was
// started for: its arguments are those of Start. It returns where it is not
// asked, and where it failed: then it has said on stderr why, and code is what
// the process must end with.
func RunChild(args []string) (code int, asked bool) {
	if len(args) <= withoutProgram || args[1] != word {
		return 0, false
	}
	o, err := takeOrder()
	if err != nil {
		fmt.Fprintf(os.Stderr, "jp starts this command itself: %v.\n", err)
		return exitUsage, true
	}
	runtime.LockOSThread() // what is restricted is the thread that becomes the program
	if err := o.Rules.restrict(); err != nil {
		fmt.Fprintf(os.Stderr, "the program was not run, because it could not be confined: %v\n", err)
		return exitNotRun, true
	}
	return failed(args[withoutProgram], syscall.Exec(o.Program, args[withoutProgram:], os.Environ())), true
}

// failed says why a program did not run.
func failed(name string, err error) (code int) {
	code, text := exitNotRun, notExecuted(name, err).Error()
	switch {
	case errors.Is(err, os.ErrNotExist):
		code, text = exitNoProgram, "no such program: "+text
	case errors.Is(err, os.ErrPermission):
		text = "not a program that can be run: " + text
	}
	fmt.Fprintln(os.Stderr, text)
	return code
}

// restrict confines this thread.
func (r Rules) restrict() error {
	support := Supported()
	if !support.Enforced() {
		return fmt.Errorf("%w: %s", ErrUnsupported, support.Reason)
	}
	if err := r.landlocked(support.ABI); err != nil {
		return err
	}
	if err := dropPrivileges(); err != nil {
		return err
	}
	if r.Network || !support.Sockets {
		return nil
	}
	return filtered(noSockets(machines(), support.ABI >= abiUnix))
}

// takeOrder reads the order, and closes the file that it is in.
func takeOrder() (o childSpec, err error) {
	for fd := 3; fd <= lastDescriptor; fd++ {
		has, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
		if err != nil || has&seals != seals {
			continue
		}
		file := os.NewFile(uintptr(fd), "rules")
		defer file.Close()
		err = json.NewDecoder(io.NewSectionReader(file, 0, maxOrder)).Decode(&o)
		return o, err
	}
	return o, errors.New("it came without rules")
}
