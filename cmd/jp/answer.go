package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"jp/agent"
	"jp/agent/live"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/agent/toolset"
	"jp/cmd/jp/internal/terminal"
	"jp/cmd/jp/internal/ui"
	"jp/conversation"
	"jp/internal/action"
	"jp/internal/safetext"
	"jp/process/attach"
	"jp/turnloop"
)

type answerOptions struct {
	words []string
	value string
}

const answerHelp = `Answer the question that a conversation waits for, from any shell. A running
process goes on at once. Otherwise jp records the answer, and jp continue goes
on. Without a value, jp shows the question, and asks it on a terminal. With @E,
jp answers only the question of that event.

VALUE: y or n (to run a tool, to deliver a result, to a yes-or-no question), a
(run this tool for the rest of the turn), the value or the number of an option of
a tool's question, or a text. --value takes JSON: the value itself, or
{"answer", "reason", "arguments", "remember"}.

REASON goes with a no: jp tells the model why its tool did not run. For a tool's
own question, jp records it beside the answer.

JSON: docs/json.md

Exit codes: 0 answered · 1 nothing waits · 2 invalid answer · 3 only a person
at a terminal may answer · 4 locked · 5 no such conversation · 6 damaged`

func newAnswerCommand(e *ui.Env) *cobra.Command {
	var o answerOptions
	cmd := &cobra.Command{
		Use: "answer [ID][@E] [VALUE [REASON]]", Short: "Answer a waiting question", GroupID: "ask", Args: cobra.MaximumNArgs(3),
		Long:    answerHelp,
		Example: "  jp answer\n  jp answer y\n  jp answer 4400 n \"use a deadline\"\n  jp answer 4400@14 y\n  jp answer 4400 --value '{\"answer\":\"edit\",\"arguments\":{\"path\":\"b.txt\",\"content\":\"\"}}'",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.words = args
			return runAnswer(cmd.Context(), e, o)
		},
	}
	cmd.Flags().StringVar(&o.value, "value", "", "the answer as `JSON`")
	return cmd
}

func runAnswer(ctx context.Context, e *ui.Env, o answerOptions) error {
	r, err := e.OpenRepo(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if toolset.FromProgram(r) {
		return problem.New(problem.ExitDecision, "untrusted", "%v.", toolset.ErrFromTool)
	}
	r.States().Sweep(ctx, e.Host)
	a := &answering{env: e, repo: r, event: -1}
	if err := a.parse(ctx, o); err != nil {
		return err
	}
	client, err := r.Processes().Connect(ctx, r.States().AskedIn(ctx, a.id))
	switch {
	case errors.Is(err, repo.ErrNotRunning):
		words, in, err := agent.AnswerRecorded(ctx, &ui.TerminalFront{Env: a.env, Repo: a.repo}, a.repo, a.id, a.event, func(ctx context.Context, i attach.Inquiry) (attach.Answer, error) {
			a.id = i.Conversation
			return a.to(ctx, i, func(ctx context.Context) (turnloop.Answer, error) { return a.ask(ctx, i) })
		})
		if err != nil {
			return err
		}
		a.id = in
		return a.report(ctx, words, 0)
	case err != nil:
		return err
	}
	defer client.Close()
	return a.send(ctx, client)
}

// An answering is one answer to the question of one conversation.
type answering struct {
	env    *ui.Env
	repo   *repo.Repo
	id     conversation.ID
	event  int    // of the question, -1 for any waiting one
	word   string // "" for none
	reason string
	json   string // in place of a word
}

// parse tells which of the words is the conversation: the first one, if it is an
// id or the end of one, or has an answer behind it. Else it is the answer.
func (a *answering) parse(ctx context.Context, o answerOptions) (err error) {
	words := o.words
	if len(words) > 0 {
		target, event, _ := strings.Cut(words[0], "@")
		if n, err := strconv.Atoi(event); err == nil && n >= 0 {
			a.event, words = n, words[1:]
			if target != "" {
				words = append([]string{target}, words...)
			}
		}
	}
	if len(words) > 0 && (a.names(words[0]) || len(words) > 1 && !takesReason(words[0]) || len(words) == 3) {
		if a.id, err = a.repo.Find().Resolve(ctx, a.env.Host, words[0]); err != nil {
			return err
		}
		words = words[1:]
	} else if a.id, err = a.repo.Find().ResolveRunning(ctx, a.env.Host, "", action.Answer, repo.Waits, true); err != nil {
		return err
	}
	a.json = o.value
	if a.json != "" && len(words) > 0 {
		return problem.Usage("give a word, or --value; not both.")
	}
	if len(words) > 0 {
		a.word = words[0]
	}
	if len(words) > 1 {
		a.reason = strings.Join(words[1:], " ")
	}
	return nil
}

// takesReason reports whether a word is a no, which a reason may stand behind.
func takesReason(word string) bool {
	word = strings.ToLower(word)
	return slices.Contains(ui.NoWords, word) || slices.Contains(ui.YesWords, word) || word == conversation.AnswerSkip || word == conversation.AnswerWithhold
}

// names reports whether a word is meant as a conversation.
func (a *answering) names(word string) bool {
	if _, err := conversation.ParseID(word); err == nil || word == "." || word == "-" || word == "recent" || word == "newest" {
		return true
	}
	return len(a.repo.Find().EndingIn(word)) > 0
}

// to is the answer to a question: the command line's, or that of the person at
// the terminal.
func (a *answering) to(ctx context.Context, i attach.Inquiry, ask func(context.Context) (turnloop.Answer, error)) (attach.Answer, error) {
	switch {
	case a.event >= 0 && a.event != i.Seq:
		return attach.Answer{}, problem.New(problem.ExitFailed, "not_found", "question @%d does not wait; @%d does.", a.event, i.Seq).About(i.Conversation)
	case a.json != "":
		return ui.ReadJSONAnswer(i, a.json)
	case a.word != "":
		return ui.ReadAnswer(i, a.word, a.reason)
	}
	answer, err := ask(ctx)
	return attach.Answer{
		Conversation: i.Conversation, Seq: i.Seq, Outcome: answer.Outcome, Value: answer.Value, Reason: answer.Reason,
		Arguments: answer.Arguments, Remember: answer.Remember,
	}, err
}

// send gives the answer to the process that waits for it, and waits until it is
// recorded.
func (a *answering) send(ctx context.Context, client *attach.Client) error {
	_, inquiry, err := live.DoesNow(ctx, client)
	if err != nil {
		return err
	}
	if inquiry == nil {
		return problem.New(problem.ExitFailed, "not_found", "%s runs, and waits for no answer.", a.id).About(a.id).Hint(action.Attach(a.id.Short()), "looks at it")
	}
	answer, err := a.to(ctx, *inquiry, func(ctx context.Context) (turnloop.Answer, error) {
		return a.ask(ctx, *inquiry)
	})
	if err != nil {
		return err
	}
	if err := client.Send(&answer); err != nil {
		return err
	}
	for {
		m, err := client.Next()
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *attach.Refused:
			return problem.New(problem.ExitFailed, "not_found", "the answer has no effect: %s.", m.Reason).About(a.id)
		case *attach.Answered:
			if m.Seq == answer.Seq && m.Conversation == answer.Conversation {
				return a.report(ctx, m.Words, client.Hello().PID)
			}
		case *attach.Closing:
			return problem.New(problem.ExitFailed, "not_found", "the process ended before it took the answer: %s.", m.Reason).About(a.id)
		}
	}
}

