package undo

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"jp/worktree"
)

// version is a file with this content, absent for "".
func version(content string) worktree.Version {
	if content == "" {
		return worktree.Version{}
	}
	return worktree.Version{Mode: "100644", OID: content}
}

// executable is version("2"), but for the mode.
var executable = worktree.Version{Mode: "100755", OID: "2"}

// stepOf is an event that changed one file, written "before>after".
func stepOf(seq int, ours bool, path, change string) step {
	before, after, _ := strings.Cut(change, ">")
	return step{Seq: seq, Ours: ours, Moves: []worktree.Step{{Path: path, Before: version(before), After: version(after)}}}
}

func tool(seq int, change string) step { return stepOf(seq, true, "a", change) }
func user(seq int, change string) step { return stepOf(seq, false, "a", change) }

// put is jp putting the file back.
func put(seq int, change string) step {
	s := tool(seq, change)
	s.PutBack = true
	return s
}

func lost(seq int, change string) step {
	s := user(seq, change)
	s.UnknownAuthor = true
	return s
}

func shared(seq int, change string) step {
	s := tool(seq, change)
	s.Shared = []string{"a"}
	return s
}

// wentWithHead is git's change to the file while a tool ran.
func wentWithHead(seq int, change string) step {
	s := tool(seq, change)
	s.Came, s.HeadMove = map[string]worktree.Step{s.Moves[0].Path: s.Moves[0]}, "from main to topic"
	return s
}

// checkedOut is a tool during which git brought a path with HEAD, from the version was,
// which HEAD had before, to is.
func checkedOut(seq int, was, is, change string) step {
	s := tool(seq, change)
	if s.Moves[0].Before == s.Moves[0].After {
		s.Moves, s.Lost = nil, []string{"a"}
	}
	s.Came = map[string]worktree.Step{"a": {Path: "a", Before: version(was), After: version(is)}}
	s.HeadMove = "from main to topic"
	if before, _, _ := strings.Cut(change, ">"); before == was {
		s.Committed = []string{"a"}
	}
	return s
}

// committed says of a step that HEAD had the file as it found it.
func committed(s step) step {
	s.Committed = []string{"a"}
	return s
}

// found is a tool's write to a file that was there outside of trees.
func found(seq int, change string) step {
	s := tool(seq, change)
	s.Unrecorded = []string{"a"}
	return s
}

// away is a tool that took away a file outside of trees.
func away(seq int) step { return step{Seq: seq, Ours: true, Gone: []string{"a"}} }

// moved is a tool that gave a file another name.
func moved(seq int, from, to, content string) step {
	return step{Seq: seq, Ours: true, Moves: []worktree.Step{
		{Path: from, Before: version(content)}, {Path: to, After: version(content)},
	}}
}

// said is a decision in short: "now>then", with the reason against it.
func said(files []plannedFile) string {
	var words []string
	for _, f := range files {
		word := f.Path + ": " + f.Is.OID + ">" + f.To.OID
		if f.Why != "" {
			word += " left: " + f.Why
		}
		words = append(words, word)
	}
	return strings.Join(words, "; ")
}

