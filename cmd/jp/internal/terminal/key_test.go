package terminal

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"jp/internal/testing/terminaltest"
)

func TestDecode(t *testing.T) {
	for typed, want := range map[string]Key{
		"y": 'y', "Y": 'Y', "é": 'é', "\r": KeyEnter, "\n": KeyEnter, "\r\n": KeyEnter, "y\r": 'y', "y\n\n": 'y',
		"\x03": KeyCtrlC, "\x04": KeyCtrlD, "\x1b": KeyEsc, "\x7f": 0x7f,
		"\x1b[A": KeyOther, "\x1bOA": KeyOther, "\x1by": KeyOther, "\x1b[200~y\x1b[201~": KeyOther,
		"yes": KeyOther, "y\ny\n": KeyOther, "\xff": KeyOther, "ab\x03": KeyCtrlC, "\x1b[A\x03": KeyCtrlC,
	} {
		require.Equal(t, want, decode([]byte(typed)), "%q", typed)
	}
}

// asked runs a function that asks, and returns a channel for its result.
func asked[T any](ask func() (T, error)) <-chan result[T] {
	done := make(chan result[T], 1)
	go func() {
		value, err := ask()
		done <- result[T]{value, err}
	}()
	return done
}

type result[T any] struct {
	value T
	err   error
}

func await[T any](t *testing.T, done <-chan result[T]) (T, error) {
	t.Helper()
	select {
	case r := <-done:
		return r.value, r.err
	case <-time.After(time.Minute):
		require.FailNow(t, "the question never ended")
		panic("unreachable")
	}
}

func TestChoose(t *testing.T) {
	for name, test := range map[string]struct {
		typed string
		want  Key
	}{
		"letter":      {"y", 'y'},
		"capital":     {"N", 'N'},
		"Ctrl+C":      {"\x03", KeyCtrlC},
		"Ctrl+D":      {"\x04", KeyCtrlD},
		"with Enter":  {"y\r", 'y'},
		"Ctrl+Z":      {"\x1a\x03", KeyCtrlC},
		"not a paste": {"yes\x03", KeyCtrlC},
	} {
		t.Run(name, func(t *testing.T) {
			screen := terminaltest.New(t, 80, 24)
			tty := NewTTY(screen.TTY)
			before := modeOf(t, tty)
			done := asked(func() (Key, error) {
				return tty.Choose(t.Context(), "Key> ", func(k Key) bool { return k.Lower() == 'y' || k.Lower() == 'n' })
			})
			screen.WaitFor("Key>")
			screen.Type(test.typed)
			key, err := await(t, done)
			require.NoError(t, err)
			require.Equal(t, test.want, key)
			require.Equal(t, before, modeOf(t, tty), "the mode is put back")
			require.Equal(t, "Key>", screen.Text(), "keys are not shown")
		})
	}
}

func modeOf(t *testing.T, tty *TTY) unix.Termios {
	t.Helper()
	mode, err := unix.IoctlGetTermios(tty.fd(), getMode)
	require.NoError(t, err)
	return *mode
}

// An arrow up ends in the letter A.
func TestChooseIgnoresKeysThatNobodyAccepts(t *testing.T) {
	screen := terminaltest.New(t, 80, 24)
	tty := NewTTY(screen.TTY)
	tty.now = func() time.Time { return time.Unix(0, 0) } // the rest of a key's sequence is never too late
	seen := make(chan Key, 9)
	done := asked(func() (Key, error) {
		return tty.Choose(t.Context(), "Key> ", func(k Key) bool {
			seen <- k
			return k == 'a'
		})
	})
	screen.WaitFor("Key>")
	for _, typed := range []struct {
		keys string
		want Key
	}{
		{"\x1b[A", KeyOther}, {"aa", KeyOther}, {"\x1b", KeyEsc}, {"\r", KeyEnter}, {"x", 'x'},
		{"\x1b[200~a\x1b[201~", KeyOther}, {"\x1b[200~a\r\x03\x1b[201~", KeyOther}, {"\x1b", KeyEsc}, {"[A", KeyOther}, {"\x1b", KeyEsc}, {"OA", KeyOther},
		{"a", 'a'},
	} {
		screen.Type(typed.keys)
		require.Equal(t, typed.want, <-seen, "%q", typed.keys)
	}
	key, err := await(t, done)
	require.NoError(t, err)
	require.Equal(t, Key('a'), key)
}

func TestWhatWasTypedBeforeIsThrownAway(t *testing.T) {
	screen := terminaltest.New(t, 80, 24)
	tty := NewTTY(screen.TTY)
	screen.Type("ahead\ny")
	screen.WaitForEnd("\ny") // echoed, so it waits to be read
	done := asked(func() (Key, error) { return tty.Choose(t.Context(), " Key> ", nil) })
	screen.WaitFor("Key>")
	screen.Type("n")
	key, err := await(t, done)
	require.NoError(t, err)
	require.Equal(t, Key('n'), key)

	screen.Type("more\n")
	screen.WaitFor("more")
	line := asked(func() (string, error) { return tty.Line(t.Context(), "Line> ") })
	screen.WaitFor("Line>")
	screen.Type("text\n")
	text, err := await(t, line)
	require.NoError(t, err)
	require.Equal(t, "text", text)
}

