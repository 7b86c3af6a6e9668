package gitcmd_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

// trap is a repository whose every setting that can name a program names one
// that leaves a marker.
type trap struct{ dir, marker string }

func newTrap(t *testing.T) trap {
	t.Helper()
	tr := trap{dir: gitenv.Repo(t), marker: filepath.Join(t.TempDir(), "ran")}
	write(t, filepath.Join(tr.dir, "a.txt"), "one\n")
	gitenv.Git(t, tr.dir, "add", "a.txt")
	gitenv.Git(t, tr.dir, "commit", "-qm", "a")
	tr.addSubmodule(t)
	tr.arm(t, tr.dir)
	tr.arm(t, filepath.Join(tr.dir, "sub"))
	write(t, filepath.Join(tr.dir, "a.txt"), "two\n")
	write(t, filepath.Join(tr.dir, "sub", "README.md"), "# a repository\n")
	return tr
}

func (tr trap) addSubmodule(t *testing.T) {
	source := gitenv.Repo(t)
	gitenv.Git(t, tr.dir, "-c", "protocol.file.allow=always", "submodule", "add", "-q", source, "sub")
	gitenv.Git(t, tr.dir, "commit", "-qm", "sub")
}

// arm sets the traps in one repository.
func (tr trap) arm(t *testing.T, dir string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "evil")
	write(t, program, "#!/bin/sh\ntouch '"+tr.marker+"'\nexit 0\n")
	require.NoError(t, os.Chmod(program, 0o755))
	hooks := t.TempDir()
	require.NoError(t, os.Symlink(program, filepath.Join(hooks, "post-index-change")))
	for key, value := range map[string]string{
		"core.fsmonitor": program, "core.hooksPath": hooks, "core.pager": program,
		"core.sshCommand": program, "core.alternateRefsCommand": program,
		"diff.external": program, "diff.d.textconv": program, "diff.d.command": program,
		"filter.evil.clean": program, "filter.evil.smudge": program, "filter.evil.process": program,
		"alias.status": "!" + program, "credential.helper": "!" + program, "gpg.program": program,
		"log.showSignature": "true", "pager.status": program, "pager.log": program,
	} {
		gitenv.Git(t, dir, "config", key, value)
	}
	info := gitenv.Git(t, dir, "rev-parse", "--git-path", "info/attributes")
	if !filepath.IsAbs(info) {
		info = filepath.Join(dir, info)
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(info), 0o755))
	write(t, info, "* filter=evil diff=d\n")
}

