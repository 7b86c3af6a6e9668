package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/editor"
)

// TestSecondPrompt: a session runs one prompt at a time, and another session goes on meanwhile.
func TestSecondPrompt(t *testing.T) {
	t.Parallel()
	p := newPlace(t, haltingScript)
	e := p.connects(`{}`)
	session := e.Opens(p.Dir)
	id := e.Prompts(session, "Wait")
	e.Until("text", func() bool { return len(e.Updates) > 0 })
	e.Fails(-32600, "a prompt runs in this session: session/cancel ends it", "session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"And now?"}]}`, session))
	for _, method := range []string{"session/load", "session/resume"} {
		e.Fails(-32600, "a prompt runs", method, fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, p.Dir))
	}
	e.Must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, session))
	e.Must("session/close", fmt.Sprintf(`{"sessionId":%q}`, session))
	require.Equal(t, "cancelled", e.Stops(id), "a session that is closed ends its prompt")
	other := e.Opens(p.Dir)
	require.NotEqual(t, session, other)
	e.Leaves()
	require.Nil(t, p.tail(session))
}

// TestInterruptedSession: a session that is loaded tells of its interrupted turn once, and a command settles it.
func TestInterruptedSession(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{"/continue": "It is there.", "/discard": "The turn is discarded. It stays in the history."} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, editor.MakeFileScript)
			e := p.connects(`{}`)
			asked := e.Silent()
			session := e.Opens(p.Dir)
			e.Prompts(session, "Make a file")
			<-asked
			e.Leaves()
			e = p.connects(`{}`)
			told := e.Loads(session, p.Dir)
			require.Equal(t, "agent_message_chunk", told[len(told)-1].Kind, "a client without notices gets a text")
			require.Contains(t, told[len(told)-1].Text, "Turn 1 was interrupted")
			e.Chooses("Yes, this once", nil)
			require.Equal(t, command == "/continue", e.Stops(e.Prompts(session, command)) == "end_turn" && p.Exists("made.txt"))
			require.Contains(t, strings.Join(editor.Kinds(e.Updates), "\n"), want)
			require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "/undo")))
			require.False(t, p.Exists("made.txt"))
			e.Leaves()
		})
	}
}

// TestList lists the sessions page by page, the newest first, without those that work for another.
func TestList(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "[[reply]]\nmessage = \"Here.\"\ntimes = 99\n")
	e := p.connects(`{}`)
	for range 3 {
		require.Equal(t, "end_turn", e.Stops(e.Prompts(e.Opens(p.Dir), "Where?")))
	}
	newest := e.Opens(p.Dir)
	p.Tick(1e9)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(newest, "The newest")))
	var list struct {
		Sessions   []struct{ SessionID, Title, UpdatedAt string }
		NextCursor string
	}
	require.NoError(t, json.Unmarshal(e.Must("session/list", fmt.Sprintf(`{"cwd":%q}`, p.Dir)), &list))
	require.Len(t, list.Sessions, 4)
	require.Empty(t, list.NextCursor)
	require.Equal(t, newest, list.Sessions[0].SessionID)
	require.Equal(t, "The newest", list.Sessions[0].Title)
	require.NoError(t, json.Unmarshal(e.Must("session/list", fmt.Sprintf(`{"cwd":%q,"cursor":%q}`, p.Dir, list.Sessions[2].SessionID)), &list))
	require.Len(t, list.Sessions, 2)
	e.Fails(-32602, "there is no page at the cursor", "session/list", fmt.Sprintf(`{"cwd":%q,"cursor":"nosuch"}`, p.Dir))
	e.Must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, newest))
	e.Must("session/delete", fmt.Sprintf(`{"sessionId":%q}`, newest)) // one that is gone is deleted
	e.Fails(-32002, "is not open", "session/close", fmt.Sprintf(`{"sessionId":%q}`, newest))
	e.Leaves()
	require.Len(t, p.list(), 3)
}

// TestResult varies the answer to a question about a result: only a yes gives it to the model.
func TestResult(t *testing.T) {
	t.Parallel()
	script := "[[reply]]\n[[reply.tool_call]]\nname = \"fs_read_file\"\narguments = { path = \"README.md\" }\n[[reply]]\nmessage = \"Over.\"\n"
	for option, withheld := range map[string]bool{"Withhold the result": true, "Give it to the model": false} {
		t.Run(option, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, script)
			p.Configure("[tools.fs_read_file]\nresult = \"ask\"\n")
			e := p.connects(`{}`)
			asked := make(chan string, 9)
			e.Chooses(option, func(params json.RawMessage) { asked <- string(params) })
			session := e.Opens(p.Dir)
			require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Read it")))
			require.Contains(t, <-asked, "# A repository", "the person sees the result")
			e.Leaves()
			answer := ""
			for _, event := range p.Load(conversation.ID(session)) {
				if b, is := event.Body.(*conversation.InquiryResponse); is {
					answer = string(b.Answer)
				}
			}
			require.Equal(t, map[bool]string{true: `"withhold"`, false: `"deliver"`}[withheld], answer)
		})
	}
}

