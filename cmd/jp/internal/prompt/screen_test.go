package prompt

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/cmd/jp/internal/terminal"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/turnloop"
)

const retry = "package auth\n\nfunc Login() error {\n\tfor {\n\t\terr := ask()\n\t\tif err == nil {\n\t\t\treturn nil\n\t\t}\n\t}\n}\n"

// workspace is a directory with a file.
func workspace(t *testing.T) *os.Root {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "retry.go"), []byte(retry), 0o600))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "outside")))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { root.Close() })
	return root
}

const modification = `{"path":"retry.go","edits":[{"old":"\tfor {\n","new":"\tfor try := 1; ; try++ {\n"}]}`

func TestScreens(t *testing.T) {
	root := workspace(t)
	asked := toolQuestion(boolean, "false")
	asked.Detail = "-a\n+b"
	overwriting := toolQuestion(boolean, "")
	overwriting.Subject, overwriting.Detail, overwriting.Inquiry.Request.Exclusive = "retry.go", "-of another process\n+b", true
	overwriting.Arguments = asJSON(map[string]string{"path": "retry.go", "content": strings.Replace(retry, "for {", "for try := 1; ; try++ {", 1)})
	chosen := toolQuestion(selection(2), `"xx"`)
	command := callQuestion("shell_run", "go test ./...", `{"argv":["go","test","./..."],"timeout_s":120}`)
	program := callQuestion("word_count", "a.txt", `{"path":"a.txt"}`)
	program.Tool.Command, program.Tool.Timed, program.Tool.Timeout = []string{"wc", "-w", "$(id)"}, true, 30*time.Second
	for name, test := range map[string]struct {
		q       turnloop.Question
		opts    Options
		columns int
		want    []string
	}{
		"modify, wide": {callQuestion("fs_modify_file", "retry.go", modification), Options{Root: root, Editor: editor()}, 120, []string{
			"  ● edit retry.go" + strings.Repeat(" ", 120-17-18) + "call 2 of 3, +1 −1",
			"    1   package auth",
			"    2   ",
			"    3   func Login() error {",
			"    4 -     for {",
			"    4 +     for try := 1; ; try++ {",
			"    5           err := ask()",
			"    6           if err == nil {",
			"    7               return nil",
			"Edit it?  y yes   a every edit this turn   n no   w no, say why   e edit   d details   ? help",
			">",
		}},
		"modify, narrow": {callQuestion("fs_modify_file", "retry.go", modification), Options{Root: root}, 40, []string{
			"  ● edit retry.go     call 2 of 3, +1 −1",
			"    1   package auth",
			"    2   ",
			"    3   func Login() error {",
			"    4 -     for {",
			"    4 +     for try := 1; ; try++ {",
			"    5           err := ask()",
			"    6           if err == nil {",
			"    7               return nil",
			"Edit it?  y yes   a every edit this turn",
			"n no   w no, say why   d details",
			"? help",
			">",
		}},
		"command": {command, Options{Dir: "~/login", Confinement: "writes inside the workspace only · no network"}, 100, []string{
			"  ● run go test ./..." + strings.Repeat(" ", 100-4-17-11) + "call 2 of 3",
			"    in ~/login · writes inside the workspace only · no network · at most 2 min",
			"Run it?  y yes   a every command this turn   n no   w no, say why   d details   ? help",
			">",
		}},
		"command, not confined, with input": {
			callQuestion("shell_run", "", `{"argv":["sh","-c","rm -rf x "],"cwd":"sub","stdin":"echo 1\necho 2\n"}`),
			Options{Dir: "~/login"}, 100, []string{
				"  ● run sh -c 'rm -rf x '" + strings.Repeat(" ", 100-4-21-11) + "call 2 of 3",
				"    in ~/login/sub · at most 10 min",
				"    ! not confined: it can do all that you can",
				"    < echo 1",
				"    < echo 2",
				"Run it?  y yes   a every command this turn   n no   w no, say why   d details   ? help",
				">",
			},
		},
		"a command that draws a screen of its own": {
			callQuestion("shell_run", "", `{"argv":["sh","-c","touch pwned #`+strings.Repeat(" ", 4000)+`shell_run git status"]}`),
			Options{Dir: "/w", Confinement: "x"}, 100, []string{
				"  ● run sh -c 'touch pwned #⟨4000 blanks⟩shell_run git status'" + strings.Repeat(" ", 100-4-58-11) + "call 2 of 3",
				"    in /w · x · at most 10 min",
				"Run it?  y yes   a every command this turn   n no   w no, say why   d details   ? help",
				">",
			},
		},
		"move": {callQuestion("fs_move_file", "a b", `{"source":"a b","target":"c"}`), Options{}, 100, []string{
			"  ● move 'a b' → c" + strings.Repeat(" ", 100-4-14-11) + "call 2 of 3",
			"Move it?  y yes   a every move this turn   n no   w no, say why   d details   ? help",
			">",
		}},
		"another tool": {callQuestion("deploy", "", `{"to":"prod"}`), Options{}, 100, []string{
			"  ● deploy" + strings.Repeat(" ", 100-4-6-11) + "call 2 of 3",
			"    {",
			`      "to": "prod"`,
			"    }",
			"Run it?  y yes   a all deploy this turn   n no   w no, say why   d details   ? help",
			">",
		}},
		"a tool that is a program": {program, Options{Dir: "~/login"}, 100, []string{
			"  ● word_count a.txt" + strings.Repeat(" ", 100-4-16-11) + "call 2 of 3",
			"    runs wc -w '$(id)'",
			"    in ~/login · at most 30 s",
			"    ! not confined: it can do all that you can",
			"    {",
			`      "path": "a.txt"`,
			"    }",
			"Run it?  y yes   a all word_count this turn   n no   w no, say why   d details   ? help",
			">",
		}},
		"boolean": {asked, Options{}, 100, []string{
			"  ● create auth/retry_test.go asks: Overwrite existing file?",
			"    -a",
			"    +b",
			"y yes   n no (default)   a yes to all of these this turn   d details",
			">",
		}},
		"overwrite": {overwriting, Options{Root: root}, 100, []string{
			"  ● create retry.go asks: Overwrite existing file?" + strings.Repeat(" ", 100-49-6) + "+1 −1",
			"    1   package auth",
			"    2   ",
			"    3   func Login() error {",
			"    4 -     for {",
			"    4 +     for try := 1; ; try++ {",
			"    5           err := ask()",
			"    6           if err == nil {",
			"    7               return nil",
			"y yes   n no   d details",
			">",
		}},
		"select": {chosen, Options{}, 100, []string{
			"  ● create auth/retry_test.go asks: Overwrite existing file?",
			"1 x – the choice",
			"2 xx – the choice (default)",
			">",
		}},
		"deliver": {delivery("line\n" + strings.Repeat("more\n", 60)), Options{}, 100, append(append([]string{
			"  ● read auth/retry.go" + strings.Repeat(" ", 100-4-18-11) + "call 2 of 3", "    line",
		}, strings.Split(strings.Repeat("    more\n", 42), "\n")[:42]...),
			"    18 lines hidden: d",
			"Give it to the model?  y deliver   n withhold   w withhold, say why   d show   ? help",
			">",
		)},
	} {
		t.Run(name, func(t *testing.T) {
			s := ask(t, t.Context(), test.q, test.opts, test.columns)
			want := strings.Split(strings.Join(test.want, "\n"), "\n")
			for i, line := range want {
				want[i] = strings.TrimRight(line, " ")
			}
			s.WaitForEnd("\n>")
			require.Equal(t, strings.Join(want, "\n"), s.Text())
			s.types("\x04")
			_, err := s.reply()
			require.NoError(t, err)
		})
	}
}

