package ui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/cmd/jp/internal/terminal"
)

// The use of a context is a bar and a list if there are colours and room, else a list.
func TestContextRows(t *testing.T) {
	use := agent.ContextUse{Model: "vendor/model", Window: 100_000, Kinds: map[agent.ContextKind]int{
		agent.ContextSystem: 4_000, agent.ContextInstructions: 10, agent.ContextMessages: 21_000, agent.ContextResults: 25_000,
	}}
	const list = `vendor/model · about 50.0k tokens · 50 % of 100k

  system and tools     4.0k   4.0 %
  instructions           10   0.0 %
  skills                  0   0.0 %
  messages            21.0k  21.0 %
  tool results        25.0k  25.0 %
  attachments             0   0.0 %
  free                50.0k  50.0 %
`
	text := func(use agent.ContextUse, width int, p terminal.Palette, draws bool) string {
		return strings.Join(ContextRows(use, width, p, draws), "\n") + "\n"
	}
	plain := strings.Replace(list, "\n\n", "\n", 1)
	require.Equal(t, plain, text(use, 80, terminal.Palette{}, true))
	require.Equal(t, strings.Replace(plain, " · 50 %", "\n50 %", 1), text(use, 40, terminal.Coloured(), true))
	require.Equal(t, plain, text(use, 80, terminal.Coloured(), false))

	coloured := text(use, 48, terminal.Coloured(), true)
	require.Contains(t, coloured, "\n  \x1b[36m█\x1b[39m\x1b[35m█\x1b[39m\x1b[33m█████████\x1b[39m\x1b[31m███████████\x1b[39m\x1b[2m░░░░░░░░░░░░░░░░░░░░░░\x1b[22m\n")
	require.Contains(t, coloured, "\n  \x1b[33m█\x1b[39m messages            21.0k  21.0 %\n")

	use.Window = 0
	require.Contains(t, text(use, 80, terminal.Palette{}, true), "vendor/model · about 50.0k tokens\n  system and tools     4.0k\n")
	require.NotContains(t, text(use, 80, terminal.Palette{}, true), "free")
	use.Window = 20_000 // it is too small
	require.Contains(t, text(use, 80, terminal.Coloured(), true), "free                    0   0.0 %")
}
