package models

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"jp/agent/repo"
	"jp/internal/lazy"
)

// Replacement is the newest model of the same family that the provider of a model lists, "provider/name". It
// is "" without one, or if the provider does not answer.
func (r Providers) Replacement(ctx context.Context, e *repo.Host, model string) string {
	vendor, name, ok := CutModel(model)
	if !ok || vendor == Scripted || vendor == Replayed {
		return ""
	}
	v, err := r.Vendor(vendor)
	if err != nil {
		return ""
	}
	listed, err := r.modelsOf(ctx, e, v)
	if newest := newestOf(name, listed); err == nil && newest != "" {
		return vendor + "/" + newest
	}
	return ""
}

// A release is the parsed name of a model.
type release struct {
	name    string
	family  string
	version []int
	date    string
	preview bool
}

var (
	nameParts  = lazy.Regexp(`[-_.:@ ]+`)
	ofVersion  = lazy.Regexp(`^[a-z]?(\d{1,3})[a-z]?$`)
	ofSize     = lazy.Regexp(`^(a?\d+[bkm]|\d+x\d+b)$`)
	ofDate     = lazy.Regexp(`^\d{4,8}$`)
	ofPreview  = []string{"preview", "exp", "experimental", "beta", "alpha", "rc"}
	ofNoFamily = []string{"latest", "stable", "it", "instruct", "chat"}
)

// releaseOf reads a model's name: the words are its family, the numbers its version and date.
func releaseOf(name string) release {
	r := release{name: name}
	path, last := "", strings.ToLower(name)
	if i := strings.LastIndex(last, "/"); i >= 0 {
		path, last = last[:i+1], last[i+1:]
	}
	var words []string
	for i, part := range nameParts().Split(last, -1) {
		switch number := ofVersion().FindStringSubmatch(part); {
		case part == "":
		case ofSize().MatchString(part), slices.Contains(ofNoFamily, part):
		case slices.Contains(ofPreview, part):
			r.preview = true
		case ofDate().MatchString(part), r.date != "" && len(part) == 2 && number != nil:
			r.date += part
		case number != nil && i > 0:
			n, _ := strconv.Atoi(number[1])
			r.version = append(r.version, n)
		case i == 0: // qwen3, o4
			word := strings.TrimRight(part, "0123456789")
			if n, err := strconv.Atoi(part[len(word):]); err == nil {
				r.version = append(r.version, n)
			}
			words = append(words, word)
		default:
			words = append(words, part)
		}
	}
	slices.Sort(words)
	r.family = path + strings.Join(words, " ")
	return r
}

// newer orders releases of one family, the newest first.
func newer(a, b release) int {
	return cmp.Or(slices.Compare(b.version, a.version), strings.Compare(b.date, a.date))
}

// newestOf is the newest of the listed models that is of the family of a model and another one: a stable one, if it is as
// new as the model.
func newestOf(model string, listed []string) string {
	gone := releaseOf(model)
	var same []release
	for _, name := range listed {
		if r := releaseOf(name); r.family == gone.family && name != model {
			same = append(same, r)
		}
	}
	slices.SortStableFunc(same, newer)
	for _, r := range same {
		if !r.preview && slices.Compare(r.version, gone.version) >= 0 {
			return r.name
		}
	}
	if len(same) > 0 {
		return same[0].name
	}
	return ""
}
