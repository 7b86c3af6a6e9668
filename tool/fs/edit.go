package fs

import (
	"errors"
	"fmt"
	"strings"
)

// An edit replaces a passage of a text.
type edit struct {
	Old   string `json:"old"`
	New   string `json:"new"`
	Count int    `json:"count"` // how often old must occur
}

// maxListed is how many line numbers an error lists.
const maxListed = 8

// applyEdits makes the edits one after the other, each on the result of the one before. If one does not fit,
// none counts. In an edit, each end of a line matches LF and CRLF.
func applyEdits(text string, edits []edit) (string, error) {
	l := splitEnds(text)
	for i, e := range edits {
		e.Old, e.New = withLF(e.Old), withLF(e.New)
		if err := e.fits(l.text); err != nil {
			return "", fmt.Errorf("edit %d of %d: %w; the file is unchanged", i+1, len(edits), err)
		}
		l = l.replace(e.Old, e.New)
	}
	after := l.join()
	if after == text {
		return "", errors.New("the edits change nothing")
	}
	return after, nil
}

// fits reports an error unless old occurs as often as it must.
func (e edit) fits(text string) error {
	if e.Old == "" {
		return errors.New("old is empty; to add lines, give the line beside them")
	}
	want := max(e.Count, 1)
	switch n := strings.Count(text, e.Old); {
	case n == want:
		return nil
	case n == 0:
		return fmt.Errorf("old does not occur%s", nearest(text, e.Old))
	default:
		return fmt.Errorf("old occurs %d times (%s), expected %d; give more of the text around it, or count",
			n, occurrences(text, e.Old), want)
	}
}

// occurrences lists the lines in which a passage begins.
func occurrences(text, passage string) string {
	var numbers []string
	line, at := 1, 0
	for len(numbers) < maxListed {
		next := strings.Index(text[at:], passage)
		if next < 0 {
			return "lines " + strings.Join(numbers, ", ")
		}
		line += strings.Count(text[at:at+next], "\n")
		numbers = append(numbers, fmt.Sprint(line))
		line += strings.Count(passage, "\n")
		at += next + len(passage)
	}
	return "lines " + strings.Join(numbers, ", ") + ", …"
}
