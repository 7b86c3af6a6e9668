package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"jp/conversation"
)

// A Decision is a hook's answer. The zero value has no objection.
type Decision struct {
	Denied    bool
	Reason    string          // of a denial
	Note      string          // for the model
	Arguments json.RawMessage // an object, in the place of the call's
}

// ReasonLimit bounds a reason, in bytes. ContentLimit bounds a note. Arguments longer than
// [conversation.MaxEdited] are invalid.
const ReasonLimit = 4 << 10

// keys are the possible decisions at each point.
var keys = map[Point][]string{
	TurnStart: {"deny", "note"},
	ToolPre:   {"deny", "arguments"},
	ToolPost:  {"note"},
}

// Decode reads a hook's standard output. White space alone is no objection. Everything else is one JSON
// object with the keys of the point. At a point without decisions it ignores any output. Its errors wrap
// ErrDecision.
func Decode(p Point, output []byte) (Decision, error) {
	var d Decision
	allowed, decides := keys[p]
	if !decides || len(bytes.TrimSpace(output)) == 0 {
		return d, nil
	}
	fields, err := conversation.ParseObject(output)
	if err != nil {
		return d, fmt.Errorf("%w: %w", ErrDecision, err)
	}
	for _, f := range fields {
		if !slices.Contains(allowed, f.Key) {
			return Decision{}, fmt.Errorf("%w: %.60q is not one of %s", ErrDecision, f.Key, strings.Join(allowed, ", "))
		}
		if err := d.take(f); err != nil {
			return Decision{}, err
		}
	}
	if d.Denied && len(fields) > 1 {
		return Decision{}, fmt.Errorf("%w: a denial stands alone", ErrDecision)
	}
	return d, nil
}

func (d *Decision) take(f conversation.Field) error {
	switch f.Key {
	case "deny":
		d.Denied = true
		return text(f, &d.Reason, ReasonLimit)
	case "note":
		return text(f, &d.Note, ContentLimit)
	}
	if _, err := conversation.ParseObject(f.Raw); err != nil {
		return fmt.Errorf("%w: %q is not an object", ErrDecision, f.Key)
	}
	compact, err := conversation.Compact(f.Raw)
	if len(compact) > conversation.MaxEdited {
		return fmt.Errorf("%w: %q takes %d bytes, and %d is the most", ErrDecision, f.Key, len(compact), conversation.MaxEdited)
	}
	d.Arguments = compact
	return err
}

func text(f conversation.Field, to *string, most int) error {
	var value *string
	if err := json.Unmarshal(f.Raw, &value); err != nil || value == nil {
		return fmt.Errorf("%w: %q is not a text", ErrDecision, f.Key)
	}
	*to, _ = cut(*value, most)
	return nil
}
