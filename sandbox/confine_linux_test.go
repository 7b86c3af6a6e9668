package sandbox_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/sandbox"
)

// A ground is a home with jp's key, a workspace, and a folder for temporary
// files.
type ground struct {
	home, key, work, temp string
	rules                 sandbox.Rules
	environ               []string
}

func newGround(t *testing.T) *ground {
	t.Helper()
	if s := sandbox.Supported(); !s.Enforced() {
		// Only a kernel with landlock confines.
		t.Skip("nothing is confined here: " + s.Reason)
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	g := &ground{
		home: home, key: filepath.Join(home, ".local/state/jp/key"),
		work: filepath.Join(home, "src/work"), temp: filepath.Join(home, "tmp"),
	}
	for _, dir := range []string{filepath.Dir(g.key), g.work, g.temp} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	write(t, g.key, "the key\n")
	write(t, filepath.Join(home, "note"), "a note\n")
	g.rules = sandbox.Rules{Hidden: []string{g.key, filepath.Dir(g.key)}, Writable: []string{g.work, g.temp}}
	g.environ = append(os.Environ(), "HOME="+home, "TMPDIR="+g.temp)
	return g
}

func write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
}

// free runs a program as it is.
func (g *ground) free(argv ...string) (string, error) { return g.run(argv) }

func (g *ground) run(argv []string, inherited ...*os.File) (string, error) {
	return g.output(g.command(argv, inherited...))
}

func (g *ground) command(argv []string, inherited ...*os.File) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = g.work, g.environ, inherited
	return cmd
}

// started is a process as it is to be started.
func (g *ground) started(start sandbox.Start, inherited ...*os.File) *exec.Cmd {
	cmd := g.command(start.Argv, slices.Concat(start.Files, inherited)...)
	cmd.SysProcAttr = start.Attr
	if start.Path != "" {
		cmd.Path = start.Path
	}
	return cmd
}

func (g *ground) output(cmd *exec.Cmd) (string, error) {
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// confined runs a program under the rules of the ground.
func (g *ground) confined(t *testing.T, argv ...string) (string, error) {
	t.Helper()
	start, err := sandbox.Prepare(g.rules, argv, g.work)
	require.NoError(t, err)
	defer start.Close()
	return g.output(g.started(start))
}

// sh is a script as a program; its reads are those of another program.
func sh(script string) []string { return []string{"sh", "-c", script} }

// act is this test binary as a program.
func (g *ground) act(name, argument string) []string {
	g.environ = append(g.environ, actVariable+"="+name)
	return []string{os.Args[0], argument}
}

func TestAllowed(t *testing.T) {
	for name, script := range map[string]string{
		"read a file of the home":       `cat ~/note`,
		"read the system":               `cat /etc/passwd >/dev/null && ls / ~ ~/.local/state /proc/self/fd >/dev/null`,
		"write in the workspace":        `echo x >f && mkdir d && mv f d/g && ln -s d/g l && ln d/g h && : >d/g && rm -r d l h`,
		"write in TMPDIR":               `f=$(mktemp) && echo x >$f && mv $f "$TMPDIR/moved"`,
		"move between what is writable": `echo x >f && mv f "$TMPDIR"/`,
		"discard":                       `echo x >/dev/null && head -c1 /dev/zero /dev/urandom >/dev/null`,
		"write to its output by name":   `echo x >/dev/stdout; echo x >/dev/stderr`,
		"share memory":                  `f=/dev/shm/jp-test-$$ && echo x >$f && rm $f`,
		"run what it wrote":             `printf '#!/bin/sh\nexit 0\n' >run && chmod +x run && ./run`,
		"signal its own":                `sleep 600 & kill $! && ! wait $!`,
		"a fifo":                        `mkfifo p && { echo x >p & cat p; }`,
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			out, err := g.confined(t, sh(script)...)
			require.NoError(t, err, out)
		})
	}
}

