package approval_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/gitcmd/approval"
	"jp/internal/gitenv"
)

// place is a repository with files that a filter may name.
func place(t *testing.T) approval.Approvals {
	t.Helper()
	repo, err := gitcmd.Locate(t.Context(), gitenv.Repo(t), gitcmd.Options{})
	require.NoError(t, err)
	a := approval.Approvals{Dir: filepath.Join(t.TempDir(), "trust"), Repo: repo, Environ: os.Environ()}
	for name, mode := range map[string]os.FileMode{"clean.sh": 0o755, "clean.py": 0o644, "key": 0o600, "bin/tool": 0o755, ".git/keys/k": 0o600, ".git/run": 0o755} {
		file := filepath.Join(repo.TopLevel, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte("text\n"), mode))
	}
	require.NoError(t, os.WriteFile(filepath.Join(repo.TopLevel, "script"), []byte("#!/bin/sh\n"), 0o644))
	return a
}

// TOP stands for the working tree.
func TestWhatCanBeApproved(t *testing.T) {
	for command, want := range map[string]struct {
		err   error
		files string
	}{
		"tr a-z n-za-m":                           {},
		`"git-crypt" smudge --key-name=x`:         {},
		"git-lfs clean -- %f":                     {},
		"sed 's/$Id$/x/; s/\\$x/y/'":              {},
		"cat | tr a b":                            {},
		"openssl enc -kfile key":                  {files: "key"},
		"openssl enc -pass file:key":              {files: "key"},
		"openssl enc --key=.git/keys/k":           {files: ".git/keys/k"},
		"openssl enc -kfile TOP/key <.git/keys/k": {files: ".git/keys/k TOP/key"},
		"gpg --keyring ./key":                     {files: "./key"},
		"./clean.sh":                              {err: approval.ErrLies},
		"clean.sh":                                {}, // it is looked for in PATH
		"TOP/clean.sh":                            {err: approval.ErrLies},
		"sub/../clean.sh":                         {err: approval.ErrLies},
		"./not-there-yet":                         {err: approval.ErrLies},
		".git/run x":                              {err: approval.ErrLies},
		"sh clean.py":                             {err: approval.ErrLies},
		"/bin/sh -e TOP/clean.py":                 {err: approval.ErrLies},
		"python3 clean.py":                        {err: approval.ErrLies},
		"python3.11 clean.py":                     {err: approval.ErrLies},
		"python3 -m module":                       {err: approval.ErrLies},
		"python3 -I -m module":                    {},
		"sh -c ./clean.sh":                        {err: approval.ErrLies},
		"sh -ec 'cat | ./clean.sh'":               {err: approval.ErrLies},
		"env A=b ./clean.sh":                      {err: approval.ErrLies},
		"cat | ./bin/tool":                        {err: approval.ErrLies},
		"true && ./bin/tool || cat":               {err: approval.ErrLies},
		"(./bin/tool)":                            {err: approval.ErrLies},
		"if ./bin/tool; then cat; fi":             {err: approval.ErrLies},
		"wrapper script":                          {err: approval.ErrLies},
		"wrapper --run=bin/tool":                  {err: approval.ErrLies},
		"awk -f clean.py":                         {err: approval.ErrLies},
		"sed -fclean.py":                          {err: approval.ErrLies},
		"git --exec-path=.git/run x":              {err: approval.ErrLies},
		"git enc":                                 {err: approval.ErrUnclear},
		"git -c alias.x=!./clean.sh x":            {err: approval.ErrUnclear},
		"git -C bin status":                       {err: approval.ErrUnclear},
		"git cat-file blob HEAD:x":                {},
		"git --no-pager show HEAD":                {},
		"make -s enc":                             {err: approval.ErrLies},
		"env A=b make enc":                        {err: approval.ErrLies},
		"timeout 5 npm run enc":                   {err: approval.ErrLies},
		"nice -n 5 xargs make":                    {err: approval.ErrLies},
		"npx enc":                                 {err: approval.ErrLies},
		"go run ./enc":                            {err: approval.ErrLies},
		"just enc":                                {err: approval.ErrLies},
		"cargo run":                               {err: approval.ErrLies},
		"sh not-there-yet.sh":                     {err: approval.ErrLies},
		"node not-there-yet.js":                   {err: approval.ErrLies},
		"env sh not-there-yet.sh":                 {err: approval.ErrLies},
		"ruby -r./x -e 1":                         {err: approval.ErrUnclear},
		"perl -I. -MFoo -e 1":                     {err: approval.ErrUnclear},
		"perl -pe 's/a/b/'":                       {},
		"python3 -c 'print(1)'":                   {},
		"awk '{ print }'":                         {},
		"PATH=bin tool":                           {err: approval.ErrUnclear},
		"LD_PRELOAD=./key cat":                    {err: approval.ErrUnclear},
		"$HOME/x":                                 {err: approval.ErrUnclear},
		`"$(git config x)"/clean`:                 {err: approval.ErrUnclear},
		"`echo x`":                                {err: approval.ErrUnclear},
		"cat $x":                                  {err: approval.ErrUnclear},
		"eval x":                                  {err: approval.ErrUnclear},
		". key":                                   {err: approval.ErrUnclear},
		"cat ke*":                                 {err: approval.ErrUnclear},
		"cat \"":                                  {err: approval.ErrUnclear},
		"f() { cat; }; f":                         {err: approval.ErrUnclear},
		"cd bin && tool":                          {err: approval.ErrUnclear},
		"tool --modules ./bin":                    {err: approval.ErrUnclear},
	} {
		t.Run(command, func(t *testing.T) {
			a := place(t)
			top := func(text string) string { return strings.ReplaceAll(text, "TOP", a.Repo.TopLevel) }
			for _, f := range []gitcmd.Filter{{Name: "f", Clean: top(command)}, {Name: "f", Smudge: top(command)}, {Name: "f", Process: top(command)}} {
				_, err := a.Revoke()
				require.NoError(t, err)
				is, err := a.Examine(f)
				if want.err != nil {
					require.ErrorIs(t, err, want.err)
					require.NoError(t, a.Approve([]approval.Filter{is}))
					require.Error(t, a.MayRun(f), "not even where the record says so")
					continue
				}
				require.NoError(t, err)
				var names []string
				for name, hash := range is.Files {
					require.Len(t, hash, 64)
					names = append(names, name)
				}
				require.ElementsMatch(t, strings.Fields(top(want.files)), names)
				require.ErrorIs(t, a.MayRun(f), gitcmd.ErrNotApproved)
				require.NoError(t, a.Approve([]approval.Filter{is}))
				require.NoError(t, a.MayRun(f))
			}
		})
	}
}

