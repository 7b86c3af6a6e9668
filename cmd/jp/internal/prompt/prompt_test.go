package prompt

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/testing/terminaltest"
	"jp/tool"
	"jp/turnloop"
)

// a question as the turn loop puts it.
func callQuestion(name, subject, arguments string) turnloop.Question {
	request := &conversation.ToolCallRequest{Call: 1, Name: name, Arguments: json.RawMessage(arguments)}
	return turnloop.Question{
		Inquiry: &conversation.Inquiry{
			Request: &conversation.InquiryRequest{Kind: conversation.KindRunTool}, Call: &conversation.ToolCall{Request: request},
		},
		Tool: &tool.Definition{
			Name: name, Description: "What the tool does.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"additionalProperties":true}`),
		},
		Arguments: request.Arguments, Subject: subject, Position: 2, Batch: 3,
	}
}

func toolQuestion(kind conversation.AnswerType, preset string) turnloop.Question {
	q := callQuestion("fs_create_file", "auth/retry_test.go", `{"path":"auth/retry_test.go"}`)
	q.Inquiry.Request.Kind = conversation.KindToolQuestion
	q.Inquiry.Request.Question = conversation.Question{Text: "Overwrite existing file?", AnswerType: kind}
	if preset != "" {
		q.Inquiry.Request.Question.Default = json.RawMessage(preset)
	}
	return q
}

func delivery(result string) turnloop.Question {
	q := callQuestion("fs_read_file", "auth/retry.go", `{"path":"auth/retry.go"}`)
	q.Inquiry.Request.Kind = conversation.KindDeliverResult
	q.Result = result
	return q
}

// a sitting is a person at a terminal who is asked one question.
type sitting struct {
	*terminaltest.Screen
	t    *testing.T
	done chan reply
}

type reply struct {
	answer turnloop.Answer
	err    error
}

func ask(t *testing.T, ctx context.Context, q turnloop.Question, opts Options, columns int) *sitting {
	t.Helper()
	s := &sitting{Screen: terminaltest.New(t, columns, 50), t: t, done: make(chan reply, 1)}
	p := New(terminal.NewTTY(s.TTY), opts)
	go func() {
		answer, err := p.Ask(ctx, q)
		s.done <- reply{answer, err}
	}()
	return s
}

// type each of the keys when the screen waits for one.
func (s *sitting) types(keys ...string) {
	s.t.Helper()
	before := 0
	for _, key := range keys {
		s.Wait("a prompt after "+key, func() bool { return strings.Count(s.Raw(), "> ") > before })
		before = strings.Count(s.Raw(), "> ")
		s.Type(key)
	}
}

func (s *sitting) reply() (turnloop.Answer, error) {
	s.t.Helper()
	select {
	case r := <-s.done:
		return r.answer, r.err
	case <-time.After(time.Minute):
		require.FailNow(s.t, "no answer", s.Text())
		return turnloop.Answer{}, nil
	}
}

func answer(value string) turnloop.Answer {
	return turnloop.Answer{Outcome: conversation.OutcomeAnswered, Value: json.RawMessage(value)}
}

func declined() turnloop.Answer { return turnloop.Answer{Outcome: conversation.OutcomeDeclined} }

func with(a turnloop.Answer, change func(*turnloop.Answer)) turnloop.Answer {
	change(&a)
	return a
}

var (
	boolean = conversation.AnswerType{Type: "boolean"}
	text    = conversation.AnswerType{Type: "text"}
)

func selection(n int) conversation.AnswerType {
	kind := conversation.AnswerType{Type: "select"}
	for i := range n {
		kind.Options = append(kind.Options, conversation.Option{
			Value: json.RawMessage(`"` + strings.Repeat("x", i+1) + `"`), Description: "the choice",
		})
	}
	return kind
}

// editor returns the texts that a person would have saved, one after the other.
func editor(saved ...string) func(context.Context, []byte, string) ([]byte, error) {
	return func(context.Context, []byte, string) ([]byte, error) {
		if len(saved) == 0 {
			return nil, errors.New("exit status 1")
		}
		next := saved[0]
		saved = saved[1:]
		return []byte(next), nil
	}
}

