package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/config"
	"jp/internal/safefile"
	"jp/turnloop"
)

// Allow lets commands that begin with these words run without a question from now on, in this
// repository and for this user: it writes policy.allow into the user's own file for the repository,
// and returns the file. The rule counts at once, also in turns that other processes run.
func Allow(r *repo.Repo, rule []string) (file string, err error) {
	if len(rule) == 0 {
		return "", problem.Usage("a rule needs the command's first word.")
	}
	if origin := r.Report.Origins[config.KeyAllow]; origin.Layer > config.LayerRepository {
		return "", problem.New(problem.ExitFailed, "config", "the rule was not added: %s sets %s, and counts for more than your own files.", origin, config.KeyAllow)
	}
	id, err := r.Standings().WorkspaceID()
	if err != nil {
		return "", err
	}
	file = r.Paths.OwnFile(id)
	if err := os.MkdirAll(r.Paths.OwnFiles(), 0o700); err != nil {
		return "", fmt.Errorf("allow a command: %w", err)
	}
	unlock, err := safefile.LockFile(context.Background(), filepath.Join(r.Paths.OwnFiles(), ".lock")) // two processes could add a rule at once
	if err != nil {
		return "", fmt.Errorf("allow a command: %w", err)
	}
	defer unlock()
	had, _, err := config.Load(config.Options{OwnFile: file})
	if err != nil {
		return "", err
	}
	if covers(had.Policy.Allow, rule) {
		return file, nil
	}
	rules := slices.DeleteFunc(had.Policy.Allow, func(old []string) bool { return covers([][]string{rule}, old) })
	var value bytes.Buffer
	text := json.NewEncoder(&value) // whose strings are TOML
	text.SetEscapeHTML(false)
	if err := text.Encode(append(rules, rule)); err != nil {
		return "", err
	}
	draft, err := config.NewDraft(config.Origin{Layer: config.LayerRepository, Name: file}, config.KeyAllow, value.String())
	if err != nil {
		return "", err
	}
	draft.Begin(fmt.Sprintf("Your settings for the repository %q.", r.Place()))
	if mistake := draft.Adds(func(content []byte) []*config.Error {
		return Examine(r, r.Env, config.LayerRepository, content)
	}); mistake != nil {
		return "", mistake
	}
	return file, draft.Write()
}

// covers reports whether a rule allows everything that another one does.
func covers(rules [][]string, other []string) bool {
	return slices.ContainsFunc(rules, func(rule []string) bool {
		return len(rule) > 0 && len(rule) <= len(other) && slices.Equal(rule, other[:len(rule)])
	})
}

// rules are the allow rules of a turn. What the user adds to their own file counts at once. Where a
// higher layer says which rules there are, these stay.
type rules struct {
	repo *repo.Repo

	mu    sync.Mutex
	seen  os.FileInfo // the user's own file as it was read last; nil: there was none
	known turnloop.Grant
}

func rulesOf(r *repo.Repo) *rules { return &rules{repo: r, known: r.Config.Policy.Allow} }

// now are the rules in force.
func (f *rules) now() turnloop.Grant {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.repo.Report.Origins[config.KeyAllow].Layer > config.LayerRepository {
		return f.known
	}
	file := f.repo.Standings().OwnFile()
	info, err := os.Stat(file)
	if err != nil || f.seen != nil && os.SameFile(info, f.seen) && info.ModTime().Equal(f.seen.ModTime()) && info.Size() == f.seen.Size() {
		return f.known
	}
	c, _, err := config.Load(config.Options{UserFile: f.repo.Paths.UserFile, OwnFile: file})
	if err == nil { // a file with a mistake says nothing new
		f.seen, f.known = info, c.Policy.Allow
	}
	return f.known
}