func TestProgramOfTheRepositoryInPATH(t *testing.T) {
	a := place(t)
	for _, dir := range []string{filepath.Join(a.Repo.TopLevel, "bin"), "bin", "./bin"} {
		a.Environ = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		_, err := a.Examine(gitcmd.Filter{Name: "f", Clean: "tool"})
		require.ErrorIs(t, err, approval.ErrLies, dir)
		require.ErrorIs(t, a.MayRun(gitcmd.Filter{Name: "f", Clean: "tool", UserOnly: true}), approval.ErrLies, "the user's own, too")
	}
	link := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(a.Repo.TopLevel, "bin", "tool"), filepath.Join(link, "tool")))
	a.Environ = append(os.Environ(), "PATH="+link)
	_, err := a.Examine(gitcmd.Filter{Name: "f", Clean: "tool"})
	require.ErrorIs(t, err, approval.ErrLies)
}

// Whatever changes of what was approved: it counts no more, and does again when it is back.
func TestOneChangedByte(t *testing.T) {
	approved := gitcmd.Filter{Name: "f", Clean: "openssl enc -kfile key", Smudge: "cat", Required: true}
	for name, change := range map[string]func(a *approval.Approvals, f *gitcmd.Filter){
		"clean":     func(_ *approval.Approvals, f *gitcmd.Filter) { f.Clean += " " },
		"smudge":    func(_ *approval.Approvals, f *gitcmd.Filter) { f.Smudge = "cat -u" },
		"process":   func(_ *approval.Approvals, f *gitcmd.Filter) { f.Process = "cat" },
		"required":  func(_ *approval.Approvals, f *gitcmd.Filter) { f.Required = false },
		"name":      func(_ *approval.Approvals, f *gitcmd.Filter) { f.Name = "F" },
		"file":      func(a *approval.Approvals, _ *gitcmd.Filter) { write(a, "key", "other\n") },
		"no file":   func(a *approval.Approvals, _ *gitcmd.Filter) { _ = os.Remove(filepath.Join(a.Repo.TopLevel, "key")) },
		"new file":  func(a *approval.Approvals, _ *gitcmd.Filter) { write(a, "enc", "x\n") },
		"elsewhere": func(a *approval.Approvals, _ *gitcmd.Filter) { a.Repo.TopLevel += "2" },
		"damaged": func(a *approval.Approvals, _ *gitcmd.Filter) {
			files, _ := filepath.Glob(filepath.Join(a.Dir, "filters-*"))
			_ = os.WriteFile(files[0], []byte("{"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := place(t)
			is, err := a.Examine(approved)
			require.NoError(t, err)
			require.NoError(t, a.Approve([]approval.Filter{is}))
			require.NoError(t, a.MayRun(approved))
			f := approved
			change(&a, &f)
			require.Error(t, a.MayRun(f))
		})
	}
	a := place(t)
	is, err := a.Examine(approved)
	require.NoError(t, err)
	require.NoError(t, a.Approve([]approval.Filter{is}))
	write(&a, "key", "other\n")
	require.ErrorIs(t, a.MayRun(approved), approval.ErrChanged)
	write(&a, "key", "text\n")
	require.NoError(t, a.MayRun(approved))
	done, err := a.Revoke()
	require.NoError(t, err)
	require.True(t, done)
	require.ErrorIs(t, a.MayRun(approved), gitcmd.ErrNotApproved)
	done, err = a.Revoke()
	require.NoError(t, err)
	require.False(t, done)
}

func write(a *approval.Approvals, name, text string) {
	_ = os.WriteFile(filepath.Join(a.Repo.TopLevel, name), []byte(text), 0o600)
}
