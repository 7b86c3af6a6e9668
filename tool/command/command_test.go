package command_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/tool"
	"jp/tool/command"
)

// script is a tool that is a shell script, in a workspace of its own.
func script(t *testing.T, text string) command.Spec {
	t.Helper()
	return command.Spec{Name: "count", Command: []string{"sh", "-c", text}}
}

// workspace is a folder without symbolic links.
func workspace(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return root
}

func made(t *testing.T, root string, spec command.Spec, opts command.Options) tool.Tool {
	t.Helper()
	made, err := command.New(root, spec, opts)
	require.NoError(t, err)
	_, err = tool.NewRegistry(made)
	require.NoError(t, err)
	return made
}

func run(t *testing.T, spec command.Spec) tool.Result {
	t.Helper()
	result, err := made(t, workspace(t), spec, command.Options{}).Run(t.Context(), tool.Call{Arguments: json.RawMessage(`{}`)})
	require.NoError(t, err)
	return result
}

func TestOutcomes(t *testing.T) {
	for name, tc := range map[string]struct {
		script, content string
		isError         bool
		effect          string
	}{
		"plain text":                    {`echo a; echo b >&2; echo c`, "a\nc\n", false, ""},
		"any bytes":                     {`printf '\000\377{'`, "\x00\xff{", false, ""},
		"nothing":                       {`:`, "", false, ""},
		"a success":                     {`echo '{"type":"success","content":"four"}'`, "four", false, ""},
		"a success, among blanks":       {`printf '\n\n {"type":"success",\n"content":"four"}\n\n'`, "four", false, ""},
		"content that is no text":       {`echo '{"type":"success","content":{"a": [1]}}'`, `{"a": [1]}`, false, ""},
		"content with any character":    {`echo '{"type":"success","content":"\u0000\ud800é"}'`, "\x00\ufffdé", false, ""},
		"bytes that are no text":        {`printf '{"type":"success","content":"\377"}'`, "\ufffd", false, ""},
		"an error":                      {`echo '{"type":"error","message":"no such file"}'`, "no such file", true, ""},
		"an error with its exit":        {`echo '{"type":"error","message":"no such file"}'; exit 4`, "no such file", true, ""},
		"an error that may pass":        {`echo '{"type":"error","message":"busy","transient":true}'`, "busy\n[The tool says that this may pass: the same call can be tried again.]\n", true, ""},
		"transient that is no boolean":  {`echo '{"type":"error","message":"busy","transient":"yes"}'`, "busy", true, ""},
		"an exit":                       {`echo a; exit 3`, "a\nexit status 3\n", true, "exit 3, 1 line"},
		"an exit with a complaint":      {`printf a; echo b >&2; exit 3`, "Standard output:\na\nStandard error:\nb\nexit status 3\n", true, "exit 3, 2 lines"},
		"a complaint alone":             {`echo b >&2; exit 3`, "b\nexit status 3\n", true, "exit 3, 1 line"},
		"a success that ends badly":     {`echo '{"type":"success","content":"four"}'; exit 1`, "{\"type\":\"success\",\"content\":\"four\"}\nexit status 1\n", true, "exit 1, 1 line"},
		"a signal":                      {`kill -9 $$`, "ended by SIGKILL\n", true, "ended by SIGKILL, 0 lines"},
		"JSON of its own":               {`echo '{"type":"feature","content":1}'`, "{\"type\":\"feature\",\"content\":1}\n", false, ""},
		"JSON that is no answer":        {`echo '{"type":"success","value":1}'`, "{\"type\":\"success\",\"value\":1}\n", false, ""},
		"JSON that is no error":         {`echo '{"type":"error","code":1}'`, "{\"type\":\"error\",\"code\":1}\n", false, ""},
		"JSON without a type":           {`echo '{"content":"x"}'`, "{\"content\":\"x\"}\n", false, ""},
		"a list":                        {`echo '[{"type":"success","content":"x"}]'`, "[{\"type\":\"success\",\"content\":\"x\"}]\n", false, ""},
		"two answers":                   {`echo '{"type":"success","content":"x"} {}'`, "{\"type\":\"success\",\"content\":\"x\"} {}\n", false, ""},
		"half an answer":                {`echo '{"type":"success","content":"x'`, "{\"type\":\"success\",\"content\":\"x\n", false, ""},
		"text behind an answer":         {`echo '{"type":"success","content":"x"}done'`, "{\"type\":\"success\",\"content\":\"x\"}done\n", false, ""},
		"a message that says nothing":   {`printf '{"type":"error","message":" "}'`, "The tool's answer cannot be used: its message is not a text.\nIt said:\n{\"type\":\"error\",\"message\":\" \"}", true, "error: its message is not a text"},
		"an empty success":              {`echo '{"type":"success","content":""}'`, "", false, ""},
		"a message that is no text":     {`echo '{"type":"error","message":{"code":7}}'`, `{"code":7}`, true, ""},
		"a success that is no text yet": {`echo '{"type":"success","content":null}'`, "null", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			result := run(t, script(t, tc.script))
			require.Equal(t, tc.content, string(result.Content))
			require.Equal(t, tc.isError, result.IsError)
			require.Equal(t, tc.effect, result.Effect)
			require.Nil(t, result.Question)
			require.Nil(t, result.WrittenFiles, "what a program wrote is not known")
		})
	}
}

