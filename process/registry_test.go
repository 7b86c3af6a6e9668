package process_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"jp/process"
)

const other = "jp-c17528832002-aaaa"

// registry is one of a repository that is there.
func registry(t *testing.T) process.Registry {
	dir := t.TempDir()
	repository := filepath.Join(dir, "repo", ".git")
	require.NoError(t, os.MkdirAll(repository, 0o755))
	return process.Registry{DataDir: filepath.Join(dir, "data"), Workspace: "abcde", Repository: repository}
}

func entry() process.Entry {
	return process.Entry{
		ConversationID: id, PID: os.Getpid(), Start: process.StartOf(os.Getpid()),
		StartedAt: time.Unix(1795255440, 0).UTC(), Status: process.StatusRunning,
	}
}

func at(r process.Registry, name string) string { return filepath.Join(r.Folder(), name) }

func TestPutGetRemove(t *testing.T) {
	r := registry(t)
	_, err := r.Get(id)
	require.ErrorIs(t, err, fs.ErrNotExist, "there is not even a folder")
	require.NoError(t, r.Remove(id), "what is not there is removed")
	require.NoError(t, r.Put(entry()))
	got, err := r.Get(id)
	require.NoError(t, err)
	want := entry()
	want.Version, want.WorkspaceID, want.Repository = 1, r.Workspace, r.Repository
	require.Equal(t, want, got)

	want.Status, want.Pending = process.StatusWaiting, &process.PendingInquiry{Kind: "run_tool", Seq: 3}
	require.NoError(t, r.Put(want))
	got, err = r.Get(id)
	require.NoError(t, err)
	require.Equal(t, want, got)

	for path, mode := range map[string]fs.FileMode{
		r.DataDir: 0o700, r.Folder(): 0o700, at(r, string(id)+".json"): 0o600,
	} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
	require.NoError(t, r.Remove(id))
	require.Empty(t, names(t, r))
}

func names(t *testing.T, r process.Registry) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(r.Folder())
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestPutReplacesAnythingAndFollowsNothing(t *testing.T) {
	r := registry(t)
	require.NoError(t, os.MkdirAll(r.Folder(), 0o700))
	victim := filepath.Join(r.DataDir, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
	path := at(r, string(id)+".json")
	require.NoError(t, os.Symlink(victim, path))
	require.NoError(t, r.Put(entry()))
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.True(t, info.Mode().IsRegular())
	text, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "mine", string(text))

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	require.Error(t, r.Put(entry()), "a folder is not replaced")
	require.Equal(t, []string{string(id) + ".json"}, names(t, r), "and nothing is left behind")
}

// Another kind of file in place of an entry is refused by name, and hides no other entry.
func TestUnreadableEntries(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(path string) error
		is    error
		says  string
	}{
		"garbage": {func(p string) error { return os.WriteFile(p, []byte("{]"), 0o600) }, process.ErrBadEntry, "invalid character"},
		"huge": {func(p string) error {
			return os.WriteFile(p, []byte(strings.Repeat(" ", 64<<10)+"{}"), 0o600)
		}, process.ErrBadEntry, "more than"},
		"link":   {func(p string) error { return os.Symlink(filepath.Join(filepath.Dir(p), other+".json"), p) }, process.ErrNotOurs, "link"},
		"folder": {func(p string) error { return os.Mkdir(p, 0o700) }, process.ErrNotOurs, "plain"},
		"fifo":   {func(p string) error { return unix.Mkfifo(p, 0o600) }, process.ErrNotOurs, "plain"},
		"of another conversation": {func(p string) error {
			return os.Link(filepath.Join(filepath.Dir(p), other+".json"), p)
		}, process.ErrBadEntry, other},
	} {
		t.Run(name, func(t *testing.T) {
			r := registry(t)
			hold(t, r, other)
			path := at(r, string(id)+".json")
			require.NoError(t, c.plant(path))
			_, err := r.Get(id)
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, c.says)
			live, err := r.Live(t.Context())
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, path)
			require.Len(t, live, 1)
			require.Contains(t, live, conversationID(other))
		})
	}
}

// A blank entry after a power cut is swept.
func TestBlankEntries(t *testing.T) {
	for _, text := range []string{"", strings.Repeat("\x00", 200)} {
		r := registry(t)
		hold(t, r, other)
		require.NoError(t, os.WriteFile(at(r, string(id)+".json"), []byte(text), 0o600))
		_, err := r.Get(id)
		require.ErrorIs(t, err, fs.ErrNotExist)
		live, err := r.Live(t.Context())
		require.NoError(t, err)
		require.Len(t, live, 1)
		require.NoFileExists(t, at(r, string(id)+".json"))
	}
}