func (tr trap) sprung() bool {
	_, err := os.Stat(tr.marker)
	return err == nil
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

var contentCommands = [][]string{
	{"status", "--porcelain=v2", "-z"},
	{"diff-files", "-z", "--raw"},
	{"update-index", "--refresh"},
	{"hash-object", "a.txt"},
	{"checkout-index", "--force", "--temp", "a.txt"},
}

func TestHostileRepositoryRunsNothing(t *testing.T) {
	commands := append([][]string{
		{"log", "-p", "-1", "--all"}, {"show", "HEAD"}, {"diff-index", "-p", "--cached", "HEAD"},
		{"diff-tree", "-p", "HEAD"}, {"ls-files", "-z", "-o", "--exclude-standard"},
		{"rev-parse", "HEAD"}, {"for-each-ref"}, {"cat-file", "-p", "HEAD"},
		{"fetch", "ssh://example.invalid/x"}, {"blame", "a.txt"}, {"stash", "create"}, {"ls-files", "-m"},
		{"describe", "--always", "--dirty"}, {"grep", "two"},
	}, contentCommands...)
	tr := newTrap(t)
	repo, err := gitcmd.Locate(t.Context(), tr.dir, gitcmd.Options{})
	require.NoError(t, err)
	require.False(t, tr.sprung(), "by Locate")
	for _, g := range []*gitcmd.Git{gitcmd.New(tr.dir, gitcmd.Options{}), gitcmd.At(repo, gitcmd.Options{})} {
		for _, args := range commands {
			_, _ = g.Run(t.Context(), args...)
			require.False(t, tr.sprung(), "%v", args)
		}
	}
}

// Without the hardening each of these runs the marker program, so the test
// above looks at traps that work.
func TestHostileRepositoryTrapsWork(t *testing.T) {
	for _, args := range append([][]string{{"diff"}, {"blame", "a.txt"}, {"log", "-p", "-1", "--ext-diff"}}, contentCommands...) {
		t.Run(args[0], func(t *testing.T) {
			tr := newTrap(t)
			cmd := exec.Command("git", args...)
			cmd.Dir = tr.dir
			_ = cmd.Run()
			require.True(t, tr.sprung(), "%v", args)
		})
	}
}

// Git writes an index only after another look at the files that changed in the
// moment in which the index was written.
func TestFilterNeverRunsWhereTheIndexIsWritten(t *testing.T) {
	dir := gitenv.Repo(t)
	marker := filepath.Join(t.TempDir(), "ran")
	gitenv.Git(t, dir, "config", "filter.f.clean", "touch '"+marker+"'; cat")
	write(t, filepath.Join(dir, ".git", "info", "attributes"), "* filter=f\n")
	racy := func() {
		// As new as the index, and of the size in it.
		now := time.Now().Add(time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(dir, "README.md"), now, now))
		gitenv.Git(t, dir, "-c", "filter.f.clean=", "update-index", "--refresh")
		gitenv.Git(t, dir, "-c", "filter.f.clean=", "update-index", "--force-remove", "README.md")
		gitenv.Git(t, dir, "-c", "filter.f.clean=", "update-index", "--add", "README.md")
		require.NoError(t, os.Chtimes(filepath.Join(dir, ".git", "index"), now, now))
		require.NoFileExists(t, marker)
	}
	g := gitcmd.New(dir, gitcmd.Options{})
	for _, args := range [][]string{{"write-tree"}, {"read-tree", "HEAD"}, {"mv", "README.md", "x"}, {"rm", "--cached", "README.md"}} {
		racy()
		_, err := g.Run(t.Context(), args...)
		require.NoError(t, err)
		require.NoFileExists(t, marker, "%v", args)
		gitenv.Git(t, dir, "-c", "filter.f.clean=", "reset", "-q", "--hard")
	}
	racy()
	gitenv.Git(t, dir, "write-tree")
	require.FileExists(t, marker, "plain git runs it")
}

// A filter in the configuration of a submodule is out of reach of any setting, so git must stay out of it.
func TestFilterInsideSubmoduleNeverRuns(t *testing.T) {
	tr := newTrap(t)
	gitenv.Git(t, tr.dir, "config", "--unset-all", "core.fsmonitor")
	for _, dir := range []string{tr.dir, filepath.Join(tr.dir, "sub")} {
		gitenv.Git(t, dir, "config", "--remove-section", "filter.evil")
	}
	gitenv.Git(t, filepath.Join(tr.dir, "sub"), "config", "--unset-all", "core.fsmonitor")
	program := filepath.Join(t.TempDir(), "evil")
	write(t, program, "#!/bin/sh\ntouch '"+tr.marker+"'\ncat\n")
	require.NoError(t, os.Chmod(program, 0o755))
	gitenv.Git(t, filepath.Join(tr.dir, "sub"), "config", "filter.evil.clean", program)
	require.False(t, tr.sprung())

	g := gitcmd.New(tr.dir, gitcmd.Options{})
	for _, args := range contentCommands[:2] {
		_, err := g.RunWith(t.Context(), gitcmd.Command{Args: args, Content: true})
		require.NoError(t, err)
		require.False(t, tr.sprung(), "%v", args)
	}
	gitenv.Git(t, tr.dir, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "diff-files")
	require.True(t, tr.sprung(), "plain git enters the submodule")
}

// A partial clone fetches missing objects from the address in its configuration, with the program named
// there.
func TestMissingObjectIsNotFetched(t *testing.T) {
	dir := gitenv.Repo(t)
	marker := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "upload")
	write(t, program, "#!/bin/sh\ntouch '"+marker+"'\nexit 1\n")
	require.NoError(t, os.Chmod(program, 0o755))
	gitenv.Git(t, dir, "config", "core.repositoryFormatVersion", "1")
	gitenv.Git(t, dir, "config", "extensions.partialClone", "o")
	gitenv.Git(t, dir, "config", "remote.o.url", gitenv.Repo(t))
	gitenv.Git(t, dir, "config", "remote.o.promisor", "true")
	gitenv.Git(t, dir, "config", "remote.o.uploadpack", program)
	absent := strings.Repeat("1", testFormat.Digits())

	_, err := gitcmd.New(dir, gitcmd.Options{}).Run(t.Context(), "cat-file", "-p", absent)
	require.Error(t, err)
	require.NoFileExists(t, marker)

	cmd := exec.Command("git", "cat-file", "-p", absent)
	cmd.Dir = dir
	require.Error(t, cmd.Run())
	require.FileExists(t, marker, "plain git runs it")
}

