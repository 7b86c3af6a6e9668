package main

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/redacttest"
	"jp/internal/testing/vendortest"
)

// saidTo are the texts in a request's body by role: that of the message around a text, "" for text
// outside of messages, such as a system prompt.
func saidTo(t *testing.T, body []byte) map[string]string {
	t.Helper()
	said := map[string]string{}
	var walk func(role string, value any)
	walk = func(role string, value any) {
		switch v := value.(type) {
		case string:
			said[role] += v + "\n"
		case []any:
			for _, e := range v {
				walk(role, e)
			}
		case map[string]any:
			if r, ok := v["role"].(string); ok {
				role = r
			}
			if kind, _ := v["type"].(string); strings.HasSuffix(kind, "_output") || kind == "tool_result" {
				role = "tool"
			}
			if _, ok := v["functionResponse"]; ok {
				role = "tool"
			}
			for _, e := range v {
				walk(role, e)
			}
		}
	}
	var value any
	require.NoError(t, json.Unmarshal(body, &value))
	walk("", value)
	return said
}

// TestInstructionsWithEachVendor gives a model the root's file and one of a folder that a tool reads.
// They are on the user's side of the dialogue. All later requests have the same beginning, also after
// the file was edited.
func TestInstructionsWithEachVendor(t *testing.T) {
	t.Parallel()
	for _, v := range vendortest.Vendors() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t, vendortest.Reply{Reasoning: "Look.", Text: "I look.", Calls: []vendortest.Call{
				{ID: "call_1", Name: "fs_read_file", Arguments: `{"path":"pkg/a.txt"}`}, {ID: "call_2", Name: "fs_read_file", Arguments: `{"path":"pkg/a.txt"}`},
			}}, vendortest.Reply{Reasoning: "Seen.", Text: "Seen."}, vendortest.Reply{Text: "Again."}, vendortest.Reply{Text: "Changed."})
			p.write("AGENTS.md", "Root rules.\n")
			p.write("pkg/AGENTS.md", "Package rules.\n")
			p.write("pkg/a.txt", "one\n")
			p.git("add", ".")
			p.git("commit", "-qm", "rules")
			require.Equal(t, "Seen.\n", p.asks(v, "Look").stdout)
			require.Equal(t, "Again.\n", p.asks(v, "Again").stdout)
			p.write("AGENTS.md", "New rules.\n")
			require.Equal(t, "Changed.\n", p.asks(v, "And now").stdout)

			requests := slices.DeleteFunc(s.Requests(), func(r vendortest.Request) bool { return r.Side })
			require.Len(t, requests, 4)
			for i, r := range requests {
				said := saidTo(t, r.Body)
				want := map[string]int{"Root rules.": 1, "Package rules.": min(i, 1), "New rules.": i / 3}
				for text, times := range want {
					all := 0
					for role, texts := range said {
						n := strings.Count(texts, text)
						if role != "user" && role != "tool" {
							require.Zero(t, n, "request %d: %s as %q", i, text, role)
						}
						all += n
					}
					require.Equal(t, times, all, "request %d: %s", i, text)
				}
				require.Contains(t, said["user"], "Root rules.")
				if i > 0 {
					require.Contains(t, said["tool"], "Package rules.")
				}
			}
			s.AppendOnly()
			require.Zero(t, p.jp("verify").exit)
		})
	}
}

// TestInstructionsOfFoundFiles varies the way in which a conversation finds a file of a folder with
// instructions.
func TestInstructionsOfFoundFiles(t *testing.T) {
	t.Parallel()
	const name, program = "fs_grep_files", `["cat","pkg/a.txt"]`
	for _, test := range []struct {
		name, tool, arguments string
		attach                []string
		given                 string // with the request, with the result, or ""
	}{
		{"a match", name, `{"pattern":"needle"}`, nil, "tool"},
		{"a match in the folder", name, `{"pattern":"needle","path":"pkg"}`, nil, "tool"},
		{"a match elsewhere", name, `{"pattern":"hay"}`, nil, ""},
		{"no match", name, `{"pattern":"absent"}`, nil, ""},
		{"a listed file", "fs_list_files", `{"pattern":"a.txt"}`, nil, "tool"},
		{"a listed folder", "fs_list_files", `{"path":"pkg"}`, nil, "tool"},
		{"a file that is not listed", "fs_list_files", `{"pattern":"*.md","path":"other"}`, nil, ""},
		{"a program", "shell_run", `{"argv":` + program + `}`, nil, ""},
		{"an attached file", name, `{"pattern":"needle"}`, []string{"-a", "pkg/a.txt"}, "user"},
		{"an attached pattern", name, `{"pattern":"absent"}`, []string{"-a", "pkg/*.txt"}, "user"},
		{"a file attached from elsewhere", name, `{"pattern":"absent"}`, []string{"-a", "other/b.txt"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, s := vendorPlace(t, vendortest.Reply{Text: "I look.", Calls: []vendortest.Call{{ID: "call_1", Name: test.tool, Arguments: test.arguments}}},
				vendortest.Reply{Text: "Seen."}, vendortest.Reply{Text: "Again."})
			p.write("AGENTS.md", "Root rules.\n")
			p.write("pkg/AGENTS.md", "Package rules.\n")
			p.write("pkg/a.txt", "needle\n")
			p.write("other/b.txt", "hay\n")
			p.git("add", ".")
			p.git("commit", "-qm", "rules")
			p.asks(vendortest.Vendors()[0], append(test.attach, "Look")...)
			p.asks(vendortest.Vendors()[0], "Again")
			requests := slices.DeleteFunc(s.Requests(), func(r vendortest.Request) bool { return r.Side })
			require.Len(t, requests, 3)
			for i, r := range requests {
				want := map[string]int{}
				if test.given != "" && i >= map[string]int{"user": 0, "tool": 1}[test.given] {
					want[test.given] = 1
				}
				for role, texts := range saidTo(t, r.Body) {
					require.Equal(t, want[role], strings.Count(texts, "Package rules."), "request %d, %s", i, role)
					require.NotContains(t, texts, "does not hold any more")
				}
			}
			s.AppendOnly()
			require.Zero(t, p.jp("verify").exit)
		})
	}
}

