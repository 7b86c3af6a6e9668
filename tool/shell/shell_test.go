package shell_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/tool"
	"jp/tool/shell"
)

type fixture struct {
	root string
	tool tool.Tool
}

func newFixture(t *testing.T, opts shell.Options) *fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	tools, err := shell.Tools(root, opts)
	require.NoError(t, err)
	require.Len(t, tools, 1)
	return &fixture{root: root, tool: tools[0]}
}

type arguments map[string]any

func sh(script string) arguments { return arguments{"argv": []string{"sh", "-c", script}} }

// start runs the tool with all that a call can have.
func (f *fixture) start(t require.TestingT, ctx context.Context, args arguments, call tool.Call) (tool.Result, error) {
	raw, err := json.Marshal(args)
	require.NoError(t, err)
	call.Arguments, err = tool.Check(f.tool.Definition(), raw)
	require.NoError(t, err)
	return f.tool.Run(ctx, call)
}

func (f *fixture) run(t require.TestingT, args arguments) tool.Result {
	result, err := f.start(t, context.Background(), args, tool.Call{})
	require.NoError(t, err)
	return result
}

func TestEndings(t *testing.T) {
	f := newFixture(t, shell.Options{})
	require.NoError(t, os.WriteFile(filepath.Join(f.root, "text"), []byte("x"), 0o644))
	for name, tc := range map[string]struct {
		args            arguments
		content, effect string
		isError         bool
	}{
		"well":              {sh("echo a; echo b"), "a\nb\n", "exit 0, 2 lines", false},
		"silent":            {arguments{"argv": []string{"true"}}, "", "exit 0, 0 lines", false},
		"badly":             {sh("echo a; exit 3"), "a\nexit status 3\n", "exit 3, 1 line", true},
		"badly, no newline": {sh("printf a; exit 1"), "a\nexit status 1\n", "exit 1, 1 line", true},
		"badly, silent":     {sh("exit 1"), "exit status 1\n", "exit 1, 0 lines", true},
		"by a signal":       {sh("kill -9 $$"), "ended by SIGKILL\n", "ended by SIGKILL, 0 lines", true},
		"in order":          {sh("echo a; echo b >&2; echo c"), "a\nb\nc\n", "exit 0, 3 lines", false},
		"any bytes":         {sh(`printf '\000\377\n'`), "\x00\xff\n", "exit 0, 1 line", false},
		"stdin":             {arguments{"argv": []string{"cat"}, "stdin": "in\n"}, "in\n", "exit 0, 1 line", false},
		"no stdin":          {arguments{"argv": []string{"cat"}}, "", "exit 0, 0 lines", false},
		"unread stdin":      {arguments{"argv": []string{"true"}, "stdin": strings.Repeat("x", 1<<20)}, "", "exit 0, 0 lines", false},
	} {
		t.Run(name, func(t *testing.T) {
			result := f.run(t, tc.args)
			require.Equal(t, tc.content, string(result.Content))
			require.Equal(t, tc.effect, result.Effect)
			require.Equal(t, tc.isError, result.IsError)
			require.Nil(t, result.WrittenFiles, "what a program wrote is not known")
		})
	}
}

func TestNotStarted(t *testing.T) {
	f := newFixture(t, shell.Options{})
	require.NoError(t, os.WriteFile(filepath.Join(f.root, "text"), []byte("x"), 0o644))
	require.NoError(t, os.Symlink(os.TempDir(), filepath.Join(f.root, "out")))
	for want, args := range map[string]arguments{
		"no such program":                      {"argv": []string{"no-such-program-here"}},
		"not a program that can be run":        {"argv": []string{"./text"}},
		"argv names no program":                {"argv": []string{""}},
		"NUL byte":                             {"argv": []string{"echo", "a\x00b"}},
		"cwd .. is outside the workspace":      {"argv": []string{"pwd"}, "cwd": ".."},
		"cwd out is outside the workspace":     {"argv": []string{"pwd"}, "cwd": "out"},
		"cwd / is outside the workspace":       {"argv": []string{"pwd"}, "cwd": "/"},
		"cwd none: no such folder":             {"argv": []string{"pwd"}, "cwd": "none"},
		"cwd text is not a folder":             {"argv": []string{"pwd"}, "cwd": "text"},
		"no such program: fork/exec ./missing": {"argv": []string{"./missing"}},
	} {
		result := f.run(t, args)
		require.True(t, result.IsError)
		require.Contains(t, string(result.Content), want)
		require.True(t, strings.HasPrefix(result.Effect, "error: "))
		require.NotNil(t, result.WrittenFiles)
	}
}

