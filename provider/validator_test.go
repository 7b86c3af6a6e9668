package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"jp/conversation"
)

// validate checks messages against the rules for requests, with the events as its only reference. It uses
// none of the functions that make messages.
func validate(all []*conversation.Event, messages []Message) error {
	v := &validator{messages: messages, ids: map[string]bool{}, given: map[string]bool{}}
	for _, e := range all {
		if b, ok := e.Body.(*conversation.ToolCallRequest); ok && len(e.Provider) > 0 {
			v.given[b.ID] = true
		}
	}
	v.order(all)
	for i, m := range messages {
		v.message(i, m)
	}
	v.origin(all)
	return errors.Join(v.problems...)
}

type validator struct {
	messages []Message
	ids      map[string]bool
	given    map[string]bool // ids that an endpoint gave, and may get back
	problems []error
}

func (v *validator) fail(rule, format string, args ...any) {
	v.problems = append(v.problems, fmt.Errorf(rule+": "+format, args...))
}

// order is P5: the order of the speakers.
func (v *validator) order(all []*conversation.Event) {
	if len(v.messages) == 0 {
		return
	}
	if v.messages[0].Role != conversation.RoleUser {
		v.fail("P5", "the first message is the %s's", v.messages[0].Role)
	}
	for i := 1; i < len(v.messages); i++ {
		pair := [2]conversation.Role{v.messages[i-1].Role, v.messages[i].Role}
		switch pair {
		case [2]conversation.Role{conversation.RoleUser, conversation.RoleUser}:
			v.fail("P5", "message %d should be part of the one before", i)
		case [2]conversation.Role{conversation.RoleAssistant, conversation.RoleAssistant}:
			if !anyFinish(all, conversation.FinishPause) {
				v.fail("P2", "message %d follows the assistant's own", i)
			}
		}
	}
	last := v.messages[len(v.messages)-1]
	if _, tail := conversation.SplitTail(all); tail != nil && last.Role == conversation.RoleAssistant && !anyFinish(all, conversation.FinishPause) {
		v.fail("P5", "the last message is the assistant's")
	}
}

func anyFinish(all []*conversation.Event, finish conversation.Finish) bool {
	for _, e := range all {
		if b, ok := e.Body.(*conversation.ChatResponse); ok && b.Finish == finish {
			return true
		}
	}
	return false
}

func anyRefused(all []*conversation.Event) bool {
	for turn := range conversation.Turns(all) {
		for _, call := range turn.Ledger().Calls {
			if call.Finish.Refused() {
				return true
			}
		}
	}
	return false
}

var (
	validName = regexp.MustCompile(`\A[A-Za-z_][A-Za-z0-9_-]{0,63}\z`)
	validID   = regexp.MustCompile(`\A[A-Za-z0-9_-]{1,40}\z`)
)

func (v *validator) message(i int, m Message) {
	if len(m.Blocks) == 0 {
		v.fail("P6", "message %d is empty", i)
		return
	}
	for _, b := range m.Blocks {
		v.block(i, m.Role, b)
	}
	switch m.Role {
	case conversation.RoleAssistant:
		v.assistant(i, m)
	case conversation.RoleTool:
		if i == 0 || len(idsOf(v.messages[i-1], BlockToolCall)) == 0 {
			v.fail("P4", "message %d has results without calls", i)
		}
	}
}

func (v *validator) block(i int, role conversation.Role, b Block) {
	if !utf8.ValidString(b.Text) || strings.ContainsRune(b.Text, 0) {
		v.fail("P7", "message %d: %q", i, b.Text)
	}
	allowed := map[conversation.Role]string{
		conversation.RoleUser: "text file", conversation.RoleAssistant: "text reasoning tool_call", conversation.RoleTool: "result file",
	}[role]
	if !strings.Contains(allowed, string(b.Kind)) {
		v.fail("P1", "message %d: a %s from the %s", i, b.Kind, role)
	}
	switch b.Kind {
	case BlockText, BlockResult:
		if strings.TrimSpace(b.Text) == "" {
			v.fail("P6", "message %d has an empty %s", i, b.Kind)
		}
	case BlockToolCall:
		v.toolCall(i, b)
	case BlockReasoning:
		if !json.Valid(b.Item) {
			v.fail("P10", "message %d has reasoning without its item", i)
		}
	}
	if b.Name != "" && b.Kind != BlockFile && !validName.MatchString(b.Name) {
		v.fail("P11", "message %d: name %q", i, b.Name)
	}
}

func (v *validator) toolCall(i int, b Block) {
	if v.ids[b.ID] || !validID.MatchString(b.ID) && !(b.Given && v.given[b.ID]) {
		v.fail("P4", "message %d: id %q", i, b.ID)
	}
	v.ids[b.ID] = true
	var object map[string]json.RawMessage
	if json.Unmarshal(b.Arguments, &object) != nil || object == nil {
		v.fail("P8", "message %d: arguments %q", i, b.Arguments)
	}
}

