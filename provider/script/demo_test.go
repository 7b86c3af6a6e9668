package script

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
)

// arguments are those of all the tools that the demo calls.
type arguments struct {
	Path    string
	Content string
	Edits   []struct{ Old, New string }
	Argv    []string
}

// playDemo runs the demo's tool calls in dir, up to its command, and returns the command.
func playDemo(t *testing.T, dir string) []string {
	var command, tools []string
	p := Demo()
	for _, r := range p.replies {
		require.Positive(t, r.ChunkSize)
		require.Empty(t, r.Fail)
	}
	for ended := range p.replies {
		r := p.replies[ended]
		r.ChunkDelay = 0
		one := &Provider{name: p.name, replies: []reply{r}}
		parts, end := assembled(t, one, &provider.Request{})
		for _, part := range parts {
			if part.Kind != provider.ChunkToolCall {
				continue
			}
			var a arguments
			require.NoError(t, json.Unmarshal(part.Arguments, &a))
			tools = append(tools, part.Tool)
			if part.Tool == "shell_run" {
				command = a.Argv
				continue
			}
			do(t, part.Tool, filepath.Join(dir, a.Path), a)
		}
		last := ended == len(p.replies)-1
		require.Equal(t, last, end.Finish == conversation.FinishStop)
	}
	require.Equal(t, []string{"fs_read_file", "fs_modify_file", "fs_create_file", "shell_run"}, tools)
	return command
}

func do(t *testing.T, tool, path string, a arguments) {
	switch tool {
	case "fs_read_file":
		require.FileExists(t, path)
	case "fs_create_file":
		require.NoFileExists(t, path)
		require.NoError(t, os.WriteFile(path, []byte(a.Content), 0o600))
	case "fs_modify_file":
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, edit := range a.Edits {
			require.Equal(t, 1, strings.Count(string(text), edit.Old), edit.Old)
			text = []byte(strings.Replace(string(text), edit.Old, edit.New, 1))
		}
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
}

func TestDemoRepairsItsFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range DemoFiles() {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	command := playDemo(t, dir)
	require.Equal(t, []string{"go", "test", "./..."}, command)
	run(t, dir, "go", "vet", "./...")
	run(t, dir, command...)
	require.Empty(t, run(t, dir, "gofmt", "-l", "."))
}

// run runs a tool of Go in dir, without a network.
func run(t *testing.T, dir string, argv ...string) string {
	name, err := exec.LookPath(argv[0])
	if err != nil {
		// The demonstration starts programs that only it needs.
		t.Skipf("%s is not installed: %v", argv[0], err)
	}
	cmd := exec.CommandContext(t.Context(), name, argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", argv, out)
	return string(out)
}

func TestTheDemoEndsWhereACallFailed(t *testing.T) {
	require.Len(t, slices.DeleteFunc(slices.Clone(Demo().replies), func(r reply) bool { return len(r.ToolCalls) == 0 }), demoCalls)
	results := func(failed ...bool) *provider.Request {
		request := &provider.Request{Ended: len(failed)}
		for _, is := range failed {
			request.Messages = append(request.Messages, provider.Message{Blocks: []provider.Block{{Kind: provider.BlockResult, IsError: is}}})
		}
		return request
	}
	for name, tt := range map[string]struct {
		request *provider.Request
		ends    bool
	}{
		"at its start":          {results(), false},
		"the file is not there": {results(true), true},
		"the file is another":   {results(false, true), true},
		"the test exists":       {results(false, false, true), true},
		"all went well":         {results(false, false, false), false},
		"its test failed":       {results(false, false, false, true), false},
		"asked once more":       {results(true, false, false), true},
	} {
		t.Run(name, func(t *testing.T) {
			parts, end := assembled(t, Demo(), tt.request)
			if !tt.ends {
				require.NotContains(t, parts[len(parts)-1].Text, "I am jp's demo")
				return
			}
			require.Equal(t, conversation.FinishStop, end.Finish)
			require.Len(t, parts, 1)
			require.Equal(t, demoElsewhere, parts[0].Text)
		})
	}
}
