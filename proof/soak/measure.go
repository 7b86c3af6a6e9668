package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits of a waiting process.
const idleMemory = 40_000_000

// measure looks at the processes while all wait.
func (s *soak) measure(ctx context.Context) error {
	var resident, proportional, threads []int64
	for _, m := range s.runners {
		f, err := footprintOf(m.pid)
		if err != nil {
			s.table.violation("%s does not run: %v", m.id, err)
			continue
		}
		resident, proportional, threads = append(resident, f.resident), append(proportional, f.proportional), append(threads, f.threads)
	}
	s.table.sizes("memory of a process that waits, shared pages by its share (Pss)", proportional, idleMemory)
	s.table.sizes("the same, with all pages of the program that the kernel has mapped (VmRSS)", resident, 0)
	s.table.count("threads of a process that waits", "p50 %d  max %d", rank(threads, 0.5), rank(threads, 1))
	return s.compareDescriptors()
}

// compareDescriptors sets the processes with visitors under load against the others: they do the same.
func (s *soak) compareDescriptors() error {
	var most []string // of one without visitors
	var calm, visited []int
	open := map[*runner][]string{}
	for _, m := range s.runners {
		names, err := descriptors(m.pid)
		if err != nil {
			return err
		}
		if open[m] = names; m.visited {
			visited = append(visited, len(names))
			continue
		}
		calm = append(calm, len(names))
		if len(names) > len(most) {
			most = names
		}
	}
	s.table.count("descriptors, visited under load / not visited", "max %d / %d", rank(visited, 1), rank(calm, 1))
	for m, names := range open {
		if extra := beyond(ownNames(most), ownNames(names)); len(extra) > 0 {
			s.table.violation("%s has open after visits: %s", m.id, strings.Join(extra, ", "))
		}
	}
	return nil
}

// ownNames leaves out the conversation's own part of a name.
func ownNames(open []string) (names []string) {
	for _, name := range open {
		switch {
		case strings.HasSuffix(name, ".lock"):
			name = "its lock"
		case strings.HasSuffix(name, ".log"):
			name = "its log"
		case strings.Contains(name, "/jp/heads/"):
			name = "its note of the newest event"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// visitWaiting lets clients come and go while nothing else happens: descriptors have to be the same before
// and after.
func (s *soak) visitWaiting(ctx context.Context) error {
	before, err := s.openOf(s.visited())
	if err != nil {
		return err
	}
	grown, err := s.growth(func() error { return s.visitAll(ctx, "while all wait", 0) })
	if err != nil {
		return err
	}
	s.table.sizes("memory that a visited process has grown by meanwhile (VmRSS)", grown, 0)
	deadline := time.Now().Add(patience)
	for m, names := range before {
		if extra := s.settled(m, names, deadline); len(extra) > 0 {
			s.table.violation("%s has more open than before the visits: %s", m.id, strings.Join(extra, ", "))
		}
	}
	return nil
}

func (s *soak) openOf(members []*runner) (map[*runner][]string, error) {
	open := map[*runner][]string{}
	for _, m := range members {
		names, err := descriptors(m.pid)
		if err != nil {
			return nil, fmt.Errorf("look at %s: %w", m.id, err)
		}
		open[m] = names
	}
	return open, nil
}

// settled waits until a process has as few open files as before: it notices a moment later that a client
// has gone.
func (s *soak) settled(m *runner, before []string, deadline time.Time) (extra []string) {
	for {
		now, err := descriptors(m.pid)
		if err != nil {
			return []string{err.Error()}
		}
		if extra = beyond(before, now); len(extra) == 0 || time.Now().After(deadline) {
			return extra
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// growth is by how much visited processes grow while work is done.
func (s *soak) growth(work func() error) (grown []int64, err error) {
	before := map[*runner]int64{}
	for _, m := range s.visited() {
		f, err := footprintOf(m.pid)
		if err != nil {
			return nil, err
		}
		before[m] = f.resident
	}
	if err := work(); err != nil {
		return nil, err
	}
	for m, was := range before {
		f, err := footprintOf(m.pid)
		if err != nil {
			return nil, err
		}
		grown = append(grown, f.resident-was)
	}
	return grown, nil
}
