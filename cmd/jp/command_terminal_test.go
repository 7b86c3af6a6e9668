package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// own is a program that prints its arguments. Each of its runs adds a line to a file that git ignores.
const own = `#!/bin/sh
read -r call
echo "$call" >>calls
printf %s "$call" | sed 's/.*"arguments":\({[^}]*}\),"answers":\({.*}\),"attempt":\([0-9]*\).*/\1 \2 \3/'
`

// asksFirst is a program that asks a question first.
const asksFirst = `#!/bin/sh
read -r call
echo "$call" >>calls
case $call in
*'"answers":{}'*) cat bin/question ;;
*) printf %s "$call" | sed 's/.*"answers":\({.*}\),"attempt".*/\1/' ;;
esac
`

const ownConfig = `[store]
durability = "off"
[tools.own]
command = ["bin/own"]
[tools.own.parameters.path]
type = "string"
required = true
`

const callsOwn = `
[[reply]]
[[reply.tool_call]]
name = "own"
arguments = { path = "a.txt" }
[[reply.tool_call]]
name = "own"
arguments = { path = "b.txt" }
[[reply]]
message = "Over."
[[reply]]
message = "And out."
`

// ownPlace is a place with the tool own, the user's program, and an editor.
func ownPlace(t *testing.T, program string) *workspace {
	t.Helper()
	p := newPlace(t)
	p.write(".gitignore", "calls\nkilled\npid\n")
	p.write("bin/own", program)
	p.git("add", ".")
	p.git("commit", "-q", "-m", "own")
	p.write("../home/.config/jp/config.toml", ownConfig)
	p.write("../own.toml", callsOwn)
	p.write("../one.toml", strings.Replace(callsOwn, "[[reply.tool_call]]\nname = \"own\"\narguments = { path = \"b.txt\" }\n", "", 1))
	p.environ = append(p.environ, "JP_EDITOR=../editor")
	return p
}

// edits lets the editor of the place write these texts, one after the other.
func (p *workspace) edits(texts ...string) {
	p.t.Helper()
	for i, text := range texts {
		p.write("../edit/"+string(rune('a'+i)), text)
	}
	p.write("../editor", "#!/bin/sh\nset -- \"$1\" ../edit/*\ncat \"$2\" >\"$1\" && rm \"$2\"\n")
}

