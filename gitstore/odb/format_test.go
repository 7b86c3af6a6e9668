package odb

import (
	"jp/gitcmd"
	"jp/internal/testing/gitenv"
)

// testFormat is the format of the repositories of these tests.
var testFormat = gitcmd.ObjectFormat(gitenv.ObjectFormat())

var (
	rawLen    = testFormat.Size()
	indexSums = 2 * rawLen
)
