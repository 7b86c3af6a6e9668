package turnloop_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/conversation"
	. "jp/turnloop"
)

// uncopied is a working tree without a copy for the given reason, "" if there is one.
type uncopied struct {
	*workspace
	why string
}

func (u uncopied) Look(ctx context.Context, at SnapshotRequest) (SnapshotResult, error) {
	s, err := u.workspace.Look(ctx, at)
	if at.Call != nil && at.Since == nil {
		s.NoBackup = u.why
	}
	return s, err
}

func runs(argv string) reply {
	return once(calls("shell", "_1", `{"argv":`+argv+`}`), ends(conversation.FinishToolCalls))
}

// A question about a command that deletes files names the files without a copy, and -v does so without a
// question.
func TestUncopiedFilesAreNamed(t *testing.T) {
	for argv, want := range map[string]string{
		`["rm","-rf","node_modules"]`: "no copy: node_modules/",
		`["git","clean","-fdx"]`:      "no copy: node_modules/, big.iso (4.1 GB)",
		`["rm","-rf","src"]`:          "",
		`["ls","node_modules"]`:       "",
	} {
		t.Run(argv, func(t *testing.T) {
			for _, asks := range []bool{true, false} {
				shell := changes("shell")
				if asks {
					shell = shell.asking()
				}
				r := newRig(t, []*fakeTool{shell}, runs(argv), answers("ok"))
				r.opts.Files.Workspace, r.opts.Verbose = newWorkspace(), true
				r.opts.Files.NoCopy = func() []UncopiedFile {
					return []UncopiedFile{{Path: "node_modules/", Shown: "node_modules/"}, {Path: "big.iso", Shown: "big.iso (4.1 GB)"}}
				}
				p := r.answering(quoted("run"))
				r.done()
				if asks {
					require.Equal(t, want, p.asked[0].Warning)
				}
				if want == "" {
					require.Empty(t, r.notices)
				} else {
					require.Equal(t, []string{want}, r.notices)
				}
			}
		})
	}
}

// Before a known destroyer, jp looks at each file.
func TestLookBeforeDestroyers(t *testing.T) {
	for argv, want := range map[string]bool{`["rm","a"]`: true, `["make"]`: false} {
		w := newWorkspace()
		r := newRig(t, []*fakeTool{changes("shell")}, runs(argv), answers("ok"))
		r.opts.Files.Workspace = w
		r.done()
		require.Equal(t, want, w.looks[1].Destroys, argv)
	}
}

// Without a copy a command that destroys files runs only if the user allows that, or the question said so.
func TestNoBackup(t *testing.T) {
	for name, tt := range map[string]struct {
		argv     string
		required bool
		want     []int // how often the tool has run after each call
	}{
		"refused":              {`["rm","a"]`, true, []int{0, 0}},
		"not required":         {`["rm","a"]`, false, []int{1, 2}},
		"no known destroyer":   {`["make"]`, true, []int{1, 2}},
		"the question said it": {`["rm","a"]`, true, []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			shell := changes("shell")
			if name == "the question said it" {
				shell = shell.asking()
			}
			r := newRig(t, []*fakeTool{shell}, runs(tt.argv), runs(tt.argv), answers("ok"))
			r.opts.Files.Workspace, r.opts.Files.BackupRequired = uncopied{newWorkspace(), "no space left on device"}, tt.required
			p := r.answering(quoted("run"))
			r.done()
			require.Len(t, shell.runs, tt.want[1])
			require.Contains(t, r.notices[0], "no space left on device")
			require.Equal(t, tt.want[0] == 0, r.results()[0].IsError)
			if len(p.asked) > 0 {
				require.Empty(t, p.asked[0].Warning)
				require.Equal(t, "jp can copy no untracked file before it: no space left on device", p.asked[1].Warning)
			}
		})
	}
}