// calls are the calls that the program got.
func (p *workspace) calls() []string {
	text, err := os.ReadFile(filepath.Join(p.dir, "calls"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestRunPromptOfACommand(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edits   []string
		keys    []string // each typed at a prompt
		results []string // that the model gets
		answer  string   // to the first question
	}{
		"run":           {keys: []string{"y", "y"}, results: []string{`{"path":"a.txt"} {} 1`, `{"path":"b.txt"} {} 1`}, answer: "run"},
		"for this turn": {keys: []string{"a"}, results: []string{`{"path":"a.txt"} {} 1`, `{"path":"b.txt"} {} 1`}, answer: "run_turn"},
		"edited": {
			edits: []string{`{"path":"c.txt"}`}, keys: []string{"e", "y"},
			results: []string{`{"path":"c.txt"} {} 1`, `{"path":"b.txt"} {} 1`}, answer: "edit",
		},
		"edited until it is JSON that the tool takes": {
			edits: []string{`{"path":`, `{"pth":"c.txt"}`, `{"path":"d.txt"}`}, keys: []string{"e", "e", "e", "y"},
			results: []string{`{"path":"d.txt"} {} 1`, `{"path":"b.txt"} {} 1`}, answer: "edit",
		},
		"not edited in the end": {
			edits: []string{`{"path":`}, keys: []string{"e", "b", "y", "y"},
			results: []string{`{"path":"a.txt"} {} 1`, `{"path":"b.txt"} {} 1`}, answer: "run",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ownPlace(t, own)
			p.edits(tt.edits...)
			s := p.sit(100, "query", "-m", "script/../own.toml", "Go")
			for i, key := range tt.keys {
				s.promptedAgain(i + 1)
				s.Type(key)
			}
			require.Zero(t, s.exit())
			require.Contains(t, s.Raw(), " a.txt ")
			require.Contains(t, s.Raw(), "  runs bin/own\r\n")
			for i, want := range tt.results {
				require.Equal(t, want, strings.TrimSpace(p.result(i)))
			}
			answer := p.ofType("inquiry_response")[0]
			require.Equal(t, tt.answer, answer["answer"])
			require.Equal(t, "user", answer["by"])
			require.Zero(t, p.jp("verify").exit)
		})
	}
}

func TestACommandIsSkippedWithAReason(t *testing.T) {
	t.Parallel()
	p := ownPlace(t, own)
	s := p.sit(100, "query", "-m", "script/../one.toml", "Go")
	s.prompted()
	s.Type("w")
	s.WaitForEnd("Why?")
	s.Type("not this one\r")
	require.Zero(t, s.exit())
	require.Equal(t, "The tool was not run: the user declined. Reason: not this one", p.result(0))
	require.Empty(t, p.calls())
}

func TestResultPromptOfACommand(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mode, key, why string
		answer         map[string]any // fields of the answer on record
	}{
		"deliver":                 {"ask", "y", "", map[string]any{"answer": "deliver"}},
		"withhold":                {"ask", "n", "", map[string]any{"answer": "withhold"}},
		"withhold with a reason":  {"ask", "w", "too much\r", map[string]any{"answer": "withhold", "reason": "too much"}},
		"edit":                    {"ask", "e", "", map[string]any{"answer": "edit", "arguments": "edited by hand"}},
		"edit, as configured":     {"edit", "\r", "", map[string]any{"answer": "edit", "arguments": "edited by hand"}},
		"deliver, though to edit": {"edit", "y", "", map[string]any{"answer": "deliver"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ownPlace(t, own)
			p.edits("edited by hand")
			s := p.sit(100, "query", "-y", "--cfg", "tools.own.result="+tt.mode, "-m", "script/../one.toml", "Go")
			s.prompted()
			require.Contains(t, s.Text(), "Give it to the model?")
			require.Contains(t, s.Text(), `  {"path":"a.txt"} {} 1`)
			s.Type(tt.key)
			if tt.why != "" {
				s.WaitForEnd("Why?")
				s.Type(tt.why)
			}
			require.Zero(t, s.exit())
			response := p.ofType("tool_call_response")[0]
			require.Equal(t, `{"path":"a.txt"} {} 1`, response["content"], "the result is kept as it was")
			require.Equal(t, true, response["held"])
			require.Len(t, p.calls(), 1)
			answer := p.ofType("inquiry_response")[0]
			require.Equal(t, "user", answer["by"])
			for field, want := range tt.answer {
				require.Equal(t, want, answer[field])
			}
		})
	}
}

func TestQuestionsOfACommand(t *testing.T) {
	t.Parallel()
	const pick = `{"type":"select","options":["red",{"value":"blue","description":"as the sky"}]}`
	for name, tt := range map[string]struct {
		takes, preset string
		keys          string
		said          string // "" without an answer
		shows         string
	}{
		"yes":                {`"Boolean"`, "", "y", `{"it":true}`, "own a.txt asks: Which?"},
		"no":                 {`{"type":"boolean"}`, "true", "n", `{"it":false}`, "y yes (default)   n no"},
		"yes to all":         {`{"type":"boolean"}`, "", "a", `{"it":true}`, "a yes to all of these this turn"},
		"no answer":          {`{"type":"boolean"}`, "true", "\x04", "", "Which?"},
		"picked":             {pick, "", "2", `{"it":"blue"}`, "2 blue – as the sky"},
		"picked the default": {pick, `"red"`, "1", `{"it":"red"}`, "1 red (default)"},
		"text":               {`"Text"`, "", "so <it> is\r", `{"it":"so <it> is"}`, "own a.txt asks: Which?"},
		"text pasted":        {`"Text"`, "", "\x1b[200~a\rb\x1b[201~\r", `{"it":"a b"}`, "Which?"},
		"text by default":    {`{"type":"text"}`, `"main"`, "\t\r", `{"it":"main"}`, "[Tab: main] >"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ownPlace(t, asksFirst)
			p.question(tt.takes, tt.preset)
			s := p.sit(100, "query", "-y", "-m", "script/../one.toml", "Go")
			s.Wait("the question", func() bool { return strings.HasSuffix(strings.TrimRight(s.Text(), " \n"), ">") })
			require.Contains(t, s.Text(), tt.shows)
			s.Type(tt.keys)
			require.Zero(t, s.exit())
			answers := p.ofType("inquiry_response")
			answer := answers[len(answers)-1]
			require.Equal(t, "user", answer["by"])
			if tt.said == "" {
				require.Equal(t, "declined", answer["outcome"])
				require.Contains(t, p.result(0), "got no answer")
				require.Len(t, p.calls(), 1)
				return
			}
			require.Equal(t, tt.said, strings.TrimSpace(p.result(0)))
			require.Equal(t, tt.keys == "a", answer["remember"] == true)
			require.Len(t, p.calls(), 2)
		})
	}
}

// question is the question of the place's tool.
func (p *workspace) question(takes, preset string) {
	p.t.Helper()
	question := map[string]any{"id": "it", "text": "Which?", "answer_type": json.RawMessage(takes)}
	if preset != "" {
		question["default"] = json.RawMessage(preset)
	}
	text, err := json.Marshal(map[string]any{"type": "needs_input", "question": question})
	require.NoError(p.t, err)
	p.write("bin/question", string(text))
}

func TestAnAnswerOfACommandHoldsForTheTurn(t *testing.T) {
	t.Parallel()
	p := ownPlace(t, asksFirst)
	p.question(`"Boolean"`, "")
	s := p.sit(100, "query", "-y", "-m", "script/../own.toml", "Go")
	s.prompted()
	s.Type("a")
	require.Zero(t, s.exit())
	require.Equal(t, `{"it":true}`, strings.TrimSpace(p.result(1)))
	require.Equal(t, 1, strings.Count(s.Raw(), "Which?"))
	require.Len(t, p.calls(), 4)
}

// A crash between a question and its answer loses neither: the question is asked
// again, and the tool does not run again before it is answered.
func TestACrashAtTheQuestionOfACommand(t *testing.T) {
	t.Parallel()
	p := ownPlace(t, asksFirst)
	p.question(`"Boolean"`, "")
	s := p.sit(100, "query", "-y", "-m", "script/../one.toml", "Go")
	s.prompted()
	require.NoError(t, s.cmd.Process.Kill())
	require.Error(t, s.cmd.Wait())
	require.Len(t, p.calls(), 1)
	require.Contains(t, p.jp("ls").stdout, "waiting-for-input (own)")

	s = p.sit(100, "continue")
	s.prompted()
	require.Contains(t, s.Text(), "own a.txt asks: Which?")
	require.Len(t, p.calls(), 1, "the tool has not run again")
	s.Type("y")
	require.Zero(t, s.exit())
	require.Equal(t, `{"it":true}`, strings.TrimSpace(p.result(0)))
	require.Len(t, p.calls(), 2)
	require.Contains(t, p.calls()[1], `"attempt":2`)
}

// The arguments of a call as the user edited them are on record before it runs: a resume runs the
// same.
func TestEditedArgumentsSurviveACrash(t *testing.T) {
	t.Parallel()
	const kills = "#!/bin/sh\nread -r call\necho \"$call\" >>calls\n[ -e killed ] || { touch killed; kill -9 $PPID; }\necho done\n"
	p := ownPlace(t, kills)
	p.edits(`{"path":"c.txt"}`)
	p.write("../home/.config/jp/config.toml", "sandbox.enable = false\n"+strings.Replace(ownConfig, "command", "idempotent = true\ncommand", 1))
	s := p.sit(100, "query", "-m", "script/../one.toml", "Go")
	s.prompted()
	s.Type("e")
	require.Error(t, s.cmd.Wait(), "the tool has killed jp")
	p.toolsEnded()
	out := p.jp("continue")
	require.Zero(t, out.exit, out.stderr)
	calls := p.calls()
	require.Len(t, calls, 2, "a run that can be repeated is")
	require.Contains(t, calls[0], `"arguments":{"path":"c.txt"}`)
	require.Contains(t, calls[1], `"arguments":{"path":"c.txt"}`)
	require.Len(t, p.ofType("inquiry_request"), 1, "nobody is asked again")
	require.Equal(t, "done\n", p.result(0))
}
