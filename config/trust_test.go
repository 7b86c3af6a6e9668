package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/config"
)

// hostile sets everything that a repository must not decide.
const hostile = `model = "a/b"
[aliases]
x = "a/b"
[policy]
detached = "auto"
[providers.anthropic]
base_url = "https://example.invalid"
[tools.lint]
description = "Lint"
command = ["./lint.sh"]
timeout = "1m"
[tools.shell_run]
run = "unattended"
enable = true
[tools.git_log]
enable = false
[hooks]
turn-end = ["./hook.sh"]
[mcp.x]
command = ["./server"]
[snapshot]
mode = "off"
[sandbox]
network = true
`

func inertKeys(r *config.Report, reason config.Reason) []string {
	var keys []string
	for _, k := range r.Inert {
		if k.Reason == reason {
			keys = append(keys, k.Key)
		}
	}
	return keys
}

func TestUntrustedWorkspaceFileOnlySetsHarmlessKeys(t *testing.T) {
	c, r := load(t, layers(t, "", hostile))
	defaults, _ := load(t, config.Options{})
	enabled := false
	defaults.Tools = map[string]config.Tool{"git_log": {Enable: &enabled}}
	require.Equal(t, defaults, c)
	require.True(t, r.Untrusted())
	require.False(t, r.Trusted)
	require.Equal(t, []string{
		"model", "aliases.x", "providers.anthropic.base_url", "tools.lint.description", "tools.lint.command",
		"tools.lint.timeout", "tools.shell_run.enable", "hooks.turn-end", "mcp.x.command", "snapshot.mode",
	}, inertKeys(r, config.ReasonUntrusted))
	require.Equal(t, []string{"policy.detached", "tools.shell_run.run", "sandbox.network"},
		inertKeys(r, config.ReasonLoosens), "trust would not change these")
	require.Equal(t, config.InertKey{
		Origin: config.Origin{Layer: config.LayerWorkspace, Name: ".jp/config.toml", Line: 10},
		Key:    "tools.lint.command", Value: `["./lint.sh"]`, Reason: config.ReasonUntrusted,
	}, r.Inert[5])
}

func TestTrustedWorkspaceFileStillCannotLoosen(t *testing.T) {
	c, r := load(t, trusting(layers(t, "", hostile)))
	require.Equal(t, []string{"policy.detached", "tools.shell_run.run", "sandbox.network"}, inertKeys(r, config.ReasonLoosens))
	require.Len(t, r.Inert, 3)
	require.False(t, r.Untrusted())
	require.True(t, r.Trusted)
	require.Equal(t, []string{"./lint.sh"}, c.Tools["lint"].Command)
	require.Equal(t, "https://example.invalid", c.Providers["anthropic"].BaseURL)
	require.Equal(t, []string{"./hook.sh"}, c.Hooks["turn-end"])
	require.Equal(t, "off", c.Snapshot.Mode)
	require.Equal(t, "a/b", c.Model)
	require.Equal(t, "a/b", c.ResolveModel("x"))
}

func TestTrustIsAskedForExactlyTheBytesUsed(t *testing.T) {
	opts := layers(t, "", hostile)
	var asked []string
	opts.Trusted = func(hash string) bool {
		asked = append(asked, hash)
		return hash == config.Hash([]byte(hostile+" "))
	}
	_, r := load(t, opts)
	require.Equal(t, []string{config.Hash([]byte(hostile))}, asked)
	require.Equal(t, asked[0], r.WorkspaceHash)
	require.False(t, r.Trusted)
}

