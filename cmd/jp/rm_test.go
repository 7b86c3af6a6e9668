package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process"
)

func TestRmAsks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		key  string
		exit int
		left int
	}{
		"yes": {"y", 0, 1}, "no": {"n", 3, 2}, "Ctrl+C": {"\x03", 130, 2}, "Ctrl+D": {"\x04", 3, 2}, "Esc": {"\x1b", 3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../talk.toml", talkScript)
			require.Zero(t, p.jp("query", "-m", "script/../talk.toml", "A talk").exit)
			fork := strings.TrimSpace(p.jp("fork", "@-1").stdout)
			require.Equal(t, 5, p.jp("rm", "A talk", "-y").exit, "both have the title")
			s := p.sit(100, "rm", ".")
			s.WaitFor(`"A talk" (`)
			s.WaitFor(fork + " keeps all of its events")
			s.WaitFor("Delete 1 conversation?  y yes   n no")
			s.prompted()
			s.Type(tt.key)
			require.Equal(t, tt.exit, s.exit())
			require.Equal(t, tt.left, strings.Count(p.git("for-each-ref", "refs/jp/conversations"), "refs/jp"))
			require.Equal(t, 0, p.jp("verify", "--all").exit)
		})
	}
}

// rm deletes nothing if a named conversation is in use. A filter leaves that one alone.
func TestRmOfOneInUse(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", talkScript)
	var ids []conversation.ID
	for _, title := range []string{"one", "two"} {
		out := p.jp("query", "--new", "--json", "-m", "script/../talk.toml", title)
		require.Zero(t, out.exit, out.stderr)
		id, err := conversation.ParseID(strings.TrimSpace(p.jp("show", "--json").field(t, "id")))
		require.NoError(t, err)
		ids = append(ids, id)
	}
	held, err := process.LocksIn(filepath.Join(p.dir, ".git")).Take(ids[1], process.Holder{PID: os.Getpid()})
	require.NoError(t, err)
	defer held.Release()
	before := p.git("for-each-ref", "refs/jp")
	require.Equal(t, 4, p.jp("rm", "-y", string(ids[0]), string(ids[1])).exit)
	require.Equal(t, 4, p.jp("archive", string(ids[0]), string(ids[1])).exit)
	require.Equal(t, before, p.git("for-each-ref", "refs/jp"))
	out := p.jp("rm", "-y", "--older", "0s")
	require.Zero(t, out.exit)
	require.Contains(t, out.stderr, string(ids[1])+" is in use")
	require.Contains(t, out.stdout, "Deleted "+string(ids[0]))
	require.Equal(t, 1, strings.Count(p.git("for-each-ref", "refs/jp/conversations"), "refs/jp"))
}

// field is a text of a result that is a JSON object.
func (r result) field(t *testing.T, name string) string {
	t.Helper()
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &object))
	text, ok := object[name].(string)
	require.True(t, ok)
	return text
}
