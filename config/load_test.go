package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/config"
)

// layers writes the two files and gives options that read them.
func layers(t *testing.T, user, workspace string) config.Options {
	t.Helper()
	dir := t.TempDir()
	opts := config.Options{UserFile: filepath.Join(dir, "user.toml"), Workspace: filepath.Join(dir, "work")}
	require.NoError(t, os.MkdirAll(filepath.Join(opts.Workspace, ".jp"), 0o755))
	if user != "" {
		require.NoError(t, os.WriteFile(opts.UserFile, []byte(user), 0o600))
	}
	if workspace != "" {
		require.NoError(t, os.WriteFile(filepath.Join(opts.Workspace, config.WorkspaceFile), []byte(workspace), 0o600))
	}
	return opts
}

func trusting(opts config.Options) config.Options {
	opts.Trusted = func(string) bool { return true }
	return opts
}

func load(t *testing.T, opts config.Options) (*config.Config, *config.Report) {
	t.Helper()
	c, r, err := config.Load(opts)
	require.NoError(t, err)
	return c, r
}

func TestDefaultsWithoutAnyLayer(t *testing.T) {
	c, r := load(t, config.Options{})
	require.Equal(t, int64(32768), c.Limits.ToolOutput)
	require.Equal(t, 10*time.Minute, c.Limits.ToolTimeout)
	require.Equal(t, 30*time.Second, c.Policy.Timeout)
	require.Equal(t, config.Snapshot{Mode: "tracked+tools", Base: "head"}, c.Snapshot)
	require.True(t, c.Sandbox.Enable)
	require.False(t, c.Sandbox.Network)
	require.Equal(t, "full", c.Store.Durability)
	require.Equal(t, config.Style{Markdown: true, Color: "auto", Theme: "auto"}, c.Style)
	require.Empty(t, c.Policy.Detached)
	require.Empty(t, r.Inert)
	require.Equal(t, config.Origin{Layer: config.LayerDefault}, r.Origins["limits.tool_output"])
}

func TestEachLayerBeatsThoseBelow(t *testing.T) {
	all := trusting(layers(t, `model = "user/m"`, "\nmodel = \"workspace/m\""))
	all.Environ = []string{"JP_CFG_MODEL=environment/m"}
	all.Deltas = []map[string]any{{"model": "early/m"}, {"model": "late/m"}}
	all.Overrides = []string{"model=first/m", "model=last/m"}
	cases := []struct {
		model, origin string
		without       func(*config.Options)
	}{
		{"last/m", "--cfg", func(*config.Options) {}},
		{"late/m", "conversation", func(o *config.Options) { o.Overrides = nil }},
		{"environment/m", "JP_CFG_MODEL", func(o *config.Options) { o.Deltas = nil }},
		{"workspace/m", ".jp/config.toml:2", func(o *config.Options) { o.Environ = nil }},
		{"user/m", all.UserFile + ":1", func(o *config.Options) { o.Workspace = "" }},
	}
	for _, tc := range cases {
		tc.without(&all)
		c, r := load(t, all)
		require.Equal(t, tc.model, c.Model)
		require.Equal(t, tc.origin, r.Origins["model"].String())
	}
}

func TestTablesMergeAndListsAreReplaced(t *testing.T) {
	opts := layers(t, `
[tools.wc]
command = ["wc", "-w"]
timeout = "1m"
[tools.wc.parameters.path]
type = "string"
[mcp.docs]
command = ["docs"]
env = { A = "1", B = "2" }
`, "")
	opts.Overrides = []string{
		`tools.wc.command=["wc"]`, `tools.wc={mutates=false, parameters.path.required=true}`, `mcp.docs.env.B=3`,
	}
	c, r := load(t, opts)
	wc := c.Tools["wc"]
	require.Equal(t, []string{"wc"}, wc.Command)
	require.Equal(t, time.Minute, wc.Timeout)
	require.False(t, *wc.Mutates)
	require.Nil(t, wc.Enable)
	require.Equal(t, config.Parameter{Type: "string", Required: true}, wc.Parameters["path"])
	require.Equal(t, map[string]string{"A": "1", "B": "3"}, c.MCP["docs"].Env)
	require.Equal(t, opts.UserFile+":9", r.Origins["mcp.docs.env.A"].String())
}

