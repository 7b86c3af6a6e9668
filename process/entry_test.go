package process

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

const someID = conversation.ID("jp-c17528832001-k3f9")

func someEntry() Entry {
	return Entry{
		Version: 1, ConversationID: someID, PID: 4711, Start: "815", WorkspaceID: "abcde",
		Repository: "/home/ada/repo/.git", StartedAt: time.Unix(1795255440, 0).UTC(), Status: StatusWaiting,
		Pending:  &PendingInquiry{Kind: "run_tool", ToolName: "fs_modify_file", AnswerType: "permission", Seq: 7},
		Detached: true, Log: "/home/ada/x.log",
	}
}

func TestEntryForm(t *testing.T) {
	text, err := someEntry().encode()
	require.NoError(t, err)
	require.Equal(t, `{"v":1,"conversation_id":"jp-c17528832001-k3f9","pid":4711,"start":"815","workspace_id":"abcde",`+
		`"repository":"/home/ada/repo/.git","started_at":"2026-11-21T10:04:00Z","status":"waiting_for_input",`+
		`"pending_inquiry":{"kind":"run_tool","tool_name":"fs_modify_file","answer_type":"permission","seq":7},`+
		`"attached":false,"detached":true,"log":"/home/ada/x.log"}`+"\n", string(text))
	got, err := decode(text)
	require.NoError(t, err)
	require.Equal(t, someEntry(), got)
}

func TestEntryIgnoresWhatItDoesNotKnow(t *testing.T) {
	text, err := someEntry().encode()
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	fields["mood"] = map[string]any{"v": 2}
	text, err = json.Marshal(fields)
	require.NoError(t, err)
	got, err := decode(text)
	require.NoError(t, err)
	require.Equal(t, someEntry(), got)
}

func TestBadEntry(t *testing.T) {
	for name, spoil := range map[string]func(*Entry){
		"not version":    func(e *Entry) { e.Version = 2 },
		"not absolute":   func(e *Entry) { e.Repository = "repo/.git" },
		"pid is 0":       func(e *Entry) { e.PID = 0 },
		"pid is -1":      func(e *Entry) { e.PID = -1 },
		"../../x":        func(e *Entry) { e.ConversationID = "../../x" },
		"its parent":     func(e *Entry) { e.Parent = "x" },
		"64 KiB of name": func(e *Entry) { e.Log = strings.Repeat("x", maxEntry) },
	} {
		t.Run(name, func(t *testing.T) {
			e := someEntry()
			spoil(&e)
			_, err := e.encode()
			require.ErrorIs(t, err, ErrBadEntry)
		})
	}
}

func FuzzDecodeEntry(f *testing.F) {
	text, err := someEntry().encode()
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte(`{"v":1,"pid":`))
	f.Add([]byte(`{"v":1,"conversation_id":"jp-c17528832001-k3f9","pid":1,"repository":"/","pending_inquiry":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := decode(text)
		if err != nil {
			require.ErrorIs(t, err, ErrBadEntry)
			return
		}
		again, err := e.encode()
		if err != nil {
			return // it is too long
		}
		got, err := decode(again)
		require.NoError(t, err)
		require.True(t, e.StartedAt.Equal(got.StartedAt))
		e.StartedAt, got.StartedAt = time.Time{}, time.Time{}
		require.Equal(t, e, got)
	})
}

func TestPlainAddress(t *testing.T) {
	fits := "/" + strings.Repeat("x", maxSocketPath-1)
	got, err := plainAddress(fits)
	require.NoError(t, err)
	require.Equal(t, fits, got)
	_, err = plainAddress(fits + "x")
	require.ErrorIs(t, err, ErrPathTooLong)
	require.ErrorContains(t, err, fits)
}

func TestTemporaryNameIsLongEnough(t *testing.T) {
	longest := conversation.ID("jp-c" + strings.Repeat("9", 12) + "-zzzz")
	_, err := conversation.ParseID(string(longest))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(newName()), len(socketName(longest)), "or a socket could be made that cannot be connected to")
	require.NotEqual(t, newName(), newName())
}
