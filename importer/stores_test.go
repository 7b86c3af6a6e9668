package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
)

// sessionText reads a session as its format opens it.
func sessionText(t testing.TB, f Format, path string) string {
	t.Helper()
	file, err := open(f, path)
	require.NoError(t, err)
	text, err := io.ReadAll(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	return string(text)
}

// golden compares with a file of testdata.
func golden(t *testing.T, name string, rep *Report, events []*conversation.Event) {
	t.Helper()
	require.Empty(t, conversation.Audit(events))
	got := tell(events) + fmt.Sprintf("left out %v\nunknown %v\nrefused %v\nunknown outcomes %d\n", rep.LeftOut, rep.Unknown, rep.Refused, rep.Unknowns)
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join("testdata", name), []byte(got), 0o644))
	}
	require.Equal(t, fixture(t, name), got)
}

func TestAnExportOfOpencode(t *testing.T) {
	text := fixture(t, "opencode_tools.json")
	rep, events := build(t, newOpencode(), text, nil)
	golden(t, "opencode_tools.txt", rep, events)
	again, _ := build(t, newOpencode(), text, events)
	require.Zero(t, again.Added)
}

// An exported session in the pieces that its store has.
type exported struct {
	Info     json.RawMessage
	Messages []struct {
		Info  json.RawMessage
		Parts []json.RawMessage
	}
}

func exportOf(t testing.TB, text string) (e exported) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &e))
	return e
}

func idOf(t testing.TB, value json.RawMessage) string {
	t.Helper()
	var v struct{ ID string }
	require.NoError(t, json.Unmarshal(value, &v))
	return v.ID
}

// folderOf writes a session as earlier versions of opencode kept it.
func folderOf(t testing.TB, e exported) (storage string) {
	t.Helper()
	storage = filepath.Join(t.TempDir(), "storage")
	write := func(value json.RawMessage, path ...string) {
		name := filepath.Join(storage, filepath.Join(path...))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, value, 0o644))
	}
	session := idOf(t, e.Info)
	write(e.Info, "session", "p1", session+".json")
	for _, m := range e.Messages {
		message := idOf(t, m.Info)
		write(m.Info, "message", session, message+".json")
		for _, p := range m.Parts {
			write(p, "part", message, idOf(t, p)+".json")
		}
	}
	return storage
}

// The same session makes the same events, from any store.
func TestStoresOfOpencode(t *testing.T) {
	f := newOpencode()
	whole, events := build(t, f, fixture(t, "opencode_tools.json"), nil)
	storage := folderOf(t, exportOf(t, fixture(t, "opencode_tools.json")))
	database := filepath.Join("testdata", "opencode.db")
	for _, path := range []string{
		filepath.Join(storage, "session", "p1", "ses_1.json"), filepath.Join(storage, "message", "ses_1"), database + "#ses_1",
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			rep, got := build(t, f, sessionText(t, f, path), nil)
			require.Equal(t, tell(events), tell(got))
			require.Equal(t, whole.ID, rep.ID)
			require.Equal(t, "/home/ada/app", rep.Dir)
			require.Equal(t, whole.LeftOut, rep.LeftOut)
			require.Equal(t, whole.Unknown, rep.Unknown)
			require.Empty(t, rep.Refused)
		})
	}
	names, err := Sessions(f, []string{"a.json", database, database + "#ses_2"}, "/home/ada")
	require.NoError(t, err)
	require.Equal(t, []string{"a.json", database + "#ses_1", database + "#ses_2"}, names)
	_, err = Sessions(f, []string{database}, "/home/eve")
	require.ErrorContains(t, err, "testdata/opencode.db has 5 sessions, and none ran in this working tree. testdata/opencode.db#ses_")
	_, err = f.Open(database)
	require.ErrorContains(t, err, "has 5 sessions. testdata/opencode.db#ses_")
	_, err = f.Open(database + "#ses_9")
	require.ErrorContains(t, err, "has no session ses_9")
}

