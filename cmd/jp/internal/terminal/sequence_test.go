package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A typist types pieces, each some time after the one before, and then no more.
type typist struct {
	pieces []string
	gap    time.Duration
	now    time.Time
	next   time.Time
}

func typing(gap time.Duration, pieces ...string) *typist {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &typist{pieces: pieces, gap: gap, now: begin, next: begin.Add(gap)}
}

func (p *typist) read(limit time.Duration) ([]byte, error) {
	if len(p.pieces) == 0 && limit < 0 {
		return nil, ErrHangup
	}
	if limit >= 0 && (len(p.pieces) == 0 || p.now.Add(limit).Before(p.next)) {
		p.now = p.now.Add(limit)
		return nil, nil
	}
	piece := p.pieces[0]
	p.pieces = p.pieces[1:]
	p.now, p.next = p.next, p.next.Add(p.gap)
	return []byte(piece), nil
}

func (p *typist) time() time.Time { return p.now }

// whole are sequences of which none is text.
var whole = map[string]Key{
	"漢": '漢', "é": 'é', "😀": '😀', "y": 'y', "\x03": KeyCtrlC,
	"\x1b[D": KeyOther, "\x1bOA": KeyOther, "\x1b[1;5C": KeyOther, "\x1b[3~": KeyOther, "\x1b[?62;4c": KeyOther, "\x1b[[A": KeyOther, "\x1b[I": KeyOther,
	"\x1b[<0;10;20M": KeyOther, "\x1by": KeyOther, "\x1b\x1b[D": KeyOther, "\x1b[200~y\x1b[201~": KeyOther,
	"\x1b]11;rgb:1e1e/1e1e/1e1e\a": 0, "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\": 0, "\x1bP>|term 1.2\x1b\\": 0, "\x1bP1$r0m\x1b\\": 0, "\x1b_Gi=1;OK\x1b\\": 0,
}

// A key that comes in two pieces, cut at any place, is the same key as in one. Esc alone has a timer,
// and late bytes behind it are no text.
func TestKeysInPieces(t *testing.T) {
	t.Parallel()
	for typed, want := range whole {
		for at := range len(typed) {
			for _, gap := range []time.Duration{5 * time.Millisecond, 100 * time.Millisecond, 900 * time.Millisecond} {
				pieces := []string{typed[:at], typed[at:], "z"}
				if at == 0 {
					pieces = pieces[1:]
				}
				p := typing(gap, pieces...)
				var s Sequences
				var keys []Key
				for {
					piece, err := s.piece(p.read, p.time)
					if err != nil {
						break
					}
					keys = append(keys, decode(piece))
				}
				if gap < onePiece { // all of it is one piece
					require.Len(t, keys, 1, "%q", pieces)
					continue
				}
				wanted := []Key{want, 'z'}
				if want == 0 {
					wanted = wanted[1:]
				}
				if strings.Trim(typed[:at], "\x1b") == "" && at > 0 {
					keys = keys[1:] // Esc alone, or twice
					if typed == "\x1by" {
						wanted[0] = 'y'
					}
					if strings.HasPrefix(typed, "\x1bP") || strings.HasPrefix(typed, "\x1b_") {
						continue // it may be typed behind Esc
					}
				}
				require.Equal(t, wanted, keys, "%q after %s each", pieces, gap)
			}
		}
	}
}

