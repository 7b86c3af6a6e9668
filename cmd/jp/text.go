package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"jp/conversation"
)

// How long a query waits for standard input: until it says so, and until it
// gives up.
const (
	stdinNotice = 2 * time.Second
	stdinLimit  = 60 * time.Second
)

// text is what the user asks: the words, behind what is piped in, or what they
// write in an editor, or again what they asked last or have just discarded, which then
// comes with it.
func (q *query) text(ctx context.Context) (text string, again *conversation.Event, err error) {
	words := strings.Join(q.opts.text, " ")
	piped, err := q.piped(ctx)
	if err != nil {
		return "", nil, err
	}
	text = strings.TrimRight(piped, "\n")
	switch {
	case text == "":
		text = words
	case words != "":
		text += "\n\n" + words
	}
	blank := strings.TrimSpace(text) == ""
	edits := q.opts.edit || blank && !q.opts.noEdit && isTerminal(q.env.stdin) && isTerminal(q.env.stderr)
	if q.discarded != nil && blank && (edits || q.opts.noEdit) {
		text, again = q.discarded.Body.(*conversation.ChatRequest).Content, q.discarded
	}
	if edits {
		if text, err = q.edit(ctx, text); err != nil {
			return "", nil, err
		}
	}
	if last := q.lastRequest(); last != nil && q.opts.noEdit && strings.TrimSpace(text) == "" {
		text, again = last.Body.(*conversation.ChatRequest).Content, last
	}
	if strings.TrimSpace(text) == "" {
		return "", nil, usage("there is nothing to ask.").hint(`jp query "…"`, "ask this").hint("jp query --edit", "write it in an editor")
	}
	return text, again, nil
}

// repeats reports whether the last request is to be asked again: there is no
// text, and no way left to give one.
func (q *query) repeats() bool { return q.opts.noEdit && !q.asks() && !q.readsStdin() }

// lastRequest is what the user asked last, nil if that is nothing.
func (q *query) lastRequest() *conversation.Event {
	var last *conversation.Event
	for turn := range conversation.Turns(q.stream.Events()) {
		ledger := turn.Ledger()
		if e := ledger.Request(); e != nil && !ledger.Discarded {
			last = e
		}
	}
	return last
}

// readsStdin reports whether standard input is read: a pipe, a file, or what
// the user says.
func (q *query) readsStdin() bool {
	if slices.Contains(q.opts.attachments, fromStdin) {
		return false
	}
	if q.opts.noStdin || q.opts.stdin {
		return q.opts.stdin
	}
	info, err := q.env.stdin.Stat()
	return err == nil && (info.Mode()&os.ModeNamedPipe != 0 || info.Mode().IsRegular())
}

// piped reads standard input if it is a pipe or a file.
func (q *query) piped(ctx context.Context) (string, error) {
	if !q.readsStdin() {
		return "", nil
	}
	type read struct {
		text []byte
		err  error
	}
	first, done := make(chan struct{}), make(chan read, 1)
	go func() {
		text, err := io.ReadAll(&firstByte{r: q.env.stdin, seen: first})
		done <- read{text, err}
	}()
	if err := q.awaitStdin(ctx, first); err != nil {
		return "", err
	}
	select {
	case r := <-done:
		if r.err != nil {
			return "", fmt.Errorf("read standard input: %w", r.err)
		}
		return string(r.text), nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// awaitStdin waits for the first byte or the end of standard input.
func (q *query) awaitStdin(ctx context.Context, first <-chan struct{}) error {
	notice, limit := time.NewTimer(stdinNotice), time.NewTimer(stdinLimit)
	defer notice.Stop()
	defer limit.Stop()
	for {
		select {
		case <-first:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-notice.C:
			fmt.Fprintln(q.env.stderr, "jp: waiting for stdin (Ctrl+D ends it; </dev/null skips it)")
		case <-limit.C:
			if !q.opts.stdin {
				return usage("nothing came on standard input for %d seconds.", int(stdinLimit.Seconds())).
					hint("jp query --no-stdin …", "do not read it").hint("jp query --stdin …", "wait for it without limit")
			}
		}
	}
}

// firstByte tells when a reader has got its first byte, or its end.
type firstByte struct {
	r    io.Reader
	seen chan struct{}
	told bool
}

func (f *firstByte) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if !f.told {
		f.told = true
		close(f.seen)
	}
	return n, err
}

// editorCommand is the user's editor for a shell, and the variable that names it,
// "" where none does.
func (e *env) editorCommand() (command, from string) {
	for _, name := range []string{"JP_EDITOR", "GIT_EDITOR", "VISUAL", "EDITOR"} {
		if command := e.get(name); command != "" {
			return command, name
		}
	}
	return "vi", ""
}

// editor opens a file in the user's editor, as git would.
func (e *env) editor(ctx context.Context, r *repo, path string) error {
	command, _ := e.editorCommand()
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return usage("there is no terminal for an editor.").hint(`jp query "…"`, "give the text on the command line")
	}
	defer tty.Close()
	cmd := exec.CommandContext(ctx, "sh", "-c", command+` "$@"`, command, path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.Env = tty, tty, tty, r.place(), e.environ
	if err := cmd.Run(); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return fail(exitFailed, "internal", "the editor %q ended with an error: %v", command, err)
	}
	return nil
}
