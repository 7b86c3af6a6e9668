package agent

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"jp/agent/interrupted"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
	"jp/turnloop"
)

// checkTransient refuses what would have to be recorded.
func (o Request) checkTransient() error {
	for _, other := range []struct {
		flag  string
		given bool
	}{
		{"--fork", o.Fork != ""}, {"--title", o.Title != ""}, {"--detach", o.Detach}, {"--continue-turn", o.ContinueTurn},
		{"--discard-turn", o.DiscardTurn}, {"--pending", o.Pending != ""}, {"--anyway", o.Anyway},
	} {
		if other.given {
			return problem.Usage("--no-persist records nothing, and %s does.", other.flag)
		}
	}
	if p := turnloop.Policy(o.Policy); p.Waits() {
		return problem.Usage("--no-persist records nothing, and with --policy %s a question waits.", p)
	}
	return nil
}

// RunTransient runs a turn of which nothing is recorded, behind what is. It holds
// nothing, so that it can be asked while another process works in the conversation,
// and leaves out a turn that is incomplete.
func (q *query) RunTransient(ctx context.Context) (err error) {
	defer func() {
		err = q.transientError(err)
		q.out.Ended(q.ending(err))
	}()
	if err := q.target(ctx); err != nil {
		return err
	}
	defer func() {
		q.unlisten()
		q.closeUser()
		q.servers.Close()
	}()
	if q.repo.Values != nil {
		q.repo.Values.Still = true
	}
	if err := q.load(ctx); err != nil {
		return err
	}
	loop, err := q.loop(ctx)
	if err != nil {
		return err
	}
	request, err := q.request(ctx)
	if err != nil {
		return err
	}
	q.outcome, err = loop.Start(ctx, request)
	return q.verdict(err)
}

// leaveIncomplete goes back to behind the last complete turn.
func (q *query) leaveIncomplete() {
	if q.tail == nil {
		return
	}
	q.env.Note("Turn %d is incomplete (%s); it is left out.", q.tail.Number, interrupted.TailWords(q.repo, q.id, interrupted.StatusOf(q.ctx, q.repo, q.id, q.tail)))
	q.leftModel = q.stream.Model()
	q.events = q.events[:len(q.events)-len(q.tail.Events)]
	q.stream, _ = conversation.Split(q.events)
	q.stream.SetClock(q.env.Now)
	if q.tail, q.head = nil, ""; len(q.events) > 0 {
		q.head = conversation.Head(q.events[len(q.events)-1].Commit)
	}
}

// readers are those of the tools that change nothing. One that was asked for by its
// name must be one of them.
func (q *query) readers(registry *tool.Registry, names []string) ([]string, error) {
	changes := func(name string) bool {
		t, found := registry.Lookup(name)
		return found && t.Definition().Effect != tool.Reads
	}
	for _, name := range q.opts.Tools {
		if changes(name) {
			return nil, problem.Usage("%s may change things; with --no-persist the model only reads.", safetext.Show(name))
		}
	}
	return slices.DeleteFunc(names, changes), nil
}

// known is the conversation's id, "" where that is none that anybody could use.
func (q *query) known() conversation.ID {
	if q.opts.NoPersist && q.fresh {
		return ""
	}
	return q.id
}

// editAside lets the user write the text in a file of its own, which nothing keeps.
func (q *query) editAside(ctx context.Context, text string) (string, error) {
	written, err := EditApart(ctx, q.front, q.repo, []byte(text+"\n\n"+q.besideDraft()), ".md")
	q.drafted = asksOf(string(written))
	return q.drafted, err
}

// EditApart lets the user edit a text in a temporary file. What was written until then
// comes with an error.
func EditApart(ctx context.Context, front Frontend, r *repo.Repo, initial []byte, ext string) ([]byte, error) {
	f, err := os.CreateTemp("", "jp-*"+ext)
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(initial)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	fault := front.Edit(ctx, r.Place(), f.Name())
	written, err := os.ReadFile(f.Name())
	return written, errors.Join(fault, err)
}

// transientError is how an error is told of what nobody can go on with. What the user
// wrote in an editor is kept.
func (q *query) transientError(err error) error {
	if err == nil {
		return nil
	}
	f := repo.ProblemOf(err)
	f.Message = strings.Replace(f.Message, repo.QuestionKept, "Nothing is recorded.", 1)
	if f.Conversation == q.id {
		f.Conversation = q.known()
	}
	if path := keepApart(q.drafted); path != "" {
		f.Details = append(f.Details, "What you wrote is in "+path+".")
	}
	var hints []problem.Hint
	for _, h := range f.Hints {
		if rest, asks := strings.CutPrefix(h.Command, "jp query "); asks && !strings.Contains(rest, "--no-persist") {
			h.Command = "jp query --no-persist " + rest
		}
		if !strings.HasPrefix(h.Command, "jp continue") && !strings.Contains(h.Text, "jp continue") {
			hints = append(hints, h)
		}
	}
	f.Hints = hints
	return f
}

// keepApart puts a text into a temporary file that stays, and says which one; "" where
// there is none.
func keepApart(text string) string {
	if text == "" {
		return ""
	}
	f, err := os.CreateTemp("", "jp-*.md")
	if err != nil {
		return ""
	}
	_, err = f.WriteString(text + "\n")
	if errors.Join(err, f.Close()) != nil {
		return ""
	}
	return f.Name()
}

// transientPrompt is what a model is told besides, of whose turn nothing is recorded.
const transientPrompt = `
This question is asked in passing: only tools that read are switched on, and nothing of this turn is recorded. Answer it, and change nothing.`