func TestBefore(t *testing.T) {
	tests := map[string]struct {
		steps []step
		from  int
		want  string
	}{
		"nothing happened":                          {},
		"one write":                                 {[]step{tool(5, "1>2")}, 3, "a: 2>1"},
		"the event itself counts":                   {[]step{tool(5, "1>2")}, 5, "a: 2>1"},
		"an earlier write stays":                    {[]step{tool(5, "1>2")}, 6, ""},
		"a new file goes":                           {[]step{tool(5, ">2")}, 1, "a: 2>"},
		"a deleted file comes":                      {[]step{tool(5, "1>")}, 1, "a: >1"},
		"several writes":                            {[]step{tool(5, "1>2"), tool(7, "2>3"), tool(9, "3>4")}, 6, "a: 4>2"},
		"written and taken back by tools":           {[]step{tool(5, "1>2"), tool(7, "2>1")}, 1, ""},
		"the user wrote only":                       {[]step{user(5, "1>2")}, 1, ""},
		"the user wrote before":                     {[]step{user(4, "0>1"), tool(5, "1>2")}, 1, "a: 2>1"},
		"the user wrote between":                    {[]step{tool(5, "1>2"), user(6, "2>3"), tool(7, "3>4")}, 1, "a: 4>1 left: others changed it before @7"},
		"but not in the range":                      {[]step{tool(5, "1>2"), user(6, "2>3"), tool(7, "3>4")}, 6, "a: 4>3"},
		"the user wrote after":                      {[]step{tool(5, "1>2"), user(6, "2>3")}, 1, "a: 3>1 left: others changed it after @5"},
		"a lost tool may have written before":       {[]step{lost(4, "0>1"), tool(5, "1>2")}, 1, "a: 2>0 left: it is unknown who changed it before @4. A restore that names it puts it back"},
		"a lost tool may have written alone":        {[]step{lost(4, "0>1")}, 1, "a: 1>0 left: it is unknown who changed it before @4. A restore that names it puts it back"},
		"a lost tool may have, and the user did":    {[]step{lost(4, "0>1"), user(5, "1>2")}, 1, "a: 2>0 left: it is unknown who changed it before @4"},
		"a lost tool may have deleted it":           {[]step{lost(4, "0>")}, 1, "a: >0"},
		"and a tool wrote it before":                {[]step{tool(3, "0>1"), lost(4, "1>")}, 1, "a: >0"},
		"and the user made and a tool deleted it":   {[]step{lost(4, "0>"), user(5, ">1"), tool(6, "1>")}, 1, "a: >0 left: others changed it before @6"},
		"a lost tool wrote before the range":        {[]step{lost(4, "0>1"), tool(5, "1>2")}, 5, "a: 2>1"},
		"the user writes now":                       {[]step{tool(5, "1>2"), user(afterAll, "2>3")}, 1, "a: 3>1 left: others changed it after @5"},
		"the user deleted it":                       {[]step{tool(5, "1>2"), user(afterAll, "2>")}, 1, "a: >1 left: others changed it after @5"},
		"the user took it back":                     {[]step{tool(5, "1>2"), user(afterAll, "2>1")}, 1, ""},
		"the user changed their mind":               {[]step{tool(5, "1>2"), user(6, "2>3"), user(8, "3>2")}, 1, "a: 2>1"},
		"somebody wrote meanwhile":                  {[]step{shared(5, "1>2")}, 1, "a: 2>1 left: others wrote it, too, while @5 ran"},
		"git checked it out":                        {[]step{committed(wentWithHead(5, "1>2"))}, 1, "a: 2>1 left: it went with HEAD from main to topic while @5 ran"},
		"and a tool wrote it then":                  {[]step{committed(wentWithHead(5, "1>2")), tool(6, "2>3")}, 1, "a: 3>2"},
		"and its earlier content is unknown":        {[]step{wentWithHead(5, "1>2"), tool(6, "2>3")}, 1, "a: 3>1 left: it went with HEAD from main to topic while @5 ran"},
		"and that tool wrote it":                    {[]step{checkedOut(5, "1", "2", "1>3")}, 1, "a: 3>2"},
		"it brought the file":                       {[]step{checkedOut(5, "", "2", ">3")}, 1, "a: 3>2"},
		"and that tool deleted it":                  {[]step{checkedOut(5, "", "2", ">")}, 1, "a: >2"},
		"and that was put back":                     {[]step{checkedOut(5, "", "2", ">"), put(7, ">2")}, 1, "a: 2> left: it went with HEAD from main to topic while @5 ran"},
		"and that is undone":                        {[]step{checkedOut(5, "", "2", ">"), put(7, ">2")}, 7, "a: 2>"},
		"and a later tool deleted it":               {[]step{checkedOut(5, "", "2", ">2"), tool(7, "2>")}, 1, "a: >2"},
		"and the user went back":                    {[]step{checkedOut(5, "", "2", ">2"), user(7, "2>")}, 1, ""},
		"and the user wrote it":                     {[]step{checkedOut(5, "1", "2", "1>3"), user(7, "3>4")}, 1, "a: 4>2 left: others changed it after @5"},
		"it took the file away, a tool made one":    {[]step{checkedOut(5, "1", "", "1>3")}, 1, "a: 3>"},
		"a tool kept what it was":                   {[]step{checkedOut(5, "1", "2", "1>2"), tool(6, "2>1")}, 1, ""},
		"a tool had written it before":              {[]step{committed(tool(3, "1>4")), checkedOut(5, "1", "2", "4>3")}, 1, "a: 3>2"},
		"and the user had, too":                     {[]step{committed(tool(3, "1>4")), user(4, "4>5"), checkedOut(5, "1", "2", "5>3")}, 1, "a: 3>2 left: others changed it before @5"},
		"and the user committed it":                 {[]step{committed(tool(3, "1>4")), user(4, "4>5"), checkedOut(5, "5", "2", "5>3")}, 1, "a: 3>2"},
		"what it was is in no commit":               {[]step{checkedOut(5, "1", "2", "4>3")}, 1, "a: 3>4"},
		"what it was is in no commit, or lost":      {[]step{checkedOut(5, "1", "2", "4>2")}, 1, "a: 2>4"},
		"twice":                                     {[]step{checkedOut(5, "1", "2", "1>3"), checkedOut(7, "1", "4", "3>5")}, 1, "a: 5>4"},
		"but since then a tool did":                 {[]step{wentWithHead(5, "1>2"), tool(6, "2>3")}, 6, "a: 3>2"},
		"and it went back":                          {[]step{wentWithHead(5, "1>2"), user(afterAll, "2>1")}, 1, ""},
		"it was found, and deleted":                 {[]step{lost(5, ">2"), tool(6, "2>")}, 1, "a: > left: its author is unknown: it was found after a lost tool, and @5 has it"},
		"shared, but taken back":                    {[]step{shared(5, "1>2"), tool(6, "2>1")}, 1, ""},
		"what it was is not known":                  {[]step{found(5, ">2")}, 1, "a: 2> left: it was there before @5, under this name or another, and what it held then is not recorded"},
		"the event itself is in the range":          {[]step{found(5, ">2")}, 5, "a: 2> left: it was there before @5, under this name or another, and what it held then is not recorded"},
		"nor after another write":                   {[]step{found(5, ">2"), tool(6, "2>3")}, 1, "a: 3> left: it was there before @5, under this name or another, and what it held then is not recorded"},
		"nor where a tree had another state":        {[]step{found(5, "1>2")}, 1, "a: 2>1 left: it was there before @5, under this name or another, and what it held then is not recorded"},
		"nor where it was deleted":                  {[]step{found(5, "1>")}, 1, "a: >1 left: it was there before @5, under this name or another, and what it held then is not recorded"},
		"where it was deleted, a new one may be it": {[]step{{Seq: 5, Ours: true, Unrecorded: []string{"a"}, Moves: append(tool(5, "1>").Moves, stepOf(5, true, "b", ">2").Moves...)}}, 1, "a: >1 left: it was there before @5, under this name or another, and what it held then is not recorded; b: 2> left: it may have been there before @5, under this name or another, and what it held then is not recorded"},
		"a state before that is known":              {[]step{tool(3, "0>1"), found(5, "1>2")}, 1, "a: 2>0 left: it was there before @5, under this name or another, and what it held then is not recorded"},
		"the user's since then":                     {[]step{found(5, "1>2"), user(6, "2>3"), tool(7, "3>4")}, 6, "a: 4>3"},
		"more than is listed of them":               {[]step{{Seq: 5, Ours: true, Unrecorded: []string{"b"}, UnrecordedMore: true, Moves: append(tool(5, "1>2").Moves, stepOf(5, true, "b", "1>2").Moves...)}}, 1, "a: 2>1 left: it may have been there before @5, under this name or another, and what it held then is not recorded; b: 2>1 left: it was there before @5, under this name or another, and what it held then is not recorded"},
		"new ones are listed behind them":           {[]step{{Seq: 5, Ours: true, Unrecorded: []string{"b"}, UnrecordedMore: true, Moves: append(tool(5, "1>2").Moves, stepOf(5, true, "b", ">2").Moves...)}}, 1, "a: 2>1; b: 2> left: it was there before @5, under this name or another, and what it held then is not recorded"},
		"but since then":                            {[]step{found(5, ">2"), tool(6, "2>3")}, 6, "a: 3>2"},
		"what was taken away comes back":            {[]step{away(5), tool(7, ">2")}, 1, "a: 2> left: it was there before @7, under this name or another, and what it held then is not recorded"},
		"and was the user's":                        {[]step{away(5), user(6, ">2"), tool(7, "2>3")}, 1, "a: 3>2"},
		"it came back, went, and was made anew":     {[]step{away(5), tool(7, ">2"), tool(8, "2>"), tool(9, ">3")}, 9, "a: 3>"},
		"it got another name":                       {[]step{found(5, ">2"), moved(7, "a", "b", "2")}, 1, "a: > left: it was there before @5, under this name or another, and what it held then is not recorded; b: 2> left: it was there before @5, under this name or another, and what it held then is not recorded"},
		"another name, and only that":               {[]step{found(5, ">2"), moved(7, "a", "b", "2")}, 6, "a: >2; b: 2>"},
		"the first name was used again":             {[]step{moved(5, "a", "b", "2"), user(6, ">3"), user(7, "3>")}, 1, "a: >2; b: 2>"},
		"the user took the first name":              {[]step{user(4, ">2"), moved(5, "a", "b", "2"), lost(6, ">3"), lost(7, "3>")}, 5, "a: >2; b: 2>"},
		"something else took the first name":        {[]step{moved(5, "a", "b", "2"), user(6, ">3")}, 5, "a: 3>2 left: others changed it after @5; b: 2> left: it may be all that there is of a, which is left alone"},
		"one copy is enough":                        {[]step{moved(5, "a", "b", "2"), moved(5, "x", "c", "2"), user(6, ">3")}, 5, "a: 3>2 left: others changed it after @5; b: 2>; c: 2>; x: >2"},
		"an empty file in the place of a move":      {[]step{moved(5, "a", "b", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"), user(6, ">3")}, 5, "a: 3>e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 left: others changed it after @5; b: e69de29bb2d1d6434b8b29ae775ad8c2e48c5391>"},
		"a tool's own gets another name":            {[]step{tool(5, ">2"), moved(7, "a", "b", "2")}, 1, "b: 2>"},
		"it was changed, and deleted":               {[]step{found(5, ">2"), tool(7, "2>")}, 1, "a: > left: it was there before @5, under this name or another, and what it held then is not recorded"},
		"where files went, another may be one":      {[]step{{Seq: 5, Ours: true, Gone: []string{"b"}, Moves: tool(5, ">2").Moves}}, 1, "a: 2> left: it may have been there before @5, under this name or another, and what it held then is not recorded"},
		"more went than are listed":                 {[]step{{Seq: 5, Ours: true, Gone: []string{"b"}, GoneMore: true}, tool(7, ">2")}, 1, "a: 2> left: it may have been there before @7, under this name or another, and what it held then is not recorded"},
		"and fewer later":                           {[]step{{Seq: 5, Ours: true, Gone: []string{"b"}, GoneMore: true}, {Seq: 6, Ours: true, Gone: []string{"c"}}, tool(7, ">2")}, 1, "a: 2> left: it may have been there before @7, under this name or another, and what it held then is not recorded"},
		"a folder moved with the user's file":       {[]step{{Seq: 5, Ours: true, Gone: []string{"d/b"}, Moves: moved(5, "d/a", "e/a", "2").Moves}}, 1, "d/a: >2; e/a: 2>"},
		"changed, and moved while changed":          {[]step{found(5, ">2"), {Seq: 7, Ours: true, Moves: []worktree.Step{{Path: "a", Before: version("2")}, {Path: "b", After: version("3")}}}}, 1, "a: > left: it was there before @5, under this name or another, and what it held then is not recorded; b: 3> left: it may have been there before @5, under this name or another, and what it held then is not recorded"},
		"more than is listed":                       {[]step{{Seq: 5, Ours: true, UnrecordedMore: true, Moves: tool(5, ">2").Moves}}, 1, "a: 2> left: it may have been there before @5, under this name or another, and what it held then is not recorded"},
		"more, but not this one":                    {[]step{{Seq: 5, Ours: true, UnrecordedMore: true, Moves: tool(5, "1>2").Moves}}, 1, "a: 2>1"},
		"an undo was done":                          {[]step{tool(5, "1>2"), tool(9, "2>1")}, 5, ""},
		"an undo is undone":                         {[]step{tool(5, "1>2"), tool(9, "2>1")}, 9, "a: 1>2"},
		"after an undo of an undo":                  {[]step{tool(5, "1>2"), tool(9, "2>1"), tool(10, "1>2")}, 5, "a: 2>1"},
		"what others did was put back":              {[]step{tool(5, "1>2"), user(6, "2>3"), put(7, "3>2")}, 1, "a: 2>1"},
		"from where others began":                   {[]step{tool(5, "1>2"), user(6, "2>3"), put(7, "3>2"), tool(8, "2>4")}, 6, "a: 4>2"},
		"any author":                                {[]step{tool(5, "1>2"), lost(6, "2>3"), user(7, "3>4"), put(8, "4>2")}, 1, "a: 2>1"},
		"and others wrote only":                     {[]step{user(6, "2>3"), put(7, "3>2")}, 1, ""},
		"putting it back is undone":                 {[]step{tool(5, "1>2"), user(6, "2>3"), put(7, "3>2")}, 7, "a: 2>3"},
		"it was put back to something else":         {[]step{tool(5, "1>2"), user(6, "2>3"), put(7, "3>1")}, 1, ""},
		"or to what others left":                    {[]step{tool(5, "1>2"), user(6, "2>3"), user(7, "3>4"), put(8, "4>3")}, 1, "a: 3>1 left: others changed it after @5"},
		"or with another mode":                      {[]step{tool(5, "1>2"), {Seq: 6, Ours: true, Moves: []worktree.Step{{Path: "a", Before: version("2"), After: executable}}}, {Seq: 7, Moves: []worktree.Step{{Path: "a", Before: executable, After: version("3")}}}, put(8, "3>2")}, 1, "a: 2>1 left: others changed it before @8"},
		"a tool that does the same":                 {[]step{tool(5, "1>2"), user(6, "2>3"), tool(7, "3>2")}, 1, "a: 2>1 left: others changed it before @7"},
		"only the mode":                             {[]step{{Seq: 5, Ours: true, Moves: []worktree.Step{{Path: "a", Before: version("1"), After: worktree.Version{Mode: "100755", OID: "1"}}}}}, 1, "a: 1>1"},
		"several files":                             {[]step{stepOf(5, true, "b", "1>2"), stepOf(6, true, "a", ">2"), stepOf(7, false, "c", "1>2")}, 1, "a: 2>; b: 2>1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want, said(history{Steps: tt.steps}.Before(tt.from)))
		})
	}
}

func TestAfter(t *testing.T) {
	three := []step{stepOf(5, true, "d/a", "1>2"), stepOf(7, true, "d/b", ">2"), stepOf(9, true, "da", "1>2"), user(10, "1>2")}
	tests := map[string]struct {
		steps []step
		seq   int
		paths []string
		want  string
	}{
		"as after the newest":          {[]step{tool(5, "1>2")}, 5, nil, ""},
		"what came later goes":         {[]step{tool(5, "1>2"), tool(7, "2>3")}, 5, nil, "a: 3>2"},
		"the user wrote before":        {[]step{tool(5, "1>2"), user(6, "2>3"), tool(7, "3>4")}, 5, nil, "a: 4>2 left: others changed it before @7"},
		"what an undo took away":       {[]step{tool(5, "1>2"), tool(9, "2>1")}, 5, nil, "a: 1>2"},
		"its author is unknown":        {[]step{tool(5, "1>2"), lost(7, "2>3")}, 5, nil, "a: 3>2 left: it is unknown who changed it before @7. A restore that names it puts it back"},
		"but it is named":              {[]step{tool(5, "1>2"), lost(7, "2>3")}, 5, []string{"a"}, "a: 3>2"},
		"and the user wrote since":     {[]step{lost(7, "2>3"), user(8, "3>4")}, 5, []string{"a"}, "a: 4>2 left: others changed it after @7"},
		"what it was is not known":     {[]step{found(5, "1>2")}, 4, nil, "a: 2>1 left: it was there before @5, under this name or another, and what it held then is not recorded"},
		"all":                          {three, 4, nil, "d/a: 2>1; d/b: 2>; da: 2>1"},
		"a folder":                     {three, 4, []string{"d"}, "d/a: 2>1; d/b: 2>"},
		"the top":                      {three, 4, []string{"."}, "d/a: 2>1; d/b: 2>; da: 2>1"},
		"a file":                       {three, 4, []string{"d/b"}, "d/b: 2>"},
		"what others did was put back": {[]step{tool(5, "1>2"), tool(6, "2>3"), user(7, "3>4"), put(8, "4>3")}, 5, nil, "a: 3>2"},
		"a file of the user":           {three, 4, []string{"a"}, "a: 2>1 left: no tool of this conversation wrote it since"},
		"an unchanged file":            {three, 10, []string{"a"}, ""},
		"a tool's file, then a users":  {[]step{tool(5, "1>2"), user(7, "2>3")}, 5, []string{"a"}, "a: 3>2 left: no tool of this conversation wrote it since"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tt.want, said(history{Steps: tt.steps}.After(tt.seq, tt.paths)))
		})
	}
}