func TestFolder(t *testing.T) {
	f := newFixture(t, shell.Options{})
	require.NoError(t, os.Mkdir(filepath.Join(f.root, "sub"), 0o755))
	for _, cwd := range []string{"sub", "./sub/../sub", filepath.Join(f.root, "sub")} {
		result := f.run(t, arguments{"argv": []string{"sh", "-c", `pwd; echo "$PWD"`}, "cwd": cwd})
		want := filepath.Join(f.root, "sub") + "\n"
		require.Equal(t, want+want, string(result.Content))
	}
	require.Equal(t, f.root+"\n", string(f.run(t, arguments{"argv": []string{"pwd"}}).Content))
}

func TestArgumentsStayWhatTheyAre(t *testing.T) {
	f := newFixture(t, shell.Options{})
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(
			rapid.SampledFrom([]string{"a b", `"`, `'`, "$HOME", "`id`", "$(id)", "; id", "&& id", "|", "> f", "*", "~", "\n", "-n", "\\", "{a,b}", ""}),
			rapid.StringMatching(`[^\x00]*`),
		).Draw(t, "word")
		result := f.run(t, arguments{"argv": []string{"sh", "-c", `printf %s/%s "$#" "$1"`, "sh", word}})
		require.Equal(t, "1/"+word, string(result.Content))
	})
}

func TestEnvironment(t *testing.T) {
	f := newFixture(t, shell.Options{
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=/home/ada", "JP_SESSION=x", "ANTHROPIC_API_KEY=k", "my_api_key=k",
			"GIT_DIR=/elsewhere", "TOKEN=t", "TOKENS=kept", "MULTI=a=b"},
		Secret: []string{"TOKEN"},
	})
	text := string(f.run(t, arguments{"argv": []string{"env"}}).Content)
	for _, want := range []string{"HOME=/home/ada\n", "TOKENS=kept\n", "MULTI=a=b\n", "PWD=" + f.root + "\n", "JP_TOOL=shell_run\n"} {
		require.Contains(t, text, want)
	}
	for _, name := range []string{"JP_SESSION", "API_KEY", "api_key", "GIT_DIR", "TOKEN="} {
		require.NotContains(t, text, name)
	}
}

func TestLargeOutput(t *testing.T) {
	const size = 200_000_000
	f := newFixture(t, shell.Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	result := f.run(t, sh("yes | head -c 200000000; exit 2"))
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(96<<20))
	require.Equal(t, int64(size), result.Truncated.Bytes)
	require.Equal(t, "exit 2, 100000000 lines", result.Effect)
	require.LessOrEqual(t, len(result.Content), tool.Limit)
	require.Contains(t, string(result.Content), "[jp left out 191")
	require.True(t, strings.HasSuffix(string(result.Content), "y\ny\nexit status 2\n"))
	again, cut := tool.Truncate(result.Content, tool.Limit)
	require.Nil(t, cut)
	require.Equal(t, result.Content, again)
}

func TestSubject(t *testing.T) {
	f := newFixture(t, shell.Options{})
	subject := f.tool.Definition().Subject
	for want, args := range map[string]arguments{
		"go test ./...":                       {"argv": []string{"go", "test", "./..."}},
		`git commit -m 'it'\''s done' ''`:     {"argv": []string{"git", "commit", "-m", "it's done", ""}},
		`sh -c 'rm -rf *; $(id)'`:             {"argv": []string{"sh", "-c", "rm -rf *; $(id)"}},
		`echo $'a\nb\x1b[31m' $'\u202eevil'`:  {"argv": []string{"echo", "a\nb\x1b[31m", "\u202eevil"}},
		"make (in 'my dir')":                  {"argv": []string{"make"}, "cwd": "my dir"},
		"make (in sub)":                       {"argv": []string{"make"}, "cwd": "sub", "timeout_s": 3},
		`echo $'it\'s \\ \t' $'\U000e0041' é`: {"argv": []string{"echo", "it's \\ \t", "\U000e0041", "é"}},
	} {
		raw, err := json.Marshal(args)
		require.NoError(t, err)
		require.Equal(t, want, subject(raw))
	}
	raw, err := json.Marshal(arguments{"argv": []string{strings.Repeat("x", 5000)}})
	require.NoError(t, err)
	require.Len(t, []rune(subject(raw)), 200)
	require.Equal(t, tool.Ask, f.tool.Definition().Run)
	require.Equal(t, tool.Changes, f.tool.Definition().Effect)
}

func TestNote(t *testing.T) {
	f := newFixture(t, shell.Options{Note: "[a note]", Timeout: 100 * time.Millisecond, Grace: 50 * time.Millisecond})
	for script, want := range map[string]string{
		"echo a":         "a\n",
		"echo a; exit 3": "a\nexit status 3\n[a note]\n",
		"kill -9 $$":     "ended by SIGKILL\n",
		"sleep 600":      "[timed out after 100ms; its process group was ended]\n",
	} {
		require.Equal(t, want, string(f.run(t, sh(script)).Content))
	}
	require.NotContains(t, string(f.run(t, arguments{"argv": []string{"no-such-program-here"}}).Content), "note")
}
