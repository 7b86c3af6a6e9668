package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACallingServerCallsAsOftenAsItIsTold(t *testing.T) {
	s := newCallingServer(readFile)
	defer s.Close()
	s.left.Store(1)
	answer := func(path string) string {
		response, err := http.Post(s.URL+path, "application/json", strings.NewReader("{}"))
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return string(text)
	}
	require.Contains(t, answer("/v1/models"), "not found")
	first := answer("/v1/messages")
	require.Contains(t, first, `"name":"fs_read_file"`)
	require.Contains(t, first, `"stop_reason":"tool_use"`)
	last := answer("/v1/messages")
	require.Contains(t, last, `"text":"Done."`)
	require.Contains(t, last, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n")
	require.Equal(t, int32(-1), s.left.Load())
	require.Equal(t, int64(2), s.largest.Load())
}
