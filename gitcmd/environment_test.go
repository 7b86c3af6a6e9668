package gitcmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

// The configuration in the environment counts, as it does for the user's git.
func TestEnvironmentConfigures(t *testing.T) {
	dir := gitenv.Repo(t)
	t.Setenv("GIT_CONFIG_COUNT", "2")
	t.Setenv("GIT_CONFIG_KEY_0", "user.name")
	t.Setenv("GIT_CONFIG_VALUE_0", "From the environment")
	t.Setenv("GIT_CONFIG_KEY_1", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_1", "/nowhere")
	for name, g := range both(t, dir) {
		for _, content := range []bool{false, true} {
			require.Equal(t, "From the environment\n", configured(t, g, "user.name", content), name)
			require.Equal(t, "false\n", configured(t, g, "core.fsmonitor", content), name)
		}
	}
	t.Setenv("GIT_CONFIG_COUNT", "many")
	for _, g := range both(t, dir) {
		require.Equal(t, "Ada Lovelace\n", configured(t, g, "user.name", true), "what git cannot read counts for nothing")
	}
}

// The user's settings for git -c count for a jp that an alias runs, as git would take them.
func TestGitPassesItsSettingsOn(t *testing.T) {
	dir := gitenv.Repo(t)
	for text, want := range map[string]string{
		`'user.name'='Git'`:                               "Git",
		`'user.name=Git'`:                                 "Git", // as before git 2.31
		`'user.name'='a'  'user.name'='b'`:                "b",
		`'user.name'='it'\''s'\!''`:                       "it's!",
		`'user.name'='a=b c'`:                             "a=b c",
		`'user.name'=''`:                                  "",
		`'user.name'=`:                                    "true",
		`'user.name'`:                                     "true",
		`'x.a=b.y'='z' 'user.name'='Git'`:                 "Git",
		`'user.name'='Git' 'core.fsmonitor'='/nowhere'`:   "Git",
		`'user.name'='Git' 'core.hooksPath'='/elsewhere'`: "Git",
		// settings that git refuses are ignored
		`'user.name'='Git`:           "Env",
		`user.name=Git`:              "Env",
		`'user.name'='Git'x`:         "Env",
		`'user.name'='Git' 'other'x`: "Env",
		`'user.name'x='Git'`:         "Env",
		`'`:                          "Env",
		`'=x'`:                       "Env",
		``:                           "Env",
	} {
		t.Setenv("GIT_CONFIG_PARAMETERS", text)
		t.Setenv("GIT_CONFIG_COUNT", "1")
		t.Setenv("GIT_CONFIG_KEY_0", "user.name")
		t.Setenv("GIT_CONFIG_VALUE_0", "Env")
		for name, g := range both(t, dir) {
			require.Equal(t, want+"\n", configured(t, g, "user.name", true), "%s %s", name, text)
			require.Equal(t, "false\n", configured(t, g, "core.fsmonitor", true))
			require.Equal(t, "/dev/null\n", configured(t, g, "core.hooksPath", true))
		}
	}
	asGit := exec.Command("git", "config", "--get", "user.name") // which reads the hardest one alike
	asGit.Env = append(os.Environ(), `GIT_CONFIG_PARAMETERS='user.name'='it'\''s'\!''`)
	out, err := asGit.Output()
	require.NoError(t, err)
	require.Equal(t, "it's!\n", string(out))
}

func both(t *testing.T, dir string) map[string]*gitcmd.Git {
	t.Helper()
	repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
	require.NoError(t, err)
	return map[string]*gitcmd.Git{"found": gitcmd.New(dir, gitcmd.Options{}), "located": gitcmd.At(repo, gitcmd.Options{})}
}

func configured(t *testing.T, g *gitcmd.Git, key string, content bool) string {
	t.Helper()
	out, err := g.RunWith(t.Context(), gitcmd.Command{Args: []string{"config", "--default=", "--get", key}, Content: content})
	require.NoError(t, err)
	return string(out)
}

// A variable cannot make bytes of the repository the user's own.
func TestEnvironmentNamesNothingInTheRepository(t *testing.T) {
	const evil = "[user]\n\tname = Evil\n[filter \"f\"]\n\tclean = false\n"
	for name, set := range map[string]func(t *testing.T, dir string){
		"global":   func(t *testing.T, dir string) { t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "evil")) },
		"relative": func(t *testing.T, dir string) { t.Setenv("GIT_CONFIG_GLOBAL", "evil") },
		"system": func(t *testing.T, dir string) {
			t.Setenv("GIT_CONFIG_SYSTEM", filepath.Join(dir, "evil"))
			t.Setenv("GIT_CONFIG_NOSYSTEM", "")
		},
		"git directory": func(t *testing.T, dir string) { t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, ".git", "evil")) },
		"a link": func(t *testing.T, dir string) {
			link := filepath.Join(t.TempDir(), "link")
			require.NoError(t, os.Symlink(filepath.Join(dir, "evil"), link))
			t.Setenv("GIT_CONFIG_GLOBAL", link)
		},
		"an include": func(t *testing.T, dir string) {
			t.Setenv("GIT_CONFIG_COUNT", "1")
			t.Setenv("GIT_CONFIG_KEY_0", "include.path")
			t.Setenv("GIT_CONFIG_VALUE_0", filepath.Join(dir, "evil"))
		},
		"an include of git -c": func(t *testing.T, dir string) {
			t.Setenv("GIT_CONFIG_PARAMETERS", "'include.path'='"+filepath.Join(dir, "evil")+"'")
		},
		"one that is relative": func(t *testing.T, dir string) {
			t.Setenv("GIT_CONFIG_PARAMETERS", "'include.path=evil'")
		},
		"an include of an include": func(t *testing.T, dir string) {
			t.Setenv("GIT_CONFIG_COUNT", "1")
			t.Setenv("GIT_CONFIG_KEY_0", "IncludeIf.gitdir:**.Path")
			t.Setenv("GIT_CONFIG_VALUE_0", filepath.Join(dir, "evil"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := gitenv.Repo(t)
			write(t, filepath.Join(dir, "evil"), evil)
			write(t, filepath.Join(dir, ".git", "evil"), evil)
			repo, err := gitcmd.Locate(t.Context(), dir, gitcmd.Options{})
			require.NoError(t, err)
			set(t, dir)
			g := gitcmd.At(repo, gitcmd.Options{})
			require.NotEqual(t, "Evil\n", configured(t, g, "user.name", true))
			filters, err := g.Filters(t.Context())
			require.NoError(t, err)
			require.Empty(t, filters)
		})
	}
}