func TestFreeValuesKeepTheirShape(t *testing.T) {
	opts := layers(t, `
[tools.t.parameters.p]
enum = ["a", 2, true, [1.5]]
default = { a = { b = 1 } }
[tools.t.questions.q]
answer = true
`, "")
	c, _ := load(t, opts)
	p := c.Tools["t"].Parameters["p"]
	require.Equal(t, []any{"a", int64(2), true, []any{1.5}}, p.Enum)
	require.Equal(t, map[string]any{"a": map[string]any{"b": int64(1)}}, p.Default)
	require.Equal(t, true, c.Tools["t"].Questions["q"].Answer)
}

func TestEnvironment(t *testing.T) {
	c, r := load(t, config.Options{Environ: []string{
		"HOME=/x", "JP_CFG_POLICY__DETACHED=deny", "JP_CFG_POLICY__TIMEOUT=90s", "JP_CFG_LIMITS__MODEL_CALLS=7",
		`JP_CFG_POLICY__ALLOW=[["git", "status"]]`, "JP_CFG_STYLE__MARKDOWN=false", "JP_CFG_MODEL=1\nstyle.width=3",
		`JP_CFG_SNAPSHOT__MODE="off"`, "JP_CFG_HOOKS__TURN_END=['beep']", "JP_CFG_STYLE__WIDTH=", "JP_CFG_ALIASES__FAST=7",
		"JP_CFG_MCP__DOCS__COMMAND=['d']", "JP_CFG_MCP__DOCS__ENV__API_TOKEN=s", "JP_CFG_TOOLS__FS_READ_FILE__RUN=ask",
	}})
	require.Equal(t, config.Policy{Detached: "deny", Timeout: 90 * time.Second, Allow: [][]string{{"git", "status"}}, Readers: true}, c.Policy)
	require.Equal(t, int64(7), c.Limits.ModelCalls)
	require.False(t, c.Style.Markdown)
	require.Equal(t, "off", c.Snapshot.Mode)
	require.Equal(t, []string{"beep"}, c.Hooks["turn-end"])
	require.Equal(t, "7", c.ResolveModel("fast"))
	require.Equal(t, "x/y", c.ResolveModel("x/y"))
	require.Equal(t, map[string]string{"API_TOKEN": "s"}, c.MCP["docs"].Env)
	require.Equal(t, "ask", c.Tools["fs_read_file"].Run)
	require.Equal(t, `[["git", "status"]]`, r.Values["policy.allow"])
	require.Equal(t, `"1m30s"`, r.Values["policy.timeout"])
	require.Equal(t, "1\nstyle.width=3", c.Model, "a value cannot bring keys of its own")
	require.Zero(t, c.Style.Width, "an empty variable counts as unset")
	require.Equal(t, "JP_CFG_POLICY__DETACHED", r.Origins["policy.detached"].String())
}

