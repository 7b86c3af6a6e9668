package export

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"jp/agent/repo"
	"jp/conversation"
	"jp/internal/testing/redacttest"
	"jp/redact"
)

const id = conversation.ID("jp-c17528832001-k3f9")

var began = time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)

// sourceOf is a conversation of bodies, with the text of each in all the places that one has.
func sourceOf(bodies ...conversation.Body) *Source {
	var events []*conversation.Event
	turn := 0
	for i, b := range bodies {
		if b.Type() == conversation.TypeTurnStart {
			turn++
		}
		events = append(events, &conversation.Event{Seq: i, Turn: turn, Time: began.Add(time.Duration(i) * time.Second), Body: b, Author: "Ada", Model: "a/b", Version: conversation.Version})
	}
	return New(&repo.View{ID: id, Events: events}, events, repo.NewOutgoing([]byte("key")))
}

// everywhere is a conversation that has the text in each kind of event.
func everywhere(text string) []conversation.Body {
	arguments, _ := json.Marshal(map[string]string{"content": text})
	answer, _ := json.Marshal(text)
	return []conversation.Body{
		&conversation.Metadata{Title: &text, Labels: map[string]string{"note": text}},
		&conversation.TurnStart{Model: "a/b", Environment: text},
		&conversation.Prompt{System: text},
		&conversation.Instructions{Content: text},
		&conversation.ChatRequest{Content: text, Author: "Ada"},
		&conversation.ChatResponse{Call: 1, Part: conversation.PartReasoning, Text: text},
		&conversation.ChatResponse{Call: 1, Part: conversation.PartMessage, Text: text},
		&conversation.ToolCallRequest{Call: 1, ID: "c", Name: "fs_write", Arguments: arguments, CallEnd: conversation.CallEnd{Finish: conversation.FinishToolCalls, Usage: &conversation.Usage{Input: 7, Output: 3, CostUSD: "0.02"}}},
		&conversation.InquiryRequest{For: 7, Kind: conversation.KindRunTool, Question: conversation.Question{Text: text, AnswerType: conversation.AnswerType{Type: "select", Options: []conversation.Option{{Value: answer, Description: text}}}}},
		&conversation.InquiryResponse{For: 8, Outcome: conversation.OutcomeAnswered, Answer: answer, By: conversation.ByUser, Reason: text, Arguments: arguments},
		&conversation.ToolStarted{For: 7, Attempt: 1, Child: "jp-c17528832001-aaaa"},
		&conversation.ToolCallResponse{For: 7, ID: "c", Name: "fs_write", Content: text, IsError: true, DurationMS: 12},
		&conversation.Workspace{Paths: []conversation.PathStat{{Path: text, Status: "M"}}},
		&conversation.Note{Content: text},
		&conversation.TurnStopped{By: conversation.ByUser, Reason: text},
		&conversation.ForkOrigin{Conversation: "jp-c17528832001-bbbb", Seq: 4},
		&conversation.TurnDiscarded{FromSeq: 1, ToSeq: 4, By: conversation.ByUser},
		&conversation.Compaction{Kind: conversation.CompactSummary, FromSeq: 1, ToSeq: 4, Content: text, Focus: text},
	}
}

func writeTo(w io.Writer) func(*Document, error) error {
	return func(d *Document, err error) error {
		if err != nil {
			return err
		}
		defer d.Close()
		return d.Write(w)
	}
}