// TestWhatAProgramSaysIsSeen checks the output shown while a program runs: text and complaints are shown, and
// an answer, which is data, stays hidden.
func TestWhatAProgramSaysIsSeen(t *testing.T) {
	for name, tc := range map[string]struct{ script, seen string }{
		"text":            {`echo a; echo b; echo c`, "a\nb\nc\n"},
		"text in pieces":  {`printf '\n \n'; sleep 0.01; printf a; sleep 0.01; printf 'b\n'`, "\n \nab\n"},
		"an answer":       {`printf '\n{"type":"success",'; sleep 0.01; echo '"content":"four"}'`, ""},
		"a complaint":     {`echo b >&2; echo '{"type":"success","content":"four"}'`, "b\n"},
		"blanks, a lot":   {`printf '%600s'; echo '{'`, strings.Repeat(" ", 600) + "{\n"},
		"a list":          {`echo '[1]'`, "[1]\n"},
		"text that fails": {`echo a; exit 3`, "a\n"},
		"nothing":         {`:`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var seen strings.Builder
			_, err := made(t, workspace(t), script(t, tc.script), command.Options{}).Run(t.Context(), tool.Call{Arguments: json.RawMessage(`{}`), Output: &seen})
			require.NoError(t, err)
			require.Equal(t, tc.seen, seen.String())
		})
	}
}

