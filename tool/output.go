package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"unicode/utf8"

	"jp/conversation"
)

// Limit is how many bytes of a tool's output are kept, the note on what was cut
// included.
const Limit = 256 << 10

// Cut returns content as it is where it has no more than limit bytes. Else it
// returns its beginning, up to the end of a line where there is one near the
// limit or to the end of a rune, and a note of the whole size and SHA-256; both
// together have no more than limit bytes unless the note alone has more.
func Cut(content []byte, limit int) ([]byte, *conversation.Truncated) {
	if len(content) <= limit {
		return content, nil
	}
	sum := sha256.Sum256(content)
	whole := &conversation.Truncated{Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
	return cut(content, limit, whole), whole
}

// CutAgain is [Cut] for content that may be the beginning of something already, with
// the note on that whole: the note says the same afterwards. What stands behind the note
// stays behind it, if it fits.
func CutAgain(content []byte, limit int, whole *conversation.Truncated) ([]byte, *conversation.Truncated) {
	if whole == nil {
		return Cut(content, limit)
	}
	if len(content) <= limit {
		return content, whole
	}
	head, behind, _ := bytes.Cut(content, []byte(note(whole)))
	if len(behind) > limit/2 {
		behind = nil
	}
	return append(cut(head, limit-len(behind), whole), behind...), whole
}

func note(whole *conversation.Truncated) string {
	return fmt.Sprintf("[output cut here: it has %d bytes, SHA-256 %s]\n", whole.Bytes, whole.SHA256)
}

func cut(head []byte, limit int, whole *conversation.Truncated) []byte {
	note := note(whole)
	head = head[:boundary(head, max(0, min(len(head), limit-len(note)-1)))]
	kept := append(make([]byte, 0, len(head)+len(note)+1), head...)
	if len(head) > 0 && head[len(head)-1] != '\n' {
		kept = append(kept, '\n')
	}
	return append(kept, note...)
}

// boundary is the greatest place up to n at which a line ends. A line that
// began in the first half is cut within, between two runes.
func boundary(content []byte, n int) int {
	if end := bytes.LastIndexByte(content[:n], '\n') + 1; end > n/2 {
		return end
	}
	for back := 0; back < utf8.UTFMax && n-back > 0 && n < len(content); back++ {
		if utf8.RuneStart(content[n-back]) {
			return n - back
		}
	}
	return n
}

// A Capture keeps the beginning of what is written to it, and counts and
// hashes all of it, in memory that does not grow with the output. It is for
// one goroutine at a time; make one with [NewCapture].
type Capture struct {
	limit int
	head  []byte
	bytes int64
	lines int64
	last  byte
	sum   hash.Hash
}

// NewCapture returns a Capture whose content will have up to limit bytes.
func NewCapture(limit int) *Capture {
	return &Capture{limit: limit, sum: sha256.New()}
}

// Write takes all of p and never fails.
func (c *Capture) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if room := c.limit + 1 - len(c.head); room > 0 {
		c.head = append(c.head, p[:min(room, len(p))]...)
	}
	c.sum.Write(p)
	c.bytes += int64(len(p))
	c.lines += int64(bytes.Count(p, []byte{'\n'}))
	c.last = p[len(p)-1]
	return len(p), nil
}

// Bytes returns how many bytes were written.
func (c *Capture) Bytes() int64 { return c.bytes }

// Lines returns how many lines were written; one without its newline counts.
func (c *Capture) Lines() int64 {
	if c.bytes > 0 && c.last != '\n' {
		return c.lines + 1
	}
	return c.lines
}

// Content returns what [Cut] would return for all that was written.
func (c *Capture) Content() ([]byte, *conversation.Truncated) {
	if c.bytes <= int64(c.limit) {
		return c.head, nil
	}
	whole := &conversation.Truncated{Bytes: c.bytes, SHA256: hex.EncodeToString(c.sum.Sum(nil))}
	return cut(c.head, c.limit, whole), whole
}