func TestRemoveClearsWhatCannotBeRead(t *testing.T) {
	r := registry(t)
	require.NoError(t, os.MkdirAll(r.Folder(), 0o700))
	require.NoError(t, os.WriteFile(at(r, string(id)+".json"), []byte("{]"), 0o600))
	require.NoError(t, r.Remove(id))
	require.Empty(t, names(t, r))
}

// A folder that others may use is refused by every operation, with the way out.
func TestForeignFolder(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(folder string) error
		says  string
	}{
		"mode 0755": {func(p string) error { return os.Chmod(p, 0o755) }, "chmod 700 "},
		"mode 0710": {func(p string) error { return os.Chmod(p, 0o710) }, "0710"},
		"mode 0702": {func(p string) error { return os.Chmod(p, 0o702) }, "0702"},
		"link": {func(p string) error {
			if err := os.Rename(p, p+"2"); err != nil {
				return err
			}
			return os.Symlink(p+"2", p)
		}, "link"},
		"dangling link": {func(p string) error {
			if err := os.RemoveAll(p); err != nil {
				return err
			}
			return os.Symlink(p+"2", p)
		}, "link"},
		"file": {func(p string) error {
			if err := os.RemoveAll(p); err != nil {
				return err
			}
			return os.WriteFile(p, nil, 0o600)
		}, "file"},
	} {
		t.Run(name, func(t *testing.T) {
			r := registry(t)
			require.NoError(t, r.Put(entry()))
			require.NoError(t, c.spoil(r.Folder()))
			for act, err := range everyOperation(t, r) {
				require.ErrorIs(t, err, process.ErrNotOurs, act)
				require.ErrorContains(t, err, r.Folder(), act)
				require.ErrorContains(t, err, c.says, act)
			}
		})
	}
}

func everyOperation(t *testing.T, r process.Registry) map[string]error {
	errs := map[string]error{"put": r.Put(entry()), "remove": r.Remove(id), "forget": r.Forget(id)}
	_, errs["get"] = r.Get(id)
	_, errs["live"] = r.Live(t.Context())
	_, errs["log"] = r.Log(id)
	_, errs["listen"] = r.Listen(id)
	_, errs["dial"] = r.Dial(t.Context(), id)
	return errs
}

// Names from outside cannot lead out of the folder.
func TestNamesAreChecked(t *testing.T) {
	for _, workspace := range []string{"", ".", "..", "../x", "a/b", "/a"} {
		r := registry(t)
		r.Workspace = workspace
		for act, err := range everyOperation(t, r) {
			require.ErrorContains(t, err, "not a plain name", "%s with %q", act, workspace)
		}
	}
	r := registry(t)
	require.NoError(t, r.Put(entry()))
	for _, bad := range []conversationID{"", "../../x", "jp-c1/../../x"} {
		_, err := r.Get(bad)
		require.ErrorContains(t, err, "id")
		_, err = r.Log(bad)
		require.Error(t, err)
		_, err = r.Listen(bad)
		require.Error(t, err)
		require.Error(t, r.Forget(bad))
	}
	r.DataDir = "data"
	require.ErrorContains(t, r.Put(entry()), "absolute")
}

func TestLog(t *testing.T) {
	r := registry(t)
	for _, line := range []string{"a long first line\n", "second\n"} {
		f, err := r.Log(id)
		require.NoError(t, err)
		_, err = f.WriteString(line)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		text, err := os.ReadFile(f.Name())
		require.NoError(t, err)
		require.Equal(t, line, string(text), "it begins empty")
	}
	path := at(r, string(id)+".log")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())

	victim := filepath.Join(r.DataDir, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink(victim, path))
	_, err = r.Log(id)
	require.ErrorIs(t, err, process.ErrNotOurs)
	text, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "mine", string(text))
}

func TestForget(t *testing.T) {
	r := registry(t)
	require.NoError(t, r.Put(entry()))
	l, err := r.Listen(id)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	f, err := r.Log(id)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Len(t, names(t, r), 3)
	require.NoError(t, r.Remove(id))
	require.Equal(t, []string{string(id) + ".log"}, names(t, r), "the log is there to be read")
	require.NoError(t, r.Forget(id))
	require.Empty(t, names(t, r))
}
