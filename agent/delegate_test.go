package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/conversation"
	"jp/internal/testing/front"
	"jp/turnloop"
)

// worker is a model of a delegate that makes a file.
const worker = `
[[reply]]
[[reply.tool_call]]
name = "update_state"
arguments = { plan = "make it", open_tasks = ["a.txt"] }
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "a.txt", content = "a\n" }
[[reply]]
message = "It is made."
`

// delegates is a model that gives a task to a delegate with the model of a script.
func delegates(s *front.Scratch, child, more string) string {
	return oneCall("delegate", fmt.Sprintf("{ task = \"Work on it\", model = %q%s }", s.Model(child), more))
}

// childOf is the conversation that works for another one, or "".
func childOf(t *testing.T, s *front.Scratch, parent conversation.ID) conversation.ID {
	t.Helper()
	r := s.Open()
	defer r.Close()
	infos, err := r.Store.List(t.Context(), conversation.ScopeLive)
	require.NoError(t, err)
	for _, info := range infos {
		if info.Summary.Parent == parent {
			return info.ID
		}
	}
	return ""
}

// TestDelegate varies the end of a delegate.
func TestDelegate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		child   string
		more    string // of the call's arguments
		config  string
		change  func(*agent.Request)
		result  string
		isError bool
		made    bool
		none    bool // it lacks a conversation
		status  turnloop.Status
	}{
		{name: "an answer", child: worker, result: "It is made.", made: true},
		{name: "data of no use", child: "[[reply]]\nmessage = \"Half an\"\nfinish = \"length\"\n", result: "[The answer was cut off by the output limit.]"},
		{name: "without a word", child: "[[reply]]\nmessage = \"\"\ntimes = 9\n", result: "The delegate gave no answer: it ended without a word", isError: true},
		{name: "a refusal", child: "[[reply]]\nmessage = \"No.\"\nfinish = \"refusal\"\n", result: "its model refused to answer", isError: true},
		{name: "a budget", child: worker, more: ", budget = 100", result: "it used up its budget of tokens", isError: true, made: true},
		{name: "a limit of calls", child: strings.Repeat("[[reply]]\n[[reply.tool_call]]\nname = \"fs_list_files\"\narguments = {}\n", 2) + says, config: "[limits]\nmodel_calls = 2\n", result: "it reached the limit of model calls", isError: true, status: turnloop.Complete},
		{name: "no such tool", child: worker, more: ", tools = [\"fs_fly\"]", result: `there is no tool "fs_fly" to work with; there are `, isError: true, none: true},
		{name: "a delegate of a delegate", child: worker, more: ", tools = [\"delegate\"]", result: "a delegate cannot delegate", isError: true, none: true},
		{name: "fewer tools", child: worker, more: ", tools = [\"fs_read_file\"]", result: "It is made."},
		{name: "the tools of its parent", child: worker, change: func(r *agent.Request) {
			r.Tools = agent.ToolChoice{None: true, Enable: []string{"delegate", "fs_read_file"}}
		}, result: "It is made."},
		{name: "no tool to delegate", child: worker, change: func(r *agent.Request) { r.Tools.Disable = []string{"delegate"} }, result: `There is no tool named "delegate"`, isError: true, none: true},
		{name: "declined", child: worker, change: func(r *agent.Request) { r.Turn.Yes, r.Turn.Policy = false, "deny" }, result: "not run", isError: true, none: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.Configure(row.config)
			request := s.Request(delegates(s, row.child, row.more), "Go")
			request.Turn.Yes = true
			if row.change != nil {
				row.change(&request)
			}
			err := s.Ask(f, request)
			if row.status == "" {
				require.NoError(t, err)
				require.Equal(t, "Over.", f.Last().Outcome.Message)
			}
			result := bodies[*conversation.ToolCallResponse](f.Events())[0]
			require.Contains(t, result.Content, row.result)
			require.Equal(t, row.isError, result.IsError)
			require.Equal(t, row.made, s.Exists("a.txt"))
			child := childOf(t, s, f.Last().ID)
			require.Equal(t, row.none, child == "")
			if row.made {
				require.Equal(t, "a.txt", result.Changed[0].Path)
			}
			if row.name == "a budget" {
				require.Contains(t, result.Content, `as JSON: {"open_tasks":["a.txt"],"plan":"make it"}`)
				require.Contains(t, result.Content, "Its conversation: "+string(child))
			}
		})
	}
}

