package repo

import (
	"os"
	"os/exec"
	"syscall"

	"jp/internal/version"

	"jp/gitstore"
)

// packIfDue starts a background process that packs, if the store wrote something and
// many objects or bytes are loose. Its errors do not affect the command: jp doctor reports them.
func packIfDue(store *gitstore.Store, dir string, environ []string) {
	since, wrote := store.HasWritten()
	if packer := store.Packer(); !wrote || !packer.Due() && !packer.Heavy(since) {
		return
	}
	cmd := exec.Command(version.OwnProgram(), "-C", dir, "pack", "--background", "--quiet")
	cmd.Args[0], cmd.Env = os.Args[0], environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() == nil {
		go cmd.Wait() // a process that serves many turns keeps no zombies
	}
}
