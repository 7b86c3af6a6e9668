package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/crashtest"
)

// trialVariable is one trial that is done alone.
const trialVariable = "JP_TRIAL"

// A trial is the fault of an errand at one of its points.
type trial struct {
	errand string
	n      int
	what   string
	on     bool // from then on, and not once
}

// String is the trial as JP_TRIAL has it: "grep/17/ENOSPC/on".
func (tr trial) String() string {
	text := fmt.Sprint(tr.errand, "/", tr.n, "/", tr.what)
	if tr.on {
		text += "/on"
	}
	return text
}

// chosenTrial is that of JP_TRIAL, if there is one.
func chosenTrial(t *testing.T) (tr trial, chosen bool) {
	t.Helper()
	words := strings.Split(os.Getenv(trialVariable), "/")
	if len(words) < 3 {
		return tr, false
	}
	n, err := strconv.Atoi(words[1])
	require.NoError(t, err, trialVariable)
	return trial{errand: words[0], n: n, what: words[2], on: len(words) > 3}, true
}

const (
	killBefore = "kill"
	killAfter  = "kill+"
	halved     = "short"
)

var errnos = map[string]syscall.Errno{"EIO": syscall.EIO, "ENOSPC": syscall.ENOSPC, "EDQUOT": syscall.EDQUOT}

func (tr trial) kills() bool { return strings.HasPrefix(tr.what, killBefore) }

// act is the action at each point.
func (tr trial) act() func(crashtest.Point) crashtest.Act {
	return func(p crashtest.Point) (act crashtest.Act) {
		first := p.N == tr.n
		switch {
		case !eligible(p):
		case tr.kills():
			act.Kill = first && p.Returned == (tr.what == killAfter)
		case p.Returned || !first && (!tr.on || p.N < tr.n):
		case tr.what == halved && first:
			act.Short = true
		default:
			act.Errno = tr.errno(p, first)
		}
		return act
	}
}

// errno is the error of a call: the disk is broken, or full for calls that need space.
func (tr trial) errno(p crashtest.Point, first bool) syscall.Errno {
	errno := errnos[tr.what]
	if tr.what == halved {
		errno = syscall.ENOSPC
	}
	switch {
	case p.Path == "" && first:
		return syscall.EAGAIN // no child can be started
	case p.Path == "", errno != syscall.EIO && !needsRoom(p):
		return 0
	case p.Syscall == "flock":
		return syscall.ENOLCK
	}
	return errno
}

// needsRoom reports whether a call can fail on a full disk only because the disk is full.
func needsRoom(p crashtest.Point) bool {
	for _, prefix := range []string{"open", "creat", "write", "pwrite", "mkdir", "link", "symlink", "rename", "fallocate", "copy", "sendfile", "fsync", "fdatasync", "sync"} {
		if strings.HasPrefix(p.Syscall, prefix) {
			return true
		}
	}
	return false
}

// eligible are the calls of jp and of git, about files on a disk.
func eligible(p crashtest.Point) bool {
	if p.Child != "" && p.Child != "jp" && !strings.HasPrefix(p.Child, "git") {
		return false
	}
	return !strings.HasPrefix(p.Path, "/dev/") && !strings.HasPrefix(p.Path, "/proc/")
}

// kills are the trials that kill: before each point, and behind the start of a
// child.
func (s *stage) kills() (trials []trial) {
	for _, p := range s.points {
		if !eligible(p) || p.Child != "" && p.Child != "jp" {
			continue
		}
		trials = append(trials, trial{errand: s.crashScenario.name, n: p.N, what: killBefore})
		if p.Path == "" || strings.HasPrefix(p.Syscall, "rename") {
			trials = append(trials, trial{errand: s.crashScenario.name, n: p.N, what: killAfter})
		}
	}
	return trials
}

// faults are the trials that let calls fail.
func (s *stage) faults() (trials []trial) {
	for _, p := range s.points {
		if !eligible(p) || s.crashScenario.reads && p.Syscall == "flock" {
			continue
		}
		here := faultsAt(p)
		for i := range here { // some that are spread evenly are not all of one kind
			tr := here[(i+p.N)%len(here)]
			tr.errand = s.crashScenario.name
			trials = append(trials, tr)
		}
	}
	return trials
}

// faultsAt are all faults at a point, except for a kill of jp.
func faultsAt(p crashtest.Point) (trials []trial) {
	if p.Path == "" {
		return []trial{{n: p.N, what: "EIO"}} // a child that does not start
	}
	for _, what := range slices.Sorted(maps.Keys(errnos)) {
		if what == "EIO" || needsRoom(p) {
			trials = append(trials, trial{n: p.N, what: what})
		}
		trials = append(trials, trial{n: p.N, what: what, on: true})
	}
	if p.Syscall == "write" || p.Syscall == "pwrite64" {
		trials = append(trials, trial{n: p.N, what: halved}, trial{n: p.N, what: halved, on: true})
	}
	if p.Child != "" && p.Child != "jp" {
		trials = append(trials, trial{n: p.N, what: killBefore})
	}
	return trials
}

// try runs an errand with the fault of a trial, and checks the result.
func (s *stage) try(tr trial) (reached bool, err error) {
	s.reset()
	s.known, s.goes = s.begunChains, false
	out, traced := s.traced(s.args(), tr.act())
	if traced.Killed == nil && len(traced.Faults) == 0 {
		return false, nil // it had fewer points than the errand without a fault
	}
	at := traced.Killed
	if at == nil {
		at = &traced.Faults[0]
	}
	if err := s.follow(tr, out); err != nil {
		point := strings.ReplaceAll(at.String(), s.root+"/", "")
		return true, fmt.Errorf("%s=%s: at %s: exit %d, %s%w", trialVariable, tr, point, out.exit, out.stderr, err)
	}
	if os.Getenv(trialVariable) != "" {
		s.t.Logf("at %v: exit %d: %s%s", at, out.exit, out.stdout, out.stderr)
	}
	return true, nil
}

// follow checks the state after an errand, its output, and that it can go on.
func (s *stage) follow(tr trial, out result) error {
	if err := s.sound(out); err != nil {
		return err
	}
	switch {
	case out.exit == 0:
		if err := s.complete(out); err != nil && !s.crashScenario.behind {
			return fmt.Errorf("it claims success: %w", err)
		}
	case out.exit > 0 && !saysWhat(out.stderr+out.stdout):
		return fmt.Errorf("the error names nothing")
	case out.exit < 0 && !tr.kills():
		return fmt.Errorf("a signal ended it")
	}
	return s.goesOn()
}

// saysWhat reports whether the output names the failure and its object.
func saysWhat(said string) bool {
	for _, word := range []string{
		syscall.EIO.Error(), syscall.ENOSPC.Error(), syscall.EDQUOT.Error(), syscall.EAGAIN.Error(), syscall.ENOLCK.Error(), "Input/output error",
		"No space left on device", "Disk quota exceeded", "signal: killed", ": git ", "jp-c",
	} {
		if strings.Contains(said, word) {
			return true
		}
	}
	return false
}