// The repository's settings of programs and addresses are hidden from a git-lfs of the user's, and the user's
// own settings count.
func TestSettingsOfLFSAreEmptied(t *testing.T) {
	dir := gitenv.Repo(t)
	for key, value := range map[string]string{
		"lfs.extension.x.clean": "evil", "lfs.extension.x.smudge": "evil", "lfs.customtransfer.y.path": "evil", "lfs.customtransfer.y.args": "evil",
		"lfs.standalonetransferagent": "evil", "lfs.url": "http://evil.invalid", "lfs.pushurl": "http://evil.invalid", "lfs.storage": "/elsewhere",
		"lfs.https://a.invalid/b.git.standalonetransferagent": "evil", "lfs.https://a.invalid.access": "basic", "remote.o.lfsurl": "http://evil.invalid",
		"LFS.Extension.z.Clean": "evil", "lfs.gitprotocol": "evil", "lfs.unheardof": "evil",
	} {
		gitenv.Git(t, dir, "config", key, value)
	}
	kept := map[string]string{"lfs.repositoryformatversion": "0", "lfs.https://a.invalid.locksverify": "true", "lfs.fetchexclude": "big"}
	for key, value := range kept {
		gitenv.Git(t, dir, "config", key, value)
	}
	gitenv.Git(t, dir, "config", "--global", "lfs.storage", "/mine")
	gitenv.Git(t, dir, "config", "--global", "lfs.extension.own.clean", "mine")
	for name, g := range both(t, dir) {
		for _, c := range []gitcmd.Command{{Content: true}, {Content: true, Required: []string{"x"}}, {Network: true}} {
			c.Args = []string{"config", "--get-regexp", `^lfs\.|\.lfsurl$`}
			out, err := g.RunWith(t.Context(), c)
			require.NoError(t, err)
			last := map[string]string{}
			for line := range strings.Lines(string(out)) {
				key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
				last[key] = value
			}
			for key, value := range last {
				require.NotContains(t, value, "evil", "%s: %s", name, key)
			}
			require.Equal(t, "/mine", last["lfs.storage"])
			require.Equal(t, "mine", last["lfs.extension.own.clean"])
			for key, value := range kept {
				require.Equal(t, value, last[key])
			}
		}
	}
}