// written is a conversation in each format.
func written(t *testing.T, bodies func() []conversation.Body) map[string]string {
	t.Helper()
	plain := Options{Markdown: func(text string) string {
		return "<p>" + html.EscapeString(text) + "</p>"
	}}
	formats := map[string]string{}
	for name, write := range map[string]func(s *Source, out *strings.Builder) error{
		"html": func(s *Source, out *strings.Builder) error { return writeTo(out)(s.Page(t.Context(), plain)) },
		"md":   func(s *Source, out *strings.Builder) error { return writeTo(out)(s.Markdown(t.Context())) },
		"json": func(s *Source, out *strings.Builder) error {
			for _, e := range s.Events {
				line, err := conversation.EncodeExchange(e)
				if err != nil {
					return err
				}
				out.Write(line)
			}
			out.WriteString(s.Secrets())
			return nil
		},
		"claude": func(s *Source, out *strings.Builder) error {
			err := s.native(claude{}, "/", false).Write(out)
			out.WriteString(s.Secrets())
			return err
		},
		"codex": func(s *Source, out *strings.Builder) error {
			err := s.native(codex{}, "/", false).Write(out)
			out.WriteString(s.Secrets())
			return err
		},
	} {
		var out strings.Builder
		require.NoError(t, write(sourceOf(bodies()...), &out), name)
		formats[name] = out.String()
	}
	return formats
}