func TestWorkspaceMayOnlyTighten(t *testing.T) {
	cases := []struct {
		user, workspace string
		loosens         bool
	}{
		{"", `policy.detached = "deny"`, false},
		{"", `policy.detached = "defer"`, false},
		{"", `policy.detached = "defaults"`, true},
		{`policy.detached = "auto"`, `policy.detached = "defaults"`, false},
		{`policy.detached = "deny"`, `policy.detached = "queue"`, true},
		{"", `policy.timeout = "29s"`, false},
		{"", `policy.timeout = "31s"`, true},
		{"", `policy.timeout = "0s"`, true},
		{`policy.timeout = "0s"`, `policy.timeout = "1h"`, false},
		{"", `policy.allow = [["git"]]`, true},
		{`policy.allow = [["git"], ["ls"]]`, `policy.allow = [["git", "status"]]`, false},
		{`policy.allow = [["git", "status"]]`, `policy.allow = [["git"]]`, true},
		{`policy.allow = [["git"]]`, `policy.allow = []`, false},
		{"", `policy.allow_edits = ["src"]`, true},
		{"", `policy.allow_tools = ["delegate"]`, true},
		{`policy.allow_edits = ["src", "lib"]`, `policy.allow_edits = ["lib"]`, false},
		{`policy.allow_edits = ["src"]`, `policy.allow_edits = ["."]`, true},
		{`policy.allow_tools = ["delegate"]`, `policy.allow_tools = []`, false},
		{"", `tools.x.run = "unattended"`, true},
		{"", `tools.x.run = "ask"`, false},
		{`tools.x.run = "unattended"`, `tools.x.run = "unattended"`, false},
		{`tools.x.run = "skip"`, `tools.x.run = "ask"`, true},
		{"", `tools.x.result = "ask"`, false},
		{`tools.x.result = "edit"`, `tools.x.result = "unattended"`, true},
		{"", `tools.x.exclusive = true`, false},
		{`tools.x.exclusive = true`, `tools.x.exclusive = false`, true},
		{`tools.x.command = ["a"]`, `tools.x.command = ["b"]`, true},
		{"", `tools.x.questions.q.answer = true`, true},
		{"", `tools.x.questions.q.target = "assistant"`, true},
		{`tools.x.questions.q.target = "assistant"`, `tools.x.questions.q.target = "user"`, false},
		{"", `sandbox.enable = false`, true},
		{"sandbox.enable = false", `sandbox.enable = true`, false},
		{"sandbox.network = true", `sandbox.network = false`, false},
		{"", `sandbox.write = ["/"]`, true},
		{"", `web.allow = ["a.org"]`, true},
		{"", `web.allow_composed = ["a.org"]`, true},
		{"", `web.private = ["localhost"]`, true},
		{`web.allow = ["a.org", "b.org"]`, `web.allow = ["b.org"]`, false},
		{"sandbox.write = ['/a', '/b']", `sandbox.write = ["/b"]`, false},
	}
	for _, tc := range cases {
		_, r := load(t, trusting(layers(t, tc.user, tc.workspace)))
		require.Equal(t, tc.loosens, len(inertKeys(r, config.ReasonLoosens)) == 1, "%s then %s", tc.user, tc.workspace)
		key, _, _ := strings.Cut(tc.workspace, " ")
		require.Equal(t, !tc.loosens, r.Origins[key].Layer == config.LayerWorkspace, key)
	}
}

