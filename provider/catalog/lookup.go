package catalog

import (
	"encoding/json"
	"slices"
	"strings"
)

// A Model has the table's facts about a model. The zero value has none.
type Model struct {
	Price    Price
	Window   int      // tokens that it can read; 0: unknown
	Output   int      // tokens of one answer; 0: unknown
	NoImages bool     // false if it reads images, or unknown
	NoPDF    bool     // false if it reads PDFs, or unknown
	Levels   []string // of reasoning, from the least; nil: unknown
}

// Model looks a model up by its id, and by its id without the date of a release. All facts but the price may
// come from the longest known id that it begins with, in the same generation. Behind a gateway, the maker's
// table fills the gaps of the gateway's own.
func (t Table) Model(v Vendor, name string) Model {
	if slices.Contains(localDialects, v.Dialect) {
		return Model{} // the server's own facts count
	}
	own, known := t.models(tableOf(v.Name))
	maker, id, behind := strings.Cut(name, "/")
	made := ""
	if behind {
		made, _ = t.models(tableOf(strings.ToLower(maker)))
	}
	if r, found := release(own, name); found {
		return r.model(true)
	}
	hosted := (known || isKnown(v.Name)) && !slices.Contains(gateways, v.Name) // a host has prices of its own
	if r, found := release(made, id); found {
		return r.model(!hosted)
	}
	if r, found := family(own, name); found {
		return r.model(false)
	}
	r, _ := family(made, id)
	return r.model(false)
}

// localDialects are those of servers of one's own, whose models differ from others of the same name.
var localDialects = []string{"ollama", "llamacpp", "lmstudio", "vllm"}

// gateways are the providers that pass requests on to a model's maker, with its limits.
var gateways = []string{"openrouter", "vercel", "aihubmix"}

// tables are the names of providers and makers whose models the table has under another one.
var tables = map[string]string{
	"kimi": "moonshot", "moonshotai": "moonshot", "glm": "zai", "z-ai": "zai", "zai-org": "zai", "x-ai": "xai", "mistralai": "mistral",
	"deepseek-ai": "deepseek", "minimaxai": "minimax", "gemini": "google", "azure-openai": "azure",
}

func tableOf(name string) string {
	if other, is := tables[name]; is {
		return other
	}
	return name
}

// release is the record of a model, or of another release of it: the same name but for a date.
func release(models, name string) (record, bool) {
	if models == "" || name == "" {
		return record{}, false
	}
	if line, found := member(models, 3, name); found {
		return decode(line)
	}
	best, asked := "", undated(name)
	for _, id := range names(models, 3) {
		if undated(id) != asked {
			continue
		}
		if plain(id) == plain(name) || plain(id) == asked {
			best = id
			break
		}
		best = max(best, id) // the newest date
	}
	line, found := member(models, 3, best)
	if best == "" || !found {
		return record{}, false
	}
	return decode(line)
}

// family is the record of the longest id with which the name begins. The rest of the name is a word, since a
// number would name another generation.
func family(models, name string) (record, bool) {
	best, asked := "", undated(name)
	for _, id := range names(models, 3) {
		rest, begins := strings.CutPrefix(asked, undated(id))
		word := begins && len(rest) > 1 && strings.ContainsRune("-:@", rune(rest[0])) && !isDigit(rest[1])
		if word && strings.ContainsAny(id, digits) && len(undated(id)) > len(undated(best)) {
			best = id
		}
	}
	line, found := member(models, 3, best)
	if best == "" || !found {
		return record{}, false
	}
	return decode(line)
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// plain is an id as gateways and vendors have it in common.
func plain(id string) string { return strings.ReplaceAll(strings.ToLower(id), ".", "-") }

// undated is a plain id without the date of its release, and without the suffix of clouds behind the date. A
// name without a version names the newest model, and stays as it is.
func undated(id string) string {
	id = plain(id)
	name := id
	if at := strings.LastIndex(name, "-v"); at > 0 && strings.Trim(name[at+2:], digits+":") == "" {
		name = name[:at]
	}
	for _, form := range []string{"20dddddd", "20dd-dd-dd", "latest", "0"} {
		at := len(name) - len(form) - 1
		if at > 0 && (name[at] == '-' || name[at] == '@') && fits(name[at+1:], form) && strings.ContainsAny(name[:at], digits) {
			return name[:at]
		}
	}
	return id
}

// fits compares a text with a form. A d in the form matches any digit.
func fits(text, form string) bool {
	for i := range len(form) {
		if text[i] != form[i] && (form[i] != 'd' || !isDigit(text[i])) {
			return false
		}
	}
	return true
}

const digits = "0123456789"

func decode(line string) (r record, ok bool) { return r, json.Unmarshal([]byte(line), &r) == nil }

// model has the record's facts, with or without its price.
func (r record) model(priced bool) Model {
	m := Model{
		Window: r.Window, Output: r.Output, Levels: r.Levels,
		NoImages: r.Images != nil && !*r.Images, NoPDF: r.PDF != nil && !*r.PDF,
	}
	if priced && r.Price.In != "" && r.Price.Out != "" {
		m.Price = r.price()
	}
	return m
}

func (r record) price() Price {
	p, err := r.Price.price()
	if err != nil {
		return Price{}
	}
	for _, t := range r.Tiers {
		if long, err := t.Price.price(); err == nil && t.Above > 0 {
			p.tiers = append(p.tiers, longer{t.Above, long})
		}
	}
	return p
}

// price is a price of its own. Unknown prices of caches are the input's.
func (a amounts) price() (Price, error) {
	read, write := a.Read, a.Write
	if read == "" {
		read = a.In
	}
	if write == "" {
		write = a.In
	}
	return ParsePrice([]string{string(a.In), string(a.Out), string(read), string(write)})
}
