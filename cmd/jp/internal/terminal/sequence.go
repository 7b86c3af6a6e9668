package terminal

import (
	"bytes"
	"time"
	"unicode/utf8"
)

const (
	// sameKey is how long Esc alone may be the beginning of a key's sequence.
	sameKey = 50 * time.Millisecond
	// late is how long after Esc the rest of a key's sequence may come over a slow line.
	late = time.Second
	// maxString is how long a string or a key's sequence may be, in bytes.
	maxString = 4 << 10
)

// A kind is the kind of the first piece of typed bytes.
type kind int

const (
	character kind = iota
	escape         // Esc alone
	sequence       // of a key: CSI or SS3
	message        // OSC, DCS, SOS, PM or APC: a terminal's answer, and no key
	endless        // the beginning of a message that is too long
	broken         // a sequence that another key cut off, or a byte that belongs to no character
)

// cut finds the first piece. size is 0 if its end is not there yet.
func cut(typed []byte) (size int, is kind) {
	if typed[0] != byte(KeyEsc) {
		if !utf8.FullRune(typed) {
			return 0, character
		}
		if r, size := utf8.DecodeRune(typed); r != utf8.RuneError || size > 1 {
			return size, character
		}
		return 1, broken
	}
	if len(typed) == 1 {
		return 0, escape
	}
	switch typed[1] {
	case '[':
		return cutSequence(typed, 2)
	case 'O':
		if len(typed) < 3 {
			return 0, sequence
		}
		if typed[2] < ' ' {
			return 2, broken
		}
		return cutSequence(typed, 2)
	case ']', 'P', 'X', '^', '_':
		return cutMessage(typed)
	}
	if size, is = cut(typed[1:]); size > 0 {
		size++
	}
	return size, is // Alt with a character or a key
}

// cutSequence finds the end of a key's sequence, from a place on.
func cutSequence(typed []byte, from int) (int, kind) {
	for i := from; i < len(typed); i++ {
		switch c := typed[i]; {
		case c < ' ' || c >= 0x7f || i >= maxString:
			return i, broken
		case c == '[' && i == 2 && typed[1] == '[': // of the Linux console: one more byte
		case c >= 0x40:
			return i + 1, sequence
		}
	}
	return 0, sequence
}

func cutMessage(typed []byte) (int, kind) {
	for i := 2; i < len(typed); i++ {
		switch c := typed[i]; {
		case c == '\a':
			return i + 1, message
		case i >= maxString:
			return i, endless
		case c == byte(KeyEsc) && i+1 == len(typed):
			return 0, message
		case c == byte(KeyEsc) && typed[i+1] == '\\':
			return i + 2, message
		case c < ' ':
			return i, broken
		}
	}
	return 0, message
}

// tail finds how much more of an answer that is dropped there is, and whether it ends there. Esc at the end stays.
func tail(typed []byte) (size int, ends bool) {
	for i, c := range typed {
		switch {
		case c == '\a':
			return i + 1, true
		case c == byte(KeyEsc) && i+1 == len(typed):
			return i, false
		case c == byte(KeyEsc) && typed[i+1] == '\\':
			return i + 2, true
		case c < ' ':
			return i, true
		}
	}
	return len(typed), false
}

// ends reports whether typed bytes are the end of an answer: no person types it at once.
func ends(typed []byte) bool {
	size, _ := tail(typed)
	return bytes.HasSuffix(typed[:size], []byte("\a")) || bytes.HasSuffix(typed[:size], []byte("\x1b\\"))
}

// isAnswer reports whether the beginning of a message is no key with Alt.
func isAnswer(typed []byte) bool {
	return len(typed) > 2 && (typed[1] != ']' || typed[2] >= '0' && typed[2] <= '9')
}

// Sequences cuts typed bytes into characters and sequences of keys. The bytes may come in any pieces.
type Sequences struct {
	Answer func(message []byte) // takes a whole message of the terminal; nil: it is dropped

	text   bool // one byte behind Esc is a character of its own
	raw    []byte
	since  time.Time // when the first of them came
	added  time.Time // when the last of them came
	escape time.Time // when Esc came alone
	over   bool      // the time for the incomplete piece is up
	drops  bool      // the rest of a message that took too long, or is too long, is dropped as it comes
}

