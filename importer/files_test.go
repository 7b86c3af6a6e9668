package importer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/worktree"
)

func newFiles() *files {
	return &files{
		format: gitcmd.SHA1, dir: "/home/ada/app/web", roots: []string{"/home/ada/app"}, start: func() (string, error) { return "", nil },
		admit: func(name string, known bool, _ string) (string, error) { return worktree.WhyNotName(name, known), nil },
		read:  func(oid string) (string, []byte, error) { return "", nil, fmt.Errorf("%s is not there", oid) },
	}
}

func text(s string) *string { return &s }

// A change outside of the session has the lines that git counts.
func TestLinesOfOutsideChanges(t *testing.T) {
	for _, c := range []struct {
		before         *string
		after          string
		added, deleted int
	}{
		{nil, "a\nb\n", 2, 0}, {nil, "", 0, 0}, {nil, "a", 1, 0}, {text("a\nb\n"), "a\nc\nd\n", 2, 1}, {text("a\n"), "", 0, 1},
		{text("a\nb\nc\n"), "c\n", 0, 2}, {text("a"), "a\n", 1, 1}, {nil, "a\x00", -1, -1}, {text("\x00"), "a\n", -1, -1},
	} {
		stat := statOf("f", c.before, c.after)
		require.Equal(t, []int{c.added, c.deleted}, []int{stat.Added, stat.Deleted}, "%q", c.after)
	}
}

// Edits make files if the content is known and matches. Else the file stays as it was.
func TestFilesFollowFromEdits(t *testing.T) {
	written := Edit{Path: "a.txt", Created: true, After: text("one\ntwo\n")}
	for name, test := range map[string]struct {
		edits   []Edit
		want    *string // of web/a.txt
		outside int
		unknown int
	}{
		"written":                 {[]Edit{written}, text("one\ntwo\n"), 0, 0},
		"replaced":                {[]Edit{written, {Path: "a.txt", Replaced: []Replacement{{"two", "2", false}}}}, text("one\n2\n"), 0, 0},
		"replaced twice":          {[]Edit{written, {Path: "a.txt", Replaced: []Replacement{{"two", "2", false}, {"one", "1", false}}}}, text("1\n2\n"), 0, 0},
		"not there":               {[]Edit{written, {Path: "a.txt", Replaced: []Replacement{{"three", "3", false}}}}, text("one\ntwo\n"), 0, 1},
		"more than one":           {[]Edit{written, {Path: "a.txt", Replaced: []Replacement{{"o", "0", false}}}}, text("one\ntwo\n"), 0, 1},
		"each of them":            {[]Edit{written, {Path: "a.txt", Replaced: []Replacement{{"o", "0", true}}}}, text("0ne\ntw0\n"), 0, 0},
		"changed meanwhile":       {[]Edit{written, {Path: "a.txt", Before: text("three\n"), Replaced: []Replacement{{"three", "3", false}}}}, text("3\n"), 1, 0},
		"removed":                 {[]Edit{written, {Path: "a.txt", Removed: true}}, nil, 0, 0},
		"unknown":                 {[]Edit{{Path: "a.txt", Replaced: []Replacement{{"two", "2", false}}}}, nil, 0, 1},
		"absolute":                {[]Edit{{Path: "/home/ada/app/web/a.txt", After: text("x")}}, text("x"), 0, 0},
		"outside":                 {[]Edit{{Path: "/etc/passwd", After: text("x")}, {Path: "../../b", After: text("x")}}, nil, 0, 2},
		"git's own":               {[]Edit{{Path: ".git/config", After: text("x")}, {Path: "x/.GIT/hooks/a", After: text("x")}, {Path: "GIT~1/a", After: text("x")}}, nil, 0, 3},
		"secret":                  {[]Edit{{Path: ".env.local", After: text("x")}, {Path: "id_rsa", After: text("x")}}, nil, 0, 2},
		"large":                   {[]Edit{{Path: "a.txt", After: text(strings.Repeat("x", maxFile+1))}}, nil, 0, 1},
		"a file in a file":        {[]Edit{written, {Path: "a.txt/b", After: text("x")}}, text("one\ntwo\n"), 0, 1},
		"no path":                 {[]Edit{{After: text("x")}, {Path: "a\x00b", After: text("x")}}, nil, 0, 2},
		"grows without an end":    {[]Edit{{Path: "a.txt", Created: true, After: text(strings.Repeat("x", 1000))}, {Path: "a.txt", Replaced: []Replacement{{"x", strings.Repeat("x", 2000), true}}}}, text(strings.Repeat("x", 1000)), 0, 1},
		"a folder in a file name": {[]Edit{{Path: "b/c", After: text("x")}, {Path: "b", After: text("x")}}, nil, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFiles()
			outside, unknown := 0, 0
			for _, e := range test.edits {
				c, err := f.apply([]Edit{e})
				require.NoError(t, err)
				outside, unknown = outside+len(c.outside), unknown+c.unknown
			}
			got, _, err := f.content(f.tree, "web/a.txt")
			if name != "a file in a file" {
				require.NoError(t, err)
			}
			require.Equal(t, test.want, got)
			require.Equal(t, test.outside, outside)
			require.Equal(t, test.unknown, unknown)
		})
	}
}

