package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/tool/mcp"
)

func offer(name, description string) mcp.ToolInfo {
	return mcp.ToolInfo{Name: name, Description: description, Schema: json.RawMessage(`{"type":"object"}`)}
}

func TestApprovalsAreForOneCommandAndEnvironment(t *testing.T) {
	a := mcp.Approvals{Dir: filepath.Join(t.TempDir(), "mcp")}
	spec := mcp.Spec{Name: "docs", Command: []string{"docs", "--stdio"}, Env: map[string]string{"TOKEN": "hunter2"}}
	_, _, ok := a.Approved(spec)
	require.False(t, ok)
	offers := []mcp.ToolInfo{offer("search", "Find <a> & b\u00e4")}
	require.NoError(t, a.Approve(spec, nil, offers))
	got, _, ok := a.Approved(spec)
	require.True(t, ok)
	require.Equal(t, offers, got)

	for name, other := range map[string]mcp.Spec{
		"name":     {Name: "doc", Command: spec.Command, Env: spec.Env},
		"argument": {Name: "docs", Command: []string{"docs", "--stdio", "-x"}, Env: spec.Env},
		"split":    {Name: "docs", Command: []string{"docs --stdio"}, Env: spec.Env},
		"value":    {Name: "docs", Command: spec.Command, Env: map[string]string{"TOKEN": "hunter3"}},
		"none":     {Name: "docs", Command: spec.Command},
	} {
		_, _, ok := a.Approved(other)
		require.False(t, ok, name)
	}
	elsewhere := a
	elsewhere.Root = "/other"
	_, _, ok = elsewhere.Approved(spec)
	require.False(t, ok, "an approval holds in one working tree")
	require.Nil(t, a.Before(spec))
	require.Equal(t, spec.Command, a.Before(mcp.Spec{Name: "docs", Command: []string{"evil"}}))
	require.Nil(t, a.Before(mcp.Spec{Name: "other", Command: []string{"evil"}}))

	files, err := filepath.Glob(filepath.Join(a.Dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	info, err := os.Stat(files[0])
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.NotContains(t, string(text), "hunter2")
}

func TestADamagedApprovalApprovesNothing(t *testing.T) {
	a := mcp.Approvals{Dir: t.TempDir()}
	spec := mcp.Spec{Name: "docs", Command: []string{"docs"}}
	require.NoError(t, a.Approve(spec, nil, []mcp.ToolInfo{offer("search", "Find")}))
	files, err := filepath.Glob(filepath.Join(a.Dir, "*"))
	require.NoError(t, err)
	whole, err := os.ReadFile(files[0])
	require.NoError(t, err)
	for i := range whole {
		damaged := append([]byte{}, whole...)
		damaged[i] ^= 1
		require.NoError(t, os.WriteFile(files[0], damaged, 0o600))
		if offers, _, ok := a.Approved(spec); ok { // white space and the case of a key may differ
			require.Equal(t, []mcp.ToolInfo{offer("search", "Find")}, offers)
		}
		require.NoError(t, os.WriteFile(files[0], whole[:i], 0o600))
		_, _, ok := a.Approved(spec)
		require.False(t, ok, "cut at %d", i)
	}
}

func TestWhatWasSeen(t *testing.T) {
	a := mcp.Approvals{Dir: t.TempDir()}
	spec := mcp.Spec{Name: "docs", Command: []string{"docs"}}
	first, second := []mcp.ToolInfo{offer("a", "1"), offer("b", "1")}, []mcp.ToolInfo{offer("b", "2"), offer("c", "1")}
	require.NoError(t, a.Saw(spec, second))
	_, ok := a.LastListed(spec)
	require.False(t, ok, "nothing was approved that it could differ from")

	require.NoError(t, a.Approve(spec, nil, first))
	require.NoError(t, a.Saw(spec, second))
	seen, ok := a.LastListed(spec)
	require.True(t, ok)
	require.Equal(t, second, seen)
	changes := mcp.Changes(first, second)
	require.Len(t, changes, 3)
	require.Nil(t, changes[0].Is)
	require.Equal(t, []string{"a", "b", "c"}, []string{changes[0].Name(), changes[1].Name(), changes[2].Name()})
	require.Nil(t, changes[2].Was)

	require.NoError(t, a.Saw(spec, first))
	_, ok = a.LastListed(spec)
	require.False(t, ok, "it is as it was approved")
	require.NoError(t, a.Saw(spec, second))
	require.NoError(t, a.Approve(spec, nil, second))
	_, ok = a.LastListed(spec)
	require.False(t, ok)

	for range 2 {
		require.NoError(t, a.Revoke(spec))
		_, _, ok = a.Approved(spec)
		require.False(t, ok)
	}
}
