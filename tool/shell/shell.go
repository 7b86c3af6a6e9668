// Package shell has the tool that runs a program in the workspace.
//
// A call is an argument list. It goes past any shell, so that it cannot contain a second command, a
// redirection or a variable. [program.Program] runs it and keeps its output up to a limit.
//
// The tool is no sandbox: the program may do all that the user may, unless Options.Launch confines it. The
// check of the folder ensures that a call does what it shows. It is no security boundary.
package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"jp/tool"
	"jp/tool/command"
)

// Name is the tool's name.
const Name = "shell_run"

// Options of the tool. The zero value works.
type Options struct {
	// Environ is the base of the programs' environment. Default: os.Environ().
	Environ []string
	// Home is the folder that ~ stands for in the arguments, if any.
	Home string
	// Secret names variables to remove from the programs' environment, in addition to *_API_KEY.
	Secret []string
	// Timeout is the default limit and the largest limit of a call. Default: 10 minutes; negative: unlimited.
	Timeout time.Duration
	// Grace is how long a program may go on after it was told to end, and how
	// long processes that it left behind may keep its output open. Default: 5
	// seconds.
	Grace time.Duration
	// Launch changes the start of programs. Nil: they start as they are.
	Launch command.Launcher
	// Online starts programs that may use the network, for calls that a person lets do so. Nil: as Launch.
	Online command.Launcher
	// Note is a line for the model, added to the output of a program whose exit code is not 0. "": none.
	Note string
	// Readers run commands that only read. Nil: those are run as all others.
	Readers *Readers
}

const defaultTimeout = 10 * time.Minute

// Tools returns shell_run for the workspace at root.
func Tools(root string, opts Options) ([]tool.Tool, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open the workspace %s: %w", root, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, fmt.Errorf("open the workspace %s: %w", root, err)
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	if opts.Timeout == 0 {
		opts.Timeout = defaultTimeout
	}
	r := &run{root: real, opts: opts, def: definition(max(opts.Timeout, 0))}
	r.def.About = r.about
	if opts.Online != nil {
		r.def.Description += " A server that a call starts is out of reach of other calls and of the user."
		r.def.Offline, r.def.Questions = true, map[string]tool.QuestionTo{tool.QuestionNetwork: {Exclusive: true}}
	}
	if opts.Readers != nil {
		r.def.OnlyReads = func(arguments json.RawMessage) bool {
			_, ok := r.reader(arguments)
			return ok
		}
	}
	return []tool.Tool{r}, nil
}

func definition(limit time.Duration) *tool.Definition {
	most := ""
	if limit > 0 {
		most = fmt.Sprintf(" Default and most: %g.", limit.Seconds())
	}
	return &tool.Definition{
		Name: Name,
		Description: "Run a program and return its output, standard output and standard error as they come. " +
			"No shell is involved: there are no pipes, redirections, variables, globs or &&. " +
			"If a shell is truly needed, run it: [\"sh\", \"-c\", \"…\"]. Programs that wait for a terminal do not work.",
		Parameters: json.RawMessage(`{"type":"object","required":["argv"],"additionalProperties":false,"properties":{
			"argv":{"type":"array","minItems":1,"items":{"type":"string"},"description":"The program and its arguments, such as [\"go\", \"test\", \"./...\"]."},
			"cwd":{"type":"string","description":"The folder to run in. Default: the root."},
			"timeout_s":{"type":"integer","minimum":1,"maximum":86400,"description":"Time limit in seconds.` + most + `"},
			"stdin":{"type":"string","description":"Text for its standard input."}}}`),
		Effect: tool.Changes, Run: tool.Ask, Result: tool.Unattended, Subject: subject,
		Argv: true, Timed: true, Timeout: limit,
	}
}

type run struct {
	failed sync.Map // results by call, for the question whether to run the program again
	root   string   // without symbolic links
	opts   Options
	def    *tool.Definition
}

func (r *run) Definition() *tool.Definition { return r.def }

// Run runs the program of the call. A program that fails, or fails to start, is a result. At the end of ctx
// the output so far comes with the error.
func (r *run) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	var args arguments
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return tool.Result{}, fmt.Errorf("read the arguments of shell_run: %w", err)
	}
	dir, err := r.folder(args.Cwd)
	if err != nil {
		return command.NotStarted(err), nil
	}
	if err := args.checkKeys(); err != nil {
		return command.NotStarted(err), nil
	}
	if call.OnlyReads {
		return r.runReader(ctx, call, args, dir)
	}
	if _, asked := call.Answers[tool.QuestionNetwork]; asked && !call.Network {
		if kept, is := r.failed.LoadAndDelete(fmt.Sprint(call.Conversation, call.Seq)); is {
			return kept.(tool.Result), nil
		}
		return command.NotStarted(errors.New("it failed without the network, and its output was lost")), nil
	}
	launch, note := r.opts.Launch, r.opts.Note
	if call.Network && r.opts.Online != nil {
		launch, note = r.opts.Online, ""
	}
	out := tool.NewCapture(tool.Limit - noteRoom)
	ended, err := command.Program{
		Argv: args.Argv, Dir: dir, Env: command.Environment(r.opts.Environ, r.opts.Secret, dir, Name), Stdin: []byte(args.Stdin),
		Output: out, Limit: args.limit(r.def.Timeout), Grace: r.opts.Grace, Launch: launch,
	}.Run(ctx, call)
	if err != nil {
		return command.NotStarted(err), nil
	}
	if !r.def.Offline || call.Network || ctx.Err() != nil || !needsNetwork(ended, out) {
		return result(ended, out, note), ctx.Err()
	}
	done := result(ended, out, note+"\n"+noteNetwork)
	r.failed.Store(fmt.Sprint(call.Conversation, call.Seq), done)
	done.Question = networkQuestion(args.Argv[0])
	return done, nil
}

type arguments struct {
	Argv    []string `json:"argv"`
	Cwd     string   `json:"cwd"`
	Timeout int      `json:"timeout_s"`
	Stdin   string   `json:"stdin"`
}

// limit is the time limit of the call, at most most; 0 is unlimited.
func (a arguments) limit(most time.Duration) time.Duration {
	wanted := time.Duration(a.Timeout) * time.Second
	if wanted == 0 || most > 0 && wanted > most {
		return most
	}
	return wanted
}

// folder is the folder to run in, which must be in the workspace when all links
// are followed.
func (r *run) folder(name string) (string, error) {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.root, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("cwd %s: no such folder", name)
	}
	if rel, err := filepath.Rel(r.root, real); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("cwd %s is outside the workspace", name)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", fmt.Errorf("cwd %s is not a folder", name)
	}
	return real, nil
}
