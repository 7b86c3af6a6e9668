package provider

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

var testOptions = Options{Model: "test/model-1", API: "test"}

func TestBuildCountsCalls(t *testing.T) {
	tests := []struct {
		name, history string
		ended, failed int
	}{
		{"nothing said", "T Q", 0, 0},
		{"a broken answer", "T Q P", 0, 1},
		{"two broken answers", "T Q P / P", 0, 2},
		{"a broken answer and its interruption are one try", "T Q P x", 0, 1},
		{"a failure that left nothing", "T Q y", 0, 1},
		{"two of them", "T Q y y", 0, 2},
		{"an ended call and a new turn", "T Q M. T Q", 1, 0},
		{"a broken call with a tool ended", "T Q C1 D1", 1, 0},
		{"failures are counted behind the last ended call", "T Q P / C1+ D1 P", 1, 1},
		{"failures of an older turn do not count", "T Q P S T Q", 0, 0},
		{"discarded calls do not count", "T Q C1+ D1 P X T Q", 0, 0},
		{"only the discarded ones", "T Q M. T Q C1+ D1 X T Q", 1, 0},
		{"a refusal ended", "T Q M! T Q", 1, 0},
		{"a filter ended", "T Q M% T Q", 1, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			request, err := Build(events(test.history), testOptions)
			require.NoError(t, err)
			require.Equal(t, test.ended, request.Ended, "ended")
			require.Equal(t, test.failed, request.Failed, "failed")
		})
	}
}

func TestBuildNeedsSomethingToAsk(t *testing.T) {
	for _, history := range []string{"", "T", "T Q M.", "T Q0", "T Q M!", "T Q P S"} {
		_, err := Build(events(history), testOptions)
		require.ErrorIs(t, err, ErrNothingToAsk, history)
	}
	request, err := Build(events("T Q M~"), testOptions)
	require.NoError(t, err)
	require.Equal(t, "U[Q1.] A[M2.]", show(request.Messages))
}

func TestBuildNeedsAModel(t *testing.T) {
	for _, model := range []string{"", "test", "test/"} {
		_, err := Build(events("T Q"), Options{Model: model})
		require.ErrorIs(t, err, ErrModel, model)
	}
	request, err := Build(events("T Q"), Options{Model: "openrouter/some/model"})
	require.NoError(t, err)
	require.Equal(t, "some/model", request.Model)
}

func TestBuildUsesThePromptInForce(t *testing.T) {
	all := events("T G Q M. T G Q")
	tools := []byte(`[{"name":"tool_1","description":"d","parameters":{}}]`)
	all[5].Payloads = []conversation.Payload{{Name: conversation.PayloadTools, OID: "ab", Bytes: int64(len(tools))}}

	_, err := Build(all, testOptions)
	require.ErrorIs(t, err, ErrAbsent)

	options := testOptions
	options.Content = func(p conversation.Payload) ([]byte, bool) { return tools, p.OID == "ab" }
	request, err := Build(all, options)
	require.NoError(t, err)
	require.Equal(t, "G5.", request.System)
	require.Equal(t, "tool_1", request.Tools[0].Name)

	options.System, options.Tools = "Mine.", []Tool{}
	request, err = Build(all, options)
	require.NoError(t, err)
	require.Equal(t, "Mine.", request.System)
	require.Empty(t, request.Tools)
}

func TestBuildListsEveryToolOfTheHistoryOnce(t *testing.T) {
	options := testOptions
	options.Tools = []Tool{{Name: "tool_2"}, {Name: "tool_2", Description: "again"}}
	options.NoTools = true
	request, err := Build(events("T Q C1 C2+ D1 D2"), options)
	require.NoError(t, err)
	require.True(t, request.NoTools)
	require.Len(t, request.Tools, 2)
	require.Equal(t, "tool_2", request.Tools[0].Name)
	require.Equal(t, "tool_1", request.Tools[1].Name)
	require.True(t, json.Valid(request.Tools[1].Parameters))
}

func TestPrefixIsWhatTheModelReads(t *testing.T) {
	build := func(change func(*Request)) string {
		request, err := Build(events("T Q C1+ D1"), testOptions)
		require.NoError(t, err)
		change(request)
		return request.Prefix()
	}
	same := build(func(*Request) {})
	require.Regexp(t, "^[0-9a-f]{64}$", same)
	require.Equal(t, same, build(func(r *Request) { r.Failed, r.Ended, r.NoTools = 9, 9, true }))
	changes := []func(*Request){
		func(r *Request) { r.System = "x" },
		func(r *Request) { r.Tools = nil },
		func(r *Request) { r.Messages[0].Blocks[0].Text += "x" },
		func(r *Request) { r.Messages[1].Blocks[0].Arguments = json.RawMessage(`{"n":2}`) },
		func(r *Request) { r.Messages = r.Messages[:2] },
	}
	for i, change := range changes {
		require.NotEqual(t, same, build(change), i)
	}
}
