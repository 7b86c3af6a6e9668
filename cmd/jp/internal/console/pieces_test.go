package console

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/cmd/jp/internal/terminal"
	"jp/internal/testing/terminaltest"
)

// A slowKeyboard gives pieces, each some time after the one before.
type slowKeyboard struct {
	pieces []string
	gap    time.Duration
	now    time.Time
	next   time.Time
}

func (k *slowKeyboard) Read(limit time.Duration) ([]byte, error) {
	if len(k.pieces) == 0 && limit < 0 {
		return nil, io.EOF
	}
	if limit >= 0 && (len(k.pieces) == 0 || k.now.Add(limit).Before(k.next)) {
		k.now = k.now.Add(limit)
		return nil, nil
	}
	piece := k.pieces[0]
	k.pieces = k.pieces[1:]
	k.now, k.next = k.next, k.next.Add(k.gap)
	return []byte(piece), nil
}

// Keys that arrive in two pieces, cut at any place, make the same line as those that arrive in one.
// Keys and answers of the terminal leave no part in it.
func TestTypedInPieces(t *testing.T) {
	s := terminaltest.New(t, 80, 24)
	c := On(terminal.NewTTY(s.TTY), terminal.Palette{}, ignoring{})
	require.NoError(t, c.Start(context.Background()))
	defer c.Close()
	c.pause()
	for typed, want := range map[string]string{
		"漢": "a漢z", "é": "aéz", "😀👍🏽": "a😀👍🏽z", "b": "abz",
		"\x1b[D": "za", "\x1bOD": "za", "\x1b[1;5D": "za", "\x1b[3~": "az", "\x1b[?62;4c": "az", "\x1b[I": "az", "\x1b[[A": "az",
		"\x1b[200~p q\x1b[201~":            "ap qz",
		"\x1b]11;rgb:1e1e/1e1e/1e1e\a":     "az",
		"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\": "az",
		"\x1bP>|term 1.2\x1b\\":            "az",
		"\x1b_Gi=1;OK\x1b\\":               "az",
	} {
		for at := 1; at <= len(typed); at++ {
			for _, gap := range []time.Duration{5 * time.Millisecond, 60 * time.Millisecond, 100 * time.Millisecond, 900 * time.Millisecond, 3 * time.Second} {
				if gap > time.Second && (typed[:at] == "\x1b" || at == 2 && typed[0] == '\x1b' && typed[1] != '[') {
					continue // Esc, or Alt with a character
				}
				k := &slowKeyboard{gap: gap, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
				for _, piece := range []string{"a", typed[:at], typed[at:], "z"} {
					if piece != "" {
						k.pieces = append(k.pieces, piece)
					}
				}
				pieces := strings.Join(k.pieces, "|")
				c.SetText("")
				c.now = func() time.Time { return k.now }
				require.ErrorIs(t, c.read(k, false), io.EOF)
				require.Equal(t, want, c.Text(), "%q, %s apart", pieces, gap)
			}
		}
	}
}

// The terminal names its background at any time, or not at all.
func TestBackground(t *testing.T) {
	for typed, want := range map[string][]terminal.Theme{
		"\x1b]11;rgb:1e1e/1e1e/1e1e\a":     {terminal.Dark},
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\": {terminal.Light},
		"\x1b]11;#fff\x1b\\":               {terminal.Light},
		"\x1b]10;rgb:ffff/ffff/ffff\x1b\\": nil,
		"\x1b]11;none\a":                   nil,
		"\x1b]52;c;aaaa\a":                 nil,
	} {
		s := terminaltest.New(t, 80, 24)
		c := On(terminal.NewTTY(s.TTY), terminal.Palette{}, ignoring{})
		var themes []terminal.Theme
		c.Background = func(theme terminal.Theme) { themes = append(themes, theme) }
		require.NoError(t, c.Start(context.Background()))
		c.pause()
		k := &slowKeyboard{pieces: []string{"a", typed, "z"}, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		c.now = func() time.Time { return k.now }
		require.ErrorIs(t, c.read(k, false), io.EOF)
		require.Equal(t, want, themes, typed)
		require.Equal(t, "az", c.Text())
		require.NoError(t, c.Close())
	}
}