// A path of unknown state stays, even if it seems to be right.
func TestUnknown(t *testing.T) {
	h := history{Steps: []step{tool(5, "1>2"), tool(6, "2>1")}, Unknown: map[string]string{"a": "too large", "b": "ignored"}}
	require.Equal(t, "a: 1>1 left: what it is now is not recorded: too large", said(h.Before(1)))
}

// With any authors in any order, a file returns only from the tools' last content to the content that they
// found.
func TestNothingOfOthersIsTakenBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		contents := []string{"", "1", "2", "3"}
		now := rapid.SampledFrom(contents).Draw(t, "start")
		var h history
		var found, left []string // by tools
		last := ""
		for seq := range rapid.IntRange(1, 8).Draw(t, "steps") {
			next := rapid.SampledFrom(contents).Draw(t, "content")
			if next == now {
				continue
			}
			ours := rapid.Bool().Draw(t, "ours")
			s := stepOf(seq, ours, "a", now+">"+next)
			s.PutBack = ours && rapid.Bool().Draw(t, "put back")
			h.Steps = append(h.Steps, s)
			if ours {
				found, left, last = append(found, now), append(left, next), next
			}
			now = next
		}
		from := rapid.IntRange(0, 8).Draw(t, "from")
		was := now
		if at := slices.IndexFunc(h.Steps, func(s step) bool { return s.Seq >= from }); at >= 0 {
			was = h.Steps[at].Moves[0].Before.OID
		}
		require.Equal(t, was != now, h.Differing(from, nil) == 1)
		require.Zero(t, h.Differing(from, []string{"b"}))
		for _, f := range slices.Concat(h.Before(from), h.After(from, nil)) {
			if f.Why != "" {
				continue
			}
			require.Equal(t, now, f.Is.OID)
			require.Equal(t, last, f.Is.OID, "it is not what the tools wrote last")
			require.Contains(t, left, f.Is.OID)
			require.Contains(t, found, f.To.OID)
		}
	})
}

