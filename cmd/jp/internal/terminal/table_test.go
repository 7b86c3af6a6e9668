package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/internal/safetext"
	"jp/internal/testing/terminaltest"
)

func TestTable(t *testing.T) {
	sample := func(width int) string {
		table := Table{Width: width, Flexible: 2, Right: []int{1}}
		table.Row("ID", "TURNS", "TITLE", "LAST")
		table.Row("jp-c1", "4", "漢字 Cap the login\tretries", "2 h")
		table.Line("  run it?")
		table.Row("jp-c2", "12", "Up", "now")
		var b strings.Builder
		require.NoError(t, table.Print(&b))
		return b.String()
	}
	require.Equal(t, "ID\tTURNS\tTITLE\tLAST\njp-c1\t4\t漢字 Cap the login retries\t2 h\njp-c2\t12\tUp\tnow\n", sample(0))
	require.Equal(t, ""+
		"ID     TURNS  TITLE                       LAST\n"+
		"jp-c1      4  漢字 Cap the login retries  2 h\n"+
		"  run it?\n"+
		"jp-c2     12  Up                          now\n", sample(60))
	require.Equal(t, ""+
		"ID     TURNS  TITLE       LAST\n"+
		"jp-c1      4  漢字 Cap …  2 h\n"+
		"  run it?\n"+
		"jp-c2     12  Up          now\n", sample(30))
}

func TestTableFitsItsWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := Table{Width: rapid.IntRange(1, 100).Draw(t, "width"), Flexible: rapid.IntRange(0, 3).Draw(t, "flexible")}
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			table.Row(rapid.SliceOfN(rapid.StringMatching(`[a-z 漢👍]{0,30}`), 1, 4).Draw(t, "cells")...)
		}
		var b strings.Builder
		require.NoError(t, table.Print(&b))
		for line := range strings.Lines(b.String()) {
			require.LessOrEqual(t, safetext.Columns(strings.TrimSuffix(line, "\n")), table.Width, "%q", line)
		}
	})
}

func TestFit(t *testing.T) {
	require.Equal(t, "short", safetext.Fit("short", 5))
	require.Equal(t, "lon…", safetext.Fit("longer", 4))
	require.Equal(t, "漢…", safetext.Fit("漢字漢字", 4))
	require.Empty(t, safetext.Fit("x", -1))
	require.Equal(t, 1, safetext.Columns(safetext.Fit(Coloured().Red("red"), 1)))
}

func TestPalette(t *testing.T) {
	screen := terminaltest.New(t, 80, 24)
	for name, test := range map[string]struct {
		environ  []string
		terminal bool
		want     bool
	}{
		"terminal":           {nil, true, true},
		"pipe":               {nil, false, false},
		"NO_COLOR":           {[]string{"NO_COLOR=1"}, true, false},
		"NO_COLOR, empty":    {[]string{"NO_COLOR="}, true, true},
		"NO_COLOR wins":      {[]string{"CLICOLOR_FORCE=1", "NO_COLOR=1"}, true, false},
		"forced":             {[]string{"CLICOLOR_FORCE=1"}, false, true},
		"forced, off":        {[]string{"CLICOLOR_FORCE=0"}, false, false},
		"dumb":               {[]string{"TERM=dumb"}, true, false},
		"the last one holds": {[]string{"TERM=dumb", "TERM=xterm"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			stream := screen.TTY
			if !test.terminal {
				stream = nil
			}
			require.Equal(t, test.want, NewPalette(stream, test.environ).On())
		})
	}
	require.Equal(t, "x", Palette{}.Red("x"))
	require.Equal(t, "\x1b[1ma\x1b[31mb\x1b[39m\x1b[22m", Coloured().Bold("a"+Coloured().Red("b")))
	require.Empty(t, Coloured().Dim(""))
}

func TestWidth(t *testing.T) {
	require.Equal(t, 80, Width(nil, nil))
	require.Equal(t, 132, Width(nil, []string{"COLUMNS=132"}))
	require.Equal(t, 80, Width(nil, []string{"COLUMNS=wide"}))
	screen := terminaltest.New(t, 50, 24)
	require.Equal(t, 50, Width(screen.TTY, []string{"COLUMNS=132"}))
	screen.Resize(70, 24)
	require.Equal(t, 70, Width(screen.TTY, nil))
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("", 3600))
	for past, want := range map[time.Duration]string{
		0: "now", 59 * time.Second: "now", -30 * time.Second: "now",
		time.Minute: "1 min", 59*time.Minute + 59*time.Second: "59 min",
		time.Hour: "1 h", 23 * time.Hour: "23 h",
		24 * time.Hour: "1 d", 6 * 24 * time.Hour: "6 d",
		7 * 24 * time.Hour: "14 Nov", 400 * 24 * time.Hour: "17 Oct 2025",
		-48 * time.Hour: "23 Nov",
	} {
		require.Equal(t, want, Ago(now.Add(-past).UTC(), now), past.String())
	}
}
