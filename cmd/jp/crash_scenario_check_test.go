package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jp/agent/problem"
	"jp/internal/leftover"
)

// sound checks the invariants of any outcome of an errand.
func (s *stage) sound(out result) error {
	if strings.Contains(out.stderr, "goroutine ") {
		return fmt.Errorf("it crashed: %s", out.stderr)
	}
	now := s.picture()
	chains, err := s.chains(now)
	if err != nil {
		return err
	}
	err = errors.Join(s.foreign(now), s.kept(chains), s.printed(chains, out.stdout), s.either(now), s.ran(chains), s.verified())
	s.now, s.known = &now, chains
	return err
}

// chains are the conversations by their ids. A conversation that is being moved can be in two places,
// of which one has all events of the other.
func (s *stage) chains(now picture) (map[string]chain, error) {
	chains := map[string]chain{}
	for ref, head := range now.refs {
		id, ok := strings.CutPrefix(ref, "refs/jp/conversations/")
		if !ok {
			id, ok = strings.CutPrefix(ref, "refs/jp/archive/")
		}
		if !ok {
			continue
		}
		c := s.known[id]
		if c.head != head {
			var err error
			if c, err = s.chainOf(id, head); err != nil {
				return nil, err
			}
		}
		if other, twice := chains[id]; twice {
			if len(other.commits) > len(c.commits) {
				c, other = other, c
			}
			if err := c.has(other); err != nil {
				return nil, fmt.Errorf("two places have it: %w", err)
			}
		}
		chains[id] = c
	}
	return chains, nil
}

// foreign checks that the refs of others are unchanged.
func (s *stage) foreign(now picture) error {
	for ref, oid := range s.before.refs {
		if !strings.HasPrefix(ref, "refs/jp/") && now.refs[ref] != oid {
			return fmt.Errorf("%s was %s and is %q", ref, oid, now.refs[ref])
		}
	}
	for ref, oid := range now.refs {
		if !strings.HasPrefix(ref, "refs/jp/") && s.before.refs[ref] != oid {
			return fmt.Errorf("%s is new", ref)
		}
	}
	return nil
}

// kept checks that the conversations have all events of the last look.
func (s *stage) kept(chains map[string]chain) error {
	for id, was := range s.known {
		c, exists := chains[id]
		if !exists && s.crashScenario.removes {
			continue
		}
		if err := c.has(was); err != nil {
			return err
		}
	}
	return nil
}

// printed checks that the conversations have the events and heads that jp printed. A turn that prints
// its events may have at most one group more. The last line may be torn.
func (s *stage) printed(chains map[string]chain, stdout string) error {
	newest := map[string]int{}
	for line := range strings.Lines(stdout) {
		var told struct {
			Conversation, Commit string // an event
			ID, Head             string // a fork
			Seq                  int
		}
		if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &told) != nil {
			continue // no object: a list, or text
		}
		if told.Commit != "" {
			c := chains[told.Conversation]
			if told.Seq >= len(c.commits) || c.commits[told.Seq] != told.Commit {
				return fmt.Errorf("event %d (%s) of %s was printed and is lost", told.Seq, told.Commit, told.Conversation)
			}
			newest[told.Conversation] = told.Seq + 1
		}
		if told.Head != "" && chains[told.ID].head != told.Head {
			return fmt.Errorf("conversation %s at %s was printed, and is at %q", told.ID, told.Head, chains[told.ID].head)
		}
	}
	for id, c := range chains {
		known := max(newest[id], len(s.known[id].commits))
		if s.crashScenario.turn && !s.crashScenario.behind && len(c.commits)-known > largestGroup {
			return fmt.Errorf("%d events of %s were recorded and not printed", len(c.commits)-known, id)
		}
	}
	return nil
}

// either checks that the content of each owned file is the one before or the one that the errand
// writes, and no third one.
func (s *stage) either(now picture) error {
	for name, text := range s.before.files {
		if got := now.files[name]; got != text && got != s.after.files[name] {
			return fmt.Errorf("%s was %q and is %q", name, text, got)
		}
	}
	for name, text := range s.after.files {
		if got := now.files[name]; got != text && got != s.before.files[name] {
			return fmt.Errorf("%s is %q, not %q", name, got, text)
		}
	}
	return nil
}

// ran checks that the files of a counted turn's tools agree with its events.
func (s *stage) ran(chains map[string]chain) error {
	if !s.crashScenario.counted {
		return nil
	}
	for _, c := range chains {
		calls, err := c.calls()
		if err != nil {
			return err
		}
		for _, call := range calls {
			if err := s.count(call); err != nil {
				return err
			}
		}
	}
	return nil
}

// verified checks that git and jp find nothing wrong, and list all conversations. git complains about
// half of a worktree. jp knows of that one, and forgets it when it makes the next one.
func (s *stage) verified() error {
	if len(leftover.HalfWorktrees(filepath.Join(s.dir, ".git"))) > 0 && !s.goes {
		return nil
	}
	if err := s.flawless(); err != nil && !s.halfDeleted(err) {
		return err
	}
	_, err := s.ok("ls", "--json")
	return err
}

// halfDeleted reports whether the only finding of jp verify is a deletion between its two refs, after
// git and then jp met the same broken disk. The next jp rm ends it.
func (s *stage) halfDeleted(found error) bool {
	if !s.crashScenario.removes || s.goes || !strings.HasPrefix(found.Error(), "jp verify") {
		return false
	}
	out := s.jp("verify", "--all")
	return strings.Contains(out.stdout+out.stderr, "1 conversation damaged") && strings.Contains(out.stdout, "refs/jp/payloads/"+s.id+" is gone")
}

// complete checks that an errand that succeeded has done all its work.
func (s *stage) complete(out result) error {
	now := *s.now
	for name, text := range s.after.files {
		if got := now.files[name]; got != text && !s.crashScenario.turn {
			return fmt.Errorf("it is done, and %s is %q, not %q", name, got, text)
		}
	}
	for name := range s.before.files {
		if _, exists := s.after.files[name]; !exists && now.files[name] != "" && !s.crashScenario.turn {
			return fmt.Errorf("it is done, and %s is still there", name)
		}
	}
	return s.crashScenario.done(s, out)
}

// goesOn finishes the unfinished work, with the fault gone.
func (s *stage) goesOn() error {
	s.goes = true
	s.passTime()
	command := s.crashScenario.args
	if s.crashScenario.goOn != nil {
		command = s.crashScenario.goOn(s)
	}
	if command == "" {
		return s.complete(result{})
	}
	out := s.jp(s.named(command)...)
	if out.exit == problem.ExitLocked && strings.Contains(out.stderr, "packed-refs.lock") && strings.Contains(out.stderr, "rm ") {
		s.must(os.Remove(filepath.Join(s.dir, ".git/packed-refs.lock"))) // git's own, as it says
		s.passTime()
		out = s.jp(s.named(command)...)
	}
	if out.exit != 0 {
		return fmt.Errorf("jp %s: exit %d: %s", command, out.exit, out.stderr)
	}
	if s.crashScenario.behind {
		s.jp("attach", "--wait")
	}
	if err := s.sound(out); err != nil {
		return fmt.Errorf("after jp %s: %w", command, err)
	}
	if err := s.complete(out); err != nil {
		return fmt.Errorf("after jp %s: %w", command, err)
	}
	return nil
}
