package leftover_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/leftover"
	"jp/process"
)

const (
	id     = conversation.ID("jp-c17528832001-k3f9")
	goneID = conversation.ID("jp-c17528832002-gone")
)

// A ruin is a repository's folders with leftovers of kills.
type ruin struct {
	t *testing.T
	leftover.Remover
}

func newRuin(t *testing.T) *ruin {
	t.Helper()
	if _, sure := process.OpenedBy(nil); !sure {
		// Without that, free files look like those of a process.
		t.Skip("this system does not tell who has a file open, so nothing is removed")
	}
	top := t.TempDir()
	git := filepath.Join(top, ".git")
	r := &ruin{t: t, Remover: leftover.Remover{
		Place: leftover.Place{CommonDir: git, GitDir: git, TopLevel: top, Gone: func(id conversation.ID) bool { return id == goneID }},
		Locks: process.LocksIn(git), Holder: process.Holder{PID: os.Getpid()},
		LockTree: func(context.Context) (func(), error) { return func() {}, nil },
		Tracked:  func(context.Context, string) (bool, error) { return false, nil },
	}}
	return r
}

// leave makes a file, or a folder if the name ends so, two hours old.
func (r *ruin) leave(name string) string {
	r.t.Helper()
	path := filepath.Join(r.TopLevel, name)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o777))
	if strings.HasSuffix(name, "/") {
		require.NoError(r.t, os.MkdirAll(path, 0o777))
	} else {
		require.NoError(r.t, os.WriteFile(path, []byte("left"), 0o666))
	}
	r.age(path, 2*time.Hour)
	return path
}

func (r *ruin) age(path string, by time.Duration) {
	r.t.Helper()
	at := time.Now().Add(-by)
	require.NoError(r.t, os.Chtimes(path, at, at))
}

func (r *ruin) find() []leftover.File {
	r.t.Helper()
	files, whole := r.Find(r.t.Context())
	require.True(r.t, whole)
	return files
}

// only removes the one file that is found, and returns why it stays.
func (r *ruin) only() error {
	r.t.Helper()
	files := r.find()
	require.Len(r.t, files, 1)
	verdicts := r.Remove(r.t.Context(), files)
	require.Len(r.t, verdicts, 1)
	if verdicts[0].Err == nil {
		require.NoFileExists(r.t, files[0].Path)
		require.Empty(r.t, r.find())
	} else {
		_, err := os.Lstat(files[0].Path)
		require.NoError(r.t, err)
	}
	return verdicts[0].Err
}