func TestTheCallComesAsJSON(t *testing.T) {
	root := workspace(t)
	spec := script(t, `cat; pwd; echo "$PWD $JP_TOOL $JP_SESSION$A_API_KEY$TOKEN"`)
	spec.Parameters = map[string]command.Parameter{"path": {Type: "string", Required: true}, "times": {Type: "integer", Default: int64(3)}}
	counting := made(t, root, spec, command.Options{
		Environ: []string{"PATH=" + os.Getenv("PATH"), "JP_SESSION=s", "A_API_KEY=k", "TOKEN=t"}, Secret: []string{"TOKEN"},
	})
	arguments, err := tool.Check(counting.Definition(), json.RawMessage(`{"path":"<a>; id \u0000 $(id)"}`))
	require.NoError(t, err)
	result, err := counting.Run(t.Context(), tool.Call{
		Conversation: "jp-c1", Seq: 7, Arguments: arguments, Attempt: 2, Answers: map[string]json.RawMessage{"sure": json.RawMessage(`true`)},
	})
	require.NoError(t, err)
	require.Equal(t, `{"tool":"count","arguments":{"path":"<a>; id \u0000 $(id)","times":3},"answers":{"sure":true},"attempt":2,`+
		`"context":{"conversation":"jp-c1","seq":7,"workspace":"`+root+"\"}}\n"+root+"\n"+root+" count \n", string(result.Content))

	result, err = counting.Run(t.Context(), tool.Call{Arguments: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.Contains(t, string(result.Content), `"answers":{},`, "an object, also where nothing was answered")
}

func TestWhichProgramRuns(t *testing.T) {
	root := workspace(t)
	require.NoError(t, os.Mkdir(filepath.Join(root, "bin"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "bin", "mine"), []byte("#!/bin/sh\necho \"mine $1\"\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "text"), []byte("text"), 0o644))
	for name, tc := range map[string]struct {
		command []string
		want    string
	}{
		"in PATH":               {[]string{"echo", "$HOME; id"}, "$HOME; id\n"},
		"in the workspace":      {[]string{"bin/mine", "a b"}, "mine a b\n"},
		"absolute":              {[]string{filepath.Join(root, "bin", "mine"), ""}, "mine \n"},
		"nowhere":               {[]string{"no-such-program-here"}, "no such program: "},
		"nowhere here":          {[]string{"bin/other"}, "no such program: "},
		"not without its place": {[]string{"mine"}, "no such program: "},
		"no program":            {[]string{"./text"}, "not a program that can be run: "},
	} {
		t.Run(name, func(t *testing.T) {
			spec := command.Spec{Name: "count", Command: tc.command}
			result, err := made(t, root, spec, command.Options{}).Run(t.Context(), tool.Call{Arguments: json.RawMessage(`{}`)})
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(string(result.Content), tc.want), "%s", result.Content)
			require.Equal(t, strings.HasSuffix(tc.want, ": "), result.IsError)
		})
	}
	for _, argv := range [][]string{nil, {""}} {
		_, err := command.New(root, command.Spec{Name: "count", Command: argv}, command.Options{})
		require.ErrorIs(t, err, command.ErrNoProgram)
		require.ErrorContains(t, err, "count")
	}
}

func TestTime(t *testing.T) {
	root := workspace(t)
	spec := script(t, `echo '{"type":"success","content":"early"}'; exec sleep 600`)
	for name, limits := range map[string][2]time.Duration{"the tool's": {20 * time.Millisecond, time.Hour}, "everybody's": {0, 20 * time.Millisecond}} {
		t.Run(name, func(t *testing.T) {
			spec.Timeout = limits[0]
			slow := made(t, root, spec, command.Options{Timeout: limits[1], Grace: time.Millisecond})
			require.True(t, slow.Definition().Timed)
			require.Equal(t, 20*time.Millisecond, slow.Definition().Timeout)
			result, err := slow.Run(t.Context(), tool.Call{Arguments: json.RawMessage(`{}`)})
			require.NoError(t, err)
			require.True(t, result.IsError, "what it said before does not count")
			require.Contains(t, string(result.Content), "[timed out after 20ms; its process group was ended]\n")
		})
	}
	for want, opts := range map[time.Duration]time.Duration{10 * time.Minute: 0, 0: -1} {
		require.Equal(t, want, made(t, root, command.Spec{Name: "x", Command: []string{"true"}}, command.Options{Timeout: opts}).Definition().Timeout)
	}
}

func TestCancel(t *testing.T) {
	root := workspace(t)
	up := filepath.Join(root, "up")
	require.NoError(t, syscall.Mkfifo(up, 0o600))
	waiting := made(t, root, script(t, `echo a; echo >up; exec sleep 600`), command.Options{Grace: time.Millisecond})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if f, err := os.Open(up); err == nil {
			_, _ = f.Read(make([]byte, 1))
			_ = f.Close()
		}
		cancel()
	}()
	result, err := waiting.Run(ctx, tool.Call{Arguments: json.RawMessage(`{}`)})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "a\n[cancelled; its process group was ended]\n", string(result.Content))

	_, err = made(t, root, script(t, "touch made"), command.Options{}).Run(ctx, tool.Call{Arguments: json.RawMessage(`{}`)})
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, filepath.Join(root, "made"))
}

func TestLaunch(t *testing.T) {
	launch := func(argv []string, dir string) (command.Launch, error) {
		return command.Launch{Argv: append([]string{"echo", dir}, argv...)}, nil
	}
	root := workspace(t)
	result, err := made(t, root, command.Spec{Name: "count", Command: []string{"wc", "-w"}}, command.Options{Launch: launch}).
		Run(t.Context(), tool.Call{Arguments: json.RawMessage(`{}`)})
	require.NoError(t, err)
	require.Equal(t, root+" wc -w\n", string(result.Content))
}

func TestLargeOutput(t *testing.T) {
	for name, tc := range map[string]struct {
		script  string
		size    int64
		isError bool
	}{
		"text":                      {`yes | head -c 50000000`, 50_000_000, false},
		"an answer without an end":  {`printf '{"type":"success","content":"'; yes | tr -d '\n' | head -c 50000000`, 50_000_029, false},
		"blanks":                    {`yes '' | head -c 50000000`, 50_000_000, false},
		"text that ends badly":      {`yes | head -c 50000000; exit 1`, 50_000_000, true},
		"complaints that end badly": {`yes | head -c 50000000; yes | head -c 50000000 >&2; exit 1`, 50_000_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			result := run(t, script(t, tc.script))
			require.Equal(t, tc.isError, result.IsError)
			require.Equal(t, tc.size, result.Truncated.Bytes)
			require.LessOrEqual(t, len(result.Content), tool.Limit)
		})
	}
	result := run(t, script(t, `printf '{"type":"success","content":"'; yes | tr -d '\n' | head -c 20000000; echo '"}'`))
	require.Len(t, result.Content, 20_000_000, "an answer is cut by whoever keeps it")
}
