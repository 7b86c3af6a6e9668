package export

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"jp/blame"
	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
	"jp/worktree"
)

// An entry is one event as a reader sees it. All of it is safe to show.
type entry struct {
	Seq      int
	Kind     string // user, assistant, tool, question or record
	Who      string
	At       time.Time
	Line     string // the event in one line
	Text     string
	Markdown bool // Text is the model's Markdown
	Data     bool // Text is JSON
	Failed   bool
	Folds    []fold
	Patch    string
	Notes    []string
	Images   []image
	Links    []link // to other conversations

	Of      int    // the call that it belongs to, by its event; 0: none
	Said    bool   // the box of the call says all of it, but for its folds
	Allowed string // who let the call run, in words
	Wire    string // how the record says that
}

// A fold is a text that opens on demand.
type fold struct{ Label, Text string }

// labelArguments is the label of a call's arguments, which are JSON.
const labelArguments = "Arguments"

// An image is an attachment that the page shows.
type image struct {
	Name, MediaType string
	Data            []byte
}

// A link leads to an event of another conversation.
type link struct {
	Words string
	ID    conversation.ID
	Seq   int // -1: the conversation
}

// A turn is a reader's view of a turn.
type turn struct {
	Number    int
	Title     string
	Discarded bool
	Entries   []entry
}

// Limits of one entry.
const (
	maxText  = 256 << 10
	maxPatch = 64 << 10
)

// turns writes the entries of one turn after the other.
func (s *Source) turns(ctx context.Context, write func(d *Document, t turn) error) (d *Document, err error) {
	var patches *worktree.Worktree
	var last *conversation.Event // before
	return s.body(ctx, func(begun *Document) { d, last = begun, nil }, func(events []*conversation.Event) error {
		gone := map[int]bool{}
		for t := range conversation.Turns(events) {
			gone[t.Number] = t.Ledger().Discarded
		}
		var now turn
		k := known{map[int]string{}, map[int]*conversation.ToolCallRequest{}, map[int]*conversation.InquiryRequest{}, nil}
		for _, e := range events {
			if now.Entries == nil || e.Type() == conversation.TypeTurnStart || now.Number != e.Turn {
				if now.Entries != nil {
					if err := write(d, now); err != nil {
						return err
					}
				}
				now = turn{Number: e.Turn, Discarded: gone[e.Turn]}
			}
			entry := s.entry(e, &k)
			if last != nil && e.Tree != last.Tree {
				if patches == nil {
					if patches, err = s.View.Repo.Patches(ctx); err != nil {
						return err
					}
				}
				if entry.Patch, err = s.patch(ctx, patches, last.Tree, e.Tree); err != nil {
					entry.Notes = append(entry.Notes, "The difference of the files is missing here.")
				}
			}
			last = e
			if b, ok := e.Body.(*conversation.ChatRequest); ok && now.Title == "" {
				now.Title = shown(conversation.Shorten(oneLine(b.Content), conversation.TitleColumns))
			}
			now.Entries = append(now.Entries, entry)
		}
		if err := ctx.Err(); err != nil || now.Entries == nil {
			return err
		}
		return write(d, now)
	})
}

// patch is the difference between the files of two events, without secrets.
func (s *Source) patch(ctx context.Context, in *worktree.Worktree, before, after string) (string, error) {
	patch, err := in.Patch(ctx, before, after, nil, false)
	if err != nil {
		return "", err
	}
	text := strings.ToValidUTF8(string(patch), "\uFFFD")
	return cut(shown(s.beside.Patch(text)), maxPatch), nil
}

// A known has facts of earlier events, by their numbers.
type known struct {
	names    map[int]string // of tool calls and questions
	calls    map[int]*conversation.ToolCallRequest
	asked    map[int]*conversation.InquiryRequest
	approved conversation.Approval // of the turn
}

