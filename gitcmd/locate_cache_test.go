package gitcmd_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

// A field is a repository with folders in it, and a git that is counted.
type field struct {
	testing.TB
	top   string // the repository
	deep  string // a folder two levels down
	notes gitcmd.LocateCache
	opts  gitcmd.Options
	log   string
}

func newField(t testing.TB) *field {
	t.Helper()
	f := &field{TB: t, top: gitenv.Repo(t), notes: gitcmd.LocateCache{Dir: filepath.Join(t.TempDir(), "notes")}}
	f.deep = filepath.Join(f.top, "a", "b")
	require.NoError(t, os.MkdirAll(f.deep, 0o755))
	bin := t.TempDir()
	f.log = filepath.Join(bin, "log")
	f.opts.Program = filepath.Join(bin, "git")
	f.git(`exec git "$@"`)
	return f
}

func (f *field) write(path, text string) {
	f.Helper()
	require.NoError(f, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(f, os.WriteFile(path, []byte(text), 0o755))
}

// git makes a new program of the line; it is counted before that runs.
func (f *field) git(line string) {
	fresh := f.opts.Program + ".new"
	f.write(fresh, "#!/bin/sh\necho >>'"+f.log+"'\n"+line+"\n")
	require.NoError(f, os.Rename(fresh, f.opts.Program))
}

func (f *field) mkdir(dir string)   { require.NoError(f, os.Mkdir(dir, 0o755)) }
func (f *field) remove(path string) { require.NoError(f, os.RemoveAll(path)) }

func (f *field) link(to, at string) {
	f.remove(at)
	require.NoError(f, os.Symlink(to, at))
}

func (f *field) set(key, value string) { gitenv.Git(f, f.top, "config", key, value) }

func (f *field) extension(name, value string) {
	f.set("core.repositoryFormatVersion", "1")
	f.set("extensions."+name, value)
}

// found are the notes.
func (f *field) found() []string {
	notes, err := filepath.Glob(filepath.Join(f.notes.Dir, "*"))
	require.NoError(f, err)
	require.NotEmpty(f, notes)
	return notes
}

// asked is how often git was started.
func (f *field) asked() int {
	text, _ := os.ReadFile(f.log)
	return len(text)
}

// same compares the stored answer with git's present one.
func (f *field) same(dir string) {
	f.Helper()
	want, wantErr := gitcmd.Locate(f.Context(), dir, f.opts)
	got, err := f.notes.Locate(f.Context(), dir, f.opts)
	require.Equal(f, want, got)
	if wantErr == nil {
		require.NoError(f, err)
		return
	}
	require.EqualError(f, err, wantErr.Error())
	var a, b *gitcmd.Refusal
	if errors.As(wantErr, &a) {
		require.ErrorAs(f, err, &b)
		require.Equal(f, a.Err, b.Err)
		require.Equal(f, a.Hint(), b.Hint())
	}
}

func TestGitIsAskedOnce(t *testing.T) {
	f := newField(t)
	for i, dir := range []string{f.deep, f.deep, f.top, filepath.Join(f.top, "a")} {
		repo, err := f.notes.Locate(t.Context(), dir, f.opts)
		require.NoError(t, err)
		require.Equal(t, 1, f.asked(), "%d: one note for each repository", i)
		want, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
		require.NoError(t, err)
		require.Equal(t, want, repo)
	}
	gitenv.Git(t, f.top, "commit", "--allow-empty", "-qm", "more")
	gitenv.Git(t, f.top, "checkout", "-q", "--detach")
	_, err := f.notes.Locate(t.Context(), f.deep, f.opts)
	require.NoError(t, err)
	require.Equal(t, 1, f.asked(), "what commits and branches are is no matter")

	_, err = gitcmd.LocateCache{}.Locate(t.Context(), f.deep, f.opts)
	require.NoError(t, err)
	require.Equal(t, 2, f.asked(), "without a folder nothing is remembered")
}

func TestALinkLeadsToTheSameNote(t *testing.T) {
	f := newField(t)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(f.deep, link))
	f.same(link)
	f.same(f.deep)
	require.Equal(t, 3, f.asked(), "two by gitcmd itself")
}

