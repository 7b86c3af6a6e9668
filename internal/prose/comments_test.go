package prose

import (
	"fmt"
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

// above are the folders whose comments are above the goal, with their rates. They only fall.
var above = map[string]rate{
	"agent":    {2.54, 2.34},
	"backup":   {2.20, 1.64},
	"blame":    {2.00, 1.19},
	"cmd":      {2.00, 2.20},
	"examples": {2.14, 2.56},
	"export":   {2.00, 1.99},
	"gitstore": {2.21, 2.35},
	"proof":    {2.00, 2.12},
	"sandbox":  {2.95, 2.37},
	"tools":    {2.00, 0.78},
	"usage":    {2.00, 2.20},
	"worktree": {3.11, 2.21},
}

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
		allowed, listed := above[folder]
		if !listed {
			allowed = goal
		}
		if is.negations > allowed.negations+0.005 || is.clauses > allowed.clauses+0.005 {
			t.Errorf("%s: %.2f negations and %.2f clauses with what, where or whoever in 100 words, at most %.2f and %.2f: say what is, with nouns.", folder, is.negations, is.clauses, allowed.negations, allowed.clauses)
		}
		if listed && (allowed.negations-is.negations > 0.3 && allowed.negations > goal.negations || allowed.clauses-is.clauses > 0.3 && allowed.clauses > goal.clauses) {
			t.Errorf("%s: lower its rates in the table to %s.", folder, fmt.Sprintf("{%.2f, %.2f}", is.negations, is.clauses))
		}
	}
}
