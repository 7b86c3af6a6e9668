package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/internal/safetext"
)

// TestStatusLeavesNothing draws, clears and prints in any order, at any size: the printed text stays,
// and while lines are drawn they stand below it.
func TestStatusLeavesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, rows := rapid.IntRange(8, 40).Draw(t, "width"), rapid.IntRange(4, 12).Draw(t, "rows")
		screen := vt.NewEmulator(width, rows)
		w := writer(func(text string) { _, _ = screen.Write([]byte(strings.ReplaceAll(text, "\n", "\r\n"))) })
		s := NewStatus(w)
		var printed, drawn []string
		for i := range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				require.NoError(t, s.Clear())
				line := fmt.Sprint("line ", i)
				w.print(line + "\n")
				printed, drawn = append(printed, line), nil
			default:
				drawn = nil
				for range rapid.IntRange(1, 2).Draw(t, "lines") {
					drawn = append(drawn, safetext.Fit(rapid.StringMatching(`[a-z漢]{1,30}`).Draw(t, "line"), width-1))
				}
				require.NoError(t, s.Draw(width, drawn...))
			}
			want := append(append([]string{}, printed...), drawn...)
			want = want[max(0, len(want)-rows+1):]
			got := shownLines(screen)
			require.Equal(t, strings.Join(want, "\n"), strings.Join(got[max(0, len(got)-len(want)):], "\n"))
			require.True(t, !screen.CursorHidden())
			require.Zero(t, screen.CursorPosition().X)
		}
	})
}

// writer is a function that takes written text.
type writer func(string)

func (w writer) Write(p []byte) (int, error) { w(string(p)); return len(p), nil }
func (w writer) print(text string)           { w(text) }

// shownLines are the lines of a screen, without the empty ones at its end.
func shownLines(screen *vt.Emulator) []string {
	lines := strings.Split(screen.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func TestStatusWritesWhatHasChanged(t *testing.T) {
	var out strings.Builder
	s := NewStatus(&out)
	for _, tt := range []struct {
		width int
		lines []string
		want  string
	}{
		{20, []string{"a"}, "\ra\x1b[K\r"},
		{20, []string{"a", "b"}, "\r\r\nb\x1b[K\x1b[1A\r"},
		{20, []string{"c", "b"}, "\rc\x1b[K\r\n\x1b[1A\r"},
		{20, []string{"c", "b"}, "\r\r\n\x1b[1A\r"},
		{20, []string{"c"}, "\rc\x1b[K\x1b[J\r"},
		{10, []string{"c"}, "\rc\x1b[K\x1b[J\r"},
		{10, nil, "\r" + ClearDown},
		{10, nil, ""},
	} {
		require.NoError(t, s.Draw(tt.width, tt.lines...))
		require.Equal(t, tt.want, out.String())
		out.Reset()
	}
}
