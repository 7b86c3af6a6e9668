package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/tool"
	"jp/turnloop"
)

func requests(events []*conversation.Event) (all []string) {
	for _, b := range bodies[*conversation.ChatRequest](events) {
		all = append(all, b.Content)
	}
	return all
}

// TestQuestion varies the source of a question's text.
func TestQuestion(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		piped  string
		input  agent.Input
		editor func(string) string
		want   string
		wrong  string
	}{
		{name: "words", input: agent.Input{Text: []string{"How", "are you?"}}, want: "How are you?"},
		{name: "a pipe", piped: "From a pipe\n\n", want: "From a pipe"},
		{name: "a pipe and words", piped: "From a pipe\n", input: agent.Input{Text: []string{"What is it?"}}, want: "From a pipe\n\nWhat is it?"},
		{name: "nothing", wrong: "there is nothing to ask"},
		{name: "blanks", input: agent.Input{Text: []string{" "}}, wrong: "there is nothing to ask"},
		{name: "an editor", editor: func(text string) string { return "Written\n" + text }, want: "Written"},
		{name: "an editor with words", input: agent.Input{Text: []string{"Words"}, Edit: true}, editor: func(text string) string { return "Written " + text }, want: "Written Words"},
		{name: "an editor that is left empty", editor: func(string) string { return "\n" }, wrong: "there is nothing to ask"},
		{name: "an editor that is not wanted", input: agent.Input{NoEdit: true, NoStdin: true}, editor: func(string) string { return "Written" }, wrong: "there is nothing to ask"},
		{name: "words beside an editor", input: agent.Input{Text: []string{"Words"}}, editor: func(string) string { return "Written" }, want: "Words"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{Piped: row.piped, Editor: row.editor}
			request := s.Request(says, "")
			request.Input = row.input
			err := s.Ask(f, request)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				require.Empty(t, f.Last().ID, "there is no conversation")
				require.Equal(t, row.editor != nil, strings.Contains(hints(err), "jp query --edit"))
				return
			}
			require.NoError(t, err)
			require.Equal(t, []string{row.want}, requests(s.Load(f.Last().ID)))
		})
	}
}

// TestAgain: a request without a text asks the last one again, also one that was taken back.
func TestAgain(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, s.Ask(f, s.Request(says, "First")))
	id := f.Last().ID
	again := agent.Request{Target: agent.Target{ID: string(id)}, Input: agent.Input{NoEdit: true, NoStdin: true}}
	require.NoError(t, s.Ask(f, again))
	require.Equal(t, []string{"First", "First"}, requests(s.Load(id)))
	fails := front.Next(id, "Second")
	fails.Turn.Model, again.Turn.Model = s.Model("[[reply]]\nfail = \"auth\"\ntimes = 9\n"), s.Model(says)
	require.Error(t, s.Ask(f, fails))
	require.NoError(t, s.Ask(f, again), "it goes on with what has no answer")
	require.Equal(t, []string{"First", "First", "Second"}, requests(s.Load(id)))

	fails.Input.Text = []string{"Third"}
	require.Error(t, s.Ask(f, fails))
	again.Resume.Discard = true
	require.NoError(t, s.Ask(f, again))
	require.Equal(t, []string{"First", "First", "Second", "Third", "Third"}, requests(s.Load(id)))

	require.Error(t, s.Ask(f, s.Request(failing, "Only")))
	only := f.Last().ID
	require.NoError(t, s.Ask(f, front.Discard(only)))
	require.NoError(t, s.Ask(f, agent.Request{Target: agent.Target{ID: string(only)}, Input: agent.Input{NoEdit: true, NoStdin: true}, Turn: agent.TurnOptions{Model: s.Model(says)}}))
	require.Equal(t, []string{"Only", "Only"}, requests(s.Load(only)))
}

// TestEnd varies the end of a turn, and its error.
func TestEnd(t *testing.T) {
	t.Parallel()
	list := func(limit int) string {
		return fmt.Sprintf("[[reply]]\nusage = { input = 3000, output = 20, cost_usd = \"0.15\" }\n[[reply.tool_call]]\nname = \"fs_list_files\"\narguments = { limit = %d }\n", limit)
	}
	many := list(7) + list(8) + list(9) + says
	for _, row := range []struct {
		name   string
		script string
		config string
		change func(*agent.Request)
		status turnloop.Status
		wrong  string
		hint   string
		notice string
		data   string
	}{
		{name: "an answer", script: says, status: turnloop.Complete},
		{name: "an answer that is cut off", script: "[[reply]]\nmessage = \"Half an\"\nfinish = \"length\"\n", status: turnloop.Length},
		{name: "no answer", script: "[[reply]]\nmessage = \"\"\ntimes = 2\n", status: turnloop.Complete, wrong: "the model answered nothing, also when it was asked again.", hint: "jp query -E --id"},
		{name: "no answer to a long request", script: "[[reply]]\nmessage = \"\"\nusage = { input = 20000, output = 1 }\ntimes = 2\n", status: turnloop.Complete, wrong: "It read 20.0k tokens, which may be more than it can."},
		{name: "an answer that is cut off before its first word", script: "[[reply]]\nmessage = \"\"\nfinish = \"length\"\ntimes = 2\n", status: turnloop.Length, wrong: "(parameters.max_tokens) before its first word"},
		{name: "a refusal", script: "[[reply]]\nmessage = \"No.\"\nfinish = \"refusal\"\n", status: turnloop.Refused, wrong: "the model refused to answer; the turn is over."},
		{name: "tokens", script: many, config: "[limits]\ntokens = 5000\n", status: turnloop.Stopped, wrong: "it used up its budget of tokens (limits.tokens)", hint: "limits.tokens"},
		{name: "model calls", script: many, config: "[limits]\nmodel_calls = 2\n", status: turnloop.Stopped, wrong: "it reached the limit of model calls (limits.model_calls)", hint: "limits.model_calls"},
		{name: "what it costs", script: many, config: "[limits]\ncost_usd = 0.2\n", status: turnloop.Stopped, wrong: "which reaches limits.cost_usd ($0.20)", hint: "limits.cost_usd="},
		{name: "costs of a day", script: many, config: "[limits]\ncost_usd_day = 0.2\n", status: turnloop.Stopped, wrong: "which reaches limits.cost_usd_day ($0.20)", hint: "limits.cost_usd_day="},
		{name: "a model without a price", script: says, config: "[limits]\ncost_usd = 1\nprices", wrong: "jp does not know the price of "},
		{name: "a key that is refused", script: "[[reply]]\nfail = \"auth\"\n", status: turnloop.Incomplete, wrong: "Your question is recorded.", hint: "jp continue"},
		{name: "a server that is overloaded", script: "[[reply]]\nfail = \"overloaded\"\n", status: turnloop.Incomplete, wrong: "Your question is recorded.", hint: "jp continue"},
		{name: "a request that is too long", script: "context = 600\n" + says, status: turnloop.Incomplete, wrong: "prompt is too long", hint: "jp continue"},
		{name: "a script that is used up", script: "[[reply]]\nmessage = \"\"\n[[reply.tool_call]]\nname = \"fs_list_files\"\narguments = {}\n", status: turnloop.Incomplete, wrong: "script", hint: "jp continue --discard"},
		{name: "another model answers", script: "[[reply]]\nfail = \"overloaded\"\n", config: "model_fallback = [\"FALLBACK\"]\n", status: turnloop.Complete, notice: "asking script"},
		{name: "no such provider", script: says, change: func(r *agent.Request) { r.Turn.Model = "nosuch/model" }, wrong: `there is no provider "nosuch"`},
		{name: "no provider", script: says, change: func(r *agent.Request) { r.Turn.Model = "model" }, wrong: "model"},
		{
			name: "the same call again and again", script: strings.Repeat("[[reply]]\n[[reply.tool_call]]\nname = \"fs_read_file\"\narguments = { path = \"nosuch\" }\n", 9) + says, status: turnloop.Stopped, wrong: "jp stopped the turn",
		},

		{name: "data", script: "[[reply]]\nmessage = '{\"a\":1}'\n", change: func(r *agent.Request) { r.Input.Schema = `{"type":"object"}` }, status: turnloop.Complete, data: `{"a":1}`},
		{name: "data by a file", script: "[[reply]]\nmessage = '{\"a\":1}'\n", change: func(r *agent.Request) { r.Input.Schema = "schema.json" }, status: turnloop.Complete, data: `{"a":1}`},
		{name: "a schema that is not there", script: says, change: func(r *agent.Request) { r.Input.Schema = "nosuch.json" }, wrong: "nosuch.json cannot be read: no such file"},
		{name: "no schema", script: says, change: func(r *agent.Request) { r.Input.Schema = `{"type":7}` }, wrong: "--schema: "},
		{name: "data that does not fit", script: "[[reply]]\nmessage = '[1]'\ntimes = 9\n", change: func(r *agent.Request) { r.Input.Schema = `{"type":"object"}` }, status: turnloop.Complete, wrong: "the answer does not satisfy the schema"},
		{name: "data that is cut off", script: "[[reply]]\nmessage = '{'\nfinish = \"length\"\ntimes = 9\n", change: func(r *agent.Request) { r.Input.Schema = `{"type":"object"}` }, status: turnloop.Length, wrong: "the answer was cut off before it satisfied the schema."},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.Write("schema.json", `{"type":"object"}`)
			model := s.Model(row.script)
			text := strings.ReplaceAll(row.config, "FALLBACK", s.Model(says))
			if strings.HasPrefix(text, "model_fallback") { // it stands before the tables
				s.WriteOwn(".config/jp/config.toml", text+"[store]\ndurability = \"off\"\n")
			} else {
				bare := strings.TrimSuffix(text, "prices")
				s.Configure(bare)
				if bare == text && strings.Contains(text, "cost_usd") {
					s.Configure(fmt.Sprintf("[prices]\n%q = [\"10\", \"10\"]\n", model))
				}
			}
			request := s.Request("", "Work")
			request.Turn.Model = model
			if row.change != nil {
				row.change(&request)
			}
			err := s.Ask(f, request)
			require.Equal(t, row.status, f.Last().Outcome.Status, "%v", err)
			if row.wrong == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, row.wrong)
				require.Contains(t, hints(err), row.hint)
			}
			require.Contains(t, strings.Join(f.Notices(), "\n"), row.notice)
			require.Equal(t, row.data, string(f.Last().Outcome.Data))
			require.Equal(t, row.status == "", len(f.Events()) == 0, "what cannot be asked records nothing")
		})
	}
}

