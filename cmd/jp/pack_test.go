package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/gitstore/packing"
)

// loosen adds loose objects that no conversation needs.
func (p *workspace) loosen(count int) {
	p.t.Helper()
	var paths strings.Builder
	dir := p.t.TempDir()
	for i := range count {
		path := filepath.Join(dir, fmt.Sprint(i))
		require.NoError(p.t, os.WriteFile(path, []byte(path), 0o666))
		paths.WriteString(path + "\n")
	}
	cmd := exec.Command("git", "hash-object", "-w", "--stdin-paths")
	cmd.Dir, cmd.Env, cmd.Stdin = p.dir, p.environ, strings.NewReader(paths.String())
	require.NoError(p.t, cmd.Run())
}

// packing is the note of the last packing, if one has ended.
func (p *workspace) packing() (left int, packs int, ok bool) {
	text, err := os.ReadFile(filepath.Join(p.dir, ".git/jp/packing.json"))
	if err != nil {
		return 0, 0, false
	}
	var state struct {
		Began time.Time
		Left  int
		Packs []struct{}
	}
	require.NoError(p.t, json.Unmarshal(text, &state))
	return state.Left, len(state.Packs), state.Began.IsZero()
}

func TestPackingInTheBackground(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", "[[reply]]\nmessage = \"Over.\"\n")
	ask := []string{"query", "--new", "-m", "script/../talk.toml", "Go"}
	require.Zero(t, p.jp(ask...).exit)
	p.loosen(3 * packing.Enough)
	require.Zero(t, p.jp("ls").exit)
	require.Zero(t, p.jp(append(ask, "--cfg", "store.packing=off")...).exit)
	_, _, packed := p.packing()
	require.False(t, packed, "neither by who only reads nor against the user's word")

	require.Zero(t, p.jp(ask...).exit)
	require.Eventually(t, func() bool { _, _, packed = p.packing(); return packed }, time.Minute, 5*time.Millisecond)
	left, packs, _ := p.packing()
	require.Equal(t, 1, packs)
	require.GreaterOrEqual(t, left, 3*packing.Enough, "what is not a conversation's stays")
	require.Less(t, left, 3*packing.Enough+10)
	require.Empty(t, p.git("fsck", "--strict", "--no-dangling"))
	require.Zero(t, p.jp("verify", "--all").exit)
}
