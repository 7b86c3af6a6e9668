package mcp

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/stretchr/testify/require"
)

// passed are the messages that lines pass on from an output, the other text, and the reason for the end.
func passed(t *testing.T, output io.Reader) (messages, other string, why error) {
	t.Helper()
	var said bytes.Buffer
	l := newLines(io.NopCloser(output), &said, func(m jsonrpc.Message) { require.NotNil(t, m) }, func(err error) { why = err })
	all, err := io.ReadAll(l)
	require.Equal(t, why == errOutput, err == nil, "%v %v", why, err)
	return string(all), said.String(), why
}

func TestLines(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","method":"ping"}`
	messages, other, why := passed(t, strings.NewReader("Listening\n\n"+ping+"\r\n[]\n{\"id\":1}\n"+ping))
	require.Equal(t, ping+"\r\n"+ping+"\n", messages)
	require.Equal(t, "Listening\n[]\n{\"id\":1}\n", other)
	require.Equal(t, errOutput, why)

	messages, _, why = passed(t, io.MultiReader(strings.NewReader(ping+"\n"), io.LimitReader(endless{}, maxLine+1)))
	require.Equal(t, ping+"\n", messages)
	require.Equal(t, errTooLong, why)
}

// endless is a line without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func FuzzLines(f *testing.F) {
	for _, seed := range []string{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\nnoise\n", "[]\n", "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"error\":{}}", "\x00\n\r\n", "null\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		messages, _, _ := passed(t, bytes.NewReader(output))
		for line := range strings.Lines(messages) {
			_, err := jsonrpc.DecodeMessage([]byte(line))
			require.NoError(t, err, line)
		}
	})
}
