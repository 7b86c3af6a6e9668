package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"
)

const (
	askCounted = "query --model script/../counted.toml --policy auto --non-interactive --format jsonl Go"
	resumeTurn = "continue --policy auto --non-interactive --format jsonl"
)

// errands are the commands that write something, those with the most points last.
var errands = []crashScenario{
	{name: "fork until", args: "fork ID --until 14 --json", prepare: (*stage).withTurn, done: (*stage).forked},
	{name: "fork last", args: "fork ID --last 1 --json", prepare: (*stage).withTurn, done: (*stage).forked},
	{name: "fork worktree", args: "fork ID --worktree ../try --json", prepare: (*stage).withTurn, goOn: (*stage).elsewhere, done: (*stage).beside},
	{name: "rm", args: "rm ID -y --json", prepare: (*stage).withTurn, goOn: (*stage).untilGone, done: (*stage).gone, removes: true},
	{name: "archive", args: "archive ID --json", prepare: (*stage).withTurn, goOn: (*stage).untilArchived, done: (*stage).archived},
	{name: "unarchive", args: "archive --undo ID --json", prepare: (*stage).withArchived, goOn: (*stage).untilBack, done: (*stage).back},
	{name: "undo", args: "undo -y --json", prepare: (*stage).withTurn, done: (*stage).inFiles},
	{name: "restore", args: "restore @14 -y --json", prepare: (*stage).withTurn, done: (*stage).inFiles},
	{name: "edit", args: "edit ID --title=Other --json", prepare: (*stage).withTurn, done: (*stage).retitled},
	{name: "use", args: "use ID", prepare: (*stage).withFork, done: (*stage).used},
	{name: "grep", args: "grep changed", prepare: (*stage).withFork, done: (*stage).sameWords, reads: true},
	{name: "ls", args: "ls --json", prepare: (*stage).withFork, done: (*stage).sameWords, reads: true},
	{name: "pack", args: "pack --json", prepare: (*stage).withTurn, done: (*stage).packed},
	{name: "init", args: "config init --json", prepare: (*stage).nothing, goOn: (*stage).untilInit, done: (*stage).inFiles},
	{name: "config set", args: "config set limits.model_calls 20 --json", prepare: (*stage).withSettings, done: (*stage).inFiles},
	{name: "config set workspace", args: "config set --workspace limits.model_calls 20 --json", prepare: (*stage).withSettings, done: (*stage).inFiles},
	{name: "turn", args: askCounted, prepare: (*stage).nothing, goOn: (*stage).resumed, done: (*stage).ended, turn: true, counted: true},
	{name: "continue", args: resumeTurn, prepare: (*stage).withQuestion, done: (*stage).ended, turn: true, counted: true},
	{name: "hooks", args: "query --model script/../made.toml -y --format jsonl Go", prepare: (*stage).withHooks, goOn: (*stage).resumed, done: (*stage).ended, turn: true},
	{name: "detach", args: "query --detach " + askCounted[len("query "):], prepare: (*stage).nothing, goOn: (*stage).resumedBehind, done: (*stage).attached,
		turn: true, counted: true, behind: true},
}

func (*stage) nothing() {}

// withQuestion has a turn that waits for the answer to its first question.
func (s *stage) withQuestion() {
	out := s.jp(words("query --model script/../counted.toml --policy defer Go")...)
	require.Equal(s.t, 3, out.exit, out.stderr)
}

func (s *stage) withHooks() {
	s.write("../made.toml", oneFile)
	s.write("../hook.sh", "#!/bin/sh\nexec cat >/dev/null\n")
	text := "[hooks]\n"
	for _, point := range []string{"turn-start", "tool-pre", "tool-post", "turn-end"} {
		text += point + " = [\"../hook.sh\"]\n"
	}
	s.write("../home/.config/jp/config.toml", text)
}

func (s *stage) withArchived() {
	s.withTurn()
	require.Zero(s.t, s.jp("archive", s.id).exit)
}

// withFork has a second conversation, and nothing in caches.
func (s *stage) withFork() {
	s.withTurn()
	require.Zero(s.t, s.jp("fork", s.id, "--last", "1", "-a").exit)
	cache := filepath.Join(s.dir, ".git/jp/cache")
	require.NoError(s.t, errors.Join(os.RemoveAll(cache), os.RemoveAll(filepath.Join(s.dir, ".git/jp/index.json"))))
}

func (s *stage) withSettings() {
	text := "# mine\n[limits]\nmodel_calls = 10 # ten\n"
	s.write(".jp/config.toml", text)
	s.write("../home/.config/jp/config.toml", text)
}