// A path is below the working tree of the session, from any system.
func TestPathsOfASession(t *testing.T) {
	const tree, linked, gone = "/home/ada/app", "/home/ada/try", "/home/ada/app/.claude/worktrees/x"
	for _, test := range []struct{ dir, file, want string }{
		{tree, "a.go", "a.go"}, {tree, tree + "/a.go", "a.go"}, {tree, "/home/ada/a.go", ""}, {tree, "../a.go", ""}, {tree, `a\b.go`, `a\b.go`},
		{tree + "/web", "a.go", "web/a.go"}, {tree + "/web", tree + "/a.go", "a.go"}, {tree, ".github/a.yml", ".github/a.yml"},
		{linked, "a.go", "a.go"}, {linked + "/web", linked + "/a.go", "a.go"}, {linked, tree + "/a.go", ""},
		{gone, "a.go", "a.go"}, {gone + "/web", gone + "/a.go", "a.go"}, {gone + "/web", "a.go", "web/a.go"}, {gone, tree + "/a.go", ""},
		{"/elsewhere", "a.go", "a.go"}, {"/elsewhere", "/elsewhere/b/a.go", "b/a.go"},
		{`C:\app`, `C:\app\src\a.go`, "src/a.go"}, {`C:\app`, `c:/APP/src/a.go`, "src/a.go"}, {`C:\app\`, `src\a.go`, "src/a.go"}, {`C:\app`, `D:\app\a.go`, ""},
		{`C:\app`, `C:\app\..\a.go`, ""}, {`C:\app`, `C:\application\a.go`, ""}, {`C:\app`, "/app/a.go", ""}, {`C:\app`, `C:\app`, ""}, {tree, `C:\app\a.go`, ""},
		{`\\server\share`, `\\server\share\a.go`, "a.go"}, {`\\server\share`, `\\server\other\a.go`, ""},
	} {
		f := newFiles()
		f.dir, f.roots = test.dir, []string{tree, linked, gone}
		name, ok := f.name(test.file)
		require.Equal(t, test.want, name, "%s in %s", test.file, test.dir)
		require.Equal(t, test.want != "", ok, "%s in %s", test.file, test.dir)
	}
	require.Equal(t, []string{tree, gone}, rootsOf(gitcmd.Repository{TopLevel: tree, CommonDir: t.TempDir()}, gone+"/web"))
}

func TestAPatchOfCodex(t *testing.T) {
	edits := patchEdits("*** Begin Patch\n*** Add File: a\n+one\n+two\n*** Update File: b\n@@ func\n x\n-y\n+z\n@@\n-q\n*** Delete File: c\n*** Update File: d\n*** Move to: e\n*** End Patch\n")
	require.Equal(t, []Edit{
		{Path: "a", Created: true, After: text("one\ntwo\n")},
		{Path: "b", Lines: true, Replaced: []Replacement{{Old: "x\ny\n", New: "x\nz\n"}, {Old: "q\n", New: ""}}},
		{Path: "c", Removed: true},
		{Path: "e", From: "d", Lines: true},
	}, edits)
}

// TestPatchesOfASession varies the patches of one session of opencode or Codex, one behind the other.
func TestPatchesOfASession(t *testing.T) {
	const add = "*** Add File: a\n+one\n+two\n"
	for name, test := range map[string]struct {
		patches []string
		want    map[string]string
		unknown int
	}{
		"add":               {[]string{add}, map[string]string{"a": "one\ntwo\n"}, 0},
		"add two":           {[]string{add + "*** Add File: b/c\n+c\n"}, map[string]string{"a": "one\ntwo\n", "b/c": "c\n"}, 0},
		"update":            {[]string{add, "*** Update File: a\n@@\n one\n-two\n+2\n"}, map[string]string{"a": "one\n2\n"}, 0},
		"update in one":     {[]string{add + "*** Update File: a\n@@\n-two\n+2\n"}, map[string]string{"a": "one\n2\n"}, 0},
		"delete":            {[]string{add, "*** Delete File: a\n"}, nil, 0},
		"move":              {[]string{add, "*** Update File: a\n*** Move to: b\n"}, map[string]string{"b": "one\ntwo\n"}, 0},
		"move and change":   {[]string{add, "*** Update File: a\n*** Move to: b/c\n@@\n-two\n+2\n"}, map[string]string{"b/c": "one\n2\n"}, 0},
		"move over another": {[]string{add + "*** Add File: b\n+b\n", "*** Update File: a\n*** Move to: b\n"}, map[string]string{"b": "one\ntwo\n"}, 0},
		"move in one":       {[]string{add + "*** Update File: a\n*** Move to: b\n"}, map[string]string{"b": "one\ntwo\n"}, 0},
		"move to itself":    {[]string{add, "*** Update File: a\n*** Move to: a\n@@\n-two\n"}, map[string]string{"a": "one\n"}, 0},
		"move of nothing":   {[]string{add, "*** Update File: x\n*** Move to: b\n"}, map[string]string{"a": "one\ntwo\n"}, 1},
		"move out":          {[]string{add, "*** Update File: a\n*** Move to: /etc/a\n"}, map[string]string{"a": "one\ntwo\n"}, 1},
		"move from outside": {[]string{add, "*** Update File: /etc/a\n*** Move to: b\n"}, map[string]string{"a": "one\ntwo\n"}, 1},
		"an end of a line":  {[]string{"*** Add File: a\n+b\n+ab\n", "*** Update File: a\n@@\n-b\n+c\n"}, map[string]string{"a": "c\nab\n"}, 0},
		"a line twice":      {[]string{"*** Add File: a\n+b\n+b\n", "*** Update File: a\n@@\n-b\n+c\n"}, map[string]string{"a": "b\nb\n"}, 1},
		"the last lines":    {[]string{"*** Add File: a\n+}\n+\t}\n+}\n+e\n", "*** Update File: a\n@@\n }\n-e\n+f\n"}, map[string]string{"a": "}\n\t}\n}\nf\n"}, 0},
		"does not fit":      {[]string{add, "*** Update File: a\n*** Move to: b\n@@\n-three\n+3\n"}, map[string]string{"a": "one\ntwo\n"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			f, unknown := newFiles(), 0
			for _, patch := range test.patches {
				c, err := f.apply(patchEdits("*** Begin Patch\n" + patch + "*** End Patch\n"))
				require.NoError(t, err)
				unknown += c.unknown
			}
			require.Equal(t, test.unknown, unknown)
			for _, file := range []string{"a", "b", "b/c", "x"} {
				now, _, _ := f.content(f.tree, "web/"+file) // no content below a file, or of a folder
				if want, there := test.want[file]; there {
					require.Equal(t, &want, now, file)
				} else {
					require.Nil(t, now, file)
				}
			}
		})
	}
}

func TestFieldsOfAnObject(t *testing.T) {
	for object, want := range map[string]string{
		`{}`:                                  "",
		`{"a":1}`:                             "a=1 ",
		` { "a" : {"b":["}"]} , "c":"x\"" } `: `a={"b":["}"]} c="x\"" `,
		`{"a":null,"b":-1.5E+3,"c":true}`:     "a=null b=-1.5E+3 c=true ",
	} {
		got := ""
		require.True(t, fields([]byte(object), func(key, value []byte) { got += string(key) + "=" + string(value) + " " }), object)
		require.Equal(t, want, got)
	}
	for _, object := range []string{"", "{", "[]", `{"a"}`, `{"a":}`, `{"a":1`, `{"a":1,}`, `{"a":1}x`, `{"a":"}`, "{\"a\":\x00}", `{"a":[1}`, `{,}`, `{"a":1 "b":2}`} {
		ok := fields([]byte(object), func(_, _ []byte) {})
		if object != `{"a":[1}` { // only the number of brackets counts
			require.False(t, ok, object)
		}
	}
}

// A file with a secret in its path or its text stays out of all trees, also as it was before an edit.
func TestFilesWithSecretsAreNotRebuilt(t *testing.T) {
	f := newFiles()
	f.admit = func(name string, _ bool, text string) (why string, err error) {
		if strings.Contains(name+text, "hunter2") {
			why = "a secret"
		}
		return why, nil
	}
	c, err := f.apply([]Edit{
		{Path: "a.txt", After: text("a")}, {Path: "b.txt", After: text("hunter2")}, {Path: "hunter2/c.txt", After: text("c")},
		{Path: "d.txt", Before: text("hunter2 d"), Replaced: []Replacement{{"hunter2 ", "", false}}},
	})
	require.NoError(t, err)
	require.Equal(t, 3, c.unknown)
	require.Equal(t, map[string]int{"edit: a secret": 3}, c.left)
	require.Len(t, c.changed, 1)
	for _, o := range c.objects {
		require.NotContains(t, string(o.Data), "hunter2")
	}
	require.Empty(t, c.outsideObjects)
}
