package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// checkKilled kills the processes of some waiting conversations: their questions must still be there, as jp
// ls says, and jp must ask them again when the turns are resumed. Two are told to abort, so that the trace
// shows the goroutines of a visited one and of another.
func (s *soak) checkKilled(ctx context.Context) error {
	quit, killed := s.runners[:2], s.runners[2:2+max(2, s.n/16)]
	if err := s.compareGoroutines(ctx, quit[0], quit[1]); err != nil {
		return err
	}
	for _, m := range killed {
		if err := m.kill(ctx, syscall.SIGKILL); err != nil {
			return err
		}
	}
	dead := append(quit[:2:2], killed...)
	if err := s.questionsOfTheDead(ctx, dead); err != nil {
		return err
	}
	for _, m := range dead {
		if err := s.arena.resume(ctx, m); err != nil {
			return err
		}
	}
	if err := s.awaitQuestions(ctx, dead); err != nil {
		return err
	}
	s.table.count("killed while they waited (-9, and -ABRT), asked again by --continue-turn", "%d + %d", len(killed), len(quit))
	return nil
}

// compareGoroutines ends two processes with a trace.
func (s *soak) compareGoroutines(ctx context.Context, visited, calm *runner) error {
	var counts [2]int
	for i, m := range []*runner{visited, calm} {
		if err := m.kill(ctx, syscall.SIGABRT); err != nil {
			return err
		}
		trace, err := os.ReadFile(m.log)
		if err != nil {
			return err
		}
		if counts[i] = goroutinesIn(trace); counts[i] == 0 {
			return fmt.Errorf("the trace of %s has no goroutines", m.id)
		}
	}
	s.table.count("goroutines, visited / not visited", "%d / %d", counts[0], counts[1])
	if counts[0] > counts[1] {
		s.table.violation("%d goroutines after visits, %d without", counts[0], counts[1])
	}
	return nil
}

// questionsOfTheDead checks jp ls for conversations without a process.
func (s *soak) questionsOfTheDead(ctx context.Context, dead []*runner) error {
	listed, err := s.listed(ctx)
	if err != nil {
		return err
	}
	text, err := s.arena.jp(ctx, 0, "ls")
	if err != nil {
		return err
	}
	for _, m := range dead {
		l := listed[m.id].Status
		if l.State != "waiting_for_input" || l.Tool != "fs_create_file" || l.PID != nil {
			s.table.violation("after kill -9 jp ls --json says of %s: %+v", m.id, l)
		}
		if line := lineOf(string(text), string(m.id)); !strings.Contains(line, "waiting-for-input (create)") {
			s.table.violation("after kill -9 jp ls says: %q", line)
		}
	}
	return nil
}

// lineOf is the line of a text that holds some words.
func lineOf(text, words string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, words) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
