package main

import (
	"fmt"
	"slices"
	"strings"

	"jp/internal/testing/gitenv"
)

// formats are those of the repositories that tests make, as JP_TEST_OBJECTS and JP_TEST_REFS take them. The zero value
// leaves both to the environment.
type formats struct{ objects, refs string }

// allFormats are every combination. With "git", jp moves refs in files through git.
var allFormats = []formats{{"sha1", "files"}, {"sha256", "files"}, {"sha1", "git"}, {"sha256", "git"}, {"sha1", "reftable"}, {"sha256", "reftable"}}

func (f formats) String() string {
	if f == (formats{}) {
		return ""
	}
	return f.objects + "/" + f.refs
}

// environ are the variables for the tests.
func (f formats) environ() []string {
	if f == (formats{}) {
		return nil
	}
	return []string{"JP_TEST_OBJECTS=" + f.objects, "JP_TEST_REFS=" + strings.TrimPrefix(f.refs, "files")}
}

// missing says why this machine cannot make repositories of the formats, "" if it can.
func (f formats) missing() string {
	if f.refs == "reftable" && !gitenv.KnowsReftable() {
		return "the git in PATH has none; tools/git-next unpacks one that has"
	}
	return ""
}

// chosenFormats are some combinations, given with commas between them: all of them for "all", and that of the environment
// for "".
func chosenFormats(list string) (all []formats, err error) {
	switch list {
	case "":
		return []formats{{}}, nil
	case "all":
		return allFormats, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(allFormats, func(f formats) bool { return f.String() == strings.TrimSpace(name) })
		if i < 0 {
			return nil, fmt.Errorf("%w: invalid formats %q (want all, or some of %v)", errNothing, name, allFormats)
		}
		all = append(all, allFormats[i])
	}
	return all, nil
}

// inFormats multiplies each suite that makes repositories by the formats, and keeps the others once.
func inFormats(todo []suite, all []formats) (each []suite) {
	for _, f := range all {
		for _, s := range todo {
			s.formats = f
			if !slices.Contains(makeRepositories, s.pkg) {
				s.formats = formats{}
			}
			if !slices.Contains(each, s) {
				each = append(each, s)
			}
		}
	}
	return each
}
