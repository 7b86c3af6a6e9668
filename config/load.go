package config

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
)

// WorkspaceFile is the workspace's file, below the workspace's root.
const WorkspaceFile = ".jp/config.toml"

// Options name the layers. Each may be left empty; a missing file is an empty layer.
type Options struct {
	UserFile  string                   // path of the user's file
	OwnFile   string                   // path of the user's file for this repository
	Workspace string                   // root of the working tree; its file is WorkspaceFile below it
	Environ   []string                 // NAME=value, as os.Environ gives it
	Deltas    []map[string]any         // the conversation's config_delta events, oldest first
	Profiles  []string                 // profiles to use besides the default one, above the conversation's settings
	Overrides []string                 // key=value, as --cfg takes it, in order
	Trusted   func(sha256 string) bool // reports whether the user approved the bytes with this hash (hex); nil: never
	Drafts    map[Layer][]byte         // read in the place of a layer's file
}

// Load reads all layers. An error is an [*Error] that names the place of the
// first mistake; settings that are merely forbidden are in the report instead.
func Load(opts Options) (*Config, *Report, error) {
	l := newLoader()
	if l.load(opts); len(l.wrong) > 0 {
		return nil, nil, l.wrong[0]
	}
	return l.config, l.report, nil
}

// Examine reads all layers as [Load] does, and goes on after a mistake: it gives
// all of them, and the settings that remain without them.
func Examine(opts Options) (*Config, *Report, []*Error) {
	l := newLoader()
	l.all = true
	l.load(opts)
	return l.config, l.report, l.wrong
}

type loader struct {
	config *Config
	report *Report
	values map[string]any // by key, of the layers so far
	all    bool           // go on after a mistake
	wrong  []*Error
}

func newLoader() *loader {
	return &loader{
		config: &Config{},
		report: &Report{Origins: map[string]Origin{}, Values: map[string]string{}},
		values: map[string]any{},
	}
}

// goOn notes a mistake, if err is one, and tells whether to read on.
func (l *loader) goOn(err *Error) bool {
	if err != nil {
		l.wrong = append(l.wrong, err)
	}
	return err == nil || l.all
}

func (l *loader) load(opts Options) {
	for _, read := range []func(Options) ([]setting, *Error){
		l.readDefaults, l.readUser, l.readOwn, l.readWorkspace, l.readEnvironment, l.readOwnOverrides,
		l.readDefaultProfile, l.readDeltas, l.readProfiles, l.readOverrides,
	} {
		settings, err := read(opts)
		if !l.goOn(err) || len(l.wrong) > 0 && !l.all {
			return
		}
		// The reasons why a command of the workspace file is refused, "" if the tool is its own.
		tools := map[string]Reason{}
		for _, s := range settings {
			if s.origin.Layer == LayerWorkspace && s.path[0] == "tools" && s.path[2] == "command" {
				tools[s.path[1]] = l.refusal(s, nil)
			}
		}
		for _, s := range settings {
			reason := l.refusal(s, tools)
			if reason != "" {
				l.report.Inert = append(l.report.Inert, InertKey{s.origin, s.key(), tomlText(s.value), reason})
				continue
			}
			l.values[s.key()] = s.value
			l.report.Origins[s.key()] = s.origin
			l.report.Values[s.key()] = tomlText(s.value)
			assign(reflect.ValueOf(l.config).Elem(), s.path, reflect.ValueOf(s.value))
		}
	}
	for _, name := range sortedKeys(l.config.MCP) {
		why, set := "", l.config.MCP[name]
		switch {
		case len(set.Command) == 0 && set.URL == "":
			why = "has no command and no url"
		case len(set.Command) > 0 && set.URL != "":
			why = "has a command and a url (want one of them)"
		case len(set.Headers) > 0 && set.URL == "":
			why = "has headers, which go with a url"
		case set.URL == "" && (set.ClientID != "" || set.ClientSecret != "" || set.RedirectPort != 0):
			why = "has settings for signing in, which go with a url"
		case set.ClientID == "" && set.ClientSecret != "":
			why = "has a client_secret and no client_id"
		case set.RedirectPort < 0 || set.RedirectPort > 65535:
			why = "has a redirect_port that is no port (want 0 to 65535)"
		default:
			continue
		}
		key := joinKey([]string{"mcp", name})
		if !l.goOn(valueError(l.originUnder(key), key, "%s", why)) {
			return
		}
	}
}

func (l *loader) readDefaults(Options) ([]setting, *Error) {
	var settings []setting
	schema().walk(nil, func(path []string, n *node) {
		text := n.tag.Get("default")
		if found, _ := schema().find(path); text == "" || found == nil {
			return // unset, or below a <label>
		}
		s, err := textSettings(Origin{Layer: LayerDefault}, path, text)
		if err != nil {
			panic(err) // a default tag of ours is wrong
		}
		settings = append(settings, s...)
	})
	return settings, nil
}

