package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/config"
)

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o640))
	return file
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(data)
}

func set(file, key, value string) error {
	d, err := config.NewDraft(config.Origin{Name: file}, key, value)
	if err != nil {
		return err
	}
	return d.Write()
}

func TestSet(t *testing.T) {
	cases := map[string]struct{ before, key, value, after string }{
		"empty file":      {"", "model", "a/b", "model = \"a/b\"\n"},
		"empty, in table": {"", "policy.detached", "deny", "[policy]\ndetached = \"deny\"\n"},
		"replace":         {"# my model\nmodel   = 'x/y'  # fast\n\n[style]\n", "model", "a/b", "# my model\nmodel   = \"a/b\"  # fast\n\n[style]\n"},
		"replace many lines": {
			"[policy]\nallow = [\n  ['git'], # reading\n]\ntimeout = '1m'\n", "policy.allow", `[["ls"], ["git", "log"]]`,
			"[policy]\nallow = [[\"ls\"], [\"git\", \"log\"]]\ntimeout = '1m'\n",
		},
		"beside a sibling": {
			"[style]\n  width = 80 # narrow\n\n# about limits\n[limits]\n", "style.color", "never",
			"[style]\n  width = 80 # narrow\n  color = \"never\"\n\n# about limits\n[limits]\n",
		},
		"below a header":          {"[style] # looks\n[limits]\ntokens = 1", "style.width", "80", "[style] # looks\nwidth = 80\n[limits]\ntokens = 1"},
		"new table":               {"model = 'a/b'", "limits.tokens", "5", "model = 'a/b'\n\n[limits]\ntokens = 5\n"},
		"dotted stays dotted":     {"policy.timeout = '1m'\n[style]\n", "policy.detached", "deny", "policy.timeout = '1m'\npolicy.detached = \"deny\"\n[style]\n"},
		"dotted below a header":   {"[tools]\nrecall.enable = true", "tools.recall.timeout", "5m", "[tools]\nrecall.enable = true\nrecall.timeout = \"5m\"\n"},
		"subtable of dotted":      {"tools.a.run = 'ask'\n", "tools.b.run", "skip", "tools.a.run = 'ask'\n\n[tools.b]\nrun = \"skip\"\n"},
		"inside inline":           {"tools = { recall = { enable = true } } # all\n", "tools.recall.enable", "false", "tools = { recall = { enable = false } } # all\n"},
		"into inline":             {"tools = { recall = { enable = true } }\n", "tools.recall.timeout", "1m", "tools = { recall = { enable = true, timeout = \"1m\" } }\n"},
		"into empty inline":       {"style = {}\n", "style.width", "9", "style = { width = 9 }\n"},
		"another inline table":    {"tools = { a = { enable = true } }\n", "tools.b.enable", "true", "tools = { a = { enable = true }, b.enable = true }\n"},
		"top before tables":       {"[style]\nwidth = 3\n", "model", "a/b", "model = \"a/b\"\n[style]\nwidth = 3\n"},
		"below its commented one": {"# About.\n\n# Which model.\n# model = \"x/y\"\n\n# [style]\n", "model", "a/b", "# About.\n\n# Which model.\n# model = \"x/y\"\nmodel = \"a/b\"\n\n# [style]\n"},
		"windows line ends":       {"[style]\r\nwidth = 3\r\n", "style.color", "never", "[style]\r\nwidth = 3\r\ncolor = \"never\"\r\n"},
		"quoted name":             {"", `aliases."4.5"`, "a/b", "[aliases]\n\"4.5\" = \"a/b\"\n"},
		"awkward text":            {"", "model", "a\"b\\c\n\x01[x]\n", "model = \"a\\\"b\\\\c\\n\\u0001[x]\\n\"\n"},
		"keeps a wrong neighbour": {"polcy = 3\n", "model", "a/b", "polcy = 3\nmodel = \"a/b\"\n"},
		"corrects a wrong value":  {"model = 3\n", "model", "a/b", "model = \"a/b\"\n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := write(t, tc.before)
			require.NoError(t, set(file, tc.key, tc.value))
			require.Equal(t, tc.after, read(t, file))
		})
	}
}

