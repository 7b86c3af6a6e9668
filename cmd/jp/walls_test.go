package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/config"
	"jp/sandbox"
	"jp/tool"
	"jp/tool/shell"
)

func TestWalls(t *testing.T) {
	full, old := sandbox.Support{ABI: 7, Sockets: true}, sandbox.Support{ABI: 2}
	for name, c := range map[string]struct {
		walls                walls
		words, note, missing string
	}{
		"wanted": {
			walls{on: true, support: full}, "confined: writes here, temporary files and caches only · no network",
			"[confined: writes outside the workspace and the network are off; see sandbox.write, sandbox.network]", "",
		},
		"with the network": {
			walls{on: true, support: full, places: sandbox.Places{Network: true}}, "confined: writes here, temporary files and caches only · network",
			"[confined: writes outside the workspace are off; see sandbox.write]", "",
		},
		"not wanted":          {walls{support: full}, "", "", ""},
		"not wanted nor here": {walls{support: sandbox.Support{Reason: "r"}}, "", "", ""},
		"not here":            {walls{on: true, support: sandbox.Support{Reason: "r"}}, "", "", "programs of tools are not confined here: r"},
		"in part": {
			walls{on: true, support: old, places: sandbox.Places{Network: true}}, "confined: writes here, temporary files and caches only · network",
			"[confined: writes outside the workspace are off; see sandbox.write]",
			"programs of tools are confined, but on this kernel they can empty files anywhere, control devices that they can read, signal your other processes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.words, c.walls.words())
			require.Equal(t, c.note, c.walls.note())
			require.Equal(t, c.words != "", c.walls.launcher() != nil)
			said := append(c.walls.missing(true), "")
			require.Equal(t, c.missing, said[0])
			require.Empty(t, c.walls.missing(false))
		})
	}
	require.Equal(t, "sandbox: landlock 7, seccomp", supportWords(full))
	require.Equal(t, "sandbox: none: r", supportWords(sandbox.Support{Reason: "r"}))
	require.Contains(t, supportWords(sandbox.Support{ABI: 7}), "sandbox: landlock 7; programs can still use the network other than by TCP, ")
}

func TestStartsPrograms(t *testing.T) {
	r := &repo{config: &config.Config{Tools: map[string]config.Tool{"own": {Command: []string{"x"}}, "fs_read_file": {}}}}
	for name, want := range map[string]bool{shell.Name: true, "own": true, "fs_read_file": false} {
		tools, err := tool.NewRegistry(plainTool(name))
		require.NoError(t, err)
		require.Equal(t, want, r.startsPrograms(tools), name)
	}
}

// A plainTool has a name.
type plainTool string

func (n plainTool) Definition() *tool.Definition {
	return &tool.Definition{
		Name: string(n), Description: "x", Parameters: []byte(`{"type":"object"}`), Effect: tool.Reads, Run: tool.Unattended, Result: tool.Unattended,
	}
}

func (n plainTool) Run(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }
