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

// applyEdits makes the edits one after the other, each on what the one before
// left. Where one does not fit, none counts. A text whose lines all end in CRLF
// keeps that ending, whichever the edits use.
func applyEdits(text string, edits []edit) (string, error) {
	crlf := strings.Contains(text, "\n") && strings.Count(text, "\r\n") == strings.Count(text, "\n")
	before := text
	for i, e := range edits {
		if crlf {
			e.Old, e.New = withCRLF(e.Old), withCRLF(e.New)
		}
		if err := e.fits(text); err != nil {
			return "", fmt.Errorf("edit %d of %d: %w; the file is unchanged", i+1, len(edits), err)
		}
		text = strings.ReplaceAll(text, e.Old, e.New)
	}
	if text == before {
		return "", errors.New("the edits change nothing")
	}
	return text, nil
}

func withCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// fits says whether old occurs as often as it must.
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
