package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// documented is the only block of a language in docs/tools.md that begins with a
// text.
func documented(t *testing.T, language, begins string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/tools.md")
	require.NoError(t, err)
	for _, block := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if strings.HasPrefix(block[1], begins) {
			return block[1]
		}
	}
	require.Fail(t, "docs/tools.md has no block that begins so", "%s %s", language, begins)
	return ""
}

const countsWords = `
[[reply]]
[[reply.tool_call]]
name = "word_count"
arguments = { path = "README.md" }
[[reply.tool_call]]
name = "word_count"
arguments = { path = "none" }
[[reply.tool_call]]
name = "word_count"
arguments = { path = "tools" }
[[reply]]
data = { answer = true }
[[reply]]
message = "Over."
`

func TestTheDocumentedToolWorks(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		// Only the example needs Python; jp itself does not.
		t.Skip("the tool of docs/tools.md is written in Python, which is not here")
	}
	p := newPlace(t)
	program := documented(t, "python", "#!/usr/bin/env python3\n")
	p.write("tools/word_count", program)
	p.git("add", ".")
	p.git("commit", "-q", "-m", "tool")
	p.write("../home/.config/jp/config.toml", "[store]\ndurability = \"off\"\n"+documented(t, "toml", "[tools.word_count]\n"))
	p.write("../count.toml", countsWords)
	out := p.jp("query", "--json", "-m", "script/../count.toml", "Count")
	require.Zero(t, out.exit, out.stderr)
	require.Len(t, p.ofType("tool_call_response"), 3)
	results := map[string]bool{}
	for i := range 3 {
		results[p.result(i)] = true
	}
	require.True(t, results["3 README.md"], "%v", results)
	require.True(t, results["there is no none"], "%v", results)
	words := len(strings.Fields(program))
	require.True(t, results[fmt.Sprintf("%d tools/word_count", words)], "%v", results)
	answers := p.ofType("inquiry_response")
	require.Equal(t, "model", answers[len(answers)-1]["by"])
	require.Equal(t, true, answers[len(answers)-1]["answer"])

	p.write("../folder.toml", strings.Replace(strings.Replace(countsWords, "README.md", "tools", 1), "data = { answer = true }", "message = \"Over.\"", 1))
	out = p.jp("query", "--new", "--cfg", "tools.word_count.questions.folder.answer=false", "-m", "script/../folder.toml", "Count")
	require.Zero(t, out.exit, out.stderr)
	require.Equal(t, "The user does not want a folder to be counted.", p.result(1))
}

func TestTheDocumentedCallIsWhatAProgramReads(t *testing.T) {
	t.Parallel()
	p := ownPlace(t, own)
	out := p.jp("query", "-y", "-m", "script/../one.toml", "Go")
	require.Zero(t, out.exit, out.stderr)
	require.Equal(t, keysOf(t, documented(t, "json", `{"tool"`)), keysOf(t, p.calls()[0]))
}

// keysOf are the keys of a call, and those of its context.
func keysOf(t *testing.T, text string) []string {
	t.Helper()
	var call map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &call))
	return slices.Concat(slices.Sorted(maps.Keys(call)), slices.Sorted(maps.Keys(call["context"].(map[string]any))))
}
