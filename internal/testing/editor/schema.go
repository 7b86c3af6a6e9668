package editor

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// A schema has definitions by name. It is empty if it is not installed.
type schema struct {
	definitions map[string]*jsonschema.Schema
	mu          sync.Mutex
	resolved    map[string]*jsonschema.Resolved
}

var (
	schemas   = map[string]*schema{} // by path
	schemasMu sync.Mutex
)

// read reads a schema once.
func read(path string) (*schema, error) {
	schemasMu.Lock()
	defer schemasMu.Unlock()
	if schemas[path] == nil {
		s := &schema{resolved: map[string]*jsonschema.Resolved{}}
		if text, err := os.ReadFile(path); err == nil { // it comes from npm: make editors
			var whole jsonschema.Schema
			if err := json.Unmarshal(text, &whole); err != nil {
				return nil, err
			}
			s.definitions = whole.Defs
		}
		schemas[path] = s
	}
	return schemas[path], nil
}

// answers are the schema's names of answers, by method of the request.
var answers = map[string]string{
	"initialize": "InitializeResponse", "authenticate": "AuthenticateResponse", "session/new": "NewSessionResponse", "session/load": "LoadSessionResponse",
	"session/resume": "ResumeSessionResponse", "session/list": "ListSessionsResponse", "session/close": "CloseSessionResponse", "session/delete": "DeleteSessionResponse",
	"session/set_mode": "SetSessionModeResponse", "session/set_config_option": "SetSessionConfigOptionResponse", "session/prompt": "PromptResponse",
	"_jp/fork": "NewSessionResponse",
}

// parameters are the schema's names of jp's requests and notifications, by method.
var parameters = map[string]string{
	"session/update": "SessionNotification", "session/request_permission": "RequestPermissionRequest", "fs/read_text_file": "ReadTextFileRequest",
	"elicitation/create": "CreateElicitationRequest", "$/cancel_request": "CancelRequestNotification",
}

// conforms checks each message of jp against the schema, if that is installed.
func (e *Client) conforms(path string) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	published, err := read(path)
	if err != nil {
		e.t.Errorf("read %s: %v", path, err)
		return
	}
	for _, line := range e.Said {
		var m struct {
			JSONRPC string
			ID      *int
			Method  string
			Params  json.RawMessage
			Result  json.RawMessage
			Error   json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" {
			e.t.Errorf("no message: %s", line)
			continue
		}
		name, value := "", m.Params
		switch {
		case m.Method != "":
			if name = parameters[m.Method]; name == "" {
				e.t.Errorf("no method of the protocol: %s", line)
			}
		case m.Error != nil:
			name, value = "Error", m.Error
		case m.ID != nil:
			if name, value = answers[e.asked[*m.ID]], m.Result; name == "" {
				e.t.Errorf("no answer of the protocol: %s", line)
			}
		}
		if err := published.conforms(name, value); err != nil {
			e.t.Errorf("%s is no %s: %v", line, name, err)
		}
	}
}

// conforms checks a value against a definition of the schema.
func (s *schema) conforms(name string, text json.RawMessage) error {
	if s.definitions == nil || name == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	resolved := s.resolved[name]
	if resolved == nil {
		if s.definitions[name] == nil {
			return fmt.Errorf("the schema has no %s", name)
		}
		of, err := json.Marshal(map[string]any{"$defs": s.definitions, "$ref": "#/$defs/" + name})
		if err != nil {
			return err
		}
		var one jsonschema.Schema
		if err := json.Unmarshal(of, &one); err != nil {
			return err
		}
		if resolved, err = one.Resolve(nil); err != nil {
			return err
		}
		s.resolved[name] = resolved
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	return resolved.Validate(value)
}
