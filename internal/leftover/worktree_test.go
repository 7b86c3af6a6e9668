package leftover_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/leftover"
	"jp/internal/safefile"
	"jp/internal/testing/gitenv"
)

// A making is a repository in which a linked working tree is being made.
type making struct {
	t        *testing.T
	dir, git string // of the repository
	linked   string // the place of the working tree
}

func newMaking(t *testing.T) *making {
	t.Helper()
	gitenv.Isolate(t)
	m := &making{t: t, dir: gitenv.Repo(t)}
	gitenv.Git(t, m.dir, "commit", "-q", "--allow-empty", "-m", "x")
	m.git = filepath.Join(m.dir, ".git")
	at, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	m.linked = filepath.Join(at, "try")
	return m
}

// add makes the working tree, without files in it.
func (m *making) add() {
	m.t.Helper()
	gitenv.Git(m.t, m.dir, "worktree", "add", "-q", "--no-checkout", "--detach", m.linked)
}

func (m *making) own(name string) string { return filepath.Join(m.git, "worktrees", "try", name) }

// note leaves a note as who was killed does.
func (m *making) note() string {
	m.t.Helper()
	_, end, err := leftover.MakingWorktree(safefile.StateDir{GitDir: m.git}, m.linked)
	require.NoError(m.t, err)
	require.Empty(m.t, leftover.HalfWorktrees(m.git), "it is being made")
	names, err := filepath.Glob(filepath.Join(m.git, "jp", "worktrees", "*"))
	require.NoError(m.t, err)
	require.Len(m.t, names, 1)
	text, err := os.ReadFile(names[0])
	require.NoError(m.t, err)
	require.ErrorIs(m.t, leftover.ForgetWorktree(m.git, names[0]), safefile.ErrLocked)
	end()
	require.NoFileExists(m.t, names[0])
	require.NoError(m.t, os.WriteFile(names[0], text, 0o600))
	require.Equal(m.t, names, leftover.HalfWorktrees(m.git))
	return names[0]
}

func TestHalfAWorktreeIsForgotten(t *testing.T) {
	for name, tt := range map[string]struct {
		make  func(m *making) // a whole working tree, reduced to git's state at its kill
		whole bool
	}{
		"nothing yet": {make: func(m *making) {
			require.NoError(m.t, os.RemoveAll(m.own("")))
			require.NoError(m.t, os.RemoveAll(m.linked))
		}},
		"only a folder":  {make: func(m *making) { m.empty(); require.NoError(m.t, os.RemoveAll(m.linked)) }},
		"an empty lock":  {make: func(m *making) { m.empty(); m.lock(""); require.NoError(m.t, os.RemoveAll(m.linked)) }},
		"only the lock":  {make: func(m *making) { m.empty(); m.lock("initializing") }},
		"no HEAD":        {make: func(m *making) { m.lock("initializing"); require.NoError(m.t, os.Remove(m.own("HEAD"))) }},
		"no files":       {make: func(m *making) { m.lock("initializing") }},
		"all of it":      {make: func(*making) {}, whole: true},
		"the user's":     {make: func(m *making) { m.lock("on a stick") }, whole: true},
		"somewhere else": {make: func(m *making) { m.lock("initializing"); m.moved() }, whole: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMaking(t)
			m.add()
			tt.make(m)
			note := m.note()
			require.NoError(t, leftover.ForgetWorktree(m.git, note))
			require.NoFileExists(t, note)
			if tt.whole {
				require.FileExists(t, m.own("HEAD"))
				return
			}
			require.NoDirExists(t, m.own(""))
			require.NoDirExists(t, m.linked)
			require.Empty(t, gitenv.Git(t, m.dir, "fsck", "--strict"))
			m.add()
		})
	}
}

// A user's files in the folder stay.
func TestFilesInHalfAWorktreeStay(t *testing.T) {
	m := newMaking(t)
	m.add()
	m.lock("initializing")
	mine := filepath.Join(m.linked, "mine")
	require.NoError(t, os.WriteFile(mine, nil, 0o600))
	require.NoError(t, leftover.ForgetWorktree(m.git, m.note()))
	require.NoDirExists(t, m.own(""))
	require.FileExists(t, mine)
}