// git-lfs asks .lfsconfig and remote.*.lfsurl only if lfs.url is unset. An empty one counts as set, with or
// without LFS in the repository's configuration.
func TestAddressesOfLFSConfigAreOutranked(t *testing.T) {
	for name, prepare := range map[string]func(dir string){
		"lfs.url": func(dir string) { gitenv.Git(t, dir, "config", "-f", ".lfsconfig", "lfs.url", "http://evil.invalid") },
		"lfs.pushurl": func(dir string) {
			gitenv.Git(t, dir, "config", "-f", ".lfsconfig", "lfs.pushurl", "http://evil.invalid")
		},
		"remote.*.lfsurl": func(dir string) {
			gitenv.Git(t, dir, "config", "-f", ".lfsconfig", "remote.origin.lfsurl", "http://evil.invalid")
		},
		"remote.*.lfsurl of .git":      func(dir string) { gitenv.Git(t, dir, "config", "remote.origin.lfsurl", "http://evil.invalid") },
		"remote.*.lfspushurl of .git":  func(dir string) { gitenv.Git(t, dir, "config", "remote.origin.lfspushurl", "http://evil.invalid") },
		"the address of the remote":    func(dir string) { gitenv.Git(t, dir, "config", "remote.origin.url", "http://evil.invalid") },
		"one that the user approved":   func(dir string) { gitenv.Git(t, dir, "config", "--global", "filter.lfs.smudge", "cat") },
		"another filter of the user's": func(dir string) { gitenv.Git(t, dir, "config", "--global", "filter.f.clean", "cat") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := gitenv.Repo(t)
			prepare(dir)
			for kind, g := range both(t, dir) {
				for _, c := range []gitcmd.Command{{Content: true}, {Content: true, Required: []string{"f"}}} {
					for _, key := range []string{"lfs.url", "lfs.pushurl"} {
						c.Args = []string{"config", "--get", key}
						out, err := g.RunWith(t.Context(), c)
						require.NoError(t, err, "%s: %s is not set", kind, key)
						require.Equal(t, "\n", string(out))
					}
				}
			}
		})
	}
}

// Variables for git-lfs reach it.
func TestEnvironmentOfLFSIsKept(t *testing.T) {
	dir := gitenv.Repo(t)
	t.Setenv("GIT_LFS_SKIP_SMUDGE", "1")
	out, err := gitcmd.New(dir, gitcmd.Options{}).Run(t.Context(), "-c", "alias.e=!env", "e")
	require.NoError(t, err)
	require.Contains(t, string(out), "\nGIT_LFS_SKIP_SMUDGE=1\n")
}

// A filter that the user's git would let fail never takes a file unconverted.
func TestRequiredFilters(t *testing.T) {
	for name, config := range map[string]map[string]string{
		"fails":   {"clean": "false"},
		"missing": {"clean": "/nowhere/filter"},
		"process": {"process": "false"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := gitenv.Repo(t)
			for key, value := range config {
				gitenv.Git(t, dir, "config", "--global", "filter.f."+key, value)
			}
			write(t, filepath.Join(dir, ".gitattributes"), "*.key filter=f\n")
			write(t, filepath.Join(dir, "a.key"), "plain\n")
			for _, g := range both(t, dir) {
				_, err := g.RunWith(t.Context(), gitcmd.Command{Args: []string{"hash-object", "-w", "a.key"}, Required: []string{"f"}})
				require.Error(t, err)
			}
			if name != "process" {
				gitenv.Git(t, dir, "hash-object", "-w", "a.key") // plain git takes it
			}
		})
	}
	t.Run("another one", func(t *testing.T) {
		dir := gitenv.Repo(t)
		gitenv.Git(t, dir, "config", "--global", "filter.f.clean", "false")
		gitenv.Git(t, dir, "config", "--global", "filter.f.required", "true")
		write(t, filepath.Join(dir, ".gitattributes"), "*.key filter=f\n")
		write(t, filepath.Join(dir, "a.key"), "plain\n")
		for _, g := range both(t, dir) {
			_, err := g.RunWith(t.Context(), gitcmd.Command{Args: []string{"hash-object", "a.key"}})
			require.Error(t, err)
			_, err = g.RunWith(t.Context(), gitcmd.Command{Args: []string{"hash-object", "a.key"}, Required: []string{"g"}})
			require.NoError(t, err)
		}
	})
	t.Run("in one direction", func(t *testing.T) {
		dir := gitenv.Repo(t)
		gitenv.Git(t, dir, "config", "--global", "filter.f.clean", "tr a-z A-Z")
		write(t, filepath.Join(dir, ".gitattributes"), "*.key filter=f\n")
		write(t, filepath.Join(dir, "a.key"), "loud\n")
		gitenv.Git(t, dir, "add", "a.key")
		for _, g := range both(t, dir) {
			require.NoError(t, os.Remove(filepath.Join(dir, "a.key")))
			_, err := g.RunWith(t.Context(), gitcmd.Command{Args: []string{"checkout-index", "-f", "a.key"}, Required: []string{"f"}})
			require.NoError(t, err)
			text, err := os.ReadFile(filepath.Join(dir, "a.key"))
			require.NoError(t, err)
			require.Equal(t, "LOUD\n", string(text))
		}
	})
}