func TestMistakesNameThePlace(t *testing.T) {
	cases := map[string]struct {
		toml, want string
		kind       error
	}{
		"unknown key":       {"model = 'a/b'\n\npolcy = 1", `:3: unknown key "polcy" (did you mean "policy"?)`, config.ErrUnknownKey},
		"unknown table":     {"[polcy]", `:1: unknown key "polcy" (did you mean "policy"?)`, config.ErrUnknownKey},
		"nested":            {"[policy]\ndetatched = 'deny'", `:2: unknown key "policy.detatched" (did you mean "policy.detached"?)`, config.ErrUnknownKey},
		"inline":            {"policy = { timeout = '1m', alow = [] }", `:1: unknown key "policy.alow" (did you mean "policy.allow"?)`, config.ErrUnknownKey},
		"wrong table":       {"durability = 'off'", `:1: unknown key "durability" (did you mean "store.durability"?)`, config.ErrUnknownKey},
		"nothing near":      {"zzzzzzz = 1", `:1: unknown key "zzzzzzz"`, config.ErrUnknownKey},
		"hook point":        {"[hooks]\nturn-ends = ['x']", `:2: unknown key "hooks.turn-ends" (did you mean "hooks.turn-end"?)`, config.ErrUnknownKey},
		"tool name":         {"[tools.'a b']\nenable = true", `:1: unknown key "tools.\"a b\""`, config.ErrUnknownKey},
		"type":              {"\nmodel = 3", `:2: model must be a string, not 3`, config.ErrValue},
		"string for bool":   {"style.markdown = 'yes'", `:1: style.markdown must be true or false, not "yes"`, config.ErrValue},
		"enum":              {"[policy]\ndetached = 'ask'", `:2: policy.detached must be "auto", "defaults", "deny", "queue" or "defer", not "ask"`, config.ErrValue},
		"duration":          {"limits.tool_timeout = 10", `:1: limits.tool_timeout must be a duration like "90s" or "10m", not 10`, config.ErrValue},
		"more than kept":    {"limits.tool_output = 300000", `:1: limits.tool_output must be at most 262144, not 300000`, config.ErrValue},
		"negative":          {"limits.tokens = -1", `:1: limits.tokens must be at least 0, not -1`, config.ErrValue},
		"argv":              {"[tools.t]\ncommand = 'wc -w'", `:2: tools.t.command must be an array of strings, not "wc -w"`, config.ErrValue},
		"empty program":     {"mcp.x.command = ['']", `:1: mcp.x.command must name a program`, config.ErrValue},
		"address as a host": {"web.allow = ['https://a.org/']", `:1: web.allow must be names of hosts, such as docs.example.com`, config.ErrValue},
		"allow everything":  {"policy.allow = [['git'], []]", `:1: policy.allow must name a program in each rule`, config.ErrValue},
		"address":           {"providers.p.base_url = 'file:///etc'", `:1: providers.p.base_url must be an http or https address, not "file:///etc"`, config.ErrValue},
		"date":              {"tools.t.questions.q.answer = 2026-01-01", `:1: tools.t.questions.q.answer must be a string, number, true, false, array or table, not 2026-01-01`, config.ErrValue},
		"value for table":   {"\npolicy = 1", `:2: policy must be a table, not 1`, config.ErrValue},
		"table for value":   {"[model]\nx = 1", `:1: model must be a string, not a table of its own`, config.ErrValue},
		"dotted too deep":   {"model.x = 1", `:1: model must be a string, not a table`, config.ErrValue},
		"array of tables":   {"[[tools]]", `:1: tools must be a table, not an array of tables`, config.ErrValue},
		"full name":         {"aliases.'a/b' = 'x/y'", `:1: aliases."a/b" is not a valid alias: with a / it could be the full name of a model`, config.ErrValue},
		"no url to sign in": {"\n[mcp.x]\ncommand = ['x']\nclient_id = 'a'", `:4: mcp.x has settings for signing in, which go with a url`, config.ErrValue},
		"a secret alone":    {"\n[mcp.x]\nurl = 'https://x'\nclient_secret = 'a'", `:4: mcp.x has a client_secret and no client_id`, config.ErrValue},
		"no port":           {"\n[mcp.x]\nurl = 'https://x'\nredirect_port = 70000", `:4: mcp.x has a redirect_port that is no port (want 0 to 65535)`, config.ErrValue},
		"no command":        {"\n[mcp.x.env]\nA = '1'", `:3: mcp.x has no command and no url`, config.ErrValue},
		"broken":            {"model = 'x'\npolicy = = 2", `:2:10: `, config.ErrSyntax},
		"twice":             {"model = 'x'\nmodel = 'y'", `:2:1: `, config.ErrSyntax},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := config.Load(trusting(layers(t, tc.toml, "")))
			require.ErrorIs(t, err, tc.kind)
			require.NotContains(t, err.Error(), "\n")
			_, text, _ := strings.Cut(err.Error(), "user.toml")
			if strings.HasSuffix(tc.want, ": ") {
				require.True(t, strings.HasPrefix(text, tc.want) && len(text) > len(tc.want), text)
				return
			}
			require.Equal(t, tc.want, text)
		})
	}
}