func TestTheDoctorFindsHalfAWorktree(t *testing.T) {
	r := newRuin(t)
	require.NoError(t, os.MkdirAll(r.CommonDir, 0o777))
	_, end, err := leftover.MakingWorktree(safefile.StateDir{GitDir: r.CommonDir}, filepath.Join(r.TopLevel, "try"))
	require.NoError(t, err)
	require.Empty(t, r.find())
	end()
	note := r.leave(".git/jp/worktrees/x")
	files := r.find()
	require.Len(t, files, 1)
	require.Equal(t, leftover.Worktree, files[0].Kind)
	r.age(note, time.Minute)
	require.ErrorIs(t, r.only(), leftover.ErrYoung)
	r.age(note, 2*time.Hour)
	require.NoError(t, r.only())
}

func (m *making) lock(why string) {
	m.t.Helper()
	require.NoError(m.t, os.WriteFile(m.own("locked"), []byte(why), 0o600))
}

func (m *making) empty() {
	m.t.Helper()
	require.NoError(m.t, os.RemoveAll(m.own("")))
	require.NoError(m.t, os.Mkdir(m.own(""), 0o700))
}

// moved makes git's folder that of a working tree at another place.
func (m *making) moved() {
	m.t.Helper()
	require.NoError(m.t, os.WriteFile(m.own("gitdir"), []byte("/elsewhere/try/.git\n"), 0o600))
}

// The user has made one at the place of a half one that is still noted.
func TestAWholeWorktreeBesideHalfOfOne(t *testing.T) {
	for _, lock := range []string{"none", "", "initializing"} {
		t.Run(lock, func(t *testing.T) {
			m := newMaking(t)
			half := m.own("")
			require.NoError(t, os.MkdirAll(half, 0o700))
			if lock != "none" {
				m.lock(lock)
			}
			note := m.note()
			t.Log(gitenv.Git(t, m.dir, "worktree", "prune", "-v"))
			m.add()
			t.Log(gitenv.Git(t, m.dir, "worktree", "list"))
			require.NoError(t, leftover.ForgetWorktree(m.git, note))
			require.FileExists(t, filepath.Join(m.linked, ".git"), "the link of a whole working tree")
			gitenv.Git(t, m.linked, "status")
		})
	}
}

// Another working tree whose name begins alike, at the moment git makes it.
func TestAnothersBeginningStays(t *testing.T) {
	m := newMaking(t)
	note := m.note()
	other := filepath.Join(m.git, "worktrees", "try-other")
	require.NoError(t, os.MkdirAll(other, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(other, "locked"), []byte("initializing"), 0o600))
	require.NoError(t, leftover.ForgetWorktree(m.git, note))
	require.DirExists(t, other)
}

// git changes the name of the folder if it cannot be part of a ref's name.
func TestHalfAWorktreeUnderGitsNameForIt(t *testing.T) {
	m := newMaking(t)
	m.linked = filepath.Join(filepath.Dir(m.linked), "my try")
	m.add()
	own := filepath.Join(m.git, "worktrees", "my-try")
	require.DirExists(t, own)
	require.NoError(t, os.RemoveAll(own))
	require.NoError(t, os.RemoveAll(m.linked))
	require.NoError(t, os.MkdirAll(own, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(own, "locked"), []byte("initializing"), 0o600))
	require.NoError(t, leftover.ForgetWorktree(m.git, m.note()))
	require.NoDirExists(t, own)
}

// Others look for notes while one is made.
func TestANoteIsHeldFromItsBeginning(t *testing.T) {
	dir := t.TempDir()
	done := make(chan struct{})
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				for _, note := range leftover.HalfWorktrees(dir) {
					_ = leftover.ForgetWorktree(dir, note)
				}
			}
		})
	}
	for range 300 {
		_, end, err := leftover.MakingWorktree(safefile.StateDir{GitDir: dir}, "/nowhere/try")
		require.NoError(t, err)
		notes, err := filepath.Glob(filepath.Join(dir, "jp", "worktrees", "*"))
		require.NoError(t, err)
		require.Len(t, notes, 1)
		end()
	}
	close(done)
	others.Wait()
}
