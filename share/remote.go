package share

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/gitcmd"
	"jp/internal/action"
	"jp/internal/safefile"
	"jp/internal/safetext"
)

// A Remote is a repository that conversations are pushed to and fetched from.
type Remote struct {
	Name string // of its refs here, below refs/jp/remotes/
	URL  string // as git resolves it
	Was  string // the URL that the user agreed to under this name, or ""

	open bool // anybody may read it, and the user agreed to that
}

// Agreed reports whether the user has agreed to the URL, and, if anybody may read the remote, to that.
func (m Remote) Agreed(public bool) bool { return m.URL == m.Was && (m.open || !public) }

// Word is the word for the remote in a command.
func (m Remote) Word() string {
	if m.Name == nameOfURL {
		return m.URL
	}
	return m.Name
}

// Public reports whether anybody may read the remote: it is on the web, and answers without credentials.
func (m Remote) Public(ctx context.Context, r *repo.Repo) bool {
	if !strings.HasPrefix(m.URL, "http://") && !strings.HasPrefix(m.URL, "https://") {
		return false
	}
	_, err := r.Git.RunWith(ctx, gitcmd.Command{
		Args: []string{"ls-remote", "--", m.URL, "HEAD"}, Network: true, Config: []string{"credential.helper=", "core.askPass="}, Env: []string{"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS="},
	})
	return err == nil
}

// nameOfURL is the name of a remote that the user gives as a URL.
const nameOfURL = "conversations"

// remembered is the file of the user's state about the remotes of a repository.
type remembered struct {
	Remote string            `json:"remote"` // the one in use
	URLs   map[string]string `json:"urls"`   // that the user agreed to, by name
	Public map[string]bool   `json:"public"` // those that the user knows to be so
	// Repository is the id that manifests of this repository have, which its clones share. Seen are the newest
	// manifests that were taken from here or there, by the fingerprint of their key.
	Repository string            `json:"repository,omitempty"`
	Seen       map[string]string `json:"seen,omitempty"`
}

func memory(r *repo.Repo) (string, error) {
	id, err := r.Standings().WorkspaceID()
	return filepath.Join(r.Paths.StateDir, "remotes", id), err
}

