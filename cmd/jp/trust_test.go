package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTrustAsks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		key     string
		exit    int
		trusted bool
	}{
		"yes": {"y", 0, true}, "no": {"n", 3, false}, "Ctrl+C": {"\x03", 130, false}, "Ctrl+D": {"\x04", 3, false}, "Esc": {"\x1b", 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(".jp/config.toml", "[hooks]\nturn-end = [\"./notify\", \"\\u202Edlrow\"]\n")
			s := p.sit(100, "trust")
			s.WaitFor(".jp/config.toml asks for:")
			s.WaitFor(`hooks.turn-end`)
			s.WaitFor(`\u202`) // the character that turns the line around is visible
			s.WaitFor("Trust this?")
			s.prompted()
			s.Type(tt.key)
			require.Equal(t, tt.exit, s.exit())
			require.Equal(t, tt.trusted, p.jp("trust", "--show").exit == 0)
		})
	}
}

func TestTrustShowsWhatChanged(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const before = "[hooks]\nturn-end = [\"./notify\"]\n"
	p.write(".jp/config.toml", before)
	require.Zero(t, p.jp("trust", "-y").exit)
	p.write(".jp/config.toml", strings.Replace(before, "notify", "steal", 1))
	s := p.sit(100, "trust")
	s.WaitFor("Since you approved it last:")
	s.WaitFor(`+ turn-end = ["./steal"]`)
	s.WaitFor("Trust this?")
	s.prompted()
	s.Type("n")
	require.Equal(t, 3, s.exit())
	require.Equal(t, 1, p.jp("trust", "--show").exit)
}
