package toolset

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/config"
	"jp/sandbox"
	"jp/tool"
	"jp/tool/shell"
)

func TestWalls(t *testing.T) {
	full, old := sandbox.Support{ABI: 7, Calls: true}, sandbox.Support{ABI: 2}
	for name, c := range map[string]struct {
		walls                Sandbox
		words, note, missing string
	}{
		"wanted": {
			Sandbox{on: true, support: full}, "confined: writes here, temporary files and caches only · no network",
			"[confined: writes outside the workspace and the network are off; see sandbox.write, sandbox.network]", "",
		},
		"with the network": {
			Sandbox{on: true, support: full, places: sandbox.Places{Network: true}}, "confined: writes here, temporary files and caches only · network",
			"[confined: writes outside the workspace are off; see sandbox.write]", "",
		},
		"not wanted":          {Sandbox{support: full}, "", "", ""},
		"not wanted nor here": {Sandbox{support: sandbox.Support{Reason: "r"}}, "", "", ""},
		"not here":            {Sandbox{on: true, support: sandbox.Support{Reason: "r"}}, "", "", "programs of tools are not confined here: r"},
		"in part": {
			Sandbox{on: true, support: old, places: sandbox.Places{Network: true}}, "confined: writes here, temporary files and caches only · network",
			"[confined: writes outside the workspace are off; see sandbox.write]",
			"programs of tools are confined, but on this kernel they can empty files anywhere, control devices that they can read, signal your other processes, change limits of your other processes and read your keyrings",
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.words, c.walls.Words())
			require.Equal(t, c.note, c.walls.note())
			require.Equal(t, c.words != "", c.walls.launcher() != nil)
			said := append(c.walls.Missing(true), "")
			require.Equal(t, c.missing, said[0])
			require.Empty(t, c.walls.Missing(false))
		})
	}
	require.Equal(t, "sandbox: landlock 7, seccomp", SupportWords(full, false))
	require.Equal(t, "sandbox: landlock 7, seccomp, own loopback", SupportWords(full, true))
	require.Equal(t, "sandbox: none: r", SupportWords(sandbox.Support{Reason: "r"}, false))
	require.Contains(t, SupportWords(sandbox.Support{ABI: 7}, false), "sandbox: landlock 7; programs can still change limits of your other processes and read your keyrings, use the network other than by TCP, ")
}

func TestStartsPrograms(t *testing.T) {
	r := &repo.Repo{Config: &config.Config{Tools: map[string]config.Tool{"own": {Command: []string{"x"}}, "fs_read_file": {}}}}
	for name, want := range map[string]bool{shell.Name: true, "own": true, "fs_read_file": false} {
		tools, err := tool.NewRegistry(plainTool(name))
		require.NoError(t, err)
		require.Equal(t, want, StartsPrograms(r, tools), name)
	}
}

type plainTool string

func (n plainTool) Definition() *tool.Definition {
	return &tool.Definition{
		Name: string(n), Description: "x", Parameters: []byte(`{"type":"object"}`), Effect: tool.Reads, Run: tool.Unattended, Result: tool.Unattended,
	}
}

func (n plainTool) Run(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }
