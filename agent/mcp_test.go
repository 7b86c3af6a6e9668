package agent_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/toolset"
	"jp/config"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/process/attach"
	"jp/turnloop"
)

// served configures an MCP server of the test's program, and approves it as it is.
func served(t *testing.T, s *front.Scratch, approve bool) {
	t.Helper()
	argv, environ := s.Server("plain", filepath.Join(s.Home, "log"))
	command, err := json.Marshal(argv)
	require.NoError(t, err)
	text := fmt.Sprintf("[mcp.fake]\ncommand = %s\n", command)
	for name, value := range environ {
		text += fmt.Sprintf("env.%s = %q\n", name, value)
	}
	s.Configure(text)
	if !approve {
		return
	}
	r := s.Open()
	defer r.Close()
	server := toolset.NewServer(r, r.Env, "fake")
	defer server.Close()
	server.Accept(server.Files())
	listing, err := server.List(t.Context())
	require.NoError(t, err)
	require.NoError(t, server.Approve(listing.Offers))
}

// TestServer varies the offers that a turn takes from an MCP server. An unapproved server gives none.
func TestServer(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		approve bool
		change  func(*agent.Request)
		asked   string // contained in the question
		wrong   string
		notice  string
	}{
		{name: "nothing", approve: true, asked: "Look"},
		{name: "not approved", asked: "Look", notice: "fake"},
		{name: "a prompt", approve: true, change: func(r *agent.Request) {
			r.Input.Prompt = &agent.ServerPrompt{Server: "fake", Name: "greet", Words: "Ann warmly"}
		}, asked: "Greet Ann warmly"},
		{name: "a prompt without its words", approve: true, change: func(r *agent.Request) {
			r.Input.Prompt = &agent.ServerPrompt{Server: "fake", Name: "greet"}
		}, wrong: "NAME is missing"},
		{name: "a prompt of a server that is not approved", change: func(r *agent.Request) {
			r.Input.Prompt = &agent.ServerPrompt{Server: "fake", Name: "greet", Words: "Ann"}
		}, wrong: "fake"},
		{name: "a prompt of no server", approve: true, change: func(r *agent.Request) {
			r.Input.Prompt = &agent.ServerPrompt{Server: "nosuch", Name: "greet"}
		}, wrong: "nosuch"},
		{name: "a resource of no server", approve: true, change: func(r *agent.Request) { r.Input.Attachments = []string{"mcp:nosuch:x"} }, wrong: "jp cannot attach mcp:nosuch:x"},
		{name: "a tool of a server that is not approved", change: func(r *agent.Request) { r.Tools.Enable = []string{"mcp__fake__echo"} }, wrong: `there is no tool "mcp__fake__echo"`},
		{name: "a tool that it has", approve: true, change: func(r *agent.Request) { r.Tools.Enable = []string{"mcp__fake__echo"} }, asked: "Look"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			served(t, s, row.approve)
			request := s.Request(says, "Look")
			if row.change != nil {
				row.change(&request)
			}
			err := s.Ask(f, request)
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				require.Empty(t, f.Events())
				return
			}
			require.NoError(t, err)
			require.Contains(t, requests(f.Events())[0], row.asked)
			require.Contains(t, strings.Join(append(f.Notices(), s.Notes()...), "\n"), row.notice)
		})
	}
}

// TestServerTool runs a tool of a server, after a question.
func TestServerTool(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	served(t, s, true)
	request := s.Request(oneCall("mcp__fake__echo", `{ text = "hello" }`), "Look")
	request.Turn.Policy = "defer"
	require.Error(t, s.Ask(f, request))
	require.Equal(t, turnloop.Waiting, f.Last().Outcome.Status)
	request = front.Resume(f.Last().ID)
	request.Turn.Yes = true
	require.NoError(t, s.Ask(f, request))
	require.Equal(t, "Over.", f.Last().Outcome.Message)
	r := s.Open()
	defer r.Close()
	require.NoError(t, agent.CheckTools(r, "mcp__fake__echo"))
	require.Contains(t, words(agent.ToolCandidates(r, r.Env)), "mcp__fake__echo")
	require.Equal(t, []string{"fake:greet"}, func() (names []string) {
		for _, p := range toolset.Prompts(r, r.Env) {
			names = append(names, p.Name())
		}
		return names
	}()[:1])
	toolset.AddServers(r, map[string]config.MCP{"fake": {URL: "http://127.0.0.1:1/"}, "more": {URL: "http://127.0.0.1:1/"}})
	require.Empty(t, r.Config.MCP["fake"].URL, "the configuration counts")
	require.NotEmpty(t, r.Config.MCP["more"].URL)
}

