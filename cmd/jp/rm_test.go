package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRmAsks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		key  string
		exit int
		left int
	}{
		"yes": {"y", 0, 1}, "no": {"n", 3, 2}, "Ctrl+C": {"\x03", 130, 2}, "Ctrl+D": {"\x04", 3, 2},
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
			s.WaitFor("fork " + fork + " keeps the")
			s.WaitFor("Delete 1 conversation?  y yes   n no")
			s.prompted()
			s.Type(tt.key)
			require.Equal(t, tt.exit, s.exit())
			require.Equal(t, tt.left, strings.Count(p.git("for-each-ref", "refs/jp/conversations"), "refs/jp"))
			require.Equal(t, 0, p.jp("verify", "--all").exit)
		})
	}
}
