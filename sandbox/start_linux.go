package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jp/sandbox/secondstage"
)

// self is the program of the process itself, even if its file has changed since.
const self = "/proc/self/exe"

// Prepare returns the start of a program in dir under these rules. For a missing program it returns the
// error of an ordinary start.
func Prepare(r Rules, argv []string, dir string) (Start, error) {
	support := Supported()
	if !support.Enforced() {
		return Start{}, fmt.Errorf("%w: %s", ErrUnsupported, support.Reason)
	}
	if len(r.OnlyRead) > 0 && !support.Readers() {
		return Start{}, fmt.Errorf("%w: nothing keeps a program from writing", ErrUnsupported)
	}
	if err := r.oneName(); err != nil {
		return Start{}, err
	}
	program, err := find(argv[0], dir)
	if err != nil {
		return Start{}, err
	}
	start := Start{Argv: append([]string{self, secondstage.Word}, argv...)}
	left := uint64(0)
	if !r.Network && len(r.OnlyRead) == 0 && OwnLoopback() {
		left = here()
	}
	if err := start.confine(r, r.spec(support, program, left), support); err != nil {
		start.Close()
		return Start{}, fmt.Errorf("write the rules of %s: %w", argv[0], err)
	}
	return start, nil
}

// confine has a process restrict itself by rules and their spec before it becomes the program.
func (s *Start) confine(r Rules, spec *secondstage.ChildSpec, support Support) error {
	ruleset, err := r.ruleset(support, spec.Left != 0)
	if err != nil {
		return err
	}
	s.Files = []*os.File{ruleset}
	if starter := starterFile(spec, s.Argv[secondstage.Args]); starter != nil {
		s.Files = append(s.Files, starter)
		s.Path = fmt.Sprintf("/proc/self/fd/%d", secondstage.Spec)
		return nil
	}
	rules, err := sealed(spec.Encode())
	if err != nil {
		return err
	}
	s.Files = append(s.Files, rules)
	if spec.Left != 0 {
		s.Attr = leave()
	}
	return nil
}

// oneName refuses hidden files that can be reached by another name.
func (r Rules) oneName() error {
	for _, name := range r.Hidden {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
			return fmt.Errorf("%w: %s is one of %d (hard links); replace it by a copy", ErrSecondName, name, stat.Nlink)
		}
	}
	return nil
}

// find is the path by which a program is started in dir.
func find(name, dir string) (string, error) {
	if !strings.Contains(name, "/") {
		return exec.LookPath(name)
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	info, err := os.Stat(path)
	if err == nil && (info.IsDir() || unix.Access(path, unix.X_OK) != nil) {
		err = unix.EACCES
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return "", notExecuted(name, errno)
	}
	return name, err
}

// notExecuted is the error of a start, as [os/exec] has it.
func notExecuted(name string, errno error) error {
	return &fs.PathError{Op: "fork/exec", Path: name, Err: errno}
}

// sealed writes a spec into an immutable file in memory.
func sealed(spec []byte) (*os.File, error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("jp-rules", flags|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // a kernel before 6.3
		fd, err = unix.MemfdCreate("jp-rules", flags)
	}
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "rules")
	if _, err = bytes.NewReader(spec).WriteTo(file); err == nil {
		_, err = unix.FcntlInt(file.Fd(), unix.F_ADD_SEALS, secondstage.Seals)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
