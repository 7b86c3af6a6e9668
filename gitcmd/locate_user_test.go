package gitcmd_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

const ada = "[user]\n\tname = Ada\n\temail = ada@example.com\n"

// newUser is a field whose user has a configuration of their own.
func newUser(t testing.TB) *field {
	f := newField(t)
	f.write(f.own(), ada)
	f.environ("GIT_CONFIG_GLOBAL=" + f.own())
	return f
}

func (f *field) own() string         { return f.log + ".config" }
func (f *field) environ(pair string) { f.opts.Environ = append(os.Environ(), pair) }
func (f *field) machine(text string) {
	f.write(f.log+".system", text)
	f.opts.Environ = append(f.opts.Environ, "GIT_CONFIG_NOSYSTEM=0", "GIT_CONFIG_SYSTEM="+f.log+".system")
}

func (f *field) repo() gitcmd.Repository {
	repo, err := gitcmd.Locate(f.Context(), f.deep, gitcmd.Options{})
	require.NoError(f, err)
	return repo
}

// same compares the stored user with git's present answer, and returns the number of starts of git.
func (f *field) sameUser(repo gitcmd.Repository) int {
	f.Helper()
	before := f.asked()
	got, err := f.notes.User(f.Context(), repo, f.opts)
	starts := f.asked() - before
	want, _, wantErr := gitcmd.At(repo, f.opts).User(f.Context())
	require.Equal(f, want, got)
	if wantErr != nil {
		require.EqualError(f, err, wantErr.Error())
	} else {
		require.NoError(f, err)
	}
	return starts
}

// users are possible changes after git named the user, and the number of starts of git each time from then
// on, the first time and later.
var users = map[string]struct {
	first, later int
	happen       func(f *field)
}{
	"nothing":              {0, 0, func(*field) {}},
	"a commit":             {0, 0, func(f *field) { gitenv.Git(f, f.top, "commit", "--allow-empty", "-qm", "x") }},
	"another name here":    {1, 0, func(f *field) { f.set("user.name", "Grace") }},
	"of this working tree": {1, 0, func(f *field) { f.extension("worktreeConfig", "true"); f.write(f.top+"/.git/config.worktree", ada) }},
	"two names": {1, 0, func(f *field) {
		f.set("user.name", "Grace")
		gitenv.Git(f, f.top, "config", "--add", "user.name", "Hedy")
	}},
	"an odd name":          {1, 0, func(f *field) { f.set("user.name", "A\xff\n\u2028\"<>") }},
	"another name":         {1, 0, func(f *field) { f.write(f.own(), "[user]\n\tname = Grace\n\temail = g@example.com\n") }},
	"no address":           {1, 1, func(f *field) { f.write(f.own(), "[user]\n\tname = Ada\n") }},
	"a name without value": {1, 0, func(f *field) { f.write(f.own(), ada+"\tname\n") }},
	"an empty name":        {1, 0, func(f *field) { f.write(f.own(), ada+"\tname =\n") }},
	"no configuration":     {1, 1, func(f *field) { f.remove(f.own()) }},
	"a mistake":            {1, 1, func(f *field) { f.write(f.own(), "[user\n") }},
	"a folder":             {1, 1, func(f *field) { f.remove(f.own()); f.mkdir(f.own()) }},
	"somebody else":        {1, 0, func(f *field) { f.write(f.log+".2", ada); f.environ("GIT_CONFIG_GLOBAL=" + f.log + ".2") }},
	"a setting of no user": {1, 0, func(f *field) { f.set("user.namesake", "x"); f.set("user.x.name", "x") }},
	"the machine's":        {1, 0, func(f *field) { f.machine(ada) }},
	"only the machine's":   {1, 1, func(f *field) { f.remove(f.own()); f.machine(ada) }},
	"the machine's name":   {1, 1, func(f *field) { f.write(f.own(), "[user]\n\temail = a@example.com\n"); f.machine(ada) }},
	"an include":           {1, 1, func(f *field) { f.write(f.log+".2", ada); f.write(f.own(), "[include]\n\tpath = "+f.log+".2\n") }},
	"an include on demand": {1, 1, func(f *field) { f.write(f.own(), ada+"[includeIf \"onbranch:x\"]\n\tpath = 2\n") }},
	"an include here":      {1, 1, func(f *field) { f.set("include.path", "../more") }},
	"said to be none":      {1, 1, func(f *field) { f.environ("GIT_CONFIG_GLOBAL=") }},
	"by a path of git's":   {1, 1, func(f *field) { f.write(f.top+"/gc", ada); f.environ("GIT_CONFIG_GLOBAL=gc") }},
	"a folder of git's": {1, 1, func(f *field) {
		f.environ("XDG_CONFIG_HOME=x")
		f.opts.Environ = slices.DeleteFunc(f.opts.Environ, isGlobal)
	}},
	"another git":           {1, 0, func(f *field) { f.git(`exec git "$@" # another`) }},
	"a git that is killed":  {1, 1, func(f *field) { f.git(`kill -9 $$`) }},
	"a note of another":     {1, 0, func(f *field) { f.write(f.userNote(), "0000\n[\"QQ==\",\"QQ==\"]") }},
	"a torn note":           {1, 0, func(f *field) { require.NoError(f, os.Truncate(f.userNote(), 75)) }},
	"an empty note":         {1, 0, func(f *field) { require.NoError(f, os.Truncate(f.userNote(), 0)) }},
	"a note without answer": {1, 0, func(f *field) { require.NoError(f, os.Truncate(f.userNote(), 65)) }},
	"no notes":              {1, 0, func(f *field) { f.remove(f.notes.Dir) }},
	"no folder for notes":   {1, 1, func(f *field) { f.remove(f.notes.Dir); f.write(f.notes.Dir, "") }},
}

