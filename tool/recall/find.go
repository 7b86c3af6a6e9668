package recall

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"jp/conversation"
)

// shortest is how many characters of an id have to be given.
const shortest = 3

// find finds the conversation that a word names: by its id, by the end of the id
// or of its digits, or as REMOTE/ID.
func (a *archive) find(ctx context.Context, word string) (conversation.Info, error) {
	infos, err := a.known(ctx, word)
	if err != nil {
		return conversation.Info{}, err
	}
	var found []conversation.Info
	for _, i := range infos {
		if nameOf(i) == word {
			return i, nil
		}
		if len(word) >= shortest && endsIn(nameOf(i), word) {
			found = append(found, i)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return conversation.Info{}, fmt.Errorf("%w: %q can be %s", errAmbiguous, clip(word, 0, 60), names(found))
	case len(infos) == 0:
		return conversation.Info{}, errNone
	}
	return conversation.Info{}, fmt.Errorf("%w as %q; %s", errUnknown, clip(word, 0, 60), near(infos, word))
}

// nameOf is what a conversation is called here.
func nameOf(i conversation.Info) string {
	if i.Remote != "" {
		return i.Remote + "/" + string(i.ID)
	}
	return string(i.ID)
}

// known are the conversations that a word can name.
func (a *archive) known(ctx context.Context, word string) ([]conversation.Info, error) {
	if strings.Contains(word, "/") {
		return a.List(ctx, conversation.ScopeRemotes)
	}
	live, err := a.List(ctx, conversation.ScopeLive)
	if err != nil {
		return nil, err
	}
	archived, err := a.List(ctx, conversation.ScopeArchived)
	return append(live, archived...), err
}

// endsIn reports whether an id, or its digits, end in a word.
func endsIn(id, word string) bool {
	digits, _, _ := strings.Cut(strings.TrimPrefix(id, "jp-c"), "-")
	return strings.HasSuffix(id, word) || strings.HasSuffix(digits, word)
}

// shown is how many conversations an error names.
const shown = 5

// names lists ids, the newest conversation first.
func names(infos []conversation.Info) string {
	slices.SortFunc(infos, func(a, b conversation.Info) int { return cmp.Compare(b.ID, a.ID) })
	var list []string
	for _, i := range infos[:min(len(infos), shown)] {
		list = append(list, nameOf(i))
	}
	if more := len(infos) - shown; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// near says which conversations may have been meant: those whose title has the
// word in it, else those whose ids differ from it in a few characters. Their
// titles are not said: an error is no place for words of others.
func near(infos []conversation.Info, word string) string {
	var titled, alike []conversation.Info
	for _, i := range infos {
		if word != "" && strings.Contains(strings.ToLower(i.Summary.Title), strings.ToLower(word)) {
			titled = append(titled, i)
		}
		if resembles(string(i.ID), word) {
			alike = append(alike, i)
		}
	}
	switch {
	case len(titled) > 0:
		return "a title has it: " + names(titled)
	case len(alike) > 0:
		return "near it are " + names(alike)
	}
	return "conversation_list lists them"
}

// resembles reports whether a word differs from an id, or from the end of it or
// of its digits, in no more than a third of the word, and in two places at most.
func resembles(id, word string) bool {
	digits, suffix, _ := strings.Cut(strings.TrimPrefix(id, "jp-c"), "-")
	for _, part := range []string{id, suffix, digits[max(0, len(digits)-len(word)):]} {
		if len(word) >= shortest && distance(part, word) <= min(2, len(word)/3) {
			return true
		}
	}
	return false
}

// distance counts the characters by which two short words differ.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0]++
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