// The session of a sub-agent comes with the one that called it, and names it.
func TestSubAgentsOfOpencode(t *testing.T) {
	f, path := newOpencode(), filepath.Join("testdata", "opencode.db#ses_4")
	rep, now, err := importText(t, f, sessionText(t, f, path), path, nil)
	require.NoError(t, err)
	require.Len(t, rep.Children, 1)
	child := now[rep.Children[0].ID]
	require.Empty(t, conversation.Audit(child))
	require.Equal(t, []string{"Count the files.", "Three."}, words(child))
	require.Contains(t, tell(child), "metadata opencode ses_5 for "+string(rep.ID))
	require.Contains(t, tell(now[rep.ID]), "tool_started for 3 by "+string(rep.Children[0].ID))
	again, _, err := importText(t, f, sessionText(t, f, path), path, now)
	require.NoError(t, err)
	require.Zero(t, again.Added)
}

func TestASessionOfGooseInADatabase(t *testing.T) {
	f := newGoose()
	_, events := build(t, f, fixture(t, "goose_tools.jsonl"), nil)
	rep, got := build(t, f, sessionText(t, f, "testdata/goose.db#20261102_4"), nil)
	require.Equal(t, tell(events), tell(got))
	require.Equal(t, "/home/ada/app", rep.Dir)
	require.Empty(t, rep.Refused)
	rep, _ = build(t, f, sessionText(t, f, "testdata/goose.db#20261102_5"), nil)
	require.Equal(t, map[string]int{refusedJSON: 1}, rep.Refused)
	require.Equal(t, 1, rep.Requests)
}

// The list has the sessions in an agent's own folder: those of the working tree, each once.
func TestFoldersOfAgents(t *testing.T) {
	put := func(path string, data []byte) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, data, 0o644))
	}
	read := func(name string) []byte { return []byte(fixture(t, name)) }
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }

	f := newOpencode()
	folder := f.Folder(getenv)
	put(filepath.Join(folder, "opencode.db"), read("opencode.db"))
	require.NoError(t, os.Rename(folderOf(t, exportOf(t, fixture(t, "opencode_tools.json"))), filepath.Join(folder, "storage")))
	put(filepath.Join(folder, "storage", "session", "p1", "ses_old.json"), []byte(`{"id":"ses_old","directory":"/home/ada/app"}`))
	files, err := f.Files(folder, "/home/ada/app")
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(folder, "opencode.db#ses_1"), filepath.Join(folder, "storage", "session", "p1", "ses_old.json")}, files)
	entry, ok := look(f, files[0])
	require.True(t, ok)
	require.Equal(t, "Cap the retries in @login.go.", entry.Request)
	require.Equal(t, "/home/ada/app", entry.Dir)
	require.Positive(t, entry.Bytes)

	g := newGoose()
	folder = g.Folder(getenv)
	put(filepath.Join(folder, "sessions.db"), read("goose.db"))
	put(filepath.Join(folder, "20261102_4.jsonl"), read("goose_tools.jsonl"))
	put(filepath.Join(folder, "20250101_1.jsonl"), read("goose_tools.jsonl"))
	files, err = g.Files(folder, "/home/ada/app")
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(folder, "sessions.db#20261102_4"), filepath.Join(folder, "20250101_1.jsonl")}, files)

	folder = gemini{}.Folder(getenv)
	put(filepath.Join(folder, "app", ".project_root"), []byte("/home/ada/app"))
	put(filepath.Join(folder, "other", ".project_root"), []byte("/home/ada/other"))
	hash := "9cc220a352deb5e376e39b25fdfa4250dd77cd0dcf114146f428857d6ffaad70"
	for _, project := range []string{"app", "other", hash} {
		put(filepath.Join(folder, project, "chats", "session-2026-11-02T09-00-7d1c9a52.jsonl"), read("gemini_tools.jsonl"))
	}
	files, err = gemini{}.Files(folder, "/home/ada/app")
	require.NoError(t, err)
	chat := filepath.Join("chats", "session-2026-11-02T09-00-7d1c9a52.jsonl")
	require.Equal(t, []string{filepath.Join(folder, hash, chat), filepath.Join(folder, "app", chat)}, files)
	entry, ok = look(gemini{}, files[1])
	require.True(t, ok)
	require.Equal(t, "/home/ada/app", entry.Dir)
	require.Equal(t, "How many tests does app/login have?", entry.Request)
}