func TestAboveALinkIsAboveItsTarget(t *testing.T) {
	f := newField(t)
	f.same(f.top)
	other := gitenv.Repo(t)
	require.NoError(t, os.Mkdir(filepath.Join(other, "sub"), 0o755))
	f.link(filepath.Join(other, "sub"), f.top+"/link")
	f.same(f.top + "/link/..")
}

// changes are possible changes of a repository after git was asked, and the number of starts of git when it
// is located next.
var changes = map[string]struct {
	starts int
	happen func(f *field)
}{
	"nothing":  {0, func(*field) {}},
	"a commit": {0, func(f *field) { gitenv.Git(f, f.top, "commit", "--allow-empty", "-qm", "x") }},
	"a branch": {0, func(f *field) { gitenv.Git(f, f.top, "checkout", "-qB", "other") }},
	"detached": {0, func(f *field) { gitenv.Git(f, f.top, "checkout", "-q", "--detach") }},
	"variables that lead elsewhere": {0, func(f *field) {
		f.opts.Environ = append(os.Environ(), "GIT_DIR=/nowhere", "GIT_WORK_TREE=/nowhere")
	}},
	"another setting":         {1, func(f *field) { f.set("user.name", "x") }},
	"configuration of a tree": {1, func(f *field) { f.write(f.top+"/.git/config.worktree", "[core]\n\tbare = true\n") }},
	"its extension, elsewhere": {1, func(f *field) {
		f.set("extensions.worktreeConfig", "true")
		f.write(f.top+"/.git/config.worktree", "[core]\n\tworktree = "+f.TempDir()+"\n")
	}},
	"another working tree":         {1, func(f *field) { f.set("core.worktree", f.deep) }},
	"bare":                         {1, func(f *field) { f.set("core.bare", "true") }},
	"a new format":                 {1, func(f *field) { f.set("core.repositoryFormatVersion", "9") }},
	"sha256":                       {1, func(f *field) { f.extension("objectFormat", "sha256") }},
	"reftable":                     {1, func(f *field) { f.extension("refStorage", "reftable") }},
	"reftable, the folder":         {1, func(f *field) { f.mkdir(f.top + "/.git/reftable") }},
	"an unknown extension":         {1, func(f *field) { f.extension("magic", "true") }},
	"no configuration":             {1, func(f *field) { f.remove(f.top + "/.git/config") }},
	"a broken configuration":       {1, func(f *field) { f.write(f.top+"/.git/config", "[core\n") }},
	"an unreadable one":            {1, func(f *field) { f.remove(f.top + "/.git/config"); f.mkdir(f.top + "/.git/config") }},
	"an include":                   {1, func(f *field) { f.write(f.top+"/more", "[core]\n\tworktree = a\n"); f.set("include.path", "../more") }},
	"shallow":                      {1, func(f *field) { f.write(f.top+"/.git/shallow", gitenv.Git(f, f.top, "rev-parse", "HEAD")+"\n") }},
	"shallow, empty":               {1, func(f *field) { f.write(f.top+"/.git/shallow", "") }},
	"a shared folder":              {1, func(f *field) { f.write(f.top+"/.git/commondir", "../a\n") }},
	"a pipe that nobody writes to": {1, func(f *field) { require.NoError(f, syscall.Mkfifo(f.top+"/.git/config.worktree", 0o644)) }},
	"the user's mistake": {1, func(f *field) {
		f.write(f.log+".config", "[user\n")
		f.opts.Environ = append(os.Environ(), "GIT_CONFIG_GLOBAL="+f.log+".config")
	}},
	"no HEAD":                {1, func(f *field) { f.remove(f.top + "/.git/HEAD") }},
	"no HEAD that git knows": {1, func(f *field) { f.write(f.top+"/.git/HEAD", "main\n") }},
	"HEAD nowhere":           {1, func(f *field) { f.write(f.top+"/.git/HEAD", "ref: elsewhere\n") }},
	"HEAD is empty":          {1, func(f *field) { f.write(f.top+"/.git/HEAD", "") }},
	"HEAD is a link":         {1, func(f *field) { f.link("refs/heads/main", f.top+"/.git/HEAD") }},
	"HEAD is a folder":       {1, func(f *field) { f.remove(f.top + "/.git/HEAD"); f.mkdir(f.top + "/.git/HEAD") }},
	"no objects":             {1, func(f *field) { f.remove(f.top + "/.git/objects") }},
	"objects are a file":     {1, func(f *field) { f.remove(f.top + "/.git/objects"); f.write(f.top+"/.git/objects", "") }},
	"no refs":                {1, func(f *field) { f.remove(f.top + "/.git/refs") }},
	"no git directory":       {1, func(f *field) { f.remove(f.top + "/.git") }},
	"an empty git directory": {1, func(f *field) { f.remove(f.top + "/.git"); f.mkdir(f.top + "/.git") }},
	"a git directory elsewhere": {1, func(f *field) {
		gitenv.Git(f, f.top, "init", "-q", "--separate-git-dir="+filepath.Join(f.TempDir(), "git"))
	}},
	"a link to it": {1, func(f *field) {
		elsewhere := filepath.Join(f.TempDir(), "git")
		require.NoError(f, os.Rename(f.top+"/.git", elsewhere))
		f.link(elsewhere, f.top+"/.git")
	}},
	"a repository between":        {1, func(f *field) { gitenv.Git(f, filepath.Join(f.top, "a"), "init", "-q") }},
	"a repository here":           {1, func(f *field) { gitenv.Git(f, f.deep, "init", "-q") }},
	"an empty .git between":       {1, func(f *field) { f.mkdir(f.top + "/a/.git") }},
	"a file .git between":         {1, func(f *field) { f.write(f.top+"/a/.git", "gitdir: nowhere\n") }},
	"a link .git between":         {1, func(f *field) { f.link("nowhere", f.top+"/a/.git") }},
	"a bare repository between":   {1, func(f *field) { gitenv.Git(f, f.top, "init", "-q", "--bare", "a") }},
	"a HEAD between":              {1, func(f *field) { f.write(f.top+"/a/HEAD", "ref: refs/heads/main\n") }},
	"the folder is gone":          {0, func(f *field) { f.remove(f.deep) }},
	"the folder is a file":        {0, func(f *field) { f.remove(f.deep); f.write(f.deep, "") }},
	"the folder leads elsewhere":  {1, func(f *field) { f.link(f.TempDir(), f.deep) }},
	"a ceiling":                   {1, func(f *field) { f.opts.Environ = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+f.top+"/a") }},
	"a ceiling far up":            {1, func(f *field) { f.opts.Environ = append(os.Environ(), "GIT_CEILING_DIRECTORIES=/") }},
	"settings of the environment": {1, func(f *field) { f.opts.Environ = append(os.Environ(), "GIT_CONFIG_COUNT=0") }},
	"settings of git -c":          {1, func(f *field) { f.opts.Environ = append(os.Environ(), "GIT_CONFIG_PARAMETERS='a.b'='c'") }},
	"an old git":                  {1, func(f *field) { f.git(`echo '{"event":"version","evt":"3","exe":"2.35.9"}' >&2; exit 128`) }},
	"another git":                 {1, func(f *field) { f.git(`exec git "$@" # another`) }},
	"no git":                      {0, func(f *field) { f.remove(f.opts.Program) }},
	"a note of something else":    {1, func(f *field) { f.write(f.found()[0], strings.Repeat("0", 64)+"\n") }},
	"a torn note":                 {1, func(f *field) { require.NoError(f, os.Truncate(f.found()[0], 10)) }},
	"no notes":                    {1, func(f *field) { f.remove(f.notes.Dir) }},
	"no folder for notes":         {1, func(f *field) { f.remove(f.notes.Dir); f.write(f.notes.Dir, "") }},
}

