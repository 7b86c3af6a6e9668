package prompt

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"jp/cmd/jp/internal/terminal"
)

// editArguments lets the person edit a call's arguments until they are a JSON
// object. It returns nothing where the person leaves nothing or no change.
func (p *Prompter) editArguments(ctx context.Context, arguments json.RawMessage) ([]byte, error) {
	text := append(indented(arguments), '\n')
	for {
		saved, err := p.edit(ctx, text, ".json")
		if err != nil || len(saved) == 0 {
			return nil, err
		}
		fault := notObject(saved)
		if fault == nil {
			if bytes.Equal(compact(saved), compact(arguments)) {
				p.show("Nothing was changed.\n")
				return nil, nil
			}
			return compact(saved), nil
		}
		p.show("These are no arguments: " + terminal.Clean(fault.Error()) + "\n")
		again := menu{items: []item{{'e', "edit again", ""}, {'b', "back", ""}}, eof: "as b"}
		if key, err := p.choose(ctx, again); err != nil || key != 'e' {
			return nil, err
		}
		text = saved
	}
}

// notObject says why a text is no JSON object.
func notObject(text []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return err
	}
	if object == nil {
		return fmt.Errorf("%s is no object", bytes.TrimSpace(text))
	}
	return nil
}

// editResult lets the person edit a result, and returns it as a JSON string;
// nothing where the person leaves nothing or no change.
func (p *Prompter) editResult(ctx context.Context, result string) ([]byte, error) {
	saved, err := p.edit(ctx, []byte(result), ".txt")
	if err != nil || len(saved) == 0 {
		return nil, err
	}
	if string(saved) == result {
		p.show("Nothing was changed.\n")
		return nil, nil
	}
	return asJSON(string(saved)), nil
}

// edit runs the editor; nothing is saved by an editor that fails, or that leaves
// only blanks.
func (p *Prompter) edit(ctx context.Context, text []byte, ext string) ([]byte, error) {
	saved, err := p.opts.Editor(ctx, text, ext)
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		p.show("The editor failed: " + terminal.Clean(err.Error()) + "\n")
		return nil, nil
	}
	if len(bytes.TrimSpace(saved)) == 0 {
		return nil, nil
	}
	return saved, nil
}
