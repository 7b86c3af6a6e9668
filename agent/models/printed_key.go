package models

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/safetext"
)

// keyTime is how long a program may take to print a key: it may ask for a
// passphrase.
const keyTime = time.Minute

// mostPrinted bounds the output of the program, in bytes. Keys are shorter.
const mostPrinted = 64 << 10

var errKeyTime = errors.New("the program that prints a key took too long")

// A printedKey is the key that a provider's key_command prints. All requests of the process share it, so
// that the program runs once for all that wait for a new key.
type printedKey struct {
	vendor string
	argv   []string
	ttl    time.Duration // the program runs again after it; 0: never
	limit  time.Duration // for one run
	host   *repo.Host
	turn   chan struct{} // holds one value while the fields below are read or written

	key  string // "" before the first run
	at   time.Time
	runs int
	err  error // of the last run
}

func newPrintedKey(e *repo.Host, vendor string, argv []string, ttl time.Duration) *printedKey {
	return &printedKey{vendor: vendor, argv: argv, ttl: ttl, limit: keyTime, host: e, turn: make(chan struct{}, 1)}
}

// printedKey is the provider's key, nil if the configuration has no program for it.
func (r Providers) printedKey(e *repo.Host, vendor string) *printedKey {
	said := r.repo.Config.Providers[vendor]
	if len(said.KeyCommand) == 0 {
		return nil
	}
	name := strings.Join(append([]string{vendor, said.KeyTTL.String()}, said.KeyCommand...), "\x00")
	k, _ := e.Keys.LoadOrStore(name, newPrintedKey(e, vendor, said.KeyCommand, said.KeyTTL))
	return k.(*printedKey)
}

// current is the key, and the number of runs so far. It runs the program if there is no key, or if the key is
// older than its time to live.
func (p *printedKey) current(ctx context.Context) (key string, runs int, err error) {
	return p.take(ctx, func() bool {
		return p.key == "" || p.ttl > 0 && p.host.Now().Sub(p.at) >= p.ttl
	})
}

// renewed is the key after a server refused the one of so many runs. If the program ran since then, for
// another request, its result counts.
func (p *printedKey) renewed(ctx context.Context, refused int) (key string, runs int, err error) {
	return p.take(ctx, func() bool { return p.runs <= refused })
}

// take runs the program if needed says so. Others wait for the run until their context ends.
func (p *printedKey) take(ctx context.Context, needed func() bool) (string, int, error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return "", 0, context.Cause(ctx)
	}
	defer func() { <-p.turn }()
	if !needed() {
		return p.key, p.runs, p.err
	}
	at := p.host.Now()
	key, err := p.run(ctx)
	if err != nil && ctx.Err() != nil {
		return "", 0, err // the next one that waits runs it
	}
	p.runs, p.err = p.runs+1, err
	if err == nil {
		p.key, p.at = key, at
	}
	return p.key, p.runs, err
}

// run is the program's output within a limit of time. The program may ask on the terminal.
func (p *printedKey) run(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.limit, errKeyTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	out, words := &bounded{full: cancel}, &bounded{full: func() {}}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.host.Dir, p.host.Environ, out, words
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // a program that it left behind holds its output
	}
	key := strings.TrimSpace(out.text.String())
	why := ""
	switch {
	case out.over:
		why = "failed: it printed more than any key has"
	case errors.Is(context.Cause(ctx), errKeyTime):
		why = "took longer than " + conversation.Ago(p.limit) + ", and jp ended it"
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		why = "failed: " + err.Error()
	case key == "":
		why = "failed: it printed nothing"
	default:
		return key, checkKey(key, safetext.Escape(p.argv[0]))
	}
	f := problem.New(problem.ExitUsage, "auth", "%sits key_command %s %s.", noKeyFor(p.vendor), safetext.Escape(p.argv[0]), why)
	if said := strings.TrimSpace(words.text.String()); said != "" {
		f.Details = append(f.Details, strings.SplitN(said, "\n", 2)[0])
	}
	return "", f
}

// noKeyFor begins an error about a missing key.
func noKeyFor(vendor string) string { return "there is no key for " + vendor + ": " }

// bounded keeps the beginning of the program's output, and calls full if there is more.
type bounded struct {
	text bytes.Buffer
	full func()
	over bool
}

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > mostPrinted {
		b.over = true
		b.full()
		return len(p), nil
	}
	return b.text.Write(p)
}
