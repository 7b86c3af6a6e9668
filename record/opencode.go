package record

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"jp/agent/problem"
	"jp/importer"
	"jp/internal/safefile"
)

//go:embed opencode.js
var opencodePlugin []byte

const opencodeVariable = "OPENCODE_CONFIG_CONTENT"

// opencodeArgs adds a plugin to the settings in the environment. opencode has no other hooks.
func opencodeArgs(_ context.Context, l Launch) (all, environ []string, err error) {
	settings, plugins := map[string]json.RawMessage{}, []json.RawMessage(nil)
	if text := l.Getenv(opencodeVariable); strings.TrimSpace(text) != "" {
		if err := json.Unmarshal(plainJSON(text), &settings); err != nil {
			return nil, nil, problem.Usage("cannot read the variable %s: %v.", opencodeVariable, err)
		}
	}
	if list := settings["plugin"]; list != nil && json.Unmarshal(list, &plugins) != nil {
		return nil, nil, problem.Usage("the plugins of the variable %s are no list.", opencodeVariable)
	}
	path := filepath.Join(l.State, "recordings", "opencode.js")
	if was, err := os.ReadFile(path); err != nil || string(was) != string(opencodePlugin) {
		if err := safefile.Replace(path, opencodePlugin, safefile.Options{}); err != nil {
			return nil, nil, err
		}
	}
	command := []string{l.Own, "-C", l.Folder, "record", "hook", "--agent", "opencode", "--run", l.Run}
	own, err := json.Marshal([]any{(&url.URL{Scheme: "file", Path: path}).String(), map[string]any{"command": command, "seconds": hookSeconds}})
	if err != nil {
		return nil, nil, err
	}
	if settings["plugin"], err = json.Marshal(append(plugins, own)); err != nil {
		return nil, nil, err
	}
	text, err := json.Marshal(settings)
	return l.Args, []string{opencodeVariable + "=" + string(text)}, err
}

// opencodeSettings plans a plugin in the folder from which opencode takes them.
func opencodeSettings(_ context.Context, l Launch, remove bool) (c SettingsChange, err error) {
	dir := filepath.Join(l.Folder, ".opencode")
	if l.Folder == "" {
		dir = filepath.Join(cmp.Or(l.Getenv("XDG_CONFIG_HOME"), filepath.Join(l.Getenv("HOME"), ".config")), "opencode")
	}
	if c, err = settingsIn(filepath.Join(dir, "plugin", "jp-record.js")); err != nil {
		return c, err
	}
	if c.Before != nil && !isSealed("//", "opencode", string(c.Before)) {
		return c, errUnsealed(c.Path, "The lines")
	}
	if remove {
		return c, nil
	}
	options, err := encoded(map[string]any{"command": append([]string{l.Own}, strings.Fields(installed("opencode"))...), "seconds": hookSeconds})
	c.After = []byte(sealed("//", "opencode", "const installed = "+string(options)+"\n"+string(opencodePlugin)))
	return c, err
}

// plainJSON is JSON without the comments and the commas before a bracket that opencode allows.
func plainJSON(text string) (plain []byte) {
	comma := -1 // the place of a comma that nothing follows yet
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "//"):
			if i += strings.IndexByte(text[i:]+"\n", '\n'); i < len(text) {
				plain = append(plain, '\n')
			}
			continue
		case strings.HasPrefix(text[i:], "/*"):
			if end := strings.Index(text[i+2:], "*/"); end >= 0 {
				i += end + 3
				continue
			}
			return append(plain, text[i:]...) // is refused
		case c == '"':
			from := i
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			comma, plain = -1, append(plain, text[from:min(i+1, len(text))]...)
			continue
		case c == ',':
			comma = len(plain)
		case (c == ']' || c == '}') && comma >= 0:
			plain[comma] = ' '
			comma = -1
		case !strings.ContainsRune(" \t\r\n", rune(c)):
			comma = -1
		}
		plain = append(plain, text[i])
	}
	return plain
}

// opencodeFile is a session in the database of opencode that changed last.
func opencodeFile(getenv func(string) string, session string) string {
	folder := importer.FormatNamed("opencode").Folder(getenv)
	file := getenv("OPENCODE_DB")
	if file != "" && !filepath.IsAbs(file) {
		file = filepath.Join(folder, file)
	}
	if file == "" {
		files, _ := filepath.Glob(filepath.Join(folder, "opencode*.db")) // the pattern is valid
		newest := time.Time{}
		for _, f := range files {
			if _, at, err := stateOf(f); err == nil && !at.Before(newest) {
				file, newest = f, at
			}
		}
	}
	return cmp.Or(file, filepath.Join(folder, "opencode.db")) + "#" + session
}