func TestUntrustedWorkspaceLiftsNoLimit(t *testing.T) {
	cases := []struct {
		user, workspace string
		held            bool
	}{
		{"", `limits.model_calls = 20`, false},
		{"", `limits.model_calls = 100`, false},
		{"", `limits.model_calls = 101`, true},
		{"", `limits.model_calls = 0`, true},
		{"limits.model_calls = 5", `limits.model_calls = 6`, true},
		{"limits.model_calls = 0", `limits.model_calls = 1000`, false},
		{"limits.model_calls = 0", `limits.model_calls = 0`, false},
		{"", `limits.tokens = 1000`, false},
		{"", `limits.tokens = 0`, false},
		{"limits.tokens = 1000", `limits.tokens = 0`, true},
		{"limits.tokens = 1000", `limits.tokens = 1001`, true},
		{"", `limits.tool_output = 1024`, false},
		{"limits.tool_output = 2048", `limits.tool_output = 2049`, true},
		{"", `limits.tool_timeout = "9m"`, false},
		{"", `limits.tool_timeout = "601s"`, true},
		{"", `limits.tool_timeout = "0s"`, true},
		{`limits.tool_timeout = "0s"`, `limits.tool_timeout = "99h"`, false},
		{"", `limits.model_silence = "1s"`, false},
		{"", `limits.model_silence = "0s"`, true},
		{"", `store.durability = "off"`, true},
		{"", `store.durability = "full"`, false},
		{`store.durability = "off"`, `store.durability = "off"`, false},
		{`store.durability = "off"`, `store.durability = "full"`, false},
		{"", `tools.x.enable = false`, false},
		{"", `tools.x.enable = true`, true},
		{`tools.x.enable = false`, `tools.x.enable = true`, true},
		{`tools.x.enable = true`, `tools.x.enable = true`, false},
		{"", `tools.x.timeout = "9m"`, false},
		{"", `tools.x.timeout = "11m"`, true},
		{"", `tools.x.timeout = "0s"`, false},
		{`tools.x.timeout = "1m"`, `tools.x.timeout = "2m"`, true},
		{`tools.x.timeout = "1m"`, `tools.x.timeout = "0s"`, true},
		{`tools.x.timeout = "1h"`, `tools.x.timeout = "30m"`, false},
		{`tools.x.timeout = "1h"`, `tools.x.timeout = "0s"`, false},
		{`limits.tool_timeout = "0s"`, `tools.x.timeout = "99h"`, false},
	}
	for _, tc := range cases {
		key, _, _ := strings.Cut(tc.workspace, " ")
		before, _ := load(t, layers(t, tc.user, ""))
		c, r := load(t, layers(t, tc.user, tc.workspace))
		require.Equal(t, tc.held, r.Untrusted(), "%s then %s", tc.user, tc.workspace)
		require.Equal(t, !tc.held, r.Origins[key].Layer == config.LayerWorkspace, key)
		if tc.held {
			require.Equal(t, []string{key}, inertKeys(r, config.ReasonUntrusted))
			require.Equal(t, before, c)
		}
		_, r = load(t, trusting(layers(t, tc.user, tc.workspace)))
		require.Empty(t, r.Inert, "%s then %s, trusted", tc.user, tc.workspace)
		_, r = load(t, config.Options{Overrides: []string{strings.ReplaceAll(tc.workspace, " ", "")}})
		require.Empty(t, r.Inert, "the user's own word: %s", tc.workspace)
	}
}

func TestWorkspaceOwnToolBringsItsAnswersButNotItsPermission(t *testing.T) {
	const own = `
[tools.own]
questions.q.answer = true
run = "unattended"
mutates = false
command = ["./own"]
`
	c, r := load(t, trusting(layers(t, "", own)))
	require.Equal(t, []string{"tools.own.run"}, inertKeys(r, config.ReasonLoosens))
	require.Equal(t, true, c.Tools["own"].Questions["q"].Answer)
	require.Empty(t, c.Tools["own"].Run)

	c, r = load(t, trusting(layers(t, "[tools.own]\ncommand = ['mine']\nrun = 'unattended'", own)))
	require.Len(t, r.Inert, 4, "a tool of the user's is not taken over, in part neither")
	require.Equal(t, config.Tool{Command: []string{"mine"}, Run: "unattended"}, c.Tools["own"])
}

// Every security key, by name, so that a new one cannot slip through.
func TestEverySecurityKeyIsHeldBack(t *testing.T) {
	values := map[string]string{
		"a string": `"x"`, "true or false": "true", "an array of strings": `["x"]`,
		"an array of arrays of strings": `[["x"]]`, "an array": "[1]", "a string, number, true, false, array or table": "1",
		`a duration like "90s" or "10m"`: `"1m"`, "a number": "0.5",
	}
	for _, k := range config.Keys() {
		key := k.Key
		for _, label := range []string{"name", "alias", "model", "parameter", "question", "variable", "header", "profile"} {
			key = strings.ReplaceAll(key, "<"+label+">", "x")
		}
		key = strings.ReplaceAll(key, "<point>", "turn-end")
		value, ok := values[k.Type]
		switch {
		case key == "tools.x.enable":
			value = "false"
		case key == "limits.model_calls":
			value = "20" // as tight as the default
		case key == "limits.same_calls":
			value = "2" // as tight as the default
		case key == "instructions.fallback":
			value = "[]" // as tight as the default
		case k.Type == "a whole number":
			value = "2000"
		case strings.HasSuffix(key, "allow_tools"):
			value = `["delegate"]`
		case strings.HasSuffix(key, "url"):
			value = `"http://x"`
		case !ok:
			value, _, _ = strings.Cut(strings.ReplaceAll(k.Type, " or ", ", "), ",")
		}
		_, r := load(t, layers(t, "", key+" = "+value))
		require.Equal(t, k.Security, len(r.Inert) == 1, "untrusted: %s", key)

		delta := map[string]any{}
		require.NoError(t, json.Unmarshal(nested(key, value), &delta), key)
		_, r = load(t, config.Options{Deltas: []map[string]any{delta}})
		foreign := k.Security && k.Key != "model" // a conversation records which model answers
		require.Equal(t, foreign, len(inertKeys(r, config.ReasonConversation)) == 1, "delta: %s", key)
		require.NotContains(t, inertKeys(r, config.ReasonInvalid), key)
	}
}

