package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// tryGit runs git, whose failure is a broken promise.
func (s *scene) tryGit(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = s.dir, s.environ
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil && stderr.Len() > 0 {
		err = errors.New("it complains")
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// look reads the conversation anew: it still has its earlier events, and those that jp has printed,
// and git and jp find nothing wrong with it.
func (s *scene) look(stdout string) error {
	now, err := s.readChain()
	if err != nil {
		return err
	}
	if err := errors.Join(now.says(stdout), now.has(s.chain)); err != nil {
		return err
	}
	s.chain = now
	return s.flawless()
}

// flawless checks that git and jp find nothing wrong.
func (s *scene) flawless() error {
	if out, err := s.tryGit("fsck", "--strict", "--no-dangling"); err != nil {
		return err
	} else if out != "" {
		return fmt.Errorf("git fsck --strict: %s", out)
	}
	text, err := s.ok("verify", "--all", "--json")
	if err != nil {
		return err
	}
	var verdicts []struct{ OK, Local bool }
	if err := json.Unmarshal([]byte(text), &verdicts); err != nil {
		return fmt.Errorf("jp verify: %w", err)
	}
	for _, v := range verdicts {
		if !v.OK || !v.Local {
			return fmt.Errorf("jp verify: %s", text)
		}
	}
	return nil
}

// state is the conversation's state in jp ls, "" if there is none.
func (s *scene) state() (string, error) {
	text, err := s.ok("ls", "--json")
	if err != nil {
		return "", err
	}
	var list []struct {
		ID     string
		Status struct{ State string }
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return "", fmt.Errorf("jp ls: %w", err)
	}
	switch {
	case len(list) == 0 && s.chain.id == "":
		return "", nil
	case len(list) == 1 && list[0].ID == s.chain.id:
		return list[0].Status.State, nil
	}
	return "", fmt.Errorf("jp ls: %s, and there is %q", text, s.chain.id)
}

// broken checks the state after a kill.
func (s *scene) broken(out result) error {
	if err := s.look(out.stdout); err != nil {
		return err
	}
	calls, err := s.chain.calls()
	if err != nil {
		return err
	}
	for _, c := range calls {
		if c.started && c.answer == nil {
			s.unknown[c.seq] = true
		}
	}
	state, err := s.state()
	if err != nil {
		return err
	}
	want := "interrupted"
	switch {
	case s.chain.id == "":
		want = ""
	case s.chain.done():
		want = "idle"
	case s.chain.asked():
		want = "waiting_for_input"
	}
	if state != want {
		return fmt.Errorf("the state is %q, not %q", state, want)
	}
	if err := s.counts(calls, false); err != nil {
		return err
	}
	defer s.passTime()
	if want == "" || want == "idle" {
		return nil
	}
	return s.refuses()
}

// refuses checks that jp takes no new request before the interrupted turn is settled.
func (s *scene) refuses() error {
	if out := s.jp("query", "--non-interactive", "x"); out.exit != 3 {
		return fmt.Errorf("jp query on a broken turn: exit %d: %s", out.exit, out.stderr)
	}
	return s.still("jp query on a broken turn")
}

// still checks that a command has not changed the conversation.
func (s *scene) still(what string) error {
	now, err := s.readChain()
	if err == nil && now.head != s.chain.head {
		err = fmt.Errorf("%s moved the conversation from %d to %d events", what, len(s.chain.events), len(now.events))
	}
	return err
}

// over checks that a run has come to its end, with the same result as without a kill.
func (s *scene) over(out result) error {
	if out.exit != 0 {
		return fmt.Errorf("going on: exit %d: %s", out.exit, out.stderr)
	}
	if err := s.look(out.stdout); err != nil {
		return err
	}
	calls, err := s.chain.calls()
	if err != nil {
		return err
	}
	state, err := s.state()
	if err != nil {
		return err
	}
	if state != "idle" || !s.chain.done() {
		return fmt.Errorf("the turn is not complete: jp ls says %q", state)
	}
	if err := s.counts(calls, true); err != nil {
		return err
	}
	for _, name := range users {
		if s.read(name) != s.readBegun(name) {
			return fmt.Errorf("%s has changed", name)
		}
	}
	if s.branches(s.root) != s.branches(s.begun) {
		return errors.New("a branch has changed")
	}
	if _, err := s.ok("continue", "--policy", "auto", "--non-interactive"); err != nil {
		return err
	}
	return s.still("jp continue after the end")
}

// counts checks how often each tool ran: never twice, once if its response says so, and not at all
// before its start was reported. A tool fails only if a kill left it started and without a response.
func (s *scene) counts(calls []*chainCall, over bool) error {
	asked := map[string]bool{}
	for _, c := range calls {
		asked[c.id] = true
	}
	for id := range leaves {
		if !asked[id] { // a kill has taken the model's words before they were durable
			if err := s.count(&chainCall{id: id}); err != nil {
				return err
			}
		}
	}
	for _, c := range calls {
		switch {
		case over && c.answer == nil:
			return fmt.Errorf("call %s has no response", c.id)
		case c.answer != nil && c.answer.IsError && !s.unknown[c.seq]:
			return fmt.Errorf("call %s failed, and no kill left it started", c.id)
		}
		if err := s.count(c); err != nil {
			return err
		}
		if over {
			s.tally.tools.Add(1)
		}
	}
	return nil
}

// count compares the files of a call with its progress.
func (s *scene) count(c *chainCall) error {
	for name, once := range leaves[c.id] {
		s.tally.counters.Add(1)
		text := s.read(name)
		ran, begun := text == once, text == s.readBegun(name)
		switch {
		case !ran && !begun:
			return fmt.Errorf("call %s: %s is %q", c.id, name, text)
		case !c.started && ran:
			return fmt.Errorf("call %s was not said to have started, and %s is %q", c.id, name, text)
		case c.answer != nil && !c.answer.IsError && !ran:
			return fmt.Errorf("call %s has its response, and %s is %q", c.id, name, text)
		}
	}
	return nil
}
