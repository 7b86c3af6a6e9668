package export

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"jp/compaction"
	"jp/conversation"
	"jp/provider"
)

// An agent is another agent, as far as jp writes its sessions.
type agent interface {
	// name is that of the format on the command line.
	name() string
	// target is the vendor whose models read the exported reasoning. An empty one gets none.
	target(events []*conversation.Event) provider.Target
	// write writes the session as the agent keeps it.
	write(out *bufio.Writer, s *session) error
	// folder is the agent's folder for its files, and file the session's file below it.
	folder(getenv func(string) string) string
	file(s *session) string
	// resume are the commands that resume the session, one after the other.
	resume(s *session, path string) [][]string
}

var agents = []agent{claude{}, codex{}, opencode{}}

// Agents are the formats that are sessions of other agents.
func Agents() (names []string) {
	for _, a := range agents {
		names = append(names, a.name())
	}
	return names
}

// A session is a conversation as it goes to another agent: the messages that jp itself would send to a
// model, without jp's own instructions.
type session struct {
	id    string // a UUID, made of the conversation and its newest event
	title string // may be empty
	dir   string
	place conversation.Git
	began time.Time
	steps []step
	asked bool // a request of the user is among the steps
}

// A step is a block of a message, with its event's data.
type step struct {
	provider.Block
	role    conversation.Role
	message int // steps of one message have one number
	seq     int // of the event, -1 if the step stands for several
	at      time.Time
	model   string // "provider/name"
	own     bool   // jp's words to the model
	answer  string // an id of the model's answer
	last    bool   // the last step of the answer
	end     conversation.CallEnd
}

// A Native is a conversation as a session of another agent.
type Native struct {
	agent   agent
	session *session
	Notes   []string // the parts that are missing, or have another form
}

// Native makes a session of another agent, for a working directory. With compacted, the
// summary of a compaction goes out, and else the events that it covers.
func (s *Source) Native(name, dir string, compacted bool) (*Native, error) {
	at := slices.IndexFunc(agents, func(a agent) bool { return a.name() == name })
	if at < 0 {
		return nil, fmt.Errorf("no agent is called %.60q", name)
	}
	dir, err := realFolder(dir)
	if err != nil {
		return nil, err
	}
	return s.native(agents[at], dir, compacted), nil
}

func (s *Source) native(to agent, dir string, compacted bool) *Native {
	n := &Native{agent: to, session: &session{title: s.summary.Title, dir: dir}}
	session, last := n.session, s.Events[len(s.Events)-1]
	session.began = s.Events[0].Time
	words := []string{to.name(), string(s.View.ID), last.Commit}
	if force := compaction.InForce(s.Events); compacted && (force.Summary != nil || len(force.Trimmed) > 0) {
		words = append(words, "compacted") // it is another text
	}
	session.id = uuid(session.began, words...)
	if place := s.View.LastPlace(); place != nil {
		session.place = *place
	}
	events := spoken(s.Events, compacted)
	session.steps = stepsOf(events, to.target(events), session.began)
	session.asked = slices.ContainsFunc(session.steps, func(x step) bool { return x.role == conversation.RoleUser && !x.own })
	n.Notes = s.leftOut(session.steps, compacted)
	return n
}

// realFolder is a folder's path without symbolic links, as an agent that runs there knows it.
func realFolder(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	return dir, nil
}

// Write writes the session's file.
func (n *Native) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 64<<10)
	if err := n.agent.write(out, n.session); err != nil {
		return err
	}
	return out.Flush()
}

// spoken are the events whose words another agent gets. An incomplete turn ends as it stands.
func spoken(events []*conversation.Event, compacted bool) []*conversation.Event {
	kept := make([]*conversation.Event, 0, len(events)+1)
	for _, e := range events {
		switch b := e.Body.(type) {
		case *conversation.Instructions:
			continue // each agent reads its own
		case *conversation.Compaction, *conversation.CompactionUndone:
			if !compacted {
				continue
			}
		case *conversation.TurnStart:
			if b.Environment != "" {
				start, copied := *b, *e
				start.Environment = ""
				copied.Body = &start
				e = &copied
			}
		}
		kept = append(kept, e)
	}
	if _, tail := conversation.SplitTail(kept); tail != nil {
		last := kept[len(kept)-1]
		kept = append(kept, &conversation.Event{
			Seq: last.Seq + 1, Turn: last.Turn, Time: last.Time, Version: last.Version, Body: &conversation.TurnStopped{By: conversation.ByUser},
		})
	}
	return kept
}

// unknownOutcome is the result of a call without one.
const unknownOutcome = "outcome unknown: recorded by jp without a result"

// stepsOf are the steps of a session, in the order in which a model gets them.
func stepsOf(events []*conversation.Event, target provider.Target, at time.Time) (steps []step) {
	bySeq := map[int]*conversation.Event{}
	ends := map[[2]int]conversation.CallEnd{} // by turn and call
	for _, e := range events {
		bySeq[e.Seq] = e
		if call, end := callOf(e); end.Finish != "" {
			ends[[2]int{e.Turn, call}] = end
		}
	}
	for number, m := range provider.ProjectSourced(events, target) {
		for i, b := range m.Blocks {
			x := step{Block: b, role: m.Role, message: number, seq: m.From[i], at: at}
			e := bySeq[x.seq]
			if e == nil {
				steps = append(steps, x)
				continue
			}
			at = e.Time
			x.at, x.model = e.Time, e.Model
			switch m.Role {
			case conversation.RoleUser:
				x.own = e.Type() != conversation.TypeChatRequest
			case conversation.RoleTool:
				if e.Type() != conversation.TypeToolCallResponse {
					x.Text = unknownOutcome
				}
			case conversation.RoleAssistant:
				call, _ := callOf(e)
				x.answer = fmt.Sprintf("jp_%d_%d", e.Turn, call)
				x.last = i == len(m.Blocks)-1
				x.end = ends[[2]int{e.Turn, call}]
			}
			steps = append(steps, x)
		}
	}
	return steps
}

