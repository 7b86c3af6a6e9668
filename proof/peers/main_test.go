package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The model asks for a command as often as the turn says, in each protocol, and titles do not count.
func TestModelAsksForCommands(t *testing.T) {
	t.Parallel()
	for path, tool := range map[string]string{
		"/v1/messages":         `{"name":"Bash"}`,
		"/v1/responses":        `{"name":"exec_command"}`,
		"/v1/chat/completions": `{"function":{"name":"shell_run"}}`,
	} {
		t.Run(path[1:], func(t *testing.T) {
			t.Parallel()
			m := newModel("true")
			t.Cleanup(m.Close)
			post := func(body string) string {
				res, err := http.Post(m.URL+path, "application/json", strings.NewReader(body))
				require.NoError(t, err)
				defer res.Body.Close()
				text, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				return string(text)
			}
			asks := `{"stream":true,"tools":[{"name":"other"},` + tool + `]}`
			m.begin(2)
			require.Contains(t, post(`{"stream":true}`), sentence, "a title")
			for range 2 {
				text := post(asks)
				require.NotContains(t, text, sentence)
				require.Contains(t, text, "true")
			}
			require.Contains(t, post(asks), sentence)
			require.Equal(t, []int{3, len(asks), 1}, []int{m.asked, m.first, m.ended})
		})
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	turns := turnsOf(options{rounds: 1, calls: 30, long: 300})
	c := &column{program: &program{name: "jp"}, cells: map[string]string{turns[0].work: seconds(30*time.Millisecond) + " (" + seconds(1234*time.Millisecond) + ")", sizeRow: "12.0 KB"}}
	require.Equal(t, "| work | jp |\n| --- | --- |\n| the first answer of a new session | 30 ms (1.2 s) |\n| size of the first request | 12.0 KB |\n"+
		"| a turn of 30 commands, one after another |  |\n| an answer in a session of 300 commands, its first resume |  |\n| an answer in a session of 300 commands, later ones |  |\n", table([]*column{c}, turns))
}
