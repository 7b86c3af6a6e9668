package prompt

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"jp/conversation"
	"jp/internal/safetext"
	"jp/tool"
	"jp/turnloop"
)

// editArguments lets the person edit the effect of a call: the file that it would write, the command
// that it would run, else its arguments as JSON. It asks until the tool takes them. It returns nil if
// the person leaves an empty text or no change.
func (p *Prompter) editArguments(ctx context.Context, q turnloop.Question) ([]byte, error) {
	if call, ok := p.editable(q); ok {
		return p.editUntil(ctx, []byte(call.text), call.ext, func(saved []byte) ([]byte, error) {
			if string(saved) == call.text {
				return nil, nil
			}
			given, err := call.arguments(string(saved))
			if err != nil {
				return nil, err
			}
			if err := notArguments(q, given); err != nil {
				return nil, fmt.Errorf("invalid arguments: %w", err)
			}
			return given, nil
		})
	}
	return p.editUntil(ctx, append(indented(q.Arguments), '\n'), ".json", func(saved []byte) ([]byte, error) {
		if err := notArguments(q, saved); err != nil {
			return nil, fmt.Errorf("invalid arguments: %w", err)
		}
		if bytes.Equal(compact(saved), compact(q.Arguments)) {
			return nil, nil
		}
		return compact(saved), nil
	})
}

// notArguments returns the reason if the tool does not take a text as the arguments of a call.
func notArguments(q turnloop.Question, text []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	if object == nil {
		return fmt.Errorf("%s is not an object", bytes.TrimSpace(text))
	}
	if err := conversation.CheckJSON(text); err != nil {
		return err
	}
	if q.Tool == nil || len(q.Tool.Parameters) == 0 { // its parameters are not known here
		return nil
	}
	_, err := tool.Check(q.Tool, text)
	return err
}

// editResult lets the person edit a result, and returns it as a JSON string; nil if the person leaves
// an empty text or no change.
func (p *Prompter) editResult(ctx context.Context, result string) ([]byte, error) {
	return p.editUntil(ctx, []byte(result), ".txt", func(saved []byte) ([]byte, error) {
		if string(saved) == result {
			return nil, nil
		}
		return asJSON(string(saved)), nil
	})
}

// editUntil lets the person edit a text until take accepts it, and returns the text as JSON. take
// returns nil for an unchanged text.
func (p *Prompter) editUntil(ctx context.Context, text []byte, ext string, take func(saved []byte) ([]byte, error)) ([]byte, error) {
	for {
		saved, err := p.edit(ctx, text, ext)
		if err != nil || len(saved) == 0 {
			return nil, err
		}
		taken, fault := take(saved)
		if len(taken) > conversation.MaxEdited {
			fault = fmt.Errorf("it takes %d bytes, and %d is the most that can be edited", len(taken), conversation.MaxEdited)
		}
		switch {
		case fault == nil && len(taken) == 0:
			p.show("Nothing was changed.\n")
			return nil, nil
		case fault == nil:
			return taken, nil
		}
		p.show(sentence(fault) + "\n")
		again := menu{items: []item{{'e', "edit again", ""}, {'b', "back", ""}}, eof: "as b", esc: 'b'}
		if key, err := p.choose(ctx, again); err != nil || key != 'e' {
			return nil, err
		}
		text = saved
	}
}

// sentence is an error as a sentence for a person.
func sentence(err error) string {
	text := safetext.Clean(err.Error())
	return strings.ToUpper(text[:1]) + text[1:]
}

// edit runs the editor. It returns nil if the editor fails, or leaves only blanks.
func (p *Prompter) edit(ctx context.Context, text []byte, ext string) ([]byte, error) {
	saved, err := p.opts.Editor(ctx, text, ext)
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		p.show("The editor failed: " + safetext.Clean(err.Error()) + "\n")
		return nil, nil
	}
	if len(bytes.TrimSpace(saved)) == 0 {
		return nil, nil
	}
	return saved, nil
}