// TestWaitingDelegate varies the fate of a delegate whose question stays unanswered.
func TestWaitingDelegate(t *testing.T) {
	t.Parallel()
	const question = "Run fs_create_file a.txt?"
	for _, row := range []struct {
		name    string
		do      func(t *testing.T, s *front.Scratch, f *front.Front, parent, child conversation.ID)
		pending string
		policy  string
		result  string
		isError bool
		made    bool
		waits   bool
	}{
		{name: "still nobody", waits: true},
		{name: "the parent is gone on with", policy: "auto", result: "It is made.", made: true},
		{name: "the parent is answered", do: func(t *testing.T, s *front.Scratch, _ *front.Front, parent, child conversation.ID) {
			r := s.Open()
			require.Equal(t, parent, agent.GoesOn(t.Context(), r, child))
			require.NoError(t, r.Close())
			require.NoError(t, s.Answer(parent, "run"))
		}, result: "It is made.", made: true},
		{name: "the child is gone on with", do: func(t *testing.T, s *front.Scratch, f *front.Front, _, child conversation.ID) {
			request := front.Resume(child)
			request.Turn.Policy = "auto"
			require.NoError(t, s.Ask(f, request))
			require.Equal(t, "It is made.", f.Last().Outcome.Message)
			require.NoError(t, os.Remove(filepath.Join(s.Dir, "a.txt")), "it does not run twice")
		}, result: "It is made."},
		{name: "the child is taken back", do: func(t *testing.T, s *front.Scratch, f *front.Front, _, child conversation.ID) {
			require.NoError(t, s.Ask(f, front.Discard(child)))
		}, result: "The delegate gave no answer: its turn was taken back.", isError: true},
		{name: "it is left alone", pending: "report", result: "The delegate gave no answer: it was interrupted, and is not gone on with.", isError: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			s.Configure("[tools.delegate]\nrun = \"unattended\"\n")
			request := s.Request(delegates(s, worker, ""), "Go")
			request.Turn.Policy = "defer"
			err := s.Ask(f, request)
			parent := f.Last().ID
			child := childOf(t, s, parent)
			require.ErrorContains(t, err, fmt.Sprintf("Conversation %s, which works for %s, waits for an answer", child, parent))
			require.Equal(t, question, f.Last().Outcome.Waiting.Request.Question.Text)
			require.Equal(t, child, f.Last().Outcome.In)
			r := s.Open()
			s.Await(r, child)
			require.ErrorContains(t, agent.Delete(t.Context(), r, child), "waits for it")
			found := agent.StoppedHere(t.Context(), r, "")
			require.Len(t, found, 1, "the child works for another")
			require.NoError(t, r.Close())

			if row.do != nil {
				row.do(t, s, f, parent, child)
			}
			request = front.Resume(parent)
			request.Turn.Policy, request.Resume.Pending = row.policy, row.pending
			if row.policy == "" {
				request.Turn.Policy = "defer"
			}
			err = s.Ask(f, request)
			require.Equal(t, row.made, s.Exists("a.txt"))
			if row.waits {
				require.Error(t, err)
				require.Equal(t, turnloop.Waiting, f.Last().Outcome.Status)
				require.NoError(t, s.Ask(f, front.Discard(parent)))
				for _, id := range []conversation.ID{parent, child} {
					require.Len(t, bodies[*conversation.TurnDiscarded](s.Load(id)), 1, "the child's turn goes with its parent's")
				}
				return
			}
			require.NoError(t, err)
			require.Equal(t, "Over.", f.Last().Outcome.Message)
			results := bodies[*conversation.ToolCallResponse](s.Load(parent))
			require.Contains(t, results[0].Content, row.result)
			require.Equal(t, row.isError, results[0].IsError)
		})
	}
}

// TestForkedDelegate: a fork of the parent has no child.
func TestForkedDelegate(t *testing.T) {
	t.Parallel()
	s, f := front.New(t), &front.Front{}
	s.Configure("[tools.delegate]\nrun = \"unattended\"\n")
	request := s.Request(delegates(s, worker, ""), "Go")
	request.Turn.Policy = "defer"
	require.Error(t, s.Ask(f, request))
	parent := f.Last().ID
	events := s.Load(parent)
	forked := s.Fork(parent, events[len(events)-1].Seq)
	request = front.Resume(forked)
	request.Turn.Policy = "auto"
	require.NoError(t, s.Ask(f, request))
	require.Contains(t, bodies[*conversation.ToolCallResponse](s.Load(forked))[0].Content, "The delegate gave no answer: it works for another conversation.")
	require.False(t, s.Exists("a.txt"))
}

// TestDelegatedCost: the usage of a delegate counts to the turn that gave the task.
func TestDelegatedCost(t *testing.T) {
	t.Parallel()
	spend := "[[reply]]\nusage = { input = 3000, output = 20, cost_usd = \"0.15\" }\n[[reply.tool_call]]\nname = \"fs_list_files\"\narguments = {}\n[[reply]]\nmessage = \"Said.\"\nusage = { input = 3000, output = 20, cost_usd = \"0.15\" }\n"
	for limit, want := range map[string]string{"0.57": "the turn cost $0.", "0.42": "the turn cost $0.40"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			s, f := front.New(t), &front.Front{}
			child := s.Model(spend)
			parent := s.Model(strings.Replace(oneCall("delegate", fmt.Sprintf("{ task = \"Say it\", model = %q }", child)), "[[reply]]\n", "[[reply]]\nusage = { input = 3000, output = 20, cost_usd = \"0.40\" }\n", 1))
			s.Configure(fmt.Sprintf("[limits]\ncost_usd = %s\n[prices]\n%q = [\"10\", \"10\"]\n%q = [\"20\", \"20\"]\n", limit, parent, child))
			request := s.Request("", "Go")
			request.Turn.Model, request.Turn.Yes = parent, true
			require.ErrorContains(t, s.Ask(f, request), want)
			require.Equal(t, turnloop.Stopped, f.Last().Outcome.Status)
		})
	}
}
