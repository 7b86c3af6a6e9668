package turnloop

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"jp/conversation"
)

// ErrSchema reports that a text is no JSON schema to check an answer by.
var ErrSchema = errors.New("not a JSON schema for an answer")

// maxSchema bounds a schema, in bytes: it is kept in an event's header.
const maxSchema = 32 << 10

// ParseSchema reads the JSON schema of a structured answer. Providers want an
// object, so its type has to be one.
func ParseSchema(text []byte) (json.RawMessage, error) {
	if _, err := resolveSchema(text); err != nil {
		return nil, err
	}
	compact, err := conversation.Canonical(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	case len(compact) > maxSchema:
		return nil, fmt.Errorf("%w: it has %d bytes, %d are allowed", ErrSchema, len(compact), maxSchema)
	}
	return compact, nil
}

func resolveSchema(text []byte) (*jsonschema.Resolved, error) {
	var root jsonschema.Schema
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	if root.Type != "object" {
		return nil, fmt.Errorf(`%w: its "type" has to be "object"`, ErrSchema)
	}
	resolved, err := root.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSchema, err)
	}
	return resolved, nil
}

const textSchema = "Your answer does not satisfy the JSON schema that was asked for: "

// schemaOf is the schema of the newest turn's answer, or nil.
func schemaOf(stream *conversation.Stream) json.RawMessage {
	return conversation.Turn{Events: newestTurn(stream)}.Schema()
}

// schemaNotified reports whether a note of this turn already told the model that its answer does not satisfy
// the schema. The model may then only correct its answer, and call no more tools.
func schemaNotified(stream *conversation.Stream) bool {
	return slices.ContainsFunc(newestTurn(stream), func(e *conversation.Event) bool {
		note, ok := e.Body.(*conversation.Note)
		return ok && strings.HasPrefix(note.Content, textSchema)
	})
}

// structured is the answer of a call as data, or why it is invalid.
func structured(schema json.RawMessage, call *conversation.ModelCall) (data json.RawMessage, unfit error) {
	message, text := quoted(call)
	if len(text) == 0 { // a model without support for schemas may have kept to it nevertheless
		text = []byte(message)
	}
	text = []byte(unwrapped(string(text)))
	resolved, err := resolveSchema(schema)
	if err != nil {
		return nil, err
	}
	if err := conversation.CheckJSON(text); err != nil {
		return nil, fmt.Errorf("it is not one JSON value: %w", err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, fmt.Errorf("it is not one JSON value: %w", err)
	}
	if err := resolved.Validate(value); err != nil {
		return nil, errors.New(inWords.Replace(strings.ToValidUTF8(err.Error(), "\uFFFD")))
	}
	return text, nil
}

// unwrapped is an answer without the usual wrapping of a structured one: reasoning before it, up to the end
// of a <think> block, and one fence around everything.
func unwrapped(message string) string {
	text := strings.TrimSpace(message)
	if conversation.CheckJSON([]byte(text)) == nil {
		return text
	}
	// A chat template may have opened the block, so that only its end is in the answer.
	if before, rest, found := strings.Cut(text, "</think>"); found && !strings.Contains(strings.TrimPrefix(before, "<think>"), "<think>") {
		text = strings.TrimSpace(rest)
	}
	if inner, fenced := conversation.WithoutFence(text); fenced {
		text = strings.TrimSpace(inner)
	}
	return text
}

// inWords puts a validator's message on one line, without its prefixes.
var inWords = strings.NewReplacer("validating root: ", "", "validating ", "", "\n", " ")

// unfit is why the last call's answer breaks the turn's schema, or nil.
func unfit(stream *conversation.Stream, call *conversation.ModelCall) error {
	schema := schemaOf(stream)
	if len(schema) == 0 || call == nil || call.HasTools || call.Finish != conversation.FinishStop {
		return nil
	}
	_, err := structured(schema, call)
	return err
}
