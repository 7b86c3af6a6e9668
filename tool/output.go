package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"unicode/utf8"

	"jp/conversation"
)

// Limit is how many bytes of a tool's output jp keeps, with the note on the gap.
const Limit = 8 << 20

// noteRoom is the space kept for a note on a gap.
const noteRoom = 200

// A Gap is the omitted middle of a content.
type Gap struct {
	Bytes int64
	First int64 // its first line, from 1
	Skip  int64 // bytes of that line before it
	Last  int64 // its last line
}

// plain is the note on the gap in an output of a tool.
func (g Gap) plain() string {
	return fmt.Sprintf("[jp left out %s here, and did not keep them.]", conversation.Count(int(g.Bytes), "byte"))
}

// Truncate returns content as it is if it has at most limit bytes. Else it returns its beginning, a note on
// the gap, and three times as much of its end, since the end of an output matters more often. Both parts are
// cut at the end of a line if one is near, or at the end of a rune. The result has at most limit bytes,
// unless the note alone has more. The second result has the size and SHA-256 of the whole.
func Truncate(content []byte, limit int) ([]byte, *conversation.Truncated) {
	if len(content) <= limit {
		return content, nil
	}
	return Shorten(content, limit, Gap.plain), Whole(content)
}

// Whole is the size and SHA-256 of content that is cut.
func Whole(content []byte) *conversation.Truncated {
	sum := sha256.Sum256(content)
	return &conversation.Truncated{Bytes: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
}

// Shorten is [Truncate] with a note of the caller's, of at most 200 bytes, on one line.
func Shorten(content []byte, limit int, note func(Gap) string) []byte {
	if len(content) <= limit {
		return content
	}
	head, tail := rooms(limit)
	return around(content[:head], content[len(content)-tail:], int64(len(content)), linesOf(content), note)
}

// rooms are the sizes of the kept beginning and end of a longer content.
func rooms(limit int) (head, tail int) {
	room := max(0, limit-noteRoom)
	return room / 4, room - room/4
}

// around puts a note between the beginning and the end of a content.
func around(head, tail []byte, size, lines int64, note func(Gap) string) []byte {
	head = wholeLines(head)
	if end := bytes.IndexByte(tail, '\n') + 1; end > 0 && end < len(tail)/2 {
		tail = tail[end:]
	} else {
		for i := 0; i < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); i++ {
			tail = tail[1:]
		}
	}
	before, behind := int64(bytes.Count(head, newline)), linesOf(tail)
	gap := Gap{
		Bytes: size - int64(len(head)+len(tail)), First: before + 1, Skip: int64(len(head) - bytes.LastIndexByte(head, '\n') - 1),
		Last: max(lines-behind, before+1), // the end may begin within the same line
	}
	kept := append(make([]byte, 0, len(head)+len(tail)+noteRoom), head...)
	if len(head) > 0 && head[len(head)-1] != '\n' {
		kept = append(kept, '\n')
	}
	kept = append(kept, note(gap)...)
	return append(append(kept, '\n'), tail...)
}

var newline = []byte{'\n'}

// linesOf is how many lines a text has; one without its newline counts.
func linesOf(text []byte) int64 {
	n := int64(bytes.Count(text, newline))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// wholeLines is a beginning without its last line, if that began in its second half, and
// without a rune that is cut in two.
func wholeLines(head []byte) []byte {
	if end := bytes.LastIndexByte(head, '\n') + 1; end > len(head)/2 {
		return head[:end]
	}
	for back := 1; back <= min(utf8.UTFMax, len(head)); back++ {
		if at := len(head) - back; utf8.RuneStart(head[at]) {
			if !utf8.FullRune(head[at:]) {
				return head[:at]
			}
			break
		}
	}
	return head
}

// A Capture keeps the beginning and the end of all bytes written to it, and counts and hashes all of them, in
// bounded memory. It is for one goroutine at a time. [NewCapture] makes one.
type Capture struct {
	limit int
	all   []byte // the first limit bytes
	ring  []byte // the last bytes, once there are more than limit
	next  int    // the next position in the ring
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
	c.sum.Write(p)
	c.bytes += int64(len(p))
	c.lines += int64(bytes.Count(p, newline))
	c.last = p[len(p)-1]
	fits := min(c.limit-len(c.all), len(p))
	c.all = append(c.all, p[:fits]...)
	if fits < len(p) {
		c.later(p[fits:])
	}
	return len(p), nil
}

// later keeps the end of the bytes after the first limit bytes.
func (c *Capture) later(p []byte) {
	if c.ring == nil {
		_, tail := rooms(c.limit)
		c.ring = make([]byte, tail)
		copy(c.ring, c.all[len(c.all)-tail:])
	}
	p = p[max(0, len(p)-len(c.ring)):]
	n := copy(c.ring[c.next:], p)
	copy(c.ring, p[n:])
	if len(c.ring) > 0 {
		c.next = (c.next + len(p)) % len(c.ring)
	}
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

// Content returns the result of [Truncate] for all bytes written.
func (c *Capture) Content() ([]byte, *conversation.Truncated) {
	if c.bytes <= int64(c.limit) {
		return c.all, nil
	}
	head, _ := rooms(c.limit)
	tail := append(slices.Clone(c.ring[c.next:]), c.ring[:c.next]...)
	whole := &conversation.Truncated{Bytes: c.bytes, SHA256: hex.EncodeToString(c.sum.Sum(nil))}
	return around(c.all[:head], tail, c.bytes, c.Lines(), Gap.plain), whole
}