// A chat of earlier versions is one document, and makes the same events.
func TestAChatInADocument(t *testing.T) {
	document := `{
  "sessionId": "set-1", "projectHash": "0f", "startTime": "2026-11-02T10:00:00.000Z",
  "messages": [
    {"id": "a", "timestamp": "2026-11-02T10:00:01.000Z", "type": "user", "content": "Is the build green?"},
    {"id": "b", "timestamp": "2026-11-02T10:00:02.000Z", "type": "gemini", "content": "It is green.", "model": "gemini-2.5-pro"},
    {"id": "b", "timestamp": "2026-11-02T10:00:02.000Z", "type": "gemini", "content": "Again."}, 7,
    {"id": "c", "timestamp": "2026-11-02T10:00:03.000Z", "type": "user", "content": ["Then", {"text": " stop."}]}
  ]
}`
	rep, events := build(t, gemini{}, strings.Replace(document, `["Then", {"text": " stop."}]`, `"Then stop."`, 1), nil)
	_, want := build(t, gemini{}, fixture(t, "gemini_set.jsonl"), nil)
	require.Equal(t, tell(want), tell(events))
	require.Equal(t, map[string]int{refusedDuplicate: 1, refusedJSON: 1}, rep.Refused)
	rep, _ = build(t, gemini{}, document[:strings.Index(document, `"type": "gemini"`)], nil)
	require.Equal(t, 1, rep.Requests)
	require.Equal(t, map[string]int{refusedJSON: 1}, rep.Refused)
}

func TestAChatThatWasTakenBack(t *testing.T) {
	line := func(id, kind, text string) string {
		return fmt.Sprintf(`{"id":%q,"timestamp":"2026-11-02T09:00:00Z","type":%q,"content":%q}`+"\n", id, kind, text)
	}
	chat := line("1", "user", "One") + line("2", "gemini", "Yes") + line("3", "user", "Two") + line("4", "gemini", "No")
	for name, test := range map[string]struct {
		chat string
		want []string
		back int
	}{
		"to a message": {chat + `{"$rewindTo":"3"}` + "\n" + line("5", "user", "Three"), []string{"One", "Yes", "Three"}, 2},
		"to none":      {chat + `{"$rewindTo":"9"}` + "\n" + line("5", "user", "Three"), []string{"Three"}, 4},
		"and again":    {chat + `{"$rewindTo":"3"}` + "\n" + line("3", "user", "Three"), []string{"One", "Yes", "Three"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			rep, events := build(t, gemini{}, test.chat, nil)
			require.Equal(t, test.want, words(events))
			require.Equal(t, test.back, rep.LeftOut["taken back"])
		})
	}
}

// opencodeText is an export of messages, each a role and its parts.
func opencodeText(info string, messages ...string) string {
	return `{"info":{"id":"ses_1","directory":"/home/ada/app"` + info + `},"messages":[` + strings.Join(messages, ",") + `]}`
}

func opencodeSaid(id, info string, parts ...string) string {
	return fmt.Sprintf(`{"info":{"id":%q,"time":{"created":1793610000000%s,"parts":[%s]}`, id, info, strings.Join(parts, ","))
}

