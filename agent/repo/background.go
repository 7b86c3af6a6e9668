package repo

import (
	"os"
	"os/exec"
	"syscall"

	"jp/internal/version"

	"jp/gitstore"
)

// packIfDue starts a background process that packs, if the store has written and many objects or bytes are
// loose. jp doctor reports its errors, which do not affect the command.
func packIfDue(store *gitstore.Store, dir string, environ []string) {
	since, wrote := store.HasWritten()
	if packer := store.Packer(); !wrote || !packer.Due() && !packer.Heavy(since) {
		return
	}
	cmd := exec.Command(version.OwnProgram(), "-C", dir, "pack", "--background", "--quiet")
	cmd.Args[0], cmd.Env = os.Args[0], environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() == nil {
		go cmd.Wait() // reap it, since this process may serve many turns
	}
}
