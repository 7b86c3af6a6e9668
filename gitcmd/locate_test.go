package gitcmd_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

// testFormat is the format of the repositories of these tests.
var testFormat = gitcmd.ObjectFormat(gitenv.ObjectFormat())

func TestLocate(t *testing.T) {
	dir := gitenv.Repo(t)
	sub := filepath.Join(dir, "a", "b")
	require.NoError(t, os.MkdirAll(sub, 0o755))
	linked := filepath.Join(filepath.Dir(dir), "linked")
	gitenv.Git(t, dir, "worktree", "add", "-q", "--detach", linked)
	bare := filepath.Join(filepath.Dir(dir), "bare.git")
	gitenv.Git(t, dir, "clone", "-q", "--bare", "--depth=1", "file://"+dir, bare)
	git := filepath.Join(dir, ".git")
	formats := map[gitcmd.ObjectFormat]string{}
	for _, format := range []gitcmd.ObjectFormat{gitcmd.SHA1, gitcmd.SHA256} {
		formats[format] = filepath.Join(filepath.Dir(dir), string(format))
		gitenv.Git(t, dir, "init", "-q", "--object-format="+string(format), formats[format])
	}
	of := func(format gitcmd.ObjectFormat) gitcmd.Repository {
		git := filepath.Join(formats[format], ".git")
		return gitcmd.Repository{GitDir: git, CommonDir: git, TopLevel: formats[format], ObjectFormat: format}
	}

	for name, c := range map[string]struct {
		dir  string
		want gitcmd.Repository
	}{
		"folder": {sub, gitcmd.Repository{GitDir: git, CommonDir: git, TopLevel: dir, ObjectFormat: testFormat}},
		"linked": {linked, gitcmd.Repository{
			GitDir: filepath.Join(git, "worktrees", "linked"), CommonDir: git, TopLevel: linked, ObjectFormat: testFormat,
		}},
		"bare":          {bare, gitcmd.Repository{GitDir: bare, CommonDir: bare, ObjectFormat: testFormat, Bare: true, Shallow: true}},
		"SHA-1":         {formats[gitcmd.SHA1], of(gitcmd.SHA1)},
		"SHA-256":       {formats[gitcmd.SHA256], of(gitcmd.SHA256)},
		"git directory": {git, gitcmd.Repository{GitDir: git, CommonDir: git, ObjectFormat: testFormat}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := gitcmd.Locate(t.Context(), c.dir, gitcmd.Options{})
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			out, err := gitcmd.At(got, gitcmd.Options{}).Run(t.Context(), "rev-parse", "--absolute-git-dir")
			require.NoError(t, err)
			require.Equal(t, c.want.GitDir+"\n", string(out))
		})
	}
}

func TestLocateRefuses(t *testing.T) {
	gitenv.Isolate(t)
	sha512 := t.TempDir()
	gitenv.Git(t, sha512, "init", "-q", "--object-format=sha256")
	gitenv.Git(t, sha512, "config", "extensions.objectFormat", "sha512")
	table := gitenv.Repo(t)
	gitenv.Git(t, table, "config", "core.repositoryFormatVersion", "1")
	gitenv.Git(t, table, "config", "extensions.refStorage", "reftable")
	extended := gitenv.Repo(t)
	gitenv.Git(t, extended, "config", "core.repositoryFormatVersion", "1")
	gitenv.Git(t, extended, "config", "--file", filepath.Join(extended, ".git", "config"), "extensions.foo", "1")
	gitenv.Git(t, extended, "config", "--file", filepath.Join(extended, ".git", "config"), "extensions.barBaz", "1")
	entry := func(text string) string {
		dir := gitenv.Repo(t)
		file := filepath.Join(dir, ".git", "config")
		was, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, append(was, text...), 0o600))
		return dir
	}
	newer := gitenv.Repo(t)
	newline := filepath.Join(t.TempDir(), "a\nb")
	require.NoError(t, os.Mkdir(newline, 0o755))
	gitenv.Git(t, newline, "init", "-q")

	for name, c := range map[string]struct {
		dir  string
		opts gitcmd.Options
		want error
	}{
		"no repository":         {t.TempDir(), gitcmd.Options{}, gitcmd.ErrNotRepository},
		"no folder":             {filepath.Join(newer, "no"), gitcmd.Options{}, gitcmd.ErrNotRepository},
		"unknown object format": {sha512, gitcmd.Options{}, gitcmd.ErrObjectFormat},
		"unknown extensions":    {extended, gitcmd.Options{}, gitcmd.ErrExtension},
		"reftable":              {table, gitcmd.Options{}, gitcmd.ErrRefFormat},
		"a ref format of later": {newer, gitcmd.Options{Program: fakeGit(t,
			`git "$@" | sed 's/^--show-ref-format$/b-tree/;s/^files$/b-tree/'`)}, gitcmd.ErrRefFormat},
		"a reftable elsewhere": {newer, gitcmd.Options{Program: fakeGit(t,
			`git "$@" | sed 's/^--show-ref-format$/reftable/;s/^files$/reftable/'`)}, gitcmd.ErrRefFormat},
		"a ref format that git does not know": {newer, gitcmd.Options{Program: fakeGit(t,
			`printf '%s\n' "error: invalid value for 'extensions.refstorage': 'b-tree'" >&2; exit 128`)}, gitcmd.ErrRefFormat},
		"a second format that git does not know": {newer, gitcmd.Options{Program: fakeGit(t,
			`printf '%s\n' 'fatal: unknown repository extension found:' '	compatobjectformat' >&2; exit 128`)}, gitcmd.ErrExtension},
		"a later format version": {entry("[core]\nrepositoryFormatVersion = 2\n"), gitcmd.Options{}, gitcmd.ErrFormatVersion},
		"extensions of version 1 in 0": {entry("[core]\nrepositoryFormatVersion = 0\n[extensions]\nobjectFormat = sha1\n"),
			gitcmd.Options{}, gitcmd.ErrVersionZero},
		"newline":      {newline, gitcmd.Options{}, gitcmd.ErrNotRepository},
		"no git":       {newer, gitcmd.Options{Program: "git-that-is-not-there"}, gitcmd.ErrGitMissing},
		"no git there": {newer, gitcmd.Options{Program: "/nonexistent/git"}, gitcmd.ErrGitMissing},
		"old git": {newer, gitcmd.Options{Program: fakeGit(t,
			`echo '{"event":"version","evt":"3","exe":"2.35.9"}' >&2; exit 128`)}, gitcmd.ErrGitTooOld},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := gitcmd.Locate(t.Context(), c.dir, c.opts)
			require.ErrorIs(t, err, c.want)
			require.NotContains(t, printable(err), "{", "no trace in the message")
			require.NotContains(t, printable(err), "found:", "what is found is named")
		})
	}
}

