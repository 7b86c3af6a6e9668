package toolset_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/toolset"
	"jp/config"
	"jp/internal/testing/front"
	"jp/tool"
	"jp/tool/mcp"
)

// builtin is a tool of jp's own in a scratch.
func builtin(t *testing.T, s *front.Scratch, name string) tool.Tool {
	t.Helper()
	r := s.Open()
	t.Cleanup(func() { r.Close() })
	all, err := toolset.Builtins(r, r.Env)
	require.NoError(t, err)
	for _, one := range all {
		if one.Definition().Name == name {
			return one
		}
	}
	require.FailNow(t, "no tool "+name)
	return nil
}

// TestConfigure varies the table of one of jp's own tools.
func TestConfigure(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	read, shell := builtin(t, s, "fs_read_file"), builtin(t, s, "shell_run")
	was := *read.Definition()
	same := toolset.Configure(read, map[string]config.Tool{"other": {Run: "ask"}, "fs_read_file": {Command: []string{"true"}, Run: "ask"}})
	require.Equal(t, was.Run, same.Definition().Run, "a command is another tool")
	made := toolset.Configure(read, map[string]config.Tool{"fs_read_file": {Run: "ask", Result: "ask", Timeout: time.Second, Exclusive: true}}).Definition()
	require.Equal(t, tool.RunMode("ask"), made.Run)
	require.Equal(t, tool.RunMode("ask"), made.Result)
	require.Equal(t, time.Second, made.Timeout)
	require.True(t, made.Exclusive)
	require.Equal(t, was.Idempotent, made.Idempotent)
	require.Equal(t, was.Run, read.Definition().Run, "the tool itself stays")
	plain := toolset.Configure(read, map[string]config.Tool{"fs_read_file": {}}).Definition()
	require.Equal(t, []any{was.Run, was.Result, was.Timeout, was.Exclusive, was.Idempotent}, []any{plain.Run, plain.Result, plain.Timeout, plain.Exclusive, plain.Idempotent})
	timed := toolset.Configure(shell, map[string]config.Tool{"shell_run": {Timeout: time.Hour}}).Definition()
	require.Equal(t, shell.Definition().Timeout, timed.Timeout, "shell_run ends its commands itself")

	answered := toolset.Configure(read, map[string]config.Tool{"fs_read_file": {Questions: map[string]config.Question{
		"mine": {Answer: true}, "person": {Exclusive: true}, "model": {Target: "assistant"},
	}}}).Definition()
	require.Equal(t, json.RawMessage("true"), answered.Questions["mine"].Answer)
	require.True(t, answered.Questions["person"].Exclusive)
	require.Nil(t, answered.Questions["person"].Answer)
	require.True(t, answered.Questions["model"].Assistant)
	again := toolset.Configure(toolset.Configure(read, map[string]config.Tool{"fs_read_file": {Questions: map[string]config.Question{"q": {Exclusive: true}}}}),
		map[string]config.Tool{"fs_read_file": {Questions: map[string]config.Question{"q": {}}}}).Definition()
	require.True(t, again.Questions["q"].Exclusive, "a person's question stays one")
}

// TestEnabled varies which tools the configuration has on.
func TestEnabled(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, row := range []struct {
		name   string
		tables map[string]config.Tool
		want   bool
	}{
		{name: "fs_read_file", want: true},
		{name: "fs_read_file", tables: map[string]config.Tool{"fs_read_file": {Enable: &no}}},
		{name: "conversation_read"},
		{name: "conversation_read", tables: map[string]config.Tool{"recall": {Enable: &yes}}, want: true},
		{name: "conversation_read", tables: map[string]config.Tool{"recall": {Enable: &yes}, "conversation_read": {Enable: &no}}},
		{name: "conversation_read", tables: map[string]config.Tool{"conversation_read": {Enable: &yes}}, want: true},
		{name: "update_state"},
	} {
		require.Equal(t, row.want, toolset.Enabled(row.name, row.tables), "%+v", row)
	}
	require.Equal(t, []string{"a", "conversation_list"}, toolset.SpelledOut([]string{"a", "conversation_list"}))
	require.Greater(t, len(toolset.SpelledOut([]string{"recall"})), 2)
}