func TestWhatChangedIsSeen(t *testing.T) {
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			f := newField(t)
			_, err := f.notes.Locate(t.Context(), f.deep, f.opts)
			require.NoError(t, err)
			c.happen(f)
			before := f.asked()
			_, _ = f.notes.Locate(t.Context(), f.deep, f.opts) // same checks the result
			require.Equal(t, c.starts, f.asked()-before)
			f.same(f.deep)
			f.same(f.deep)
		})
	}
}

// The targets of the configuration change, and its own bytes stay the same.
func TestWhatAConfigurationLeadsTo(t *testing.T) {
	for name, c := range map[string]struct{ before, after func(f *field) }{
		"a link to the working tree": {
			func(f *field) { f.link(f.top, f.log+".link"); f.set("core.worktree", f.log+".link") },
			func(f *field) { f.link(f.top+"/a", f.log+".link") },
		},
		"a file that is included": {
			func(f *field) { f.write(f.top+"/more", "[user]\n\tname = x\n"); f.set("include.path", "../more") },
			func(f *field) { f.write(f.top+"/more", "[user\n") },
		},
		"the user's own": {
			func(f *field) {
				f.write(f.log+".config", "[user]\n\tname = x\n")
				f.opts.Environ = append(os.Environ(), "GIT_CONFIG_GLOBAL="+f.log+".config")
			},
			func(f *field) { f.write(f.log+".config", "[user\n") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t)
			c.before(f)
			f.same(f.deep)
			c.after(f)
			f.same(f.deep)
		})
	}
}