// TextSequences are those of an input in which text is typed.
func TextSequences() *Sequences { return &Sequences{text: true} }

// Add takes typed bytes. An empty slice means that none came within [Sequences.Wait].
func (s *Sequences) Add(typed []byte, now time.Time) {
	if s.over = len(typed) == 0; s.over {
		return
	}
	if len(s.raw) == 0 {
		if s.since = now; now.Sub(s.escape) < late && s.follows(typed) {
			s.raw = []byte{byte(KeyEsc)}
		}
		s.escape = time.Time{}
	}
	s.drops = s.drops && (now.Sub(s.added) < late || ends(typed))
	s.raw, s.added = append(s.raw, typed...), now
}

// follows reports whether typed bytes are the rest of a sequence whose Esc came earlier.
func (s *Sequences) follows(typed []byte) bool {
	if !s.text {
		return typed[0] == '[' || typed[0] == 'O' || typed[0] == ']'
	}
	if len(typed) < 2 {
		return false
	}
	size, is := cut(append([]byte{byte(KeyEsc)}, typed...))
	switch typed[0] {
	case '[':
		return is == sequence
	case 'O':
		return size == len(typed)+1 && is == sequence && bytes.IndexByte([]byte("ABCDFHPQRS"), typed[1]) >= 0
	case ']':
		return is == message && typed[1] >= '0' && typed[1] <= '9'
	case 'P', 'X', '^', '_':
		return is == message && size > 0
	}
	return false
}

// Next is the next character or key. It is nil if none is whole by now.
func (s *Sequences) Next(now time.Time) []byte {
	for len(s.raw) > 0 {
		if s.drops {
			size, ends := tail(s.raw)
			if s.raw, s.drops = s.raw[size:], !ends; ends || len(s.raw) == 0 {
				continue
			}
			if !s.over && s.Wait(now) != 0 {
				return nil
			}
			s.raw, s.drops, s.over = nil, false, false
			return nil
		}
		size, is := cut(s.raw)
		if size == 0 {
			if !s.over && s.Wait(now) != 0 {
				return nil
			}
			s.over = false
			size = len(s.raw)
			if is == escape {
				s.escape = now
			}
		}
		s.drops = is == endless
		taken := s.raw[:size:size]
		s.raw, s.since = s.raw[size:], s.added
		switch {
		case is < message:
			return taken
		case is == message && s.Answer != nil:
			s.Answer(taken)
		}
	}
	return nil
}

// Wait is how long the rest of an incomplete piece may take; negative for ever.
func (s *Sequences) Wait(now time.Time) time.Duration {
	if len(s.raw) == 0 {
		return forever
	}
	switch size, is := cut(s.raw); {
	case s.drops:
		return max(0, s.added.Add(late).Sub(now))
	case size > 0:
		return 0
	case is == escape:
		return max(0, s.added.Add(sameKey).Sub(now))
	case is == message && !isAnswer(s.raw): // Alt with a character, perhaps
		return max(0, s.since.Add(late).Sub(now))
	}
	return forever
}

// Rest are the bytes that are typed and not taken.
func (s *Sequences) Rest() []byte { return s.raw }

// TakeRest takes them.
func (s *Sequences) TakeRest() []byte {
	rest := s.raw
	s.raw = nil
	return rest
}

// piece takes keys typed in one piece, as from a paste, with the whole of each key. read waits for
// bytes, and returns none when the time is up.
func (s *Sequences) piece(read func(limit time.Duration) ([]byte, error), now func() time.Time) (typed []byte, err error) {
	for {
		limit := forever
		switch {
		case len(s.raw) > 0:
			limit = s.Wait(now())
		case len(typed) > 0:
			limit = onePiece
			if bytes.Contains(typed, []byte(pasteBegins)) && !bytes.Contains(typed, []byte(pasteEnds)) {
				limit = late
			}
		}
		more, err := read(limit)
		if err != nil {
			return nil, err
		}
		if len(more) == 0 && len(s.raw) == 0 && len(typed) > 0 {
			return typed, nil
		}
		at := now()
		s.Add(more, at)
		for next := s.Next(at); next != nil; next = s.Next(at) {
			typed = append(typed, next...)
		}
	}
}
