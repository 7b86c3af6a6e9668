package prompt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/terminaltest"
	"jp/turnloop"
)

// Every kind of question, with all its parts, fits a narrow terminal, and its words stay whole.
func TestQuestionsFitTheTerminal(t *testing.T) {
	root := workspace(t)
	command := callQuestion("shell_run", "", `{"argv":["sh","-c","go test ./... -run 'TestSomething|TestElse' -count=1 && echo the tests are over"],"timeout_s":120}`)
	hooked := callQuestion("fs_create_file", "retry.go", `{"path":"retry.go","content":"package auth\n"}`)
	hooked.Hooked = true
	asks := toolQuestion(boolean, "")
	asks.Inquiry.Request.Question.Text = "This branch is protected on the server. Do you want to push to it nevertheless, with a lease?"
	asks.Detail = "The lease names the commit that was seen last."
	options := selection(3)
	options.Options[1].Description = "a description that is longer than any narrow terminal is wide"
	long := toolQuestion(selection(12), "")
	for name, test := range map[string]struct {
		q    turnloop.Question
		keys []string
	}{
		"a command":     {command, []string{"d", "?", "\x04"}},
		"a file":        {hooked, []string{"?", "\x04"}},
		"a result":      {delivery("a result of one line"), []string{"d", "?", "\x04"}},
		"yes or no":     {asks, []string{"d", "?", "\x04"}},
		"a choice":      {toolQuestion(options, ""), []string{"?", "\x04"}},
		"a long choice": {long, []string{"\x04"}},
		"a text":        {toolQuestion(conversation.AnswerType{Type: "text"}, `"a default of several words for a text that may be typed"`), []string{"\x04"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := map[int]string{}
			for _, columns := range []int{300, 80, 48, 40} {
				s := ask(t, t.Context(), test.q, Options{Root: root, Editor: editor(), Dir: "~/login", Confinement: "writes inside the workspace only · no network"}, columns)
				s.types(test.keys...)
				_, err := s.reply()
				require.NoError(t, err)
				shown[columns] = s.All()
			}
			for _, columns := range []int{80, 48, 40} {
				terminaltest.RequireWrapped(t, shown[300], shown[columns], columns)
			}
		})
	}
}
