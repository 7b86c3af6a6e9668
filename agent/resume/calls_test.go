package resume

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// A call that jp closed without a run, or that the user cancelled, is shown as such and not as failed.
func TestClosedCalls(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		effect   string
		response conversation.ToolCallResponse
		want     string
	}{
		{"3 lines", conversation.ToolCallResponse{}, "✓ shell_run make — completed"},
		{"error: exit code 2", conversation.ToolCallResponse{IsError: true}, "✗ shell_run make — failed"},
		{"error: declined by the server", conversation.ToolCallResponse{IsError: true}, "✗ shell_run make — failed"},
		{"error: b: declined by user", conversation.ToolCallResponse{IsError: true}, "✗ shell_run make — failed"},
		{"declined by user", conversation.ToolCallResponse{IsError: true}, "– shell_run make — declined"},
		{"declined by policy", conversation.ToolCallResponse{IsError: true}, "– shell_run make — not run"},
		{"denied by a hook", conversation.ToolCallResponse{IsError: true}, "– shell_run make — not run"},
		{"not run: no tool of this name is on", conversation.ToolCallResponse{IsError: true}, "– shell_run make — not run"},
		{"error: cancelled", conversation.ToolCallResponse{IsError: true, Cancelled: true}, "– shell_run make — cancelled"},
	} {
		call := &conversation.ToolCall{
			Event: &conversation.Event{Subject: "call shell_run make"}, Request: &conversation.ToolCallRequest{},
			Response: &conversation.Event{Subject: "shell_run make: " + test.effect, Body: &test.response}, Result: &test.response,
		}
		require.Equal(t, test.want, callState(call, CallTitle(call), false), test.effect)
	}
}
