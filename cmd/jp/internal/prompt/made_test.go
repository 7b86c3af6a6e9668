package prompt

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/turnloop"
)

// The editor opens the product of a call, and its arguments become those of the edited product.
func TestEditsWhatACallMakes(t *testing.T) {
	root := workspace(t)
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, root.WriteFile(name, []byte(text), 0o600))
	}
	write("a.go", "one\ntwo\nthree\n")
	long := strings.Repeat("a line of the file\n", 2000)
	write("long.txt", long+"the end\n")
	for name, test := range map[string]struct {
		tool, arguments string
		opens           string
		saved           string
		want            string
	}{
		"a file to create": {
			"fs_create_file", `{"path":"b.go","content":"x\n","overwrite":true}`, "x\n",
			"y\n", `{"content":"y\n","overwrite":true,"path":"b.go"}`,
		},
		"a file to modify": {
			"fs_modify_file", `{"path":"a.go","edits":[{"old":"two","new":"2"}]}`, "one\n2\nthree\n",
			"1\n2\n3\n", `{"edits":[{"new":"1\n2\n3\n","old":"one\ntwo\nthree\n"}],"path":"a.go"}`,
		},
		"a long file": {
			"fs_modify_file", `{"path":"long.txt","edits":[{"old":"the end","new":"END"}]}`, long + "END\n",
			long + "END.\n", `{"edits":[{"new":"END.\n","old":"the end\n"}],"path":"long.txt"}`,
		},
		"edits that do not fit": {
			"fs_modify_file", `{"path":"a.go","edits":[{"old":"four","new":"4"}]}`,
			"{\n  \"path\": \"a.go\",\n  \"edits\": [\n    {\n      \"old\": \"four\",\n      \"new\": \"4\"\n    }\n  ]\n}\n",
			`{"path":"a.go","edits":[{"old":"two","new":"2"}]}`, `{"path":"a.go","edits":[{"old":"two","new":"2"}]}`,
		},
		"a command": {
			"shell_run", `{"argv":["go","test","a b"],"timeout_s":5}`, "go test 'a b'\n",
			"go test -run 'a | b'\n", `{"argv":["go","test","-run","a | b"],"timeout_s":5}`,
		},
		"another tool": {"own", `{"path":"a"}`, "{\n  \"path\": \"a\"\n}\n", `{"path":"b"}`, `{"path":"b"}`},
	} {
		t.Run(name, func(t *testing.T) {
			q := callQuestion(test.tool, "", test.arguments)
			q.Tool.Parameters = nil
			var opened string
			s := ask(t, t.Context(), q, Options{Root: root, Editor: func(_ context.Context, initial []byte, _ string) ([]byte, error) {
				opened = string(initial)
				return []byte(test.saved), nil
			}}, 100)
			s.types("e")
			got, err := s.reply()
			require.NoError(t, err)
			require.Equal(t, test.opens, opened)
			require.Equal(t, turnloop.Answer{Outcome: conversation.OutcomeAnswered, Value: json.RawMessage(`"edit"`), Arguments: json.RawMessage(test.want)}, got)
		})
	}
	for name, test := range map[string]struct{ tool, arguments, saved, says string }{
		"a shell's signs":         {"shell_run", `{"argv":["go"]}`, "go | less\n", "'|' needs quotes: jp starts the program without a shell"},
		"the file as it was":      {"fs_modify_file", `{"path":"a.go","edits":[{"old":"two","new":"2"}]}`, "one\ntwo\nthree\n", "The file would stay as it is"},
		"what the call makes now": {"fs_modify_file", `{"path":"a.go","edits":[{"old":"two","new":"2"}]}`, "one\n2\nthree\n", "Nothing was changed."},
	} {
		t.Run(name, func(t *testing.T) {
			q := callQuestion(test.tool, "", test.arguments)
			q.Tool.Parameters = nil
			s := ask(t, t.Context(), q, Options{Root: root, Editor: editor(test.saved)}, 100)
			s.types("e")
			s.WaitFor(test.says)
		})
	}
}