func (s *Source) entry(e *conversation.Event, k *known) entry {
	line, _ := conversation.SubjectOf(e)
	n := entry{Seq: e.Seq, Kind: "record", Who: "jp", At: e.Time, Line: shown(line)}
	switch b := e.Body.(type) {
	case *conversation.ChatRequest:
		n.Kind, n.Who, n.Line = "user", e.AskedBy(), ""
		n.Text = text(b.Content)
		n.attach(e, b.Attachments)
		if b.Replaces != nil {
			n.Notes = append(n.Notes, fmt.Sprintf("It stands for the request @%d.", *b.Replaces))
		}
	case *conversation.ChatResponse:
		n.Kind, n.Who, n.Line = "assistant", or(e.Model, e.Author, "model"), ""
		switch b.Part {
		case conversation.PartReasoning:
			n.Folds = append(n.Folds, fold{"Reasoning", text(b.Text)})
		case conversation.PartData:
			n.Text, n.Data = text(b.Text), true
		default:
			n.Text, n.Markdown = text(b.Text), len(b.Text) <= maxText
		}
		if b.Partial {
			n.Notes = append(n.Notes, "It was cut off.")
		}
		n.end(b.CallEnd)
	case *conversation.ToolCallRequest:
		n.Kind, n.Who = "tool", or(e.Model, "model")
		k.names[e.Seq], k.calls[e.Seq] = strings.TrimPrefix(n.Line, "call "), b
		n.Folds = append(n.Folds, fold{labelArguments, text(string(b.Arguments))})
		n.end(b.CallEnd)
	case *conversation.ToolCallResponse:
		n.Of = b.For
		n.result(e, b)
		n.attach(e, b.Attachments)
		n.Notes = append(n.Notes, usageWords(b.Usage)...)
	case *conversation.InquiryRequest:
		n.Kind = "question"
		n.Line, n.Text = "", text(b.Question.Text)
		n.Of, n.Said, k.asked[e.Seq] = b.For, b.Kind == conversation.KindRunTool, b
		n.Notes = append(n.Notes, "About: "+or(k.names[b.For], fmt.Sprintf("@%d", b.For)))
		for _, o := range b.Question.AnswerType.Options {
			n.Notes = append(n.Notes, shown(strings.TrimSpace("Option "+value(o.Value)+" "+o.Description)))
		}
		k.names[e.Seq] = shown(oneLine(b.Question.Text))
	case *conversation.InquiryResponse:
		n.answer(e, b)
		if q := k.asked[b.For]; q != nil {
			n.Of, n.Said = q.For, q.Kind == conversation.KindRunTool
			if n.Said || b.By == conversation.ByUser && q.Question.AnswerType.Type == "boolean" {
				n.Allowed, n.Wire = allowed(e, b)
			}
		}
	case *conversation.TurnStart:
		k.approved = b.Approved
	case *conversation.Resumed:
		k.approved, n.Line = b.Approved, tool.Resumed(n.Line)
	case *conversation.ToolStarted:
		n.Of, n.Said = b.For, true
		if c := k.calls[b.For]; c != nil && k.approved.Allows(c.Name) {
			n.Allowed, n.Wire = "approved in advance", "-y"
		}
		if b.Child != "" {
			n.Links = append(n.Links, link{"in conversation " + string(b.Child), b.Child, -1})
		}
	case *conversation.ForkOrigin:
		n.Links = append(n.Links, link{fmt.Sprintf("source: %s@%d", b.Conversation, b.Seq), b.Conversation, b.Seq})
	case *conversation.Restored:
		n.Line = b.Shown(n.Line)
	case *conversation.Compaction:
		n.Folds = append(n.Folds, fold{"Summary", text(b.Content)})
		n.Notes = append(n.Notes, usageWords(b.Usage)...)
	default:
		if words, ok := e.Text(); ok && words != "" {
			n.Folds = append(n.Folds, fold{"Text", text(words)})
		}
	}
	if e.Missing() > 0 {
		n.Notes = append(n.Notes, fmt.Sprintf("%d bytes of the text are missing here.", e.Missing()))
	}
	return n
}

func (n *entry) answer(e *conversation.Event, b *conversation.InquiryResponse) {
	n.Kind = "question"
	n.Who = map[conversation.Cause]string{
		conversation.ByUser: or(e.Author, "user"), conversation.ByModel: or(e.Model, "model"), conversation.ByPolicy: "policy", conversation.ByConfig: "configuration",
	}[b.By]
	n.Who = or(n.Who, string(b.By), "jp")
	n.Notes = append(n.Notes, fmt.Sprintf("Answered by: %s. Question: @%d.", or(string(b.By), "jp"), b.For))
	if b.Reason != "" {
		n.Notes = append(n.Notes, "Reason: "+shown(b.Reason))
	}
	if len(b.Arguments) > 0 {
		n.Folds = append(n.Folds, fold{"Edited", text(string(b.Arguments))})
	}
	n.Notes = append(n.Notes, usageWords(b.Usage)...)
}

