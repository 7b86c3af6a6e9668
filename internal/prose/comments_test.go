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
	"acp":           {2.00, 2.39},
	"acp:":          {0.00, 0.00},
	"agent":         {2.56, 2.36},
	"agent:":        {0.00, 0.00},
	"backup":        {2.20, 1.64},
	"backup:":       {0.00, 0.00},
	"blame":         {2.00, 1.19},
	"blame:":        {0.00, 0.00},
	"cmd":           {2.00, 2.22},
	"cmd:":          {0.00, 0.00},
	"compaction":    {2.00, 2.11},
	"compaction:":   {0.00, 0.00},
	"config":        {2.00, 2.11},
	"config:":       {0.00, 0.00},
	"conversation":  {2.25, 2.28},
	"conversation:": {0.00, 0.00},
	"doctor":        {3.76, 3.20},
	"doctor:":       {0.00, 0.00},
	"examples":      {2.14, 2.56},
	"examples:":     {0.00, 0.00},
	"export":        {2.00, 2.10},
	"export:":       {0.00, 0.00},
	"fork":          {2.26, 2.15},
	"fork:":         {0.00, 0.00},
	"gitcmd":        {2.85, 2.23},
	"gitcmd:":       {0.00, 0.00},
	"gitstore":      {2.21, 2.36},
	"gitstore:":     {0.00, 0.00},
	"hooks":         {2.95, 3.29},
	"hooks:":        {0.00, 0.00},
	"importer":      {2.02, 2.08},
	"importer:":     {0.00, 0.00},
	"instructions":  {2.29, 2.70},
	"instructions:": {0.00, 0.00},
	"internal":      {2.14, 1.90},
	"internal:":     {0.00, 0.00},
	"process":       {2.72, 2.07},
	"process:":      {0.00, 0.00},
	"proof":         {2.00, 2.14},
	"proof:":        {0.00, 0.00},
	"provider":      {2.25, 2.56},
	"provider:":     {0.00, 0.00},
	"reconcile":     {3.40, 3.01},
	"reconcile:":    {0.00, 0.00},
	"redact":        {2.00, 2.74},
	"redact:":       {0.00, 0.00},
	"sandbox":       {2.94, 2.35},
	"sandbox:":      {0.00, 0.00},
	"search":        {2.84, 2.72},
	"search:":       {0.00, 0.00},
	"skills":        {2.00, 2.01},
	"skills:":       {0.00, 0.00},
	"tool":          {2.57, 2.19},
	"tool:":         {0.00, 0.00},
	"tools":         {2.00, 0.78},
	"tools:":        {0.00, 0.00},
	"turnloop":      {2.30, 2.09},
	"turnloop:":     {0.00, 0.00},
	"undo":          {2.61, 2.79},
	"undo:":         {0.00, 0.00},
	"usage":         {2.00, 2.11},
	"usage:":        {0.00, 0.00},
	"worktree":      {3.20, 2.23},
	"worktree:":     {0.00, 0.00},
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
		if listed && (allowed.negations-is.negations > 0.1 && allowed.negations > goal.negations || allowed.clauses-is.clauses > 0.1 && allowed.clauses > goal.clauses) {
			t.Errorf("%s: lower its rates in the table to %s.", folder, fmt.Sprintf("{%.2f, %.2f}", is.negations, is.clauses))
		}
	}
}
