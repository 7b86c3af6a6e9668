package prose

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// pages are the documents that the rules hold for.
func pages(t *testing.T) []string {
	t.Helper()
	found := []string{"README.md", "CHANGELOG.md"}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			path, err = filepath.Rel(root, path)
			found = append(found, filepath.ToSlash(path))
		}
		return err
	})
	require.NoError(t, err)
	return found
}

func TestPagesAreInPlainEnglish(t *testing.T) {
	for _, name := range pages(t) {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, name))
			require.NoError(t, err)
			p := Parse(string(text))
			words, negations := p.Words(), p.Negations()
			t.Logf("%d words, %d negations: %.1f in 100 words", words, len(negations), 100*float64(len(negations))/float64(max(words, 1)))
			if allowed := Allowed(words); len(negations) > allowed {
				t.Errorf("%d negations in %d words, at most %d: say what is. They are:\n%s", len(negations), words, allowed, strings.Join(negations, "\n"))
			}
			if semicolons := p.Semicolons(); len(semicolons) > 0 {
				t.Errorf("semicolons in prose: make two sentences.\n%s", strings.Join(semicolons, "\n"))
			}
		})
	}
}

func TestParse(t *testing.T) {
	p := Parse("# No heading; none\n\nIt is `not; code` and [here](no;where).\n\n```sh\nnever; run\n```\n| no | table; |\n\n- one not\n- two; can't\n````\n```\nno;\n````\nEnd, nobody's.\n<!-- not; this -->\n")
	require.Equal(t, []string{"It is code and here.", "- one not", "- two; can't", "End, nobody's."}, p.Paragraphs)
	require.Equal(t, 11, p.Words())
	require.Len(t, p.Negations(), 3)
	require.Equal(t, []string{"…- two[;] can't…"}, p.Semicolons())
}

func TestAllowed(t *testing.T) {
	require.Equal(t, 2, Allowed(10))
	require.Equal(t, 2, Allowed(200))
	require.Equal(t, 13, Allowed(1000))
	require.Equal(t, 12, Allowed(999))
}