// TestRepeating varies the person's answer about a model that repeats itself.
func TestRepeating(t *testing.T) {
	t.Parallel()
	again := strings.Repeat("[[reply]]\n[[reply.tool_call]]\nname = \"fs_list_files\"\narguments = { limit = 3 }\n", 30) + says
	for _, row := range []struct {
		name   string
		person *front.Person
		status turnloop.Status
		asked  int
		wrong  string
	}{
		{name: "nobody is there", status: turnloop.Stopped, wrong: "jp stopped the turn"},
		{name: "stop", person: chooses('s'), status: turnloop.Stopped, asked: 1},
		{name: "silence", person: chooses('S'), status: turnloop.Stopped, asked: 1},
		{name: "go on, and stop", person: chooses('c', 's'), status: turnloop.Stopped, asked: 2},
		{name: "leave", person: chooses('L'), status: turnloop.Incomplete, asked: 1, wrong: "interrupted by SIGINT"},
		{name: "no terminal any more", person: chooses('G'), status: turnloop.Incomplete, asked: 1, wrong: "interrupted by SIGHUP"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{Person: row.person}
			err := s.Ask(f, s.Request(again, "Work"))
			if row.wrong == "" {
				require.NoError(t, err, "the user stopped it")
			} else {
				require.ErrorContains(t, err, row.wrong)
			}
			require.Equal(t, row.status, f.Last().Outcome.Status)
			if row.person != nil {
				require.Len(t, row.person.Asked(), row.asked)
			}
		})
	}
}

