package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLeavingAtTheFirstWord leaves as soon as anything is shown, without a question: keys typed while
// a question opens are thrown away.
func TestLeavingAtTheFirstWord(t *testing.T) {
	t.Parallel()
	p, id := inBackground(t, hangScript)
	for range 5 {
		for _, key := range []string{"\x1c", "\x1a"} {
			s := p.sit(100, "attach")
			s.Wait("anything", func() bool { return s.Raw() != "" })
			s.Type(key)
			require.Zero(t, s.exit(), s.Text())
			p.attachedSoon(id, false)
		}
	}
	require.Zero(t, p.jp("kill", string(id)).exit)
}
