package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/redacttest"
)

// A recorded session has secrets in its words, outputs and files. The objects, jp's folder and the journals of the recording have none.
func TestNoSecretIsRecordedOfAnAgent(t *testing.T) {
	t.Parallel()
	p, secrets := newPlace(t), &redacttest.Planter{Random: rand.New(rand.NewPCG(1, 2))}
	p.fakesClaude()
	args := []string{"record", "claude", secrets.Texts(40)}
	for i := range 6 {
		p.write(fmt.Sprintf("../out%d.txt", i), secrets.Texts(20))
		p.write(fmt.Sprintf("../made%d.txt", i), secrets.Texts(10))
		args = append(args, fmt.Sprintf("cat ../out%d.txt; : --token %s", i, secrets.Token()), fmt.Sprintf("cp ../made%d.txt made%[1]d; echo x >named-%s", i, secrets.Token()))
	}
	p.write("untracked-"+secrets.Token(), secrets.Texts(4))
	out := p.jp(args...)
	require.Equal(t, 12, out.exit, out.stderr)
	require.Contains(t, out.stderr, "jp recorded 12 tool calls")
	require.NotContains(t, out.stderr, "jp could not")
	marks := slices.Compact(slices.Sorted(slices.Values(secrets.Marks)))
	require.Greater(t, len(marks), 200)
	words, err := os.ReadFile(p.fakeFile())
	require.NoError(t, err)
	require.Contains(t, string(words), secrets.Marks[0], "the session has them")
	require.Empty(t, p.traces(marks))
	for _, mark := range marks {
		require.NotContains(t, out.stderr, mark)
	}
	var journals []byte
	require.NoError(t, filepath.WalkDir(filepath.Join(p.environHome(), ".local", "state", "jp", "recordings"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		journals = append(append(journals, path...), text...)
		return err
	}))
	require.Contains(t, string(journals), `"kind":"after"`)
	var found []string
	for _, mark := range marks {
		if bytes.Contains(journals, []byte(mark)) {
			found = append(found, mark)
		}
	}
	require.Empty(t, found)
}
