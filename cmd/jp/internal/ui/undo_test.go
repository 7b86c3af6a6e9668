package ui

import (
	"testing"

	"github.com/stretchr/testify/require"

	"jp/undo"
	"jp/worktree"
)

// The question names the fate of the files by its own verb.
func TestTheQuestionOfAnUndoSaysWhatIsDeleted(t *testing.T) {
	t.Parallel()
	file := worktree.Version{OID: "a", Mode: "100644"}
	changed, made := worktree.WriteOp{Path: "a", Is: file, To: worktree.Version{OID: "b", Mode: "100644"}}, worktree.WriteOp{Path: "b", Is: file}
	for want, puts := range map[string][]worktree.WriteOp{
		"Put 1 file back?":               {changed},
		"Delete 2 files?":                {made, made},
		"Put 1 file back, and delete 1?": {changed, made},
	} {
		require.Equal(t, want, PutQuestion(&undo.Result{Puts: puts}, "Put", "Delete"))
	}
}
