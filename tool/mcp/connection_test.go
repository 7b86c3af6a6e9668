package mcp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAPingLeavesHalfOfTheTime(t *testing.T) {
	require.Equal(t, 5*time.Second, pingTime(5*time.Second, 10*time.Minute))
	require.Equal(t, 5*time.Second, pingTime(5*time.Second, 10*time.Second))
	require.Equal(t, time.Second, pingTime(5*time.Second, 2*time.Second))
	require.Negative(t, pingTime(5*time.Second, -time.Second), "it is over")
}
