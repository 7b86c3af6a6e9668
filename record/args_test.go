package record

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeCodex answers as codex app-server does. It trusts all hooks, and notes that it was asked.
const fakeCodex = `#!/bin/sh
echo asked >>"$0.asked"
[ -e "$0.broken" ] && { echo 'Error: bad config' >&2; exit 1; }
printf '%s\n' '{"method":"remoteControl/status/changed","params":{}}' '{"id":1,"result":{}}' '{"id":2,"result":{"data":[{"hooks":[HOOKS]}]}}'
cat >/dev/null
`

// launch starts a program that the test wrote.
func launch(t *testing.T, program string, args ...string) Launch {
	dir := t.TempDir()
	path := filepath.Join(dir, "codex")
	writeProgram(t, path, program)
	return Launch{
		Program: path, Args: args, Environ: os.Environ(), Getenv: func(string) string { return "" }, Own: "/usr/bin/jp", Folder: dir, State: filepath.Join(dir, "state"), Run: "R1",
	}
}

// writeProgram writes a program while no other test starts one: a child that had the file open would keep it from running.
func writeProgram(t *testing.T, path, program string) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	require.NoError(t, os.WriteFile(path, []byte(program), 0o700))
}

// TestCodexArgs varies the user's settings beside those of jp.
func TestCodexArgs(t *testing.T) {
	t.Parallel()
	command := hookCommand("/usr/bin/jp", `"$JP_RECORD_FOLDER"`, "codex", `"$JP_RECORD_RUN"`)("PreToolUse")
	require.Equal(t, `'/usr/bin/jp' '-C' "$JP_RECORD_FOLDER" 'record' 'hook' '--agent' 'codex' '--run' "$JP_RECORD_RUN" 'PreToolUse' >/dev/null 2>&1 || true`, command)
	text, err := json.Marshal(command)
	require.NoError(t, err)
	ours := `{matcher="*",hooks=[{type="command",command=` + string(text) + `,timeout=3}]}`
	hooks := `{"key":"mine","source":"sessionFlags","command":"mine","currentHash":"m"},{"key":"user","source":"user","command":` + string(text) + `,"currentHash":"u"},` +
		`{"key":"k:0:0","source":"sessionFlags","command":` + string(text) + `,"currentHash":"sha256:x"}`
	program := strings.Replace(fakeCodex, "HOOKS", strings.ReplaceAll(hooks, "'", `'\''`), 1)
	const trust = `"k:0:0"={trusted_hash="sha256:x"}`
	for _, row := range []struct {
		args             string // words, separated by spaces
		pre, state, rest string
		wrong            string
	}{
		{args: "", pre: "[" + ours + "]", state: "{" + trust + "}"},
		{args: "exec -m x Go", pre: "[" + ours + "]", state: "{" + trust + "}", rest: "exec -m x Go"},
		{args: "exec -c hooks.PreToolUse=[{hooks=[]}] Go", pre: "[{hooks=[]}," + ours + "]", state: "{" + trust + "}", rest: "exec Go"},
		{args: "--config hooks.PreToolUse=[] -chooks.state={a={trusted_hash=\"h\"}} Go", pre: "[" + ours + "]", state: `{a={trusted_hash="h"},` + trust + "}", rest: "Go"},
		{args: "--config=hooks.PreToolUse=[{a=1},] -c hooks.PreCompact=[] -c model=m", pre: "[{a=1}," + ours + "]", state: "{" + trust + "}", rest: "-c hooks.PreCompact=[] -c model=m"},
		{args: "-c hooks.PreToolUse=[{a=1}] -c hooks.PreToolUse=[{a=2}]", pre: "[{a=2}," + ours + "]", state: "{" + trust + "}"},
		{args: "-- -c hooks={}", pre: "[" + ours + "]", state: "{" + trust + "}", rest: "-- -c hooks={}"},
		{args: "-c hooks={PreToolUse=[]}", wrong: "cannot add the hooks of jp to -c hooks "},
		{args: `-c hooks.state."k".trusted_hash="h"`, wrong: `cannot add the hooks of jp to -c hooks.state."k".trusted_hash `},
		{args: "-c hooks.PreToolUse=all", wrong: "cannot add the hooks of jp to -c hooks.PreToolUse "},
		{args: "-c hooks.PreToolUse=[{a=}]", wrong: "cannot add the hooks of jp to -c hooks.PreToolUse "},
		{args: "-c hooks.state=[]", wrong: "cannot add the trust in the hooks of jp to -c hooks.state "},
		{args: "login --with-api-key", rest: "login --with-api-key"},
		{args: "-m x mcp list", rest: "-m x mcp list"},
		{args: "--version", rest: "--version"},
	} {
		t.Run(row.args, func(t *testing.T) {
			t.Parallel()
			l := launch(t, program, strings.Fields(row.args)...)
			all, environ, err := codexArgs(t.Context(), l)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				return
			}
			require.NoError(t, err)
			if row.pre == "" {
				require.Equal(t, strings.Fields(row.rest), all)
				require.Empty(t, environ)
				return
			}
			require.Equal(t, []string{"JP_RECORD_FOLDER=" + l.Folder}, environ)
			require.Equal(t, []string{"-c", "hooks.PreToolUse=" + row.pre}, all[:2])
			at := 2 * len(codexEvents)
			require.Equal(t, []string{"-c", "hooks.state=" + row.state}, all[at:at+2])
			require.Equal(t, strings.Fields(row.rest), append([]string{}, all[at+2:]...))
		})
	}
}