func isGlobal(pair string) bool { return strings.HasPrefix(pair, "GIT_CONFIG_GLOBAL=") }

func (f *field) userNote() string {
	notes, err := filepath.Glob(filepath.Join(f.notes.Dir, "*.user"))
	require.NoError(f, err)
	require.Len(f, notes, 1)
	return notes[0]
}

func TestTheUserIsWhomGitNames(t *testing.T) {
	for name, c := range users {
		t.Run(name, func(t *testing.T) {
			f := newUser(t)
			repo := f.repo()
			require.Equal(t, 1, f.sameUser(repo))
			require.Equal(t, 0, f.sameUser(repo))
			c.happen(f)
			require.Equal(t, c.first, f.sameUser(repo))
			require.Equal(t, c.later, f.sameUser(repo))
		})
	}
}

// An included file changes, and the file that includes it stays the same.
func TestAnIncludedUserIsReadEachTime(t *testing.T) {
	f := newUser(t)
	f.write(f.log+".2", ada)
	f.write(f.own(), "[include]\n\tpath = "+f.log+".2\n")
	repo := f.repo()
	f.sameUser(repo)
	f.write(f.log+".2", "[user]\n\tname = Grace\n\temail = g@example.com\n")
	f.sameUser(repo)
}

func TestTheUserOfAnUnusualRepository(t *testing.T) {
	f := newUser(t)
	tree, bare := filepath.Join(t.TempDir(), "tree"), filepath.Join(t.TempDir(), "bare")
	gitenv.Git(t, f.top, "worktree", "add", "-q", tree)
	gitenv.Git(t, f.top, "init", "-q", "--bare", bare)
	for _, dir := range []string{tree, bare} {
		repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
		require.NoError(t, err)
		require.Equal(t, 1, f.sameUser(repo))
		require.Equal(t, 1, f.sameUser(repo), "git is asked each time")
	}
	f.notes.Dir = ""
	require.Equal(t, 1, f.sameUser(f.repo()))
	require.Equal(t, 1, f.sameUser(f.repo()))
}

// TestWhateverIsConfiguredGitNamesTheUser writes random configurations.
func TestWhateverIsConfiguredGitNamesTheUser(t *testing.T) {
	f := newUser(t)
	f.machine("")
	repo := f.repo()
	local, err := os.ReadFile(f.top + "/.git/config")
	require.NoError(t, err)
	rapid.Check(t, func(r *rapid.T) {
		f.write(f.top+"/.git/config", string(local))
		f.write(f.own(), ada)
		f.write(f.log+".more", ada)
		f.write(f.log+".system", "")
		for range rapid.IntRange(1, 3).Draw(r, "steps") {
			text := ""
			for _, line := range rapid.SliceOfN(rapid.SampledFrom([]string{
				"[user]", "name = Grace", "email = g@example.com", "name", "name =", "[User]", "NAME = x", "[user \"x\"]", "[user] name = y",
				"[include]", "path = " + f.log + ".more", "; [user]", "name = \"a b\" # c", "email = a\\", "b@c",
			}), 0, 6).Draw(r, "lines") {
				text += line + "\n"
			}
			switch rapid.SampledFrom([]string{"user", "repository", "machine", "included"}).Draw(r, "whose") {
			case "user":
				f.write(f.own(), text)
			case "repository":
				f.write(f.top+"/.git/config", string(local)+text)
			case "machine":
				f.write(f.log+".system", text)
			case "included":
				f.write(f.log+".more", text)
			}
			f.sameUser(repo)
			f.sameUser(repo)
		}
	})
}