func TestMistakesOutsideFiles(t *testing.T) {
	cases := []struct {
		opts config.Options
		want string
	}{
		{config.Options{Environ: []string{"JP_CFG_POLCY=1"}}, `JP_CFG_POLCY: unknown key "polcy" (did you mean "policy"?)`},
		{config.Options{Environ: []string{"JP_CFG_LIMITS__TOKENS=many"}}, `JP_CFG_LIMITS__TOKENS: limits.tokens must be a whole number, not "many"`},
		{config.Options{Overrides: []string{"modle=x/y"}}, `--cfg: unknown key "modle" (did you mean "model"?)`},
		{config.Options{Overrides: []string{"model=\xff"}}, `--cfg: model must be a string, not invalid UTF-8`},
		{config.Options{Overrides: []string{"aliases." + strings.Repeat("a", 65) + "=x"}}, `--cfg: unknown key "aliases.` + strings.Repeat("a", 65) + `"`},
		{config.Options{Overrides: []string{`aliases."a/b"=x/y`}}, `--cfg: aliases."a/b" is not a valid alias: with a / it could be the full name of a model`},
		{config.Options{Environ: []string{"JP_CFG_ALIASES__A/B=x/y"}}, `JP_CFG_ALIASES__A/B: aliases."a/b" is not a valid alias: with a / it could be the full name of a model`},
		{layers(t, "", "[aliases]\n'a/b' = 'x/y'"), `.jp/config.toml:2: aliases."a/b" is not a valid alias: with a / it could be the full name of a model`},
		{config.Options{Overrides: []string{"model"}}, `--cfg: "model" must be key=value`},
		{config.Options{Overrides: []string{"a = 1\nb=2"}}, `--cfg: unknown key "a"`},
		{config.Options{Overrides: []string{"policy=deny"}}, `--cfg: policy must be a table, not "deny"`},
	}
	for _, tc := range cases {
		_, _, err := config.Load(tc.opts)
		require.EqualError(t, err, tc.want)
	}
}

func TestWorkspaceMistakeIsShownFromTheRoot(t *testing.T) {
	_, _, err := config.Load(layers(t, "", "\n\npolcy = 1"))
	require.EqualError(t, err, `.jp/config.toml:3: unknown key "polcy" (did you mean "policy"?)`)
}

func TestFilesThatAreRefused(t *testing.T) {
	cases := map[string]struct {
		make func(t *testing.T, file string)
		want string
	}{
		"large":     {func(t *testing.T, f string) { require.NoError(t, os.WriteFile(f, make([]byte, 1<<20+1), 0o600)) }, "is larger than 1 MiB"},
		"directory": {func(t *testing.T, f string) { require.NoError(t, os.Mkdir(f, 0o755)) }, "is not a regular file"},
		"pipe":      {func(t *testing.T, f string) { require.NoError(t, syscall.Mkfifo(f, 0o600)) }, "is not a regular file"},
		"link outside": {func(t *testing.T, f string) {
			outside := filepath.Join(t.TempDir(), "other.toml")
			require.NoError(t, os.WriteFile(outside, []byte("model = 'a/b'"), 0o600))
			require.NoError(t, os.Symlink(outside, f))
		}, "cannot be read: path escapes from parent"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			opts := layers(t, "", "")
			tc.make(t, filepath.Join(opts.Workspace, config.WorkspaceFile))
			_, _, err := config.Load(opts)
			require.ErrorIs(t, err, config.ErrFile)
			require.EqualError(t, err, ".jp/config.toml: "+tc.want)
		})
	}
}

func TestLinkInsideTheWorkspaceAndUserLinksAreFollowed(t *testing.T) {
	opts := layers(t, "", "")
	inside := filepath.Join(opts.Workspace, "shared.toml")
	require.NoError(t, os.WriteFile(inside, []byte("style.color = 'never'"), 0o600))
	require.NoError(t, os.Symlink("../shared.toml", filepath.Join(opts.Workspace, config.WorkspaceFile)))
	elsewhere := filepath.Join(t.TempDir(), "dotfiles.toml")
	require.NoError(t, os.WriteFile(elsewhere, []byte("style.width = 72"), 0o600))
	require.NoError(t, os.Symlink(elsewhere, opts.UserFile))
	c, _ := load(t, opts)
	require.Equal(t, "never", c.Style.Color)
	require.Equal(t, int64(72), c.Style.Width)
}

