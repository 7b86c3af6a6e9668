package gitstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/gitstore"
	"jp/gitstore/odb"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

// eventText is as long as the usual event's.
var eventText = strings.Repeat("some text of an event, as long as the usual one;\n", 28)

var conditions sync.Once

// benchFixture is a repository that is new to its file system: making files
// where many were just deleted is slower. JP_BENCH_DIR puts it elsewhere.
func benchFixture(b *testing.B, opts gitstore.Options) *fixture {
	b.Helper()
	gitenv.Isolate(b)
	dir := b.TempDir()
	if parent := os.Getenv("JP_BENCH_DIR"); parent != "" {
		var err error
		dir, err = os.MkdirTemp(parent, "gitstore")
		require.NoError(b, err)
	}
	gitenv.Git(b, dir, "init", "-q")
	conditions.Do(func() {
		var st syscall.Statfs_t
		require.NoError(b, syscall.Statfs(dir, &st))
		fmt.Printf("file system type %#x\n", st.Type)
	})
	return &fixture{Store: openStore(b, dir, opts), t: b, dir: dir}
}

func long(n int) []*conversation.Event {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = eventText
	}
	return say(texts...)
}

func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 5} {
		for name, durability := range map[string]odb.Durability{"full": odb.Full, "off": odb.Off} {
			b.Run(fmt.Sprintf("events=%d/durability=%s", n, name), func(b *testing.B) {
				f := benchFixture(b, gitstore.Options{Durability: durability})
				head := f.create(1, long(1))
				seq := 1
				for b.Loop() {
					group := long(n)
					for _, e := range group {
						e.Seq = seq
						seq++
					}
					var err error
					head, err = f.Append(b.Context(), journaltest.ID(1), head, group)
					require.NoError(b, err)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
			})
		}
	}
}

func BenchmarkAppendJSONL(b *testing.B) {
	f := benchFixture(b, gitstore.Options{})
	file, err := os.OpenFile(filepath.Join(f.dir, "events.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(b, err)
	defer file.Close()
	line := fmt.Appendf(nil, "{\"text\":%q}\n", eventText)
	for b.Loop() {
		_, err := file.Write(line)
		require.NoError(b, err)
		require.NoError(b, file.Sync())
	}
}

func BenchmarkAppendGit(b *testing.B) {
	f := benchFixture(b, gitstore.Options{})
	head := string(f.create(1, long(1)))
	tree := f.git("rev-parse", head+"^{tree}")
	for b.Loop() {
		next := f.git("-c", "core.fsync=all", "commit-tree", "-p", head, "-m", eventText, tree)
		f.git("-c", "core.fsync=all", "update-ref", refs+string(journaltest.ID(1)), next, head)
		head = next
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		f := benchFixture(b, gitstore.Options{Durability: odb.Off})
		head := f.create(1, long(n))
		for _, place := range []string{"loose", "packed"} {
			if place == "packed" {
				f.git("repack", "-adq")
				f.git("prune-packed")
			}
			b.Run(fmt.Sprintf("events=%d/%s/jp", n, place), func(b *testing.B) {
				for b.Loop() {
					events, err := f.Load(b.Context(), head)
					require.NoError(b, err)
					require.Len(b, events, n)
				}
			})
			b.Run(fmt.Sprintf("events=%d/%s/git", n, place), func(b *testing.B) {
				for b.Loop() {
					f.git("log", "--first-parent", "--format=%B", string(head))
				}
			})
		}
	}
}

func BenchmarkList(b *testing.B) {
	for _, n := range []int{100, 1000} {
		f := benchFixture(b, gitstore.Options{Durability: odb.Off})
		for i := range n {
			f.create(i, long(3))
		}
		b.Run(fmt.Sprintf("conversations=%d/jp", n), func(b *testing.B) {
			for b.Loop() {
				infos, err := f.again().List(b.Context(), conversation.ScopeLive)
				require.NoError(b, err)
				require.Len(b, infos, n)
			}
		})
		b.Run(fmt.Sprintf("conversations=%d/git", n), func(b *testing.B) {
			for b.Loop() {
				f.git("for-each-ref", "--format=%(refname) %(objectname) %(authorname) %(subject) %(raw)", refs)
			}
		})
	}
}

func BenchmarkFork(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		f := benchFixture(b, gitstore.Options{Durability: odb.Off})
		head := f.create(1, long(n))
		count := 1
		b.Run(fmt.Sprintf("events=%d/jp", n), func(b *testing.B) {
			for b.Loop() {
				count++
				origin := &conversation.Event{Seq: n, Turn: 1, Time: when, Body: &conversation.ForkOrigin{Conversation: journaltest.ID(1), Seq: n - 1, Commit: string(head)}}
				_, err := f.Fork(b.Context(), journaltest.ID(1), head, conversation.ID(fmt.Sprintf("jp-c%011d", count)), origin)
				require.NoError(b, err)
			}
		})
		b.Run(fmt.Sprintf("events=%d/git", n), func(b *testing.B) {
			for b.Loop() {
				count++
				f.git("update-ref", fmt.Sprintf("refs/heads/copy%d", count), string(head))
			}
		})
	}
}
