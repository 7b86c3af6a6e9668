package repo

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"jp/internal/version"

	"jp/gitstore"
)

// started is when this process began, or a little later.
var started = time.Now()

// packIfDue starts a background process that packs, if this command wrote something and
// many objects or bytes are loose. Its errors do not affect the command: jp doctor reports them.
func packIfDue(store *gitstore.Store, dir string, environ []string) {
	if packer := store.Packer(); !store.HasWritten() || !packer.Due() && !packer.Heavy(started) {
		return
	}
	cmd := exec.Command(version.OwnProgram(), "-C", dir, "pack", "--background", "--quiet")
	cmd.Args[0], cmd.Env = os.Args[0], environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() == nil {
		go cmd.Wait() // a process that serves many turns keeps no zombies
	}
}