// group are the steps from one on that are one record: a request with its files, a result
// with its files, or a part of an answer.
func (s *session) group(at int) []step {
	x, end := s.steps[at], at+1
	for ; x.role != conversation.RoleAssistant && end < len(s.steps); end++ {
		next := s.steps[end]
		if next.message != x.message || next.seq != x.seq || next.Kind == provider.BlockResult || next.ID != x.ID {
			break
		}
	}
	return s.steps[at:end]
}

// callOf is the ordinal of the answer that an event is a part of, and the answer's end if the event has it.
func callOf(e *conversation.Event) (int, conversation.CallEnd) {
	switch b := e.Body.(type) {
	case *conversation.ChatResponse:
		return b.Call, b.CallEnd
	case *conversation.ToolCallRequest:
		return b.Call, b.CallEnd
	}
	return 0, conversation.CallEnd{}
}

// leftOut names the parts of a conversation that are missing in the steps.
func (s *Source) leftOut(steps []step, compacted bool) (notes []string) {
	out := map[int]bool{}
	files := 0
	for _, x := range steps {
		out[x.seq] = true
		if x.Kind == provider.BlockFile && !isPicture(x.Block) && !x.Readable() {
			files++
		}
	}
	force := compaction.InForce(s.Events)
	gone := map[int]bool{}
	discarded, replaced := 0, 0
	for t := range conversation.Turns(s.Events) {
		ledger := t.Ledger()
		gone[t.Number] = ledger.Discarded
		if ledger.Discarded {
			discarded++
		}
		for _, e := range t.Events {
			if ledger.Replaced(e.Seq) && !ledger.Discarded {
				replaced++
			}
		}
	}
	thoughts, unfinished, own := 0, 0, 0
	var children []string
	for _, e := range s.Events {
		if gone[e.Turn] || compacted && force.Covers(e.Seq) {
			continue
		}
		switch b := e.Body.(type) {
		case *conversation.ChatResponse:
			switch {
			case out[e.Seq]:
			case b.Part == conversation.PartReasoning:
				thoughts++
			case strings.TrimSpace(b.Text) != "":
				unfinished++
			}
		case *conversation.Instructions:
			own++
		case *conversation.TurnStart:
			if b.Environment != "" {
				own++
			}
		case *conversation.ToolStarted:
			if b.Child != "" && !slices.Contains(children, string(b.Child)) {
				children = append(children, string(b.Child))
			}
		}
	}
	var left []string
	for _, part := range []struct {
		n    int
		what string
	}{
		{thoughts, "piece of reasoning"}, {unfinished, "unfinished answer"}, {discarded, "discarded turn"}, {replaced, "replaced request"},
		{files, "file that is no text and no picture"}, {own, "instruction of jp"},
	} {
		if part.n > 0 {
			left = append(left, counted(part.n, part.what))
		}
	}
	if len(left) > 0 {
		notes = append(notes, "Left out: "+strings.Join(left, ", ")+".")
	}
	if len(children) > 0 {
		notes = append(notes, "Delegates have conversations of their own, which you export by their ids: "+strings.Join(children, ", ")+".")
	}
	if to := force.To(); to >= 0 && compacted {
		notes = append(notes, fmt.Sprintf("Of the events up to @%d the summary goes out.", to))
	} else if to >= 0 {
		notes = append(notes, fmt.Sprintf("A summary stands for the events up to @%d in jp. Their full text goes out. --compacted sends the summary.", to))
	} else if len(force.Trimmed) > 0 && !compacted {
		notes = append(notes, fmt.Sprintf("jp trimmed %s. The full text goes out. --compacted trims them too.", conversation.Count(len(force.Trimmed), "result")))
	}
	return notes
}

// counted is a number of things of which the first word is counted.
func counted(n int, what string) string {
	word, rest, _ := strings.Cut(what, " of ")
	if rest != "" {
		rest = " of " + rest
	}
	if word, that, found := strings.Cut(what, " that "); found {
		return conversation.Count(n, word) + " that " + that
	}
	return conversation.Count(n, word) + rest
}

// maxPicture bounds a picture, in bytes. In base64 it has at most 5 MiB.
const maxPicture = 3932160

// isPicture reports whether a file is a picture that all vendors take.
func isPicture(b provider.Block) bool {
	media := b.Media()
	return len(b.Data) <= maxPicture && b.Genuine() && slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, media)
}

// uuid is a UUID of version 7, of a time and of words. The same ones give the same UUID.
func uuid(at time.Time, words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	id := sum[:16]
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		id[i] = byte(ms >> (40 - 8*i))
	}
	id[6] = 0x70 | id[6]&0x0f
	id[8] = 0x80 | id[8]&0x3f
	text := hex.EncodeToString(id)
	return strings.Join([]string{text[:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-")
}

// stamp is a time as both agents write it.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }
