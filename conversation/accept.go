package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// MaxEdited is how many bytes of JSON edited arguments, or an edited result, may
// take: the event that holds them has a limit.
const MaxEdited = 48 << 10

// Accepts reports why a given answer does not fit this inquiry, nil if it does. It ignores the response's
// For.
func (b *InquiryRequest) Accepts(r *InquiryResponse) error {
	if b.Kind == KindHook {
		return fmt.Errorf("only a hook answers this")
	}
	switch r.Outcome {
	case OutcomeAnswered:
	case OutcomeDeclined:
		if b.Kind != KindToolQuestion {
			return fmt.Errorf("a %s inquiry cannot be declined: answer no", b.Kind)
		}
		return nil
	default:
		return fmt.Errorf("a person answers or declines; %q is neither", r.Outcome)
	}
	if err := b.Question.AnswerType.Accepts(r.Answer); err != nil {
		return err
	}
	switch choice := r.Choice(); {
	case len(r.Arguments) > 0 && (b.Kind == KindToolQuestion || choice != AnswerEdit):
		return fmt.Errorf("only the answer %q has arguments", AnswerEdit)
	case len(r.Arguments) > MaxEdited:
		return fmt.Errorf("what was edited takes %d bytes, and %d is the most", len(r.Arguments), MaxEdited)
	case len(r.Arguments) > 0 && CheckJSON(r.Arguments) != nil:
		return fmt.Errorf("edited arguments: %w", CheckJSON(r.Arguments))
	case b.Kind == KindToolQuestion:
	case choice == AnswerRunTurn && b.Exclusive:
		return fmt.Errorf("this is asked each time: %q cannot be the answer", choice)
	case choice == AnswerEdit && b.Kind == KindRunTool && !is[map[string]json.RawMessage](r.Arguments):
		return fmt.Errorf("the edited arguments are not a JSON object")
	case choice == AnswerEdit && b.Kind == KindDeliverResult && !is[string](r.Arguments):
		return fmt.Errorf("the edited result is not a JSON string")
	}
	return nil
}

// Accepts reports why a value is not a valid answer, nil if it is.
func (t AnswerType) Accepts(value json.RawMessage) error {
	canonical, err := Canonical(value)
	if err != nil {
		return fmt.Errorf("an answer is JSON: %w", err)
	}
	valid, takes := false, "a text, in quotation marks"
	switch t.Type {
	case "boolean":
		valid, takes = is[bool](canonical), "true or false"
	case "select":
		var options []string
		for _, o := range t.Options {
			option, err := Canonical(o.Value)
			valid = valid || err == nil && bytes.Equal(option, canonical)
			options = append(options, fmt.Sprintf("%.60s", o.Value))
		}
		takes = "one of " + strings.Join(options, ", ")
	default:
		valid = is[string](canonical)
	}
	if !valid {
		return fmt.Errorf("invalid answer %.60s (want %s)", canonical, takes)
	}
	return nil
}

// is reports whether JSON is a value of a type, and other than null.
func is[T any](text json.RawMessage) bool {
	var value *T
	return json.Unmarshal(text, &value) == nil && value != nil
}
