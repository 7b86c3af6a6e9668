package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	const good = `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}`
	for name, test := range map[string]struct {
		line string
		code int // 0: it is a message
	}{
		"a request":           {good, 0},
		"a notification":      {`{"jsonrpc":"2.0","method":"m"}`, 0},
		"a response":          {`{"jsonrpc":"2.0","id":"x","result":null}`, 0},
		"an unknown field":    {`{"jsonrpc":"2.0","method":"m","more":1}`, 0},
		"an empty line":       {``, codeParse},
		"words":               {`hello`, codeParse},
		"half a message":      {`{"jsonrpc":"2.0"`, codeParse},
		"two messages":        {good + good, codeParse},
		"a key twice":         {`{"jsonrpc":"2.0","method":"m","params":{"a":1,"a":2}}`, codeParse},
		"64 levels":           {`{"jsonrpc":"2.0","method":"m","params":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`, 0},
		"65 levels":           {`{"jsonrpc":"2.0","method":"m","params":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`, codeParse},
		"no version":          {`{"id":1,"method":"m"}`, codeInvalidRequest},
		"neither id nor name": {`{"jsonrpc":"2.0"}`, codeInvalidRequest},
		"an id of null":       {`{"jsonrpc":"2.0","id":null,"method":"m"}`, codeInvalidRequest},
		"an id of a list":     {`{"jsonrpc":"2.0","id":[1],"method":"m"}`, codeInvalidRequest},
		"a method of a list":  {`{"jsonrpc":"2.0","id":1,"method":["m"]}`, codeInvalidRequest},
		"8 MiB":               {`{"jsonrpc":"2.0","method":"` + strings.Repeat("x", maxFrame-len(`{"jsonrpc":"2.0","method":""}`)-1) + `"}`, 0},
		"8 MiB and a byte":    {`{"jsonrpc":"2.0","method":"` + strings.Repeat("x", maxFrame-len(`{"jsonrpc":"2.0","method":""}`)) + `"}`, codeInvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFrames(strings.NewReader(test.line + "\n" + good + "\n"))
			_, err := f.next()
			if test.code == 0 {
				require.NoError(t, err)
			} else {
				var wrong *rpcError
				require.ErrorAs(t, err, &wrong)
				require.Equal(t, test.code, wrong.Code, wrong.Message)
			}
			next, err := f.next()
			require.NoError(t, err, "the line behind it can be read")
			require.Equal(t, "m", next.Method)
			_, err = f.next()
			require.ErrorIs(t, err, io.EOF)
		})
	}
}

// The input may end behind a message, and within one.
func TestFramesEnd(t *testing.T) {
	t.Parallel()
	const good = `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}`
	for at := range len(good) {
		_, err := newFrames(strings.NewReader(good[:at])).next()
		require.ErrorIs(t, err, io.EOF, good[:at])
	}
	f := newFrames(strings.NewReader(good))
	m, err := f.next()
	require.NoError(t, err)
	require.Equal(t, "m", m.Method)
	_, err = f.next()
	require.ErrorIs(t, err, io.EOF)
}

// The sender of an unreadable message gets an error.
func TestFramesOutline(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxFrame)
	for name, test := range map[string]struct {
		line     string
		id       string
		response bool
	}{
		"a key twice":              {`{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1,"a":2}}`, "7", false},
		"a request too long":       {`{"jsonrpc":"2.0","id":"a","method":"m","params":"` + long + `"}`, `"a"`, false},
		"its id behind the length": {`{"jsonrpc":"2.0","method":"m","params":"` + long + `","id":7}`, "", false},
		"65 levels":                {`{"jsonrpc":"2.0","params":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `,"id":7,"method":"m"}`, "7", false},
		"half a message":           {`{"jsonrpc":"2.0","id":7,"meth`, "7", false},
		"a response too long":      {`{"jsonrpc":"2.0","id":7,"result":"` + long + `"}`, "7", true},
		"a response of words":      {`{"jsonrpc":"2.0","id":7,"error":"no"}`, "7", true},
		"a response, a key twice":  {`{"jsonrpc":"2.0","result":{"a":1,"a":2},"id":7}`, "7", true},
		"no version":               {`{"id":7,"method":"m"}`, "7", false},
		"two ids":                  {`{"jsonrpc":"2.0","id":7,"id":8,"method":"m"}`, "", false},
		"an id of a list":          {`{"jsonrpc":"2.0","id":[7],"method":"m"}`, "", false},
		"a list":                   {`[{"jsonrpc":"2.0","id":7,"method":"m"}]`, "", false},
		"words":                    {`hello`, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := newFrames(strings.NewReader(test.line + "\n")).next()
			var wrong *rpcError
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, test.id, string(m.ID))
			require.Equal(t, test.response, m.response)
		})
	}
}

// A mistake is reported in the words of the protocol.
func TestMisfit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[1]`:                                  "an array (want an object)",
		`5`:                                    "a number (want an object)",
		`{"prompt":"x"}`:                       `"prompt" is a string (want an array)`,
		`{"prompt":[5]}`:                       `"prompt" is a number (want an object)`,
		`{"sessionId":true}`:                   `"sessionId" is a truth value (want a string)`,
		`{"prompt":[{"resource":{"uri":{}}}]}`: `"prompt.resource.uri" is an object (want a string)`,
	} {
		require.Equal(t, want, misfit(decode(json.RawMessage(text), &promptRequest{})), text)
	}
	require.Equal(t, `"protocolVersion" is a number (want a whole number)`, misfit(decode(json.RawMessage(`{"protocolVersion":1.5}`), &initializeRequest{})))
	require.Equal(t, `"mcpServers.env.name" is a number (want a string)`, misfit(decode(json.RawMessage(`{"mcpServers":[{"env":[{"name":5}]}]}`), &openRequest{})))
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"m"}`))
	f.Add([]byte("{\n}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		frames := newFrames(bytes.NewReader(data))
		for range len(data) + 2 {
			m, err := frames.next()
			var wrong *rpcError
			switch {
			case errors.As(err, &wrong):
				require.NotZero(t, wrong.Code)
			case err != nil:
				require.ErrorIs(t, err, io.EOF)
				return
			default:
				require.True(t, m.Method != "" || m.ID != nil)
			}
		}
		t.Fatal("the input does not end")
	})
}
