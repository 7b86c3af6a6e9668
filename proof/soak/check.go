package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jp/conversation"
)

// check looks whether anything was lost or left.
func (s *soak) check(ctx context.Context) error {
	for _, look := range []func(context.Context) error{s.checkVerified, s.checkMembers, s.checkLeft, s.checkRepository} {
		if err := look(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A verified is the result of jp verify for a conversation.
type verified struct {
	ID       conversation.ID `json:"id"`
	OK       bool            `json:"ok"`
	Events   int             `json:"events"`
	Problems []struct {
		Problem string `json:"problem"`
	} `json:"problems"`
}

// checkVerified has jp check every event of every conversation, and counts those
// of this process's own.
func (s *soak) checkVerified(ctx context.Context) error {
	var all []verified
	if err := s.arena.jpJSON(ctx, &all, "verify", "--all"); err != nil {
		return err
	}
	found, total := map[conversation.ID]verified{}, 0
	for _, v := range all {
		found[v.ID] = v
		total += v.Events
		if !v.OK {
			s.table.violation("jp verify %s: %v", v.ID, v.Problems)
		}
	}
	if want := len(s.runners) + len(s.besides); len(all) != want {
		s.table.violation("%d conversations instead of %d", len(all), want)
	}
	for _, b := range s.besides {
		if got := found[b.id].Events; got != b.events {
			s.table.violation("%s has %d events, and %d were durable", b.id, got, b.events)
		}
	}
	s.table.count("conversations and events, each checked by jp verify", "%d, %d", len(all), total)
	return nil
}

// checkMembers compares each conversation with its script, and with the reports about it while it was made.
func (s *soak) checkMembers(ctx context.Context) error {
	expected, told := 0, 0
	err := s.each(ctx, s.n, func(ctx context.Context, i int) error {
		m := s.runners[i]
		var events []heard
		if err := s.arena.jpJSON(ctx, &events, "print", "--internal", string(m.id)); err != nil {
			return err
		}
		counts := map[conversation.Type]int{}
		for _, e := range events {
			counts[conversation.Type(e.Type)]++
		}
		for _, wrong := range miscounted(counts, m.recipe.events()) {
			s.table.violation("%s has %s", m.id, wrong)
		}
		s.checkTold(m, events)
		return s.checkFile(m)
	})
	for _, m := range s.runners {
		for _, n := range m.recipe.events() {
			expected += n
		}
		told += len(s.told[m])
	}
	s.table.count("events that the scripts make, compared by type", "%d", expected)
	s.table.count("events that followers were told of, compared by commit", "%d", told)
	return err
}

// checkTold looks for each event that a follower was told of.
func (s *soak) checkTold(m *runner, events []heard) {
	for seq, commit := range s.told[m] {
		if seq >= len(events) || events[seq].Commit != commit {
			s.table.violation("%s: event %d (%s) was told to be durable, and is not there", m.id, seq, commit)
		}
	}
}

// checkFile looks for the file that the conversation's tool made.
func (s *soak) checkFile(m *runner) error {
	text, err := os.ReadFile(filepath.Join(s.arena.repo.TopLevel, m.recipe.path))
	if err != nil || string(text) != m.recipe.content() {
		s.table.violation("%s has not made %s: %q, %v", m.id, m.recipe.path, text, err)
	}
	return nil
}

// checkRepository has git check every object, and looks for files that must not stay in it. All other work
// must have ended: git takes objects for missing that are packed meanwhile.
func (s *soak) checkRepository(ctx context.Context) error {
	said, err := s.arena.git(ctx, s.arena.repo.TopLevel, "fsck", "--strict", "--no-dangling", "--no-progress")
	if err != nil || strings.TrimSpace(said) != "" {
		s.table.violation("git fsck --strict: %s %v", strings.TrimSpace(said), err)
	}
	s.table.count("git fsck --strict", "%s", clean(err == nil && said == ""))
	refs, errRefs := leftIn(filepath.Join(s.arena.repo.CommonDir, "refs"), func(name string) bool { return strings.HasSuffix(name, ".lock") })
	// A conversation's own lock stays; that of a tool goes with its result.
	locks, errLocks := leftIn(filepath.Join(s.arena.repo.CommonDir, "jp", "locks"), func(name string) bool { return !strings.HasSuffix(name, ".lock") })
	for _, name := range append(refs, locks...) {
		s.table.violation("left: %s", name)
	}
	return errors.Join(errRefs, errLocks)
}

// lastWork is how long a process may take for its work behind its turn, such as packing.
const lastWork = 30 * time.Second

// ended waits for the end of a child that no other code waits for.
func ended(pid int, deadline time.Time) bool {
	for {
		done, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
		if done == pid || err == unix.ECHILD {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// checkLeft looks for sockets, entries, temporary files and processes.
func (s *soak) checkLeft(context.Context) error {
	names, err := leftIn(s.registry.Folder(), func(name string) bool { return !strings.HasSuffix(name, ".log") })
	if err != nil {
		return err
	}
	for _, name := range names {
		s.table.violation("left in the registry: %s", name)
	}
	children, err := childrenOf(os.Getpid())
	if err != nil {
		return err
	}
	deadline, running := time.Now().Add(lastWork), 0
	for _, pid := range children {
		if !ended(pid, deadline) {
			running++
			s.table.violation("pid %d still runs", pid)
		}
	}
	s.table.count("sockets, entries and processes left", "%d, %d", len(names), running)
	return nil
}

// leftIn are the files below a folder whose names tell that they should be gone.
func leftIn(dir string, gone func(name string) bool) (found []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && gone(d.Name()) {
			found = append(found, path)
		}
		return err
	})
	return found, err
}

func clean(ok bool) string {
	if ok {
		return "clean"
	}
	return "not clean"
}