// A person who was typing when a question came up has not read it: it can be answered after a pause.
func TestAQuestionThatInterruptsTypingIsNotAnswered(t *testing.T) {
	screen := terminaltest.New(t, 80, 24)
	tty := NewTTY(screen.TTY)
	tty.unread = time.Hour
	screen.Type("fix the y")
	screen.WaitForEnd("fix the y")
	done := asked(func() (Key, error) { return tty.Choose(t.Context(), " Run it> ", func(k Key) bool { return k == 'y' }) })
	screen.WaitForEnd("Run it")
	screen.Type("y")
	screen.Type("\x03")
	key, err := await(t, done)
	require.NoError(t, err)
	require.Equal(t, KeyCtrlC, key)
	require.NotContains(t, screen.Text(), ">")
}

// A key that repeats, or comes as the question before is gone, is no answer.
func TestAQuestionThatNobodyCanHaveReadIsNotAnswered(t *testing.T) {
	screen := terminaltest.New(t, 80, 24)
	tty := NewTTY(screen.TTY)
	tty.unread = time.Hour
	choose := func(prompt string) <-chan result[Key] {
		return asked(func() (Key, error) { return tty.Choose(t.Context(), prompt, func(k Key) bool { return k == 'y' }) })
	}
	first := choose("First> ")
	screen.WaitForEnd("First>")
	screen.Type("y")
	key, err := await(t, first)
	require.NoError(t, err)
	require.Equal(t, Key('y'), key)

	second := choose(" Second> ")
	screen.WaitForEnd("Second")
	for range 3 {
		screen.Type("y")
	}
	screen.Type("\x03")
	key, err = await(t, second)
	require.NoError(t, err)
	require.Equal(t, KeyCtrlC, key)

	tty.Repeat()
	third := choose(" Third> ")
	screen.WaitForEnd("Third>")
	screen.Type("y")
	_, err = await(t, third)
	require.NoError(t, err)

	tty.unread = time.Millisecond
	fourth := choose(" Fourth> ")
	screen.WaitForEnd("Fourth>")
	screen.Type("y")
	key, err = await(t, fourth)
	require.NoError(t, err)
	require.Equal(t, Key('y'), key)
}

func TestNewlineAfterALetterBelongsToIt(t *testing.T) {
	screen := terminaltest.New(t, 80, 24)
	tty := NewTTY(screen.TTY)
	clock := time.Unix(0, 0)
	tty.now = func() time.Time { return clock }
	require.False(t, tty.confirms('y'))
	require.True(t, tty.confirms(KeyEnter))
	clock = clock.Add(afterLetter)
	require.False(t, tty.confirms(KeyEnter))

	looked := make(chan struct{}, 9)
	tty.letter, tty.now = clock, func() time.Time { looked <- struct{}{}; return clock }
	choice := asked(func() (Key, error) { return tty.Choose(t.Context(), "Key> ", nil) })
	screen.WaitFor("Key>")
	screen.Type("\r")
	<-looked // when it came
	<-looked // when it was judged
	screen.Type("n")
	key, err := await(t, choice)
	require.NoError(t, err)
	require.Equal(t, Key('n'), key, "not the newline")

	tty.letter, tty.now = clock, func() time.Time { return clock }
	done := asked(func() (string, error) { return tty.Line(t.Context(), "Line> ") })
	screen.WaitFor("Line>")
	screen.Type("\n")
	screen.WaitForEnd("\nLine>")
	screen.Type("why\n")
	text, err := await(t, done)
	require.NoError(t, err)
	require.Equal(t, "why", text)
}

func TestLine(t *testing.T) {
	for name, test := range map[string]struct {
		typed, want string
		err         error
	}{
		"text":              {typed: "two words é\n", want: "two words é"},
		"edited":            {typed: "abé\x7fc\n", want: "abc"},
		"empty":             {typed: "\n"},
		"Ctrl+D":            {typed: "\x04", err: io.EOF},
		"Ctrl+D behind it":  {typed: "ab\x04c\n", want: "abc"},
		"Esc":               {typed: "\x1b", err: ErrBack},
		"Esc after it":      {typed: "text\x1b", want: "text", err: ErrBack},
		"in the middle":     {typed: "ac\x1b[Db\n", want: "abc"},
		"a paste":           {typed: "a \x1b[200~b\r\nc\x03\x1b\td\x1b[201~ e\n", want: "a b  c d e"},
		"a paste, unmarked": {typed: "a\nb\nc\n", want: "a b c"},
		"hidden":            {typed: "a\u009b31mb\n", want: "a31mb"},
		"Ctrl+C":            {typed: "\x03", err: ErrInterrupted},
		"Ctrl+C after it":   {typed: "text\x03", want: "text", err: ErrInterrupted},
		"cursor keys":       {typed: "a\x1b[Db\x1b[Cc\x1b[A\n", want: "bac"},
		"other directions":  {typed: "\u200fא\n", want: "\u200fא"},
	} {
		t.Run(name, func(t *testing.T) {
			screen := terminaltest.New(t, 80, 24)
			tty := NewTTY(screen.TTY)
			before := modeOf(t, tty)
			done := asked(func() (string, error) { return tty.Line(t.Context(), "Line> ") })
			screen.WaitFor("Line>")
			screen.Type(test.typed)
			text, err := await(t, done)
			require.ErrorIs(t, err, test.err)
			require.Equal(t, test.want, text)
			require.Equal(t, before, modeOf(t, tty))
		})
	}
}