// TestCodexTrust keeps the answer for one program and one text of the hooks.
func TestCodexTrust(t *testing.T) {
	t.Parallel()
	l := launch(t, strings.Replace(fakeCodex, "HOOKS", "", 1))
	asked := func() int {
		text, _ := os.ReadFile(l.Program + ".asked")
		return strings.Count(string(text), "asked")
	}
	for _, want := range []int{1, 1} {
		_, _, err := codexArgs(t.Context(), l)
		require.NoError(t, err)
		require.Equal(t, want, asked())
	}
	l.Run, l.Folder = "R2", t.TempDir()
	_, _, err := codexArgs(t.Context(), l)
	require.NoError(t, err)
	require.Equal(t, 1, asked(), "the text is the same")
	writeProgram(t, l.Program, strings.Replace(fakeCodex, "HOOKS", "", 1)+"# 2\n")
	_, _, err = codexArgs(t.Context(), l)
	require.NoError(t, err)
	require.Equal(t, 2, asked())
	require.NoError(t, os.Remove(trustFile(l.State)))
	require.NoError(t, os.WriteFile(l.Program+".broken", nil, 0o600))
	_, _, err = codexArgs(t.Context(), l)
	require.ErrorContains(t, err, "cannot ask codex which hooks it trusts: ")
	require.ErrorContains(t, err, "Error: bad config")
	require.NoFileExists(t, trustFile(l.State))
}

// TestOpencodeArgs varies the user's settings in the environment.
func TestOpencodeArgs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ given, want, wrong string }{
		{given: "", want: `{"plugin":[OURS]}`},
		{given: `{"model":"a/b","plugin":["x",["y",{"n":12345678901234567890}]]}`, want: `{"model":"a/b","plugin":["x",["y",{"n":12345678901234567890}],OURS]}`},
		{given: "// mine\n{\"a\": \"//no, /* */ }\\\"\", /* b */ \"plugin\": [\"x\",\n], // end\n}", want: `{"a":"//no, /* */ }\"","plugin":["x",OURS]}`},
		{given: `{"a":[1,,2]}`, wrong: "cannot read the variable OPENCODE_CONFIG_CONTENT"},
		{given: `{"a":1 /* b`, wrong: "cannot read the variable OPENCODE_CONFIG_CONTENT"},
		{given: `["x"]`, wrong: "cannot read the variable OPENCODE_CONFIG_CONTENT"},
		{given: `{"plugin":"x"}`, wrong: "are no list"},
	} {
		l := launch(t, "", "run", "Go")
		l.Getenv = func(name string) string { return map[string]string{"OPENCODE_CONFIG_CONTENT": row.given}[name] }
		all, environ, err := opencodeArgs(t.Context(), l)
		if row.wrong != "" {
			require.ErrorContains(t, err, row.wrong)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, []string{"run", "Go"}, all)
		file := filepath.Join(l.State, "recordings", "opencode.js")
		ours := `["file://` + file + `",{"command":["/usr/bin/jp","-C","` + l.Folder + `","record","hook","--agent","opencode","--run","R1"],"seconds":3}]`
		require.Len(t, environ, 1)
		require.JSONEq(t, strings.Replace(row.want, "OURS", ours, 1), strings.TrimPrefix(environ[0], "OPENCODE_CONFIG_CONTENT="))
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
	}
}
