package powercut_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
)

// scriptSeed is the seed of the one script that all rows play.
const scriptSeed = 7

// An oracle knows the results of a script, from playing it while the power stays.
type oracle struct {
	steps int
	repo  string              // the user's repository, before any step
	end   string              // the same after the last one
	files map[string]string   // of the user, and git's own for the user: hash by path
	refs  []map[string]string // jp's, after so many steps
	lines map[string][]string // the events up to a head, as the script has them
}

func newOracle(t *testing.T, steps int) *oracle {
	t.Helper()
	o := &oracle{steps: steps, repo: usersRepo(t), refs: []map[string]string{{}}, lines: map[string][]string{}}
	o.files = fingerprint(t, o.repo)
	o.end = copyOf(t, o.repo)
	store, err := openStore(o.end, gitstore.Options{Durability: odb.Off})
	require.NoError(t, err)
	defer store.Close()
	p := player{store: store, heads: map[conversation.ID]conversation.Head{}}
	for _, s := range script(scriptSeed, steps) {
		o.play(t, &p, s)
		refs, err := refsOf(o.end)
		require.NoError(t, err)
		o.refs = append(o.refs, refs)
	}
	require.Equal(t, o.files, fingerprint(t, o.end))
	return o
}

func copyOf(t *testing.T, repo string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	require.NoError(t, os.CopyFS(dir, os.DirFS(repo)))
	return dir
}

// play does one step and notes the lines of its events, with texts and payloads of the script instead of
// the store.
func (o *oracle) play(t *testing.T, p *player, s step) {
	t.Helper()
	before := p.heads[s.id]
	if s.kind == "fork" {
		before = p.heads[s.from]
	}
	script := make([]*conversation.Event, len(s.events))
	for i, e := range s.events {
		script[i] = e.Clone()
	}
	require.NoError(t, p.play(context.Background(), s))
	lines := o.lines[string(before)]
	for i, e := range script {
		lines = append(lines[:len(lines):len(lines)], line(s.events[i].Commit, e, func(p conversation.Payload) []byte { return p.Data }))
	}
	o.lines[string(p.heads[s.id])] = lines
}

// allowed are the values that jp's refs may have when so many steps are acknowledged: as they were then, as
// after the next step, or on the way there. A step that moves several refs moves those of payload first,
// and removes one last.
func (o *oracle) allowed(acknowledged int) []map[string]string {
	was := o.refs[acknowledged]
	if acknowledged == o.steps {
		return []map[string]string{was}
	}
	will := o.refs[acknowledged+1]
	payload, both := maps.Clone(was), maps.Clone(was)
	for name, oid := range will {
		both[name] = oid
		if strings.HasPrefix(name, "refs/jp/payloads/") {
			payload[name] = oid
		}
	}
	return []map[string]string{was, payload, both, will}
}

// usersRepo has everything that a user might miss: commits, branches, a tag, a
// remote's branch, packed refs and loose ones, a staged, a changed and a new file.
func usersRepo(t *testing.T) string {
	t.Helper()
	repo := gitenv.Repo(t)
	git := func(args ...string) { gitenv.Git(t, repo, args...) }
	put := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(repo, name), []byte(text), 0o644))
	}
	put("a.go", "package a\n")
	git("add", "a.go")
	git("commit", "-q", "-m", "second")
	git("tag", "-a", "v1", "-m", "one")
	git("branch", "topic")
	git("update-ref", "refs/remotes/origin/main", "HEAD~1")
	git("pack-refs", "--all")
	git("branch", "loose", "HEAD~1")
	put("staged.go", "package a // staged\n")
	git("add", "staged.go")
	put("a.go", "package a // changed\n")
	put("new.go", "package a // new\n")
	return repo
}

// fingerprint is all that a user has in a repository, but for objects, which git
// checks itself, and locks of git's that a kill may leave.
func fingerprint(t testing.TB, repo string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(repo, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(repo, path)
		switch {
		case err != nil:
			files[name] = err.Error()
			return nil
		case d.IsDir() && (name == ".git/objects" || name == ".git/refs/jp"):
			return fs.SkipDir
		case d.IsDir() || name == ".git/packed-refs.lock":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			text = []byte(err.Error())
		}
		files[name] = fmt.Sprintf("%x", sha256.Sum256(text))
		return nil
	})
	require.NoError(t, err)
	return files
}