func (n *entry) result(e *conversation.Event, b *conversation.ToolCallResponse) {
	n.Kind, n.Who, n.Failed = "tool", shown(b.Name), b.IsError && e.Closed() == ""
	content := text(b.Content)
	if content != "" {
		label := "Result: " + conversation.Lines(b.Content)
		if n.Failed {
			label = "Error: " + conversation.Lines(b.Content)
		}
		n.Folds = append(n.Folds, fold{label, content})
	}
	if b.DurationMS > 0 {
		n.Notes = append(n.Notes, conversation.Ago(time.Duration(b.DurationMS)*time.Millisecond))
	}
	if b.Held {
		n.Notes = append(n.Notes, "The result was held until its delivery was approved.")
	}
	if b.Truncated != nil {
		n.Notes = append(n.Notes, fmt.Sprintf("The whole result has %d bytes.", b.Truncated.Bytes))
	}
}

// allowed says who allowed or denied a call, in words and as the record has it.
func allowed(e *conversation.Event, b *conversation.InquiryResponse) (words, wire string) {
	how := value(b.Answer)
	if b.Outcome != conversation.OutcomeAnswered {
		how = string(b.Outcome)
	}
	return shown(blame.Permit(e, b)), shown(strings.TrimSpace(string(b.By) + " " + how))
}

// end notes the end of a model call, and its usage.
func (n *entry) end(end conversation.CallEnd) {
	if end.Finish != "" && end.Finish != conversation.FinishStop && end.Finish != conversation.FinishToolCalls {
		n.Notes = append(n.Notes, "The answer ended: "+string(end.Finish)+".")
	}
	n.Notes = append(n.Notes, usageWords(end.Usage)...)
}

// attach names a text's attachments, and shows images.
func (n *entry) attach(e *conversation.Event, list []conversation.Attachment) {
	for _, a := range list {
		p := e.Payload(a.Name)
		if p != nil && p.Data != nil && isImage(*p) {
			n.Images = append(n.Images, image{shown(a.Name), p.MediaType, p.Data})
			continue
		}
		words := "Attached: " + shown(a.Name)
		if p != nil {
			words += fmt.Sprintf(" (%s, %d bytes)", shown(a.MediaType), p.Bytes)
		}
		n.Notes = append(n.Notes, words)
	}
}

// isImage reports whether a payload is an image that a page can hold.
func isImage(p conversation.Payload) bool {
	const most = 4 << 20
	return p.Bytes <= most && slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, p.MediaType)
}

func usageWords(u *conversation.Usage) []string {
	if u == nil {
		return nil
	}
	words := fmt.Sprintf("%d tokens in, %d out", u.Input, u.Output)
	if u.CacheRead > 0 {
		words += fmt.Sprintf(", %d from the cache", u.CacheRead)
	}
	if u.CostUSD != "" {
		words += ", $" + shown(u.CostUSD)
	}
	return []string{words}
}

func value(raw json.RawMessage) string {
	var word string
	if json.Unmarshal(raw, &word) == nil {
		return word
	}
	return string(raw)
}

// text is a text of any length as it can be shown.
func text(t string) string { return cut(shown(t), maxText) }

// shown is a text without hidden characters.
func shown(t string) string {
	return strings.ToValidUTF8(safetext.RevealOutput(t), "\uFFFD")
}

// cut keeps a text's first bytes, and says how many it left out.
func cut(t string, most int) string {
	if len(t) <= most {
		return t
	}
	kept := strings.ToValidUTF8(t[:most], "")
	return fmt.Sprintf("%s\n… %d bytes are left out here.", kept, len(t)-len(kept))
}

func oneLine(t string) string { return strings.Join(strings.Fields(t), " ") }

// or is the first word that says something, safe to show.
func or(words ...string) string {
	for _, w := range words {
		if w != "" {
			return shown(w)
		}
	}
	return ""
}