func TestWhatCannotBeEnteredIsNoGitDirectory(t *testing.T) {
	if os.Getuid() == 0 {
		// The modes bind everybody but root.
		t.Skip("root may enter every folder")
	}
	for _, name := range []string{"objects", "refs"} {
		f := newField(t)
		f.same(f.deep)
		dir := filepath.Join(f.top, ".git", name)
		require.NoError(t, os.Chmod(dir, 0o600))
		f.same(f.deep)
		require.NoError(t, os.Chmod(dir, 0o755))
	}
}

func TestAnotherUsersRepositoryIsAskedFor(t *testing.T) {
	if os.Getuid() != 0 {
		// Only root may make a folder somebody else's.
		t.Skip("needs root to give a folder away")
	}
	for _, name := range []string{"", ".git"} {
		f := newField(t)
		f.same(f.deep)
		require.NoError(t, os.Lchown(filepath.Join(f.top, name), 12345, 12345))
		_, err := f.notes.Locate(t.Context(), f.deep, f.opts)
		require.ErrorIs(t, err, gitcmd.ErrDubiousOwnership)
		f.same(f.deep)
	}
}

// TestWhateverIsThereGitDecides does random things to the files that the answer
// rests on.
func TestWhateverIsThereGitDecides(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := newField(t)
		f.same(f.deep)
		for range rapid.IntRange(1, 3).Draw(r, "steps") {
			name := rapid.SampledFrom([]string{
				".git", ".git/HEAD", ".git/config", ".git/config.worktree", ".git/commondir", ".git/shallow", ".git/objects", ".git/refs",
				".git/reftable", "a/.git", "a/HEAD", "a/objects", "a/refs", "a/b/.git", "a/b/HEAD", "HEAD", "objects", "refs",
			}).Draw(r, "name")
			at := filepath.Join(f.top, name)
			text := rapid.SampledFrom([]string{
				"", "ref: refs/heads/x\n", "ref: refs/heads/x", "ref:refs/heads/x\n", "ref: refs/\n", strings.Repeat("a", 40), strings.Repeat("a", 64) + "\n",
				"[core]\n\tworktree = a\n", "[core]\n\tbare\n", "[extensions]\n\tworktreeConfig\n[core]\n\trepositoryformatversion = 1\n",
				"gitdir: " + f.top + "/.git\n", "gitdir: ../.git\n", ".\n", "../.git\n",
			}).Draw(r, "text")
			switch rapid.SampledFrom([]string{"write", "write", "remove", "mkdir", "link", "init"}).Draw(r, "what") {
			case "write":
				_ = os.WriteFile(at, []byte(text), 0o644) // an impossible change leaves the file as it is
			case "remove":
				f.remove(at)
			case "mkdir":
				_ = os.Mkdir(at, 0o755)
			case "link":
				_ = os.Symlink(strings.TrimSpace(text), at)
			case "init":
				_ = exec.Command("git", "init", "-q", filepath.Dir(at)).Run()
			}
			f.same(f.deep)
			f.same(f.top)
		}
	})
}

func TestNotesStayFew(t *testing.T) {
	f := newField(t)
	require.NoError(t, os.Mkdir(f.notes.Dir, 0o700))
	for i := range 1000 {
		f.write(filepath.Join(f.notes.Dir, strconv.Itoa(i)), "x")
	}
	f.same(f.deep)
	require.Len(t, f.found(), 1)
}
