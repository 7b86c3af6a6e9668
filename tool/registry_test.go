package tool_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/tool"
)

func named(names ...string) []tool.Tool {
	var tools []tool.Tool
	for _, name := range names {
		tools = append(tools, fixed{definition(name, `{"type":"object"}`)})
	}
	return tools
}

func namesOf(r *tool.Registry) []string {
	var names []string
	for _, def := range r.Definitions() {
		names = append(names, def.Name)
	}
	return names
}

func TestRegistryIsOrderedByName(t *testing.T) {
	r, err := tool.NewRegistry(named("shell_run", "fs_read_file", "git_log")...)
	require.NoError(t, err)
	require.Equal(t, []string{"fs_read_file", "git_log", "shell_run"}, namesOf(r))
	require.Len(t, r.All(), 3)
	require.Equal(t, "fs_read_file", r.All()[0].Definition().Name)

	found, ok := r.Lookup("git_log")
	require.True(t, ok)
	require.Equal(t, "git_log", found.Definition().Name)
	_, ok = r.Lookup("GIT_LOG")
	require.False(t, ok)
}

func TestRegistryRefuses(t *testing.T) {
	for _, name := range []string{"", "a b", "1a", "-a", "a.b", "é", string(make([]byte, 65))} {
		_, err := tool.NewRegistry(named(name)...)
		require.ErrorIs(t, err, tool.ErrInvalidName, "%q", name)
	}
	_, err := tool.NewRegistry(named("a", "b", "a")...)
	require.ErrorIs(t, err, tool.ErrDuplicate)
	for _, parameters := range []string{`{`, `{"type":"string"}`, `true`, `{"type":"object","properties":{"a":{"$ref":"#/nowhere"}}}`,
		`{"type":"object","properties":{"a":{"type":"integer","default":"x"}}}`} {
		def := definition("a", parameters)
		require.ErrorIs(t, def.CheckSchema(), tool.ErrInvalidSchema, parameters)
		_, err = tool.NewRegistry(fixed{def})
		require.NoError(t, err)
		_, err = tool.Check(def, nil)
		require.ErrorIs(t, err, tool.ErrInvalidSchema, parameters)
	}
}

func TestOnlyAndWithout(t *testing.T) {
	r, err := tool.NewRegistry(named("a", "b", "c")...)
	require.NoError(t, err)
	only, err := r.Only("c", "a")
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c"}, namesOf(only))
	without, err := r.Without("a")
	require.NoError(t, err)
	require.Equal(t, []string{"b", "c"}, namesOf(without))
	none, err := r.Only()
	require.NoError(t, err)
	require.Empty(t, none.All())
	require.Equal(t, []string{"a", "b", "c"}, namesOf(r), "the registry itself stays as it is")

	_, err = r.Only("d")
	require.ErrorIs(t, err, tool.ErrUnknown)
	_, err = r.Without("d")
	require.ErrorIs(t, err, tool.ErrUnknown)
}

func TestNearest(t *testing.T) {
	r, err := tool.NewRegistry(named("fs_read_file", "fs_create_file", "git_log", "shell_run", "x")...)
	require.NoError(t, err)
	for name, want := range map[string]string{
		"fs_read": "fs_read_file", "read_file": "fs_read_file", "fs-read-file": "fs_read_file", "fsReadFile": "fs_read_file", "fs_read_files": "fs_read_file",
		"functions.shell_run:0": "shell_run", "default_api:shell-run": "shell_run", "tools/git_log": "git_log", "functions.x": "x",
		"create_file": "fs_create_file", "git_lgo": "git_log", "run_shell": "", "bash": "", "": "", "web_search": "", string(make([]byte, 1<<20)): "",
	} {
		require.Equal(t, want, r.Nearest(name), "%.20q", name)
	}
}