func TestUnder(t *testing.T) {
	for path, want := range map[string]bool{"d": true, "d/a": true, "da": false, "e/d": false} {
		require.Equal(t, want, worktree.Under(path, []string{"d", "x"}), path)
		require.True(t, worktree.Under(path, []string{"."}))
	}
}

// TestEarlierStepsDecideNothing compares decisions by the whole history with those by the events from the
// given one on.
func TestEarlierStepsDecideNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		contents := []string{"", "1", "2"}
		now := map[string]string{}
		var all []step
		from := rapid.IntRange(1, 6).Draw(t, "from")
		for seq := 1; seq <= 6; seq++ {
			s := step{Seq: seq, Ours: rapid.Bool().Draw(t, "ours"), UnrecordedMore: rapid.IntRange(0, 9).Draw(t, "more") == 0}
			s.PutBack = s.Ours && rapid.Bool().Draw(t, "put back")
			s.UnknownAuthor = !s.Ours && rapid.Bool().Draw(t, "unknown author")
			for _, path := range []string{"a", "b", "d/a"} {
				switch rapid.IntRange(0, 5).Draw(t, path) {
				case 0:
					s.Unrecorded = append(s.Unrecorded, path)
				case 1:
					if seq >= from {
						s.Gone = append(s.Gone, path)
					}
				}
				if next := rapid.SampledFrom(contents).Draw(t, "content"); next != now[path] {
					s.Moves = append(s.Moves, worktree.Step{Path: path, Before: version(now[path]), After: version(next)})
					now[path] = next
				}
			}
			all = append(all, s)
		}
		unknown := map[string]string{}
		if rapid.Bool().Draw(t, "unknown") {
			unknown["a"] = "it is too large"
		}
		whole, part := history{Steps: all, Unknown: unknown}, history{Steps: all[from-1:], Unknown: unknown}
		require.Equal(t, said(whole.Before(from)), said(part.Before(from)))
		require.Equal(t, whole.Differing(from, nil), part.Differing(from, nil))
	})
}
