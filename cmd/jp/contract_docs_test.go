package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/fork"
	"jp/process/attach"
)

// A manual is docs/json.md: the types of keys, by section.
type manual []chapter

type chapter struct {
	heading string
	types   map[string][]string // by path, such as status.inquiry.seq
}

var tableRow = regexp.MustCompile("^\\| `([a-z0-9_.]+)` \\| ([a-zA-Z ]+) \\|")

func readManual(t *testing.T) (m manual) {
	t.Helper()
	text, err := os.ReadFile("../../docs/json.md")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			m = append(m, chapter{heading, map[string][]string{}})
			continue
		}
		if row := tableRow.FindStringSubmatch(line); row != nil {
			last := m[len(m)-1]
			require.NotContains(t, last.types, row[1], "%s: twice", last.heading)
			last.types[row[1]] = strings.Split(row[2], " or ")
		}
	}
	return m
}

// of are the chapters about a command. The chapter about failures is about all of them.
func (m manual) of(command string) (chapters []chapter) {
	about := regexp.MustCompile("`" + command + "\\b")
	for _, c := range m {
		if about.MatchString(c.heading) || strings.HasPrefix(c.heading, "Errors") {
			chapters = append(chapters, c)
		}
	}
	return chapters
}

// types are those that a key may have.
func types(chapters []chapter, path string) (found []string) {
	for _, c := range chapters {
		found = append(found, c.types[path]...)
	}
	return found
}

// fits reports whether a value has one of the types.
func fits(value any, types []string) bool {
	return slices.ContainsFunc(types, func(name string) bool {
		switch v := value.(type) {
		case nil:
			return name == "null" || name == "JSON"
		case string:
			_, err := time.Parse(time.RFC3339, v)
			return name == "string" || name == "JSON" || name == "time" && err == nil
		case bool:
			return name == "boolean" || name == "JSON"
		case float64:
			return name == "number" || name == "JSON"
		case []any:
			return name == "array" || name == "JSON"
		}
		return name == "object" || name == "map" || name == "JSON"
	})
}

// checkDocumented finds every key of a value in the manual.
func checkDocumented(t *testing.T, chapters []chapter, file, path string, value any) {
	t.Helper()
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			checkDocumented(t, chapters, file, path, element)
		}
	case map[string]any:
		for key, inner := range v {
			below := strings.TrimPrefix(path+"."+key, ".")
			known := types(chapters, below)
			require.NotEmpty(t, known, "%s: docs/json.md does not say what %s is", file, below)
			require.True(t, fits(inner, known), "%s: %s is %v, and docs/json.md says %v", file, below, inner, known)
			if !slices.Contains(known, "JSON") && !slices.Contains(known, "map") {
				checkDocumented(t, chapters, file, below, inner)
			}
		}
	}
}

func TestJSONIsDocumented(t *testing.T) {
	t.Parallel()
	m := readManual(t)
	files, err := filepath.Glob(golden + "/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		command, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "_")
		chapters := m.of(command)
		require.True(t, len(chapters) > 1 || command == "error", "docs/json.md has no section about jp %s", command)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		for decoder.More() {
			var value any
			require.NoError(t, decoder.Decode(&value), file)
			checkDocumented(t, chapters, file, "", value)
		}
	}
}

// A process's messages reach the reader unchanged, with fields that few turns have.
func TestTheManualKnowsWhatAttachWrites(t *testing.T) {
	t.Parallel()
	chapters := readManual(t).of("attach")
	for _, message := range []any{attach.Delta{}, attach.Inquiry{}, attach.Closing{}} {
		of := reflect.TypeOf(message)
		for i := range of.NumField() {
			key, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			found := slices.ContainsFunc(chapters, func(c chapter) bool {
				return strings.HasPrefix(c.heading, "A turn of another process") && c.types[key] != nil
			})
			require.True(t, found, "docs/json.md does not say what %s of %s is", key, of.Name())
		}
	}
}

// The commands whose output is kept have only some of the events, but every type of event has its
// fields in the manual.
func TestTheManualKnowsTheFormat(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/format.md")
	require.NoError(t, err)
	chapters := readManual(t).of("log")
	stored := []string{"v", "text"} // are shown otherwise
	for line := range strings.Lines(string(text)) {
		var event map[string]any
		if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &event) != nil {
			continue
		}
		for _, key := range stored {
			delete(event, key)
		}
		checkDocumented(t, chapters, "docs/format.md", "", event)
	}
}

// The output of a fork names files without their filter only if there are some.
func TestTheManualKnowsWhatAForkWrites(t *testing.T) {
	t.Parallel()
	chapters := readManual(t).of("fork")
	require.NotEmpty(t, types(chapters, "unconverted"))
	of := reflect.TypeOf(fork.ForkResult{}.Unconverted).Elem()
	for i := range of.NumField() {
		if key := of.Field(i).Tag.Get("json"); key != "" {
			require.NotEmpty(t, types(chapters, "unconverted."+key), key)
		}
	}
}
