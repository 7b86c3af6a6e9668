package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"jp/agent/attachments"
	"jp/agent/problem"
	"jp/agent/repo"
	"jp/turnloop"
)

// parseSchema reads what --schema says: a JSON schema, or the file with one.
func (o Request) parseSchema(e *repo.Host) (json.RawMessage, error) {
	text, source := []byte(o.Schema), "--schema"
	if o.Schema == "" {
		return nil, nil
	}
	if !strings.HasPrefix(strings.TrimSpace(o.Schema), "{") {
		path := o.Schema
		if !filepath.IsAbs(path) {
			path = filepath.Join(e.Dir, path)
		}
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return nil, attachments.Unreadable(o.Schema, err)
		}
		source = o.Schema
	}
	schema, err := turnloop.ParseSchema(text)
	if err != nil {
		return nil, problem.Usage("%s: %v.", source, err)
	}
	return schema, nil
}
