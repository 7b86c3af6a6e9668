package importer

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Sessions with records that are missing, moved, repeated, cut or changed make events that follow each other
// by the rules, and an import after them adds each event once.
func TestDamagedSessions(t *testing.T) {
	names := fixtures(t)
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		name := names[r.IntN(len(names))]
		f, lines := formatOf(name), damaged(r, strings.SplitAfter(fixture(t, name), "\n"))
		text := strings.Join(lines, "")
		fail := func(err error) { require.NoError(t, err, "seed %d:\n%s", seed, text) }
		_, events, err := importText(t, f, text, "", nil)
		fail(err)
		events.audit(t, "seed %d", int(seed))
		cut := r.IntN(len(lines) + 1)
		if begin := strings.Join(lines[:cut], ""); strings.HasSuffix(begin, "\n") {
			_, events, err = importText(t, f, begin, "", nil)
			fail(err)
			_, events, err = importText(t, f, text, "", events)
			if f.Name() == "gemini" && errors.Is(err, errChanged) {
				continue // a record took the place of an imported one
			}
			fail(err)
			events.audit(t, "seed %d, grown", int(seed))
		}
		if len(events) > 0 {
			again, _, err := importText(t, f, text, "", events)
			fail(err)
			require.Zero(t, again.Added, "seed %d:\n%s", seed, text)
		}
	}
}

func damaged(r *rand.Rand, lines []string) []string {
	words := []string{"t1", "t2", "t3", "m1", "m2", "c1", "c2", "user", "assistant", "tool_use", "tool_result", "text", "function_call", "message"}
	for range 1 + r.IntN(4) {
		i, j := r.IntN(len(lines)), r.IntN(len(lines))
		switch r.IntN(6) {
		case 0:
			lines[i] = ""
		case 1:
			lines[i], lines[j] = lines[j], lines[i]
		case 2:
			lines[i] += lines[j]
		case 3:
			if b := []byte(lines[i]); len(b) > 0 {
				b[r.IntN(len(b))] = byte(r.IntN(256))
				lines[i] = string(b)
			}
		case 4:
			lines[i] = strings.Replace(lines[i], words[r.IntN(len(words))], words[r.IntN(len(words))], 1)
		case 5:
			if len(lines[i]) > 1 {
				lines[i] = lines[i][:r.IntN(len(lines[i]))] + "\n"
			}
		}
	}
	return lines
}
