package prose

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A rate is how many negations and clauses in place of nouns 100 words have.
type rate struct{ negations, clauses float64 }

// goal is the highest rate that the comments of a folder may have.
var goal = rate{negations: 2.0, clauses: 0.5}

// TestCommentsAreInPlainEnglish counts the words of the comments in each folder.
func TestCommentsAreInPlainEnglish(t *testing.T) {
	folders := map[string]*Page{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != root):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		folder, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		if folders[folder] == nil {
			folders[folder] = &Page{}
		}
		for _, group := range file.Comments {
			folders[folder].Paragraphs = append(folders[folder].Paragraphs, group.Text())
		}
		return err
	}))
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		page := folders[folder]
		words := float64(page.Words())
		is := rate{100 * float64(len(page.Negations())) / words, 100 * float64(len(page.Clauses())) / words}
		t.Logf("%-12s %6.0f words, %.2f negations, %.2f clauses in 100 words", folder, words, is.negations, is.clauses)
		if is.negations > goal.negations || is.clauses > goal.clauses {
			t.Errorf("%s: %.2f negations and %.2f clauses with what, where or whoever in 100 words, at most %.2f and %.2f: say what is, with nouns.", folder, is.negations, is.clauses, goal.negations, goal.clauses)
		}
	}
}
