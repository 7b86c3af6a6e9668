package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Options of an engine. The zero value works.
type Options struct {
	// Dir is where hooks run: the workspace. Default: the current folder.
	Dir string
	// Environ is the source of the hooks' environment. Default: os.Environ().
	Environ []string
	// Secret are the names of variables hidden from all hooks, in addition to
	// *_API_KEY.
	Secret []string
	// Limit is how long a hook may take. Default: 30 seconds before a tool, 10
	// elsewhere.
	Limit time.Duration
	// Grace is how long a hook may go on after it was told to end, and how long its own processes may keep
	// its output open. Default: 1 second.
	Grace time.Duration
}

const (
	limitBeforeTool = 30 * time.Second
	limitElsewhere  = 10 * time.Second
	defaultGrace    = time.Second

	outputLimit = 1 << 20 // arguments can be a whole file
	errorLimit  = 4 << 10
)

// exitDeny is the exit code by which a hook without JSON denies.
const exitDeny = 2

// An Engine runs hooks. It is safe for concurrent use.
type Engine struct {
	commands map[Point][]string
	opts     Options
}

// New returns an engine for commands, by point: a program and its arguments each.
func New(commands map[Point][]string, opts Options) *Engine {
	if opts.Environ == nil {
		opts.Environ = os.Environ()
	}
	if opts.Grace == 0 {
		opts.Grace = defaultGrace
	}
	return &Engine{commands: commands, opts: opts}
}

// Has reports whether there is a command for a point.
func (e *Engine) Has(p Point) bool { return len(e.commands[p]) > 0 }

// Run runs the command of the input's point and returns its decision, with the beginning of its standard
// error. Exit code 0 goes with a decision on standard output. Code 2 is a denial, or after a tool a note, in
// the words of standard error. An error means that there is no decision. ctx ends the hook, and the error is
// then its cause.
func (e *Engine) Run(ctx context.Context, in Input) (Decision, string, error) {
	argv := e.commands[in.Point]
	if len(argv) == 0 {
		return Decision{}, "", nil
	}
	if ctx.Err() != nil {
		return Decision{}, "", context.Cause(ctx)
	}
	in.Version, in.Workspace = Version, e.opts.Dir
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(in); err != nil {
		return Decision{}, "", fmt.Errorf("describe the %s of a turn: %w", in.Point, err)
	}
	input := b.Bytes()
	// A hook gets jp's environment without keys and without variables that point git to another repository.
	kept := slices.DeleteFunc(slices.Clone(e.opts.Environ), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		upper := strings.ToUpper(name)
		return strings.HasPrefix(upper, "JP_") || strings.HasPrefix(upper, "GIT_") ||
			strings.HasSuffix(upper, "_API_KEY") || slices.Contains(e.opts.Secret, name)
	})
	if e.opts.Dir != "" {
		kept = append(kept, "PWD="+e.opts.Dir)
	}
	p := &process{
		argv: argv, dir: e.opts.Dir, input: input, limit: e.limit(in.Point), grace: e.opts.Grace,
		env:    append(kept, Marker+"="+string(in.Point)),
		stdout: capped{most: outputLimit}, stderr: capped{most: errorLimit},
	}
	code, err := p.run(ctx)
	said := strings.ToValidUTF8(string(p.stderr.text), "\uFFFD")
	if err != nil {
		return Decision{}, said, err
	}
	return decide(in.Point, code, &p.stdout, said)
}

// decide derives the decision from a hook's end. Words that became part of the decision are dropped from the
// rest.
func decide(p Point, code int, output *capped, said string) (Decision, string, error) {
	_, decides := keys[p]
	switch {
	case code == exitDeny && decides:
		// A reason on standard output counts before the words on standard error.
		if d, err := Decode(p, output.text); err == nil && (d.Denied || d.Note != "") {
			return d, said, nil
		}
		words := strings.TrimSpace(said)
		if p == ToolPost {
			return Decision{Note: words}, "", nil
		}
		return Decision{Denied: true, Reason: words}, "", nil
	case code != 0:
		return Decision{}, said, fmt.Errorf("%w: exit status %d", ErrStatus, code)
	case output.full && decides:
		return Decision{}, said, fmt.Errorf("%w: more than %d bytes", ErrDecision, outputLimit)
	}
	d, err := Decode(p, output.text)
	return d, said, err
}

func (e *Engine) limit(p Point) time.Duration {
	switch {
	case e.opts.Limit > 0:
		return e.opts.Limit
	case p == ToolPre:
		return limitBeforeTool
	}
	return limitElsewhere
}
