package editor

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The schema rejects mistakes: a check that cannot fail is useless.
func TestSchemaSaysNo(t *testing.T) {
	t.Parallel()
	published, err := read("../../../cmd/jp/testdata/editors/node_modules/@agentclientprotocol/sdk/schema/v1/schema.json")
	require.NoError(t, err)
	if published.definitions == nil {
		// It comes from npm, which make test does not use. CI installs it first.
		t.Skip("the schema of the Agent Client Protocol is not installed: make editors")
	}
	require.NoError(t, published.conforms("PromptResponse", json.RawMessage(`{"stopReason":"end_turn"}`)))
	require.Error(t, published.conforms("PromptResponse", json.RawMessage(`{"stopReason":"over"}`)))
	require.Error(t, published.conforms("SessionNotification", json.RawMessage(`{"sessionId":"x","update":{"sessionUpdate":"sung"}}`)))
	require.Error(t, published.conforms("NewSessionResponse", json.RawMessage(`{}`)))
}
