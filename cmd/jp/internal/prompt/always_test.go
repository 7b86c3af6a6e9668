package prompt

import (
	"context"
	"errors"
	"strings"
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

// standing offers one rule at each question. Allow keeps its argument, or fails.
type standing struct {
	rule  turnloop.Rule
	fails bool
	added *turnloop.Rule
}

func (s *standing) options() Options {
	return Options{
		Standing: func(context.Context, turnloop.Question) (turnloop.Rule, bool) { return s.rule, true },
		Allow: func(rule turnloop.Rule) (string, error) {
			if s.fails {
				return "", errors.New("the disk is full")
			}
			s.added = &rule
			return "~/rules.toml", nil
		},
	}
}

func command(words ...string) turnloop.Rule {
	return turnloop.Rule{Kind: turnloop.RuleCommand, Words: words}
}
func edits(words ...string) turnloop.Rule {
	return turnloop.Rule{Kind: turnloop.RuleEdits, Words: words}
}

// A rule is the one that the person has seen and shortened, and nothing is allowed without a yes to
// it.
func TestAlways(t *testing.T) {
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
			offered := standing{rule: command("go", "test", "a b"), fails: test.fails}
			s := ask(t, t.Context(), commandQuestion(`{"argv":["go","test","a b"]}`), offered.options(), 100)
			s.types(test.keys...)
			got, err := s.reply()
			require.NoError(t, err)
			require.Equal(t, chosen(test.want), got)
			require.Equal(t, test.rule != nil, offered.added != nil)
			if test.rule != nil {
				require.Equal(t, command(test.rule...), *offered.added)
			}
			s.WaitFor(test.shown)
		})
	}
}

// A rule names the calls that it covers beside the command at hand.
func TestAlwaysWarns(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"argv":["timeout","60","make"]}`:            "! that is every program that timeout can run\n",
		`{"argv":["python3.11","-c","1"]}`:            "! that is every program that python3.11 can run\n",
		`{"argv":["env","A=1","x"]}`:                  "! that is every program that env can run\n",
		`{"argv":["make","-f","-"],"stdin":"all:"}`:   "! with any input",
		`{"argv":["xargs","-0","touch"],"STDIN":"a"}`: "! with any input",
	} {
		q := commandQuestion(arguments)
		offered := standing{rule: command(turnloop.Allowable(q.Tool, q.Arguments)...)}
		s := ask(t, t.Context(), q, offered.options(), 100)
		s.types("A", "-", "n", "n")
		_, err := s.reply()
		require.NoError(t, err)
		s.WaitFor(want)
	}
	require.False(t, turnloop.HasInput([]byte(`{"argv":["x"],"stdin":""}`)))
	require.False(t, turnloop.HasInput([]byte(`{"argv":["x"]}`)))
}

// A command can have a rule if that would hold.
func TestAllowable(t *testing.T) {
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
		require.Equal(t, test.want, len(turnloop.Allowable(test.q.Tool, test.q.Arguments)) > 0, name)
	}
}

// The folder is in the menu before the person presses anything, and may be widened to one above it, up to the root.
func TestAlwaysEdits(t *testing.T) {
	for name, test := range map[string]struct {
		offered turnloop.Rule
		keys    []string
		rule    turnloop.Rule
		menu    string
		shown   string
	}{
		"a folder":     {edits("src", "parser"), []string{"A", "y"}, edits("src", "parser"), "A always below src/parser/ ", "folder, in this repository?\n  src/parser/\n! jp still asks about files that an undo cannot bring back"},
		"one up":       {edits("src", "parser"), []string{"A", "-", "y"}, edits("src"), "A always below src/parser/ ", "From now on edits below src/ run without a question"},
		"up and down":  {edits("src", "parser"), []string{"A", "-", "-", "+", "y"}, edits("src"), "A always below src/parser/ ", "  the whole working tree\n"},
		"the root":     {edits(), []string{"A", "y"}, edits(), "A always in the whole tree ", "From now on edits in the working tree run without a question"},
		"a long path":  {edits("a", "b", strings.Repeat("x", 12), strings.Repeat("y", 12)), []string{"A", "y"}, edits("a", "b", strings.Repeat("x", 12), strings.Repeat("y", 12)), "A always below …/xxxxxxxxxxxx/yyyyyyyyyyyy/ ", "  a/b/xxxxxxxxxxxx/yyyyyyyyyyyy/\n"},
		"an odd name":  {edits("a\u202eb"), []string{"A", "y"}, edits("a\u202eb"), `A always below $'a\u202eb'/ `, `  $'a\u202eb'/`},
		"a server":     {turnloop.Rule{Kind: turnloop.RuleTool, Words: []string{"mcp__docs__search", "0f"}}, []string{"A", "y"}, turnloop.Rule{Kind: turnloop.RuleTool, Words: []string{"mcp__docs__search", "0f"}}, "A always ", "Always run this tool, in this repository?\n  mcp__docs__search\n! with any arguments, until its server describes it otherwise\ny yes   n back\n"},
		"the delegate": {turnloop.Rule{Kind: turnloop.RuleTool, Words: []string{"delegate"}}, []string{"A", "y"}, turnloop.Rule{Kind: turnloop.RuleTool, Words: []string{"delegate"}}, "A always ", "From now on delegate runs without a question"},
	} {
		t.Run(name, func(t *testing.T) {
			offered := standing{rule: test.offered}
			s := ask(t, t.Context(), callQuestion("fs_create_file", "a.txt", `{"path":"a.txt"}`), offered.options(), 100)
			s.types(test.keys...)
			got, err := s.reply()
			require.NoError(t, err)
			require.Equal(t, chosen(conversation.AnswerRun), got)
			require.Equal(t, test.rule, *offered.added)
			s.WaitFor(test.menu)
			s.WaitFor(test.shown)
		})
	}
}

// If no rule is offered, A allows nothing. Without an offered network, N denies nothing. Without further
// commands Y allows nothing.
func TestKeysThatAreNotOffered(t *testing.T) {
	for _, key := range []string{"A", "N", "Y"} {
		s := ask(t, t.Context(), callQuestion("fs_create_file", "a.txt", `{"path":"a.txt"}`), Options{}, 100)
		s.types(key, "y")
		got, err := s.reply()
		require.NoError(t, err)
		require.Equal(t, chosen(conversation.AnswerRun), got)
		s.WaitFor("here it does nothing")
	}
}
