package sandbox_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"jp/sandbox"
)

// reader makes the programs of a ground ones that only read the workspace and the system.
func (g *ground) reader(t *testing.T) {
	t.Helper()
	if !sandbox.Supported().Readers() {
		// An older kernel cannot keep a program from emptying files.
		t.Skip("nothing keeps a program from writing here")
	}
	rules, ok := sandbox.Places{Workspace: g.work, Environ: g.environ, Hidden: g.rules.Hidden}.ReaderRules(os.DirFS("/"))
	require.True(t, ok)
	g.rules = rules
}

func TestReaderReads(t *testing.T) {
	for name, script := range map[string]string{
		"the workspace": `cat f && ls -la . d && test "$(cat d/g)" = x`,
		"the system":    `cat /etc/passwd >/dev/null && ls /usr/bin >/dev/null && sh -c true`,
		"by a pipe":     `cat f | wc -c | grep 2`,
		"nothing":       `cat /dev/null && : >/dev/null`,
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			write(t, filepath.Join(g.work, "f"), "x\n")
			write(t, filepath.Join(g.work, "d/g"), "x\n")
			g.reader(t)
			out, err := g.confined(t, sh(script)...)
			require.NoError(t, err, out)
		})
	}
}

// Each is tried as an ordinary program, too: it is the rules of a reader that forbid it.
func TestReaderIsKept(t *testing.T) {
	for name, script := range map[string]string{
		"make a file":           `: >new`,
		"change a file":         `echo x >>f`,
		"empty a file":          `truncate -s 0 f`,
		"remove a file":         `rm f`,
		"move a file":           `mv f moved`,
		"make a folder":         `mkdir new`,
		"make a link":           `ln -s f l`,
		"make another name":     `ln f l`,
		"make a temporary file": `mktemp`,
		"write shared memory":   `f=/dev/shm/jp-test-$$ && echo x >$f && rm $f`,
		"change a mode":         `chmod 600 f`,
		"change an owner":       `chown "$(id -u)" f`,
		"change a time":         `touch -d 2001-01-01 f`,
		"read the home":         `cat ~/note`,
		"list the home":         `ls ~`,
		"read by a link":        `cat l-note`,
		"read a kernel's file":  `cat /proc/1/cmdline /proc/self/environ >/dev/null`,
		"signal itself":         `kill -0 $$`,
	} {
		t.Run(name, func(t *testing.T) {
			g := newGround(t)
			write(t, filepath.Join(g.work, "f"), "x\n")
			require.NoError(t, os.Symlink(filepath.Join(g.home, "note"), filepath.Join(g.work, "l-note")))
			ordinary := g.rules
			g.reader(t)
			out, err := g.confined(t, sh(script)...)
			require.Error(t, err, out)
			require.NotContains(t, out, "a note")
			content, err := os.ReadFile(filepath.Join(g.work, "f"))
			require.NoError(t, err)
			require.Equal(t, "x\n", string(content))
			g.rules = ordinary
			out, err = g.confined(t, sh(script)...)
			require.NoError(t, err, out)
		})
	}
}

func TestReaderHasNoNetwork(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer tcp.Close()
	g := newGround(t)
	g.reader(t)
	g.rules.Network = true
	g.rules.OnlyRead = append(g.rules.OnlyRead, os.Args[0])
	g.requireForbidden(t, g.act("dial tcp", tcp.Addr().String())...)
	g.requireForbidden(t, g.act("listen", "127.0.0.1:0")...)
	g.requireAllowed(t, g.act("stream pair", "")...)
}

func TestReaderOfAHome(t *testing.T) {
	tree := fstest.MapFS{"home/u/work/f": {}, "usr/bin/ls": {Mode: 0o755}, "home/u/work/bin/ls": {Mode: 0o755}, "tmp/ls": {Mode: 0o755}, "home/u/bin/rg": {Mode: 0o755}}
	places := sandbox.Places{Workspace: "/home/u/work", Environ: []string{"HOME=/home/u", "PATH=/home/u/bin:/usr/bin"}, Hidden: []string{"/home/u/work/key"}}
	rules, ok := places.ReaderRules(tree)
	require.True(t, ok)
	for name, want := range map[string]bool{
		"/home/u/work": true, "/home/u/work/f": true, "/usr/bin/ls": true, "/home/u/work/key": false, "/home/u": false, "/home/u/x": false, "/": false, "/etc/shadow": false, "/tmp": false,
	} {
		require.Equal(t, want, rules.Reads(tree, name), name)
	}
	for _, workspace := range []string{"/home/u", "/home", "/"} {
		_, ok := sandbox.Places{Workspace: workspace, Environ: places.Environ}.ReaderRules(tree)
		require.False(t, ok, workspace)
	}
	_, ok = sandbox.Places{Workspace: "/home/u/work"}.ReaderRules(tree)
	require.False(t, ok, "where the home is not known")
	for path, want := range map[string]bool{
		"/usr/bin": true, "/home/u/work/bin:/usr/bin": false, "/tmp:/usr/bin": false, "bin:/usr/bin": true, "": false, "/none:/usr/bin": true,
	} {
		places.Environ = []string{"HOME=/home/u", "PATH=" + path}
		_, ok := places.Runs(tree, "ls")
		require.Equal(t, want, ok, path)
	}
}