// packed: all objects of conversations are packed. A loose file that could not be removed may be there
// besides.
func (s *stage) packed(result) error {
	if left := s.git("rev-list", "--objects", "--unpacked", "--glob=refs/jp/*", "--not", "--branches"); left != "" {
		return fmt.Errorf("loose: %s", left)
	}
	return nil
}

// resumed goes on with the turn, if there is one.
func (s *stage) resumed() string {
	if c, err := s.readChain(); err != nil || c.id != "" {
		return resumeTurn
	}
	return s.crashScenario.args
}

// resumedBehind is the same in the background.
func (s *stage) resumedBehind() string {
	if command := s.resumed(); command != resumeTurn {
		return command
	}
	return strings.Replace(resumeTurn, "--format jsonl", "--detach", 1)
}

func (s *stage) ended(_ result) error {
	c, err := s.readChain()
	if err == nil && !c.done() {
		err = errors.New("the turn has no end")
	}
	return err
}

// attached: an attached client sees the end of the turn, or hears of it.
func (s *stage) attached(result) error {
	out := s.jp("attach", "--json")
	if out.exit != 0 && !strings.Contains(out.stderr, "its last turn is complete") {
		return fmt.Errorf("jp attach: exit %d: %s", out.exit, out.stderr)
	}
	return s.ended(result{})
}

// forked: there is one more conversation, and it is the printed one.
func (s *stage) forked(out result) error {
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(out.stdout), &made); err != nil {
		return fmt.Errorf("%q: %w", out.stdout, err)
	}
	if made.ID == "" || s.now.refs["refs/jp/conversations/"+made.ID] == "" {
		return fmt.Errorf("there is no fork %q", made.ID)
	}
	return nil
}

// elsewhere makes a worktree at another place if there is half of one.
func (s *stage) elsewhere() string {
	if _, err := os.Stat(filepath.Join(s.root, "try")); err == nil {
		return "fork ID --worktree ../again --json"
	}
	return s.crashScenario.args
}

func (s *stage) beside(out result) error {
	if err := s.forked(out); err != nil {
		return err
	}
	var made struct{ Worktree string }
	if err := json.Unmarshal([]byte(out.stdout), &made); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(made.Worktree, "README.md"))
	if err == nil && string(text) != s.read("README.md") {
		err = fmt.Errorf("README.md in the worktree is %q", text)
	}
	return err
}

// where has the remaining refs of the conversation, except some.
func (s *stage) where(but ...string) (left []string) {
	for ref := range s.now.refs {
		if strings.HasSuffix(ref, "/"+s.id) && !strings.HasPrefix(ref, "refs/jp/payloads/") && !strings.Contains(strings.Join(but, " "), ref) {
			left = append(left, ref)
		}
	}
	return left
}

func (s *stage) untilGone() string {
	if len(s.where()) == 0 {
		return ""
	}
	return s.crashScenario.args
}

// gone: the repository has no part of a conversation, and no payload of it.
func (s *stage) gone(result) error {
	for ref := range s.now.refs {
		if strings.HasSuffix(ref, s.id) {
			return fmt.Errorf("%s is still there", ref)
		}
	}
	return nil
}

func (s *stage) untilArchived() string {
	if s.archived(result{}) == nil {
		return ""
	}
	return s.crashScenario.args
}

func (s *stage) archived(_ result) error { return s.only("refs/jp/archive/") }

func (s *stage) untilBack() string {
	if s.back(result{}) == nil {
		return ""
	}
	return s.crashScenario.args
}

func (s *stage) back(_ result) error { return s.only("refs/jp/conversations/") }

// only checks that the conversation is below one name only.
func (s *stage) only(prefix string) error {
	refs := s.now.refs
	if refs[prefix+s.id] == "" {
		return fmt.Errorf("%s is not there", prefix+s.id)
	}
	if left := s.where(prefix + s.id); len(left) > 0 {
		return fmt.Errorf("%v is still there", left)
	}
	return nil
}

// inFiles is all in files, which have been compared.
func (*stage) inFiles(result) error { return nil }

func (s *stage) retitled(_ result) error {
	text, err := s.ok("ls", "--json")
	if err == nil && !strings.Contains(text, `"title":"Other"`) {
		err = fmt.Errorf("the title: %s", text)
	}
	return err
}

func (s *stage) used(_ result) error {
	text, err := s.ok("show", "--json")
	if err == nil && !strings.Contains(text, `"id":"`+s.id) {
		err = fmt.Errorf("in use: %s", text)
	}
	return err
}

// sameWords: in any state of a cache, a search has the same result.
func (s *stage) sameWords(out result) error {
	if out.stdout != s.clean.stdout {
		return fmt.Errorf("it says %q, not %q", out.stdout, s.clean.stdout)
	}
	return nil
}

func (s *stage) untilInit() string {
	if s.read(".jp/config.toml") != "" {
		return ""
	}
	return s.crashScenario.args
}