func recall(r *repo.Repo) (m remembered, err error) {
	path, err := memory(r)
	if err != nil {
		return m, err
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if m.URLs == nil {
		m.URLs = map[string]string{}
	}
	if m.Public == nil {
		m.Public = map[string]bool{}
	}
	if m.Seen == nil {
		m.Seen = map[string]string{}
	}
	if err != nil {
		err = fmt.Errorf("read %s: %w", path, err)
	}
	return m, err
}

// change changes the file. One process does it at a time.
func change(ctx context.Context, r *repo.Repo, with func(*remembered)) error {
	path, err := memory(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	unlock, err := safefile.LockFile(ctx, path+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	m, err := recall(r)
	if err != nil {
		return err
	}
	with(&m)
	text, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	return safefile.Replace(path, text, safefile.Options{})
}

// Agree remembers a remote and its URL, at the user's word.
func (m Remote) Agree(ctx context.Context, r *repo.Repo, public bool) error {
	return change(ctx, r, func(all *remembered) {
		all.Remote, all.URLs[m.Name], all.Public[m.Name] = m.Name, m.URL, public
	})
}

// Split takes the remote from the front of a command's words: the name of one of git's remotes, or a URL.
func Split(ctx context.Context, r *repo.Repo, words []string) (remote string, ids []string, err error) {
	if len(words) == 0 {
		return "", nil, nil
	}
	names, err := r.Git.Run(ctx, "remote")
	if err != nil {
		return "", nil, err
	}
	if strings.ContainsAny(words[0], ":/") || words[0] == nameOfURL || slices.Contains(strings.Fields(string(names)), words[0]) {
		return words[0], words[1:], nil
	}
	return "", words, nil
}

// Find is the remote of a word, "" for the one in use. In a repository with a single remote of git's, "" is that one
// as long as none is in use.
func Find(ctx context.Context, r *repo.Repo, word string) (m Remote, err error) {
	known, err := recall(r)
	if err != nil {
		return m, err
	}
	out, err := r.Git.Run(ctx, "remote")
	if err != nil {
		return m, err
	}
	names := strings.Fields(string(out))
	m.Name = word
	if word == "" {
		m.Name = known.Remote
	}
	if m.Name == "" && len(names) == 1 {
		m.Name = names[0]
	}
	switch {
	case m.Name == "" && len(names) == 0:
		return m, problem.New(problem.ExitUsage, "usage", "this repository has no remote.").Hint(action.PushTo("URL"), "push to a repository by its URL")
	case m.Name == "":
		return m, problem.New(problem.ExitUsage, "usage", "this repository has the remotes %s; say which.", safetext.Show(strings.Join(names, ", "))).
			Hint(action.PushTo(names[0]), "push to this one, and to it from now on")
	case slices.Contains(names, m.Name):
		url, err := r.Git.Run(ctx, "remote", "get-url", "--push", "--", m.Name)
		if err != nil {
			return m, err
		}
		m.URL = strings.TrimSuffix(string(url), "\n")
	case m.Name == nameOfURL:
		m.URL = known.URLs[nameOfURL]
	case strings.ContainsAny(m.Name, ":/"):
		m.Name, m.URL = nameOfURL, m.Name
	}
	m.Was, m.open = known.URLs[m.Name], known.Public[m.Name]
	if m.URL == "" || strings.HasPrefix(m.URL, "-") || strings.ContainsAny(m.URL, "\x00\n\r") {
		return m, problem.New(problem.ExitNotFound, "not_found", "there is no remote %s.", safetext.Show(m.Name)).Hint(action.GitRemotes, "list the remotes")
	}
	return m, nil
}

// refs are the refs of the remote, by name.
func (m Remote) refs(ctx context.Context, r *repo.Repo) (map[string]string, error) {
	out, err := r.Git.RunWith(ctx, gitcmd.Command{Args: []string{"ls-remote", "--refs", "--", m.URL}, Network: true})
	if err != nil {
		return nil, m.failure(err)
	}
	refs := map[string]string{}
	for line := range bytes.Lines(out) {
		if oid, name, found := strings.Cut(strings.TrimSpace(string(line)), "\t"); found && sound(name) {
			refs[name] = oid
		}
	}
	return refs, nil
}

// sound refuses refs of jp's that jp does not write: a remote is a stranger's, and its names become names here.
func sound(ref string) bool {
	rest, own := strings.CutPrefix(ref, "refs/jp/")
	if !own {
		return true
	}
	scope, name, _ := strings.Cut(rest, "/")
	if scope+"/" == strings.TrimPrefix(manifests, "refs/jp/") {
		raw, err := hex.DecodeString(name)
		return err == nil && len(raw) == fingerprintBytes
	}
	_, err := conversation.ParseID(name)
	return err == nil && slices.Contains([]string{live, archive, payloads}, "refs/jp/"+scope+"/")
}

// failure is the error of a git that talked to the remote.
func (m Remote) failure(err error) error {
	var exit *gitcmd.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	return problem.New(problem.ExitFailed, "remote", "%s (%s): %v.", safetext.Show(m.Name), safetext.Show(m.URL), err)
}

// Refs of the remote.
const (
	live      = "refs/jp/conversations/"
	archive   = "refs/jp/archive/"
	payloads  = "refs/jp/payloads/"
	manifests = "refs/jp/manifests/"
)

// here is the place of a ref of the remote in this repository.
func (m Remote) here(ref string) string {
	root := "refs/jp/remotes/" + m.Name + "/"
	for _, scope := range []string{live, archive} {
		if id, ok := strings.CutPrefix(ref, scope); ok {
			return root + id
		}
	}
	return root + strings.TrimPrefix(ref, "refs/jp/")
}

func reaches(ctx context.Context, r *repo.Repo, head, event string) (bool, error) {
	_, err := r.Git.Run(ctx, "merge-base", "--is-ancestor", event, head)
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) && exit.Code == 1 {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("compare two heads: %w", err)
	}
	return true, nil
}
