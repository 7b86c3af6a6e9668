package google

import (
	"slices"
	"strings"
)

// efforts are the degrees of thinking, from the least.
var efforts = [...]string{"none", "minimal", "low", "medium", "high"}

// A model is what a family of models can do. The zero value can do the least.
type model struct {
	levels  []string         // efforts that it knows by name
	budgets map[string]int32 // tokens by effort, where it knows no names
	signs   bool             // function calls have to come back signed
	files   bool             // results of functions may hold files
	data    bool             // a schema for the answer goes together with functions
}

// families are what is known of models, by the beginning of their names. The
// first that fits decides. A name that says no version means a current model.
var families = [...]struct {
	prefix string
	model  model
}{
	{"gemini-1", model{}},
	{"gemini-2.0", model{}},
	{"gemini-2.5-pro", model{budgets: budgets(128, 32768)}},
	{"gemini-2.5-flash-lite", model{budgets: budgets(0, 24576)}},
	{"gemini-2", model{budgets: budgets(0, 24576)}},
	{"gemini-3-pro", current("low", "high")},
	{"gemini-3.1-pro", current("low", "medium", "high")},
	{"gemini-3", current("minimal", "low", "medium", "high")},
	{"gemini-", current("low", "medium", "high")},
}

// current is a model from Gemini 3 on.
func current(levels ...string) model {
	return model{levels: levels, signs: true, files: true, data: true}
}

func budgets(least, most int32) map[string]int32 {
	return map[string]int32{"none": least, "minimal": 512, "low": 2048, "medium": 8192, "high": most}
}

// modelNamed is what is known of the model. Of one that is not a Gemini nothing
// is.
func modelNamed(name string) model {
	name = strings.TrimPrefix(name, "models/")
	for _, f := range families {
		if strings.HasPrefix(name, f.prefix) {
			return f.model
		}
	}
	return model{}
}

// thinking is the configuration of a model that thinks, nil for any other.
func (m model) thinking(t Thinking) *thinkingConfig {
	if m.levels == nil && m.budgets == nil {
		return nil
	}
	config := &thinkingConfig{IncludeThoughts: !t.Hidden}
	if budget, ok := m.budgets[t.Effort]; ok {
		config.Budget = &budget
	}
	if level := m.level(t.Effort); level != "" {
		config.Level = strings.ToUpper(level)
	}
	return config
}

// level is the least level that is not below the effort, else the greatest; ""
// where the effort or the levels are none. A word that is no effort goes to the server as it is.
func (m model) level(effort string) string {
	if len(m.levels) == 0 {
		return ""
	}
	wanted := slices.Index(efforts[:], effort)
	if wanted < 0 {
		return effort
	}
	for _, level := range m.levels {
		if slices.Index(efforts[:], level) >= wanted {
			return level
		}
	}
	return m.levels[len(m.levels)-1]
}
