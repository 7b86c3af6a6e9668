package prompt

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/turnloop"
)

func commandQuestion(arguments string) turnloop.Question {
	q := callQuestion("shell_run", "go test ./...", arguments)
	q.Tool.Argv, q.Tool.Parameters = true, nil
	return q
}

// A rule is what the person has seen and shortened, and nothing is allowed without a yes to it.
func TestAlways(t *testing.T) {
	command := commandQuestion(`{"argv":["go","test","a b"]}`)
	for name, test := range map[string]struct {
		keys  []string
		fails bool
		rule  []string
		want  string
		shown string
	}{
		"as it is":            {[]string{"A", "y"}, false, []string{"go", "test", "a b"}, conversation.AnswerRun, "  go test 'a b'\n"},
		"shorter":             {[]string{"A", "-", "y"}, false, []string{"go", "test"}, conversation.AnswerRun, "  go test\n"},
		"one word":            {[]string{"A", "-", "-", "y"}, false, []string{"go"}, conversation.AnswerRun, "! that is every command of go\n"},
		"shorter, and longer": {[]string{"A", "-", "-", "+", "y"}, false, []string{"go", "test"}, conversation.AnswerRun, "runs without a question"},
		"back":                {[]string{"A", "n", "n"}, false, nil, conversation.AnswerSkip, ""},
		"back by Esc":         {[]string{"A", "\x1b", "n"}, false, nil, conversation.AnswerSkip, ""},
		"a small a":           {[]string{"a"}, false, nil, conversation.AnswerRunTurn, ""},
		"not written":         {[]string{"A", "y", "n"}, true, nil, conversation.AnswerSkip, "The disk is full\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var rule []string
			s := ask(t, t.Context(), command, Options{Always: func(r []string) (string, error) {
				if test.fails {
					return "", errors.New("the disk is full")
				}
				rule = r
				return "~/rules.toml", nil
			}}, 100)
			s.types(test.keys...)
			got, err := s.reply()
			require.NoError(t, err)
			require.Equal(t, chosen(test.want), got)
			require.Equal(t, test.rule, rule)
			s.WaitFor(test.shown)
		})
	}
}

// A rule says what it covers beside the command at hand.
func TestAlwaysWarns(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"argv":["timeout","60","make"]}`:            "! that is every program that timeout can run\n",
		`{"argv":["python3.11","-c","1"]}`:            "! that is every program that python3.11 can run\n",
		`{"argv":["env","A=1","x"]}`:                  "! that is every program that env can run\n",
		`{"argv":["make","-f","-"],"stdin":"all:"}`:   "! with any input",
		`{"argv":["xargs","-0","touch"],"STDIN":"a"}`: "! with any input",
	} {
		s := ask(t, t.Context(), commandQuestion(arguments), Options{Always: func([]string) (string, error) { return "", nil }}, 100)
		s.types("A", "-", "n", "n")
		_, err := s.reply()
		require.NoError(t, err)
		s.WaitFor(want)
	}
	require.False(t, turnloop.HasInput([]byte(`{"argv":["x"],"stdin":""}`)))
	require.False(t, turnloop.HasInput([]byte(`{"argv":["x"]}`)))
}

// A rule is offered where it would hold.
func TestAlwaysIsOffered(t *testing.T) {
	p := New(nil, Options{Always: func([]string) (string, error) { return "", nil }})
	exclusive := commandQuestion(`{"argv":["go"]}`)
	exclusive.Tool.Exclusive = true
	for name, test := range map[string]struct {
		q    turnloop.Question
		want bool
	}{
		"a command":        {commandQuestion(`{"argv":["go"]}`), true},
		"in the root":      {commandQuestion(`{"argv":["go"],"cwd":"."}`), true},
		"in a folder":      {commandQuestion(`{"argv":["go"],"cwd":"a"}`), false},
		"no command":       {commandQuestion(`{"argv":[]}`), false},
		"two commands":     {commandQuestion(`{"argv":["go"],"ARGV":["rm"]}`), false},
		"an exclusive one": {exclusive, false},
		"another tool":     {callQuestion("t", "", `{"argv":["go"]}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, p.runMenu(test.q, questionView{}).has('A'))
		})
	}
}

// Where no rule is offered, A allows nothing.
func TestAlwaysThatIsNotOffered(t *testing.T) {
	s := ask(t, t.Context(), callQuestion("fs_create_file", "a.txt", `{"path":"a.txt"}`), Options{}, 100)
	s.types("A", "n")
	got, err := s.reply()
	require.NoError(t, err)
	require.Equal(t, chosen(conversation.AnswerSkip), got)
	s.WaitFor("here it does nothing")
}