// nested writes a.b = v as {"a":{"b":v}}.
func nested(key, value string) []byte {
	parts := strings.Split(key, ".")
	text := value
	for i := len(parts) - 1; i >= 0; i-- {
		text = `{"` + parts[i] + `":` + text + `}`
	}
	return []byte(text)
}

func TestConversationDeltasNeverFail(t *testing.T) {
	c, r := load(t, config.Options{Deltas: []map[string]any{
		{"model": "a/b", "future": map[string]any{"key": 1.0}, "limits": map[string]any{"model_calls": 12.0, "tokens": 1.5}},
		{"tools": map[string]any{"recall": map[string]any{"enable": true, "run": "unattended"}}, "style": nil, "policy": "auto"},
		nil,
	}})
	require.Equal(t, "a/b", c.Model)
	require.Equal(t, int64(12), c.Limits.ModelCalls)
	require.True(t, *c.Tools["recall"].Enable)
	require.Empty(t, c.Tools["recall"].Run)
	require.Equal(t, []string{"tools.recall.run"}, inertKeys(r, config.ReasonConversation))
	require.Equal(t, []string{"future", "limits.tokens", "policy", "style"}, inertKeys(r, config.ReasonInvalid))
}

func TestApprovals(t *testing.T) {
	a := config.Approvals{Dir: filepath.Join(t.TempDir(), "state", "trust"), Root: "/work"}
	other := config.Approvals{Dir: a.Dir, Root: "/other"}
	content := []byte(hostile)
	hash := config.Hash(content)
	require.False(t, a.Trusted(hash))
	last, err := a.Last()
	require.NoError(t, err)
	require.Nil(t, last)

	require.NoError(t, a.Approve([]byte("old")))
	require.NoError(t, a.Approve(content))
	require.True(t, a.Trusted(hash))
	require.True(t, a.Trusted(config.Hash([]byte("old"))))
	require.False(t, a.Trusted(config.Hash(append(content, ' '))))
	last, err = a.Last()
	require.NoError(t, err)
	require.Equal(t, content, last)

	require.False(t, other.Trusted(hash), "the same bytes in another workspace")
	last, err = other.Last()
	require.NoError(t, err)
	require.Nil(t, last)
	require.NoError(t, other.Approve(content))

	earlier := []byte("an earlier content")
	require.NoError(t, a.Approve(earlier))
	done, err := a.Revoke()
	require.NoError(t, err)
	require.True(t, done)
	require.False(t, a.Trusted(hash))
	require.False(t, a.Trusted(config.Hash(earlier)))
	require.True(t, other.Trusted(hash), "each workspace for itself")
	done, err = a.Revoke()
	require.NoError(t, err)
	require.False(t, done)
	last, err = a.Last()
	require.NoError(t, err)
	require.Nil(t, last)

	require.NoError(t, os.WriteFile(filepath.Join(a.Dir, hash), nil, 0o600))
	require.False(t, other.Trusted(hash), "an entry whose bytes are not those approved")
	for _, name := range []string{"", ".", "..", "../trust", hash + "-" + config.Hash([]byte("/other"))} {
		require.False(t, other.Trusted(name))
	}
}
