package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"jp/agent"
	"jp/agent/live"
	"jp/agent/repo"
	"jp/agent/resume"
	"jp/conversation"
	"jp/tool"
	"jp/tool/work"
	"jp/turnloop"
)

// updates tell a client what happens in a conversation: live, and again from the record.
type updates struct {
	session *session
	repo    *repo.Repo

	mu    sync.Mutex
	sent  map[string]string           // text that was sent of a message, by its id
	held  map[string]string           // the beginning of a character at its end, which is held back
	tries map[int]int                 // how often an event's text began to stream, by seq
	calls map[int]*conversation.Event // tool calls, by seq
	over  map[int]bool                // those that have ended

	delegated map[int]*delegated // those that work in conversations of their own
	quiet     bool               // suppresses all messages
}

// newUpdates knows the calls that the runs before left open.
func newUpdates(s *session, r *repo.Repo) *updates {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := &updates{
		session: s, repo: r, sent: map[string]string{}, held: map[string]string{}, tries: map[int]int{}, calls: map[int]*conversation.Event{}, over: map[int]bool{},
		delegated: map[int]*delegated{},
	}
	if s.open != nil {
		maps.Copy(u.calls, s.open.calls)
		maps.Copy(u.delegated, s.open.delegated)
	}
	return u
}

// keep leaves the open calls to the next run. It waits for an update that is being sent.
func (u *updates) keep() {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.calls, func(seq int, _ *conversation.Event) bool { return u.over[seq] })
	maps.DeleteFunc(u.delegated, func(seq int, _ *delegated) bool { return u.over[seq] })
	u.session.mu.Lock()
	defer u.session.mu.Unlock()
	u.session.open = &openCalls{maps.Clone(u.calls), maps.Clone(u.delegated)}
}

// openCalls are the calls that have not ended, by seq.
type openCalls struct {
	calls     map[int]*conversation.Event
	delegated map[int]*delegated
}

// update tells the client something.
func (u *updates) update(said any) {
	if !u.quiet {
		u.session.update(said)
	}
}

// messageID names the message that an event is, or will be. A text that streams again, since
// the model was asked again, is another message.
func (u *updates) messageID(seq int) string {
	if n := u.tries[seq]; n > 1 {
		return fmt.Sprintf("%d.%d", seq, n)
	}
	return fmt.Sprint(seq)
}

func callID(seq int) string { return fmt.Sprintf("call-%d", seq) }

var chunkKinds = map[conversation.Part]string{conversation.PartMessage: "agent_message_chunk", conversation.PartReasoning: "agent_thought_chunk"}

