package live

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/process"
	"jp/process/attach"
)

func TestWhatAHolderDoes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	begun := now.Add(-5 * time.Minute)
	tool := attach.Status{Running: true, Doing: true, Tool: "shell_run", Subject: "go test\x1b ./...", SinceMS: 180_000}
	waits := tool
	waits.Waits = true
	tests := map[string]Holder{
		"another process":         {},
		"pid 7":                   {Process: process.Holder{PID: 7}},
		"pid 7 in the background": {Process: process.Holder{PID: 7, Detached: true}},
		"pid 7, for 5 min":        {Process: process.Holder{PID: 7, Started: begun}},
		"pid 7, for 1 s":          {Process: process.Holder{PID: 7, Started: now.Add(time.Hour)}},
		"pid 8":                   {Process: process.Holder{PID: 8, Started: begun}, Inquiry: &attach.Inquiry{}},
		"pid 7, the model is answering": {
			Process: process.Holder{PID: 7, Started: begun}, status: attach.Status{Doing: true, SinceMS: 4},
		},
		`pid 7 in the background, $'go test\x1b ./...' for 3 min`: {Process: process.Holder{PID: 7, Detached: true}, status: tool},
		`pid 7, $'go test\x1b ./...' waits for another jp that changes files here, 3 min by now`: {
			Process: process.Holder{PID: 7}, status: waits,
		},
	}
	for want, holder := range tests {
		require.Equal(t, want, holder.Words(now))
	}
}
