// Package gittool has the tools that ask git about the workspace and commit to
// it.
//
// A name from a model is a path or a revision and never an option: the tools refuse names that start with a
// dash, and take paths as literal and below the workspace. A commit has the user's identity and runs no
// programs that the repository chooses, such as hooks or signing. The tools skip a file that needs a filter
// that jp refuses to run, and the result names it. The user's staged changes stay out of a commit, unless a
// call asks for them.
//
// The tools leave branches, history and files as they are, and work offline.
package gittool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"jp/conversation"
	"jp/gitcmd"
	"jp/gitcmd/convert"
	"jp/internal/lazy"
	"jp/tool"
)

// timeLimit is how long git may take to show something.
const timeLimit = 5 * time.Minute

// Options of the tools.
type Options struct {
	// Changed are the files that the tools of a conversation changed, relative to the workspace, and the
	// unrecorded ones among them. Nil: none.
	Changed func(context.Context, conversation.ID) (recorded, unrecorded []string, err error)
	// Model is the model of a conversation, as PROVIDER/NAME. If it is set, commits name the
	// conversation and the model in trailers.
	Model func(context.Context, conversation.ID) string
}

// Tools returns the git tools for the repository in which git works. Its folder
// must be the workspace, and in a repository.
func Tools(git *gitcmd.Git, opts Options) []tool.Tool {
	r := &repository{git: git, opts: opts, checker: convert.New(git, git.Repository())}
	tools := []tool.Tool{r.status(), r.diff(), r.log(), r.show(), r.commit()}
	for _, t := range tools { // a commit's message travels with the history
		t.Definition().Destination = "git, whose history may be published,"
		t.Definition().Instead = "Leave it out of the arguments"
	}
	return tools
}

// A repository is the common state of the tools.
type repository struct {
	git     *gitcmd.Git
	opts    Options
	checker *convert.Checker
}

type gitTool struct {
	def *tool.Definition
	run func(context.Context, tool.Call) (tool.Result, error)
}

func (t *gitTool) Definition() *tool.Definition { return t.def }

// Run reports errors of git to the model. Its only error is the end of ctx.
func (t *gitTool) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	result, err := t.run(ctx, call)
	if ctx.Err() != nil && err != nil {
		return result, ctx.Err()
	}
	if err != nil {
		return failure(err), nil
	}
	return result, nil
}

// heldLock is what git says of a lock file that it cannot make.
var heldLock = lazy.Regexp(`'([^'\n]*\.lock)': File exists`)

// failure is the result of a failed run.
func failure(err error) tool.Result {
	text, short := err.Error(), err.Error()
	var exit *gitcmd.ExitError
	if errors.As(err, &exit) {
		if stderr := strings.TrimSpace(exit.Stderr); strings.Contains(stderr, "\n") { // a single line is the reason
			text += "\n" + stderr
		}
		short = exit.Error()[strings.LastIndex(exit.Error(), ": ")+1:]
		if lock := heldLock().FindStringSubmatch(exit.Stderr); lock != nil {
			short = filepath.Base(lock[1]) + " exists: another git may be running"
		}
	}
	return tool.Result{
		Content: []byte(text), IsError: true,
		Effect: "error: " + conversation.Shorten(strings.TrimSpace(short), 48),
	}
}

// shown runs git and returns the beginning of its output.
func (r *repository) shown(ctx context.Context, c gitcmd.Command) (*tool.Capture, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeLimit, gitcmd.ErrTimeLimit)
	defer cancel()
	process, err := r.git.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	out := tool.NewCapture(tool.Limit)
	_, err = io.Copy(out, process.Stdout)
	return out, errors.Join(process.Close(), err)
}

// reading is the result of a tool that shows something. An empty output becomes the text none.
func reading(out *tool.Capture, effect, none string) tool.Result {
	content, whole := out.Content()
	if out.Bytes() == 0 {
		content, effect = []byte("["+none+"]\n"), none
	}
	return tool.Result{Content: content, Truncated: whole, Effect: effect, WrittenFiles: []string{}}
}

// paths checks the paths that a call names and makes them relative.
func (r *repository) paths(names []string) ([]string, error) {
	checked := make([]string, len(names))
	for i, name := range names {
		clean := filepath.Clean(name)
		if rel, err := filepath.Rel(r.git.Dir(), clean); err == nil && filepath.IsAbs(clean) {
			clean = rel
		}
		if name == "" || strings.ContainsRune(name, 0) || strings.HasPrefix(name, "-") || !filepath.IsLocal(clean) {
			return nil, fmt.Errorf("%q is not a path in the workspace", name)
		}
		checked[i] = filepath.ToSlash(clean)
	}
	return checked, nil
}

// revision checks the name of a revision; "" is allowed.
func revision(name string) error {
	if strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n") {
		return fmt.Errorf("%q is not a revision", name)
	}
	return nil
}

// count writes a number with its noun.
func count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
