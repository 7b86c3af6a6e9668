package gitstore_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	"jp/internal/testing/gitenv"
	"jp/internal/testing/journaltest"
)

// examples are the blocks of one kind in the description of the format.
func examples(t *testing.T, kind string) []string {
	t.Helper()
	page, err := os.ReadFile("../docs/format.md")
	require.NoError(t, err)
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)\n```"+kind+"\n(.*?)```\n").FindAllStringSubmatch(string(page), -1) {
		blocks = append(blocks, m[1])
	}
	require.NotEmpty(t, blocks)
	return blocks
}

// The conversation on the page is a real one: git alone can store it, and jp reads it, believes it and goes
// on with it.
func TestFormatExamples(t *testing.T) {
	gitenv.Isolate(t)
	t.Setenv("GIT_DEFAULT_HASH", "sha1") // as on the page
	f := newFixture(t)
	page, err := os.ReadFile("../docs/format.md")
	require.NoError(t, err)
	commits := examples(t, "commit")
	f.git("hash-object", "-w", "-t", "tree", "/dev/null")
	head := ""
	for _, commit := range commits {
		head = f.put("commit", []byte(commit))
		require.Contains(t, string(page), "Commit `"+head+"`")
	}
	f.git("update-ref", refs+string(journaltest.ID(1)), head)
	fsck(t, f.dir)
	events, err := f.load(1)
	require.NoError(t, err)
	require.Len(t, events, len(commits))
	require.True(t, conversation.Local(events))
	require.Equal(t, "for {\n\ttry()\n}\n", textOf(t, events[3]))
	v, err := f.Verify(t.Context(), journaltest.ID(1))
	require.NoError(t, err)
	require.Empty(t, v.Problems)
	query := strings.NewReplacer("<id>", string(journaltest.ID(1)), "'", "").Replace(strings.TrimSpace(examples(t, "sh")[0]))
	query, format, _ := strings.Cut(strings.TrimPrefix(query, "git "), "--format=")
	format, ref, _ := strings.Cut(format, " refs/")
	shown := strings.Split(f.git(append(strings.Fields(query), "--format="+format, "refs/"+ref)...), "\n")
	require.Equal(t, events[1].Commit[:7]+" chat_request user: Why does Retry never stop?", shown[3])
	stream, tail := conversation.SplitTail(events)
	require.Nil(t, tail)

	// jp would write them today as they stand there.
	for _, e := range events {
		e.Commit = ""
	}
	again := f.create(2, events)
	require.Equal(t, head, string(again))
	require.Equal(t, len(events), stream.Len())
}

// Every line is a writer's line, and every type has one.
func TestFormatLines(t *testing.T) {
	seen := map[conversation.Type]bool{}
	for _, block := range examples(t, "jp-data") {
		for line := range strings.SplitSeq(strings.TrimSuffix(block, "\n"), "\n") {
			e, span, err := conversation.DecodeHeader([]byte(line))
			require.NoError(t, err)
			again, err := conversation.EncodeHeader(e, span)
			require.NoError(t, err)
			require.Equal(t, line, string(again))
			seen[e.Type()] = true
		}
	}
	for _, b := range bodies() {
		require.True(t, seen[b.Type()], b.Type())
	}
	require.Len(t, seen, 25)
}