// TestTools varies which tools a turn has.
func TestTools(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		choice agent.ToolChoice
		config string
		on     []string
		off    []string
	}{
		{name: "as configured", on: []string{"fs_read_file", "fs_create_file", "shell_run", "delegate"}, off: []string{"conversation_read", "update_state"}},
		{name: "recall", choice: agent.ToolChoice{Enable: []string{"recall"}}, on: []string{"conversation_read", "conversation_grep", "fs_read_file"}},
		{name: "one off", choice: agent.ToolChoice{Disable: []string{"shell_run"}}, on: []string{"fs_create_file"}, off: []string{"shell_run"}},
		{name: "none", choice: agent.ToolChoice{None: true}, off: []string{"fs_read_file", "shell_run"}},
		{name: "only one", choice: agent.ToolChoice{None: true, Enable: []string{"fs_read_file"}}, on: []string{"fs_read_file"}, off: []string{"shell_run"}},
		{name: "off by the configuration", config: "[tools.shell_run]\nenable = false\n", off: []string{"shell_run"}, on: []string{"fs_read_file"}},
		{name: "off by the configuration, and on", config: "[tools.shell_run]\nenable = false\n", choice: agent.ToolChoice{Enable: []string{"shell_run"}}, on: []string{"shell_run"}},
		{name: "one of the user's", config: "[tools.mine]\ncommand = [\"true\"]\ndescription = \"Mine. All mine.\"\n", on: []string{"mine"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Configure(row.config)
			request := s.Request(says, "Work")
			request.Tools = row.choice
			r := s.Open()
			defer r.Close()
			preview, err := agent.Preview(t.Context(), r, request, &front.Front{})
			require.NoError(t, err)
			var sent []string
			for _, one := range preview.Request.Tools {
				sent = append(sent, one.Name)
				require.NoError(t, (&tool.Definition{Name: one.Name, Parameters: one.Parameters}).CheckSchema())
			}
			listed, err := agent.ListTools(r, request)
			require.NoError(t, err)
			var on []string
			for _, l := range listed {
				if l.On {
					on = append(on, l.Name)
				}
				require.NotContains(t, l.About, ". ", "one sentence")
			}
			require.Subset(t, sent, row.on)
			require.Subset(t, on, row.on)
			for _, name := range row.off {
				require.NotContains(t, sent, name)
				require.NotContains(t, on, name)
			}
			require.NoError(t, agent.CheckTools(r, row.on...))
			require.ErrorContains(t, agent.CheckTools(r, "nosuch"), `there is no tool "nosuch"`)
		})
	}
}

