package console

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/testing/terminaltest"
)

// A terminal gets other sizes while an answer is written. Each word of it stands once on the screen or
// among the lines that have left it.
func TestResizedAnswer(t *testing.T) {
	type size struct{ columns, rows int }
	sizes := map[string][]size{
		"narrower":          {{40, 20}},
		"lower and back":    {{60, 10}, {60, 20}},
		"wider":             {{50, 20}, {60, 20}},
		"both":              {{40, 10}, {80, 30}, {33, 12}},
		"a few lines":       {{30, 9}, {60, 20}},
		"narrower by steps": {{55, 20}, {50, 20}, {45, 20}, {40, 20}, {35, 20}},
	}
	layouts := map[string]func(line int) string{
		"a list":          func(line int) string { return "- " + wordsOfLine(line) + "\n" },
		"a loose list":    func(line int) string { return "- " + wordsOfLine(line) + "\n\n" },
		"one paragraph":   func(line int) string { return wordsOfLine(line) + "\n" },
		"quoted":          func(line int) string { return "> " + wordsOfLine(line) + "\n" },
		"a list and code": func(line int) string { return "- item\n\n  ```\n  code\n  ```\n\n  " + wordsOfLine(line) + "\n" },
		"a numbered list": func(line int) string { return fmt.Sprintf("%d. %s\n", line, wordsOfLine(line)) },
	}
	for name, steps := range sizes {
		for kind, layout := range layouts {
			for _, at := range []int{3, 9, 20} { // the line in which the sizes begin to change
				for _, console := range []bool{true, false} {
					t.Run(fmt.Sprint(name, ", ", kind, ", ", at, ", ", console), func(t *testing.T) {
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
						step := 0
						for line := 1; line <= 26; line++ {
							if line >= at && line%2 == at%2 && step < len(steps) {
								s.Resize(steps[step].columns, steps[step].rows)
								redraw()
								step++
							}
							for _, piece := range slices.Collect(slices.Chunk([]byte(layout(line)), 17)) {
								m.Resize(tty.Width(), terminal.Rows(s.TTY))
								_, err := m.Write(piece)
								require.NoError(t, err)
							}
							s.Wait(word(line, 9), func() bool {
								drawn := !console || strings.HasSuffix(s.Raw(), "\x1b[2C") // the cursor is in the line again
								return drawn && strings.Contains(s.Scrolled(), word(line, 9))
							})
						}
						require.NoError(t, m.Close())
						_, err := m.Write([]byte("THE END\n"))
						require.NoError(t, err)
						s.Wait("the end", func() bool { return strings.Contains(s.Scrolled(), "THE END") })
						shown := s.Scrolled()
						for line := 1; line <= 26; line++ {
							for n := 1; n <= 9; n++ {
								require.Equal(t, 1, strings.Count(shown, word(line, n)), "%s:\n%s", word(line, n), shown)
							}
						}
					})
				}
			}
		}
	}
}

func word(line, n int) string { return fmt.Sprintf("%02d%c%c", line, 'a'+n, 'a'+n) }

func wordsOfLine(line int) string {
	var words []string
	for n := 1; n <= 9; n++ {
		words = append(words, word(line, n))
	}
	return strings.Join(words, " ")
}

// ends writes to a terminal that moves no cursor to the left at the end of a line.
type ends struct {
	w interface{ WriteString(string) (int, error) }
}

func (e ends) Write(p []byte) (int, error) {
	_, err := e.w.WriteString(strings.ReplaceAll(string(p), "\n", "\r\n"))
	return len(p), err
}
