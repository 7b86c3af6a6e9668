package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"jp/gitcmd"
	"jp/gitstore/odb"
)

// flat is how much more memory ten times the events may take before it no
// longer counts as the same: the garbage collector's own unrest is about as
// much.
const flat = 1.25

// measureMemory compares the peaks of two processes that append 10,000 and
// 1,000 events.
func measureMemory(ctx context.Context, b *bench, p place) ([]row, error) {
	few, err := b.peakOf(ctx, p, 1_000)
	if err != nil {
		return nil, err
	}
	many, err := b.peakOf(ctx, p, 10_000)
	if err != nil {
		return nil, err
	}
	return []row{{
		Name: "peak memory, appending 10,000 events", RivalName: "jp, appending 1,000", Unit: octets,
		JP: many, Rival: few, Target: flat,
	}}, nil
}

// peakOf has a new process append n events, and returns its peak in bytes.
func (b *bench) peakOf(ctx context.Context, p place, n int) (float64, error) {
	repo, err := b.newRepo(ctx, p.Dir)
	if err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, self, "-grow", strconv.Itoa(n), "-dir", repo.TopLevel)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("append %d events: %w: %s", n, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

// printPeak appends n events one by one to a new conversation in the repository
// dir, and prints the peak of this process's resident memory in bytes.
func printPeak(ctx context.Context, w io.Writer, dir string, n int) error {
	corpus, err := readCorpus(goSource(), 1<<20)
	if err != nil {
		return err
	}
	repo, err := gitcmd.Locate(ctx, dir, gitcmd.Options{})
	if err != nil {
		return err
	}
	store, err := openStore(repo, odb.Off)
	if err != nil {
		return err
	}
	defer store.Close()
	m, id := newMix(corpus, 1), conversationID(0)
	head, err := store.Create(ctx, id, "", m.take(1))
	for i := 1; i < n && err == nil; i++ {
		head, err = store.Append(ctx, id, head, m.take(1))
	}
	if err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	peak, err := peakIn(string(status))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, peak)
	return err
}

var errNoPeak = errors.New("the kernel does not say the peak of memory")

// peakIn finds the peak in /proc/self/status, in bytes. Unlike what wait says
// of a child, it begins anew with the program and not with its parent's peak.
func peakIn(status string) (int64, error) {
	for line := range strings.Lines(status) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmHWM:" && f[2] == "kB" {
			kilobytes, err := strconv.ParseInt(f[1], 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, errNoPeak
}
