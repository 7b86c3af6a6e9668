package importer

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const upstreamSample = "17758406187-missing-date-in-version-string"

func TestAConversationOfUpstream(t *testing.T) {
	folder := filepath.Join("testdata", "upstream", upstreamSample)
	text := sessionText(t, upstream{}, folder)
	rep, events := build(t, upstream{}, text, nil)
	golden(t, "upstream_tools.txt", rep, events)
	require.Equal(t, "jp-c17758406187", rep.Session)
	require.Equal(t, text, sessionText(t, upstream{}, filepath.Join(folder, upstreamEvents)))
	again, _ := build(t, upstream{}, text, events)
	require.Zero(t, again.Added)
	require.Equal(t, StateUnchanged, again.State)
}

// upstreamArray is a conversation of some events.
func upstreamArray(t testing.TB, events ...any) string {
	text, err := json.Marshal(events)
	require.NoError(t, err)
	return string(text)
}

func TestEventsOfUpstream(t *testing.T) {
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	at := func(event map[string]any) map[string]any {
		event["timestamp"] = "2026-04-10 17:04:20.5"
		return event
	}
	request := at(map[string]any{"type": "chat_request", "content": "Hello"})
	for name, test := range map[string]struct {
		event map[string]any
		want  string
	}{
		"message":           {at(map[string]any{"type": "chat_response", "message": "Hi"}), `chat_response 1 message "Hi" stop`},
		"reasoning":         {at(map[string]any{"type": "chat_response", "reasoning": "Hm"}), `chat_response 1 reasoning "Hm" stop`},
		"data":              {at(map[string]any{"type": "chat_response", "data": []int{1}}), `chat_response 1 message "[\n  1\n]" stop`},
		"time of RFC 3339":  {map[string]any{"type": "chat_response", "message": "Hi", "timestamp": "2026-04-10T17:04:20Z"}, `chat_response 1 message "Hi" stop`},
		"nested arguments":  {at(map[string]any{"type": "tool_call_request", "id": "a", "name": "x", "arguments": map[string]any{encode("key"): []any{encode("a\"\nb"), 1.5, map[string]any{"b": encode("ä")}}}}), `tool_call_request 1 a {"` + encode("key") + `":["a\"\nb",1.5,{"b":"ä"}]} tool_calls`},
		"plain arguments":   {at(map[string]any{"type": "tool_call_request", "id": "a", "name": "x", "arguments": map[string]any{"a": "not base64!"}}), `tool_call_request 1 a {"a":"notbase64!"} tool_calls`},
		"without arguments": {at(map[string]any{"type": "tool_call_request", "id": "a", "name": "x"}), `tool_call_request 1 a {} tool_calls`},
	} {
		t.Run(name, func(t *testing.T) {
			_, events := build(t, upstream{}, upstreamArray(t, request, test.event), nil)
			require.Contains(t, tell(events), test.want+"\n")
		})
	}
	rep, events := build(t, upstream{}, upstreamArray(
		t, at(map[string]any{"type": "config_delta", "delta": map[string]any{"assistant": map[string]any{"model": map[string]any{"id": map[string]any{"provider": "anthropic", "name": "claude-x"}}}}}),
		at(map[string]any{"type": "turn_start"}), request, at(map[string]any{"type": "novel"}), at(map[string]any{"type": "inquiry_request", "id": "a.b"}), 7,
		at(map[string]any{"type": "chat_response", "message": "Hi"}),
	), nil)
	require.Equal(t, map[string]int{"config_delta": 1, "inquiry_request": 1}, rep.LeftOut)
	require.Equal(t, map[string]int{"novel": 1}, rep.Unknown)
	require.Equal(t, map[string]int{refusedJSON: 1}, rep.Refused)
	require.Contains(t, tell(events), "turn_start 1 anthropic/claude-x\n")
}

func TestConversationsOfUpstreamAreFound(t *testing.T) {
	tree, data := t.TempDir(), t.TempDir()
	write := func(dir ...string) string {
		file := filepath.Join(append(dir, upstreamEvents)...)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte("[]"), 0o644))
		return file
	}
	one, old := write(tree, ".jp/conversations/1-a"), write(tree, ".jp/conversations/.archive/2-b")
	write(data, "workspace/app-abcde/conversations/1-a")
	mine := write(data, "workspace/app-abcde/conversations/3-c")
	write(data, "workspace/app-other/conversations/4-d")
	require.NoError(t, os.WriteFile(filepath.Join(tree, ".jp", ".id"), []byte("abcde\n"), 0o644))
	files, err := upstream{}.Files(data, tree)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{one, old, mine}, files)
	for _, path := range []string{tree, filepath.Join(tree, ".jp"), filepath.Join(tree, ".jp/conversations")} {
		files, err := upstream{}.Sessions(path, tree)
		require.NoError(t, err)
		require.Equal(t, []string{one}, files)
	}
	files, err = upstream{}.Sessions(filepath.Dir(one), tree)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Dir(one)}, files)
}

// A file of another format is recognized by its content.
func TestTheFormatOfAFile(t *testing.T) {
	files := map[string]string{filepath.Join("testdata", "upstream", upstreamSample): "jp-upstream", filepath.Join("testdata", "upstream"): "jp-upstream", filepath.Join("testdata", "opencode_tools.json"): "opencode"}
	for _, name := range fixtures(t) {
		if format, _, _ := strings.Cut(name, "_"); format != "goose" {
			files[filepath.Join("testdata", name)] = format
		}
	}
	files[filepath.Join("testdata", "opencode.db")], files[filepath.Join("testdata", "goose.db")] = "opencode", "goose"
	export := filepath.Join(t.TempDir(), "export.json")
	require.NoError(t, os.WriteFile(export, []byte(`{"jp_export": 1, "events": []}`), 0o600))
	files[export] = JP
	asked := []string{JP}
	for _, f := range Formats {
		asked = append(asked, f.Name())
	}
	for file, format := range files {
		for _, name := range asked {
			want := format
			if name == format {
				want = ""
			}
			require.Equal(t, want, formatOfFile(file, name), "%s as %s", file, name)
		}
	}
	for _, name := range asked {
		require.Empty(t, formatOfFile(t.TempDir(), name), "an empty folder as %s", name)
		require.Empty(t, formatOfFile(filepath.Join(t.TempDir(), "none"), name))
	}
}