// TestTimes varies how long tools may run.
func TestTimes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 2 * time.Minute, "[limits]\ntool_timeout = \"0s\"\n": -1, "[limits]\ntool_timeout = \"7s\"\n": 7 * time.Second} {
		s := front.New(t)
		s.Configure(text)
		r := s.Open()
		if text == "" {
			want = r.Config.Limits.ToolTimeout
		}
		require.Equal(t, want, toolset.ToolTime(r))
		require.NoError(t, r.Close())
	}
}

// TestBuffered varies the editor's text of a file. A file with unsaved changes stays as it is.
func TestBuffered(t *testing.T) {
	t.Parallel()
	s := front.New(t)
	s.Write("text", "saved\n")
	s.Write("latin", "Gr\xfcn\n")
	require.NoError(t, os.Mkdir(filepath.Join(s.Dir, "folder"), 0o700))
	asked := map[string]bool{}
	editor := func(text string, known bool) toolset.BufferReader {
		return func(_ context.Context, path string) (string, bool) {
			asked[path] = true
			return text, known
		}
	}
	read, create := builtin(t, s, "fs_read_file"), builtin(t, s, "fs_create_file")
	require.Equal(t, builtin(t, s, "fs_list_files").Definition().Name, toolset.Buffered(builtin(t, s, "fs_list_files"), s.Dir, editor("x", true)).Definition().Name)
	for _, row := range []struct {
		name, path, buffer string
		known, differs     bool
	}{
		{name: "the same", path: "text", buffer: "saved\n", known: true},
		{name: "other line ends", path: "text", buffer: "\ufeffsaved\r\n\r\n", known: true},
		{name: "not open", path: "text", buffer: "unsaved", known: false},
		{name: "not saved", path: "text", buffer: "unsaved\n", known: true, differs: true},
		{name: "new", path: "new", buffer: "unsaved\n", known: true, differs: true},
		{name: "no text", path: "latin", buffer: "unsaved\n", known: true},
		{name: "git's own", path: ".git/config", buffer: "unsaved\n", known: true},
		{name: "outside", path: "../other", buffer: "unsaved\n", known: true},
	} {
		arguments, err := json.Marshal(map[string]string{"path": row.path})
		require.NoError(t, err)
		result, err := toolset.Buffered(read, s.Dir, editor(row.buffer, row.known)).Run(t.Context(), tool.Call{Arguments: arguments})
		require.NoError(t, err)
		require.Equal(t, row.differs && !result.IsError, strings.Contains(string(result.Content), "that are not saved"), row.name)
		if row.path != "text" && row.path != "new" {
			continue
		}
		arguments, err = json.Marshal(map[string]string{"path": row.path, "content": "written\n"})
		require.NoError(t, err)
		result, err = toolset.Buffered(create, s.Dir, editor(row.buffer, row.known)).Run(t.Context(), tool.Call{Arguments: arguments})
		require.NoError(t, err)
		require.Equal(t, row.differs, strings.Contains(string(result.Content), "so nothing was changed"), row.name)
	}
	require.Equal(t, map[string]bool{"text": true, "new": true}, asked, "the editor is asked about texts of the working tree")
}

// TestUnavailable names the missing offers of a server.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	is := &mcp.ToolInfo{Name: "x"}
	for _, row := range []struct {
		name          string
		state         mcp.State
		words         string
		whole, offers bool
	}{
		{name: "never approved", words: "its tools are not approved, and are left out"},
		{name: "approved", state: mcp.State{Approved: true}, whole: true, offers: true},
		{name: "a new tool", state: mcp.State{Approved: true, Changes: []mcp.Change{{Is: is}}}, words: "these tools are not as you approved them: x, and are left out"},
		{name: "a tool that is gone", state: mcp.State{Approved: true, Changes: []mcp.Change{{Was: is}}}, whole: true, offers: true},
		{name: "changed files", state: mcp.State{Approved: true, Files: []mcp.FileChange{{Name: "a", What: "changed"}, {Name: "b", What: "gone"}, {Name: "c", What: "new"}}}, words: "a changed, b went away, c appeared since you approved its tools. They are left out", offers: true},
	} {
		require.Equal(t, row.whole, toolset.ApprovedWhole(row.state), row.name)
		require.Equal(t, row.offers, toolset.ApprovedOffers(row.state), row.name)
		if row.words != "" {
			require.Contains(t, toolset.Unavailable("fake", row.state), "The MCP server fake: "+row.words, row.name)
		}
	}
}
