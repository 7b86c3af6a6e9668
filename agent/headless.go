package agent

import (
	"context"
	"errors"
	"io"
	"strings"

	"jp/config"
	"jp/conversation"
	"jp/turnloop"
)

// Headless is a front end without output and user. Other front ends embed it, and override the rest.
type Headless struct{}

var _ Frontend = Headless{}

// Output implements [Frontend].
func (Headless) Output(OutputOptions) Output { return NoOutput{} }

// Child implements [Frontend].
func (Headless) Child(conversation.ID) Output { return NoOutput{} }

// Configured implements [Frontend].
func (Headless) Configured(config.Style) {}

// Running implements [Frontend].
func (Headless) Running(Interruptible, bool) {}

// Over implements [Frontend].
func (Headless) Over() {}

// OnSuspend implements [Frontend].
func (Headless) OnSuspend(func()) {}

// Abort implements [Frontend], as a no-op: a front end cancels the context of its run.
func (Headless) Abort(string) {}

// User implements [Frontend].
func (Headless) User() User { return nil }

// CanWrite implements [Frontend].
func (Headless) CanWrite() bool { return false }

// CanEdit implements [Frontend].
func (Headless) CanEdit() bool { return false }

// Edit implements [Frontend].
func (Headless) Edit(context.Context, string, string) error {
	return errors.New("this front end has no editor")
}

// Reads implements [Frontend].
func (Headless) Reads() bool { return false }

// Read implements [Frontend].
func (Headless) Read(context.Context) (string, error) { return "", nil }

// Input implements [Frontend].
func (Headless) Input() io.Reader { return strings.NewReader("") }

// Attaches implements [Frontend].
func (Headless) Attaches() bool { return false }

// Attach implements [Frontend].
func (Headless) Attach(context.Context, conversation.ID) error {
	return errors.New("this front end shows no other process")
}

// NoOutput discards the output of a run.
type NoOutput struct{}

var _ Output = NoOutput{}

// Begin implements [Output].
func (NoOutput) Begin(RunInfo) {}

// Resumed implements [Output].
func (NoOutput) Resumed(string, *conversation.IncompleteTurn) {}

// Recorded implements [Output].
func (NoOutput) Recorded([]*conversation.Event) {}

// Streamed implements [Output].
func (NoOutput) Streamed(turnloop.Delta) {}

// Noticed implements [Output].
func (NoOutput) Noticed(string) {}

// Working implements [Output].
func (NoOutput) Working(turnloop.Activity) {}

// Detached implements [Output].
func (NoOutput) Detached(DetachedJSON) {}

// Ended implements [Output].
func (NoOutput) Ended(Ending) {}
