package export

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/agent/repo"
	"jp/blame"
	"jp/conversation"
	"jp/internal/lazy"
	"jp/tool"
	"jp/usage"
)

// A PullRequest tells where commits come from, without secrets.
type PullRequest struct {
	blame.Commits
	Talks []*Talk          `json:"talks"` // in the order of Conversations, without unreadable ones
	Left  map[string]error `json:"-"`     // what could not be read whole
}

// A Talk is a conversation that commits come from. Its requests and decisions are those of the turns that
// wrote lines of the commits.
type Talk struct {
	ID        string            `json:"id"`
	Title     string            `json:"title"`
	Requests  []Request         `json:"requests"`
	Decisions []*blame.Decision `json:"decisions"`
	Tests     []Test            `json:"tests"` // from the first of these turns on
	Usage     usage.Sum         `json:"usage"` // of the whole conversation
}

// A Request is a question of the user's.
type Request struct {
	Seq    int       `json:"seq"`
	Time   time.Time `json:"time"`
	Author string    `json:"author"`
	Text   string    `json:"text"`
}

// A Test is a command that looks like tests.
type Test struct {
	Seq     int    `json:"seq"` // of the result of its last run
	Command string `json:"command"`
	Outcome string `json:"outcome"` // of the last run
	Runs    int    `json:"runs"`
}

// NewPullRequest reads the conversations that commits come from.
func NewPullRequest(ctx context.Context, r *repo.Repo, of *blame.Commits) (*PullRequest, error) {
	p := &PullRequest{Commits: *of, Talks: []*Talk{}, Left: map[string]error{}}
	outgoing := []*repo.Outgoing{repo.NewOutgoing(nil)}
	counted := map[string]bool{} // calls that forks share
	for _, share := range of.Conversations {
		s, err := Load(ctx, r, share.Conversation, func(conversation.Payload) bool { return false })
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			outgoing = append(outgoing, s.outgoing)
			p.Talks = append(p.Talks, s.talk(share, counted))
			err = s.View.Damage(nil)
		}
		if err != nil {
			p.Left[share.Conversation] = err
		}
	}
	for _, o := range slices.Concat(outgoing, outgoing) { // what the last one finds may be in the first talk
		for _, text := range p.texts() {
			*text = o.Text(*text)
		}
	}
	return p, nil
}

// texts are all that people, models and repositories wrote.
func (p *PullRequest) texts() (all []*string) {
	for _, c := range p.Commits.Commits {
		all = append(all, &c.Subject)
	}
	for _, t := range p.Talks {
		all = append(all, &t.Title)
		for i := range t.Requests {
			all = append(all, &t.Requests[i].Text, &t.Requests[i].Author)
		}
		for _, d := range t.Decisions {
			all = append(all, &d.Tool, &d.Argument, &d.Rule, &d.Text)
		}
		for i := range t.Tests {
			all = append(all, &t.Tests[i].Command, &t.Tests[i].Outcome)
		}
	}
	return all
}

func (s *Source) talk(share blame.Share, counted map[string]bool) *Talk {
	t := &Talk{ID: share.Conversation, Title: s.Title(), Requests: []Request{}, Decisions: []*blame.Decision{}, Tests: []Test{}}
	wrote, began := map[int]bool{}, -1
	for _, e := range s.Events {
		if slices.Contains(share.Events, e.Seq) {
			wrote[e.Turn] = true
			if began < 0 {
				began = e.Turn
			}
		}
	}
	calls := map[int]*conversation.ToolCall{}
	for _, e := range s.Events {
		switch b := e.Body.(type) {
		case *conversation.ChatRequest:
			if wrote[e.Turn] {
				t.Requests = append(t.Requests, Request{e.Seq, e.Time, e.Author, b.Content})
			}
		case *conversation.ToolCallRequest:
			calls[e.Seq] = &conversation.ToolCall{Event: e, Request: b}
		case *conversation.ToolCallResponse:
			if call := calls[b.For]; call != nil && e.Turn >= began {
				t.test(e, b, call)
			}
		}
	}
	for _, d := range blame.Decisions(share.Conversation, s.Events, blame.PermitsOf(s.View.Repo, s.Events)) {
		if wrote[d.Turn] {
			t.Decisions = append(t.Decisions, d)
		}
	}
	uses := slices.DeleteFunc(usage.Calls(s.View.ID, s.Events), func(c usage.Call) bool {
		was := counted[c.Commit]
		counted[c.Commit] = true
		return was
	})
	_, t.Usage = usage.Group(uses, "conversation", time.UTC)
	t.Usage.Key = share.Conversation
	return t
}

var runsTests = lazy.Regexp(`(?i)(^|[\s/;&|(])((go|cargo|npm|yarn|pnpm|bun|deno|dotnet|mvn|mvnw|gradle|gradlew|make|just|mix|swift|zig|bazel|rake|rails|sbt|flutter|playwright)( [^;&|]*)?[ :-](tests?|check)|pytest|py\.test|jest|vitest|mocha|ctest|tox|nox|rspec|phpunit|unittest|prove|run-?tests?(\.\w+)?|tests?\.(sh|py))($|[\s:;&|)])`)

