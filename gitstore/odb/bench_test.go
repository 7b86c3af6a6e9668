package odb_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitstore/odb"
)

// benchDir is a new directory of this run: creating files in a place of many deletions is several times
// slower. JP_BENCH_DIR puts it on another file system.
func benchDir(b *testing.B) string {
	b.Helper()
	if parent := os.Getenv("JP_BENCH_DIR"); parent != "" {
		dir, err := os.MkdirTemp(parent, "odb")
		require.NoError(b, err)
		return dir
	}
	return b.TempDir()
}

func benchRepo(b *testing.B) string {
	b.Helper()
	dir := benchDir(b)
	git(b, dir, "init", "-q", "-b", "main")
	return dir
}

// conditions names the conditions of the figures.
func conditions(b *testing.B, s *odb.Store) {
	b.Helper()
	var st syscall.Statfs_t
	require.NoError(b, syscall.Statfs(s.Dir(), &st))
	b.Logf("file system type %#x, write path %s", st.Type, s.Path())
}

var eventText = strings.Repeat("some text of an event, as long as the usual one; ", 28)

func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 5} {
		for _, opts := range []odb.Options{{}, {Path: odb.PathOrdered}, {Path: odb.PathStepwise}, {Durability: odb.Off}} {
			name := fmt.Sprintf("events=%d/path=%s/durability=%d", n, opts.Path, opts.Durability)
			b.Run(name, func(b *testing.B) { benchmarkAppend(b, n, opts) })
		}
	}
}

func benchmarkAppend(b *testing.B, n int, opts odb.Options) {
	s := open(b, benchRepo(b), opts)
	head := tip(create(b, s, ref, 1))
	conditions(b, s)
	for b.Loop() {
		objects := chain(head, n, eventText)
		require.NoError(b, s.Write(bg, appendBatch(ref, head, objects)))
		head = tip(objects)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
}

func BenchmarkAppendJSONL(b *testing.B) {
	f, err := os.OpenFile(filepath.Join(benchDir(b), "events.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(b, err)
	defer f.Close()
	line := []byte(fmt.Sprintf("{\"text\":%q}\n", eventText))
	for b.Loop() {
		_, err := f.Write(line)
		require.NoError(b, err)
		require.NoError(b, f.Sync())
	}
}

func BenchmarkAppendGit(b *testing.B) {
	repo := benchRepo(b)
	head := string(tip(create(b, open(b, repo, odb.Options{Format: testFormat}), ref, 1)))
	for b.Loop() {
		next := git(b, repo, "-c", "core.fsync=all", "commit-tree", "-p", head, "-m", eventText, string(emptyTree.OID))
		git(b, repo, "-c", "core.fsync=all", "update-ref", ref, next, head)
		head = next
	}
}

func BenchmarkWalk10000(b *testing.B) {
	repo := benchRepo(b)
	s := open(b, repo, odb.Options{Format: testFormat, Durability: odb.Off})
	head := tip(create(b, s, ref, 10_000))
	for _, packed := range []bool{false, true} {
		if packed {
			git(b, repo, "repack", "-adq")
			git(b, repo, "prune-packed")
		}
		b.Run(fmt.Sprintf("packed=%v", packed), func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, whole(s, head))
			}
		})
	}
}

func BenchmarkListRefs10000(b *testing.B) {
	repo := benchRepo(b)
	s := open(b, repo, odb.Options{Format: testFormat, Durability: odb.Off})
	head := tip(create(b, s, ref, 1))
	var script bytes.Buffer
	for i := range 10_000 {
		fmt.Fprintf(&script, "create refs/jp/conversations/jp-x%d %s\n", i, head)
	}
	_, err := tryGit(repo, script.String(), "update-ref", "--stdin")
	require.NoError(b, err)
	for _, packed := range []bool{false, true} {
		if packed {
			git(b, repo, "pack-refs", "--all")
		}
		b.Run(fmt.Sprintf("packed=%v", packed), func(b *testing.B) {
			for b.Loop() {
				refs, err := s.ListRefs("refs/jp/")
				require.NoError(b, err)
				require.Len(b, refs, 10_001)
			}
		})
	}
}
