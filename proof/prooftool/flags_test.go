package prooftool_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"jp/proof/prooftool"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, args  string
		failed, all string // the error, and a further one if no arguments may follow
		said        string
	}{
		{name: "nothing"},
		{name: "a flag", args: "-n 3"},
		{name: "unknown", args: "-bogus", failed: "flag provided but not defined: -bogus (-h lists the flags)"},
		{name: "no number", args: "-n x", failed: `invalid value "x" for flag -n: parse error (-h lists the flags)`},
		{name: "more", args: "-n 3 more", all: `unexpected argument "more" (-h lists the flags)`},
		{name: "help", args: "-h", failed: "flag: help requested", said: "Usage of trial:\n  -n int\n    \tso many\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said strings.Builder
			require.Equal(t, tt.failed, message(prooftool.Parse(newFlags(), strings.Fields(tt.args), &said)))
			require.Equal(t, tt.said, said.String())
			said.Reset()
			require.Equal(t, tt.failed+tt.all, message(prooftool.ParseAll(newFlags(), strings.Fields(tt.args), &said)))
			require.Equal(t, tt.said, said.String())
		})
	}
}

func newFlags() *flag.FlagSet {
	flags := flag.NewFlagSet("trial", flag.ContinueOnError)
	flags.Int("n", 0, "so many")
	return flags
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