func TestFurtherCommandsAreListed(t *testing.T) {
	command := func(argv ...string) turnloop.Question {
		return callQuestion("shell_run", "", string(asJSON(map[string]any{"argv": argv})))
	}
	q := command("go", "vet", "./...")
	for _, argv := range [][]string{{"go", "test", "./..."}, {"rm", "a b"}, {strings.Repeat("x", 100)}, {"last"}} {
		q.Also = append(q.Also, command(argv...).Inquiry.Call)
	}
	for typed, also := range map[string]int{"Y": 2, "y": 0} {
		s := ask(t, t.Context(), q, Options{Dir: "/w", Confinement: "x"}, 80)
		s.WaitForEnd("\n>")
		require.Contains(t, s.Text(), "\n    2 more commands ask:\n    + go test ./...\n    + rm 'a b'\nRun it?  y yes   Y yes to all 3   a every command this turn")
		s.types(typed)
		got, err := s.reply()
		require.NoError(t, err)
		require.JSONEq(t, `"run"`, string(got.Value))
		require.Len(t, got.Also, also)
	}
}

// A program's confinement is shown in full on a terminal of any width.
func TestConfinementIsNeverCut(t *testing.T) {
	command := callQuestion("shell_run", "", `{"argv":["true"]}`)
	confined := Options{Dir: "~/w", Confinement: "confined: writes here, temporary files and caches only · no network"}
	deep := Options{Dir: "/" + strings.Repeat("deep/", 60) + "end", Confinement: confined.Confinement}
	for _, test := range []struct {
		opts    Options
		columns int
		want    string
	}{
		{confined, 30, "    in ~/w\n    confined: writes here,\n    temporary files and caches\n    only · no network\n    at most 10 min\n"},
		{confined, 40, "    in ~/w\n    confined: writes here, temporary\n    files and caches only · no network\n    at most 10 min\n"},
		{confined, 80, "    in ~/w · confined: writes here, temporary files and caches only · no network\n    at most 10 min\n"},
		{deep, 40, "deep/deep/deep/end\n    confined: writes here, temporary\n    files and caches only · no network\n"},
		{Options{Dir: "~/w"}, 20, "    in ~/w\n    at most 10 min\n    ! not confined:\n      it can do all\n      that you can\n"},
	} {
		s := ask(t, t.Context(), command, test.opts, test.columns)
		s.WaitForEnd("\n>")
		require.Contains(t, s.Text(), test.want)
		s.types("n")
		_, err := s.reply()
		require.NoError(t, err)
	}
}

