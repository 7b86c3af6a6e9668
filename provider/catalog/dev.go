package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Bounds of a table from elsewhere.
const (
	MostBytes  = 16 << 20
	mostPrice  = 1000 // US dollars for a million tokens
	mostName   = 200  // bytes
	leastWords = 1000 // tokens of a window
	mostWords  = 20_000_000
)

// FromDev is the built-in table with the facts of a text in the form of models.dev, as of a day. It takes the
// prices and abilities of models, for the providers that jp knows. Addresses and the names of variables stay
// as they are. Records outside of the bounds are left out, and if they are more than half the text is refused
// with [ErrTable].
func FromDev(text []byte, day time.Time, source string) (Table, error) {
	if len(text) > MostBytes {
		return Table{}, fmt.Errorf("%w: it is longer than 16 MiB", ErrTable)
	}
	var providers map[string]struct {
		Models map[string]json.RawMessage `json:"models"`
	}
	if err := json.Unmarshal(text, &providers); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			err = fmt.Errorf("it has a JSON %s where an object belongs", wrong.Value)
		}
		return Table{}, fmt.Errorf("%w: %w", ErrTable, err)
	}
	models, err := BuiltIn().records()
	if err != nil {
		return Table{}, err
	}
	all, good := 0, 0
	for name, p := range providers {
		vendor := tableOf(devName(name))
		if _, known := models[vendor]; !known && isKnown(vendor) {
			models[vendor] = map[string]record{}
		}
		for id, line := range p.Models {
			all++
			r, ok := readDev(id, line)
			if !ok {
				continue
			}
			good++
			if own := models[vendor]; own != nil {
				own[id] = own[id].with(r)
			}
		}
	}
	if all == 0 || good*2 < all {
		return Table{}, fmt.Errorf("%w: %d of its %d models are in bounds", ErrTable, good, all)
	}
	for vendor, own := range models {
		if len(own) == 0 {
			delete(models, vendor)
		}
	}
	return Table{tableText(day, source, models)}, nil
}

// isKnown reports whether a name is that of a provider.
func isKnown(name string) bool {
	_, usual := vendorNamed(name)
	_, other := (Settings{}).other(name)
	return usual || other
}

// devNames are the providers with another name in models.dev.
var devNames = map[string]string{
	"fireworks-ai": "fireworks", "togetherai": "together", "amazon-bedrock": "bedrock", "google-vertex": "vertexai", "zhipuai": "zhipu",
	"minimax-cn": "minimax-china", "opencode": "opencode-zen", "kimi-for-coding": "kimi-coding", "io-net": "ionet",
}

func devName(name string) string {
	if own, is := devNames[name]; is {
		return own
	}
	return name
}

// records are all models of the table.
func (t Table) records() (all map[string]map[string]record, err error) {
	text, _ := member(t.text, 1, "models")
	return all, json.Unmarshal([]byte(text+"}"), &all)
}

// with is the record with the facts of a newer one.
func (r record) with(newer record) record {
	if newer.Levels == nil {
		newer.Levels = r.Levels
	}
	if newer.Price == (amounts{}) {
		newer.Price = r.Price
	}
	if newer.Output == 0 {
		newer.Output = r.Output
	}
	if newer.Images == nil {
		newer.Images = r.Images
	}
	if newer.PDF == nil {
		newer.PDF = r.PDF
	}
	return newer
}

// devCost are prices in the form of models.dev.
type devCost struct {
	Input  *float64 `json:"input"`
	Output *float64 `json:"output"`
	Read   *float64 `json:"cache_read"`
	Write  *float64 `json:"cache_write"`
}

// readDev reads one model. It is false for one outside of the bounds.
func readDev(id string, text []byte) (r record, ok bool) {
	var m struct {
		Modalities struct{ Input []string }
		Limit      struct{ Context, Output float64 }
		Cost       *struct {
			Input, Output *float64
			Read          *float64 `json:"cache_read"`
			Write         *float64 `json:"cache_write"`
			Long          *devCost `json:"context_over_200k"`
			Tiers         []struct {
				Input, Output *float64
				Read          *float64 `json:"cache_read"`
				Write         *float64 `json:"cache_write"`
				Tier          struct {
					Type string
					Size float64
				}
			}
		}
	}
	odd := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }
	if id == "" || len(id) > mostName || strings.ContainsFunc(id, odd) || json.Unmarshal(text, &m) != nil {
		return r, false
	}
	if m.Limit.Context < leastWords || m.Limit.Context > mostWords || m.Limit.Output < 0 || m.Limit.Output > mostWords {
		return r, false
	}
	r.Window, r.Output = int(m.Limit.Context), int(m.Limit.Output)
	if m.Modalities.Input != nil {
		has := func(kind string) *bool {
			found := false
			for _, k := range m.Modalities.Input {
				found = found || k == kind
			}
			return &found
		}
		r.Images, r.PDF = has("image"), has("pdf")
	}
	if m.Cost == nil {
		return r, true
	}
	if r.Price, ok = (devCost{m.Cost.Input, m.Cost.Output, m.Cost.Read, m.Cost.Write}).amounts(id); !ok {
		return record{}, false
	}
	tiers := m.Cost.Tiers
	for _, t := range tiers {
		price, ok := (devCost{t.Input, t.Output, t.Read, t.Write}).amounts(id)
		if !ok || t.Tier.Size < 1 || t.Tier.Size > mostWords {
			return record{}, false
		}
		if t.Tier.Type == "context" && price.In != "" && (len(r.Tiers) == 0 || int(t.Tier.Size) > r.Tiers[len(r.Tiers)-1].Above) {
			r.Tiers = append(r.Tiers, tier{int(t.Tier.Size), price})
		}
	}
	if m.Cost.Long != nil && len(tiers) == 0 {
		price, ok := m.Cost.Long.amounts(id)
		if !ok {
			return record{}, false
		}
		if price.In != "" {
			r.Tiers = []tier{{200_000, price}}
		}
	}
	return r, true
}

// amounts are the prices, if they are in bounds. Two zeros count as unknown, unless the name ends in "free".
func (c devCost) amounts(id string) (a amounts, ok bool) {
	if c.Input == nil || c.Output == nil {
		return a, c.Input == nil && c.Output == nil
	}
	for _, n := range []*float64{c.Input, c.Output, c.Read, c.Write} {
		if n != nil && (*n < 0 || *n > mostPrice || math.IsNaN(*n)) {
			return a, false
		}
	}
	if c.Read != nil && *c.Read > *c.Input {
		return a, false
	}
	if *c.Input == 0 && *c.Output == 0 && !strings.HasSuffix(id, "free") {
		return a, true
	}
	number := func(n *float64) json.Number {
		if n == nil {
			return ""
		}
		return json.Number(strconv.FormatFloat(math.Round(*n*1e6)/1e6, 'f', -1, 64))
	}
	return amounts{number(c.Input), number(c.Output), number(c.Read), number(c.Write)}, true
}