// A git that does not know the extension works in a repository of version 0 and refuses one of version 1, so
// the git here claims to have found both.
func TestLocateRefusesASecondObjectFormat(t *testing.T) {
	gitenv.Isolate(t)
	for _, c := range []struct {
		config string
		want   error
	}{
		{"[core]\nrepositoryFormatVersion = 1\n[Extensions]\ncompatObjectFormat = sha1\n", gitcmd.ErrSecondFormat},
		{"[core]\nrepositoryFormatVersion = 1\n# no compatObjectFormat\n", nil},
		{"[core]\nrepositoryFormatVersion = 0\n[extensions]\ncompatObjectFormat = sha1\n", nil},
	} {
		dir := t.TempDir()
		git := filepath.Join(dir, ".git")
		require.NoError(t, os.Mkdir(git, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(git, "config"), []byte(c.config), 0o600))
		program := fakeGit(t, `case "$*" in *rev-parse*) printf '%s\n' sha256 files false false '`+git+`' '`+git+`' '`+dir+`';; *) exec git "$@";; esac`)
		_, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{Program: program})
		require.ErrorIs(t, err, c.want, c.config)
		var refusal *gitcmd.Refusal
		if errors.As(err, &refusal) {
			require.Equal(t, []string{"extensions.compatObjectFormat"}, refusal.Extensions)
		}
	}
}

func TestLocateTellsWhatItIgnores(t *testing.T) {
	gitenv.Isolate(t)
	none, environ := t.TempDir(), append(os.Environ(), "GIT_DIR="+filepath.Join(gitenv.Repo(t), ".git"))
	for _, dir := range []string{none, filepath.Join(none, "no")} {
		_, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{Environ: environ})
		var refusal *gitcmd.Refusal
		require.ErrorAs(t, err, &refusal)
		require.ErrorIs(t, err, gitcmd.ErrNotRepository)
		require.Equal(t, []string{"GIT_DIR"}, refusal.Ignored)
	}
}

func printable(err error) string {
	var refusal *gitcmd.Refusal
	if errors.As(err, &refusal) {
		return refusal.Error() + refusal.Hint()
	}
	return err.Error()
}

func TestLocateRefusesAnotherUsersRepository(t *testing.T) {
	if os.Getuid() != 0 {
		// Only root may make a folder somebody else's.
		t.Skip("needs root to give a folder away")
	}
	dir := gitenv.Repo(t)
	require.NoError(t, os.Lchown(dir, 12345, 12345))
	require.NoError(t, os.Lchown(filepath.Join(dir, ".git"), 12345, 12345))
	_, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.ErrorIs(t, err, gitcmd.ErrDubiousOwnership)
	var refusal *gitcmd.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Contains(t, refusal.Hint(), "safe.directory")

	gitenv.Git(t, dir, "config", "--global", "safe.directory", dir)
	_, err = gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
}
