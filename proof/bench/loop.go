package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// imageSize is that of the file that holds a file system, in bytes.
const imageSize = 512 << 20

// A fileSystem is one that is made to be measured on.
type fileSystem struct {
	name string
	make []string // the command that makes it in an image
}

// fileSystems are those that jp is used on most, the last of them by the stepwise path.
var fileSystems = []fileSystem{
	{"ext4", []string{"mkfs.ext4", "-q", "-F"}},
	{"xfs", []string{"mkfs.xfs", "-q", "-f"}},
	{"btrfs", []string{"mkfs.btrfs", "-q", "-f"}},
}

// measureOnImage measures durable tasks on a new file system. If that is impossible, it notes the reason.
// It has unmounted it when it returns, also after an interrupt.
func (b *bench) measureOnImage(ctx context.Context, r *report, system fileSystem) (err error) {
	dir, release, err := b.mountImage(ctx, system)
	defer func() { err = errors.Join(err, release()) }()
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		b.note("%s: skipped: %v", system.name, err)
		return nil
	}
	return b.measureOn(ctx, r, system.name, dir, durableTasks())
}

// mountImage mounts a file system in a file. The release is always non-nil, and undoes all done steps.
func (b *bench) mountImage(ctx context.Context, system fileSystem) (dir string, release func() error, err error) {
	var undo []func() error
	release = func() error {
		var errs []error
		for i := len(undo) - 1; i >= 0; i-- {
			errs = append(errs, undo[i]())
		}
		return errors.Join(errs...)
	}
	if os.Geteuid() != 0 || runtime.GOOS != "linux" {
		return "", release, fmt.Errorf("%w: root on Linux, to mount it", errAbsent)
	}
	image := filepath.Join(b.scratch, system.name+".img")
	if _, err := command(ctx, "fallocate", "-l", strconv.Itoa(imageSize), image); err != nil {
		return "", release, err
	}
	if _, err := command(ctx, system.make[0], append(system.make[1:], image)...); err != nil {
		return "", release, err
	}
	undo = append(undo, func() error { return detach(image) })
	device, err := command(ctx, "losetup", "--find", "--show", "--direct-io=on", image)
	if err != nil {
		return "", release, err
	}
	if dir, err = b.newDir(b.scratch); err != nil {
		return "", release, err
	}
	undo = append(undo, func() error { return unmount(dir) })
	if _, err := command(ctx, "mount", "-t", system.name, device, dir); err != nil {
		return "", release, err
	}
	return dir, release, nil
}

// detach frees the devices of an image. After an interrupt one may exist without a process that knows its
// name. It finds them in /sys, since losetup looks at the files of all devices, and another one's may never
// answer.
func detach(image string) error {
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	errs := []error{err}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || strings.TrimSpace(string(text)) != image {
			continue // it may have been freed meanwhile
		}
		name := filepath.Base(filepath.Dir(filepath.Dir(file)))
		_, err = afterwards("losetup", "--detach", "/dev/"+name)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// unmount unmounts a folder's file system. A missing one is no error, since an interrupted mount may have
// happened or not.
func unmount(dir string) error {
	if m, err := mountOf(dir); err == nil && m.Target != dir {
		return nil
	}
	_, err := afterwards("umount", dir)
	if err == nil {
		return nil
	}
	_, err = afterwards("umount", "--lazy", dir) // a killed program may still be running
	return err
}

// afterwards runs a program that must run even after an interrupt.
func afterwards(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return command(ctx, name, args...)
}

// command runs a program and returns its output, without space around it.
func command(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}