// TestPreview: a preview leaves no record, and is the conversation's next request.
func TestPreview(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	request := s.Request("context = 100000\n"+says, "First")
	r := s.Open()
	preview, err := agent.Preview(t.Context(), r, request, f)
	require.NoError(t, err)
	require.Empty(t, preview.ID)
	require.Equal(t, request.Turn.Model, preview.Model)
	require.Equal(t, 1, preview.Turn)
	require.Equal(t, 100000, preview.Window)
	require.Positive(t, preview.Tokens)
	require.False(t, preview.Compacts)
	require.Equal(t, "system", preview.Parts[0].From)
	require.Equal(t, "First", preview.Parts[len(preview.Parts)-1].Text)
	require.NoError(t, r.Close())
	require.Empty(t, s.Git("for-each-ref", "refs/jp"))

	require.NoError(t, s.Ask(f, request))
	r = s.Open()
	defer r.Close()
	preview, err = agent.Preview(t.Context(), r, front.Next(f.Last().ID, "Second"), f)
	require.NoError(t, err)
	require.Equal(t, f.Last().ID, preview.ID)
	require.Equal(t, 2, preview.Turn)
	require.Len(t, preview.Request.Messages, 3)
	before := len(s.Load(f.Last().ID))
	_, err = agent.Preview(t.Context(), r, agent.Request{Target: agent.Target{Fork: agent.ForkAtEnd}}, f)
	require.ErrorContains(t, err, "--dry-run records nothing, and --fork does")
	require.Len(t, s.Load(f.Last().ID), before)
}

// TestUnrecorded: a question in passing leaves no trace, and leaves out an interrupted turn.
func TestUnrecorded(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	request := s.Request(makeFile, "In passing")
	request.NoPersist = true
	require.NoError(t, s.Ask(f, request))
	require.Equal(t, "Over.", f.Last().Outcome.Message)
	require.Empty(t, f.Last().ID)
	require.False(t, s.Exists("made.txt"), "only tools that read are on")
	require.Empty(t, s.Git("for-each-ref", "refs/jp"))

	require.Error(t, s.Ask(f, s.Request(failing, "First")))
	id := f.Last().ID
	before := len(s.Load(id))
	request = front.Next(id, "Beside it")
	request.NoPersist, request.Turn.Model = true, s.Model(says)
	require.NoError(t, s.Ask(f, request))
	require.Contains(t, strings.Join(s.Notes(), "\n"), "Turn 1 is incomplete (")
	require.Len(t, s.Load(id), before)

	request.Turn.Model = s.Model("[[reply]]\nfail = \"auth\"\n")
	err := s.Ask(f, request)
	require.ErrorContains(t, err, "Nothing is recorded.")
	require.NotContains(t, hints(err), "jp continue")
	request.Input, f.Editor = agent.Input{Edit: true}, func(string) string { return "Written by hand" }
	err = s.Ask(f, request)
	require.Error(t, err)
	require.Len(t, s.Load(id), before)
	for name, change := range map[string]func(*agent.Request){
		"--fork": func(r *agent.Request) { r.Target.Fork = agent.ForkAtEnd }, "--title": func(r *agent.Request) { r.Target.Title = "T" },
		"--detach": func(r *agent.Request) { r.Detach = true }, "--pending": func(r *agent.Request) { r.Resume.Pending = "run" },
	} {
		request := s.Request(says, "In passing")
		request.NoPersist = true
		change(&request)
		require.ErrorContains(t, s.Ask(f, request), "--no-persist records nothing, and "+name+" does")
	}
}

