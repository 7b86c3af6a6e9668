package main

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProcessorTimeHasThatOfChildrenAndNoWaiting(t *testing.T) {
	took, err := processorTime(exec.Command("sh", "-c", "sleep 0.2"), t.TempDir())
	require.NoError(t, err)
	require.Less(t, took, 150*time.Millisecond)
	took, err = processorTime(exec.Command("sh", "-c", "dd if=/dev/zero bs=1M count=200 status=none | cksum; exit 0"), t.TempDir())
	require.NoError(t, err)
	require.Greater(t, took, 10*time.Millisecond)
	_, err = processorTime(exec.Command("sh", "-c", "exit 3"), t.TempDir())
	require.ErrorContains(t, err, "exit status 3")
	_, err = processorTime(exec.Command("./absent"), t.TempDir())
	require.Error(t, err)
}

func TestASideMayMeasureAnotherCostThanTheTimeThatPasses(t *testing.T) {
	s := side{name: "cost", block: 3, cost: func(context.Context) (time.Duration, error) { return time.Hour, nil }}
	all, err := rounds(t.Context(), seeded(), 2, []side{s})
	require.NoError(t, err)
	require.InDelta(t, 3600, all["cost"].median(), 1e-9)
}
