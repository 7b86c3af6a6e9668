package google

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// efforts are the degrees of thinking, from the least.
var efforts = [...]string{"none", "minimal", "low", "medium", "high"}

// A model describes a family of models. The zero value has the fewest abilities.
type model struct {
	levels  []string         // efforts that it knows by name
	budgets map[string]int32 // tokens by effort, if it has no names of efforts
	signs   bool             // function calls have to come back signed
	files   bool             // results of functions may hold files
	data    bool             // a schema for the answer goes together with functions
}

// familyData has facts about models by the beginning of their names. The first fitting entry counts. A name
// without a version means a current model. A family knows the names of efforts, or the budgets of the least
// and of the most.
//
//go:embed families.json
var familyData []byte

type family struct {
	Prefix  string   `json:"prefix"`
	Levels  []string `json:"levels"`
	Budgets []int32  `json:"budgets"`
}

var families = sync.OnceValue(func() (all []family) {
	if err := json.Unmarshal(familyData, &all); err != nil {
		panic(err) // a test reads it
	}
	return all
})

// model has the abilities of the family. One that knows efforts by name has all.
func (f family) model() model {
	if len(f.Budgets) == 2 {
		return model{budgets: map[string]int32{"none": f.Budgets[0], "minimal": 512, "low": 2048, "medium": 8192, "high": f.Budgets[1]}}
	}
	named := len(f.Levels) > 0
	return model{levels: f.Levels, signs: named, files: named, data: named}
}

// modelNamed describes the model. For a model other than a Gemini it is the zero value.
func modelNamed(name string) model {
	name = strings.TrimPrefix(name, "models/")
	for _, f := range families() {
		if strings.HasPrefix(name, f.Prefix) {
			return f.model()
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

// level is the lowest level at or above the effort, else the highest, and "" if the model has no levels. An
// unknown effort stays as it is, for the server to judge.
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
