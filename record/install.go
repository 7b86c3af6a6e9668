package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"jp/agent/problem"
	"jp/agent/repo"
	"jp/importer"
	"jp/internal/safefile"
	"jp/record/journal"
)

// A SettingsChange is a change to an agent's settings that puts jp's hooks into them, or takes them out.
type SettingsChange struct {
	Path          string
	Before, After []byte // nil for no file
}

// settingsIn reads a file for a change.
func settingsIn(path string) (c SettingsChange, err error) {
	if c.Path, err = filepath.EvalSymlinks(path); err != nil {
		c.Path = path
	}
	if c.Before, err = os.ReadFile(c.Path); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return c, err
}

// None reports whether the settings are so already.
func (c SettingsChange) None() bool { return bytes.Equal(c.Before, c.After) }

// Diff is the change as a unified difference.
func (c SettingsChange) Diff() string {
	return udiff.Unified(c.Path, c.Path, string(c.Before), string(c.After))
}

// Write writes the settings. They must be as they were.
func (c SettingsChange) Write() error {
	switch now, err := os.ReadFile(c.Path); {
	case err != nil && (c.Before != nil || !errors.Is(err, fs.ErrNotExist)):
		return err
	case !bytes.Equal(now, c.Before):
		return problem.New(problem.ExitFailed, "usage", "%s has changed meanwhile.", c.Path)
	case c.After == nil:
		return os.Remove(c.Path)
	}
	return safefile.Replace(c.Path, c.After, safefile.Options{KeepMode: true})
}

// sealed is a text of jp in an agent's settings. Its first line has a sum of the others, which shows whether the user
// has changed them.
func sealed(comment, agent, text string) string {
	return fmt.Sprintf("%s jp record install %s: begin %08x\n%s", comment, agent, crc32.ChecksumIEEE([]byte(text)), text)
}

// isSealed reports whether a text is as jp wrote it.
func isSealed(comment, agent, text string) bool {
	_, rest, _ := strings.Cut(text, "\n")
	return text == sealed(comment, agent, rest)
}

// errUnsealed is about lines of jp that the user has changed.
func errUnsealed(path, lines string) error {
	return problem.New(problem.ExitFailed, "usage", "%s in %s differ from what jp wrote. Remove them by hand, and try again.", lines, path)
}

// claudeSettings plans to put jp's hooks into the settings of Claude Code, those of the user or of the working tree
// at the folder. remove takes them out.
func claudeSettings(_ context.Context, l Launch, remove bool) (c SettingsChange, err error) {
	dir := filepath.Join(l.Folder, ".claude")
	if l.Folder == "" {
		dir = cmp.Or(l.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(l.Getenv("HOME"), ".claude"))
	}
	if c, err = settingsIn(filepath.Join(dir, "settings.json")); err != nil {
		return c, err
	}
	text := c.Before
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	var settings map[string]any
	if err := json.Unmarshal(text, &settings); err != nil {
		return c, problem.New(problem.ExitUsage, "usage", "cannot read %s: %v.", c.Path, err)
	}
	indented, end := bytes.Equal(indent(text), text), text[len(bytes.TrimRight(text, " \t\r\n")):]
	for _, event := range claudeEvents {
		if text, err = withoutHook(text, event); err != nil {
			return c, fmt.Errorf("change %s: %w", c.Path, err)
		}
		if remove {
			continue
		}
		command := quoted(l.Own) + ` -C "${CLAUDE_PROJECT_DIR:-.}"` + installed("claude") + event + quiet
		hook, err := encoded(claudeHook(command))
		if err != nil {
			return c, err
		}
		if text, err = sjson.SetRawBytes(text, "hooks."+event+".-1", hook); err != nil {
			return c, fmt.Errorf("change %s: %w", c.Path, err)
		}
	}
	if hooks := gjson.GetBytes(text, "hooks"); remove && hooks.IsObject() && len(hooks.Map()) == 0 {
		if text, err = sjson.DeleteBytes(text, "hooks"); err != nil {
			return c, err
		}
	}
	if text = append(bytes.TrimRight(text, " \t\r\n"), end...); indented {
		text = indent(text)
	}
	if c.After = text; remove && c.Before == nil {
		c.After = nil
	}
	return c, nil
}

// installed is in the command of each hook that jp installed.
func installed(agent string) string { return " record hook --agent " + agent + " " }

// quiet ends the command of each hook: it succeeds always and prints nothing, since an agent may stop for a hook
// that fails.
const quiet = " >/dev/null 2>&1 || true"

// encoded encodes a value without escapes for HTML.
func encoded(value any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSpace(out.Bytes()), err
}

// indent is a JSON text in the form that agents write it in.
func indent(text []byte) []byte {
	var out bytes.Buffer
	if json.Indent(&out, bytes.TrimSpace(text), "", "  ") != nil {
		return nil
	}
	return append(out.Bytes(), '\n')
}

// withoutHook takes jp's installed hooks of an event out of settings.
func withoutHook(text []byte, event string) ([]byte, error) {
	groups := gjson.GetBytes(text, "hooks."+event).Array()
	for i := len(groups) - 1; i >= 0; i-- {
		commands := groups[i].Get("hooks.#.command").Array()
		if len(commands) != 1 || !strings.Contains(commands[0].String(), installed("claude")) {
			continue
		}
		path := fmt.Sprintf("hooks.%s.%d", event, i)
		if len(groups) == 1 {
			path = "hooks." + event
		}
		var err error
		if text, err = sjson.DeleteBytes(text, path); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// Write writes the events of a session that hooks alone record.
func Write(ctx context.Context, r *repo.Repo, format, session string, live bool) error {
	rec, err := openRecorder(ctx, r)
	if err != nil {
		return err
	}
	s, err := rec.journal.Read(format, session)
	f := importer.FormatNamed(format)
	if err != nil || f == nil || s.File == "" {
		return err
	}
	_, err = importer.File(ctx, r, f, s.File, importer.Options{Live: live, Look: func(ctx context.Context) (journal.Moment, error) {
		return rec.note(ctx, s.Source, journal.Moment{Kind: journal.Look}, time.Now())
	}})
	return err
}
