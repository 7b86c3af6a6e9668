package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"jp/agent/repo"
	"jp/importer"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// All bytes pass in their order, and each line is seen once before its end passes.
func TestRelay(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var sent [][]byte
	for range 300 {
		line := bytes.Repeat([]byte{byte(random.IntN(256))}, random.IntN(3000))
		sent = append(sent, append(bytes.ReplaceAll(line, []byte{'\n'}, nil), '\n'))
	}
	sent = append(sent, append(bytes.Repeat([]byte("9"), 9<<20), '\n'), []byte("{invalid\n"), []byte("without an end"))
	in, from := pipe(t)
	out, to := pipe(t)
	var seen [][]byte
	go func() {
		_ = relay(to, in, func(line []byte) { seen = append(seen, line) })
		_ = to.Close()
	}()
	go func() {
		for _, line := range sent {
			_, _ = from.Write(line)
		}
		_ = from.Close()
	}()
	got, err := io.ReadAll(out)
	require.NoError(t, err)
	require.True(t, bytes.Equal(bytes.Join(sent, nil), got))
	require.True(t, slices.EqualFunc(sent, seen, bytes.Equal))
}

func TestRelayDelay(t *testing.T) {
	in, from := pipe(t)
	out, to := pipe(t)
	go func() { _ = relay(to, in, func([]byte) {}) }()
	var delays []time.Duration
	message := []byte(strings.Repeat("x", 2000) + "\n")
	for range 2000 {
		at := time.Now()
		_, err := from.Write(message)
		require.NoError(t, err)
		_, err = io.ReadFull(out, make([]byte, len(message)))
		require.NoError(t, err)
		delays = append(delays, time.Since(at))
	}
	slices.Sort(delays)
	t.Logf("p50 %s, p99 %s", delays[len(delays)/2], delays[len(delays)*99/100])
	require.Less(t, delays[len(delays)*99/100], 50*time.Millisecond)
}

func noRepository(context.Context) (*repo.Repo, error) { return nil, errors.New("no repository") }

// The agent's end is the proxy's, at any message, and so is the end of the editor.
func TestProxyEnds(t *testing.T) {
	for name, test := range map[string]struct {
		agent string
		exit  int
		leave bool
	}{
		"agent":  {"head -n %d; echo gone >&2; exit 7", 7, false},
		"editor": {"cat; exit 3", 3, true},
	} {
		for n := range 4 {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				in, editor := pipe(t)
				out, theirs := pipe(t)
				log, errs := pipe(t)
				agent := strings.ReplaceAll(test.agent, "%d", fmt.Sprint(n))
				ended := make(chan Run, 1)
				go func() {
					run, err := ProxyACP(t.Context(), noRepository, []string{"sh", "-c", agent}, [3]*os.File{in, theirs, errs})
					if err != nil {
						t.Error(err)
					}
					_, _ = theirs.Close(), errs.Close()
					ended <- run
				}()
				want := strings.Repeat("{\"a\":1}\n", n)
				_, err := io.WriteString(editor, want)
				require.NoError(t, err)
				if test.leave {
					require.NoError(t, editor.Close())
				}
				got, err := io.ReadAll(out)
				require.NoError(t, err)
				require.Equal(t, want, string(got))
				require.Equal(t, test.exit, (<-ended).Status.ExitStatus())
				said, err := io.ReadAll(log)
				require.NoError(t, err)
				require.Contains(t, string(said), "jp records nothing: no repository\n")
			})
		}
	}
}

func TestALongMessageIsShortened(t *testing.T) {
	text, err := shortened([]byte(`{"method":"x","params":{"a":["` + strings.Repeat("é", 5<<20) + `"]}}`))
	require.NoError(t, err)
	require.Less(t, len(text), 100<<10)
	m, ok := importer.ReadACP(text)
	require.True(t, ok)
	require.Equal(t, "x", m.Method)
}
