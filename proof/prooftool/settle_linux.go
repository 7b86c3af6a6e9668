package prooftool

import (
	"os"

	"golang.org/x/sys/unix"
)

// Settle flushes what was written to the file system of a folder, which shall not
// be flushed at the expense of what is measured next. Other file systems are left
// alone: one of them may never answer.
func Settle(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
}
