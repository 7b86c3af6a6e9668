package repo

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"jp/gitstore"
)

// OwnProgram is the program that runs, even where its file was replaced since.
func OwnProgram() string {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self
	}
	if path, err := os.Executable(); err == nil {
		return path
	}
	return os.Args[0]
}

// started is when this process began, or a little later.
var started = time.Now()

// packIfDue starts a background process that packs, if this command wrote something and
// many objects or bytes are loose. Its errors do not affect the command: jp doctor reports them.
func packIfDue(store *gitstore.Store, dir string, environ []string) {
	if packer := store.Packer(); !store.HasWritten() || !packer.Due() && !packer.Heavy(started) {
		return
	}
	cmd := exec.Command(OwnProgram(), "-C", dir, "pack", "--background", "--quiet")
	cmd.Args[0], cmd.Env = os.Args[0], environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() == nil {
		go cmd.Wait() // a process that serves many turns keeps no zombies
	}
}

func PID() int { return os.Getpid() }
