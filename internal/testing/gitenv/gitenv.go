// Package gitenv separates tests from the git configuration of the host.
//
// A test that went through Isolate, or a child process started with Env, sees one fixed identity, a main
// branch and none of the user's own settings. It is for tests only.
package gitenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"jp/gitcmd"
)

// marker is set in every isolated environment, so that Isolate runs once a test.
const marker = "JP_TEST_GITENV"

// refsVariable says how tests keep refs: in files; "git", in files that jp moves through
// git; "reftable", in the format of this name, which needs a git that has it.
const refsVariable = "JP_TEST_REFS"

func init() { gitcmd.RefsThroughGit = os.Getenv(refsVariable) == "git" }

// RefsThroughGit reports whether jp lets git keep the refs of the tests' repositories.
func RefsThroughGit() bool { return os.Getenv(refsVariable) != "" }

// Reftable reports whether the tests' repositories have their refs in a reftable.
func Reftable() bool { return os.Getenv(refsVariable) == string(gitcmd.Reftable) }

// KnowsReftable reports whether the git of PATH has that format.
func KnowsReftable() bool {
	help, _ := exec.Command("git", "init", "-h").CombinedOutput() // git ends with 129
	return strings.Contains(string(help), "--ref-format")
}

const globalConfig = `[user]
	name = Ada Lovelace
	email = ada@example.com
[init]
	defaultBranch = main
[commit]
	gpgSign = false
[protocol "file"]
	allow = always
`

// Isolate gives the test a home of its own, with an identity (Ada Lovelace
// <ada@example.com>) and no other git configuration. It changes the
// environment of the process, so a parallel test cannot use it.
func Isolate(t testing.TB) {
	t.Helper()
	if os.Getenv(marker) != "" {
		return
	}
	home := t.TempDir()
	if err := writeHome(home); err != nil {
		t.Fatal(err)
	}
	keep := map[string]bool{}
	for _, pair := range variables(home) {
		name, value, _ := strings.Cut(pair, "=")
		keep[name] = true
		t.Setenv(name, value)
	}
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "GIT_") && !keep[name] {
			unset(t, name)
		}
	}
}

// Env returns the isolated environment for a child process whose home is the
// given folder. It writes the configuration there and panics if it cannot.
func Env(home string) []string {
	if err := writeHome(home); err != nil {
		panic(err)
	}
	return append(variables(home), "PATH="+os.Getenv("PATH"), "TMPDIR="+os.TempDir())
}

// ObjectFormat is the format of the repositories that tests make: sha1, or the value of JP_TEST_OBJECTS.
func ObjectFormat() string {
	if format := os.Getenv("JP_TEST_OBJECTS"); format != "" {
		return format
	}
	return "sha1"
}

// refFormat is that of the repositories that tests make.
func refFormat() string {
	if Reftable() {
		return string(gitcmd.Reftable)
	}
	return "files"
}

// Repo makes a repository with one commit, which holds README.md, on main, and
// returns its path without symbolic links.
func Repo(t testing.TB) string {
	t.Helper()
	Isolate(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	Git(t, dir, "init", "-q")
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# A repository\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	Git(t, dir, "add", "README.md")
	Git(t, dir, "commit", "-q", "-m", "first")
	return dir
}

// Git runs the real git in dir and returns its output without the last newline. An exit other than 0 fails
// the test.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	Isolate(t)
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSuffix(string(out), "\n")
}

func variables(home string) []string {
	return []string{
		marker + "=1",
		"HOME=" + home,
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"),
		"XDG_STATE_HOME=" + filepath.Join(home, ".local", "state"),
		"XDG_DATA_HOME=" + filepath.Join(home, ".local", "share"),
		"XDG_CACHE_HOME=" + filepath.Join(home, ".cache"),
		"XDG_RUNTIME_DIR=" + filepath.Join(home, ".run"),
		"GIT_CONFIG_GLOBAL=" + filepath.Join(home, ".gitconfig"),
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_DEFAULT_HASH=" + ObjectFormat(),
		refsVariable + "=" + os.Getenv(refsVariable),
		"GIT_DEFAULT_REF_FORMAT=" + refFormat(),
		"TZ=UTC",
		"LC_ALL=C",
		"LANG=C",
	}
}

func writeHome(home string) error {
	if err := os.MkdirAll(filepath.Join(home, ".run"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(globalConfig), 0o600)
}

// unset removes a variable and has the test put it back.
func unset(t testing.TB, name string) {
	t.Setenv(name, "")
	if err := os.Unsetenv(name); err != nil {
		t.Fatal(err)
	}
}
