package catalog

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// builtIn is the table that tools/models wrote.
//
//go:embed models.json
var builtIn string

// A Table has the facts of models, by provider: prices, windows, limits. It reads only the requested lines,
// so that a command for one model decodes one model.
type Table struct{ text string }

// BuiltIn is the table that this jp was built with.
func BuiltIn() Table { return Table{builtIn} }

// Newest is the built-in table, or one of a text that [FromDev] made, if that is newer.
func Newest(text string) Table {
	if t := (Table{text}); t.Date().After(BuiltIn().Date()) {
		return t
	}
	return BuiltIn()
}

// Text is the table as [Newest] reads it.
func (t Table) Text() string { return t.text }

// Date is the day of the table's facts, the zero time if unknown.
func (t Table) Date() time.Time {
	day, _ := time.Parse(time.DateOnly, t.word("date"))
	return day
}

// Source names the origin of the facts.
func (t Table) Source() string { return t.word("source") }

func (t Table) word(name string) (word string) {
	text, _ := member(t.text, 1, name)
	_ = json.Unmarshal([]byte(text), &word)
	return word
}

// models are the lines of a provider's models.
func (t Table) models(vendor string) (string, bool) {
	all, _ := member(t.text, 1, "models")
	return member(all, 2, vendor)
}

// member is the text of the member of an object on a line of its own, with that indent. It lacks the last
// brace of a member of several lines. A table has that layout, and JSON escapes line breaks within texts.
func member(text string, indent int, name string) (string, bool) {
	at := "\n" + strings.Repeat(" ", indent)
	_, rest, found := strings.Cut(text, at+quoted(name)+": ")
	if !found {
		return "", false
	}
	line, _, _ := strings.Cut(rest, "\n")
	if !strings.HasSuffix(line, "{") {
		return strings.TrimSuffix(line, ","), true
	}
	object, _, _ := strings.Cut(rest, at+"}")
	return object, true
}

func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text always has a form
	return strings.TrimSpace(b.String())
}

// tableText lays a table out for [member]: as tools/models does, but without providers and defaults.
func tableText(day time.Time, source string, models map[string]map[string]record) string {
	var b strings.Builder
	b.WriteString("{\n \"date\": " + quoted(day.Format(time.DateOnly)) + ",\n \"source\": " + quoted(source) + ",\n \"models\": {")
	between := func(i int) string { return map[bool]string{true: "\n", false: ",\n"}[i == 0] }
	for i, vendor := range slices.Sorted(maps.Keys(models)) {
		b.WriteString(between(i) + "  " + quoted(vendor) + ": {")
		for j, id := range slices.Sorted(maps.Keys(models[vendor])) {
			line, _ := json.Marshal(models[vendor][id]) // numbers and words always have a form
			b.WriteString(between(j) + "   " + quoted(id) + ": " + string(line))
		}
		b.WriteString("\n  }")
	}
	b.WriteString("\n }\n}\n")
	return b.String()
}

// names are those of the members whose lines are so far indented.
func names(text string, indent int) []string {
	var all []string
	at := strings.Repeat(" ", indent) + `"`
	for line := range strings.SplitSeq(text, "\n") {
		if rest, is := strings.CutPrefix(line, at); is {
			name, _, _ := strings.Cut(rest, `": `)
			var plain string
			if json.Unmarshal([]byte(`"`+name+`"`), &plain) == nil {
				all = append(all, plain)
			}
		}
	}
	return all
}

// A record is one model as the table has it.
type record struct {
	Price  amounts  `json:"price,omitzero"`
	Tiers  []tier   `json:"tiers,omitempty"`
	Window int      `json:"window,omitempty"` // tokens that it can read
	Output int      `json:"output,omitempty"` // tokens of one answer
	Images *bool    `json:"images,omitempty"`
	PDF    *bool    `json:"pdf,omitempty"`
	Levels []string `json:"levels,omitempty"` // of reasoning
}

// amounts are US dollars for a million tokens. An empty number is unknown.
type amounts struct {
	In    json.Number `json:"in,omitempty"`
	Out   json.Number `json:"out,omitempty"`
	Read  json.Number `json:"read,omitempty"`
	Write json.Number `json:"write,omitempty"`
}

// A tier has the prices of requests longer than its limit.
type tier struct {
	Above int     `json:"above"`
	Price amounts `json:"price"`
}

// A choice is a default model.
type choice struct {
	ID   string `json:"id"`
	Ends string `json:"ends"` // the day that its provider announced; "" where none is
}

// DefaultModel is the provider's model for a request without a named one: the first of its list that is still
// offered, "" if the list is empty.
func (v Vendor) DefaultModel(now time.Time) string { return firstOf(v.defaults().Large, now) }

// SmallModel is a cheap model of the provider for short texts, "" if jp knows none.
func (v Vendor) SmallModel(now time.Time) string { return firstOf(v.defaults().Small, now) }

// defaults are the provider's models, for long work and for short texts.
func (v Vendor) defaults() (list struct{ Large, Small []choice }) {
	all, _ := member(builtIn, 1, "defaults")
	if text, found := member(all, 2, v.Name); found {
		_ = json.Unmarshal([]byte(text), &list) // a test reads all of them
	}
	return list
}

// firstOf is the first model that is still offered, else the last one, since its provider's error names the
// successor.
func firstOf(list []choice, now time.Time) string {
	for _, c := range list {
		if c.Ends == "" || now.UTC().Format(time.DateOnly) < c.Ends {
			return c.ID
		}
	}
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1].ID
}

// tabled is the provider of that name as the table knows it. Only the built-in one counts: another table could send keys elsewhere.
func tabled(name string) (Vendor, bool) {
	text, _ := member(builtIn, 1, "providers")
	text, found := member(text, 2, name)
	var p listed
	if !found || json.Unmarshal([]byte(text), &p) != nil {
		return Vendor{}, false
	}
	return p.vendor(name), true
}

// listed is a provider as the table has it.
type listed struct{ API, Protocol, Env string }

func (p listed) vendor(name string) Vendor {
	return Vendor{Name: name, Protocol: Protocol(p.Protocol), Dialect: dialectOf[name], BaseURL: p.API, KeyEnv: []string{p.Env}}
}

// dialectOf are the dialects of the table's providers that speak one.
var dialectOf = map[string]string{"moonshot": "kimi", "zai": "glm", "zhipu": "glm", "zhipu-coding": "glm"}
