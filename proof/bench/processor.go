package main

import (
	"context"
	"os/exec"
	"time"
)

// processorTime runs a program in a folder and returns the processor time of it and of the children that it
// waited for. The machine's other work changes it less than the elapsed time.
func processorTime(cmd *exec.Cmd, dir string) (time.Duration, error) {
	err := drained(cmd, dir)
	if cmd.ProcessState == nil {
		return 0, err
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

// processorSide is a side that measures the processor time of a program.
func processorSide(name, dir, program string, args ...string) side {
	return side{name: name, block: 2, cost: func(ctx context.Context) (time.Duration, error) {
		return processorTime(exec.CommandContext(ctx, program, args...), dir)
	}}
}
