package main

import (
	"bufio"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachWordIsSeen(t *testing.T) {
	cat := exec.Command("cat")
	in, out := io.Pipe()
	cat.Stdin = in
	took, err := seen(cat, func(word string) error { _, err := io.WriteString(out, word+" "); return err }, func() { _ = out.Close() })
	if err != nil && strings.Contains(err.Error(), "/dev/ptmx") {
		t.Skip("no pseudo-terminal here: ", err) // as in a container without /dev/pts
	}
	require.NoError(t, err)
	require.Len(t, took, spokenWords)
}

func TestASpeakerSaysWordByWord(t *testing.T) {
	words := make(chan string)
	s := newSpeaker(words)
	defer s.Close()
	response, err := http.Post(s.URL, "application/json", nil)
	require.NoError(t, err)
	defer response.Body.Close()
	require.False(t, (<-s.asked).IsZero())
	lines := bufio.NewScanner(response.Body)
	for _, word := range []string{"one", "two"} {
		words <- word
		require.True(t, lines.Scan())
		require.Contains(t, lines.Text(), `"content":"`+word+` "`)
		require.True(t, lines.Scan())
	}
	close(words)
	require.True(t, lines.Scan())
	require.Contains(t, lines.Text(), `"finish_reason":"stop"`)
}
