package odb

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"jp/internal/lazy"
)

// gcFile names the process of a git gc that is under way, in the git directory.
const gcFile = "gc.pid"

const (
	// maxGCWait is the longest that a Close waits for one.
	maxGCWait = keepRecent
	// gcPoll is how often it looks.
	gcPoll = 20 * time.Millisecond
)

// waitForGC ends the watch over recent objects. A gc with no grace period that has begun before them may
// prune them after this process has ended, so waitForGC waits for it, and then writes the pruned objects
// again.
func (s *Store) waitForGC() error {
	if s.checkPoison() != nil || s.recent.none() {
		return nil
	}
	if pid := s.prunes(); pid != 0 {
		s.opts.Log.Warn("waiting for git gc, which may prune what was just written", "pid", pid)
		for end := time.Now().Add(maxGCWait); s.gcPID() == pid && time.Now().Before(end); {
			time.Sleep(gcPoll)
		}
	}
	_, err := s.restoreRecent(context.Background(), true)
	return err
}

// prunes returns the process of a gc that prunes without a grace period, 0 if there is none. One whose
// start is unknown counts.
func (s *Store) prunes() int {
	pid := s.gcPID()
	if pid == 0 || pid == os.Getpid() {
		return 0
	}
	args, known := arguments(pid)
	if known && !noGrace().MatchString(args) && !s.expiresNow() {
		return 0
	}
	return pid
}

// noGrace matches the setting or flag by which a gc prunes new objects, too.
var noGrace = lazy.Regexp(`(?i)prune(expire)?[= ](now|all)\b`)

// expiresNow reports whether the configuration says the same.
func (s *Store) expiresNow() bool {
	if s.opts.Git == nil {
		return false
	}
	out, err := s.opts.Git.Run(context.Background(), "config", "--get", "gc.pruneExpire")
	return err == nil && noGrace().MatchString("prune="+strings.TrimSpace(string(out)))
}

// gcPID is the process that gcFile names, if it lives on this machine, else 0.
func (s *Store) gcPID() int {
	f, err := s.root.Open(gcFile)
	if err != nil {
		return 0
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 512))
	if err != nil {
		return 0
	}
	number, host, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	pid, err := strconv.Atoi(number)
	if err != nil || pid <= 0 {
		return 0
	}
	if here, err := os.Hostname(); err == nil && host != here {
		return 0
	}
	if err := syscall.Kill(pid, 0); err == syscall.ESRCH {
		return 0
	}
	return pid
}

// arguments are the arguments that a process was started with, if the system tells.
func arguments(pid int) (args string, known bool) {
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		return strings.ReplaceAll(string(text), "\x00", " "), true
	}
	out, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	return string(out), err == nil
}
