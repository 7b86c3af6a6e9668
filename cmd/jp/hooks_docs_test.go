package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/problem"
)

// documentedHooks makes the configuration and the hooks of docs/hooks.md those of
// a place's user.
func documentedHooks(t *testing.T) *workspace {
	t.Helper()
	for _, program := range []string{"jq", "gofmt"} {
		if _, err := exec.LookPath(program); err != nil {
			// The examples are shell scripts with these programs; jp itself needs neither.
			t.Skip("the examples need ", program)
		}
	}
	page, err := os.ReadFile("../../docs/hooks.md")
	require.NoError(t, err)
	p := newPlace(t)
	home := filepath.Join(p.dir, "../home")
	settings := regexp.MustCompile("(?s)```toml\n(.*?)```").FindStringSubmatch(string(page))
	config := regexp.MustCompile("/home/ada").ReplaceAllString(settings[1], home)
	p.write("../home/.config/jp/config.toml", config+"[store]\ndurability = \"off\"\n")
	scripts := regexp.MustCompile("(?s)```sh\n(#!/bin/sh\n# ([a-z-]+): .*?)```").FindAllStringSubmatch(string(page), -1)
	require.Len(t, scripts, 3)
	for _, s := range scripts {
		p.write("../home/.config/jp/hooks/"+s[2], s[1])
	}
	p.write("../bin/notify-send", "#!/bin/sh\nprintf '%s\\n' \"$3\" >> ../notified\n")
	p.environ = append(p.environ, "PATH="+filepath.Join(p.dir, "../bin")+":"+os.Getenv("PATH"))
	return p
}

func TestTheDocumentedHooks(t *testing.T) {
	t.Parallel()
	p := documentedHooks(t)
	p.write("../go.toml", `
[[reply]]
[[reply.tool_call]]
name = "shell_run"
arguments = { argv = ["git", "push", "--all"] }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "good.go", content = "package   good\n" }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "bad.go", content = "pakkage\n" }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "text.txt", content = "a   b\n" }
[[reply]]
message = "Over."
`)
	out := p.jp("query", "-y", "-m", "script/../go.toml", "Go")
	require.Zero(t, out.exit, out.stderr)
	require.NotContains(t, out.stderr, "hook failed")
	results := p.ofType("tool_call_response")
	require.Contains(t, results[0]["content"], "a hook of the user denied it. Reason: Do not push; ask the user to.")
	text, err := os.ReadFile(filepath.Join(p.dir, "good.go"))
	require.NoError(t, err)
	require.Equal(t, "package good\n", string(text))
	notes := p.ofType("note")
	require.Len(t, notes, 1)
	require.Contains(t, notes[0]["content"], `[HOOK tool-post] fs_create_file "bad.go"`)
	require.Contains(t, notes[0]["content"], "expected 'package'")

	require.Equal(t, problem.ExitDecision, p.jp("query", "--new", "-m", "script/../go.toml", "Go").exit)
	told, err := os.ReadFile(filepath.Join(p.dir, "../notified"))
	require.NoError(t, err)
	require.Regexp(t, `^complete: Over\.\nRun fs_create_file good\.go\? The file exists and will be overwritten\.\njp answer [0-9a-z]{4}@\d+\n$`, string(told))
}
