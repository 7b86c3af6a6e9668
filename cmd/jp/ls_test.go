package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/safetext"
)

// hostileTitle is a title that a stranger's model may give a conversation.
const hostileTitle = "evil\x1b[2J\x1b]0;owned\x07 \u202etxt.exe\r\u0007\nsecond line"

// crowd is a place with conversations of each kind.
func crowd(t *testing.T) *workspace {
	t.Helper()
	p := newPlace(t)
	p.write("../talk.toml", talkScript)
	p.write("../make.toml", makeScript)
	talk := func(title string) {
		require.Zero(t, p.jp("query", "--new", "--title", title, "-m", "script/../talk.toml", "Hello").exit)
	}
	talk(strings.Repeat("A long title 漢字 ", 20))
	talk(hostileTitle)
	require.Zero(t, p.jp("edit", "--pin", "--expires", "2020-01-01").exit)
	require.Equal(t, 3, p.jp("query", "--new", "--title", "A file", "-m", "script/../make.toml", "Make files").exit)
	require.Zero(t, p.jp("fork", "--title", "The fork").exit)
	return p
}

func TestListFitsTheTerminal(t *testing.T) {
	t.Parallel()
	p := crowd(t)
	for width, want := range map[int]string{
		40:  `(?m)^\*  \w{4}  waiting  A file$`,
		80:  `(?m)^\*  jp-c\d+-\w{4}  waiting +1  +\S+.*  A file$`,
		120: `(?m)^\*  jp-c\d+-\w{4}  waiting-for-input \(create\)  +1  +\S+.*  A file$`,
		200: `(?m)^\*  jp-c\d+-\w{4}  waiting-for-input \(create\)  +1  +\S+.*  A file$`,
	} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			there := *p
			there.t = t
			s := there.sit(width, "ls")
			require.Zero(t, s.exit())
			s.Wait("a header, four conversations, two questions", func() bool { return strings.Count(s.Text(), "\n") == 6 })
			lines := strings.Split(s.Text(), "\n")
			for _, line := range lines {
				require.LessOrEqual(t, safetext.Columns(line), width)
			}
			require.Regexp(t, want, s.Text())
			require.Contains(t, s.Text(), "(pinned) (expired) e")
			require.NotContains(t, s.Text(), "second line")
			require.NotContains(t, s.Text(), "owned")
			require.Empty(t, regexp.MustCompile(`\x1b\[[0-9;]*[^0-9;m]|\x1b[^\[]|\x{202e}|\x07`).FindString(s.Raw()))
		})
	}
}

func TestListWithoutColour(t *testing.T) {
	t.Parallel()
	p := crowd(t)
	require.NotContains(t, p.jp("ls").stdout, "\x1b")
	p.environ = append(p.environ, "NO_COLOR=1")
	s := p.sit(80, "ls", "--status", "idle")
	require.Zero(t, s.exit())
	s.WaitFor("(pinned) (expired) evil")
	require.NotContains(t, s.Raw(), "\x1b")
}
