// Lines is a second front end of jp, of one file: it reads commands and answers from standard input, a line
// each, and writes events to standard output. It shows the parts of the application that an editor or a
// page needs, and uses none of the command line's.
//
//	ask TEXT   ask in the newest conversation; new TEXT in a new one
//	list       the conversations
//	fork       a fork of the newest one
//	undo       bring the files back to before its last turn
//	yes, no    answer the question that waits
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"jp/agent"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/agent/toolset"
	"jp/conversation"
	"jp/fork"
	"jp/turnloop"
	"jp/undo"
)

func main() {
	f := &front{in: bufio.NewScanner(os.Stdin), out: os.Stdout, model: os.Getenv("LINES_MODEL")}
	for f.in.Scan() {
		command, rest, _ := strings.Cut(f.in.Text(), " ")
		if err := f.do(context.Background(), command, rest); err != nil {
			f.say("error", err.Error())
		}
	}
}

// A front is the front end. A nil part stands for a missing person.
type front struct {
	agent.Headless
	in    *bufio.Scanner
	out   io.Writer
	model string
}

// say writes one line: its kind, and a text as JSON.
func (f *front) say(kind, text string) {
	quoted, _ := json.Marshal(text) // a string can always be written
	fmt.Fprintf(f.out, "%s %s\n", kind, quoted)
}

func (f *front) do(ctx context.Context, command, rest string) error {
	r, err := repo.Open(ctx, &repo.Host{
		Environ: os.Environ(), Dir: ".", Now: time.Now, Random: rand.Reader, Notify: func(line string) { f.say("note", line) }, Alarm: func(line string) { f.say("note", line) },
	})
	if err != nil {
		return err
	}
	defer r.Close()
	switch command {
	case "ask", "new":
		return f.ask(ctx, r, rest, command == "new")
	case "list":
		return f.list(ctx, r)
	case "fork":
		return f.fork(ctx, r)
	case "undo":
		return f.undo(ctx, r)
	}
	return fmt.Errorf("there is no command %q", command)
}

func (f *front) ask(ctx context.Context, r *repo.Repo, text string, anew bool) error {
	request := agent.Request{Input: agent.Input{Text: []string{text}}, Turn: agent.TurnOptions{Model: f.model}, Target: agent.Target{New: anew}}
	if !anew {
		id, err := r.Find().Resolve(ctx, r.Env, "newest")
		if err != nil {
			return err
		}
		request.Target.ID = string(id)
	}
	return agent.Ask(ctx, r, request, f)
}

func (f *front) list(ctx context.Context, r *repo.Repo) error {
	infos, err := r.Store.List(ctx, conversation.ScopeLive)
	if err != nil {
		return err
	}
	for _, info := range infos {
		f.say("conversation", fmt.Sprintf("%s, %d events, %s", info.ID, info.Summary.Events, info.Summary.Title))
	}
	return nil
}

// fork shares all events of the newest conversation with a new one.
func (f *front) fork(ctx context.Context, r *repo.Repo) error {
	v, err := r.Find().View(ctx, r.Env, "newest")
	if err != nil {
		return err
	}
	made, err := fork.New(v, fork.ForkCut{})
	if err != nil {
		return err
	}
	place, err := snapshot.Here(ctx, r)
	if err == nil {
		err = made.Create(ctx, place)
	}
	if err == nil {
		f.say("forked", string(made.ID))
	}
	return err
}

// undo takes back the changes by the tools of the last turn.
func (f *front) undo(ctx context.Context, r *repo.Repo) error {
	id, err := r.Find().Resolve(ctx, r.Env, "newest")
	if err != nil {
		return err
	}
	u, _, err := undo.New(ctx, r, undo.Options{Action: "undo", Word: string(id) + "@"})
	if err != nil {
		return err
	}
	defer u.Close()
	first, _, err := u.View.TurnEvents(u.View.LastTurn())
	if err != nil {
		return err
	}
	u.Before(first)
	_, result, err := u.Propose(ctx)
	if err == nil {
		err = u.Do(ctx, result, u.Record)
	}
	if err != nil {
		return err
	}
	for _, file := range result.Files {
		f.say("file", fmt.Sprintf("%s %v %s", file.Path, file.Done, file.Reason))
	}
	return nil
}

// Output shows a run as lines.
func (f *front) Output(agent.OutputOptions) agent.Output { return &output{front: f} }

// User is the person who writes the lines.
func (f *front) User() agent.User { return user{f} }

type output struct {
	agent.NoOutput
	front *front
}

// Streamed writes the answer as it comes.
func (o *output) Streamed(d turnloop.Delta) {
	if d.Part == conversation.PartMessage {
		o.front.say("text", d.Text)
	}
}

// Recorded names the durable events.
func (o *output) Recorded(events []*conversation.Event) {
	for _, e := range events {
		o.front.say("event", e.Subject)
	}
}

// Ended tells the run's outcome.
func (o *output) Ended(e agent.Ending) { o.front.say("ended", string(e.Outcome.Status)) }

// A user answers by lines.
type user struct{ front *front }

// Ask puts a permission, or the question of a tool.
func (u user) Ask(_ context.Context, q turnloop.Question) (turnloop.Answer, error) {
	u.front.say("question", q.Inquiry.Request.Question.Text)
	if !u.front.in.Scan() {
		return turnloop.Answer{}, turnloop.ErrNoAnswer
	}
	value, yes := conversation.AnswerSkip, u.front.in.Text() == "yes"
	if yes {
		value = conversation.AnswerRun
	}
	answer, err := json.Marshal(value)
	if q.Inquiry.Request.Question.AnswerType.Type == "boolean" {
		answer, err = json.Marshal(yes)
	}
	return turnloop.Answer{Outcome: conversation.OutcomeAnswered, Value: answer}, err
}

// Decide puts a question of jp itself.
func (u user) Decide(_ context.Context, d agent.UserDecision) (rune, error) {
	u.front.say("decide", d.Text)
	if u.front.in.Scan() {
		for _, c := range d.Choices {
			if string(c.Key) == u.front.in.Text() {
				return c.Key, nil
			}
		}
	}
	return 0, agent.ErrUserSilent
}

// Line reads a line.
func (u user) Line(_ context.Context, _ conversation.ID, prompt string) (string, error) {
	u.front.say("line", prompt)
	if !u.front.in.Scan() {
		return "", agent.ErrUserSilent
	}
	return u.front.in.Text(), nil
}

// Tell shows a line.
func (u user) Tell(line string) { u.front.say("note", line) }

// Approve does nothing: this front end shows no servers.
func (u user) Approve(context.Context, *toolset.Server) error { return nil }

func (u user) Close() {}
