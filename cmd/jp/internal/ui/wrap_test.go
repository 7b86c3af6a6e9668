package ui

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/agent"
	"jp/agent/problem"
	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/testing/terminaltest"
)

var widths = []int{80, 48, 40}

func TestErrorsFitTheTerminal(t *testing.T) {
	t.Parallel()
	id := idOf(1)
	incomplete := problem.New(problem.ExitDecision, "incomplete_turn", "%s has an incomplete turn (waiting for input).", id).About(id).
		Hint(action.Continue(id.Short()), "go on with it; the tools that have not run will").
		Hint(action.ResumeHere(string(id)), "go on here, where the model is told of the place").
		Hint(action.Discard(id.Short()), "take it back")
	incomplete.Details = []string{`Waiting for input: fs_create_file — "Overwrite existing file?"`, "shell_run go test ./... is not started, and will run when you go on."}
	for name, f := range map[string]*problem.Error{
		"one line":       problem.Usage("--format %q is none of auto, text, json, jsonl.", "yaml"),
		"a long message": problem.New(problem.ExitProvider, "provider", "the provider openai answered 400 (invalid_request_error): This model's maximum context length is 128000 tokens; your messages have 131072."),
		"hints":          incomplete,
		"long hint": problem.New(problem.ExitUsage, "config", "no model is configured.").
			Hint(action.AskDemo, "needs no key").
			Hint(action.SetKeyCommand("anthropic", `["pass", "show", "anthropic/claude"]`), "ask with this key from now on, in all of your repositories"),
		"a path":    problem.New(problem.ExitFailed, "internal", "jp could not read /a/very/long/path/of/a/repository/below/home/and/elsewhere/.git/jp/registry/of/conversations: permission denied."),
		"wanted":    problem.Unchanged(problem.ExitDecision, "usage").Hint(action.Undo(), "do it without being asked"),
		"quotation": problem.New(problem.ExitFailed, "usage", "no such event.").Hint(action.SetTitleTo("A title with more than four words in it"), "fork before it"),
	} {
		for _, columns := range widths {
			t.Run(name, func(t *testing.T) {
				terminaltest.RequireWrapped(t, problemText(f, 0), problemText(f, columns), columns)
				for _, h := range f.Hints {
					if command := h.Action.String(); len(command) <= columns {
						require.Contains(t, problemText(f, columns), command, "it can be copied")
					}
				}
			})
		}
	}
}

// sees runs a function that asks at a terminal, types a key at each prompt, and returns the screen's
// whole text.
func sees(t *testing.T, columns int, keys []string, asks func(ctx context.Context, tty *terminal.TTY)) string {
	t.Helper()
	screen := terminaltest.New(t, columns, 60)
	done := make(chan struct{})
	go func() {
		defer close(done)
		asks(t.Context(), terminal.NewTTY(screen.TTY))
	}()
	seen := 0
	for _, key := range keys {
		screen.Wait("a prompt", func() bool { return strings.Count(screen.Raw(), "> ") > seen })
		seen = strings.Count(screen.Raw(), "> ")
		screen.Type(key)
	}
	<-done
	return screen.All()
}

// The questions of jp itself fit the terminal.
func TestDecisionsFitTheTerminal(t *testing.T) {
	t.Parallel()
	decision := agent.UserDecision{
		Text:    "shell_run make publish TARGET=production\n  It was started 3 min ago, and jp died. What it did is not known.\n  Files that changed since: internal/deploy/config.go, internal/deploy/state.json\n",
		Choices: []agent.UserChoice{{Key: 'a', Text: "run it again"}, {Key: 'r', Text: "report it to the model"}, {Key: 'w', Text: "write the result by hand"}, {Key: 'q', Text: "quit"}},
		Help:    "  a  the command runs a second time; what it did the first time stays as it is\n  r  the model is told that the outcome is unknown, and which files changed\n",
	}
	list := decision
	list.List = true
	confirmed := Confirmation{Question: "Put 12 files back, and delete the three that the tools made since?"}
	for name, test := range map[string]struct {
		keys []string
		asks func(ctx context.Context, tty *terminal.TTY)
	}{
		"choices in a row": {[]string{"?", "q"}, func(ctx context.Context, tty *terminal.TTY) {
			_, _ = (&client{tty: tty, front: &TerminalFront{}}).Decide(ctx, decision)
		}},
		"choices in a list": {[]string{"?", "q"}, func(ctx context.Context, tty *terminal.TTY) {
			_, _ = (&client{tty: tty, front: &TerminalFront{}}).Decide(ctx, list)
		}},
		"the menu of Ctrl+C": {[]string{"\r"}, func(ctx context.Context, tty *terminal.TTY) {
			_ = (&client{tty: tty, front: &TerminalFront{}}).atQuestion(ctx)
		}},
		"a notice": {nil, func(_ context.Context, tty *terminal.TTY) {
			(&client{tty: tty, front: &TerminalFront{Env: &Env{}}}).Tell("The conversation " + string(conversation.ID(idOf(2))) + " was changed elsewhere since you looked at it: jp log 4400 shows what came.")
		}},
		"yes or no": {[]string{"n"}, func(ctx context.Context, tty *terminal.TTY) {
			_, _ = approves(ctx, tty, func() string { return "" }, "n no, leave out what is not approved", "y yes, approve exactly this", "d details")
		}},
		"a confirmation": {[]string{"n"}, func(ctx context.Context, tty *terminal.TTY) {
			_ = confirmed.ask(ctx, tty, terminal.Palette{})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			roomy := sees(t, 300, test.keys, test.asks)
			for _, columns := range widths {
				terminaltest.RequireWrapped(t, roomy, sees(t, columns, test.keys, test.asks), columns)
			}
		})
	}
}