func TestQuestionsEndWithTheirContextOrTheTerminal(t *testing.T) {
	asks := map[string]func(context.Context, *TTY) error{
		"key":  func(ctx context.Context, tty *TTY) error { _, err := tty.Choose(ctx, "Ask> ", nil); return err },
		"line": func(ctx context.Context, tty *TTY) error { _, err := tty.Line(ctx, "Ask> "); return err },
	}
	cause := errors.New("answered elsewhere")
	for name, ask := range asks {
		t.Run(name+", context", func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			screen := terminaltest.New(t, 80, 24)
			defer screen.Hangup()
			tty := NewTTY(screen.TTY)
			before := modeOf(t, tty)
			ctx, cancel := context.WithCancelCause(context.Background())
			done := asked(func() (any, error) { return nil, ask(ctx, tty) })
			screen.WaitFor("Ask>")
			cancel(cause)
			_, err := await(t, done)
			require.ErrorIs(t, err, cause)
			require.Equal(t, before, modeOf(t, tty))
			require.ErrorIs(t, ask(ctx, tty), cause, "it does not ask after the end")
		})
		t.Run(name+", hang-up", func(t *testing.T) {
			screen := terminaltest.New(t, 80, 24)
			tty := NewTTY(screen.TTY)
			done := asked(func() (any, error) { return nil, ask(context.Background(), tty) })
			screen.WaitFor("Ask>")
			screen.Hangup()
			_, err := await(t, done)
			require.ErrorIs(t, err, ErrHangup)
			require.ErrorIs(t, ask(context.Background(), tty), ErrHangup, "asked after the loss")
		})
	}
}

// unsentTexts are an Unsent in memory.
type unsentTexts map[string]string

func (u unsentTexts) Keep(prompt, text string) {
	delete(u, prompt)
	if text != "" {
		u[prompt] = text
	}
}

func (u unsentTexts) Text(prompt string) string { return u[prompt] }

func TestUnsentTextIsKept(t *testing.T) {
	elsewhere := errors.New("answered elsewhere")
	for name, test := range map[string]struct {
		typed, want string
		preset      string // kept before
		cancel      bool   // else the terminal hangs up
		err         error  // of the typed text itself
	}{
		"hang-up":                     {typed: "because ë", want: "because ë"},
		"answered elsewhere":          {typed: "because", want: "because", cancel: true},
		"edited":                      {typed: "ac\x1b[Dbd\x7f", want: "abc"},
		"all deleted":                 {typed: "a\x7f", want: ""},
		"nothing typed keeps the old": {preset: "old", want: "old"},
		"another text":                {preset: "old", typed: "new", want: "new"},
		"taken and edited":            {preset: "old", typed: "\ter", want: "older"},
		"Esc":                         {typed: "text\x1b", err: ErrBack},
		"Ctrl+C":                      {typed: "text\x03", err: ErrInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			screen := terminaltest.New(t, 80, 24)
			tty, kept := NewTTY(screen.TTY), unsentTexts{}
			kept.Keep("Why? ", test.preset)
			tty.KeepUnsent(kept)
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			done := asked(func() (string, error) { return tty.Line(ctx, "Why? ") })
			screen.WaitFor("Why?")
			screen.Type(test.typed)
			want := test.err
			switch {
			case test.err != nil:
			case test.cancel:
				screen.WaitForEnd(strings.TrimSpace("Why? " + test.want))
				cancel(elsewhere)
				want = elsewhere
			default:
				if test.typed != "" {
					screen.WaitForEnd(strings.TrimSpace("Why? " + test.want))
				}
				screen.Hangup()
				want = ErrHangup
			}
			_, err := await(t, done)
			require.ErrorIs(t, err, want)
			require.Equal(t, test.want, kept.Text("Why? "))
		})
	}
}

func TestUnsentTextIsOffered(t *testing.T) {
	screen := terminaltest.New(t, 40, 24)
	tty, kept := NewTTY(screen.TTY), unsentTexts{"> ": "a long reason that was typed before the line broke"}
	tty.KeepUnsent(kept)
	done := asked(func() (string, error) { return tty.LineOr(t.Context(), "> ", "preset") })
	screen.WaitFor("You typed here before: a long reason")
	screen.WaitForEnd(">")
	screen.Type("\t")
	screen.WaitForEnd("broke")
	screen.Type("\t\n")
	text, err := await(t, done)
	require.NoError(t, err)
	require.Equal(t, "preset", text)
	require.Empty(t, kept)
}