func (a *answering) ask(ctx context.Context, i attach.Inquiry) (turnloop.Answer, error) {
	question, err := agent.Question(ctx, a.repo, i)
	if err != nil {
		return turnloop.Answer{}, err
	}
	front := &ui.TerminalFront{Env: a.env, Repo: a.repo}
	front.About(a.id)
	client := ui.OpenClient(front)
	if client == nil {
		f := problem.New(problem.ExitDecision, "incomplete_turn", "%s waits for an answer, and there is no terminal to ask at.", i.Conversation).About(i.Conversation)
		f.Details = append(f.Details, repo.QuestionWords(i))
		return turnloop.Answer{}, f.Hint(repo.AnswerCommand(i), repo.AnswerWords(i)+" behind it answers it from here")
	}
	defer client.Close()
	answer, err := client.Prompter.Ask(ctx, question)
	if errors.Is(err, terminal.ErrInterrupted) || errors.Is(err, turnloop.ErrNoAnswer) {
		err = problem.New(problem.ExitInterrupted, "interrupted", "nothing was answered.").About(a.id)
	}
	return answer, err
}

// report prints the answer and the process that goes on.
func (a *answering) report(ctx context.Context, words string, process int) error {
	if a.env.Format.Structured() {
		return ui.WriteJSON(a.env.Results(), answeredJSON{ui.Changed("answer", a.id), repo.Given(words), process})
	}
	text := strings.ToUpper(words[:min(1, len(words))]) + words[min(1, len(words)):]
	if process > 0 {
		_, err := fmt.Fprintf(a.env.Results(), "%s. %s goes on (pid %d).\n", safetext.Clean(text), a.id, process)
		return err
	}
	_, err := fmt.Fprintf(a.env.Results(), "%s. It is recorded; %s goes on.\n", safetext.Clean(text), action.Continue(agent.GoesOn(ctx, a.repo, a.id).Short()))
	return err
}

type answeredJSON struct {
	ui.Change
	Answer *string `json:"answer"`
	PID    int     `json:"pid"` // of the process that goes on, 0 if none runs
}
