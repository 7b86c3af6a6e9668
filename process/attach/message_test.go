package attach_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/process/attach"
)

// messages is one of each type, with all its fields.
var messages = []attach.Message{
	&attach.Hello{V: 1, Conversation: id, Head: "c00004", Seq: 4, PID: 7, Attached: true},
	&attach.Event{Seq: 1, Commit: "c00001", Event: conversation.TypeNote, Subject: "<a & b> \u2028 €"},
	&attach.Delta{Seq: 1, Call: 2, Part: conversation.PartReasoning, At: 3, Text: "x\n\x00"},
	&attach.Inquiry{
		Conversation: id, Seq: 1, Kind: conversation.KindRunTool, Tool: "shell", Text: "Run?", Exclusive: true, Subject: "ls", Detail: "more",
		Command: []string{"wc", "-w"}, LimitMS: 30_000,
		AnswerType: conversation.AnswerType{Type: "select", Options: []conversation.Option{{Value: json.RawMessage(`"run"`), Description: "Run it"}}},
		Default:    json.RawMessage(`"run"`),
	},
	&attach.Answered{Conversation: id, Seq: 1, Outcome: conversation.OutcomeAnswered, By: conversation.ByUser, Words: "yes"},
	&attach.Refused{Seq: 1, Reason: "no"},
	&attach.Status{Running: true, Doing: true, Tool: "shell", Subject: "ls", SinceMS: 12, Waits: true},
	&attach.Activity{
		Conversation: id, Seq: 1, Call: 2, Name: "shell", Argument: "ls", Hook: "tool-pre", SinceMS: 12, Waits: true,
		Part: conversation.PartReasoning, Writing: "fs", Tokens: 3, Tail: "<last>", Progress: "1/2", Over: true,
	},
	&attach.Notice{Text: "retry"},
	&attach.Queued{Waiting: 2},
	&attach.Closing{Reason: "over", Ended: true, Status: "complete", Exit: 3, Text: "why"},
	&attach.Attach{V: 1},
	&attach.Answer{
		Conversation: id, Seq: 1, Outcome: conversation.OutcomeAnswered, Value: json.RawMessage(`"edit"`), Reason: "r",
		Arguments: json.RawMessage(`{"a":[1,2]}`), Remember: true,
	},
	&attach.Interrupt{Action: "reply", Text: "wait"},
	&attach.Say{Text: "and then"},
	&attach.Resize{Columns: 80, Rows: 24},
	&attach.Detach{},
	&attach.Shutdown{},
}

func TestMessages(t *testing.T) {
	for _, m := range messages {
		line, err := attach.Encode(m)
		require.NoError(t, err)
		require.Equal(t, len(line)-1, bytes.IndexByte(line, '\n'), "one line")
		var fields map[string]any
		require.NoError(t, json.Unmarshal(line, &fields))
		decoded, err := attach.Decode(line)
		require.NoError(t, err)
		require.Equal(t, m, decoded)
	}
}

// helloLine is a whole hello.
const helloLine = `{"type":"hello","v":1,"conversation":"jp-c17528832001-k3f9","head":"c00004","seq":4,"pid":7,"attached":true}` + "\n"

// The lines stay the same within a version.
func TestLines(t *testing.T) {
	for want, m := range map[string]attach.Message{
		`{"type":"hello","v":1,"conversation":"jp-c17528832001-k3f9","head":"","seq":-1,"pid":7,"attached":false}`: &attach.Hello{V: 1, Conversation: id, Seq: -1, PID: 7},
		`{"type":"detach"}`: &attach.Detach{},
		`{"type":"answer","seq":0,"outcome":"declined"}`: &attach.Answer{Outcome: conversation.OutcomeDeclined},
		`{"type":"notice","text":"<&>"}`:                 &attach.Notice{Text: "<&>"},
		`{"type":"interrupt"}`:                           &attach.Interrupt{},
	} {
		line, err := attach.Encode(m)
		require.NoError(t, err)
		require.Equal(t, want+"\n", string(line))
	}
}

func TestEncodeRefuses(t *testing.T) {
	fits := attach.MaxFrame - len(`{"type":"notice","text":""}`+"\n")
	line, err := attach.Encode(&attach.Notice{Text: strings.Repeat("x", fits)})
	require.NoError(t, err)
	require.Len(t, line, attach.MaxFrame)
	_, err = attach.Encode(&attach.Notice{Text: strings.Repeat("x", fits+1)})
	require.ErrorIs(t, err, attach.ErrTooLong)
	_, err = attach.Encode(&attach.Answer{Value: json.RawMessage("{")})
	require.ErrorContains(t, err, "encode a message of type answer")
}

func FuzzDecode(f *testing.F) {
	for _, w := range words {
		if len(w.said) < 1000 {
			f.Add([]byte(w.said))
		}
	}
	for _, m := range messages {
		line, err := attach.Encode(m)
		require.NoError(f, err)
		f.Add(line)
	}
	f.Add([]byte(`{"type":"hello","v":2,"seq":"four"}`))
	f.Add([]byte(`{"TYPE":"answer","value": { "a" : 1 },"Value":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := attach.Decode(line)
		if err != nil {
			require.ErrorIs(t, err, attach.ErrGarbled)
			require.Nil(t, m)
			return
		}
		if m == nil {
			return
		}
		once, err := attach.Encode(m)
		require.NoError(t, err)
		require.NotContains(t, string(once[:len(once)-1]), "\n")
		again, err := attach.Decode(once)
		require.NoError(t, err)
		require.IsType(t, m, again)
		twice, err := attach.Encode(again)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
	})
}