// A session grows while opencode writes it. Each import of it keeps the events of the one before, and the
// last one has all.
func TestASessionOfOpencodeThatGrows(t *testing.T) {
	user := opencodeSaid("msg_1", `},"role":"user"}`, `{"id":"prt_1","type":"text","text":"Do it."}`)
	call := func(id, status, rest string) string {
		return fmt.Sprintf(`{"id":"prt_%s","type":"tool","tool":"bash","callID":%q,"state":{"status":%q,"input":{"command":"a"}%s}}`, id, id, status, rest)
	}
	const open, done = `},"role":"assistant"}`, `,"completed":1793610009000},"role":"assistant","finish":"tool-calls"}`
	said := `{"id":"prt_2","type":"text","text":"I do it.","time":{"start":1793610001000,"end":1793610002000}}`
	step := `{"id":"prt_9","type":"step-finish","reason":"tool-calls","tokens":{"input":5,"output":2,"cache":{}}}`
	ended := func(at int) string {
		return fmt.Sprintf(`,"output":"out","time":{"start":1793610003000,"end":179361000%d000}`, at)
	}
	const begun = `,"time":{"start":1793610003000}`
	next := opencodeSaid("msg_3", done, `{"id":"prt_8","type":"text","text":"Done.","time":{"start":1793610010000,"end":1793610011000}}`)
	stages := []string{
		opencodeText("", user),
		opencodeText("", user, opencodeSaid("msg_2", open)),
		opencodeText("", user, opencodeSaid("msg_2", open, `{"id":"prt_2","type":"text","text":"I d","time":{"start":1793610001000}}`)),
		opencodeText("", user, opencodeSaid("msg_2", open, said)),
		opencodeText("", user, opencodeSaid("msg_2", open, said, call("3", "pending", ""))),
		opencodeText("", user, opencodeSaid("msg_2", open, said, call("3", "running", begun), call("4", "pending", ""))),
		opencodeText("", user, opencodeSaid("msg_2", open, said, call("3", "running", begun), call("4", "running", begun))),
		opencodeText("", user, opencodeSaid("msg_2", open, said, call("3", "running", begun), call("4", "completed", ended(5)))),
		opencodeText("", user, opencodeSaid("msg_2", open, said, call("3", "completed", ended(6)), call("4", "completed", ended(5)))),
		opencodeText("", user, opencodeSaid("msg_2", done, said, call("3", "completed", ended(6)), call("4", "completed", ended(5)), step)),
		opencodeText("", user, opencodeSaid("msg_2", done, said, call("3", "completed", ended(6)), call("4", "completed", ended(5)), step), next),
	}
	f := newOpencode()
	_, whole := build(t, f, stages[len(stages)-1], nil)
	require.Len(t, words(whole), 7)
	for first := range stages {
		_, events := build(t, f, stages[first], nil)
		require.Empty(t, conversation.Audit(events), "stage %d", first)
		for second := first; second < len(stages); second++ {
			_, then := build(t, f, stages[second], events)
			_, then = build(t, f, stages[len(stages)-1], then)
			require.Empty(t, conversation.Audit(then), "stages %d, %d:\n%s", first, second, tell(then))
			require.ElementsMatch(t, words(whole), words(then), "stages %d, %d:\n%s", first, second, tell(then))
		}
	}
}

