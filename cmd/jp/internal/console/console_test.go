package console

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/terminal/terminaltest"
)

// ignoring takes each wish of the person, and does nothing.
type ignoring struct{}

func (ignoring) Enter(Entry) bool                        { return true }
func (ignoring) Changed(string)                          {}
func (ignoring) Stop(bool)                               {}
func (ignoring) Leave()                                  {}
func (ignoring) History(bool, string) (string, bool)     { return "", false }
func (ignoring) Suspend()                                {}
func (ignoring) Mode()                                   {}
func (ignoring) Complete(Entry, int) (int, string, bool) { return 0, "", false }

// A key is on the screen within 16 ms, also behind a pasted text of 64 KiB. The quickest of several keys
// counts: the machine may have other work.
func TestAKeyIsShownAtOnce(t *testing.T) {
	for name, before := range map[string]string{"an empty line": "", "64 KiB": strings.Repeat("a word, and another\n", 64<<10/20) + ">"} {
		t.Run(name, func(t *testing.T) {
			s := terminaltest.New(t, 80, 24)
			c, err := On(context.Background(), terminal.NewTTY(s.TTY), terminal.Palette{}, ignoring{})
			require.NoError(t, err)
			defer c.Close()
			c.SetText(before)
			s.WaitForEnd(">")
			var took []time.Duration
			for _, key := range strings.Split("abcdefghijklmnopqrst", "") {
				shown := len(s.Raw())
				began := time.Now()
				s.Type(key)
				for !strings.Contains(s.Raw()[shown:], key) {
					require.Less(t, time.Since(began), time.Minute, s.Text())
					time.Sleep(100 * time.Microsecond)
				}
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			t.Logf("key to echo: quickest %v, median %v, slowest %v", took[0], took[len(took)/2], took[len(took)-1])
			require.Less(t, took[0], 16*time.Millisecond)
		})
	}
}

// Of what is redrawn no more than the lines that changed are written.
func TestAKeyWritesItsLineOnly(t *testing.T) {
	s := terminaltest.New(t, 80, 24)
	c, err := On(context.Background(), terminal.NewTTY(s.TTY), terminal.Palette{}, ignoring{})
	require.NoError(t, err)
	defer c.Close()
	c.Above("above the line")
	c.Below("below the line")
	s.WaitFor(">\nbelow the line")
	shown := len(s.Raw())
	s.Type("x")
	s.WaitFor("> x\nbelow the line")
	require.NotContains(t, s.Raw()[shown:], "the line")
	require.Less(t, len(s.Raw()[shown:]), 80)
}

// What was typed while another program had the terminal is the line's, and one Enter behind it enters it.
func TestTypedAhead(t *testing.T) {
	for typed, entered := range map[string]string{"one\n": "one", "one": "", "one\ntwo\n": ""} {
		s := terminaltest.New(t, 80, 24)
		h := &entering{entered: make(chan string, 1)}
		c, err := On(context.Background(), terminal.NewTTY(s.TTY), terminal.Palette{}, h)
		require.NoError(t, err)
		defer c.Close()
		resume := c.Suspend()
		s.Type(typed)
		s.WaitFor(strings.TrimSpace(typed)) // the terminal shows it
		resume()
		if entered != "" {
			require.Equal(t, entered, <-h.entered)
		} else {
			s.WaitFor("> " + strings.ReplaceAll(strings.TrimSpace(typed), "\n", "\n  "))
			require.Empty(t, h.entered)
		}
	}
}

// entering takes what is entered.
type entering struct {
	ignoring
	entered chan string
}

func (e *entering) Enter(entry Entry) bool {
	e.entered <- entry.Text
	return true
}
