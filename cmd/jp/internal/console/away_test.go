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

// Text written while other programs have the terminal is shown when the last of them gives it back.
func TestWrittenMeanwhile(t *testing.T) {
	s := terminaltest.New(t, 80, 24)
	c := On(terminal.NewTTY(s.TTY), terminal.Palette{}, ignoring{})
	require.NoError(t, c.Start(context.Background()))
	defer c.Close()
	fmt.Fprintln(c, "before")
	s.WaitFor("before")
	first, second := c.Suspend(), c.Suspend()
	fmt.Fprintln(s.TTY, "of the other\r")
	fmt.Fprintln(c, "meanwhile")
	fmt.Fprint(c, "not whole")
	require.NoError(t, c.Show([]string{"a block"}, true))
	s.WaitFor("of the other")
	first()
	fmt.Fprintln(c, " yet")
	require.NotContains(t, s.Raw(), "meanwhile")
	second()
	s.WaitFor("of the other\nmeanwhile\nnot whole yet\na block\n")
	require.Equal(t, 1, strings.Count(s.Raw(), "meanwhile"))
}

// A chip is edited as one character, from either side of the cursor.
func TestChips(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(e *editor)
		text string
	}{
		"before":      {func(e *editor) { e.move(e.before()); e.remove(e.before()) }, "a  z"},
		"after":       {func(e *editor) { e.move(2); e.remove(e.after()) }, "a  z"},
		"left, left":  {func(e *editor) { e.move(e.before()); e.move(e.before()); e.insert("x") }, "a x[one two] z"},
		"right":       {func(e *editor) { e.move(2); e.move(e.after()); e.insert("x") }, "a [one two]x z"},
		"word before": {func(e *editor) { e.move(e.before()); e.remove(e.wordBefore()) }, "a  z"},
		"word after":  {func(e *editor) { e.move(2); e.remove(e.wordAfter()) }, "a  z"},
		"moved":       {func(e *editor) { e.move(0); e.insert("xyz"); e.move(len(e.text) - 2); e.remove(e.before()) }, "xyza  z"},
		"set":         {func(e *editor) { e.set("[one two]"); e.remove(e.before()) }, "[one two"},
	} {
		var e editor
		e.insert("a z")
		e.move(2)
		e.chip("[one two]")
		require.Equal(t, "a [one two] z", e.text)
		tt.do(&e)
		require.Equal(t, tt.text, e.text, name)
	}
}