func TestNoSecretLeaves(t *testing.T) {
	p := redacttest.Planter{Random: rand.New(rand.NewPCG(1, 2))}
	var texts, marks []string
	for scanner := new(redact.Scanner); len(texts) < 200; p.Marks = nil {
		if text := p.Text(); len(scanner.Scan(text)) > 0 { // a password without digits is a word
			texts, marks = append(texts, text), append(marks, p.Marks...)
		}
	}
	bodies := func() []conversation.Body {
		var all []conversation.Body
		for i, text := range texts {
			here := everywhere(text)
			all = append(all, here[i%len(here)], &conversation.TurnStart{}, here[4], here[11])
		}
		return all
	}
	for name, text := range written(t, bodies) {
		for _, mark := range marks {
			if at := strings.Index(text, mark); at >= 0 {
				t.Fatalf("%s: …%s", name, text[max(0, at-300):at+len(mark)])
			}
		}
		require.True(t, regexp.MustCompile(`\d+ secrets replaced: .*jwt`).MatchString(strings.ReplaceAll(text, `\`, "")), name)
	}
}

// hostile is text that would be more than text if a format let it.
const hostile = "</title></style></script></textarea></pre><script>owned()</script><img src=x onerror=owned()>\n" +
	"```\n</details><svg onload=owned()>\n~~~\n````\n<iframe srcdoc='<script>owned()</script>'></iframe>\n\n# A heading\n\n" +
	"\" onmouseover=\"owned() ' {{.}} &lt;script&gt; <!-- --> ]]> \x00 \u202e \x1b[31m"

func TestHostileTextStaysText(t *testing.T) {
	bodies := func() []conversation.Body { return everywhere(hostile) }
	formats := written(t, bodies)

	root, err := html.Parse(strings.NewReader(formats["html"]))
	require.NoError(t, err)
	events, boxes := 0, 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		require.NotContains(t, []string{"script", "iframe", "svg", "img", "object", "embed", "base", "form", "link"}, n.Data)
		if n.Data == "article" {
			boxes++
		}
		for _, a := range n.Attr {
			if a.Key == "id" && a.Val[0] == 'e' {
				events++
			}
			require.False(t, strings.HasPrefix(a.Key, "on"), a.Key)
			if a.Key == "href" {
				require.Regexp(t, `^#[et]\d+$`, a.Val)
			}
		}
	}
	require.Len(t, bodies(), events)
	require.Equal(t, events-4, boxes, "a call has one box, with its question, answer, start and result")
	require.NotContains(t, formats["html"], "\x00")
	require.NotContains(t, formats["html"], "\u202e")

	fence := "" // in Markdown, HTML outside of code is jp's own
	for line := range strings.Lines(formats["md"]) {
		line = strings.TrimRight(line, "\n")
		switch {
		case fence != "" && strings.HasPrefix(line, fence) && strings.Trim(line, "`") == "":
			fence = ""
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = strings.TrimRight(line, "abcdefghijklmnopqrstuvwxyz")
		case fence == "":
			bare := strings.NewReplacer(`\<`, "", "<details><summary>", "", "</summary>", "", "</details>", "").Replace(line)
			if !strings.HasPrefix(line, "<a id=") {
				require.NotRegexp(t, `<[a-zA-Z/!?]`, bare)
			}
		}
	}
	require.Empty(t, fence)
}

func TestMarkdownKeepsCodeBetweenFences(t *testing.T) {
	for text, want := range map[string]string{
		"a <b>":                            "a &lt;b>",
		"```html\n<b>\n```\n<i>":           "```html\n<b>\n```\n&lt;i>",
		"~~~\n<b>\n```\n<b>\n~~~\n<i>":     "~~~\n<b>\n```\n<b>\n~~~\n&lt;i>",
		"  ```\n<b>\n```\n<i>":             "  ```\n&lt;b>\n```\n<i>\n```",
		"``` a`b\n<b>":                     "``` a`b\n&lt;b>",
		"````\n```\n<b>\n   ````  \n<i>":   "````\n```\n<b>\n   ````  \n&lt;i>",
		"````\n<b>\n    ````\n<b>":         "````\n<b>\n    ````\n<b>\n````",
		"- a\n  ```\n<b>\n```\n<i>\n```\n": "- a\n  ```\n&lt;b>\n```\n<i>\n```\n",
	} {
		require.Equal(t, want, withoutHTML(text), "%q", text)
	}
}

func TestPageSaysWhoAnswered(t *testing.T) {
	text := written(t, func() []conversation.Body { return everywhere("words") })["html"]
	for _, want := range []string{
		`<span class="by" title="user words">Ada edited it</span>`, "7 tokens in, 3 out, $0.02", `<summary>Reasoning</summary><pre>words</pre>`,
		`<p class="note">source: jp-c17528832001-bbbb@4</p>`, "in conversation jp-c17528832001-aaaa", `<h2>Turn 1 (discarded)`,
		`<div><dt>Secrets</dt><dd>none found</dd></div>`, "style-src &#39;sha256-",
	} {
		require.Contains(t, text, want)
	}
	require.Equal(t, 1, strings.Count(text, fmt.Sprintf("<style>%s</style>", styles)))
}

// Each box has the number of its event, which links to the box.
func TestPageNumbersEvents(t *testing.T) {
	text := written(t, func() []conversation.Body { return everywhere("words") })["html"]
	boxes := regexp.MustCompile(`(?s)<article class="[^"]*" id="e(\d+)">.*?</article>`).FindAllStringSubmatch(text, -1)
	require.Greater(t, len(boxes), 8)
	for _, box := range boxes {
		require.Equal(t, 1, strings.Count(box[0], `<a href="#e`), box[0])
		require.Contains(t, box[0], `<a href="#e`+box[1]+`">@`+box[1]+`</a>`)
	}
}

// A call that the user denied is one box, with its result: who denied it is in the corner, before the number.
func TestPageOfADeniedCall(t *testing.T) {
	var out strings.Builder
	require.NoError(t, writeTo(&out)(sourceOf(
		&conversation.TurnStart{}, &conversation.ToolCallRequest{Call: 1, ID: "c", Name: "fs_delete_file", Arguments: []byte(`{"path":"a"}`)}, &conversation.InquiryRequest{For: 1, Kind: conversation.KindRunTool},
		&conversation.InquiryResponse{For: 2, Outcome: conversation.OutcomeAnswered, Answer: []byte(`"skip"`), By: conversation.ByUser, Reason: "keep it"},
		&conversation.ToolCallResponse{For: 1, ID: "c", Name: "fs_delete_file", Content: "It did not run.", IsError: true},
	).Page(t.Context(), Options{})))
	require.Equal(t, 2, strings.Count(out.String(), "<article"), "of the turn and the call")
	require.Regexp(t, `(?s)<article class="tool failed" id="e1">.*<span class="at"><span class="by" title="user skip">Ada said no: keep it</span> <time [^>]*>[\d:]+</time> <a href="#e1">@1</a></span>.*<div id="e4">.*It did not run\..*</article>`, out.String())
}

func TestPageOpensTheErrorOfACall(t *testing.T) {
	call := entry{Seq: 1, Kind: "tool", Folds: []fold{{labelArguments, "{}"}}, Notes: []string{"7 tokens in, 3 out"}}
	for failed, open := range map[bool]string{true: ` open=""`, false: ""} {
		call.Failed = failed
		var b strings.Builder
		require.NoError(t, html.Render(&b, (&page{}).article(call, []entry{{Seq: 2, Failed: failed, Folds: []fold{{"Error: 1 line", "boom"}}, Notes: []string{"2 s"}}})))
		require.Regexp(t, `(?s)<details><summary>Arguments.*<details`+open+`><summary>Error: 1 line.*boom.*>2 s<.*>7 tokens in, 3 out</p></article>$`, b.String())
		require.Equal(t, 1, strings.Count(b.String(), "7 tokens"))
	}
}

func TestPageSaysWhoAsked(t *testing.T) {
	for _, c := range []struct{ recorded, commit, want string }{
		{"Ada", "Bob", "Ada"}, {"", "Bob", "Bob"}, {"", "jp", "user"}, {"", "", "user"},
	} {
		e := &conversation.Event{Body: &conversation.ChatRequest{Content: "hello", Author: c.recorded}, Author: c.commit}
		require.Equal(t, c.want, sourceOf().entry(e, &known{}).Who, "%+v", c)
	}
}

func TestDiff(t *testing.T) {
	patch := "diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n same\n--- was\n+++ is\n+two\n"
	require.Equal(t, []piece{
		{"file", "diff --git a/a b/a\n--- a/a\n+++ b/a\n"}, {"hunk", "@@ -1,2 +1,2 @@\n"}, {"same", " same\n"}, {"del", "--- was\n"}, {"add", "+++ is\n+two\n"},
	}, pieces(patch))
}

// Each way to allow or deny a call has its words in the corner of the call, and the words of the record
// beside them.
func TestAllowed(t *testing.T) {
	answer := func(choice string, by conversation.Cause) conversation.InquiryResponse {
		return conversation.InquiryResponse{Outcome: conversation.OutcomeAnswered, Answer: []byte(`"` + choice + `"`), By: by}
	}
	because := func(b conversation.InquiryResponse, reason string) conversation.InquiryResponse {
		b.Reason = reason
		return b
	}
	edited := answer(conversation.AnswerEdit, conversation.ByUser)
	edited.Arguments = []byte("{}")
	for _, c := range []struct {
		b           conversation.InquiryResponse
		words, wire string
	}{
		{answer("run", "user"), "Ada said yes", "user run"},
		{answer("run_turn", "user"), "Ada said yes", "user run_turn"},
		{answer("run_network", "user"), "Ada allowed it, with network", "user run_network"},
		{edited, "Ada edited it", "user edit"},
		{answer("skip", "user"), "Ada said no", "user skip"},
		{because(answer("skip", "user"), "not <now>"), "Ada said no: not <now>", "user skip"},
		{because(answer("run", "config"), "allow rule: go test"), "always allowed", "config run"},
		{because(answer("run", "config"), "allow rule: mode auto"), "mode auto", "config run"},
		{because(answer("run", "config"), "allow rule: profile edits"), "mode edits", "config run"},
		{because(answer("run", "config"), "a reader"), "a reader", "config run"},
		{answer("run", "policy"), "allowed by policy", "policy run"},
		{answer("skip", "policy"), "not allowed", "policy skip"},
		{conversation.InquiryResponse{Outcome: conversation.OutcomeDeclined, By: "user"}, "not answered", "user declined"},
	} {
		words, wire := allowed(&conversation.Event{Author: "Ada"}, &c.b)
		require.Equal(t, []string{c.words, c.wire}, []string{words, wire})
		c.b.For = 2
		s := sourceOf(&conversation.TurnStart{}, &conversation.ToolCallRequest{Name: "a"}, &conversation.InquiryRequest{For: 1, Kind: conversation.KindRunTool}, &c.b)
		var out strings.Builder
		require.NoError(t, writeTo(&out)(s.Page(t.Context(), Options{})))
		require.Contains(t, out.String(), `<span class="by" title="`+wire+`">`+html.EscapeString(words)+`</span>`)
	}
}
