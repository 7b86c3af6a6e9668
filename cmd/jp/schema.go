package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"jp/turnloop"
)

// parseSchema reads what --schema says: a JSON schema, or the file with one.
func (o queryOptions) parseSchema(e *host) (json.RawMessage, error) {
	text, source := []byte(o.schema), "--schema"
	if o.schema == "" {
		return nil, nil
	}
	if !strings.HasPrefix(strings.TrimSpace(o.schema), "{") {
		path := o.schema
		if !filepath.IsAbs(path) {
			path = filepath.Join(e.dir, path)
		}
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return nil, unreadable(o.schema, err)
		}
		source = o.schema
	}
	schema, err := turnloop.ParseSchema(text)
	if err != nil {
		return nil, usage("%s: %v.", source, err)
	}
	return schema, nil
}