func TestSetRefusesAndLeavesTheFileAlone(t *testing.T) {
	cases := map[string]struct{ before, key, value, want string }{
		"unknown key":     {"", "modle", "x", `unknown key "modle" (did you mean "model"?)`},
		"no key":          {"", "a b", "x", `"a b" is not a key`},
		"key with value":  {"", "model = 1\nx", "x", `is not a key`},
		"table":           {"", "policy", "x", `policy is a table; name a key in it`},
		"wrong value":     {"", "limits.tokens", "x", `limits.tokens must be a whole number, not "x"`},
		"broken file":     {"model = = 1", "model", "x", `:1:9: `},
		"array of tables": {"[[tools]]\n", "tools.x.run", "ask", "cannot be set in a file that has arrays of tables"},
		"value in place":  {"policy = 1\n", "policy.detached", "deny", "a part of it is not a table in the file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := write(t, tc.before)
			require.ErrorContains(t, set(file, tc.key, tc.value), tc.want)
			require.Equal(t, tc.before, read(t, file))
			left, err := os.ReadDir(filepath.Dir(file))
			require.NoError(t, err)
			require.Len(t, left, 1)
		})
	}
}

func TestSetMakesFoldersAndKeepsModeAndLink(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a", "b", "config.toml")
	require.NoError(t, set(file, "model", "a/b"))
	require.Equal(t, "model = \"a/b\"\n", read(t, file))

	target := write(t, "model = 'x'\n")
	require.NoError(t, os.Chmod(target, 0o600))
	link := filepath.Join(t.TempDir(), "link.toml")
	require.NoError(t, os.Symlink(target, link))
	require.NoError(t, set(link, "model", "a/b"))
	require.Equal(t, "model = \"a/b\"\n", read(t, target))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	info, err = os.Stat(target)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	dangling := filepath.Join(t.TempDir(), "dangling.toml")
	require.NoError(t, os.Symlink("nowhere", dangling))
	require.ErrorContains(t, set(dangling, "model", "a/b"), "link to nothing")
}

// lines that together make valid files in many layouts.
var (
	rootLines  = []string{"model = 'x/y'", "# a remark", "", "style.width = 9 # narrow", "aliases = { fast = 'a/b' }", "policy.allow = [\n ['git'],\n]"}
	tableLines = []string{
		"[tools.recall]\nenable = true", "[tools.x]", "[limits]\n\ttokens = 1\n\n# end of limits", "[snapshot]\nmode = \"off\" # none",
		"[tools.x.parameters]\np = {type = 'string'}", "[mcp.m]\ncommand = [ 'x' ]\nenv.A = 'b'", "[hooks]\nturn-end = ['x']",
	}
	settable = [][2]string{
		{"model", "n/m"}, {"style.width", "77"}, {"style.color", "never"}, {"aliases.fast", "q/r"}, {"aliases.slow", "s/t"},
		{"policy.allow", `[["ls"]]`}, {"policy.detached", "deny"}, {"tools.recall.enable", "false"}, {"tools.recall.timeout", "1m"},
		{"tools.x.run", "skip"}, {"tools.x.parameters.p.required", "true"}, {"tools.y.run", "ask"}, {"limits.tokens", "6"},
		{"mcp.m.env.B", "c"}, {"hooks.tool-pre", `["a", "b"]`}, {"tools.x.questions.q.answer", `{a = 1.0}`},
	}
)

func TestSetChangesOneValueAndNoRemark(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	rapid.Check(t, func(t *rapid.T) {
		root := rapid.SliceOfDistinct(rapid.SampledFrom(rootLines), rapid.ID[string]).Draw(t, "root")
		tables := rapid.SliceOfDistinct(rapid.SampledFrom(tableLines), rapid.ID[string]).Draw(t, "tables")
		end := rapid.SampledFrom([]string{"\n", ""}).Draw(t, "end")
		text := strings.Join(append(root, tables...), "\n") + end
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			before, err := os.ReadFile(file)
			require.NoError(t, err)
			setting := rapid.SampledFrom(settable).Draw(t, "set")
			require.NoError(t, set(file, setting[0], setting[1]))
			after, err := os.ReadFile(file)
			require.NoError(t, err)
			requireOnlyChanged(t, setting[0], before, after)
		}
	})
}