func TestDeepNestingIsAnError(t *testing.T) {
	for _, text := range []string{"model = " + strings.Repeat("[", 1<<19), strings.Repeat("a.", 1<<19) + "b = 1"} {
		_, _, err := config.Load(layers(t, text, ""))
		require.Error(t, err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`model = "a/b"`), "x")
	f.Add(config.Template(), `[["a"]]`)
	f.Add([]byte("[tools.t]\ncommand = ['x']\n[[hooks]]\n[mcp.x]\nenv={a='b'}"), "90s")
	f.Add([]byte("tools.t.questions.q.answer = {a.b = [{}]}"), "{}")
	f.Fuzz(func(t *testing.T, file []byte, value string) {
		opts := trusting(layers(t, string(file), string(file)))
		opts.Environ = []string{"JP_CFG_MODEL=" + value, "JP_CFG_" + value}
		opts.Overrides = []string{value}
		c, r, err := config.Load(opts)
		require.Equal(t, err == nil, c != nil && r != nil)
	})
}

// The user's file for one repository counts for more than the user's own, and its allow rules come to
// those. The repository's file narrows both.
func TestTheUsersFileForARepository(t *testing.T) {
	opts := layers(t, "policy.allow = [[\"make\"]]\nlimits.tokens = 1\n", "policy.allow = [[\"make\", \"test\"], [\"go\", \"test\", \"./...\"]]\n")
	opts.OwnFile = filepath.Join(filepath.Dir(opts.UserFile), "own.toml")
	require.NoError(t, os.WriteFile(opts.OwnFile, []byte("limits.tokens = 2\npolicy.allow = [[\"go\", \"test\"]]\n"), 0o600))
	c, r := load(t, opts)
	require.Equal(t, int64(2), c.Limits.Tokens)
	require.Equal(t, [][]string{{"make"}, {"go", "test"}}, c.Policy.Allow)
	require.Equal(t, config.Origin{Layer: config.LayerRepository, Name: opts.OwnFile, Line: 2}, r.Origins[config.KeyAllow])
	c, _ = load(t, trusting(opts))
	require.Equal(t, [][]string{{"make", "test"}, {"go", "test", "./..."}}, c.Policy.Allow)

	opts = layers(t, "policy.allow_edits = [\"src\"]\npolicy.allow_tools = [\"delegate\"]\n", "")
	opts.OwnFile = write(t, "policy.allow_edits = [\"lib/a b\", \".\"]\npolicy.allow_tools = [\"mcp__x__y "+strings.Repeat("0f", 32)+"\"]\n")
	c, _ = load(t, opts)
	require.Equal(t, []string{"src", "lib/a b", "."}, c.Policy.AllowEdits)
	require.Equal(t, []string{"delegate", "mcp__x__y " + strings.Repeat("0f", 32)}, c.Policy.AllowTools)
}

// A rule names a folder of the working tree, and a tool that a rule can hold for.
func TestRulesThatAreNone(t *testing.T) {
	for _, wrong := range []string{
		`allow_edits = ["/etc"]`, `allow_edits = [".."]`, `allow_edits = ["src/../.."]`, `allow_edits = ["src/"]`, `allow_edits = [""]`, `allow_edits = ["./src"]`, `allow_edits = "src"`,
		`allow_tools = ["shell_run"]`, `allow_tools = ["mcp__x__y"]`, `allow_tools = ["mcp__x__y 0f"]`, `allow_tools = ["x ` + strings.Repeat("0f", 32) + `"]`, `allow_tools = ["delegate "]`,
	} {
		_, _, err := config.Load(layers(t, "policy."+wrong, ""))
		require.ErrorIs(t, err, config.ErrValue, wrong)
	}
}