func (l *loader) readUser(opts Options) ([]setting, *Error) {
	return l.readFile(opts, Origin{Layer: LayerUser, Name: opts.UserFile})
}

// readOwn reads the user's file for this repository. Its allow rules come to those of the user's
// file, so that a rule there holds everywhere.
func (l *loader) readOwn(opts Options) ([]setting, *Error) {
	settings, err := l.readFile(opts, Origin{Layer: LayerRepository, Name: opts.OwnFile})
	for i, s := range settings {
		switch s.key() {
		case KeyAllow:
			below, _ := l.values[KeyAllow].([][]string)
			settings[i].value = slices.Concat(below, s.value.([][]string))
		case KeyAllowEdits, KeyAllowTools:
			below, _ := l.values[s.key()].([]string)
			settings[i].value = slices.Concat(below, s.value.([]string))
		}
	}
	return settings, err
}

// readFile reads a file of the user's.
func (l *loader) readFile(opts Options, o Origin) (_ []setting, err *Error) {
	if o.Name == "" {
		return nil, nil
	}
	data, drafted := opts.Drafts[o.Layer]
	if !drafted {
		data, err = readUserFile(o)
	}
	if err != nil {
		return nil, err
	}
	return l.fileSettings(o, data)
}

// readWorkspace hashes and parses the same bytes, so that it uses the approved bytes.
func (l *loader) readWorkspace(opts Options) (_ []setting, err *Error) {
	if opts.Workspace == "" {
		return nil, nil
	}
	o := Origin{Layer: LayerWorkspace, Name: WorkspaceFile}
	data, drafted := opts.Drafts[LayerWorkspace]
	if !drafted {
		data, err = readWorkspaceFile(o, opts.Workspace)
	}
	if err != nil || data == nil {
		return nil, err
	}
	l.report.WorkspaceHash = Hash(data)
	l.report.Trusted = opts.Trusted != nil && opts.Trusted(l.report.WorkspaceHash)
	return l.fileSettings(o, data)
}

// readEnvironment reads JP_CFG_A__B=value as a.b. An empty value counts as unset; of a variable given twice the last counts.
func (l *loader) readEnvironment(opts Options) ([]setting, *Error) {
	given := map[string]string{}
	for _, kv := range opts.Environ {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, environmentPrefix) {
			given[name] = value
		}
	}
	var settings []setting
	for _, name := range sortedKeys(given) {
		if given[name] == "" {
			continue
		}
		// Keys are in lower case, except for the names of other variables, and have hyphens, which variables cannot have.
		path := strings.Split(strings.TrimPrefix(name, environmentPrefix), "__")
		for i := range path {
			n, _ := schema().find(path[:i])
			if n == nil || n.tag.Get("label") == "variable" {
				continue
			}
			path[i] = strings.ToLower(path[i])
			if spelled := strings.ReplaceAll(path[i], "_", "-"); n.child(path[i]) == nil && n.child(spelled) != nil {
				path[i] = spelled
			}
		}
		s, err := textSettings(Origin{Layer: LayerEnvironment, Name: name}, path, given[name])
		if err != nil {
			return nil, err
		}
		settings = append(settings, s...)
	}
	return settings, nil
}

func (l *loader) readOverrides(opts Options) ([]setting, *Error) {
	return overrideSettings(opts.Overrides)
}

// readOwnOverrides reads ahead the profile in use and its settings. Mistakes are left to
// [loader.readOverrides].
func (l *loader) readOwnOverrides(opts Options) ([]setting, *Error) {
	settings, _ := overrideSettings(opts.Overrides)
	return slices.DeleteFunc(settings, func(s setting) bool { return !s.node.private }), nil
}

// readDeltas never fails: events cannot be corrected, and another version of jp
// may have written them.
func (l *loader) readDeltas(opts Options) ([]setting, *Error) {
	var settings []setting
	for _, delta := range opts.Deltas {
		settings = append(settings, l.deltaSettings(nil, delta)...)
	}
	return settings, nil
}

func (l *loader) deltaSettings(path []string, v any) []setting {
	o := Origin{Layer: LayerConversation}
	n, _ := schema().find(path)
	if table, ok := v.(map[string]any); ok && n != nil && !n.leaf() {
		var settings []setting
		for _, name := range sortedKeys(table) {
			settings = append(settings, l.deltaSettings(append(path[:len(path):len(path)], name), table[name])...)
		}
		return settings
	}
	settings, err := flatten(o, path, v)
	if err != nil {
		l.report.Inert = append(l.report.Inert, InertKey{o, joinKey(path), tomlText(v), ReasonInvalid})
	}
	return settings
}

// Hash is the name under which a workspace file's bytes are approved: their
// SHA-256 in hex.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// originUnder gives the place of the first key below a table.
func (l *loader) originUnder(table string) Origin {
	for _, key := range sortedKeys(l.report.Origins) {
		if len(key) > len(table) && key[:len(table)+1] == table+"." {
			return l.report.Origins[key]
		}
	}
	return Origin{}
}
