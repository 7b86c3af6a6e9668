package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inspect runs the official inspector against jp mcp serve, and returns its output and its exit code.
func (p *workspace) inspect(args ...string) (map[string]any, int) {
	p.t.Helper()
	inspector, err := filepath.Abs("testdata/inspector/node_modules/.bin/mcp-inspector")
	require.NoError(p.t, err)
	jp, err := exec.LookPath("jp")
	require.NoError(p.t, err)
	cmd := exec.Command(inspector, append([]string{"--cli", jp, "-C", p.dir, "mcp", "serve"}, args...)...)
	cmd.Dir, cmd.Env = filepath.Dir(p.dir), p.environ
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	exit := exitOf(p.t, cmd.Run())
	var got map[string]any
	require.NoError(p.t, json.Unmarshal(stdout.Bytes(), &got), "%s%s", &stdout, &stderr)
	return got, exit
}

// said is the text of a tool's result.
func said(t *testing.T, got map[string]any) string {
	t.Helper()
	content, ok := got["content"].([]any)
	require.True(t, ok && len(content) == 1, got)
	return content[0].(map[string]any)["text"].(string)
}

func TestMCPInspector(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("testdata/inspector/node_modules"); err != nil {
		// It comes from npm, which make test does not ask; CI installs it first.
		t.Skip("the MCP inspector is not installed: make inspector")
	}
	if _, err := exec.LookPath("node"); err != nil {
		// jp itself needs no node; only this proof does.
		t.Skip("the MCP inspector needs node")
	}
	p, id := talked(t)

	got, exit := p.inspect("--method", "tools/list", "--strict")
	require.Zero(t, exit, "no schema has a problem")
	var names []string
	for _, offered := range got["tools"].([]any) {
		names = append(names, offered.(map[string]any)["name"].(string))
	}
	require.ElementsMatch(t, []string{"conversation_list", "conversation_grep", "conversation_read"}, names)

	for call, want := range map[string]string{
		"conversation_list": `<conversation id="` + id + `"`,
		"conversation_list title_contains=login limit=1":    `total="1"`,
		`conversation_grep pattern=retries scopes=["chat"]`: `>It retries &lt;/event&gt; for ever.</hit>`,
		"conversation_read id=" + id + " last=1":            `<turn index="1">`,
	} {
		name, arguments, _ := strings.Cut(call, " ")
		args := []string{"--method", "tools/call", "--tool-name", name}
		for _, argument := range strings.Fields(arguments) {
			args = append(args, "--tool-arg", argument)
		}
		got, exit := p.inspect(args...)
		require.Zero(t, exit, call)
		require.Contains(t, said(t, got), want, call)
	}

	got, exit = p.inspect("--method", "tools/call", "--tool-name", "conversation_read", "--tool-arg", "id=nothing")
	require.NotZero(t, exit)
	require.Equal(t, true, got["isError"])
	require.Contains(t, said(t, got), "no such conversation")
}