// A sequence that the terminal does not end is dropped after a second, or 4 KiB. An input without
// another end waits for it.
func TestSequencesWithoutAnEnd(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]struct {
		wait  time.Duration
		after string // the keys when the time is up and z was typed
	}{
		"":                                       {forever, "z"},
		"\x1b":                                   {sameKey, "\x1b z"},
		"\xe6\xbc":                               {forever, "z"},
		"\x1b[20":                                {forever, "\x1b[20z"},
		"\x1bO":                                  {forever, "\x1bOz"},
		"\x1b]11;rgb:":                           {forever, ""},
		"\x1bP>|":                                {forever, ""},
		"\x1b]11;\x1b":                           {forever, "\x1bz"},
		"\x1b]":                                  {late, "z"},
		"\x1b[20\x03":                            {forever, "\x03 z"},
		"\x1b]11;\x03":                           {forever, "\x03 z"},
		"\x1b]11;\x1b[D":                         {forever, "\x1b[D z"},
		"\x1b[1;\x1b[D":                          {forever, "\x1b[D z"},
		"\xff":                                   {forever, "z"},
		"\x1b]" + strings.Repeat("x", maxString): {forever, "z"},
	} {
		s, now := TextSequences(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		var got []string
		take := func() {
			for key := s.Next(now); key != nil; key = s.Next(now) {
				got = append(got, string(key))
			}
		}
		s.Add([]byte(typed), now)
		take()
		require.Equal(t, want.wait, s.Wait(now), "%q", typed)
		if now = now.Add(late); want.wait >= 0 {
			s.Add(nil, now)
		}
		take()
		s.Add([]byte("z"), now)
		take()
		require.Equal(t, want.after, strings.Join(got, " "), "%q", typed)
	}
}

// A terminal's answer is never text, with any length and end, and in any pieces.
func TestLongAnswers(t *testing.T) {
	t.Parallel()
	for _, begins := range []string{"\x1b]52;c;", "\x1bP1+r", "\x1b_G", "\x1b^", "\x1bX"} {
		for _, end := range []string{"\a", "\x1b\\"} {
			for _, length := range []int{0, 1, 100, maxString - 10, maxString - 9, maxString - 8, maxString - 7, maxString - 6, maxString, maxString + 1, 5 * maxString} {
				message := begins + strings.Repeat("r", length) + end
				for at := 3; at < len(message); at++ {
					if edge := min(at, len(message)-at, max(at-maxString, maxString-at)); edge > 9 && at%997 != 0 {
						continue
					}
					for _, gap := range []time.Duration{0, 100 * time.Millisecond, 900 * time.Millisecond, 3 * time.Second} {
						if gap > late && message[at:] == "\\" {
							continue // a backslash by itself is typed
						}
						require.Equal(t, "az", typedBy(typing(gap, "a", message[:at], message[at:], "z")), "%q of %d, cut at %d, %s apart", begins, len(message), at, gap)
					}
				}
				for _, size := range []int{7, 64, 1000, 4096} {
					pieces := []string{"a"}
					for rest := message; rest != ""; {
						n := min(size, len(rest))
						pieces, rest = append(pieces, rest[:n]), rest[n:]
					}
					for _, gap := range []time.Duration{20 * time.Millisecond, 400 * time.Millisecond, 900 * time.Millisecond} {
						require.Equal(t, "az", typedBy(typing(gap, append(pieces, "z")...)), "%q of %d in pieces of %d, %s apart", begins, len(message), size, gap)
					}
				}
			}
		}
	}
}

// Text typed behind an answer without an end is text again behind a key that ends it. Behind one that
// is too long it is so a second later.
func TestTypingBehindALostAnswer(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"\x1b]11;rgb:1e", "\x1bP1+r", "\x1b]52;c;" + strings.Repeat("r", 2*maxString), "\x1b]11;\x1b"} {
		if len(lost) > maxString {
			require.Equal(t, "abc", typedBy(typing(1100*time.Millisecond, "a", lost, "b", "c")), "%.20q", lost)
		}
		if strings.HasSuffix(lost, "\x1b") {
			continue // the next key has Alt
		}
		require.Equal(t, "a\x03b", typedBy(typing(300*time.Millisecond, "a", lost, "\x03", "b")), "%.20q", lost)
		require.Equal(t, "a\x1b[Db", typedBy(typing(300*time.Millisecond, "a", lost, "\x1b[D", "b")), "%.20q", lost)
	}
	require.Equal(t, "abcd", typedBy(typing(1100*time.Millisecond, "a", "\x1b]", "bcd")), "Alt and a character")
}

// typedBy is the input of typed pieces.
func typedBy(p *typist) (got string) {
	s := TextSequences()
	for {
		more, err := p.read(s.Wait(p.time()))
		if err != nil {
			return got
		}
		s.Add(more, p.time())
		for key := s.Next(p.time()); key != nil; key = s.Next(p.time()) {
			got += string(key)
		}
	}
}
