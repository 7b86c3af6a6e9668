package doctor

import (
	"fmt"
	"strings"

	"jp/conversation"
)

// A Level is how bad a finding is.
type Level string

// The levels. Only Fail means that jp cannot do its work, or has lost a part of it.
const (
	OK   Level = "ok"
	Note Level = "note" // good to know
	Warn Level = "warn" // a feature is or may be broken
	Fail Level = "fail"
)

// A Finding is one thing that was looked at.
type Finding struct {
	Level  Level  `json:"level"`
	Topic  string `json:"topic"`
	Text   string `json:"text"`
	Advice string `json:"advice"` // what to do about it, "" for nothing
}

func found(level Level, topic, format string, args ...any) Finding {
	return Finding{Level: level, Topic: topic, Text: fmt.Sprintf(format, args...)}
}

func (f Finding) advise(format string, args ...any) Finding {
	f.Advice = fmt.Sprintf(format, args...)
	return f
}

// A Tally counts findings by their levels.
type Tally struct {
	OK   int `json:"ok"`
	Note int `json:"note"`
	Warn int `json:"warn"`
	Fail int `json:"fail"`
}

// Count counts findings.
func Count(findings []Finding) (t Tally) {
	for _, f := range findings {
		switch f.Level {
		case OK:
			t.OK++
		case Note:
			t.Note++
		case Warn:
			t.Warn++
		case Fail:
			t.Fail++
		}
	}
	return t
}

// String is the tally for people.
func (t Tally) String() string {
	failed := "nothing failed"
	if t.Fail > 0 {
		failed = fmt.Sprintf("%d failed", t.Fail)
	}
	return fmt.Sprintf("%d ok, %s, %s, %s.", t.OK, conversation.Count(t.Note, "note"), conversation.Count(t.Warn, "warning"), failed)
}

// listed joins a few names, with the number of further ones.
func listed(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// lines are the lines of an error, empty for nil.
func lines(err error) (all []string) {
	if err == nil {
		return nil
	}
	for line := range strings.Lines(err.Error()) {
		all = append(all, strings.TrimSpace(line))
	}
	return all
}
