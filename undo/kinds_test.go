package undo_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/internal/testing/front"
)

// TestUndoOfKinds varies the kind of a path, tracked and not, and the kind that a tool puts in its place. The
// undo brings the first back with its whole content, and the undo of the undo the other.
func TestUndoOfKinds(t *testing.T) {
	t.Parallel()
	kinds := []struct{ name, make string }{
		{"nothing", "true"},
		{"file", "echo TEXT >PATH"},
		{"executable", "echo TEXT >PATH; chmod 755 PATH"},
		{"link", "ln -s TEXT PATH"},
		{"folder", "mkdir -p PATH/sub; echo TEXT >PATH/in; echo TEXT >PATH/sub/in"},
		{"empty", "mkdir PATH"},
	}
	for _, tracked := range []bool{true, false} {
		t.Run(fmt.Sprint("tracked ", tracked), func(t *testing.T) {
			t.Parallel()
			s := front.New(t)
			s.Configure("[sandbox]\nenable = false\n")
			var plant, change, paths []string
			for _, was := range kinds {
				for _, is := range kinds {
					path := was.name + "-" + is.name
					plant = append(plant, strings.NewReplacer("PATH", path, "TEXT", "old-"+path).Replace(was.make))
					change = append(change, "rm -rf "+path, strings.NewReplacer("PATH", path, "TEXT", "new-"+path).Replace(is.make))
					paths = append(paths, path, path+"/in", path+"/sub", path+"/sub/in")
				}
			}
			sh := exec.Command("sh", "-c", "umask 022\n"+strings.Join(plant, "\n"))
			sh.Dir = s.Dir
			require.NoError(t, sh.Run())
			if tracked {
				s.Commit()
			}
			states := func() map[string]string {
				all := map[string]string{}
				for _, path := range paths {
					all[path] = state(s, path)
				}
				return all
			}
			before := states()
			id := ask(t, s, "", shells(strings.Join(change, "\n")))
			after := states()
			require.NotEqual(t, before, after)
			said, err := undoes(t, s, id, "", false)
			require.NoError(t, err)
			require.Equal(t, before, states(), said)
			events := s.Load(id)
			said, err = undoes(t, s, id, fmt.Sprint(events[len(events)-1].Seq), false)
			require.NoError(t, err)
			require.Equal(t, after, states(), said)
		})
	}
}
