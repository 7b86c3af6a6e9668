package terminal

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/terminaltest"
)

func TestPage(t *testing.T) {
	path := "PATH=" + os.Getenv("PATH")
	for name, test := range map[string]struct {
		environ []string
		enabled bool
		want    string
	}{
		"own":             {[]string{path, "JP_PAGER=sed s/^/jp:/", "PAGER=sed s/^/any:/"}, true, "jp:text"},
		"any program's":   {[]string{path, "PAGER=sed s/^/any:/"}, true, "any:text"},
		"a shell's words": {[]string{path, `JP_PAGER=sed 's/^/a b:/' | cat`}, true, "a b:text"},
		"less's options":  {[]string{path, `JP_PAGER=sed "s/^/$LESS:/"`}, true, "FRX:text"},
		"own options":     {[]string{path, "LESS=S", `JP_PAGER=sed "s/^/$LESS:/"`}, true, "S:text"},
		"off":             {[]string{path, "JP_PAGER=sed s/^/jp:/"}, false, "text"},
		"set to nothing":  {[]string{path, "JP_PAGER=", "PAGER=sed s/^/any:/"}, true, "text"},
		"set to cat":      {[]string{path, "PAGER=cat"}, true, "text"},
	} {
		t.Run(name, func(t *testing.T) {
			screen := terminaltest.New(t, 80, 24)
			w, err := Page(test.environ, screen.TTY, test.enabled)
			require.NoError(t, err)
			_, err = io.WriteString(w, "text\n")
			require.NoError(t, err)
			require.NoError(t, w.Close())
			screen.Wait(test.want, func() bool { return screen.Text() == test.want })
		})
	}
}

// A text that a person reads aside has a screen of its own, with their own pager and its options.
func TestPageAside(t *testing.T) {
	path := "PATH=" + os.Getenv("PATH")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "less"), []byte("#!/bin/sh\necho \"$LESS: $*\"\ncat\n"), 0o755))
	for name, test := range map[string]struct {
		environ []string
		want    string
	}{
		"their less":      {[]string{path, "LESS=FRX", "PAGER=" + dir + "/less -S"}, "FRX: -S -+F -+X\ntext"},
		"without options": {[]string{path, "PAGER=" + dir + "/less"}, "R: -+F -+X\ntext"},
		"another program": {[]string{path, "PAGER=sed s/^/any:/"}, "any:text"},
		"a shell's words": {[]string{path, "PAGER=" + dir + "/less | sed s/^/any:/"}, "any:R: \nany:text"},
		"set to no pager": {[]string{path, "PAGER=cat"}, "text"},
	} {
		t.Run(name, func(t *testing.T) {
			screen := terminaltest.New(t, 80, 24)
			w, err := PageAside(test.environ, screen.TTY, true)
			require.NoError(t, err)
			_, err = io.WriteString(w, "text\n")
			require.NoError(t, err)
			require.NoError(t, w.Close())
			want := strings.ReplaceAll(test.want, " \n", "\n")
			screen.Wait(want, func() bool { return screen.Text() == want })
		})
	}
}

func TestPageOnlyOnATerminal(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer out.Close()
	w, err := Page([]string{"JP_PAGER=exit 1"}, out, true)
	require.NoError(t, err)
	_, err = io.WriteString(w, "text\n")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	text, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	require.Equal(t, "text\n", string(text))
	_, err = fmt.Fprint(out, "the stream is still open")
	require.NoError(t, err)
}

func TestPagerThatIsLeft(t *testing.T) {
	screen := terminaltest.New(t, 80, 24)
	w, err := Page([]string{"PATH=" + os.Getenv("PATH"), "JP_PAGER=exit 3"}, screen.TTY, true)
	require.NoError(t, err)
	for err == nil {
		_, err = io.WriteString(w, "text\n")
	}
	require.ErrorIs(t, err, syscall.EPIPE)
	require.NoError(t, w.Close())
}