// assistant checks P3 and P4, and that reasoning is never last or alone.
func (v *validator) assistant(i int, m Message) {
	if m.Blocks[len(m.Blocks)-1].Kind == BlockReasoning {
		v.fail("P10", "message %d ends in reasoning", i)
	}
	calls := idsOf(m, BlockToolCall)
	if len(calls) == 0 {
		return
	}
	if i+1 >= len(v.messages) || v.messages[i+1].Role != conversation.RoleTool {
		v.fail("P3", "message %d is not followed by its results", i)
		return
	}
	if results := idsOf(v.messages[i+1], BlockResult); strings.Join(results, " ") != strings.Join(calls, " ") {
		v.fail("P4", "message %d calls %v and gets %v", i, calls, results)
	}
}

func idsOf(m Message, kind BlockKind) []string {
	var ids []string
	for _, b := range m.Blocks {
		if b.Kind == kind {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// origin is P1, P2, P8 and P9 for events whose texts tell them apart: each text must occur as often as it
// should, in the order of the log.
func (v *validator) origin(all []*conversation.Event) {
	said := v.said()
	for at, e := range all {
		text, _ := e.Text()
		if text == "" {
			continue
		}
		count := strings.Count(said, "|"+text+"|")
		switch b := e.Body.(type) {
		case *conversation.TurnStart, *conversation.Prompt, *conversation.InquiryRequest, *conversation.InquiryResponse, *conversation.ConfigDelta:
			if count > 0 {
				v.fail("P1", "%s %d is sent", e.Type(), e.Seq)
			}
		case *conversation.ChatRequest:
			if strings.TrimSpace(text) != "" && count == 0 && !covered(all, e.Seq) && !replaced(all, e.Seq) && !anyRefused(all) {
				v.fail("P1", "request %d is not sent", e.Seq)
			}
		case *conversation.ChatResponse:
			if strings.TrimSpace(text) != "" && count > 0 && !maySpeak(all, at, b) {
				v.fail("P2", "event %d is sent", e.Seq)
			}
		case *conversation.Resumed:
			if want := expectReport(all, at, said); count > want {
				v.fail("P9", "report %d is sent", e.Seq)
			}
		}
		if count > 1 {
			v.fail("P1", "event %d is sent %d times", e.Seq, count)
		}
		if count > 0 && covered(all, e.Seq) {
			v.fail("P1", "event %d is sent and discarded", e.Seq)
		}
	}
}

// said is every sent text, each between bars.
func (v *validator) said() string {
	var out strings.Builder
	for _, m := range v.messages {
		for _, b := range m.Blocks {
			out.WriteString("|" + b.Text + "|")
		}
	}
	return out.String()
}

func covered(all []*conversation.Event, seq int) bool {
	for _, e := range all {
		if b, ok := e.Body.(*conversation.TurnDiscarded); ok && b.FromSeq <= seq && seq <= b.ToSeq {
			return true
		}
	}
	return false
}

func replaced(all []*conversation.Event, seq int) bool {
	for _, e := range all {
		if b, ok := e.Body.(*conversation.ChatRequest); ok && b.Replaces != nil && *b.Replaces == seq {
			return true
		}
	}
	return false
}

// maySpeak reports whether the part at the index may be sent: its call ended,
// or the user stopped or replied behind it; and if it broke off itself, only
// the latter.
func maySpeak(all []*conversation.Event, at int, part *conversation.ChatResponse) bool {
	ended, kept := false, false
	for i, e := range all {
		if e.Turn != all[at].Turn {
			continue
		}
		switch b := e.Body.(type) {
		case *conversation.ChatResponse:
			ended = ended || b.Call == part.Call && b.Finish != ""
		case *conversation.ToolCallRequest:
			ended = ended || b.Call == part.Call
		case *conversation.TurnStopped:
			kept = kept || i > at
		case *conversation.ChatRequest:
			kept = kept || i > at && b.Interrupt
		}
	}
	if part.Partial || !ended {
		return kept && part.Part == conversation.PartMessage
	}
	return true
}

// expectReport is 1 if the model has spoken, as sent, between the report at the index and the next one, or if
// there is no next one.
func expectReport(all []*conversation.Event, at int, said string) int {
	for _, e := range all[at+1:] {
		switch b := e.Body.(type) {
		case *conversation.Resumed:
			if !covered(all, e.Seq) && strings.Contains(said, "|"+b.Message+"|") {
				return 0
			}
		case *conversation.ChatResponse, *conversation.ToolCallRequest:
			return 1
		}
	}
	return 1
}