// A secret in a file of instructions is replaced like in any input, and each file is found at its new
// place.
func TestASecretInInstructions(t *testing.T) {
	t.Parallel()
	p, s := vendorPlace(t, vendortest.Reply{Text: "Done."})
	secret := (&redacttest.Planter{Random: rand.New(rand.NewPCG(1, 2))}).Token()
	p.write("AGENTS.md", "Token "+secret+" is fine.\n")
	p.write("CLAUDE.md", "This name comes second.\n")
	p.git("add", ".")
	p.git("commit", "-qm", "rules")
	p.asks(vendortest.Vendors()[0], "Hello")
	for _, r := range s.Requests() {
		require.NotContains(t, string(r.Body), secret)
		require.NotContains(t, string(r.Body), "comes second")
	}
	var shown struct{ Files []struct{ Text string } }
	require.NoError(t, json.Unmarshal([]byte(p.jp("show", "--instructions", "--json").stdout), &shown))
	require.Len(t, shown.Files, 1)
	require.Regexp(t, `^Token \[secret:[^\]]+\] is fine\.\n$`, shown.Files[0].Text)
	require.Zero(t, p.jp("verify").exit)
}

// On a terminal, jp asks about a file without a record, once for each content.
func TestQuestionAboutInstructions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		committed string // "" for none
		key       string
		gets      string // the model's instructions then, or ""
		again     bool   // the next turn asks again
	}{
		{"a changed file approved", "Be brief.\n", "y", "Be kind.", false},
		{"a changed file declined", "Be brief.\n", "n", "Be brief.", false},
		{"a changed file not decided", "Be brief.\n", "\x04", "Be brief.", true},
		{"a new file approved", "", "y", "Be kind.", false},
		{"a new file declined", "", "n", "", false},
		{"a new file not decided", "", "\x04", "", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("../talk.toml", "[[reply]]\nmessage = \"One.\"\n[[reply]]\nmessage = \"Two.\"\n")
			if test.committed != "" {
				p.write("AGENTS.md", test.committed)
				p.git("add", ".")
				p.git("commit", "-qm", "rules")
			}
			p.write("AGENTS.md", "Be kind.\n")
			ask := func(args ...string) string {
				s := p.sit(100, append([]string{"query", "-m", "script/../talk.toml"}, args...)...)
				s.WaitFor("AGENTS.md tells the model how to work.")
				s.WaitFor("+Be kind.")
				s.prompted()
				s.Type(test.key)
				require.Zero(t, s.exit())
				return s.Text()
			}
			text := ask("Hello")
			if test.committed != "" {
				require.Contains(t, text, "-Be brief.")
			}
			shown := p.jp("show", "--instructions").stdout
			if test.gets == "" {
				require.Contains(t, shown, "had no instructions")
			} else {
				require.Contains(t, shown, "\n"+test.gets)
			}
			require.Equal(t, test.again, strings.Contains(text, "jp trust --instructions"), "how to decide later")
			require.Zero(t, p.jp("query", "--new", "-m", "script/../talk.toml", "Elsewhere").exit)
			require.Equal(t, shown, p.jp("show", "--instructions").stdout, "without a terminal it is the same")
			if test.again {
				ask("--new", "Again")
				return
			}
			s := p.sit(100, "query", "--new", "-m", "script/../talk.toml", "Again")
			require.Zero(t, s.exit())
			require.NotContains(t, s.Text(), "how to work")
		})
	}
}

// A person who leaves the question sends no request.
func TestQuestionAboutInstructionsLeft(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("../talk.toml", "[[reply]]\nmessage = \"One.\"\n")
	p.write("AGENTS.md", "Be kind.\n")
	s := p.sit(100, "query", "-m", "script/../talk.toml", "Hello")
	s.prompted()
	s.Type("\x03")
	require.Equal(t, 130, s.exit())
	require.Equal(t, 5, p.jp("show", "newest").exit, "nothing is recorded")
}
