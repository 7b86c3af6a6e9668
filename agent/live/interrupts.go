package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"jp/process/attach"
	"jp/turnloop"
)

// doing is the turn's present activity that can be interrupted.
func (p *Presence) doing() attach.Status {
	loop := p.running.Load()
	if loop == nil {
		return attach.Status{}
	}
	status := attach.Status{Running: loop.Running()}
	doing, ok := Steerable(p.options.Ctx, loop, p.questions.asks)
	if ok {
		status.Doing, status.Tool, status.Subject, status.Waits = true, doing.Name, doing.Argument, doing.Waits
		status.SinceMS = p.options.Env.Now().Sub(doing.Started).Milliseconds()
	}
	return status
}

// interrupt carries out a peer's interrupt of the turn.
func (p *Presence) interrupt(i attach.Interrupt) error {
	loop := p.running.Load()
	if loop == nil || !loop.Running() {
		return errors.New("no turn is under way")
	}
	command := turnloop.UserCommand{Text: i.Text}
	switch i.Action {
	case "abort":
		p.options.Abort("SIGINT")
		return nil
	case "stop":
		command.Kind = turnloop.CommandStop
	case "cancel_tool":
		command.Kind = turnloop.CommandCancelTool
	case "reply":
		if command.Kind = turnloop.CommandReply; strings.TrimSpace(i.Text) == "" {
			return errors.New("a reply has a text")
		}
	default:
		return fmt.Errorf("there is no interrupt %.40q", i.Action)
	}
	if loop.Interrupt(command) || command.Kind != turnloop.CommandCancelTool && p.questions.command(command) {
		return nil
	}
	return errors.New("there is nothing to interrupt just now")
}

func (p *Presence) say(text string) (waiting int, err error) {
	switch {
	case p.options.Queue == nil:
		return 0, errors.New("nothing of this turn is recorded")
	case strings.TrimSpace(text) == "":
		return 0, errors.New("a message has a text")
	}
	if err := p.options.Queue.Add(text); err != nil {
		return 0, err
	}
	return len(p.options.Queue.Waiting()), nil
}

// A Steered turn can be interrupted.
type Steered interface {
	Running() bool
	Doing() (turnloop.Activity, bool)
}

// Steerable waits for an activity that can be steered. It is false if the turn ends first, or until is true.
func Steerable(ctx context.Context, turn Steered, until func() bool) (doing turnloop.Activity, ok bool) {
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for turn.Running() && ctx.Err() == nil && !until() {
		if doing, ok = turn.Doing(); ok {
			return doing, true
		}
		select {
		case <-again.C:
		case <-ctx.Done():
		}
	}
	return doing, false
}
