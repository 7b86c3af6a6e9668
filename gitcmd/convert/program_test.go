package convert_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/gitcmd"
	"jp/gitcmd/convert"
	"jp/internal/testing/gitenv"
)

// place is a repository with files that a filter may name.
func place(t *testing.T) gitcmd.Repository {
	t.Helper()
	repo, err := gitcmd.Locate(t.Context(), gitenv.Repo(t), gitcmd.Options{})
	require.NoError(t, err)
	for name, mode := range map[string]os.FileMode{"clean.sh": 0o755, "clean.py": 0o644, "key": 0o600, "bin/tool": 0o755, ".git/keys/k": 0o600, ".git/run": 0o755} {
		file := filepath.Join(repo.TopLevel, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte("text\n"), mode))
	}
	require.NoError(t, os.WriteFile(filepath.Join(repo.TopLevel, "script"), []byte("#!/bin/sh\n"), 0o644))
	return repo
}

// TOP stands for the working tree.
func TestProgramsOfFilters(t *testing.T) {
	for command, found := range map[string]bool{
		"tr a-z n-za-m":                           false,
		`"git-crypt" smudge --key-name=x`:         false,
		"git-lfs clean -- %f":                     false,
		"sed 's/$Id$/x/; s/\\$x/y/'":              false,
		"cat | tr a b":                            false,
		"openssl enc -kfile key":                  false,
		"openssl enc -pass file:key":              false,
		"openssl enc --key=.git/keys/k":           false,
		"openssl enc -kfile TOP/key <.git/keys/k": false,
		"gpg --keyring ./key":                     false,
		"./clean.sh":                              true,
		"clean.sh":                                false,
		"TOP/clean.sh":                            true,
		"sub/../clean.sh":                         true,
		"./not-there-yet":                         true,
		".git/run x":                              true,
		"sh clean.py":                             true,
		"/bin/sh -e TOP/clean.py":                 true,
		"python3 clean.py":                        true,
		"python3.11 clean.py":                     true,
		"python3 -m module":                       true,
		"python3 -I -m module":                    false,
		"sh -c ./clean.sh":                        true,
		"sh -ec 'cat | ./clean.sh'":               true,
		"env A=b ./clean.sh":                      true,
		"cat | ./bin/tool":                        true,
		"true && ./bin/tool || cat":               true,
		"(./bin/tool)":                            true,
		"if ./bin/tool; then cat; fi":             true,
		"wrapper script":                          true,
		"wrapper --run=bin/tool":                  true,
		"awk -f clean.py":                         true,
		"sed -fclean.py":                          true,
		"git --exec-path=.git/run x":              true,
		"git enc":                                 false,
		"git -c alias.x=!./clean.sh x":            false,
		"git -C bin status":                       false,
		"git cat-file blob HEAD:x":                false,
		"git --no-pager show HEAD":                false,
		"make -s enc":                             true,
		"env A=b make enc":                        true,
		"timeout 5 npm run enc":                   true,
		"nice -n 5 xargs make":                    true,
		"npx enc":                                 true,
		"go run ./enc":                            true,
		"just enc":                                true,
		"cargo run":                               true,
		"sh not-there-yet.sh":                     true,
		"node not-there-yet.js":                   true,
		"env sh not-there-yet.sh":                 true,
		"ruby -r./x -e 1":                         false,
		"perl -I. -MFoo -e 1":                     false,
		"perl -pe 's/a/b/'":                       false,
		"python3 -c 'print(1)'":                   false,
		"awk '{ print }'":                         false,
		"PATH=bin tool":                           false,
		"LD_PRELOAD=./key cat":                    false,
		"$HOME/x":                                 false,
		`"$(git config x)"/clean`:                 false,
		"`echo x`":                                false,
		"cat $x":                                  false,
		"eval x":                                  false,
		". key":                                   false,
		"cat ke*":                                 false,
		"cat \"":                                  false,
		"f() { cat; }; f":                         false,
		"cd bin && tool":                          false,
		"tool --modules ./bin":                    false,
	} {
		t.Run(command, func(t *testing.T) {
			repo := place(t)
			command := strings.ReplaceAll(command, "TOP", repo.TopLevel)
			for _, f := range []gitcmd.Filter{{Clean: command}, {Smudge: command}, {Process: command}} {
				require.ErrorIs(t, convert.MayRun(repo, os.Environ(), f), gitcmd.ErrForeignFilter)
				f.UserOnly = true
				err := convert.MayRun(repo, os.Environ(), f)
				if found {
					require.ErrorIs(t, err, convert.ErrRepositoryProgram)
				} else {
					require.NoError(t, err)
				}
			}
		})
	}
}

func TestProgramOfTheRepositoryInPATH(t *testing.T) {
	repo := place(t)
	link := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(repo.TopLevel, "bin", "tool"), filepath.Join(link, "tool")))
	for _, path := range []string{filepath.Join(repo.TopLevel, "bin") + ":/bin", "bin:/bin", "./bin:/bin", link} {
		err := convert.MayRun(repo, []string{"PATH=" + path}, gitcmd.Filter{Clean: "tool", UserOnly: true})
		require.ErrorIs(t, err, convert.ErrRepositoryProgram, path)
	}
}