var left = map[string]struct {
	path string
	kind leftover.Kind
	keep error // the reason why it stays
}{
	"ref lock":       {".git/refs/jp/conversations/" + string(id) + ".lock", leftover.RefLock, nil},
	"archive lock":   {".git/refs/jp/archive/" + string(id) + ".lock", leftover.RefLock, nil},
	"payload lock":   {".git/refs/jp/payloads/" + string(id) + ".lock", leftover.RefLock, nil},
	"remote's lock":  {".git/refs/jp/remotes/origin/" + string(id) + ".lock", leftover.RefLock, leftover.ErrKind},
	"nobody's lock":  {".git/refs/jp/conversations/x.lock", leftover.RefLock, leftover.ErrKind},
	"packed refs":    {".git/packed-refs.lock", leftover.RefLock, leftover.ErrKind},
	"index lock":     {".git/index.lock", leftover.GitLock, leftover.ErrKind},
	"branch lock":    {".git/refs/heads/a/b.lock", leftover.GitLock, leftover.ErrKind},
	"stash lock":     {".git/refs/stash.lock", leftover.GitLock, leftover.ErrKind},
	"HEAD lock":      {".git/HEAD.lock", leftover.GitLock, leftover.ErrKind},
	"config lock":    {".git/config.lock", leftover.GitLock, leftover.ErrKind},
	"gc lock":        {".git/gc.pid.lock", leftover.GitLock, leftover.ErrKind},
	"reflog lock":    {".git/logs/refs/heads/a.lock", leftover.GitLock, leftover.ErrKind},
	"sparse lock":    {".git/info/sparse-checkout.lock", leftover.GitLock, leftover.ErrKind},
	"graph lock":     {".git/objects/info/commit-graph.lock", leftover.GitLock, leftover.ErrKind},
	"packs' lock":    {".git/objects/pack/multi-pack-index.lock", leftover.GitLock, leftover.ErrKind},
	"object":         {".git/objects/ab/tmp_obj_x7Zq", leftover.Object, nil},
	"object at root": {".git/objects/tmp_obj_x7Zq", leftover.Object, nil},
	"pack":           {".git/objects/pack/tmp_pack_x7Zq", leftover.Pack, nil},
	"index":          {".git/objects/pack/tmp_idx_x7Zq", leftover.Pack, nil},
	"packing state":  {".git/jp/.new-x7zq", leftover.State, nil},
	"draft's text":   {".git/jp/drafts/.new-x7zq", leftover.State, nil},
	"cache":          {".git/jp/cache/.new-x7zq", leftover.State, nil},
	"list":           {".git/jp/lists/.new-x7zq", leftover.State, nil},
	"mark":           {".git/jp/.jp-mark-12", leftover.State, nil},
	"tool's file":    {"a/b/.jp-" + strings.Repeat("A7", 13), leftover.WorkFile, nil},
	"restored file":  {"a/.jp-restore-restore-12", leftover.WorkFile, nil},
	"mark in tree":   {".jp-mark-12", leftover.WorkFile, nil},
	"staged":         {".git/jp/restore-12/", leftover.Staged, nil},
	"tool lock":      {".git/jp/locks/" + string(id) + ".4", leftover.ToolLock, nil},
	"answer":         {".git/jp/drafts/" + string(goneID) + ".answer", leftover.Draft, nil},
	"question":       {".git/jp/drafts/" + string(goneID) + ".query", leftover.WrittenOne, leftover.ErrKind},
	"edited":         {".git/jp/drafts/edit-12.json", leftover.WrittenOne, leftover.ErrKind},
}

func TestEachKind(t *testing.T) {
	for name, tt := range left {
		t.Run(name, func(t *testing.T) {
			r := newRuin(t)
			path := r.leave(tt.path)
			files := r.find()
			require.Len(t, files, 1)
			require.Equal(t, tt.kind, files[0].Kind)
			require.Equal(t, filepath.Clean(path), filepath.Clean(files[0].Path))
			require.InDelta(t, 2*time.Hour, files[0].Age, float64(time.Minute))
			require.ErrorIs(t, r.only(), tt.keep)
		})
	}
}

func TestWhatIsNoLeftover(t *testing.T) {
	r := newRuin(t)
	for _, name := range []string{
		".git/refs/jp/conversations/" + string(id), ".git/refs/heads/main", ".git/objects/ab/" + strings.Repeat("c", 38),
		".git/objects/pack/pack-1.pack", ".git/objects/pack/.tmp-12-pack-1.pack", ".git/jp/packing.json", ".git/jp/drafts/" + string(id) + ".answer",
		".git/jp/drafts/" + string(id) + ".query", ".git/jp/drafts/new.query", ".git/jp/drafts/new-x7zq", ".git/refs/.new-x7zq", ".git/jp/locks/" + string(id) + ".lock", ".jp-notes", ".jp-config.toml",
		"sub/.git/.jp-mark-12", ".jp/config.toml", ".git/jp/mutation.lock", ".git/index", ".git/hooks/x.lock", "yarn.lock", ".git/refs/heads/x.lock/main", ".git/modules/x/.jp-mark-12",
	} {
		r.leave(name)
	}
	require.Empty(t, r.find())
}

func TestWhatIsYoungStays(t *testing.T) {
	for name, tt := range left {
		if tt.keep != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := newRuin(t)
			path := r.leave(tt.path)
			r.age(path, 59*time.Minute)
			if tt.kind == leftover.Object || tt.kind == leftover.Pack {
				require.Empty(t, r.find(), "others have such files for minutes")
				return
			}
			require.ErrorIs(t, r.only(), leftover.ErrYoung)
			r.age(path, 9*time.Second)
			require.Empty(t, r.find())
		})
	}
}