func TestUntrustedFilters(t *testing.T) {
	dir := gitenv.Repo(t)
	home := os.Getenv("HOME")
	gitenv.Git(t, dir, "config", "--global", "filter.mine.clean", "cat")
	gitenv.Git(t, dir, "config", "filter.a=b.clean", "false")
	gitenv.Git(t, dir, "config", "filter.dots.and more.clean", "false")
	write(t, filepath.Join(home, "extra"), "[filter \"inc\"]\n\tclean = false\n")
	gitenv.Git(t, dir, "config", "include.path", filepath.Join(home, "extra"))

	repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	g := gitcmd.At(repo, gitcmd.Options{})
	names, err := g.UntrustedFilters(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a=b", "dots.and more", "inc"}, names)
}

func TestEmptiedFilterWithOddNames(t *testing.T) {
	for _, name := range []string{"a=b", "sp ace", "d.o.t", `qu"ote`, "uml\u00e4ut", "x=y.clean", ""} {
		t.Run(name, func(t *testing.T) {
			dir := gitenv.Repo(t)
			marker := filepath.Join(t.TempDir(), "ran")
			gitenv.Git(t, dir, "config", "filter."+name+".clean", "touch '"+marker+"'; cat")
			gitenv.Git(t, dir, "config", "filter."+name+".required", "true")
			out, err := gitcmd.New(dir, gitcmd.Options{}).RunWith(t.Context(), gitcmd.Command{
				Args: []string{"config", "--get", "filter." + name + ".clean"}, Content: true,
			})
			require.NoError(t, err)
			require.Equal(t, "\n", string(out))
		})
	}
}

// jp finds a filter in every spelling that git allows: none hides it from the check that saves asking git.
func TestFilterIsFoundInAnySpelling(t *testing.T) {
	for name, text := range map[string]string{
		"plain":       "[filter \"f\"]\n\tclean = false\n",
		"capitals":    "[FiLtEr \"f\"]\n\tclean = false\n",
		"with a dot":  "[filter.f]\n\tclean = false\n",
		"one line":    "[core] [filter \"f\"] clean = false\n",
		"mark first":  "\xef\xbb\xbf[filter \"f\"]\n\tclean = false\n",
		"other file":  "[include]\n\tpath = ../extra\n",
		"conditional": "[INCLUDEIF \"gitdir:**\"]\n\tpath = ../extra\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := gitenv.Repo(t)
			write(t, filepath.Join(dir, "extra"), "[filter \"f\"]\n\tclean = false\n")
			config := filepath.Join(dir, ".git", "config")
			old, err := os.ReadFile(config)
			require.NoError(t, err)
			write(t, config, text+string(old))
			require.Equal(t, []string{"f"}, untrusted(t, dir))
		})
	}
	t.Run("of one working tree", func(t *testing.T) {
		dir := gitenv.Repo(t)
		gitenv.Git(t, dir, "config", "extensions.worktreeConfig", "true")
		require.Empty(t, untrusted(t, dir))
		gitenv.Git(t, dir, "config", "--worktree", "filter.f.clean", "false")
		require.Equal(t, []string{"f"}, untrusted(t, dir))
	})
	t.Run("behind a link", func(t *testing.T) {
		dir := gitenv.Repo(t)
		gitenv.Git(t, dir, "config", "filter.f.clean", "false")
		config := filepath.Join(dir, ".git", "config")
		require.NoError(t, os.Rename(config, filepath.Join(dir, "elsewhere")))
		require.NoError(t, os.Symlink(filepath.Join(dir, "elsewhere"), config))
		require.Equal(t, []string{"f"}, untrusted(t, dir))
	})
}

func untrusted(t *testing.T, dir string) []string {
	t.Helper()
	repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	names, err := gitcmd.At(repo, gitcmd.Options{}).UntrustedFilters(t.Context())
	require.NoError(t, err)
	return names
}

// A tool may change the configuration while jp runs: a list that is kept too
// long would let the new filter run.
func TestFilterAddedLaterIsSeen(t *testing.T) {
	dir := gitenv.Repo(t)
	repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	config := filepath.Join(dir, ".git", "config")
	g := gitcmd.At(repo, gitcmd.Options{})
	names, err := g.UntrustedFilters(t.Context())
	require.NoError(t, err)
	require.Empty(t, names)

	old, err := os.ReadFile(config)
	require.NoError(t, err)
	write(t, config, string(old)+"[filter \"late\"]\n\tclean = false\n")
	require.NoError(t, os.Chtimes(config, time.Unix(1, 0), time.Unix(1, 0)))
	names, err = g.UntrustedFilters(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"late"}, names)
}

