package turnloop

import (
	"encoding/json"
	"fmt"
	"strings"

	"jp/conversation"
	"jp/tool"
)

// real is a value as a tool gets it, with the values of its secrets. A tool that works in a conversation of
// its own gets the placeholders, since it records them. One that hands the call to another program gets
// neither: there, the secret would look like the tool's own data.
func (o *Options) real(def *tool.Definition, value json.RawMessage) (json.RawMessage, error) {
	if def.Destination != "" {
		if o.Secrets.Placeholders != nil {
			if held := o.Secrets.Placeholders(value); len(held) > 0 {
				return nil, fmt.Errorf("%s stands for a secret, and jp gives %s no secrets. %s", strings.Join(held, ", "), def.Destination, def.Instead)
			}
		}
		return value, nil
	}
	if o.Secrets.Restore == nil || def.Resumes || len(value) == 0 {
		return value, nil
	}
	return o.Secrets.Restore(value)
}

// inputs are the arguments and the answers that a run of a tool gets. The schema
// is asked about the arguments as they are recorded.
func (o *Options) inputs(def *tool.Definition, call *conversation.ToolCall) (arguments json.RawMessage, answers map[string]json.RawMessage, err error) {
	if arguments, err = tool.Check(def, call.Arguments()); err != nil {
		return nil, nil, err
	}
	if arguments, err = o.real(def, arguments); err != nil {
		return nil, nil, err
	}
	answers = map[string]json.RawMessage{}
	for id, answer := range call.Answers() {
		if answers[id], err = o.real(def, answer); err != nil {
			return nil, nil, err
		}
	}
	return arguments, answers, nil
}

// named are the files that the call names, and the same again as only if the tool touches just these.
func (o *Options) named(call *conversation.ToolCall) (named, only []string) {
	def := lookup(o.Tools.Registry, call.Request.Name)
	if def.Paths == nil {
		return nil, nil
	}
	arguments, err := o.real(def, call.Arguments())
	if err != nil {
		arguments = call.Arguments()
	}
	named, all := def.Paths(arguments)
	if all && len(named) > 0 {
		only = named
	}
	return named, only
}