func TestWhatIsOpenStays(t *testing.T) {
	for name, tt := range left {
		if tt.keep != nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := newRuin(t)
			f, err := os.Open(r.leave(tt.path))
			require.NoError(t, err)
			require.ErrorIs(t, r.only(), leftover.ErrInUse)
			require.NoError(t, f.Close())
			require.NoError(t, r.only())
		})
	}
}

func TestWhatIsLockedStays(t *testing.T) {
	flocked := func(t *testing.T, path string) (unlock func()) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		f, err := os.Create(path)
		require.NoError(t, err)
		require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
		return func() { f.Close() }
	}
	held := func(t *testing.T, r *ruin, of conversation.ID) func() {
		lock, err := r.Locks.Take(of, process.Holder{PID: 4711})
		require.NoError(t, err)
		return func() { require.NoError(t, lock.Release()) }
	}
	for name, lock := range map[string]func(*testing.T, *ruin) func(){
		"ref lock":      func(t *testing.T, r *ruin) func() { return held(t, r, id) },
		"payload lock":  func(t *testing.T, r *ruin) func() { return held(t, r, id) },
		"tool lock":     func(t *testing.T, r *ruin) func() { return held(t, r, id) },
		"answer":        func(t *testing.T, r *ruin) func() { return held(t, r, goneID) },
		"pack":          func(t *testing.T, r *ruin) func() { return flocked(t, filepath.Join(r.CommonDir, "jp/packing.lock")) },
		"packing state": func(t *testing.T, r *ruin) func() { return flocked(t, filepath.Join(r.CommonDir, "jp/packing.lock")) },
		"tool's file": func(_ *testing.T, r *ruin) func() {
			r.LockTree = func(context.Context) (func(), error) { return nil, errors.New("busy") }
			return func() { r.LockTree = func(context.Context) (func(), error) { return func() {}, nil } }
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRuin(t)
			r.leave(left[name].path)
			unlock := lock(t, r)
			require.ErrorIs(t, r.only(), leftover.ErrInUse)
			unlock()
			require.NoError(t, r.only())
		})
	}
}

func TestWhatLivesOrChangesStays(t *testing.T) {
	t.Run("a tool's lock that its tool holds", func(t *testing.T) {
		r := newRuin(t)
		path := r.leave(left["tool lock"].path)
		files := r.find()
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
		require.Empty(t, r.find())
		require.ErrorIs(t, r.Remove(t.Context(), files)[0].Err, leftover.ErrInUse)
	})
	t.Run("a file that was written meanwhile", func(t *testing.T) {
		r := newRuin(t)
		path := r.leave(left["object"].path)
		files := r.find()
		r.age(path, 3*time.Hour)
		require.ErrorIs(t, r.Remove(t.Context(), files)[0].Err, leftover.ErrChanged)
		require.NoError(t, os.Remove(path))
		require.ErrorIs(t, r.Remove(t.Context(), files)[0].Err, os.ErrNotExist)
	})
	t.Run("a file that git tracks", func(t *testing.T) {
		r := newRuin(t)
		r.leave(left["tool's file"].path)
		r.Tracked = func(context.Context, string) (bool, error) { return true, nil }
		require.ErrorIs(t, r.only(), leftover.ErrTracked)
	})
	t.Run("a draft of a conversation that is back", func(t *testing.T) {
		r := newRuin(t)
		r.leave(left["answer"].path)
		files := r.find()
		r.Gone = func(conversation.ID) bool { return false }
		require.ErrorIs(t, r.Remove(t.Context(), files)[0].Err, leftover.ErrChanged)
	})
	t.Run("another user's", func(t *testing.T) {
		if os.Geteuid() != 0 {
			// The kernel lets only root change an owner.
			t.Skip("only root can give files away")
		}
		r := newRuin(t)
		require.NoError(t, os.Chown(r.leave(left["object"].path), 4711, 4711))
		require.ErrorIs(t, r.only(), leftover.ErrNotOurs)
	})
}

func TestASearchThatIsCutOffSaysSo(t *testing.T) {
	r := newRuin(t)
	r.leave(left["object"].path)
	r.leave(left["tool's file"].path)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	files, whole := r.Find(ctx)
	require.False(t, whole)
	require.Len(t, files, 1, "all else is looked at")
}
