package console

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/testing/terminaltest"
)

// A terminal gets other sizes while a table is written, all of which fits the screen. No word is lost, and at most the words of one row
// stand twice.
func TestResizedTable(t *testing.T) {
	type size struct{ columns, rows int }
	for name, steps := range map[string][]size{
		"narrower":          {{40, 20}},
		"lower and back":    {{60, 10}, {60, 20}},
		"wider":             {{50, 20}, {60, 20}},
		"both":              {{40, 10}, {80, 30}, {33, 12}},
		"narrower by steps": {{55, 20}, {50, 20}, {45, 20}, {40, 20}, {35, 20}},
	} {
		for _, at := range []int{3, 9} {
			for _, console := range []bool{true, false} {
				t.Run(fmt.Sprint(name, ", ", at, ", ", console), func(t *testing.T) {
					s := terminaltest.New(t, 60, 20)
					tty := terminal.NewTTY(s.TTY)
					m := terminal.NewMarkdown(ends{s.TTY}, 60, terminal.Palette{})
					m.Live(19)
					redraw := func() {}
					if console {
						c := On(tty, terminal.Palette{}, ignoring{})
						require.NoError(t, c.Start(context.Background()))
						defer c.Close()
						_ = c.Draw(60, "it runs · 3 s")
						m = terminal.NewMarkdown(c, 60, terminal.Palette{})
						m.Live(19)
						m.In(c)
						redraw = c.Redraw
					} else {
						m.Reflow()
					}
					step, text := 0, "| A | B |\n|---|---|\n"
					for line := 1; line <= 26; line++ {
						if line >= at && line%2 == at%2 && step < len(steps) {
							s.Resize(steps[step].columns, steps[step].rows)
							redraw()
							step++
						}
						words := strings.Fields(wordsOfLine(line))
						text += fmt.Sprintf("| %s | %s |\n", strings.Join(words[:4], " "), strings.Join(words[4:], " "))
						m.Resize(tty.Width(), terminal.Rows(s.TTY))
						_, err := m.Write([]byte(text))
						require.NoError(t, err)
						text = ""
						s.Wait(word(line, 9), func() bool {
							drawn := !console || strings.HasSuffix(s.Raw(), "\x1b[2C")
							return drawn && strings.Contains(s.Scrolled(), word(line, 9))
						})
					}
					require.NoError(t, m.Close())
					_, err := m.Write([]byte("THE END\n"))
					require.NoError(t, err)
					s.Wait("the end", func() bool { return strings.Contains(s.Scrolled(), "THE END") })
					shown, more := s.Scrolled(), 0
					for line := 1; line <= 26; line++ {
						for n := 1; n <= 9; n++ {
							found := strings.Count(shown, word(line, n))
							require.NotZero(t, found, "%s:\n%s", word(line, n), shown)
							more += found - 1
						}
					}
					require.LessOrEqual(t, more, 9, shown)
				})
			}
		}
	}
}