// Each is tried without rules, too: it is the rules that forbid it.
func TestForbidden(t *testing.T) {
	for name, script := range map[string]string{
		"write to the home":                  `echo x >~/new`,
		"change a file of the home":          `echo x >>~/note`,
		"empty a file of the home":           `truncate -s 0 ~/note`,
		"remove a file of the home":          `rm -f ~/note && ! test -e ~/note`,
		"move a file out of the home":        `mv ~/note .`,
		"move the workspace":                 `mv ~/src/work ~/src/moved`,
		"write beside the workspace":         `mkdir ../beside`,
		"a link to write by":                 `ln -s ~ l && echo x >l/new`,
		"read the key":                       `cat ~/.local/state/jp/key`,
		"read the key by a link":             `ln -s ~/.local/state/jp/key l && cat l`,
		"read the key by a link to a folder": `ln -s ~/.local/state l && cat l/jp/key`,
		"read the key by another root":       `cat /proc/self/root$HOME/.local/state/jp/key`,
		"read the key by a folder":           `cd ~/.local/state/jp && cat key`,
		"read the key by a dot":              `cat ~/.local/state/./jp/../jp/key`,
		"move the key":                       `mv ~/.local/state/jp/key .`,
		"move the folder of the key":         `mv ~/.local/state/jp .`,
		"move a folder above the key":        `mv ~/.local .`,
		"replace the key":                    `echo x >k && mv k ~/.local/state/jp/key`,
		"remove the key":                     `rm -f ~/.local/state/jp/key && ! test -e ~/.local/state/jp/key`,
		"run what is hidden":                 `~/.local/state/jp/program`,
		"the environment of who started it":  `cat /proc/$PPID/environ >/dev/null`,
		"the memory of who started it":       `head -c0 /proc/$PPID/mem`,
		"the descriptors of who started it":  `readlink -v /proc/$PPID/fd/0`,
		"the root of who started it":         `cat /proc/$PPID/root$HOME/note`,
		"open a terminal":                    `: </dev/ptmx`,
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			write(t, filepath.Join(g.home, ".local/state/jp/program"), "#!/bin/sh\nexit 0\n")
			require.NoError(t, os.Chmod(filepath.Join(g.home, ".local/state/jp/program"), 0o755))
			out, err := g.confined(t, sh(script)...)
			require.Error(t, err)
			require.NotContains(t, out, "the key")
			require.Contains(t, strings.ToLower(out), "permission denied")
			left, err := os.ReadFile(filepath.Join(g.home, "note"))
			require.NoError(t, err)
			require.Equal(t, "a note\n", string(left))

			g = newGround(t)
			write(t, filepath.Join(g.home, ".local/state/jp/program"), "#!/bin/sh\nexit 0\n")
			require.NoError(t, os.Chmod(filepath.Join(g.home, ".local/state/jp/program"), 0o755))
			out, err = g.free(sh(script)...)
			require.NoError(t, err, out)
		})
	}
}

// requireForbidden tries the program without rules, and under them.
func (g *ground) requireForbidden(t *testing.T, argv ...string) {
	t.Helper()
	out, err := g.free(argv...)
	require.NoError(t, err, out)
	out, err = g.confined(t, argv...)
	require.Error(t, err, out)
}

func (g *ground) requireAllowed(t *testing.T, argv ...string) {
	t.Helper()
	out, err := g.confined(t, argv...)
	require.NoError(t, err, out)
}

func TestSignalsToItself(t *testing.T) {
	g := newGround(t)
	g.requireAllowed(t, g.act("signal itself", "")...)
}

func TestConfined(t *testing.T) {
	g := newGround(t)
	argv := g.act("confined", g.key)
	out, err := g.confined(t, argv...)
	require.NoError(t, err)
	require.Equal(t, "true\n", out)
	out, err = g.free(argv...)
	require.NoError(t, err)
	require.Equal(t, "false\n", out)
	g.rules.Hidden = nil
	out, err = g.confined(t, argv...)
	require.NoError(t, err)
	require.Equal(t, "false\n", out, "confined by other rules")
	require.False(t, sandbox.Confined(filepath.Join(g.home, "none")))
}

// A program's files cannot widen the rights of the next one.
func TestForgedLinks(t *testing.T) {
	g := newGround(t)
	cache := filepath.Join(g.work, "cache")
	require.NoError(t, os.Mkdir(cache, 0o755))
	g.rules.Writable = append(g.rules.Writable, cache)
	g.requireAllowed(t, sh(`rmdir cache && ln -s ~ cache`)...)
	_, err := g.confined(t, sh(`echo x >cache/new`)...)
	require.Error(t, err)
	require.NoFileExists(t, filepath.Join(g.home, "new"))
}

// A workspace that the key is below: everything beside the way to it can be used, and the way itself
// cannot.
func TestWorkspaceAboveTheKey(t *testing.T) {
	g := newGround(t)
	g.rules.Writable = []string{g.home}
	g.requireAllowed(t, sh(`echo x >>~/note && mkdir ~/src/new && cat ~/note`)...)
	for _, script := range []string{`cat ~/.local/state/jp/key`, `rm ~/.local/state/jp/key`, `mv ~/.local/state ~/src`, `echo x >~/new`} {
		_, err := g.confined(t, sh(script)...)
		require.Error(t, err, script)
	}
	require.FileExists(t, g.key)
}

func TestPrivileges(t *testing.T) {
	g := newGround(t)
	if os.Geteuid() != 0 {
		// Only root has privileges that a mistake could keep.
		t.Skip("only root has privileges to lose")
	}
	g.requireForbidden(t, sh(`mknod device c 1 3`)...)
	g.requireAllowed(t, sh(`echo x >f && chown 1:1 f && chmod 600 f && cat f && rm f`)...)
}

func TestSecondNames(t *testing.T) {
	g := newGround(t)
	require.NoError(t, os.Link(g.key, filepath.Join(g.work, "k")))
	_, err := sandbox.Prepare(g.rules, []string{"true"}, g.work)
	require.ErrorIs(t, err, sandbox.ErrSecondName)
	require.ErrorContains(t, err, g.key)
	require.NoError(t, os.Remove(filepath.Join(g.work, "k")))
	g.requireForbidden(t, sh(`ln ~/.local/state/jp/key k && rm k`)...)
	g.requireAllowed(t, "true")
}

func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}