// TestForkToAsk varies the event at which a fork for a question is made.
func TestForkToAsk(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, s.Ask(f, s.Request(says, "First")))
	id := f.Last().ID
	end := len(s.Load(id)) - 1
	require.NoError(t, s.Ask(f, front.Next(id, "Second")))
	conversations := func() int { return strings.Count(s.Git("for-each-ref", "refs/jp/conversations"), "\n") + 1 }
	ask := func(at string, change func(*agent.Request)) error {
		request := front.Next(id, "Third")
		request.Target.Fork = at
		if change != nil {
			change(&request)
		}
		return s.Ask(f, request)
	}
	require.NoError(t, ask(agent.ForkAtEnd, nil))
	require.NotEqual(t, id, f.Last().ID)
	require.Equal(t, []string{"First", "Second", "Third"}, requests(s.Load(f.Last().ID)))
	require.NoError(t, ask(fmt.Sprint(end), nil))
	require.Equal(t, []string{"First", "Third"}, requests(s.Load(f.Last().ID)))
	require.Equal(t, end, f.Begun()[len(f.Begun())-1].ForkedFrom.Seq)
	require.Equal(t, []string{"First", "Second"}, requests(s.Load(id)), "the source stays")
	require.Equal(t, 3, conversations())

	require.ErrorContains(t, ask(fmt.Sprint(end-2), nil), "is incomplete at @")
	require.Equal(t, 3, conversations(), "no fork is left")
	require.NoError(t, ask(fmt.Sprint(end-2), func(r *agent.Request) { r.Resume.Discard = true }))
	require.ErrorContains(t, ask("99", nil), "99")
	require.Error(t, ask(agent.ForkAtEnd, func(r *agent.Request) { r.Turn.Model = "nosuch/model" }))
	require.Equal(t, 4, conversations(), "a fork in which nothing is asked is taken back")

	for _, row := range []struct {
		text []string
		hint string
	}{{[]string{"@4", "More"}, "jp query --fork=4 More"}, {[]string{"-3"}, "jp query --fork=-3"}} {
		err := agent.Request{Target: agent.Target{Fork: agent.ForkAtEnd}, Input: agent.Input{Text: row.text}}.CheckFork()
		require.ErrorContains(t, err, "after --fork would be part of the text.")
		require.Contains(t, hints(err), row.hint)
	}
	require.NoError(t, agent.Request{Target: agent.Target{Fork: agent.ForkAtEnd}, Input: agent.Input{Text: []string{"More"}}}.CheckFork())
}

// TestControlFiles varies the person's answer about a tool that changed files that git obeys.
func TestControlFiles(t *testing.T) {
	t.Parallel()
	script := "[[reply]]\n[[reply.tool_call]]\nname = \"shell_run\"\narguments = { argv = [\"git\", \"config\", \"alias.x\", \"!true\"] }\n[[reply.tool_call]]\nname = \"fs_create_file\"\narguments = { path = \"made.txt\", content = \"made\\n\" }\n[[reply]]\nmessage = \"Over.\"\n"
	for _, row := range []struct {
		name   string
		person *front.Person
		status turnloop.Status
		wrong  string
		unseen bool
	}{
		{name: "nobody is there", status: turnloop.Incomplete, wrong: "the turn stopped: shell_run changed files that git obeys."},
		{name: "a yes", person: chooses('y'), status: turnloop.Complete},
		{name: "a no", person: chooses('n'), status: turnloop.Incomplete, wrong: "the turn stopped: shell_run changed files that git obeys."},
		{name: "silence", person: chooses('S'), status: turnloop.Incomplete, wrong: "the turn stopped"},
		{name: "leave", person: chooses('L'), status: turnloop.Incomplete, wrong: "nothing was approved", unseen: true},
		{name: "no terminal any more", person: chooses('G'), status: turnloop.Incomplete, wrong: "SIGHUP", unseen: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{Person: row.person}
			request := s.Request(script, "Work")
			request.Turn.Yes = true
			err := s.Ask(f, request)
			require.Equal(t, row.status, f.Last().Outcome.Status)
			require.Equal(t, row.status == turnloop.Complete, s.Exists("made.txt"))
			if row.wrong == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, row.wrong)
			f.Person = nil
			if err = s.Ask(f, front.Resume(f.Last().ID)); row.unseen { // they stayed unseen
				require.ErrorContains(t, err, "files that git obeys changed since shell_run started")
				err = s.Ask(f, front.Resume(f.Last().ID))
			}
			require.NoError(t, err, "a resume accepts what was shown")
			require.True(t, s.Exists("made.txt"))
		})
	}
}