func TestUsersOwnFilterRuns(t *testing.T) {
	dir := gitenv.Repo(t)
	gitenv.Git(t, dir, "config", "--global", "filter.up.clean", "tr a-z A-Z")
	write(t, filepath.Join(dir, ".gitattributes"), "*.txt filter=up\n")
	write(t, filepath.Join(dir, "x.txt"), "loud\n")
	out, err := gitcmd.New(dir, gitcmd.Options{}).RunWith(context.Background(), gitcmd.Command{
		Args: []string{"hash-object", "-w", "x.txt"}, Content: true,
	})
	require.NoError(t, err)
	require.Equal(t, "LOUD", gitenv.Git(t, dir, "cat-file", "-p", string(out[:40])))
}

// jp ignores the repository's settings of helpers, and uses the user's.
func TestNetworkCommandStartsNoHelperOfTheRepository(t *testing.T) {
	dir := gitenv.Repo(t)
	tools := t.TempDir()
	evil, mine := filepath.Join(tools, "evil"), filepath.Join(tools, "mine")
	for _, program := range []string{evil, mine} {
		write(t, program, "#!/bin/sh\ntouch \"$0.ran\"\nexit 1\n")
		require.NoError(t, os.Chmod(program, 0o755))
	}
	ran := func(program string) bool {
		_, err := os.Stat(program + ".ran")
		_ = os.Remove(program + ".ran")
		return err == nil
	}
	hooks := filepath.Join(dir, ".git", "hooks")
	require.NoError(t, os.MkdirAll(hooks, 0o755))
	require.NoError(t, os.Symlink(evil, filepath.Join(hooks, "pre-push")))
	require.NoError(t, os.Symlink(evil, filepath.Join(hooks, "reference-transaction")))
	other := gitenv.Repo(t)
	for key, value := range map[string]string{
		"core.sshCommand": evil, "core.askPass": evil, "core.gitProxy": evil, "credential.helper": "!" + evil,
		"credential.http://127.0.0.1:1.helper": "!" + evil, "push.gpgSign": "true", "gpg.program": evil,
		"remote.ssh.url": "ssh://127.0.0.1/x", "remote.git.url": "git://127.0.0.1:1/x",
		"remote.file.url": other, "remote.file.uploadpack": evil, "remote.file.receivepack": evil,
		"remote.ext.url": "ext::" + evil, "protocol.ext.allow": "always", "remote.vcs.url": "x", "remote.vcs.vcs": "ext",
	} {
		gitenv.Git(t, dir, "config", key, value)
	}
	commands := [][]string{
		{"fetch", "ssh"}, {"fetch", "git"}, {"fetch", "file"}, {"push", "file", "HEAD:refs/heads/x"}, {"fetch", "ext"}, {"fetch", "vcs"},
		{"credential", "fill"},
	}
	url := "url=http://127.0.0.1:1/x\n\n"
	for _, args := range commands {
		_, _ = gitcmd.New(dir, gitcmd.Options{}).RunWith(t.Context(), gitcmd.Command{Args: args, Network: true, Stdin: strings.NewReader(url)})
		require.False(t, ran(evil), "%v", args)
		if args[1] == "vcs" {
			continue // git starts ext by itself here, which is harmless
		}
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(url)
		_ = cmd.Run()
		require.True(t, ran(evil), "plain git runs it: %v", args)
	}
	require.NotEmpty(t, gitenv.Git(t, other, "rev-parse", "refs/heads/x"), "what was to be done is done")

	gitenv.Git(t, dir, "config", "--global", "core.sshCommand", mine)
	gitenv.Git(t, dir, "config", "--global", "credential.helper", "!"+mine)
	for _, args := range [][]string{{"fetch", "ssh"}, {"credential", "fill"}} {
		_, _ = gitcmd.New(dir, gitcmd.Options{}).RunWith(t.Context(), gitcmd.Command{Args: args, Network: true, Stdin: strings.NewReader(url)})
		require.False(t, ran(evil), "%v", args)
		require.True(t, ran(mine), "the user's own: %v", args)
	}
}
