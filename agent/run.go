package agent

import (
	"context"
	"errors"
	"os"
	"strings"

	"jp/agent/live"
	"jp/agent/repo"
	"jp/agent/snapshot"
	"jp/agent/toolset"
	"jp/conversation"
	"jp/gitstore"
	"jp/turnloop"
)

// A run is one run of jp over a conversation: the request, the repository, and the front end.
type run struct {
	env        *repo.Host
	front      Frontend
	repo       *repo.Repo
	opts       Request
	out        Output
	background *live.Handover              // nil: a person started the run
	delegation *delegation                 // nil: the run works for the user
	context    func() (tokens, window int) // of the model; nil until it is open
	res        *resources
}

// A delegation is the part that this run shares with the conversation whose model gave the task.
type delegation struct {
	parent   conversation.ID
	servers  *toolset.Servers
	presence *live.Delegate // how others see this run
}

func newRun(front Frontend, r *repo.Repo, o Request, h *live.Handover) *run {
	return &run{
		env: r.Env, front: front, repo: r, opts: o, background: h,
		out: front.Output(OutputOptions{Partial: o.Show.Partial, Beside: o.Turn.Beside}), res: &resources{},
	}
}

// findUser finds the person who can be asked, once.
func (r *run) findUser() {
	if r.res.user == nil && !r.opts.Turn.NonInteractive {
		r.res.user = r.front.User()
	}
}

// openFiles opens the working tree, once.
func (r *run) openFiles(ctx context.Context) (_ *snapshot.Files, err error) {
	if r.res.files == nil {
		if r.opts.unrecorded() {
			r.res.files, err = snapshot.UnwatchedFiles(ctx, r.repo)
		} else {
			r.res.files, err = snapshot.OpenFiles(ctx, r.repo)
		}
		if err == nil {
			r.res.files.Notice = r.out.Noticed
			if r.repo.At.TopLevel != "" {
				r.res.files.Root, _ = os.OpenRoot(r.repo.At.TopLevel)
				r.res.files.Key, _ = gitstore.LoadKey(r.repo.KeyFile()) // without either a yes is not bound to untracked files
			}
		}
	}
	return r.res.files, err
}

// policy decides questions in the absence of a user. A process in the background waits for a user. So does
// the foreground, up to its time limit.
func (r *run) policy() turnloop.Policy {
	for _, name := range []string{r.opts.Turn.Policy, r.repo.Config.Policy.Detached} {
		if p := turnloop.Policy(name); name != "" && !(r.opts.NoPersist && p.Waits()) {
			return p
		}
	}
	if r.opts.NoPersist {
		return turnloop.PolicyDeny
	}
	if r.background == nil && r.env.Get("CI") != "" {
		return turnloop.PolicyDefer
	}
	return turnloop.PolicyQueue
}

// hasQuestion reports whether the user asks something besides settling an incomplete turn: on the command
// line, or piped in. --continue-turn takes no text.
func (r *run) hasQuestion(ctx context.Context) (bool, error) {
	if r.opts.asks() {
		return true, nil
	}
	if r.opts.Input.None || r.opts.Resume.Continue {
		return false, nil
	}
	piped, err := r.front.Read(ctx)
	return strings.TrimSpace(piped) != "", err
}

// repeats reports whether to ask the last request again: the request has no text, and every source of one is
// ruled out.
func (r *run) repeats() bool { return r.opts.Input.NoEdit && !r.opts.asks() && !r.front.Reads() }

// settlesOnly reports whether the query only concerns the content of this conversation, so that it cannot be
// asked elsewhere.
func (r *run) settlesOnly() bool {
	return r.opts.Input.None || r.repeats() || r.opts.decision() != undecided && !r.opts.asks()
}

func (r *run) freeID(ctx context.Context) (conversation.ID, error) {
	for {
		id, err := conversation.NewID(r.env.Now(), r.env.Random)
		if err != nil {
			return "", err
		}
		if _, err := r.repo.Store.Head(ctx, id); errors.Is(err, conversation.ErrNotFound) {
			return id, nil
		} else if err != nil {
			return "", err
		}
	}
}
