package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"
)

// Sizes and the target of the row of model calls in a long conversation.
const (
	encodedEvents = 2_800
	encodedBytes  = 3_300_000 // the least size of a request with so many events
	encodedCalls  = 10
	encodedRounds = 4
	encodedTarget = 0.030 // seconds of processor time for each
)

// measureEncoding measures the cost of each further model call of a turn behind a long history, as
// processor time of whole commands, beside the same behind a short one.
func measureEncoding(ctx context.Context, b *bench, _ filesystem) ([]row, error) {
	long, err := b.newEncoded(ctx, encodedEvents)
	if err != nil {
		return nil, err
	}
	defer long.server.Close()
	short, err := b.newEncoded(ctx, shortEvents)
	if err != nil {
		return nil, err
	}
	defer short.server.Close()
	all, err := rounds(ctx, b.rng, encodedRounds, []side{
		{name: "long", block: 1, cost: long.callMore}, {name: "short", block: 1, cost: short.callMore},
	})
	if err != nil {
		return nil, err
	}
	if size := long.server.largest.Load(); size < encodedBytes {
		return nil, fmt.Errorf("the longest request had %d bytes", size)
	}
	r := all.row(encodingNames, "long", "short").within(encodedTarget)
	r.RivalName, r.Alone = "at 100 events, CPU", true
	return []row{r}, nil
}

// An encodedHistory is a conversation whose model is at a server.
type encodedHistory struct {
	*stopped
	server *callingServer
}

func (b *bench) newEncoded(ctx context.Context, n int) (*encodedHistory, error) {
	s, err := b.newStopped(ctx, n)
	return &encodedHistory{stopped: s, server: newCallingServer(readFile)}, err
}

// callMore is the processor time of a turn with many model calls, less that of one with few, per
// call. Each turn is in a fork of the conversation.
func (h *encodedHistory) callMore(ctx context.Context) (time.Duration, error) {
	few, err := h.turn(ctx, 1)
	if err != nil {
		return 0, err
	}
	many, err := h.turn(ctx, 1+encodedCalls)
	return (many - few) / encodedCalls, err
}

// readFile is the tool call of a model, with another file each time.
func readFile(left int) (name, arguments string) {
	return "fs_read_file", fmt.Sprintf(`{"path":"00/file-%04d.go"}`, 40*left)
}

// turn asks a model that reads files before it answers, each in a call of its own.
func (h *encodedHistory) turn(ctx context.Context, calls int) (time.Duration, error) {
	fork := exec.CommandContext(ctx, h.jp, "fork", "-q", string(h.id))
	fork.Dir = h.repo.TopLevel
	id, err := fork.Output()
	if err != nil {
		return 0, fmt.Errorf("jp fork: %w", err)
	}
	h.server.left.Store(int32(calls))
	cmd := exec.CommandContext(ctx, h.jp, "query", "--id", string(bytes.TrimSpace(id)), "-m", callingModel, "-y", "--discard-turn", "Go on.")
	cmd.Env = h.server.environ()
	took, err := processorTime(cmd, h.repo.TopLevel)
	if left := h.server.left.Load(); err == nil && left != -1 {
		err = fmt.Errorf("the model has %d calls left", left)
	}
	return took, err
}