// A patch makes files as its result describes, and a call whose id another one of the answer has is a call of
// its own.
func TestPatchesOfOpencode(t *testing.T) {
	user := opencodeSaid("msg_1", `},"role":"user"}`, `{"id":"prt_1","type":"text","text":"Do it."}`)
	call := func(part, id, tool, input, status string) string {
		return fmt.Sprintf(`{"id":%q,"type":"tool","tool":%q,"callID":%q,"state":{"status":%q,"input":%s,"output":"out of %s","error":"no","time":{"start":1793610003000,"end":1793610005000}}}`,
			part, tool, id, status, input, part)
	}
	patch := func(part, id, status, text string) string {
		input, err := json.Marshal(map[string]string{"patchText": "*** Begin Patch\n" + text + "*** End Patch"})
		require.NoError(t, err)
		return call(part, id, "apply_patch", string(input), status)
	}
	const add = "*** Add File: a\n+one\n"
	for name, test := range map[string]struct {
		parts []string
		edits int
	}{
		"add":                  {[]string{patch("prt_2", "c1", "completed", add)}, 1},
		"add and move":         {[]string{patch("prt_2", "c1", "completed", add), patch("prt_3", "c2", "completed", "*** Update File: a\n*** Move to: b\n")}, 2},
		"add and delete":       {[]string{patch("prt_2", "c1", "completed", add), patch("prt_3", "c2", "completed", "*** Delete File: a\n")}, 2},
		"refused":              {[]string{patch("prt_2", "c1", "error", add)}, 0},
		"no patch":             {[]string{call("prt_2", "c1", "apply_patch", `{}`, "completed")}, 0},
		"another tool":         {[]string{strings.Replace(patch("prt_2", "c1", "completed", add), `"apply_patch"`, `"bash"`, 1)}, 0},
		"two of one id":        {[]string{patch("prt_2", "c1", "completed", add), patch("prt_3", "c1", "completed", "*** Add File: b\n+b\n")}, 2},
		"two of one id, alike": {[]string{call("prt_2", "c1", "bash", `{"command":"a"}`, "completed"), call("prt_3", "c1", "bash", `{"command":"a"}`, "completed")}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			text := opencodeText("", user, opencodeSaid("msg_2", `,"completed":1793610009000},"role":"assistant","finish":"tool-calls"}`, test.parts...))
			rep, events := build(t, newOpencode(), text, nil)
			require.Empty(t, conversation.Audit(events), tell(events))
			require.Equal(t, test.edits, rep.Edits, tell(events))
			require.Equal(t, test.edits, rep.Rebuilt, tell(events))
			var calls []int
			for _, e := range events {
				switch b := e.Body.(type) {
				case *conversation.ToolCallRequest:
					calls = append(calls, e.Seq)
				case *conversation.ToolCallResponse: // its own result, in the order of the calls
					n := slices.Index(calls, b.For)
					require.True(t, b.IsError || strings.Contains(b.Content, fmt.Sprintf("out of prt_%d", n+2)), tell(events))
					calls[n] = -1
				}
			}
			require.Equal(t, slices.Repeat([]int{-1}, len(test.parts)), calls, tell(events))
			_, again := build(t, newOpencode(), text, events)
			require.Equal(t, len(events), len(again))
		})
	}
}

func TestASessionOfOpencodeThatWasTakenBack(t *testing.T) {
	messages := []string{
		opencodeSaid("msg_1", `},"role":"user"}`, `{"id":"prt_1","type":"text","text":"One"}`),
		opencodeSaid("msg_2", `},"role":"assistant"}`, `{"id":"prt_2","type":"text","text":"Yes"}`, `{"id":"prt_3","type":"text","text":"Sure"}`),
		opencodeSaid("msg_3", `},"role":"user"}`, `{"id":"prt_4","type":"text","text":"Two"}`),
	}
	for revert, want := range map[string][]string{
		`,"revert":null`:                                   {"One", "Yes", "Sure", "Two"},
		`,"revert":{"messageID":"msg_3"}`:                  {"One", "Yes", "Sure"},
		`,"revert":{"messageID":"msg_2","partID":"prt_3"}`: {"One", "Yes"},
	} {
		_, events := build(t, newOpencode(), opencodeText(revert, messages...), nil)
		require.Equal(t, want, words(events), revert)
	}
}