// TestWaitingQuestion: an inquiry of another process is shown with the arguments of its call.
func TestWaitingQuestion(t *testing.T) {
	t.Parallel()
	s, f, id := stopped(t)
	inquiry := attach.InquiryOf(id, f.Last().Outcome.Waiting)
	r := s.Open()
	defer r.Close()
	question, err := agent.Question(t.Context(), r, inquiry)
	require.NoError(t, err)
	require.Equal(t, "Run fs_create_file made.txt?", question.Inquiry.Request.Question.Text)
	require.Contains(t, string(question.Arguments), "made.txt")
	inquiry.Seq = 1
	_, err = agent.Question(t.Context(), r, inquiry)
	require.Error(t, err)
	_, err = agent.QuestionIn(nil, inquiry)
	require.Error(t, err)
}

// TestFileTexts are the texts of files that a tool changed, without binary ones.
func TestFileTexts(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	s.Write("old.txt", "old\n")
	s.Write("gone.txt", "gone\n")
	s.Commit()
	request := s.Request(oneCall("shell_run", `{ argv = ["sh", "-c", "echo new >new.txt; echo more >>old.txt; rm gone.txt; printf 'a\\0b' >binary"] }`), "Work")
	request.Turn.Yes = true
	require.NoError(t, s.Ask(f, request))
	r := s.Open()
	defer r.Close()
	texts := map[string][2]string{}
	for _, file := range agent.FileTexts(t.Context(), r, bodies[*conversation.ToolCallResponse](f.Events())[0].Changed) {
		var pair [2]string
		for i, text := range []*string{file.Before, file.After} {
			if pair[i] = "-"; text != nil {
				pair[i] = *text
			}
		}
		texts[file.Path] = pair
	}
	require.Equal(t, map[string][2]string{"new.txt": {"-", "new\n"}, "old.txt": {"old\n", "old\nmore\n"}, "gone.txt": {"gone\n", "-"}}, texts)
}

// TestAskedInstructions varies the user's answer about a file of instructions that another program changed.
func TestAskedInstructions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		keys  []rune
		want  string
		wrong string
	}{
		{name: "give it", keys: []rune{'y'}, want: "AGENTS.md"},
		{name: "do not", keys: []rune{'n'}},
		{name: "silence", keys: []rune{'S'}},
		{name: "no terminal any more", keys: []rune{'G'}},
		{name: "leave", keys: []rune{'L'}, wrong: "othing was changed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{Person: chooses(row.keys...)}
			s.Write("AGENTS.md", "Be brief.\n")
			err := s.Ask(f, s.Request(says, "Hello"))
			require.Len(t, f.Person.Asked(), 1)
			require.Contains(t, f.Person.Asked()[0], "AGENTS.md tells the model how to work. It is not committed, and jp has no edit of yours on record.")
			if row.wrong != "" {
				require.ErrorContains(t, err, row.wrong)
				require.Empty(t, f.Events())
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.want, strings.Join(f.Begun()[0].Instructions(), ", "))
			f.Person = chooses('L')
			err = s.Ask(f, front.Next(f.Last().ID, "Again"))
			decided := row.keys[0] == 'y' || row.keys[0] == 'n'
			require.Equal(t, decided, err == nil, "an answer counts until the file changes")
		})
	}
}

// TestUntold: a tool whose definition a provider refuses is left out, and the list is bounded.
func TestUntold(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	agent.ListUntold(&text, "google", nil)
	require.Empty(t, text.String())
	agent.ListUntold(&text, "google", []agent.UntoldTool{{Tool: "x", Why: "it has no type"}})
	require.Equal(t, "google would refuse these tools, so queries leave them out:\n  x: it has no type\n", text.String())
	s := front.New(t)
	r := s.Open()
	defer r.Close()
	vendor, all := agent.UntoldHere(r, r.Env)
	require.Empty(t, vendor)
	require.Empty(t, all)
}

// TestAdopt: a fork that the user adopted goes on without the approvals, models and settings of before.
func TestAdopt(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	require.NoError(t, s.Ask(f, s.Request(says, "First")))
	id := f.Last().ID
	s.Environ = append(s.Environ, "XDG_STATE_HOME="+filepath.Join(s.Home, "other"))
	err := s.Ask(f, front.Next(id, "Second"))
	require.ErrorContains(t, err, "was written by someone else")
	r := s.Open()
	defer r.Close()
	require.Empty(t, agent.StoppedHere(t.Context(), r, ""))
	request := front.Next(id, "Second")
	request.Target.Fork = agent.ForkAtEnd
	err = s.Ask(f, request)
	require.ErrorContains(t, err, "it can be read, not continued")
	require.Contains(t, hints(err), "jp fork")
	require.Contains(t, hints(err), "--adopt")
}