type failer interface {
	Errorf(string, ...any)
	FailNow()
}

// requireOnlyChanged reads both files with the TOML library alone.
func requireOnlyChanged(t failer, key string, before, after []byte) {
	was, is := leaves(t, before), leaves(t, after)
	for _, values := range []map[string]any{was, is} {
		for k := range values {
			if k == key || strings.HasPrefix(k, key+".") {
				delete(values, k)
			}
		}
	}
	require.True(t, reflect.DeepEqual(was, is), "%s\n---\n%s", before, after)
	require.Equal(t, strings.Count(string(before), "#"), strings.Count(string(after), "#"))
}

func leaves(t failer, data []byte) map[string]any {
	var tree map[string]any
	require.NoError(t, toml.Unmarshal(data, &tree))
	flat := map[string]any{}
	var walk func(string, map[string]any)
	walk = func(prefix string, table map[string]any) {
		for k, v := range table {
			if below, ok := v.(map[string]any); ok {
				walk(prefix+k+".", below)
				continue
			}
			flat[prefix+k] = v
		}
	}
	walk("", tree)
	return flat
}

// For any file and value, the result is an error and the same bytes, or a file with the same settings except
// for the key.
func FuzzSet(f *testing.F) {
	for _, line := range append(rootLines, tableLines...) {
		f.Add([]byte(line), 3, "x")
	}
	f.Add(config.Template(), 0, "'''\n'''")
	f.Fuzz(func(t *testing.T, text []byte, which int, value string) {
		file := write(t, string(text))
		key := settable[uint(which)%uint(len(settable))][0]
		if err := set(file, key, value); err != nil {
			require.Equal(t, string(text), read(t, file))
			return
		}
		was, is := leaves(t, text), leaves(t, []byte(read(t, file)))
		for k := range was {
			if k == key || strings.HasPrefix(k, key+".") {
				continue
			}
			require.Equal(t, fmt.Sprint(was[k]), fmt.Sprint(is[k]), k)
		}
	})
}

func TestADraftAddsOnlyWhatIsNew(t *testing.T) {
	file := write(t, "polcy = 3\n[mcp.docs.env]\nA = 'x'\n[tools.a]\nrun = 'never'\n")
	judge := func(content []byte) []*config.Error {
		_, _, wrong := config.Examine(config.Options{UserFile: file, Drafts: map[config.Layer][]byte{config.LayerUser: content}})
		return wrong
	}
	for _, set := range []struct{ key, value, adds string }{
		{"model", "a/b", ""},
		{"mcp.docs.env.B", "x", ""},
		{"mcp.docs.command", "['x']", ""},
		{"mcp.docs.command", "[]", ""},
		{"mcp.other.command", "[]", "mcp.other has no command and no url"},
		{"mcp.other.env.A", "x", "mcp.other has no command and no url"},
		{"tools.a.run", "ask", ""},
	} {
		d, err := config.NewDraft(config.Origin{Layer: config.LayerUser, Name: file}, set.key, set.value)
		require.NoError(t, err)
		added := d.Adds(judge)
		if set.adds == "" {
			require.Nil(t, added, set.key)
			continue
		}
		require.Equal(t, set.adds, added.Text)
	}
	require.Len(t, judge([]byte(read(t, file))), 3, "all mistakes are found")
	d, err := config.NewDraft(config.Origin{Layer: config.LayerUser, Name: file}, "model", "a/b")
	require.NoError(t, err)
	own := func(content []byte) []*config.Error {
		return []*config.Error{config.Mistake(config.Origin{Layer: config.LayerUser}, "model", "is wrong")}
	}
	require.NotNil(t, d.Adds(own), "what was set is wrong, whatever was there before")
	elsewhere := func(content []byte) []*config.Error {
		return []*config.Error{config.Mistake(config.Origin{Layer: config.LayerWorkspace}, "model", "is wrong")}
	}
	require.Nil(t, d.Adds(elsewhere), "another file is wrong as before")
}