// streamed sends text that the model writes.
func (u *updates) streamed(d turnloop.Delta) {
	kind := chunkKinds[d.Part]
	if kind == "" {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if d.At == 0 {
		u.tries[d.Seq]++
	}
	id := u.messageID(d.Seq)
	text := u.held[id] + d.Text
	whole := len(text) - cutOff(text)
	u.held[id] = text[whole:]
	if text = text[:whole]; text == "" {
		return
	}
	u.sent[id] += text
	u.update(chunk{Kind: kind, Content: contentBlock{Type: "text", Text: text}, MessageID: id})
}

// cutOff is how many bytes at the end of a text are the beginning of a character.
func cutOff(text string) int {
	for n := 1; n <= min(len(text), utf8.UTFMax-1); n++ {
		if b := text[len(text)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRuneInString(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// recorded sends the content of events, except for text that has streamed already.
func (u *updates) recorded(events []*conversation.Event, live bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range events {
		u.event(e, live)
	}
}

func (u *updates) event(e *conversation.Event, live bool) {
	switch b := e.Body.(type) {
	case *conversation.ChatRequest:
		if !live || b.Interrupt {
			u.update(chunk{Kind: "user_message_chunk", Content: contentBlock{Type: "text", Text: b.Content}, MessageID: fmt.Sprint(e.Seq)})
			for _, picture := range u.pictures(e, b.Attachments) {
				u.update(chunk{Kind: "user_message_chunk", Content: picture, MessageID: fmt.Sprint(e.Seq)})
			}
		}
	case *conversation.ChatResponse:
		u.said(e, b)
	case *conversation.ToolCallRequest:
		u.calls[e.Seq] = e
		call := u.call(e, b.Arguments)
		call.Kind, call.Status = "tool_call", "pending"
		u.update(call)
	case *conversation.ToolStarted:
		if b.Child != "" {
			d := &delegated{child: b.Child}
			u.delegated[b.For] = d
			u.delegating(b.For, d, "")
			return
		}
		u.update(toolCall{Kind: "tool_call_update", ToolCallID: callID(b.For), Status: "in_progress"})
	case *conversation.ToolCallResponse:
		u.result(e, b)
	case *conversation.Metadata:
		if b.Title != nil && *b.Title != "" {
			u.update(infoUpdate{Kind: "session_info_update", Title: *b.Title})
		}
	case *conversation.Compaction:
		u.compacted(e, b)
	}
}

// said sends the rest of the model's text.
func (u *updates) said(e *conversation.Event, b *conversation.ChatResponse) {
	kind := chunkKinds[b.Part]
	if kind == "" {
		return
	}
	id := u.messageID(e.Seq)
	rest, begins := strings.CutPrefix(b.Text, u.sent[id])
	if !begins || rest == "" {
		return
	}
	c := chunk{Kind: kind, Content: contentBlock{Type: "text", Text: rest}, MessageID: id}
	if b.Partial {
		c.Meta = brokenOff
	}
	u.update(c)
}

// noticed marks jp's own messages: they are outside of the conversation.
var noticed = meta{"jp": map[string]bool{"notice": true}}

// brokenOff marks a text that its model did not finish.
var brokenOff = meta{"jp": map[string]bool{"brokenOff": true}}

// kinds are the kinds of tools for the client.
var kinds = map[string]string{
	"fs_read_file": "read", "fs_list_files": "search", "fs_grep_files": "search", "fs_create_file": "edit", "fs_modify_file": "edit",
	"fs_delete_file": "delete", "fs_move_file": "move", "shell_run": "execute", "git_commit": "execute", "web_fetch": "fetch",
	tool.Plan: "think", tool.EventRead: "read", "conversation_read": "read", "conversation_list": "search", "conversation_grep": "search",
}

// call describes a tool call.
func (u *updates) call(e *conversation.Event, arguments json.RawMessage) toolCall {
	b := e.Body.(*conversation.ToolCallRequest)
	c := toolCall{ToolCallID: callID(e.Seq), Title: tool.Line(b.Name, strings.TrimPrefix(e.Subject, "call "+b.Name)), Name: b.Name, ToolKind: kinds[b.Name]}
	if c.ToolKind == "" {
		c.ToolKind = "other"
	}
	if !b.Malformed {
		c.RawInput = arguments
	}
	c.Locations = u.locations(arguments)
	c.Content = u.proposed(b.Name, arguments)
	return c
}

type fileArguments struct {
	Path    string  `json:"path"`
	Source  string  `json:"source"`
	Target  string  `json:"target"`
	Line    int     `json:"start_line"`
	Content *string `json:"content"`
	Edits   []struct {
		Old   string `json:"old"`
		New   string `json:"new"`
		Count int    `json:"count"`
	} `json:"edits"`
}

// locations are the files that a call names.
func (u *updates) locations(arguments json.RawMessage) (all []location) {
	var a fileArguments
	if json.Unmarshal(arguments, &a) != nil {
		return nil
	}
	for _, name := range []string{a.Path, a.Source, a.Target} {
		if at := u.path(name); at != "" {
			all = append(all, location{Path: at, Line: a.Line})
		}
	}
	return all
}

// path is the absolute path of a file that a tool names, "" for one outside of the working tree.
func (u *updates) path(name string) string {
	if name == "" {
		return ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(u.repo.At.TopLevel, filepath.FromSlash(name))
	}
	if rel, err := filepath.Rel(u.repo.At.TopLevel, name); err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	return name
}

// proposed is how a call would change a file, as far as its arguments say.
func (u *updates) proposed(name string, arguments json.RawMessage) (all []toolCallContent) {
	var a fileArguments
	if json.Unmarshal(arguments, &a) != nil {
		return nil
	}
	at := u.path(a.Path)
	switch {
	case at == "":
	case name == "fs_create_file" && a.Content != nil:
		all = append(all, toolCallContent{Type: "diff", Path: at, NewText: a.Content})
	case name == "fs_modify_file":
		for _, e := range a.Edits {
			all = append(all, toolCallContent{Type: "diff", Path: at, OldText: &e.Old, NewText: &e.New})
		}
	}
	return all
}

// mostCompared is the greatest size of a file that a question compares with the result of a call.
const mostCompared = 1 << 20

// onDisk is the change of a call to the present file, as the terminal shows it, or else the known content.
func (u *updates) onDisk(name string, arguments json.RawMessage, known []toolCallContent) []toolCallContent {
	var a fileArguments
	root, err := os.OpenRoot(u.repo.At.TopLevel)
	if err != nil || json.Unmarshal(arguments, &a) != nil || u.path(a.Path) == "" {
		return known
	}
	defer root.Close()
	file := filepath.FromSlash(a.Path)
	if info, err := root.Stat(file); err != nil || !info.Mode().IsRegular() || info.Size() > mostCompared {
		return known
	}
	data, err := root.ReadFile(file)
	before, after := string(data), ""
	switch {
	case err != nil || !utf8.Valid(data):
		return known
	case name == "fs_delete_file":
	case name == "fs_create_file" && a.Content != nil:
		after = *a.Content
	case name == "fs_modify_file":
		after = before
		for _, e := range a.Edits {
			if e.Old == "" || strings.Count(after, e.Old) != max(e.Count, 1) {
				return known
			}
			after = strings.ReplaceAll(after, e.Old, e.New)
		}
	default:
		return known
	}
	return []toolCallContent{{Type: "diff", Path: u.path(a.Path), OldText: &before, NewText: &after}}
}

func (u *updates) result(e *conversation.Event, b *conversation.ToolCallResponse) {
	u.over[b.For] = true
	if u.quiet {
		return
	}
	c := toolCall{Kind: "tool_call_update", ToolCallID: callID(b.For), Status: "completed"}
	if b.IsError || b.Cancelled {
		c.Status = "failed"
	}
	if request := u.calls[b.For]; request != nil {
		object := strings.TrimPrefix(request.Subject, "call "+b.Name)
		if effect := tool.Shown(b.Name, tool.EffectIn(e.Subject, b.Name+object)); effect != "" {
			c.Title = tool.Line(b.Name, object) + " · " + effect
		}
	}
	for _, change := range agent.FileTexts(context.Background(), u.repo, b.Changed) {
		if at := u.path(change.Path); at != "" {
			if change.After == nil {
				change.After = new(string) // the protocol has no other form for a deleted file
			}
			c.Content = append(c.Content, toolCallContent{Type: "diff", Path: at, OldText: change.Before, NewText: change.After})
			c.Locations = append(c.Locations, location{Path: at})
		}
	}
	if b.Held {
		c.Content = append(c.Content, words("The result waits for an approval."))
	} else if text := strings.ToValidUTF8(b.Content, "\uFFFD"); strings.TrimSpace(text) != "" {
		c.Content = append(c.Content, words(text))
	}
	if !b.Held {
		for _, picture := range u.pictures(e, b.Attachments) {
			c.Content = append(c.Content, toolCallContent{Type: "content", Content: &picture})
		}
	}
	if d := u.delegated[b.For]; d != nil {
		c.Content, c.Meta = append(c.Content, words(d.words())), d.meta()
	}
	u.update(c)
	if b.Name == tool.Plan && !b.IsError {
		u.plan(b.For)
	}
}

// mostPicture is how many bytes of a picture are sent. A larger one is named in the text.
const mostPicture = 2 << 20

// pictures are those among the attachments of an event.
func (u *updates) pictures(e *conversation.Event, attached []conversation.Attachment) (all []contentBlock) {
	for _, a := range attached {
		p := e.Payload(a.Name)
		if u.quiet || p == nil || p.Absent || p.Bytes > mostPicture || !strings.HasPrefix(a.MediaType, "image/") {
			continue
		}
		if data, there, err := u.repo.Store.Payload(context.Background(), *p); err == nil && there {
			all = append(all, contentBlock{Type: "image", Data: base64.StdEncoding.EncodeToString(data), MimeType: a.MediaType})
		}
	}
	return all
}

// words are a text as content of a call.
func words(text string) toolCallContent {
	return toolCallContent{Type: "content", Content: &contentBlock{Type: "text", Text: text}}
}

// plan sends the plan that a call wrote down.
func (u *updates) plan(seq int) {
	e := u.calls[seq]
	if e == nil {
		return
	}
	steps, err := work.Steps(e.Body.(*conversation.ToolCallRequest).Arguments)
	if err != nil {
		return
	}
	p := planUpdate{Kind: "plan", Entries: []planEntry{}}
	for _, step := range steps {
		p.Entries = append(p.Entries, planEntry{Content: step.Text, Priority: "medium", Status: step.State})
	}
	u.update(p)
}

// compacted sends that room was made in the model's context, to a client that shows it.
func (u *updates) compacted(e *conversation.Event, b *conversation.Compaction) {
	if !u.session.server.can("session", "compaction") {
		return
	}
	c := compactionUpdate{Kind: "compaction_update", CompactionID: fmt.Sprintf("compaction-%d", e.Seq), Status: "completed"}
	if b.Content != "" {
		c.Summary = []contentBlock{{Type: "text", Text: b.Content}}
	}
	u.update(c)
}

// working sends the progress of a tool. It never holds up its caller.
func (u *updates) working(a turnloop.Activity) {
	text := farness(a)
	if text == "" || !u.mu.TryLock() {
		return
	}
	defer u.mu.Unlock()
	if u.calls[a.Seq] == nil || u.over[a.Seq] {
		return
	}
	u.update(toolCall{Kind: "tool_call_update", ToolCallID: callID(a.Seq), Status: "in_progress", Content: []toolCallContent{words(text)}})
}

// notes takes in the record of a conversation, and sends it unless quiet is set.
func (s *session) notes(r *repo.Repo, v *repo.View, quiet bool) {
	u := newUpdates(s, r)
	u.quiet = quiet
	u.recorded(v.Events, false)
	u.keep()
}

// replay sends all of a conversation: its events, and text that streamed when jp was ended.
func (s *session) replay(ctx context.Context, r *repo.Repo, v *repo.View) {
	s.notes(r, v, false)
	for _, d := range live.StreamedTexts(r.StateDir(), v.ID, v.Events) {
		if kind := chunkKinds[d.Part]; kind != "" {
			s.update(chunk{Kind: kind, Content: contentBlock{Type: "text", Text: d.Text}, MessageID: fmt.Sprint(d.Seq), Meta: brokenOff})
		}
	}
	_, tail := conversation.SplitTail(v.Events)
	if tail == nil || tail.Empty() {
		return
	}
	text := fmt.Sprintf("Turn %d was interrupted (%s). With your next message you choose to resume or to discard it.",
		tail.Number, resume.TailWords(r, v.ID, resume.StatusOf(ctx, r, v.ID, tail)))
	if s.server.can("session", "notices") {
		s.notice("warning", text)
		return
	}
	s.update(chunk{Kind: "agent_message_chunk", Content: contentBlock{Type: "text", Text: text}, MessageID: "interrupted", Meta: noticed})
}