// TestQuestions: a question shows the file before and after the call, and names the effect of each answer.
// The result is one line.
func TestQuestions(t *testing.T) {
	t.Parallel()
	call := func(name, arguments string) string {
		return fmt.Sprintf("[[reply]]\n[[reply.tool_call]]\nname = %q\narguments = %s\n", name, arguments)
	}
	p := newPlace(t, call("fs_modify_file", `{ path = "n.txt", edits = [{ old = "one", new = "1" }, { old = "three", new = "3" }] }`)+
		call("fs_create_file", `{ path = "n.txt", content = "new\n" }`)+call("fs_delete_file", `{ path = "n.txt" }`)+
		call("shell_run", `{ argv = ["sh", "-c", "exit 3"] }`)+"[[reply]]\nmessage = \"Over.\"\n")
	p.Write("n.txt", "one\ntwo\nthree\n")
	p.Commit()
	e := p.connects(`{}`)
	asked := make(chan string, 9)
	e.Chooses("Yes, this once", func(params json.RawMessage) { asked <- string(params) })
	session := e.Opens(p.Dir)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Work")))
	for _, want := range [][2]string{
		{`"oldText":"one\ntwo\nthree\n","newText":"1\ntwo\n3\n"}`, "edit"}, {`"oldText":"1\ntwo\n3\n","newText":"new\n"}`, "new file"},
		{`"oldText":"new\n","newText":""}`, "deletion"}, {`"title":"sh -c 'exit 3'"`, "command"},
	} {
		question := <-asked
		require.Contains(t, question, want[0])
		require.Contains(t, question, `"name":"Yes, and every `+want[1]+` this turn"`)
	}
	live := titles(e.Updates)
	require.Equal(t, []string{"edit n.txt · +2 −2", "create n.txt · +1 −3", "delete n.txt · +0 −1", "sh -c 'exit 3' · exit 3"}, live)
	require.Equal(t, live, titles(e.Loads(session, p.Dir)))
	e.Leaves()
}

// TestGoOn: "go on" accepts a plan. The mode ends, and the client is told.
func TestGoOn(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "[[reply]]\nmessage = \"A plan.\"\n"+editor.MakeFileScript)
	e := p.connects(`{}`)
	session := e.Opens(p.Dir)
	e.Must("session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"plan"}`, session))
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Plan it")))
	e.Chooses("Yes, this once", nil)
	require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Go on.")))
	require.True(t, p.Exists("made.txt"))
	told := 0
	for _, u := range e.Updates {
		if u.Kind == "current_mode_update" {
			require.Contains(t, string(u.Raw), `"currentModeId":"default"`)
			told++
		}
	}
	require.Equal(t, 1, told)
	e.Leaves()
}

// titles are the newest ones of calls, in their order.
func titles(updates []editor.Update) (all []string) {
	at := map[string]int{}
	for _, u := range updates {
		switch i, known := at[u.Call]; {
		case u.Call == "" || u.Title == "":
		case known:
			all[i] = u.Title
		default:
			at[u.Call], all = len(all), append(all, u.Title)
		}
	}
	return all
}

// TestEffort: an effort that the editor chooses is recorded with the turn, and "default" takes it back.
func TestEffort(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "[[reply]]\nmessage = \"Here.\"\ntimes = 9\n")
	e := p.connects(`{}`)
	session := e.Opens(p.Dir)
	for _, value := range []string{"high", "default"} {
		require.Contains(t, string(e.Must("session/set_config_option", fmt.Sprintf(`{"sessionId":%q,"configId":"effort","value":%q}`, session, value))), fmt.Sprintf(`"currentValue":%q`, value))
		require.Equal(t, "end_turn", e.Stops(e.Prompts(session, "Where?")))
	}
	e.Leaves()
	left, err := os.ReadDir(filepath.Join(p.Dir, ".git", "jp", "acp"))
	require.NoError(t, err)
	require.Empty(t, left, "a session that has a prompt is found as a conversation")
}