// Invalid parts and rows are refused one by one.
func TestHostileStoresAreRefusedOneByOne(t *testing.T) {
	good := `{"id":"prt_1","type":"text","text":"Hello"}`
	for name, test := range map[string]struct {
		part   string
		reason string
	}{
		"large":        {`{"type":"text","text":"` + strings.Repeat("x", maxRecord) + `"}`, refusedLarge},
		"deep":         {`{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}", refusedDeep},
		"NUL":          {"{\x00}", refusedJSON},
		"no object":    {"7", refusedJSON},
		"another type": {`{"type":7}`, refusedJSON},
		"a reason":     {`"` + refusedLarge + `"`, refusedLarge},
		"made up":      {`"words"`, refusedJSON},
	} {
		t.Run(name, func(t *testing.T) {
			f := newOpencode()
			text := opencodeText("", opencodeSaid("msg_1", `},"role":"user"}`, good, test.part, strings.Replace(good, "Hello", "Bye", 1)))
			rep, events := build(t, f, text, nil)
			require.Equal(t, map[string]int{test.reason: 1}, rep.Refused)
			require.Equal(t, []string{"Hello\nBye"}, words(events))
			if name == "large" || strings.HasPrefix(test.part, `"`) || name == "no object" {
				return
			}
			storage := folderOf(t, exported{Info: json.RawMessage(`{"id":"ses_1"}`)})
			for path, value := range map[string]string{
				"message/ses_1/msg_1.json": `{"role":"user","time":{"created":1793610000000}}`, "part/msg_1/prt_1.json": good, "part/msg_1/prt_2.json": test.part,
			} {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(storage, path)), 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(storage, path), []byte(value), 0o644))
			}
			rep, events = build(t, f, sessionText(t, f, filepath.Join(storage, "message", "ses_1")), nil)
			require.Equal(t, map[string]int{test.reason: 1}, rep.Refused)
			require.Equal(t, []string{"Hello"}, words(events))
		})
	}
}

// A value of invalid JSON cannot end the document around it.
func TestBalancedValues(t *testing.T) {
	for value, want := range map[string]bool{
		`{}`: true, `{"a":"}"}`: true, `{"a":"\\"}`: true, `{"a":[{}]}`: true, "{\x00}": true,
		`{}}`: false, `{"a":"}`: false, `{"a":"\"}`: false, `{`: false, `{}{}`: false, `]`: false, ``: false,
	} {
		ends, deep := balanced([]byte(value))
		require.Equal(t, want, ends, value)
		require.Equal(t, tooDeep([]byte(value)), deep, value)
	}
}

// Links of a folder cannot lead out of it, and a pipe in it cannot block the reader.
func TestLinksInAFolder(t *testing.T) {
	storage := folderOf(t, exportOf(t, fixture(t, "opencode_tools.json")))
	secret := filepath.Join(t.TempDir(), "prt_00.json")
	require.NoError(t, os.WriteFile(secret, []byte(`{"type":"text","text":"A secret"}`), 0o644))
	require.NoError(t, os.Symlink(secret, filepath.Join(storage, "part", "msg_01", "prt_00.json")))
	require.NoError(t, os.Symlink(filepath.Dir(secret), filepath.Join(storage, "part", "msg_99")))
	require.NoError(t, os.WriteFile(filepath.Join(storage, "message", "ses_1", "msg_99.json"), []byte(`{"role":"user","time":{"created":1793610090000}}`), 0o644))
	f := newOpencode()
	file, err := open(f, filepath.Join(storage, "message", "ses_1"))
	require.NoError(t, err)
	text, err := io.ReadAll(file)
	require.Error(t, err)
	require.NotContains(t, string(text), "A secret")
	require.NoError(t, file.Close())
}

