package anthropic

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

// An Effort is how much a model thinks before it answers.
type Effort string

// The efforts. A model takes the nearest one that it has.
const (
	EffortAuto   Effort = "" // as suits the model
	EffortOff    Effort = "off"
	EffortLow    Effort = "low"
	EffortMedium Effort = "medium"
	EffortHigh   Effort = "high"
	EffortXHigh  Effort = "xhigh"
	EffortMax    Effort = "max"
)

// rank orders the efforts of a model that thinks.
func (e Effort) rank() int {
	switch e {
	case EffortLow:
		return 1
	case EffortMedium:
		return 2
	case EffortHigh:
		return 3
	case EffortXHigh:
		return 4
	case EffortMax:
		return 5
	}
	return 0
}

// upTo is the effort, or the greatest that is allowed.
func (e Effort) upTo(greatest Effort) Effort {
	if e.rank() > greatest.rank() {
		return greatest
	}
	return e
}

// budget is how many tokens a model may think that wants a number.
func (e Effort) budget() int64 {
	switch e {
	case EffortLow:
		return 2048
	case EffortHigh:
		return 16384
	case EffortXHigh:
		return 24576
	case EffortMax:
		return 32768
	}
	return 8192
}

// thinkingKind is which form of the thinking parameter a model takes.
type thinkingKind string

const (
	thinkingNone     thinkingKind = ""         // without thinking
	thinkingManual   thinkingKind = "manual"   // a budget of tokens
	thinkingAdaptive thinkingKind = "adaptive" // the model decides
)

// offKind is how a model that thinks is kept from it.
type offKind string

const (
	offOmit    offKind = ""        // it thinks only on request
	offDisable offKind = "disable" // thinking must be switched off
	offNever   offKind = "never"   // it always thinks
)

// A model describes one family of models.
type model struct {
	Prefix   string       `json:"prefix"`
	Thinking thinkingKind `json:"thinking"`
	Off      offKind      `json:"off"`
	Hidden   bool         `json:"hidden"`   // leaves the text of its thinking out unless asked for it
	Effort   Effort       `json:"effort"`   // the greatest it takes; EffortAuto: the parameter is unknown to it
	Output   int64        `json:"output"`   // most tokens of one answer; 0: unknown
	Sampling bool         `json:"sampling"` // takes a temperature
}

// familyData has the known families. The longest prefix that fits a name counts.
//
//go:embed families.json
var familyData []byte

var families = sync.OnceValue(func() (all []model) {
	if err := json.Unmarshal(familyData, &all); err != nil {
		panic(err) // a test reads it
	}
	return all
})

// modelOf describes the model of that name. Gateways put words of their own before the name, and dots into
// the version. An unknown Claude counts as a new one. Other models get no special fields.
func modelOf(name string) model {
	name = strings.ReplaceAll(name, ".", "-")
	if at := strings.Index(name, "claude-"); at > 0 {
		name = name[at:]
	}
	best := model{Sampling: true}
	for _, m := range families() {
		if strings.HasPrefix(name, m.Prefix) && len(m.Prefix) > len(best.Prefix) {
			best = m
		}
	}
	return best
}

// Most tokens of an answer, by default.
const (
	usualOutput   = 32000
	unknownOutput = 8192
)

// maxTokens is the longest answer of the model, at most want.
func (m model) maxTokens(want int64) int64 {
	switch {
	case want > 0 && m.Output > 0:
		return min(want, m.Output)
	case want > 0:
		return want
	case m.Output > 0:
		return min(usualOutput, m.Output)
	}
	return unknownOutput
}