func TestAnswers(t *testing.T) {
	modify := func() turnloop.Question { return callQuestion("t", "", `{"path":"a"}`) }
	edited := with(answer(`"edit"`), func(a *turnloop.Answer) { a.Arguments = json.RawMessage(`{"path":"b"}`) })
	for name, test := range map[string]struct {
		q    turnloop.Question
		keys []string
		edit []string
		want turnloop.Answer
	}{
		"run: yes":                 {q: modify(), keys: []string{"y"}, want: answer(`"run"`)},
		"run: capital":             {q: modify(), keys: []string{"Y", "y"}, want: answer(`"run"`)},
		"run: yes and Enter":       {q: modify(), keys: []string{"y\r"}, want: answer(`"run"`)},
		"run: all":                 {q: modify(), keys: []string{"a"}, want: answer(`"run_turn"`)},
		"run: no":                  {q: modify(), keys: []string{"n"}, want: answer(`"skip"`)},
		"run: Ctrl+D":              {q: modify(), keys: []string{"\x04"}, want: answer(`"skip"`)},
		"run: why":                 {q: modify(), keys: []string{"w"}, want: with(answer(`"skip"`), func(a *turnloop.Answer) { a.Reason = "use a deadline" })},
		"run: details, then no":    {q: modify(), keys: []string{"d", "n"}, want: answer(`"skip"`)},
		"run: help, then yes":      {q: modify(), keys: []string{"?", "y"}, want: answer(`"run"`)},
		"run: edit":                {q: modify(), keys: []string{"e"}, edit: []string{"{\"path\":\n\"b\"}\n"}, want: edited},
		"run: edit, nothing left":  {q: modify(), keys: []string{"e", "n"}, edit: []string{"\n"}, want: answer(`"skip"`)},
		"run: edit, no change":     {q: modify(), keys: []string{"e", "y"}, edit: []string{"{ \"path\": \"a\" }"}, want: answer(`"run"`)},
		"run: edit, broken, again": {q: modify(), keys: []string{"e", "e"}, edit: []string{"{", `{"path":"b"}`}, want: edited},
		"run: edit, not taken":     {q: modify(), keys: []string{"e", "e"}, edit: []string{`{"path":7}`, `{"path":"b"}`}, want: edited},
		"run: edit, twice a key":   {q: modify(), keys: []string{"e", "e"}, edit: []string{`{"path":"c","path":"b"}`, `{"path":"b"}`}, want: edited},
		"run: edit, too much":      {q: modify(), keys: []string{"e", "e"}, edit: []string{`{"path":"` + strings.Repeat("b", 50_000) + `"}`, `{"path":"b"}`}, want: edited},
		"run: edit, no object":     {q: modify(), keys: []string{"e", "b", "n"}, edit: []string{"null"}, want: answer(`"skip"`)},
		"run: edit, back by Esc":   {q: modify(), keys: []string{"e", "\x1b", "n"}, edit: []string{"null"}, want: answer(`"skip"`)},
		"run: editor fails":        {q: modify(), keys: []string{"e", "n"}, edit: []string{}, want: answer(`"skip"`)},

		"deliver: yes":            {q: delivery("secret"), keys: []string{"y"}, want: answer(`"deliver"`)},
		"deliver: no":             {q: delivery("secret"), keys: []string{"n"}, want: answer(`"withhold"`)},
		"deliver: Ctrl+D":         {q: delivery("secret"), keys: []string{"\x04"}, want: answer(`"withhold"`)},
		"deliver: show":           {q: delivery("secret"), keys: []string{"d", "y"}, want: answer(`"deliver"`)},
		"deliver: why":            {q: delivery("secret"), keys: []string{"w"}, want: with(answer(`"withhold"`), func(a *turnloop.Answer) { a.Reason = "use a deadline" })},
		"deliver: edit":           {q: delivery("secret"), keys: []string{"e"}, edit: []string{"<cut>"}, want: with(answer(`"edit"`), func(a *turnloop.Answer) { a.Arguments = json.RawMessage(`"<cut>"`) })},
		"deliver: edit, too much": {q: delivery("secret"), keys: []string{"e", "b", "n"}, edit: []string{strings.Repeat("\"", 30_000)}, want: answer(`"withhold"`)},
		"deliver: no edit":        {q: delivery("secret"), keys: []string{"e", "n"}, edit: []string{"secret"}, want: answer(`"withhold"`)},

		"boolean: yes":           {q: toolQuestion(boolean, ""), keys: []string{"y"}, want: answer("true")},
		"boolean: no":            {q: toolQuestion(boolean, ""), keys: []string{"n"}, want: answer("false")},
		"boolean: all":           {q: toolQuestion(boolean, ""), keys: []string{"a"}, want: with(answer("true"), func(a *turnloop.Answer) { a.Remember = true })},
		"boolean: Ctrl+D":        {q: toolQuestion(boolean, "true"), keys: []string{"\x04"}, want: declined()},
		"select: second":         {q: toolQuestion(selection(3), ""), keys: []string{"2"}, want: answer(`"xx"`)},
		"select: Ctrl+D":         {q: toolQuestion(selection(3), `"x"`), keys: []string{"\x04"}, want: declined()},
		"select: by number":      {q: toolQuestion(selection(12), ""), keys: []string{"13\n", "zero\n", "\n", "11\n"}, want: answer(`"xxxxxxxxxxx"`)},
		"select: number, preset": {q: toolQuestion(selection(12), `"xx"`), keys: []string{"\n", "3\n"}, want: answer(`"xxx"`)},
		"select: number, Ctrl+D": {q: toolQuestion(selection(12), ""), keys: []string{"\x04"}, want: declined()},
		"text":                   {q: toolQuestion(text, ""), keys: []string{"\n", "a <b> \"c\"\n"}, want: answer(`"a <b> \"c\""`)},
		"text: not by Enter":     {q: toolQuestion(text, `"main"`), keys: []string{"\n", "x\n"}, want: answer(`"x"`)},
		"text: preset":           {q: toolQuestion(text, `"main"`), keys: []string{"\t\n"}, want: answer(`"main"`)},
		"text: preset, edited":   {q: toolQuestion(text, `"main"`), keys: []string{"\t2\n"}, want: answer(`"main2"`)},
		"text: preset, as it is": {q: toolQuestion(text, `["a\nb"]`), keys: []string{"\t\n"}, want: answer(`["a\nb"]`)},
		"text: Ctrl+D":           {q: toolQuestion(text, `"main"`), keys: []string{"\x04"}, want: declined()},
	} {
		t.Run(name, func(t *testing.T) {
			opts := Options{}
			if test.edit != nil {
				opts.Editor = editor(test.edit...)
			}
			s := ask(t, t.Context(), test.q, opts, 100)
			s.types(test.keys...)
			if test.want.Reason != "" {
				s.WaitFor("Why?")
				s.Type(test.want.Reason + "\n")
			}
			got, err := s.reply()
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
}

// offered is the keys that a menu takes, of all possible keys.
func offered(m menu) string {
	var keys strings.Builder
	for key := terminal.Key(1); key < 0x7f; key++ {
		if lower := key.Lower(); lower == key && m.takes(key) {
			keys.WriteRune(rune(key))
		}
	}
	return keys.String()
}

func TestKeysThatAreOffered(t *testing.T) {
	plain, edits := New(nil, Options{}), New(nil, Options{Editor: editor()})
	run, exclusive := callQuestion("t", "", `{}`), callQuestion("t", "", `{}`)
	exclusive.Inquiry.Request.Exclusive = true
	editing := callQuestion("t", "", `{}`)
	editing.Tool.Run, editing.Tool.Result = tool.Edit, tool.Edit
	detailed := toolQuestion(boolean, "true")
	detailed.Detail, detailed.Inquiry.Request.Exclusive = "-a\n+b", true
	for name, test := range map[string]struct {
		menu menu
		want string
	}{
		"run":                   {edits.runMenu(run, questionView{}), "\x1b?adenwy"},
		"run, no editor":        {plain.runMenu(run, questionView{}), "\x1b?adnwy"},
		"run, exclusive":        {plain.runMenu(exclusive, questionView{}), "\x1b?dnwy"},
		"run, to be edited":     {edits.runMenu(editing, questionView{}), "\r\x1b?adenwy"},
		"the same, no editor":   {plain.runMenu(editing, questionView{}), "\x1b?adnwy"},
		"deliver, to be edited": {edits.deliverMenu(editing), "\r\x1b?denwy"},
		"deliver":               {edits.deliverMenu(delivery("x")), "\x1b?denwy"},
		"boolean":               {booleanMenu(toolQuestion(boolean, ""), questionView{}), "\x1b?any"},
		"boolean, preset":       {booleanMenu(toolQuestion(boolean, "false"), questionView{}), "\x1b?any"},
		"boolean, with detail":  {booleanMenu(detailed, questionView{details: []string{"x"}}), "\x1b?dny"},
		"select":                {pickMenu(toolQuestion(selection(3), ""), questionView{}, selection(3).Options), "\x1b123?"},
		"select, preset":        {pickMenu(toolQuestion(selection(2), `"x"`), questionView{}, selection(2).Options), "\x1b12?"},
		"select, not an option": {pickMenu(toolQuestion(selection(2), `"y"`), questionView{}, selection(2).Options), "\x1b12?"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, offered(test.menu))
			require.False(t, test.menu.takes(terminal.KeyOther))
		})
	}
}

func TestNobodyAnswers(t *testing.T) {
	questions := map[string]turnloop.Question{
		"run": callQuestion("t", "", `{}`), "deliver": delivery("x"), "boolean": toolQuestion(boolean, "true"),
		"select": toolQuestion(selection(2), `"x"`), "number": toolQuestion(selection(12), `"x"`), "text": toolQuestion(text, `"x"`),
	}
	for name, q := range questions {
		t.Run(name+", hang-up", func(t *testing.T) {
			s := ask(t, t.Context(), q, Options{}, 80)
			s.WaitFor(">")
			s.Hangup()
			got, err := s.reply()
			require.ErrorIs(t, err, turnloop.ErrNoAnswer)
			require.Zero(t, got)
		})
		for key, typed := range map[string]string{"Ctrl+C": "\x03", "Esc": "\x1b"} {
			t.Run(name+", "+key, func(t *testing.T) {
				s := ask(t, t.Context(), q, Options{}, 80)
				s.types(typed)
				got, err := s.reply()
				require.ErrorIs(t, err, ErrInterrupted)
				require.Zero(t, got)
			})
		}
		t.Run(name+", answered elsewhere", func(t *testing.T) {
			cause := errors.New("answered elsewhere")
			ctx, cancel := context.WithCancelCause(t.Context())
			s := ask(t, ctx, q, Options{}, 80)
			s.WaitFor(">")
			cancel(cause)
			got, err := s.reply()
			require.ErrorIs(t, err, cause)
			require.Zero(t, got)
		})
	}
	t.Run("the reason", func(t *testing.T) {
		s := ask(t, t.Context(), questions["run"], Options{}, 80)
		s.types("w")
		s.WaitFor("Why?")
		s.Hangup()
		_, err := s.reply()
		require.ErrorIs(t, err, turnloop.ErrNoAnswer)
	})
	for key, typed := range map[string]string{"Ctrl+D": "\x04", "Esc": "because\x1b"} {
		t.Run("the reason, taken back by "+key, func(t *testing.T) {
			s := ask(t, t.Context(), questions["run"], Options{}, 80)
			s.types("w")
			s.WaitFor("Why?")
			s.Type(typed)
			s.types("", "n")
			got, err := s.reply()
			require.NoError(t, err)
			require.Equal(t, answer(`"skip"`), got)
		})
	}
}

// Keys typed before the question appeared approve nothing.
func TestTypedAhead(t *testing.T) {
	s := &sitting{Screen: terminaltest.New(t, 80, 24), t: t, done: make(chan reply, 1)}
	s.Type("y\na")
	s.WaitForEnd("y\na")
	p := New(terminal.NewTTY(s.TTY), Options{})
	go func() {
		answer, err := p.Ask(t.Context(), callQuestion("t", "", `{}`))
		s.done <- reply{answer, err}
	}()
	s.types("n")
	got, err := s.reply()
	require.NoError(t, err)
	require.Equal(t, answer(`"skip"`), got)
}
