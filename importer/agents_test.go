package importer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// A folder is files by their names below it.
type folder map[string]string

func (f folder) write(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range f {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func record(fields string) string { return "{" + fields + "}\n" }

const (
	claudeMain  = "projects/-app/5e55.jsonl"
	claudeLook  = "projects/-app/5e55/subagents/agent-a1.jsonl"
	claudeDeep  = "projects/-app/5e55/subagents/agent-a0.jsonl"
	codexMain   = "sessions/2026/11/27/rollout-2026-11-27T23-59-59-01a21f76-03ef-7151-80b7-23a657f3f42c.jsonl"
	codexLook   = "sessions/2026/11/28/rollout-2026-11-28T00-00-01-01a21f76-04da-7840-85b2-ed4dfb49f28e.jsonl"
	codexOthers = "sessions/2026/11/28/rollout-2026-11-28T00-00-02-01a21f76-0e99-7a42-8eaa-0feb43de0bb6.jsonl"
)

// sideFiles are sessions whose sub-agents have files of their own, as the agents wrote them.
var sideFiles = map[string]struct {
	files folder
	main  string
	want  []string // the report of the session, of its sub-agent, and of the sub-agent's own sub-agent
}{
	"claude": {folder{
		claudeMain: record(`"type":"user","uuid":"1","sessionId":"5e55","timestamp":"2026-11-02T09:00:00Z","message":{"role":"user","content":"Ask"}`) +
			record(`"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"5e55","timestamp":"2026-11-02T09:00:01Z","message":{"id":"m1","model":"x","content":[{"type":"tool_use","id":"t1","name":"Agent","input":{"prompt":"Look"}}]}`) +
			record(`"type":"user","uuid":"3","parentUuid":"2","sessionId":"5e55","timestamp":"2026-11-02T09:00:09Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"Found."}]},"toolUseResult":{"agentId":"a1"}`),
		claudeLook: record(`"type":"user","isSidechain":true,"agentId":"a1","uuid":"4","sessionId":"5e55","timestamp":"2026-11-02T09:00:02Z","message":{"role":"user","content":"Look"}`) +
			record(`"type":"assistant","isSidechain":true,"agentId":"a1","uuid":"5","parentUuid":"4","sessionId":"5e55","timestamp":"2026-11-02T09:00:03Z","message":{"id":"m2","model":"x","content":[{"type":"tool_use","id":"t2","name":"Agent","input":{"prompt":"Look deeper"}}]}`) +
			record(`"type":"user","isSidechain":true,"agentId":"a1","uuid":"6","parentUuid":"5","sessionId":"5e55","timestamp":"2026-11-02T09:00:07Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":"Deep."}]}`),
		claudeDeep: record(`"type":"user","isSidechain":true,"agentId":"a0","uuid":"7","sessionId":"5e55","timestamp":"2026-11-02T09:00:04Z","message":{"role":"user","content":"Look deeper"}`) +
			record(`"type":"assistant","isSidechain":true,"agentId":"a0","uuid":"8","parentUuid":"7","sessionId":"5e55","timestamp":"2026-11-02T09:00:05Z","message":{"id":"m3","model":"x","content":[{"type":"text","text":"Deep."}]}`),
		"projects/-app/5e55/subagents/agent-a1.meta.json": `{"toolUseId":"t1","spawnDepth":1}`,
		"projects/-app/5e55/subagents/agent-a0.meta.json": `{"toolUseId":"t2","spawnDepth":2}`,
	}, claudeMain, []string{`chat_request "Ask"`, `chat_request "Look"`, `chat_request "Look deeper"`}},
	"codex": {folder{
		codexMain: record(`"ordinal":0,"timestamp":"2026-11-28T00:00:00Z","type":"session_meta","payload":{"id":"01a21f76-03ef-7151-80b7-23a657f3f42c","cwd":"/app","source":"exec"}`) +
			record(`"ordinal":1,"timestamp":"2026-11-28T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Ask"}]}`) +
			record(`"ordinal":2,"timestamp":"2026-11-28T00:00:01Z","type":"response_item","payload":{"type":"function_call","name":"spawn_agent","arguments":"{}","call_id":"c1"}`) +
			record(`"ordinal":3,"timestamp":"2026-11-28T00:00:01Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"CollabAgentToolCall","id":"c1","tool":"spawn_agent","receiver_thread_ids":["01a21f76-04da-7840-85b2-ed4dfb49f28e"]}}`) +
			record(`"ordinal":4,"timestamp":"2026-11-28T00:00:02Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"{\"agent_id\":\"01a21f76-04da-7840-85b2-ed4dfb49f28e\"}"}`) +
			record(`"ordinal":5,"timestamp":"2026-11-28T00:00:09Z","type":"response_item","payload":{"type":"agent_message","content":[{"type":"input_text","text":"Message Type: FINAL_ANSWER"}]}`),
		codexLook: record(`"ordinal":0,"timestamp":"2026-11-28T00:00:01Z","type":"session_meta","payload":{"id":"01a21f76-04da-7840-85b2-ed4dfb49f28e","source":{"subagent":{"thread_spawn":{"parent_thread_id":"01a21f76-03ef-7151-80b7-23a657f3f42c"}}},"subagent_history_start_ordinal":3}`) +
			record(`"ordinal":1,"timestamp":"2026-11-28T00:00:00Z","type":"session_meta","payload":{"id":"01a21f76-03ef-7151-80b7-23a657f3f42c","cwd":"/app","source":"exec"}`) +
			record(`"ordinal":2,"timestamp":"2026-11-28T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Ask"}]}`) +
			record(`"ordinal":3,"timestamp":"2026-11-28T00:00:02Z","type":"response_item","payload":{"type":"agent_message","content":[{"type":"input_text","text":"Message Type: NEW_TASK\nLook"},{"type":"encrypted_content","encrypted_content":"x"}]}`) +
			record(`"ordinal":4,"timestamp":"2026-11-28T00:00:03Z","type":"response_item","payload":{"type":"function_call","name":"spawn_agent","arguments":"{}","call_id":"c2"}`) +
			record(`"ordinal":5,"timestamp":"2026-11-28T00:00:04Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c2","output":"{\"agent_id\":\"01a21f76-0e99-7a42-8eaa-0feb43de0bb6\"}"}`),
		codexOthers: record(`"timestamp":"2026-11-28T00:00:04Z","type":"session_meta","payload":{"id":"01a21f76-0e99-7a42-8eaa-0feb43de0bb6","source":{"subagent":{"thread_spawn":{"parent_thread_id":"01a21f76-04da-7840-85b2-ed4dfb49f28e"}}}}`) +
			record(`"timestamp":"2026-11-28T00:00:05Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Look deeper"}]}`),
	}, codexMain, []string{`chat_request "Ask"`, `chat_request "Message Type: NEW_TASK\nLook"`, `chat_request "Look deeper"`}},
}

// importFolder imports the session of a folder into the stored events.
func importFolder(t testing.TB, format string, files folder, main string, there stored) (*Report, stored) {
	t.Helper()
	path := filepath.Join(files.write(t), main)
	rep, now, err := importText(t, FormatNamed(format), files[main], path, there)
	require.NoError(t, err)
	for _, events := range now {
		require.Empty(t, conversation.Audit(events))
	}
	return rep, now
}

// The calls in the session and in its sub-agent name the conversations that worked on them, and those name
// their callers.
func TestSubAgentsInFilesOfTheirOwn(t *testing.T) {
	for format, test := range sideFiles {
		t.Run(format, func(t *testing.T) {
			rep, now := importFolder(t, format, test.files, test.main, nil)
			require.Len(t, rep.Children, 2)
			require.Empty(t, rep.Unknown)
			require.Empty(t, rep.Refused)
			ids := []conversation.ID{rep.ID, rep.Children[0].ID, rep.Children[1].ID}
			for i, want := range test.want {
				told := tell(now[ids[i]])
				require.Equal(t, 1, strings.Count(told, "chat_request"), told)
				require.Contains(t, told, want)
				if i > 0 {
					require.Contains(t, told, " for "+string(ids[i-1]))
				}
				if i < 2 {
					require.Contains(t, told, " by "+string(ids[i+1]))
				}
			}
			again, same := importFolder(t, format, test.files, test.main, now)
			require.Zero(t, again.Added)
			require.Equal(t, StateUnchanged, again.State)
			require.Equal(t, now.ids(), same.ids())
		})
	}
}

// The files of sub-agents may come after the session was imported, or be gone, since agents delete old ones.
// Existing events stay the same.
func TestFilesOfSubAgentsComeAndGo(t *testing.T) {
	for format, test := range sideFiles {
		t.Run(format, func(t *testing.T) {
			alone := folder{test.main: test.files[test.main]}
			rep, first := importFolder(t, format, alone, test.main, nil)
			require.Empty(t, rep.Children)
			rep, all := importFolder(t, format, test.files, test.main, first)
			require.Len(t, rep.Children, 2)
			require.Equal(t, StateGrown, rep.State)
			require.Equal(t, tell(first[rep.ID]), tell(all[rep.ID]))
			_, all = importFolder(t, format, test.files, test.main, nil)
			rep, _ = importFolder(t, format, alone, test.main, all)
			require.Zero(t, rep.Added)
		})
	}
}

// A file beside a session is that of its sub-agent only if both say so.
func TestOtherFilesBesideASession(t *testing.T) {
	for name, change := range map[string]func(format string, f folder){
		"empty":   func(_ string, f folder) { f[claudeLook], f[codexLook] = "", "" },
		"damaged": func(_ string, f folder) { f[claudeLook], f[codexLook] = "{\"type\":\n\x00\xff", "[[[[" },
		"of another session": func(_ string, f folder) {
			delete(f, claudeLook)
			f[codexLook] = strings.ReplaceAll(f[codexLook], "03ef", "03ee")
		},
		"another id": func(_ string, f folder) {
			delete(f, claudeLook)
			f[codexLook] = strings.Replace(f[codexLook], `"id":"01a21f76-04da`, `"id":"01a21f76-04db`, 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for format, test := range sideFiles {
				files := folder{}
				for name, text := range test.files {
					files[name] = text
				}
				change(format, files)
				rep, now := importFolder(t, format, files, test.main, nil)
				want := 0
				if format == "claude" {
					want = 1 // the other one stands for itself
				}
				require.Len(t, rep.Children, want, format)
				require.Contains(t, tell(now[rep.ID]), `chat_request "Ask"`)
			}
		})
	}
	t.Run("a link", func(t *testing.T) {
		test := sideFiles["claude"]
		dir := folder{test.main: test.files[test.main], "elsewhere.jsonl": test.files[claudeLook]}.write(t)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(claudeLook)), 0o755))
		require.NoError(t, os.Symlink(filepath.Join(dir, "elsewhere.jsonl"), filepath.Join(dir, claudeLook)))
		rep, _, err := importText(t, claude{}, test.files[test.main], filepath.Join(dir, test.main), nil)
		require.NoError(t, err)
		require.Empty(t, rep.Children)
	})
}

// A sub-agent's file is the same conversation, imported alone or with its session, even if its records lack
// the sub-agent's name.
func TestASubAgentsFileAlone(t *testing.T) {
	for name, id := range map[string]string{"named": `"agentId":"a1",`, "not named": ""} {
		t.Run(name, func(t *testing.T) {
			test := sideFiles["claude"]
			files := folder{claudeMain: test.files[claudeMain], claudeLook: strings.ReplaceAll(test.files[claudeLook], `"agentId":"a1",`, id)}
			alone, now := importFolder(t, "claude", files, claudeLook, nil)
			rep, now := importFolder(t, "claude", files, claudeMain, now)
			require.Len(t, rep.Children, 1)
			require.Equal(t, alone.ID, rep.Children[0].ID)
			require.Zero(t, rep.Children[0].Added)
			require.NotEqual(t, rep.ID.Short(), alone.ID.Short())
			require.Len(t, now, 2)
		})
	}
}
