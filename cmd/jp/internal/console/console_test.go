package console

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/testing/terminaltest"
)

// ignoring takes each wish of the person without any effect.
type ignoring struct{}

func (ignoring) Picture()                                {}
func (ignoring) Pasted(string) (string, bool)            { return "", false }
func (ignoring) Open()                                   {}
func (ignoring) Enter(Entry) bool                        { return true }
func (ignoring) Changed(string)                          {}
func (ignoring) Stop(bool)                               {}
func (ignoring) Leave()                                  {}
func (ignoring) History(bool, string) (string, bool)     { return "", false }
func (ignoring) Suspend()                                {}
func (ignoring) Mode()                                   {}
func (ignoring) Edit()                                   {}
func (ignoring) Search(string, bool) (string, bool)      { return "", false }
func (ignoring) Complete(Entry, int) (int, string, bool) { return 0, "", false }

// A key is on the screen within 16 ms, also behind a pasted text of 64 KiB. The quickest of several keys
// counts: the machine may have other work.
func TestAKeyIsShownAtOnce(t *testing.T) {
	for name, before := range map[string]string{"an empty line": "", "64 KiB": strings.Repeat("a word, and another\n", 64<<10/20) + ">"} {
		t.Run(name, func(t *testing.T) {
			s := terminaltest.New(t, 80, 24)
			c := On(terminal.NewTTY(s.TTY), terminal.Palette{}, ignoring{})
			require.NoError(t, c.Start(context.Background()))
			defer c.Close()
			c.SetText(before)
			s.Wait("the line", func() bool { return strings.HasSuffix(s.Raw(), "C") })
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

// A redraw writes the changed lines only.
func TestAKeyWritesItsLineOnly(t *testing.T) {
	s := terminaltest.New(t, 80, 24)
	c := On(terminal.NewTTY(s.TTY), terminal.Palette{}, ignoring{})
	require.NoError(t, c.Start(context.Background()))
	defer c.Close()
	c.Above("above the line")
	c.Below("below the line")
	rule := "\n" + strings.Repeat("─", 79) + "\n"
	s.WaitFor("above the line" + rule + "❯" + rule + "below the line")
	shown := len(s.Raw())
	s.Type("x")
	s.WaitFor("❯ x" + rule + "below the line")
	require.NotContains(t, s.Raw()[shown:], "the line")
	require.Less(t, len(s.Raw()[shown:]), 80)
}

// Text typed while another program had the terminal is the line's, and one Enter behind it enters it.
func TestTypedAhead(t *testing.T) {
	for typed, entered := range map[string]string{"one\n": "one", "one": "", "one\ntwo\n": ""} {
		s := terminaltest.New(t, 80, 24)
		h := &entering{entered: make(chan string, 1)}
		c := On(terminal.NewTTY(s.TTY), terminal.Palette{}, h)
		require.NoError(t, c.Start(context.Background()))
		defer c.Close()
		resume := c.Suspend()
		s.Type(typed)
		s.WaitFor(strings.TrimSpace(typed)) // the terminal shows it
		resume()
		if entered != "" {
			require.Equal(t, entered, <-h.entered)
		} else {
			s.WaitFor("❯ " + strings.ReplaceAll(strings.TrimSpace(typed), "\n", "\n  "))
			require.Empty(t, h.entered)
		}
	}
}

// Answers that are typed right before their question are dropped, too.
func TestAnswersBeforeTheirQuestion(t *testing.T) {
	for typed, line := range map[string]string{"yy": "", "n": "", "no": "no", "x": "x"} {
		t.Run(typed, func(t *testing.T) {
			s := terminaltest.New(t, 80, 24)
			c := On(terminal.NewTTY(s.TTY), terminal.Palette{}, ignoring{})
			at := time.Now()
			c.now = func() time.Time { return at }
			require.NoError(t, c.Start(t.Context()))
			defer c.Close()
			s.Type(typed)
			s.Wait("the line", func() bool { return c.Text() == typed })
			ctx, stop := context.WithCancel(t.Context())
			over := make(chan error, 1)
			go func() {
				_, err := c.Asker().Choose(ctx, "Run it? > ", func(k terminal.Key) bool { return k == 'y' || k == 'n' })
				over <- err
			}()
			s.WaitFor("Run it?")
			require.Equal(t, line, c.Text())
			if line == "" {
				s.WaitFor("press " + typed[:1] + " again")
			}
			stop()
			require.ErrorIs(t, <-over, context.Canceled)
		})
	}
}

// entering takes entries.
type entering struct {
	ignoring
	entered chan string
}

func (e *entering) Enter(entry Entry) bool {
	e.entered <- entry.Text
	return true
}

// An answer that comes before a question can be answered is dropped, and jp says so. A text of two
// characters is a text.
func TestAnAnswerThatComesTooSoon(t *testing.T) {
	const later = "\x00" // the clock goes on
	for name, test := range map[string]struct{ typed, line, answer string }{
		"one answer":                      {"y", "", ""},
		"the same one, again and again":   {"yyy" + later + "y", "", "y"},
		"the same one, later":             {"y" + later + "y", "", "y"},
		"another one, later":              {"y" + later + "n", "", "n"},
		"a text":                          {"xa", "xa", ""},
		"a text that begins as an answer": {"no", "no", ""},
		"a text of answers":               {"ny", "ny", ""},
		"a text, later":                   {"y" + later + "x", "x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := terminaltest.New(t, 80, 24)
			c := On(terminal.NewTTY(s.TTY), terminal.Palette{}, ignoring{})
			var step, passed atomic.Int64 // of the clock, each time it is read
			begin := time.Now()
			c.now = func() time.Time { return begin.Add(time.Duration(passed.Add(step.Load()))) }
			require.NoError(t, c.Start(t.Context()))
			defer c.Close()
			ctx, stop := context.WithCancel(t.Context())
			answered := make(chan string, 1)
			go func() {
				key, _ := c.Asker().Choose(ctx, "Run it? > ", func(k terminal.Key) bool { return k == 'y' || k == 'n' })
				answered <- strings.Trim(string(rune(key)), "\x00")
			}()
			s.WaitFor("Run it?")
			for i, key := range strings.Split(test.typed, "") {
				if key == later {
					step.Store(int64(time.Minute))
					s.WaitFor("Run it? >")
					continue
				}
				shown := len(s.Raw())
				s.Type(key)
				if i == 0 && strings.Contains("yn", key) {
					s.WaitFor("press " + key + " again")
				} else if test.answer == "" && test.line != "" {
					s.Wait(key, func() bool { return len(s.Raw()) > shown })
				}
			}
			if test.answer == "" {
				s.Wait("the line", func() bool { return c.Text() == test.line })
				stop()
			}
			require.Equal(t, test.answer, <-answered)
			stop()
		})
	}
}