// TestTitle: a model writes the title beside the conversation.
func TestTitle(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	request := s.Request(says, "Cap the retries")
	request.Target.Title = "Mine"
	require.NoError(t, s.Ask(f, request))
	r := s.Open()
	defer r.Close()
	info, err := r.Store.Info(t.Context(), f.Last().ID)
	require.NoError(t, err)
	require.Equal(t, "Mine", info.Summary.Title)
	asked := ""
	for said, want := range map[string]string{"# \"Cap retries.\"\\nMore": "Cap retries", "...": ""} {
		model := s.Model(fmt.Sprintf("[[reply]]\nmessage = %q\ntimes = 9\n", strings.ReplaceAll(said, "\\n", "\n")))
		written, err := agent.WriteTitle(t.Context(), r, r.Env, info, model, func(name string) { asked = name })
		require.Equal(t, model, asked)
		require.Equal(t, want == "", err != nil)
		if err == nil {
			require.Equal(t, want, *written.Title)
			require.Positive(t, written.Usage.Output)
		}
	}
	_, err = agent.WriteTitle(t.Context(), r, r.Env, info, s.Model("[[reply]]\nfail = \"auth\"\n"), func(string) {})
	require.ErrorContains(t, err, "wrote no title")
	require.Len(t, s.Load(f.Last().ID), len(f.Events()), "nothing of it is recorded")

	var flag agent.TitleFlag
	require.NoError(t, flag.Set(agent.TitleFromModel))
	require.True(t, flag.ByModel)
	require.NoError(t, flag.Set(" One "))
	require.Equal(t, agent.TitleFlag{Text: "One"}, flag)
	plain := errors.New("no hint")
	require.Equal(t, plain, flag.Mistaken(plain, []string{"word"}))
	require.ErrorContains(t, agent.CheckTitle(strings.Repeat("x", 1001)), "is too long")
	require.NoError(t, agent.CheckTitle(strings.Repeat("x", 1000)))
}

// TestSystemPrompt varies the file of the user's own.
func TestSystemPrompt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, setting, text, want, wrong string }{
		{name: "jp's own", want: "You are jp, an assistant"},
		{name: "a file", setting: "~/system.md", text: "You are brief.\n", want: "You are brief."},
		{name: "a byte order mark", setting: "~/system.md", text: "\xef\xbb\xbfYou are brief.\n", want: "You are brief."},
		{name: "another encoding", setting: "~/system.md", text: "Be \xfcber\n", wrong: "could not use the system prompt ~/system.md: it is not UTF-8, and jp reads UTF-8"},
		{name: "an empty file", setting: "~/system.md", text: " \n", wrong: "could not use the system prompt ~/system.md: it is empty"},
		{name: "no file", setting: "~/nosuch.md", text: "x", wrong: "could not use the system prompt ~/nosuch.md: no such file"},
		{name: "a relative path", setting: "system.md", text: "x", wrong: "could not use the system prompt system.md: system must begin with / or ~/"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.WriteOwn("system.md", row.text)
			if row.setting != "" {
				s.WriteOwn(".config/jp/config.toml", fmt.Sprintf("system = %q\n[store]\ndurability = \"off\"\n", row.setting))
			}
			err := s.Ask(f, s.Request(says, "Hello"))
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				require.Empty(t, f.Events())
				return
			}
			require.NoError(t, err)
			prompts := bodies[*conversation.Prompt](s.Load(f.Last().ID))
			require.Len(t, prompts, 1)
			require.True(t, strings.HasPrefix(prompts[0].System, row.want), prompts[0].System)
		})
	}
}

// TestMovedHead: a tool that moves HEAD or other refs says so.
func TestMovedHead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ argv, words string }{
		{`"git", "reset", "-q", "--hard", "HEAD~1"`, "git: main moved"},
		{`"git", "symbolic-ref", "HEAD", "refs/heads/other"`, "git: HEAD main → other"},
		{`"git", "checkout", "-q", "--detach"`, "git: HEAD main → "},
		{`"git", "branch", "third"`, "git: refs/heads +1"},
	} {
		t.Run(row.argv, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.Git("branch", "other")
			s.Git("commit", "-q", "--allow-empty", "-m", "two")
			request := s.Request(oneCall("shell_run", "{ argv = ["+row.argv+"] }"), "Go")
			request.Turn.Yes = true
			require.NoError(t, s.Ask(f, request))
			content := bodies[*conversation.ToolCallResponse](f.Events())[0].Content
			require.Contains(t, content, row.words)
			require.Equal(t, strings.Contains(row.words, "HEAD"), strings.Contains(content, "git: HEAD"))
		})
	}
}

