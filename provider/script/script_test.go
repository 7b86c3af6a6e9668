package script

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/provider"
)

// written opens a script with the given text.
func written(t *testing.T, text string) *Provider {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.toml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	p, err := Open(path)
	require.NoError(t, err)
	return p
}

// stream reads a whole answer: its chunks and the error that ended it.
func stream(ctx context.Context, p *Provider, request *provider.Request) ([]provider.Chunk, error) {
	var chunks []provider.Chunk
	for c, err := range p.Stream(ctx, request) {
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// assembled reads a whole answer as parts and its end.
func assembled(t *testing.T, p *Provider, request *provider.Request) ([]provider.Part, provider.Chunk) {
	t.Helper()
	chunks, err := stream(t.Context(), p, request)
	require.NoError(t, err)
	var a provider.Assembler
	var parts []provider.Part
	for _, c := range chunks {
		whole, err := a.Add(c)
		require.NoError(t, err)
		parts = append(parts, whole...)
	}
	require.Empty(t, a.Partial())
	return parts, chunks[len(chunks)-1]
}

const contract = `
[[reply]]
reasoning = "Look first."
message = "I'll read the file."
chunk_size = 8
chunk_delay = "20ms"
[[reply.tool_call]]
id = "call_1"
name = "fs_read_file"
arguments = { path = "main.go" }

[[reply]]
data = { answer = true }

[[reply]]
fail = "overloaded"
fail_after = 3
fail_times = 2
finish = "length"
chunk_size = 1
message = "Done."
`

func TestReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := written(t, contract)
		start := time.Now()
		parts, end := assembled(t, p, &provider.Request{})
		require.Equal(t, provider.ChunkReasoning, parts[0].Kind)
		require.Equal(t, "Look first.", parts[0].Text)
		require.Equal(t, "I'll read the file.", parts[1].Text)
		require.Equal(t, "call_1", parts[2].ToolID)
		require.Equal(t, "fs_read_file", parts[2].Tool)
		require.JSONEq(t, `{"path":"main.go"}`, string(parts[2].Arguments))
		require.Equal(t, conversation.FinishToolCalls, end.Finish)
		require.Positive(t, end.Usage.Input)
		require.Positive(t, end.Usage.Output)
		require.Equal(t, 8*20*time.Millisecond, time.Since(start), "2 + 3 + 3 pieces")

		parts, end = assembled(t, p, &provider.Request{Ended: 1})
		require.Equal(t, []provider.Part{{Kind: provider.ChunkData, Text: `{"answer":true}`}}, parts)
		require.Equal(t, conversation.FinishStop, end.Finish)
	})
}

func TestOneReplyForSeveralCalls(t *testing.T) {
	p := written(t, "[[reply]]\nmessage = \"a\"\n[[reply]]\nmessage = \"b\"\ntimes = 3\n[[reply]]\nmessage = \"c\"\ntimes = 1\n")
	said := ""
	for ended := range 5 {
		parts, _ := assembled(t, p, &provider.Request{Ended: ended})
		said += parts[0].Text
	}
	require.Equal(t, "abbbc", said)
	_, err := stream(t.Context(), p, &provider.Request{Ended: 5})
	require.ErrorContains(t, err, "has 5 replies, and this is model call 6")
}

func TestFailures(t *testing.T) {
	p := written(t, contract)
	for failed := range 2 {
		chunks, err := stream(t.Context(), p, &provider.Request{Ended: 2, Failed: failed})
		var failure *provider.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, provider.ClassOverloaded, failure.Class)
		require.Len(t, chunks, 3)
	}
	parts, end := assembled(t, p, &provider.Request{Ended: 2, Failed: 2})
	require.Equal(t, "Done.", parts[0].Text)
	require.Equal(t, conversation.FinishLength, end.Finish)
}

func TestFailsForEverWithoutTimes(t *testing.T) {
	p := written(t, "[[reply]]\nfail = \"auth\"\nmessage = \"never\"")
	chunks, err := stream(t.Context(), p, &provider.Request{Failed: 1000})
	require.Empty(t, chunks)
	require.ErrorContains(t, err, "auth")
}

func TestFailsAtTheEnd(t *testing.T) {
	p := written(t, "[[reply]]\nfail = \"disconnect\"\nfail_after = 99\nmessage = \"all\"")
	chunks, err := stream(t.Context(), p, &provider.Request{})
	require.ErrorContains(t, err, "disconnect")
	require.Equal(t, "all", chunks[0].Text)
	for _, c := range chunks {
		require.NotEqual(t, provider.ChunkFinish, c.Kind)
	}
}

func TestPastTheLastReply(t *testing.T) {
	p := written(t, "[[reply]]\nmessage = \"one\"")
	_, err := stream(t.Context(), p, &provider.Request{Ended: 1})
	var failure *provider.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, provider.ClassInvalid, failure.Class)
	require.ErrorContains(t, err, "has 1 reply, and this is model call 2")
}

func TestHangEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := written(t, "[[reply]]\nhang = true\nmessage = \"so far\"")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		chunks, err := stream(ctx, p, &provider.Request{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, []provider.Chunk{{Kind: provider.ChunkMessage, Text: "so far"}}, chunks)
	})
}

func TestDelayEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := written(t, "[[reply]]\nchunk_delay = \"1h\"\nchunk_size = 1\nmessage = \"abc\"")
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Minute)
		defer cancel()
		start := time.Now()
		chunks, err := stream(ctx, p, &provider.Request{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, chunks, 1)
		require.Equal(t, 90*time.Minute, time.Since(start))
	})
}

func TestNothingIsSentAfterTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	chunks, err := stream(ctx, Demo(), &provider.Request{})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, chunks)
}

func TestAReaderMayStop(t *testing.T) {
	for range written(t, contract).Stream(t.Context(), &provider.Request{Ended: 1}) {
		break
	}
}

func TestCut(t *testing.T) {
	tests := []struct {
		name, text string
		size       int
		raw        bool
		want       []string
	}{
		{"all at once", "abc", 0, false, []string{"abc"}},
		{"even", "abcd", 2, false, []string{"ab", "cd"}},
		{"a rest", "abc", 2, false, []string{"ab", "c"}},
		{"characters stay whole", "aé€", 2, false, []string{"a", "é", "€"}},
		{"raw", "é", 1, true, []string{"\xc3", "\xa9"}},
		{"nothing", "", 3, false, []string{""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := cutter{size: test.size, raw: test.raw}
			pieces := c.cut(test.text)
			require.Equal(t, test.want, pieces)
			require.Equal(t, test.text, strings.Join(pieces, ""))
			for _, piece := range pieces {
				require.True(t, test.raw || utf8.ValidString(piece))
			}
		})
	}
}

func TestMalformedArgumentsAndUsage(t *testing.T) {
	p := written(t, `
[[reply]]
[[reply.tool_call]]
name = "a.b"
malformed = "{\"path\": "
[[reply.tool_call]]
name = "git_status"
[reply.usage]
input = 5
output = 7
cost_usd = "0.01"
`)
	parts, end := assembled(t, p, &provider.Request{})
	require.True(t, parts[0].Malformed)
	require.Equal(t, `{"path": `, parts[0].RawArguments)
	require.Equal(t, provider.WireName("a.b"), parts[0].Tool)
	require.Equal(t, "call_1_1", parts[0].ToolID)
	require.Equal(t, "call_1_2", parts[1].ToolID)
	require.Equal(t, "{}", string(parts[1].Arguments))
	require.Equal(t, &conversation.Usage{Input: 5, Output: 7, CostUSD: "0.01"}, end.Usage)
}

func TestWhatIsNoScript(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"an unknown key", "[[reply]]\nmesage = \"x\"", ":2: unknown key reply.mesage"},
		{"an unknown key of a call", "[[reply]]\n[[reply.tool_call]]\nname = \"x\"\nargs = {}", ":4: unknown key reply.tool_call.args"},
		{"an unknown table", "[[replies]]\n", ":1: unknown key replies"},
		{"no TOML", "[[reply]]\nmessage = ", ":2:"},
		{"another type", "[[reply]]\nmessage = 3", ":2:"},
		{"no duration", "[[reply]]\nchunk_delay = \"soon\"", ":2:"},
		{"an unknown failure", "[[reply]]\nfail = \"fire\"", "reply 1: fail = \"fire\""},
		{"an unknown finish", "[[reply]]\nfinish = \"done\"", "reply 1: finish = \"done\""},
		{"less than never", "[[reply]]\ntimes = -1", "a number is negative"},
		{"times of no failure", "[[reply]]\nfail_times = 2", "need fail"},
		{"a negative size", "[[reply]]\nchunk_size = -1", "negative"},
		{"less than no tokens", "[[reply]]\nusage = { input = -5 }", "usage: a number is negative"},
		{"no amount", "[[reply]]\nusage = { cost_usd = \"abc\" }", "cost_usd = \"abc\""},
		{"less than nothing", "[[reply]]\nusage = { cost_usd = \"-1\" }", "cost_usd = \"-1\""},
		{"a call without a name", "[[reply]]\n[[reply.tool_call]]\nid = \"x\"", "tool_call 1: name is missing"},
		{"two kinds of arguments", "[[reply]]\n[[reply.tool_call]]\nname = \"x\"\nmalformed = \"{\"\narguments = {}", "both"},
		{"a number that JSON lacks", "[[reply]]\ndata = nan", "data"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := parse("a.toml", []byte(test.text))
			require.ErrorIs(t, err, ErrScript)
			require.ErrorContains(t, err, "a.toml")
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestOpenNamesTheFile(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "none.toml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "none.toml")
}
