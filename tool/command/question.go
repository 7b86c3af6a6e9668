package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"jp/conversation"
	"jp/tool"
)

// Bounds of a question.
const (
	maxQuestions = 32       // of one call
	maxID        = 64       // bytes of an id
	maxQuestion  = 8 << 10  // bytes of a text
	maxOptions   = 100      // of a select
	maxChoices   = 32 << 10 // bytes of all options and the default, in JSON
	maxDetail    = 64 << 10 // bytes; a longer one is cut
)

// A questionJSON is a question as an answer has it.
type questionJSON struct {
	ID         string          `json:"id"`
	Text       string          `json:"text"`
	Detail     string          `json:"detail"`
	AnswerType json.RawMessage `json:"answer_type"`
	Default    json.RawMessage `json:"default"`
}

func decodeNeedsInput(fields map[string]json.RawMessage, text []byte) tool.Result {
	question, err := decodeQuestion(fields["question"])
	if err != nil {
		return faulty(fmt.Errorf("its question %w", err), text)
	}
	return tool.Result{Question: question}
}

func decodeQuestion(text json.RawMessage) (*tool.Question, error) {
	var q questionJSON
	if json.Unmarshal(text, &q) != nil {
		return nil, errors.New("is not an object of texts with an answer type")
	}
	if err := checkID(q.ID); err != nil {
		return nil, err
	}
	switch {
	case strings.TrimSpace(q.Text) == "":
		return nil, errors.New("has no text")
	case len(q.Text) > maxQuestion:
		return nil, fmt.Errorf("has %d bytes, and %d is the most", len(q.Text), maxQuestion)
	}
	answers, err := decodeAnswerType(q.AnswerType)
	if err != nil {
		return nil, err
	}
	if string(q.Default) == "null" {
		q.Default = nil
	}
	if len(q.Default) > 0 {
		if err := answers.Accepts(q.Default); err != nil {
			return nil, fmt.Errorf("has a wrong default: %w", err)
		}
	}
	choices, err := encode(answers)
	if err != nil {
		return nil, fmt.Errorf("cannot be kept: %w", err)
	}
	if size := len(choices) + len(q.Default); size > maxChoices {
		return nil, fmt.Errorf("has options and a default of %d bytes, and %d is the most", size, maxChoices)
	}
	detail, _ := tool.Truncate([]byte(q.Detail), maxDetail)
	return &tool.Question{
		ID: q.ID, Question: conversation.Question{Text: q.Text, AnswerType: answers, Default: q.Default}, Detail: string(detail),
	}, nil
}

// checkID refuses an id that would be unsafe in a configuration or a log.
func checkID(id string) error {
	strange := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == utf8.RuneError }
	switch {
	case id == "":
		return errors.New("has no id")
	case len(id) > maxID:
		return fmt.Errorf("has an id of %d bytes, and %d is the most", len(id), maxID)
	case strings.ContainsFunc(id, strange):
		return fmt.Errorf("has the id %q, with blanks or what cannot be printed", id)
	}
	return nil
}

// decodeAnswerType reads {"type": "boolean" | "text" | "select", "options"}, and
// the shorter "boolean", "text" and {"select": {"options"}}. These words are
// taken in any case.
func decodeAnswerType(text json.RawMessage) (conversation.AnswerType, error) {
	var name string
	if json.Unmarshal(text, &name) == nil {
		return answerType(name, nil)
	}
	var long struct {
		Type    string            `json:"type"`
		Options []json.RawMessage `json:"options"`
		Select  *struct {
			Options []json.RawMessage `json:"options"`
		} `json:"select"` // matched in any case
	}
	if json.Unmarshal(text, &long) != nil {
		return conversation.AnswerType{}, errors.New("has no answer type that there is")
	}
	if long.Type == "" && long.Select != nil {
		return answerType("select", long.Select.Options)
	}
	return answerType(long.Type, long.Options)
}

func answerType(name string, options []json.RawMessage) (conversation.AnswerType, error) {
	t := conversation.AnswerType{Type: strings.ToLower(name)}
	switch {
	case t.Type == "boolean" || t.Type == "text":
		return t, nil
	case t.Type == "":
		return t, errors.New("has no answer type")
	case t.Type != "select":
		return t, fmt.Errorf("has the answer type %.40q; there are boolean, text and select", name)
	case len(options) == 0:
		return t, errors.New("has no options to select from")
	case len(options) > maxOptions:
		return t, fmt.Errorf("has %d options, and %d is the most", len(options), maxOptions)
	}
	for i, text := range options {
		option, err := decodeOption(text)
		if err == nil && t.Accepts(option.Value) == nil {
			err = errors.New("is there twice")
		}
		if err != nil {
			return t, fmt.Errorf("has a wrong option: %d %w", i+1, err)
		}
		t.Options = append(t.Options, option)
	}
	return t, nil
}

// decodeOption reads {"value", "description"}, or the value alone.
func decodeOption(text json.RawMessage) (conversation.Option, error) {
	var object struct {
		Value       json.RawMessage `json:"value"`
		Description string          `json:"description"`
	}
	if json.Unmarshal(text, &object) != nil || len(object.Value) == 0 {
		object.Value, object.Description = text, ""
	}
	canonical, err := conversation.Canonical(object.Value)
	if err != nil {
		return conversation.Option{}, fmt.Errorf("cannot be kept: %w", err)
	}
	if string(canonical) == "null" {
		return conversation.Option{}, errors.New("is null")
	}
	return conversation.Option{Value: canonical, Description: object.Description}, nil
}