// test notes a call that ran tests.
func (t *Talk) test(e *conversation.Event, b *conversation.ToolCallResponse, call *conversation.ToolCall) {
	command := blame.Command(call.Request.Arguments)
	if e.Closed() != "" || strings.Contains(e.Subject, ": declined by ") || !runsTests().MatchString(command) {
		return
	}
	outcome := "done"
	if b.IsError {
		outcome = "failed"
	}
	if exit, _, _ := strings.Cut(tool.EffectIn(e.Subject, strings.TrimPrefix(call.Event.Subject, "call ")), ", "); exit != "" {
		outcome = exit
	}
	i := slices.IndexFunc(t.Tests, func(other Test) bool { return other.Command == command })
	if i < 0 {
		i, t.Tests = len(t.Tests), append(t.Tests, Test{Command: command})
	}
	t.Tests[i].Seq, t.Tests[i].Outcome, t.Tests[i].Runs = e.Seq, outcome, t.Tests[i].Runs+1
}

// Limits of what a pull request names. Forges take some 64,000 characters.
const (
	mostAsked  = 2000 // bytes of a question
	mostNamed  = 4    // calls of one decider
	mostTitled = 200  // bytes of a text on a line
)

// Markdown is the pull request for a forge. Each text that somebody wrote is code in it, so that it makes
// no structure, mention, reference or quick action.
func (p *PullRequest) Markdown() []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "## Where these commits come from\n\n| commit | subject | new lines | from |\n|---|---|--:|---|\n")
	for _, c := range p.Commits.Commits {
		fmt.Fprintf(&out, "| %.10s | %s | %d | %s |\n", c.Commit, strings.ReplaceAll(code(c.Subject), "|", "¦"), c.Lines, origin(c.Conversations, c.Unknown, c.Lines))
	}
	fmt.Fprintf(&out, "| all | | %d | %s |\n", p.Lines, origin(p.Conversations, p.Unknown, p.Lines))
	for _, t := range p.Talks {
		t.markdown(&out)
	}
	return out.Bytes()
}

// origin says which conversations have which part of lines.
func origin(of []blame.Share, unknown, lines int) string {
	var parts []string
	for _, s := range of {
		parts = append(parts, "`"+blame.Short(s.Conversation)+"` "+blame.Percent(s.Lines, lines))
	}
	if unknown > 0 {
		parts = append(parts, "no conversation "+blame.Percent(unknown, lines))
	}
	return or(strings.Join(parts, ", "), "-")
}

func (t *Talk) markdown(out *bytes.Buffer) {
	at := func(seq int) string { return fmt.Sprintf("`%s@%d`", blame.Short(t.ID), seq) }
	fmt.Fprintf(out, "\n### `%s`\n\nTitle: %s\n", t.ID, code(t.Title))
	for _, r := range t.Requests {
		fmt.Fprintf(out, "\n%s %s asked on %s:\n\n%s", at(r.Seq), code(r.Author), r.Time.UTC().Format("2006-01-02 15:04 UTC"), fenced("text", cut(shown(r.Text), mostAsked)))
	}
	var kinds []string // in the order of their first decision
	named := map[string][]*blame.Decision{}
	for _, d := range t.Decisions {
		kind := decided(d)
		if named[kind] == nil {
			kinds = append(kinds, kind)
		}
		named[kind] = append(named[kind], d)
	}
	if len(kinds) > 0 {
		out.WriteString("\nWho allowed what:\n\n")
	}
	for _, kind := range kinds {
		var calls []string
		for _, d := range named[kind][:min(mostNamed, len(named[kind]))] {
			calls = append(calls, code(d.Tool+" "+d.Argument)+" "+at(d.Seq))
		}
		if more := len(named[kind]) - len(calls); more > 0 {
			calls = append(calls, fmt.Sprintf("and %d more", more))
		}
		fmt.Fprintf(out, "- %s: %s\n", kind, strings.Join(calls, ", "))
	}
	if len(t.Tests) > 0 {
		out.WriteString("\nTests:\n\n")
	}
	for _, test := range t.Tests {
		fmt.Fprintf(out, "- %s: %s %s", code(test.Command), code(test.Outcome), at(test.Seq))
		if test.Runs > 1 {
			fmt.Fprintf(out, ", the last of %d runs", test.Runs)
		}
		out.WriteString("\n")
	}
	cost := "unknown"
	if t.Usage.CostUSD != "" {
		cost = conversation.Dollars(t.Usage.CostUSD)
	}
	fmt.Fprintf(out, "\nCost: %s, %s, %d tokens in (%d %% from the cache), %d out.\n", cost, conversation.Count(t.Usage.Calls, "model call"), t.Usage.Input, t.Usage.Cached(), t.Usage.Output)
}

// decided says how calls were decided, and by whom. Only jp's own words are outside of code.
func decided(d *blame.Decision) string {
	switch d.Who {
	case "tool":
		return "not asked, the tool runs unattended"
	case "rule", "mode":
		return d.Outcome + " by the " + d.Who + " " + code(d.Rule)
	case "record", "hook":
		return d.Outcome + " " + code(d.Text)
	}
	return d.Outcome + " by the " + d.Who + ", " + code(d.Text)
}

// code is a line as code in Markdown, which no sign in it ends.
func code(line string) string {
	line = oneLine(shown(line))
	if len(line) > mostTitled {
		line = strings.ToValidUTF8(line[:mostTitled], "") + "…"
	}
	fence := "`"
	for strings.Contains(line, fence) {
		fence += "`"
	}
	if strings.HasPrefix(line, "`") || strings.HasSuffix(line, "`") || line == "" {
		line = " " + line + " "
	}
	return fence + line + fence
}
