// Package command runs one program for a tool and reports its ending (see [Program]), and makes tools of the user's
// own programs.
//
// A run starts the configured program once, in the workspace's root, writes the call to its standard input as
// one JSON object, and reads the outcome from its standard output: a result, an error, a question, or plain
// text.
//
// Invariants:
//
//   - jp starts exactly the configured argument list, and no
//     shell reads it. The model's arguments go to the standard input only.
//   - Any output of a program has a defined outcome that can be stored and
//     sent: a faulty answer is an error that explains the fault.
//   - Programs cannot name files for jp to read: attachments come in their
//     answer.
//
// The package works without configuration, and leaves questions to its callers.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"jp/tool"
)

// A Spec describes a tool. Name and Command must be set.
type Spec struct {
	Name        string
	Description string // for the model
	Command     []string
	Parameters  map[string]Parameter
	Reads       bool // it only reads
	Idempotent  bool
	Exclusive   bool
	Run         tool.RunMode // default ask
	Result      tool.RunMode // default unattended
	Questions   map[string]tool.QuestionTo
	Timeout     time.Duration // of one run; 0: that of the options
}

// Options are common to all tools of a workspace. The zero value works.
type Options struct {
	Environ []string      // the base of the programs' environments; default os.Environ()
	Secret  []string      // variables to remove, besides *_API_KEY
	Timeout time.Duration // of one run; default 10 minutes, negative: unlimited
	Grace   time.Duration // default [program.DefaultGrace]
	Launch  Launcher      // nil: programs are started as they are
}

const defaultTimeout = 10 * time.Minute

// New makes a tool that runs in the workspace at root. [tool.NewRegistry] checks its name and its parameters.
func New(root string, spec Spec, opts Options) (tool.Tool, error) {
	if len(spec.Command) == 0 || spec.Command[0] == "" {
		return nil, fmt.Errorf("make the tool %s: %w", spec.Name, ErrNoProgram)
	}
	real, err := filepath.EvalSymlinks(root)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, fmt.Errorf("make the tool %s: %w", spec.Name, err)
	}
	parameters, err := schema(spec.Parameters)
	if err != nil {
		return nil, fmt.Errorf("make the tool %s: %w", spec.Name, err)
	}
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	return &command{root: real, spec: spec, opts: opts, def: definition(spec, parameters, opts.limit(spec))}, nil
}

// limit is the time that one run of a tool may take, 0 for any.
func (o Options) limit(spec Spec) time.Duration {
	switch {
	case spec.Timeout > 0:
		return spec.Timeout
	case o.Timeout == 0:
		return defaultTimeout
	}
	return max(o.Timeout, 0)
}

func definition(spec Spec, parameters json.RawMessage, limit time.Duration) *tool.Definition {
	def := &tool.Definition{
		Name: spec.Name, Description: spec.Description, Parameters: parameters,
		Idempotent: spec.Idempotent, Exclusive: spec.Exclusive, Run: tool.Ask, Result: tool.Unattended,
		Questions: spec.Questions, Subject: subject(spec.Parameters), Command: spec.Command, Timed: true, Timeout: limit,
	}
	if def.Description == "" {
		def.Description = "Run " + spec.Name + ", a program of the user's."
	}
	if spec.Reads {
		def.Effect = tool.Reads
	}
	if spec.Run != "" {
		def.Run = spec.Run
	}
	if spec.Result != "" {
		def.Result = spec.Result
	}
	return def
}

type command struct {
	root string // without symbolic links
	spec Spec
	opts Options
	def  *tool.Definition
}

func (c *command) Definition() *tool.Definition { return c.def }

// Run runs the program once. If the program fails, fails to start or gives an invalid answer, that is a
// result. At the end of ctx the output so far comes with the error.
func (c *command) Run(ctx context.Context, call tool.Call) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	stdin, err := c.stdin(call)
	if err != nil {
		return tool.Result{}, err
	}
	out := newOutput()
	out.watcher = call.Output
	ended, err := Program{
		Argv: c.spec.Command, Dir: c.root, Env: Environment(c.opts.Environ, c.opts.Secret, c.root, c.spec.Name),
		Stdin: stdin, Output: out, Errors: out.errors, Limit: c.def.Timeout, Grace: c.opts.Grace, Launch: c.opts.Launch,
	}.Run(ctx, call)
	if err != nil {
		return NotStarted(err), nil
	}
	result := out.result(ended)
	if result.Question != nil && len(call.Answers) >= maxQuestions {
		result = faulty(errors.New("it has asked too many questions"), nil)
	}
	return result, ctx.Err()
}