func TestTheWidthIsTheOneOfTheMoment(t *testing.T) {
	q := callQuestion("fs_modify_file", "retry.go", modification)
	s := ask(t, t.Context(), q, Options{}, 120)
	s.WaitForEnd("\n>")
	require.Contains(t, s.Text(), "Edit it?  y yes   a every edit")
	s.Resize(40, 50)
	s.types("?")
	s.WaitFor("Edit it?  y yes   a every edit this turn\nn no")
	s.types("n")
	_, err := s.reply()
	require.NoError(t, err)
}

func TestTheAnswerIsShown(t *testing.T) {
	for typed, want := range map[string]string{"y": "> y", "\x04": "> ^D", "\x03": "> ^C", "\x1b": "> Esc"} {
		s := ask(t, t.Context(), callQuestion("t", "", `{}`), Options{}, 80)
		s.types(typed)
		_, _ = s.reply()
		s.WaitForEnd("\n" + want)
	}
}

func previewed(t *testing.T, root *os.Root, name, arguments string) questionView {
	t.Helper()
	return New(nil, Options{Root: root}).callSheet(callQuestion(name, "", arguments))
}

func TestPreviewOfFiles(t *testing.T) {
	root := workspace(t)
	for name, test := range map[string]struct {
		tool, arguments string
		root            *os.Root
		aside           string
		note            string
		body            []string
	}{
		"modify, unread":       {"fs_modify_file", modification, nil, ", +1 −1", "", []string{"-\tfor {", "+\tfor try := 1; ; try++ {"}},
		"modify, does not fit": {"fs_modify_file", `{"path":"retry.go","edits":[{"old":"x","new":"y"}]}`, root, ", +1 −1", "! the edits do not fit", []string{"-x", "+y"}},
		"create":               {"fs_create_file", `{"path":"new","content":"a\nb\n"}`, root, ", +2 −0", "", []string{"+a", "+b"}},
		"create, hidden":       {"fs_create_file", `{"path":"new","content":"a \u001b]; rm b; \u0007\nc\rd\r\n"}`, root, ", +2 −0", "", []string{"+a ^[]; rm b; ^G", "+c^Md"}},
		"create, exists":       {"fs_create_file", `{"path":"retry.go","content":"package auth\n"}`, root, ", +0 −9", "! the file exists", nil},
		"create, empty":        {"fs_create_file", `{"path":"new","content":""}`, root, "", "(no change)", nil},
		"delete":               {"fs_delete_file", `{"path":"retry.go"}`, root, ", +0 −10", "", nil},
		"delete, outside":      {"fs_delete_file", `{"path":"outside"}`, root, "", "", nil},
		"arguments amiss":      {"fs_modify_file", `{"path":1}`, root, "", "", []string{"{", `  "path": 1`, "}"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := previewed(t, test.root, test.tool, test.arguments)
			require.Equal(t, "call 2 of 3"+test.aside, s.aside)
			require.Contains(t, strings.Join(s.notes, "\n"), test.note)
			if test.body != nil {
				shown := s.body
				for _, c := range s.changes {
					shown = append(shown, string(c.Mark)+c.Text)
				}
				require.Equal(t, test.body, shown)
			}
			require.NotContains(t, fmt.Sprint(s.body, s.changes), "root:", "a link out of the workspace")
		})
	}
}

// The screen shows any text of a model or a tool and does not obey it.
func TestForeignTextIsShownNotObeyed(t *testing.T) {
	nasty := "a\x1b]0;title\x07\x1b[2J\u202eb\r\u009b31m "
	arguments, err := json.Marshal(map[string]any{"argv": []string{"rm", nasty}, "cwd": nasty, "stdin": nasty, "path": nasty, "content": nasty})
	require.NoError(t, err)
	for _, name := range []string{"shell_run", "fs_create_file", "fs_delete_file", nasty} {
		q := callQuestion(name, nasty, string(arguments))
		q.Tool.Description, q.Detail = nasty, nasty
		s := ask(t, t.Context(), q, Options{}, 120)
		s.types("d", "?", "n")
		_, err := s.reply()
		require.NoError(t, err)
		requireHarmless(t, s.Raw())
		require.NotContains(t, s.Text(), "title\n")
		if name == "shell_run" {
			require.Contains(t, s.Text(), `rm $'a\x1b]0;title\x07\x1b[2J\u202eb\r\u009b31m '`)
		}
	}
	q := toolQuestion(conversation.AnswerType{Type: "select", Options: []conversation.Option{{Value: asJSON(nasty), Description: nasty}}}, "")
	q.Inquiry.Request.Question.Text, q.Detail = nasty+"\n"+nasty, nasty
	s := ask(t, t.Context(), q, Options{}, 120)
	s.types("d", "1")
	got, err := s.reply()
	require.NoError(t, err)
	require.JSONEq(t, string(asJSON(nasty)), string(got.Value), "the answer is the option's own")
	requireHarmless(t, s.Raw())
}

var style = regexp.MustCompile(`\x1b\[([0-9;]*m|\?2004[hl])`) // jp's own sequences

// requireHarmless finds sequences that move the cursor or change the displayed text. The terminal
// itself turns a newline into two characters.
func requireHarmless(t require.TestingT, raw string) {
	text := strings.ReplaceAll(style.ReplaceAllString(raw, ""), "\r\n", "\n")
	require.Equal(t, text, safetext.Clean(text))
}

func TestSheetsAreHarmless(t *testing.T) {
	names := []string{"fs_modify_file", "fs_create_file", "fs_delete_file", "fs_move_file", "shell_run", "git_commit"}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\x1b[2J", "\u202e", "a\nb", "\u009d0;", "\U000e0041"}))
		text := word.Draw(t, "text")
		arguments := asJSON(map[string]any{
			"path": text, "content": word.Draw(t, "content"), "source": text, "target": text, "argv": []string{text, "x"}, "stdin": text,
			"edits": []map[string]string{{"old": text, "new": word.Draw(t, "new")}},
		})
		q := callQuestion(rapid.SampledFrom(names).Draw(t, "tool"), text, string(arguments))
		q.Detail, q.Result = text, text
		p := New(nil, Options{Width: rapid.IntRange(10, 120).Draw(t, "width"), Rows: rapid.IntRange(3, 50).Draw(t, "rows"), Palette: terminal.Coloured()})
		requireHarmless(t, p.brief(p.callSheet(q), "\n")+p.callSheet(q).full(p.opts.Palette, p.opts.Width)+p.brief(p.resultSheet(q), "")+p.brief(p.questionSheet(q), ""))
	})
}

// The approved calls have a row each, and take at most three.
func TestApprovedRows(t *testing.T) {
	call := func(name, thing string) *conversation.ToolCall {
		return &conversation.ToolCall{Event: &conversation.Event{Subject: "call " + name + thing}, Request: &conversation.ToolCallRequest{Name: name}}
	}
	calls := []*conversation.ToolCall{call("fs_modify_file", " src/a/long/name.go"), call("shell_run", " ls"), call("x\x1b[2J", ""), call("y", "")}
	require.Equal(t, []string{"  ○ edit src/a/lo… · approved", "  ○ run ls · approved", "  ○ 2 more · approved"}, approvedRows(calls, terminal.Palette{}, 30))
	require.Equal(t, "  ○ x · approved", approvedRows(calls[1:3], terminal.Palette{}, 30)[1])
}
