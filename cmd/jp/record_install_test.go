package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/peertest"
)

// TestRecordInstall records the real agents by the hooks in their settings, as they are started without jp, and no more once the
// settings are as before. If jp starts the agent, its hooks alone note the files.
func TestRecordInstall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it runs other agents")
	}
	for _, a := range agentRuns {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			recordInstalled(t, a, peertest.Program(t, a.name))
		})
	}
}

func recordInstalled(t *testing.T, a agentRun, program string) {
	p, model := newPlace(t), peertest.NewModel(t)
	peertest.Configure(t, a.name, p.environHome(), p.dir, model.URL)
	if a.name == "claude" { // jp takes out an empty list of hooks, too
		require.NoError(t, os.WriteFile(filepath.Join(p.environHome(), ".claude", "settings.json"), []byte("{\"theme\":\"dark\"}\n"), 0o600))
	}
	p.environ = append(append(p.environ, peertest.Environ(model.URL)...), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	p.write("a.txt", "a\n")
	p.git("add", ".")
	p.git("commit", "-qm", "two")
	p.write("untracked.txt", "mine\n")
	before, settings := (&grove{p: p}).sight(), p.settingsOf(a)
	work := func() {
		model.Answer(a.shell("echo x >>a.txt; rm untracked.txt"))
		cmd := exec.Command(program, append(a.args, "Work")...)
		cmd.Dir, cmd.Env = p.dir, p.environ
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	// moments are the hooks of tools in all journals.
	moments := func() (n int) {
		files, err := filepath.Glob(filepath.Join(p.environHome(), ".local/state/jp/recordings/*/*"))
		require.NoError(t, err)
		for _, file := range files {
			text, _ := os.ReadFile(file) // of a folder none
			n += len(regexp.MustCompile(`"kind":"(before|after)"`).FindAll(text, -1))
		}
		return n
	}

	out := p.jp("record", "install", "-y", a.name)
	require.Zero(t, out.exit, out.stderr)
	require.Contains(t, p.jp("record", "install", "-y", a.name).stderr, "is so already")
	work()
	var id string
	require.Eventually(t, func() bool {
		line := regexp.MustCompile(`(jp-c\S+)\s.*\(` + a.name + `\)`).FindStringSubmatch(p.jp("ls").stdout)
		if line == nil {
			return false
		}
		id = line[1]
		return strings.Contains(p.jp("log", id).stdout, "assistant: "+peertest.Final)
	}, time.Minute, 100*time.Millisecond)
	require.Equal(t, 2, moments())
	undone := p.jp("undo", "-y", id)
	require.Zero(t, undone.exit, undone.stderr)
	require.Equal(t, before, (&grove{p: p}).sight())

	model.Answer(a.shell("echo y >>a.txt"))
	both := p.jp(append([]string{"record", a.name}, append(a.args, "Both")...)...)
	require.Zero(t, both.exit, both.stderr)
	require.Contains(t, both.stderr, "jp recorded 1 tool call as")
	require.Equal(t, 4, moments())

	require.Zero(t, p.jp("record", "uninstall", "-y", a.name).exit)
	require.Equal(t, settings, p.settingsOf(a))
	had := p.jp("ls").stdout
	work()
	require.Equal(t, 4, moments())
	require.Equal(t, strings.Count(had, "\n"), strings.Count(p.jp("ls").stdout, "\n"))
}