// TestToolTime varies how long a tool may run.
func TestToolTime(t *testing.T) {
	t.Parallel()
	slow := `{ argv = ["sh", "-c", "echo early; exec sleep 600"] }`
	for _, row := range []struct{ name, config, script, want string }{
		{"all tools", "[limits]\ntool_timeout = \"100ms\"\n", oneCall("shell_run", slow), "early\n[timed out after 100ms; its process group was ended]\n"},
		{"shell_run", "[tools.shell_run]\ntimeout = \"100ms\"\n", oneCall("shell_run", slow), "timed out after 100ms"},
		{"a call asks for more", "[tools.shell_run]\ntimeout = \"100ms\"\n", oneCall("shell_run", `{ argv = ["sleep", "600"], timeout_s = 900 }`), "timed out after 100ms"},
		{"a call asks for less than none", "[limits]\ntool_timeout = \"0s\"\n", oneCall("shell_run", `{ argv = ["sleep", "600"], timeout_s = 1 }`), "timed out after 1s"},
		{"one of jp's own", "[tools.fs_read_file]\ntimeout = \"1ns\"\n", oneCall("fs_read_file", `{ path = "README.md" }`), "timed out after"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.Configure(row.config)
			request := s.Request(row.script, "Slow")
			request.Turn.Yes = true
			require.NoError(t, s.Ask(f, request))
			result := bodies[*conversation.ToolCallResponse](f.Events())[0]
			require.True(t, result.IsError)
			require.Contains(t, result.Content, row.want)
			require.Equal(t, "Over.", f.Last().Outcome.Message)
		})
	}
}

// TestToolsOfTheRoot: a file tool that is told to write the working tree itself fails, and the turn goes on.
func TestToolsOfTheRoot(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, os.Mkdir(filepath.Join(s.Dir, "sub"), 0o700))
	s.Write("own.txt", "")
	script, want := "[[reply]]\n", []string{}
	for _, c := range []struct{ name, arguments, want string }{
		{"fs_create_file", `{ path = ".", content = "x" }`, "it names a folder: name the file in it"},
		{"fs_create_file", `{ path = "sub/..", content = "x" }`, "it names a folder: name the file in it"},
		{"fs_delete_file", `{ path = "./" }`, "a directory"},
		{"fs_delete_file", fmt.Sprintf("{ path = %q }", s.Dir), "a directory"},
		{"fs_modify_file", `{ path = ".", edits = [{ old = "a", new = "b" }] }`, "a directory"},
		{"fs_move_file", `{ source = ".", target = "sub/x" }`, "a directory"},
		{"fs_move_file", `{ source = "own.txt", target = "." }`, "it exists already"},
		{"fs_delete_file", `{ path = "sub" }`, "a directory"},
		{"fs_create_file", `{ path = "new/a\u0000b", content = "x" }`, ""},
	} {
		script += fmt.Sprintf("[[reply.tool_call]]\nname = %q\narguments = %s\n", c.name, c.arguments)
		want = append(want, c.want)
	}
	request := s.Request(script+says, "Write all over it")
	request.Turn.Yes = true
	require.NoError(t, s.Ask(f, request))
	results := bodies[*conversation.ToolCallResponse](f.Events())
	require.Len(t, results, len(want))
	for i, r := range results {
		require.True(t, r.IsError, "%d", i)
		require.Contains(t, r.Content, want[i], "%d", i)
	}
}