// A document is the same in pieces of any size.
func TestPiecesOfADocument(t *testing.T) {
	opened := func(path string) bool { return path == "" || path == "a" || path == "a/*" }
	read := func(text string, size int) (got string, err error) {
		err = pieces(&slowly{strings.NewReader(text), size}, opened, func(p piece) error {
			got += fmt.Sprintf("%s=%s%s,", p.path, p.value, p.refused)
			return nil
		})
		return got, err
	}
	for text, want := range map[string]string{
		` {"a" : [ {"b":"x\"}]","c":[1, {"d":2}]} , 7 , "y" ], "e":null}  `: `a/*/b="x\"}]",a/*/c=[1, {"d":2}],a/*=,a/*=7,a/*="y",a=,e=null,=,`,
		`{}`:               `=,`,
		`7`:                `=7,`,
		`{"a":{"b":[]}}`:   `a/b=[],a=,=,`,
		`{"\u0061":[]}`:    `a=,=,`,
		`{"a":[-1.5e3,1]}`: `a/*=-1.5e3,a/*=1,a=,=,`,
	} {
		for _, size := range []int{1, 7, 1 << 16} {
			got, err := read(text, size)
			require.True(t, err == nil || text == "7" && errors.Is(err, errDocument), "%s: %v", text, err)
			if text != "7" { // a number could go on in the next piece
				require.Equal(t, want, got)
			}
		}
	}
	for _, text := range []string{``, `{`, `{"a"`, `{"a":`, `{"a":[`, `{"a":[1`, `{"a":[1,`, `{"a":[1 2]}`, `{"a" 1}`, `{a:1}`, `{"a":1}}`, `{"a":"x`, `[}`} {
		_, err := read(text, 1)
		require.ErrorIs(t, err, errDocument, text)
	}
}

type slowly struct {
	in   io.Reader
	size int
}

func (s *slowly) Read(p []byte) (int, error) { return s.in.Read(p[:min(s.size, len(p))]) }

// A stream is read again from any place.
func TestPlacesOfAStream(t *testing.T) {
	f := newOpencode()
	whole := sessionText(t, f, "testdata/opencode.db#ses_1")
	file, err := f.Open("testdata/opencode.db#ses_1")
	require.NoError(t, err)
	defer file.Close()
	for _, at := range []int64{0, 100, 7, 7, 1000} {
		_, err := file.Seek(at, io.SeekStart)
		require.NoError(t, err)
		part := make([]byte, 50)
		_, err = io.ReadFull(file, part)
		require.NoError(t, err)
		require.Equal(t, whole[at:at+50], string(part))
	}
}

func TestEditsOfCalls(t *testing.T) {
	for _, test := range []struct {
		forms      editForms
		tool, args string
		want       string
	}{
		{opencodeEdits, "write", `{"filePath":"/a","content":"x"}`, `/a becomes "x"`},
		{opencodeEdits, "edit", `{"filePath":"/a","oldString":"x","newString":"y","replaceAll":true}`, `/a "x" "y" true`},
		{opencodeEdits, "edit", `{"filePath":"/a","oldString":"","newString":"y"}`, `/a becomes "y"`},
		{opencodeEdits, "bash", `{"command":"x"}`, ``},
		{geminiEdits, "replace", `{"file_path":"a","old_string":"x","new_string":"y"}`, `a "x" "y" false`},
		{geminiEdits, "write_file", `{"file_path":"a"}`, ``},
		{gooseEdits, "developer__text_editor", `{"command":"write","path":"a","file_text":"x"}`, `a becomes "x"`},
		{gooseEdits, "developer__text_editor", `{"command":"view","path":"a"}`, ``},
		{gooseEdits, "edit", `{"path":"a","before":"x","after":"y"}`, `a "x" "y" false`},
		{gooseEdits, "edit", `[]`, ``},
	} {
		var got bytes.Buffer
		for _, e := range test.forms.of(test.tool, json.RawMessage(test.args)) {
			got.WriteString(e.Path)
			if e.After != nil {
				fmt.Fprintf(&got, " becomes %q", *e.After)
			}
			for _, r := range e.Replaced {
				fmt.Fprintf(&got, " %q %q %v", r.Old, r.New, r.All)
			}
		}
		require.Equal(t, test.want, got.String(), test.args)
	}
}
