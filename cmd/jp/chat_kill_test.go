package main

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// killScript thinks, asks for a tool and streams, so that a kill meets each of these.
const killScript = `
[[reply]]
message = "I make a file, and say so in some more words than it takes."
chunk_size = 4
chunk_delay = "15ms"
[[reply.tool_call]]
name = "fs_create_file"
arguments = { path = "made.txt", content = "made\n" }
[[reply]]
message = "It is made, and this answer streams for a while, too."
chunk_size = 4
chunk_delay = "15ms"
[[reply]]
message = "A further one."
`

// A kill at any moment, while the person types, queues messages, reads and answers, loses nothing
// that was recorded and no text that stood on the screen for some time. JP_CHAT_KILLS is the number
// of kills, which make soak gives. With it the time is one second. Without it, a slow machine has more.
func TestChatRandomKills(t *testing.T) {
	t.Parallel()
	kills, kept := 2, 3*time.Second
	if n, err := strconv.Atoi(os.Getenv("JP_CHAT_KILLS")); err == nil {
		kills, kept = n, time.Second
	}
	seed := time.Now().UnixNano()
	if n, err := strconv.ParseInt(os.Getenv("JP_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("JP_SEED=%d", seed)
	random := rand.New(rand.NewSource(seed))
	p := newPlace(t)
	p.write("../talk.toml", killScript)
	recorded, texts := 0, 0
	for n := range kills {
		in := *p
		in.environ = append(p.environ[:len(p.environ):len(p.environ)], fmt.Sprintf("JP_SESSION=kill-%d", n))
		s := in.sit(150, "chat", "-m", "script/../talk.toml")
		s.Wait("a line", func() bool { return strings.Contains(s.Text(), "\n>") })
		seen := map[string]time.Time{} // when a word was shown first
		var typed []string
		until := time.Now().Add(time.Duration(random.Int63n(int64(2 * kept))))
		if n == 0 {
			until = until.Add(kept + kept/2) // some words have stood long enough
		}
		for len(typed) < 200 && time.Now().Before(until) {
			switch random.Intn(5) {
			case 0:
				s.Type("\r")
			case 1:
				s.Type("y")
			default:
				word := fmt.Sprintf("word%dx%d", n, len(typed))
				for _, key := range word + " " {
					s.Type(string(key))
				}
				typed = append(typed, word)
			}
			wait := time.Now().Add(time.Duration(random.Intn(120)) * time.Millisecond)
			for first := true; first || time.Now().Before(wait); first = false {
				for screen := s.Text(); len(seen) < len(typed); {
					next := typed[len(seen)]
					if !strings.Contains(screen, next) {
						break
					}
					seen[next] = time.Now()
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
		require.NoError(t, s.cmd.Process.Kill())
		killed := time.Now()
		_ = s.cmd.Wait()

		var all strings.Builder
		files, err := filepath.Glob(filepath.Join(p.dir, ".git/jp/drafts/*"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			all.Write(text)
		}
		if out := in.jp("print", "--internal", "--json"); out.exit == 0 {
			all.WriteString(out.stdout)
			recorded++
		}
		for word, at := range seen {
			if killed.Sub(at) > kept {
				require.Contains(t, all.String(), word, "kill %d, %v after it was shown:\n%s", n, killed.Sub(at), s.Text())
				texts++
			}
		}
	}
	require.NotZero(t, texts)
	require.Zero(t, p.jp("verify", "--all").exit)
	t.Logf("%d kills, %d conversations, %d words kept", kills, recorded, texts)
}
